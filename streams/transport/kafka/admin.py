"""Creating and describing topics on Apache Kafka, by aiokafka's admin client.

Only those of the plan (streams/transport/topic_plan.py) and only when told to: a worker never creates a topic.
aiokafka 0.14 speaks Metadata up to version 5, so a topic's UUID (version 10) is not to be had: `topic_id` stays None.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Unpack

from aiokafka import AIOKafkaConsumer, TopicPartition  # type: ignore[import-untyped]
from aiokafka.admin import AIOKafkaAdminClient, NewTopic  # type: ignore[import-untyped]
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType  # type: ignore[import-untyped]
from aiokafka.errors import TopicAlreadyExistsError, for_code  # type: ignore[import-untyped]

from emgas.client.kafka import Security, kafka_errors
from emgas.errors import TransportError
from streams.transport.topic_plan import TopicDescription, TopicPlan, another_partition_count, settings_of

POLL_SECONDS = 0.05


class KafkaTopics:
    """Topics of the cluster behind `bootstrap`.  Every method raises TransportError."""

    def __init__(self, bootstrap: str, timeout: float = 30.0, **security: Unpack[Security]) -> None:
        self._timeout = timeout
        self._bootstrap = bootstrap
        self._connect = {"bootstrap_servers": bootstrap, **security}

    async def create(self, plans: Iterable[TopicPlan], replication: int = 1) -> None:
        """Create what is missing; return once every partition has a leader.

        Refuses, before it creates anything, when a topic exists with another partition count.  What exists keeps its
        settings: `differences` (streams/transport/topic_plan.py) tells where they are not as planned.
        """
        wanted = list(plans)
        async with self._admin() as admin:
            missing = _missing(wanted, await _partition_counts(admin))
            await _create(admin, missing, replication)
            while _missing(wanted, await _partition_counts(admin)):  # noqa: ASYNC110  (no call waits for leaders)
                await asyncio.sleep(POLL_SECONDS)

    async def describe(self, names: Iterable[str]) -> list[TopicDescription]:
        """Describe those of `names` that exist, in their order."""
        async with self._admin() as admin:
            present = {topic["topic"]: topic for topic in await _all_topics(admin)}
            there = [name for name in names if name in present]
            config = await _settings(admin, there)
            bounds = await self._bounds([(name, len(present[name]["partitions"])) for name in there])
        return [_described(present[name], config[name], bounds) for name in there]

    async def _bounds(self, counts: list[tuple[str, int]]) -> dict[TopicPartition, tuple[int, int]]:
        partitions = [TopicPartition(name, p) for name, count in counts for p in range(count)]
        if not partitions:
            return {}  # a consumer that is stopped before it has asked anything raises CancelledError
        consumer = AIOKafkaConsumer(group_id=None, **self._connect)
        try:
            await consumer.start()
            starts, ends = await consumer.beginning_offsets(partitions), await consumer.end_offsets(partitions)
        finally:
            await consumer.stop()
        return {tp: (starts[tp], ends[tp]) for tp in partitions}

    @asynccontextmanager
    async def _admin(self) -> AsyncIterator[AIOKafkaAdminClient]:
        admin = AIOKafkaAdminClient(**self._connect)
        with kafka_errors(self._bootstrap):
            async with asyncio.timeout(self._timeout):
                try:
                    await admin.start()
                    yield admin
                finally:
                    await admin.close()


async def _all_topics(admin: AIOKafkaAdminClient) -> list[dict[str, Any]]:
    # all: asking for one by name would create it on a broker that creates topics by itself
    return [topic for topic in await admin.describe_topics(None) if not topic["error_code"]]


async def _partition_counts(admin: AIOKafkaAdminClient) -> dict[str, int]:
    """Count the partitions of the topics that are ready to be used: every partition has a leader."""
    topics = await _all_topics(admin)
    return {t["topic"]: len(t["partitions"]) for t in topics if all(p["leader"] >= 0 for p in t["partitions"])}


def _missing(wanted: list[TopicPlan], counts: dict[str, int]) -> list[TopicPlan]:
    for plan in wanted:
        found = counts.get(plan.name, plan.partitions)
        if found != plan.partitions:
            raise TransportError(another_partition_count(plan.name, found, plan.partitions))
    return [plan for plan in wanted if plan.name not in counts]


async def _create(admin: AIOKafkaAdminClient, plans: list[TopicPlan], replication: int) -> None:
    new = [NewTopic(p.name, p.partitions, replication, topic_configs=settings_of(p, replication)) for p in plans]
    response = await admin.create_topics(new) if new else None
    for name, code, *reason in response.topic_errors if response else ():
        if code not in (0, TopicAlreadyExistsError.errno):  # somebody else was quicker: the count is checked after this
            why = " ".join(str(part) for part in (for_code(code).__name__, *reason))
            raise TransportError(f"Kafka did not create topic {name}: {why}")


async def _settings(admin: AIOKafkaAdminClient, names: list[str]) -> dict[str, dict[str, str]]:
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    responses = await admin.describe_configs(resources) if resources else []
    return {
        name: {entry[0]: entry[1] for entry in entries}
        for response in responses
        for _, _, _, name, entries in response.resources
    }


def _described(
    topic: dict[str, Any], config: dict[str, str], bounds: dict[TopicPartition, tuple[int, int]]
) -> TopicDescription:
    name, partitions = topic["topic"], topic["partitions"]
    replication = min(len(partition["replicas"]) for partition in partitions)
    offsets = tuple(bounds[TopicPartition(name, partition)] for partition in range(len(partitions)))
    planned = settings_of(TopicPlan(name, len(partitions), 0, 0), replication)
    return TopicDescription(
        name, len(partitions), replication, offsets, None, {key: config[key] for key in planned if key in config}
    )
