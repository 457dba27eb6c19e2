"""A real Kafka, with our topic settings, keeps the log contract, and its reader the reader contract."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient

from emgas.errors import TransportError
from emgas.wire import ProducerRecord, TopicNames
from streams.settings import WorkerSettings
from streams.transport import select
from streams.transport.kafka.admin import KafkaTopics
from streams.transport.kafka.reader import KafkaReader
from streams.transport.topic_plan import FOR_EVER, RECORD_BYTES, TopicPlan, differences, plan
from tests.contracts.log_contract import LogContract
from tests.contracts.reader_contract import NOW, FollowContract, KeptReaderContract, a_log, read
from tests.support.clocks import PATIENCE
from tests.support.transports import KafkaTransport, kafka_transport

pytestmark = pytest.mark.kafka
NOBODY = "127.0.0.1:1"


@pytest.fixture
async def transport(kafka_address: str) -> AsyncIterator[KafkaTransport]:
    async with kafka_transport(kafka_address) as transport:
        yield transport


class TestKafkaLog(LogContract):
    @pytest.fixture
    async def transport(self, kafka_address: str) -> AsyncIterator[KafkaTransport]:
        async with kafka_transport(kafka_address) as transport:
            yield transport


class TestKafkaReader(KeptReaderContract, FollowContract):
    @pytest.fixture
    async def reader(self, transport: KafkaTransport, prefix: str) -> KafkaReader:
        await transport.create(TopicPlan(prefix, 3, FOR_EVER, 1_000_000, broker_time=False))
        for partition, size in ((0, 10), (2, 1)):
            records = a_log(size)
            await transport.append(
                [ProducerRecord(prefix, r.key, r.value, r.headers, partition, r.timestamp) for r in records]
            )
        return KafkaReader(transport.address, prefix, batch=3)

    @pytest.fixture
    def growing(self, reader: KafkaReader, transport: KafkaTransport, prefix: str) -> tuple[KafkaReader, Any]:
        async def append(number: int) -> None:
            await transport.append([ProducerRecord(prefix, b"k", b"value %d" % number, (), 0, NOW)])

        return reader, append

    @pytest.fixture
    def missing(self, transport: KafkaTransport, prefix: str) -> KafkaReader:
        return KafkaReader(transport.address, f"{prefix}-missing")


async def test_a_read_ends_where_the_log_ends_with_a_transaction_marker(transport: KafkaTransport, prefix: str) -> None:
    await transport.create(TopicPlan(prefix, 1, FOR_EVER, 1_000_000))
    writer = AIOKafkaProducer(bootstrap_servers=transport.address, transactional_id=prefix)
    await writer.start()
    for value in (b"a", b"b"):
        async with writer.transaction():
            await writer.send_and_wait(prefix, value, partition=0)
    await writer.stop()
    reader = KafkaReader(transport.address, prefix)
    assert await reader.bounds(0) == (0, 4)
    assert [(r.offset, r.value) for r in await read(reader, 0, 0, 4)] == [(0, b"a"), (2, b"b")]
    assert await read(reader, 0, 3, 4) == []


async def test_what_an_aborted_transaction_wrote_is_not_there_unless_a_reader_asks_for_it(
    transport: KafkaTransport, prefix: str
) -> None:
    await transport.create(TopicPlan(prefix, 1, FOR_EVER, 1_000_000))
    writer = AIOKafkaProducer(bootstrap_servers=transport.address, transactional_id=prefix)
    await writer.start()
    await writer.begin_transaction()
    await writer.send_and_wait(prefix, b"open", partition=0)
    await transport.append([ProducerRecord(prefix, None, b"after", (), 0, 1)])
    everything = KafkaReader(transport.address, prefix, isolation="read_uncommitted")
    assert [r.value for r in await read(everything, 0, 0, 2)] == [b"open", b"after"]
    await writer.abort_transaction()
    await writer.stop()
    committed = KafkaReader(transport.address, prefix)
    async with asyncio.timeout(PATIENCE):  # a broker answers an abort before each partition has noted it
        while not (values := [r.value for r in await read(committed, 0, 0, 3)]):  # noqa: ASYNC110 - it asks a broker
            await asyncio.sleep(0)
    assert values == [b"after"]


async def test_a_log_whose_head_is_gone_is_read_from_where_it_begins(transport: KafkaTransport, prefix: str) -> None:
    await transport.create(TopicPlan(prefix, 1, FOR_EVER, 1_000_000))
    await transport.append([ProducerRecord(prefix, None, b"%d" % n, (), 0, 1) for n in range(10)])
    await transport.truncate(prefix, 0, before=6)
    reader = KafkaReader(transport.address, prefix)
    assert await reader.bounds(0) == (6, 10)
    assert [r.offset for r in await read(reader, 0, 0, 10)] == [6, 7, 8, 9]


async def test_a_broker_out_of_reach_is_told(prefix: str) -> None:
    with pytest.raises(TransportError, match=NOBODY):
        await KafkaReader(NOBODY, prefix).bounds(0)
    with pytest.raises(TransportError, match=NOBODY):
        await KafkaTopics(NOBODY).describe([prefix])


async def test_of_topics_that_are_not_there_none_is_described(kafka_address: str, prefix: str) -> None:
    assert await KafkaTopics(kafka_address).describe([prefix]) == []


async def test_the_topics_are_born_as_planned_and_found_so(kafka_address: str, prefix: str) -> None:
    topics, planned = KafkaTopics(kafka_address), plan(TopicNames(prefix), 4, reply_partitions=2)
    await asyncio.gather(topics.create(planned), topics.create(planned))  # two workers may start at once
    described = await topics.describe([each.name for each in planned] + [f"{prefix}-unknown"])
    assert [(d.name, d.partitions, d.replication) for d in described] == [(p.name, p.partitions, 1) for p in planned]
    assert [differences(actual, expected) for actual, expected in zip(described, planned, strict=True)] == [[]] * 6
    events = described[1]
    assert events.bounds == ((0, 0),) * 4
    assert {name: events.config[name] for name in ("cleanup.policy", "retention.ms", "message.timestamp.type")} == {
        "cleanup.policy": "delete",
        "retention.ms": "-1",
        "message.timestamp.type": "CreateTime",
    }


async def test_a_setting_that_a_broker_refuses_can_be_left_out(kafka_address: str, prefix: str) -> None:
    topics, planned = KafkaTopics(kafka_address), plan(TopicNames(prefix), 1, reply_partitions=1)
    await topics.create(planned, without=["retention.ms"])
    events = (await topics.describe([planned[1].name]))[0]
    assert events.config["retention.ms"] == "604800000", "what the brokers do by default"
    assert events.config["min.insync.replicas"] == "1"


async def test_where_a_broker_refuses_a_setting_the_error_says_what_can_be_left_out(
    kafka_address: str, prefix: str
) -> None:
    with pytest.raises(TransportError, match=r"InvalidConfig.*leave out .*--without SETTING, of .*retention\.ms"):
        await KafkaTopics(kafka_address).create([TopicPlan(prefix, 1, -2, RECORD_BYTES)])


async def test_nothing_is_created_when_one_topic_has_another_partition_count(kafka_address: str, prefix: str) -> None:
    topics, names = KafkaTopics(kafka_address), TopicNames(prefix)
    await topics.create([TopicPlan(names.queries, 2, FOR_EVER, 1000)])
    with pytest.raises(TransportError, match="has 2 partitions, not the 4 asked for"):
        await topics.create(plan(names, 4))
    assert [described.name for described in await topics.describe([names.turns, names.queries])] == [names.queries]


async def test_a_setting_that_would_lose_events_is_noticed(kafka_address: str, prefix: str) -> None:
    settings = WorkerSettings(broker=f"kafka://{kafka_address}", prefix=prefix)
    assert await select.risks(settings) == [], "what is not there is told by the worker's start"
    events = settings.topics.events
    await KafkaTopics(kafka_address).create([TopicPlan(events, 1, 1000, RECORD_BYTES, broker_time=False)])
    assert await select.risks(settings) == [f"{events}: retention.ms is 1000, should be -1"]


async def test_more_replicas_than_brokers_are_refused_in_words(kafka_address: str, prefix: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka_address)
    await admin.start()
    brokers = len((await admin.describe_cluster())["brokers"])
    await admin.close()
    with pytest.raises(TransportError, match=f"did not create topic {prefix}.*eplica"):
        await KafkaTopics(kafka_address).create([TopicPlan(prefix, 1, FOR_EVER, 1000)], replication=brokers + 1)
