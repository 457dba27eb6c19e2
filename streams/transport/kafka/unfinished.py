"""Mark an incomplete branch on Kafka, so that no program opens it as a memory.

    PREFIX.branch    a topic; there while `emgas replay branch` fills the others of its prefix

Workers of role `writer` open it anyway: they must fold while it is filled, and answer no questions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from emgas.errors import TransportError
from emgas.limits import RECORD_BYTES
from emgas.wire import TopicNames
from streams.transport.kafka.admin import KafkaTopics
from streams.transport.topic_plan import FOR_EVER, TopicPlan


@asynccontextmanager
async def filling(topics: KafkaTopics, names: TopicNames, replication: int) -> AsyncIterator[None]:
    """Mark the topics of a prefix as an unfinished branch, until the block ends without an error."""
    await topics.create([TopicPlan(names.branch, 1, FOR_EVER, RECORD_BYTES)], replication)
    yield
    await topics.delete(names.branch)


async def check_finished(topics: KafkaTopics, names: TopicNames) -> None:
    """Raise TransportError where the topics of a prefix are a branch that is not all there."""
    if await topics.exist([names.branch]):
        raise TransportError(
            f"{names.prefix} is an unfinished branch: `emgas replay branch` stopped before everything was in it, or "
            "still fills it. Run that command again to finish it, beside workers with EMGAS_ROLE=writer, or delete its "
            f"topics, {names.branch} last"
        )
