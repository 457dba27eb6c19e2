"""KafkaConnection: what it says when Kafka is not there, and, with a real one, order, size and where reading begins."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from collections.abc import AsyncIterator
from contextvars import copy_context
from uuid import uuid4

import pytest
from aiokafka import errors  # type: ignore[import-untyped]
from aiokafka.admin import AIOKafkaAdminClient, NewTopic  # type: ignore[import-untyped]
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType  # type: ignore[import-untyped]

from emgas import limits
from emgas.client.connection import Connection
from emgas.client.kafka import KafkaConnection, _advice, kafka_errors
from emgas.errors import TransportError
from emgas.wire import ProducerRecord, TopicNames, partition_of
from tests.support.clocks import PATIENCE

BROKERS = os.environ.get("EMGAS_TEST_KAFKA", "")
needs_kafka = pytest.mark.skipif(not BROKERS, reason="EMGAS_TEST_KAFKA names no broker")


async def test_where_no_broker_listens_the_address_is_named() -> None:
    with socket.socket() as taken:  # bound and not listening: refused for as long as the test has it
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(TransportError, match=f"^Kafka at {address} cannot be reached: is the broker running"):
            await KafkaConnection(address).open()


async def test_a_broker_that_accepts_and_says_nothing_is_given_up_after_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        connection = KafkaConnection(f"127.0.0.1:{silent.getsockname()[1]}", timeout=0.05)
        with pytest.raises(TransportError, match="is the broker running"):
            await connection.open()


async def test_security_settings_that_do_not_fit_are_told_before_anything_is_opened() -> None:
    with pytest.raises(TransportError, match="ssl_context"):
        await KafkaConnection("127.0.0.1:9092", security_protocol="SSL").open()


def test_what_reads_from_a_broker_may_end_in_another_context_than_it_began_in() -> None:
    reading = kafka_errors("localhost:9092")  # as a generator does that is left behind, and collected
    copy_context().run(reading.__enter__)
    assert not reading.__exit__(None, None, None)


async def test_a_connection_that_is_not_open_says_so() -> None:
    connection: Connection = KafkaConnection("127.0.0.1:9092")
    with pytest.raises(TransportError, match="not open"):
        await connection.send(ProducerRecord("emgas.turns", b"k", b"v", ()))
    with pytest.raises(TransportError, match="not open"):
        await connection.partitions()
    await connection.close()


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (errors.MessageSizeTooLargeError(), "max.message.bytes"),
        (errors.TopicAuthorizationFailedError("emgas.turns"), "lacks an ACL"),
        (errors.UnknownTopicOrPartitionError(), "emgas admin topics create"),
        (errors.OutOfOrderSequenceNumber(), "publish again"),
        (TimeoutError(), "is the broker running"),
    ],
)
def test_every_error_says_what_to_do(error: Exception, advice: str) -> None:
    message = _advice(error, "host:9092")
    assert message.startswith("Kafka at host:9092: ")
    assert type(error).__name__ in message
    assert advice in message


@pytest.fixture
async def topics() -> AsyncIterator[TopicNames]:
    """Return the names of three new topics: 4, 4 and 3 partitions."""
    names = TopicNames(f"test-{uuid4().hex}")
    new = [
        NewTopic(names.turns, 4, 1, topic_configs={"max.message.bytes": str(limits.TRANSPORT_BYTES + 64 * 1024)}),
        NewTopic(names.queries, 4, 1),
        NewTopic(names.replies, 3, 1),
    ]
    admin = AIOKafkaAdminClient(bootstrap_servers=BROKERS)
    await admin.start()
    await admin.create_topics(new)
    yield names
    await admin.delete_topics([topic.name for topic in new])
    await admin.close()


@pytest.mark.kafka
@needs_kafka
async def test_a_missing_topic_is_named_and_not_created() -> None:
    absent = TopicNames(f"test-{uuid4().hex}")
    for _ in range(2):
        with pytest.raises(TransportError, match=f"no topic {absent.queries}, .*run `emgas admin topics create`"):
            await KafkaConnection(BROKERS, absent).open()


@pytest.mark.kafka
@needs_kafka
async def test_records_lie_where_wire_py_places_their_keys_in_the_order_of_the_calls(topics: TopicNames) -> None:
    connection = KafkaConnection(BROKERS, topics)
    await connection.open()
    try:
        calls = [
            connection.send(ProducerRecord(topics.turns, f"g{n % 5}".encode(), b"x" * 900, ())) for n in range(500)
        ]
        sent = await asyncio.gather(*calls)
    finally:
        await connection.close()
    for n in range(5):
        own = sent[n::5]
        assert {there.partition for there in own} == {partition_of(f"g{n}", 4)}
        assert [there.offset for there in own] == sorted({there.offset for there in own})


@pytest.mark.kafka
@needs_kafka
async def test_a_record_that_only_a_dead_letter_can_be_made_of_gets_through(topics: TopicNames) -> None:
    connection = KafkaConnection(BROKERS, topics)
    await connection.open()
    try:
        there = await connection.send(ProducerRecord(topics.turns, b"g", b"x" * limits.TRANSPORT_BYTES, (("a", b"b"),)))
        assert there.offset == 0
        with pytest.raises(TransportError, match=r"max\.message\.bytes"):
            await connection.send(ProducerRecord(topics.turns, b"g", b"x" * 2 * limits.TRANSPORT_BYTES, ()))
        with pytest.raises(TransportError, match="its partitions are 0 to 3"):
            await connection.send(ProducerRecord(topics.turns, None, b"x", (), 4))
        with pytest.raises(TransportError, match="has no topic"):
            await connection.send(ProducerRecord(topics.events, b"g", b"x", ()))
    finally:
        await connection.close()


@pytest.mark.kafka
@needs_kafka
async def test_answers_are_read_from_the_moment_of_opening_on(topics: TopicNames) -> None:
    writer, reader = KafkaConnection(BROKERS, topics), KafkaConnection(BROKERS, topics)
    await writer.open()
    for partition in range(3):
        await writer.send(ProducerRecord(topics.replies, None, b"before", (), partition))
    await reader.open()
    try:
        # Sent before the reader's first fetch: reading "from the latest" would skip it.
        await writer.send(
            ProducerRecord(topics.replies, None, b"after", (("correlation-id", b"7"),), reader.reply_partition)
        )
        incoming = await anext(aiter(reader.answers()))
        assert (incoming.key, incoming.value, incoming.headers) == (None, b"after", (("correlation-id", b"7"),))
    finally:
        await reader.close()
        await writer.close()


async def is_taken(connection: KafkaConnection, record: ProducerRecord) -> bool:
    """Send a record; return whether the broker took it."""
    try:
        await connection.send(record)
    except TransportError:
        return False
    return True


@needs_kafka
@pytest.mark.kafka
async def test_a_record_that_the_broker_refuses_costs_no_later_one(topics: TopicNames) -> None:
    """It had its number already, and the broker takes only the next one."""
    noise = random.Random(0).randbytes(limits.TRANSPORT_BYTES + 16 * 1024)  # nothing compresses it
    too_large = ProducerRecord(topics.turns, b"k", noise, (), 0)
    admin = AIOKafkaAdminClient(bootstrap_servers=BROKERS)
    await admin.start()
    narrow = ConfigResource(ConfigResourceType.TOPIC, topics.turns, configs={"max.message.bytes": "65536"})
    await admin.alter_configs([narrow])
    await admin.close()
    connection = KafkaConnection(BROKERS, topics)
    await connection.open()
    try:
        async with asyncio.timeout(PATIENCE):
            while await is_taken(connection, too_large):  # a broker learns of a topic's new limit later
                pass
        first = await connection.send(ProducerRecord(topics.turns, b"k", b"1", (), 0))
        for _ in range(2):
            with pytest.raises(TransportError, match=r"max\.message\.bytes"):
                await connection.send(too_large)
            given_up = asyncio.create_task(connection.send(too_large))  # which must not hide that it failed
            async with asyncio.timeout(PATIENCE):
                while not connection._producer._message_accumulator._batches:  # noqa: ASYNC110, SLF001 - until it has it
                    await asyncio.sleep(0)
            given_up.cancel()
        last = await connection.send(ProducerRecord(topics.turns, b"k", b"2", (), 0))
        assert last.offset == first.offset + 1
    finally:
        await connection.close()
