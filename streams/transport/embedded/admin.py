"""Creating and describing topics of the embedded log: the same two functions as streams/transport/kafka/admin.py."""

from __future__ import annotations

from collections.abc import Iterable

from streams.transport.embedded.log import EmbeddedLog
from streams.transport.topic_plan import TopicDescription, TopicPlan


class EmbeddedTopics:
    """Topics of an open log.  Raises TransportError."""

    def __init__(self, log: EmbeddedLog) -> None:
        self._log = log

    async def create(self, plans: Iterable[TopicPlan], replication: int = 1) -> None:
        """Create what is missing; refuse a topic with another partition count.  One file has one copy."""
        for plan in plans:
            self._log.create_topic(plan)

    async def describe(self, names: Iterable[str]) -> list[TopicDescription]:
        """Describe those of `names` that exist, in their order."""
        present = set(self._log.topics())
        return [self._log.describe(name) for name in names if name in present]

    async def topic_id(self, name: str) -> str | None:
        """Return the UUID of a topic: one that is created again has another."""
        return self._log.describe(name).topic_id
