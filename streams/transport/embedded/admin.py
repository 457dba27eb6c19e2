"""Creating topics of the embedded log, as streams/transport/kafka/admin.py does on Kafka."""

from __future__ import annotations

from collections.abc import Iterable

from streams.transport.embedded.log import EmbeddedLog
from streams.transport.topic_plan import TopicPlan


class EmbeddedTopics:
    """Topics of an open log.  Raises TransportError."""

    def __init__(self, log: EmbeddedLog) -> None:
        self._log = log

    async def create(self, plans: Iterable[TopicPlan], replication: int = 1) -> None:
        """Create what is missing; refuse a topic with another partition count.  One file has one copy."""
        for plan in plans:
            self._log.create_topic(plan)

    async def topic_id(self, name: str) -> str | None:
        """Return the UUID of a topic: one that is created again has another."""
        return self._log.describe(name).topic_id
