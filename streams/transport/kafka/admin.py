"""Creating and describing topics on Apache Kafka, by aiokafka's admin client.

Only those of the plan (streams/transport/topic_plan.py) and only on request: a worker never creates a topic.
aiokafka 0.14 speaks Metadata up to version 5; a topic's UUID needs version 12, which is spelled out here (KIP-516,
Kafka 3.1).  An older broker has none: `topic_id` is None then.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any, Unpack
from uuid import UUID

from aiokafka import AIOKafkaConsumer, TopicPartition  # type: ignore[import-untyped]
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic  # type: ignore[import-untyped]
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType  # type: ignore[import-untyped]
from aiokafka.errors import (  # type: ignore[import-untyped]
    GroupCoordinatorNotAvailableError,
    IncompatibleBrokerVersion,
    InvalidConfigurationError,
    PolicyViolationError,
    TopicAlreadyExistsError,
    for_code,
)
from aiokafka.protocol.abstract import AbstractType  # type: ignore[import-untyped]
from aiokafka.protocol.api import Request, RequestStruct, Response  # type: ignore[import-untyped]
from aiokafka.protocol.types import (  # type: ignore[import-untyped]
    Boolean,
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Schema,
    TaggedFields,
)

from emgas.client.kafka import Security, end_reading, in_time, kafka_errors
from emgas.errors import TransportError
from streams.transport.topic_plan import TopicDescription, TopicPlan, another_partition_count, settings_of

POLL_SECONDS = 0.05

COORDINATOR_TRIES, COORDINATOR_PAUSE = 5, 0.25  # so often, with so many seconds between


class _Uuid(AbstractType[UUID]):  # type: ignore[misc]  # aiokafka has no types
    """Kafka's type UUID: 16 bytes."""

    @classmethod
    def encode(cls, value: UUID) -> bytes:
        return value.bytes

    @classmethod
    def decode(cls, data: BytesIO) -> UUID:
        return UUID(bytes=data.read(16))


class _Metadata12Response(Response):  # type: ignore[misc]
    API_KEY, API_VERSION = 3, 12
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "brokers",
            CompactArray(
                ("node_id", Int32),
                ("host", CompactString("utf-8")),
                ("port", Int32),
                ("rack", CompactString("utf-8")),
                ("tags", TaggedFields),
            ),
        ),
        ("cluster_id", CompactString("utf-8")),
        ("controller_id", Int32),
        (
            "topics",
            CompactArray(
                ("error_code", Int16),
                ("topic", CompactString("utf-8")),
                ("topic_id", _Uuid),
                ("is_internal", Boolean),
                (
                    "partitions",
                    CompactArray(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", CompactArray(Int32)),
                        ("isr", CompactArray(Int32)),
                        ("offline_replicas", CompactArray(Int32)),
                        ("tags", TaggedFields),
                    ),
                ),
                ("authorized_operations", Int32),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class _Metadata12Struct(RequestStruct):  # type: ignore[misc]
    API_KEY, API_VERSION = 3, 12
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = _Metadata12Response
    SCHEMA = Schema(
        ("topics", CompactArray(("topic_id", _Uuid), ("topic", CompactString("utf-8")), ("tags", TaggedFields))),
        ("allow_auto_topic_creation", Boolean),
        ("include_topic_authorized_operations", Boolean),
        ("tags", TaggedFields),
    )


class _TopicIds(Request[_Metadata12Struct]):  # type: ignore[misc]
    """Asks for the metadata of one topic, which is not created by that."""

    API_KEY = 3

    def __init__(self, topic: str) -> None:
        self._topic = topic

    def build(self, request_struct_class: type[_Metadata12Struct]) -> _Metadata12Struct:
        return request_struct_class([(UUID(int=0), self._topic, {})], False, False, {})  # noqa: FBT003 - positional only


class KafkaTopics:
    """Topics of the cluster behind `bootstrap`.  Every method raises TransportError."""

    def __init__(self, bootstrap: str, timeout: float = 30.0, **security: Unpack[Security]) -> None:
        self._timeout = timeout
        self._bootstrap = bootstrap
        self._connect = {"bootstrap_servers": bootstrap, "request_timeout_ms": int(timeout * 1000), **security}

    async def create(self, plans: Iterable[TopicPlan], replication: int = 1, *, without: Collection[str] = ()) -> None:
        """Create what is missing, `without` settings that the brokers refuse; return once every partition has a leader.

        Refuses, before it creates anything, when a topic exists with another partition count.  Existing topics keep
        their settings: `differences` (streams/transport/topic_plan.py) lists where they are not as planned.
        """
        topics = list(plans)
        async with self._admin() as admin:
            counts = await _partition_counts(admin)
            await _create(admin, _missing(topics, counts), replication, without)
            await _grow(
                admin, {each.name: each for each in topics if counts.get(each.name, each.partitions) < each.partitions}
            )
            while _missing(topics, await _partition_counts(admin)):  # noqa: ASYNC110  (no call waits for leaders)
                await asyncio.sleep(POLL_SECONDS)

    async def exist(self, names: Iterable[str]) -> list[str]:
        """List those of `names` that exist."""
        async with self._admin() as admin:
            present = {topic["topic"] for topic in await _all_topics(admin)}
        return [name for name in names if name in present]

    async def delete(self, name: str) -> None:
        """Delete a topic."""
        async with self._admin() as admin:
            await admin.delete_topics([name])

    async def describe(self, names: Iterable[str]) -> list[TopicDescription]:
        """Describe those of `names` that exist, in their order."""
        async with self._admin() as admin:
            present = {topic["topic"]: topic for topic in await _all_topics(admin)}
            there = [name for name in names if name in present]
            config = await _settings(admin, there)
            bounds = await self._bounds([(name, len(present[name]["partitions"])) for name in there])
        return [_described(present[name], config[name], bounds) for name in there]

    async def members(self, group: str) -> list[str]:
        """List what the members of a consumer group call themselves: their client ids.

        The first question of all makes Kafka create the topic in which groups are kept, and is refused meanwhile.
        """
        async with self._admin() as admin:
            for _ in range(COORDINATOR_TRIES):
                try:
                    responses = await admin.describe_consumer_groups([group])
                except GroupCoordinatorNotAvailableError:
                    await asyncio.sleep(COORDINATOR_PAUSE)
                else:
                    return [member[1] for response in responses for group in response.groups for member in group[5]]
        return []

    async def topic_id(self, name: str) -> str | None:
        """Return the UUID of a topic: one that is created again has another.  None where there is none to be had."""
        async with self._admin() as admin:
            try:
                response = await admin._client.send(admin._client.get_random_node(), _TopicIds(name))  # noqa: SLF001 - aiokafka has no public way
            except (NotImplementedError, IncompatibleBrokerVersion):  # a broker of before 3.1
                return None
        ids = [topic[2] for topic in response.topics if topic[0] == 0 and topic[1] == name]
        return str(ids[0]) if ids and ids[0].int else None

    async def _bounds(self, counts: list[tuple[str, int]]) -> dict[TopicPartition, tuple[int, int]]:
        partitions = [TopicPartition(name, p) for name, count in counts for p in range(count)]
        if not partitions:
            return {}  # a consumer that is stopped before it has asked anything raises CancelledError
        consumer = AIOKafkaConsumer(group_id=None, **self._connect)
        try:
            await consumer.start()
            starts, ends = await consumer.beginning_offsets(partitions), await consumer.end_offsets(partitions)
        finally:
            await end_reading(self._bootstrap, consumer, self._timeout)
        return {tp: (starts[tp], ends[tp]) for tp in partitions}

    @asynccontextmanager
    async def _admin(self) -> AsyncIterator[AIOKafkaAdminClient]:
        admin = AIOKafkaAdminClient(**self._connect)
        with kafka_errors(self._bootstrap), in_time(self._bootstrap, self._timeout):
            async with asyncio.timeout(self._timeout):
                try:
                    await admin.start()
                    yield admin
                finally:
                    await admin.close()


async def _all_topics(admin: AIOKafkaAdminClient) -> list[dict[str, Any]]:
    # all: asking for one by name would create it on a broker that creates topics automatically
    return [topic for topic in await admin.describe_topics(None) if not topic["error_code"]]


async def _partition_counts(admin: AIOKafkaAdminClient) -> dict[str, int]:
    """Count the partitions of the topics that are ready to be used: every partition has a leader."""
    topics = await _all_topics(admin)
    return {t["topic"]: len(t["partitions"]) for t in topics if all(p["leader"] >= 0 for p in t["partitions"])}


def _missing(topics: list[TopicPlan], counts: dict[str, int]) -> list[TopicPlan]:
    for plan in topics:
        existing = counts.get(plan.name, plan.partitions)
        if not plan.may_have(existing):
            raise TransportError(another_partition_count(plan.name, existing, plan.partitions))
    return [plan for plan in topics if plan.name not in counts]


async def _create(
    admin: AIOKafkaAdminClient, plans: list[TopicPlan], replication: int, without: Collection[str]
) -> None:
    settings = {p.name: settings_of(p, replication, without) for p in plans}
    new = [NewTopic(p.name, p.partitions, replication, topic_configs=settings[p.name]) for p in plans]
    response = await admin.create_topics(new) if new else None
    for name, code, *reason in response.topic_errors if response else ():
        if code not in (
            0,
            TopicAlreadyExistsError.errno,
        ):  # another process was faster: the count is checked below
            why = " ".join(str(part) for part in (for_code(code).__name__, *reason))
            raise TransportError(f"Kafka did not create topic {name}: {why}{_advice(code, settings[name])}")


def _advice(code: int, settings: Iterable[str]) -> str:
    """Raise what to do where brokers refuse a setting; not all of them name it."""
    if code not in (InvalidConfigurationError.errno, PolicyViolationError.errno):
        return ""
    return f"; leave out what these brokers refuse: --without SETTING, of {', '.join(sorted(settings))}"


async def _grow(admin: AIOKafkaAdminClient, plans: Mapping[str, TopicPlan]) -> None:
    """Add partitions to topics that have fewer than planned, and may grow."""
    more = {name: NewPartitions(each.partitions) for name, each in plans.items()}
    response = await admin.create_partitions(more) if more else None
    for name, code, *reason in response.topic_errors if response else ():
        if code:
            why = " ".join(str(part) for part in (for_code(code).__name__, *reason))
            raise TransportError(f"Kafka did not give topic {name} more partitions: {why}")


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
    is_compacted = "compact" in config.get("cleanup.policy", "")
    is_tiered = config.get("remote.storage.enable") == "true"
    like = TopicPlan(
        name, len(partitions), 0, 0, compacted_ms=0 if is_compacted else None, local_ms=0 if is_tiered else None
    )
    planned = settings_of(like, replication)
    return TopicDescription(
        name, len(partitions), replication, offsets, None, {key: config[key] for key in planned if key in config}
    )
