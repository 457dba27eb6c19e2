"""Any Kafka client can speak to EMGAS: confluent-kafka (librdkafka), with nothing of ours but the words on the wire."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition

from emgas.wire import partition_of
from streams.transport import select
from streams.transport.dead_letters import read_all
from tests.support.clocks import PATIENCE, eventually, now
from tests.support.pipeline import Pipeline, only, settings_for
from tests.support.transports import kafka_transport

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
PARTITIONS = 8
REPLY_PARTITION = 3


@pytest.fixture
async def pipeline(kafka_address: str, prefix: str, tmp_path: Path) -> AsyncIterator[Pipeline]:
    settings = settings_for(tmp_path, prefix, f"kafka://{kafka_address}", partitions=PARTITIONS)
    await select.create(settings)
    async with kafka_transport(kafka_address) as transport, Pipeline(settings, transport) as pipeline:
        yield pipeline


@pytest.fixture
def replies(kafka_address: str, pipeline: Pipeline) -> Iterator[Consumer]:
    """Return a consumer that reads one partition of `replies` from its end, without a group."""
    consumer = Consumer({"bootstrap.servers": kafka_address, "group.id": "unused", "enable.auto.commit": False})
    place = TopicPartition(pipeline.topics.replies, REPLY_PARTITION)
    _, end = consumer.get_watermark_offsets(place, timeout=PATIENCE)
    place.offset = end
    consumer.assign([place])
    yield consumer
    consumer.close()


def produce(address: str, topic: str, graph: str, message: dict[str, Any], **more: Any) -> Message:
    """Produce one record as any program would; return where it came to lie."""
    settings = {"bootstrap.servers": address, **more.pop("settings", {"partitioner": "murmur2_random"})}
    producer = Producer(settings)
    delivered: list[Message] = []
    producer.produce(
        topic, json.dumps(message), graph, on_delivery=lambda error, there: delivered.append(there), **more
    )
    assert producer.flush(PATIENCE) == 0
    return only(delivered)


def asking(correlation: bytes, topic: str) -> list[tuple[str, bytes]]:
    return [
        ("correlation-id", correlation),
        ("reply-to", topic.encode()),
        ("reply-partition", b"%d" % REPLY_PARTITION),
        ("deadline", b"%d" % (now() + 60_000)),
    ]


def answer(replies: Consumer, correlation: bytes) -> dict[str, Any]:
    """Return the answer with this correlation id."""
    deadline = now() + PATIENCE * 1000
    while now() < deadline:
        message = replies.poll(1.0)
        if message is not None and dict(message.headers() or [])["correlation-id"] == correlation:
            return dict(json.loads(message.value() or b""))
    raise AssertionError("no answer came")


async def test_librdkafka_publishes_a_turn_and_asks_a_question_as_documented(
    kafka_address: str, pipeline: Pipeline, replies: Consumer
) -> None:
    topics = pipeline.topics
    turn = {"id": "t1", "graph": "ada", "speaker": "Ada", "text": "The vet prescribed ear drops for Biscuit."}

    def speak() -> tuple[Message, dict[str, Any], dict[str, Any]]:
        there = produce(kafka_address, topics.turns, "ada", turn, headers=asking(b"\x00turn", topics.replies))
        outcome = answer(replies, b"\x00turn")
        query = {"kind": "query", "graph": "ada", "text": "what did the vet prescribe?", "after": there.offset()}
        produce(kafka_address, topics.queries, "ada", query, headers=asking(b"\x00query", topics.replies))
        return there, outcome, answer(replies, b"\x00query")

    there, outcome, reply = await asyncio.to_thread(speak)
    assert there.partition() == partition_of("ada", PARTITIONS)
    assert (outcome["kind"], outcome["status"], outcome["turn"]) == ("outcome", "accepted", "t1")
    assert (reply["kind"], reply["found"]) == ("reply", True)
    assert reply["passages"][0]["text"] == turn["text"]


async def test_librdkafka_needs_no_headers_and_may_compress_as_it_likes(kafka_address: str, pipeline: Pipeline) -> None:
    codecs = ["none", "gzip", "snappy", "lz4", "zstd"]
    for codec in codecs:
        turn = {"id": codec, "graph": "ada", "speaker": "Ada", "text": "No header is required. " * 20}
        settings = {"partitioner": "murmur2_random", "compression.codec": codec}
        await asyncio.to_thread(produce, kafka_address, pipeline.topics.turns, "ada", turn, settings=settings)
    await eventually(lambda: pipeline.app.halted or pipeline.ids("ada") == codecs)
    assert pipeline.app.halted is None


async def test_with_the_default_partitioner_of_librdkafka_a_stray_turn_is_refused_visibly(
    kafka_address: str, pipeline: Pipeline, replies: Consumer
) -> None:
    graph = next(name for name in map("graph-{}".format, range(100)) if crc32(name) != partition_of(name, PARTITIONS))
    turn = {"id": "t1", "graph": graph, "speaker": "Ada", "text": "Lost on the way?"}
    headers = asking(b"stray", pipeline.topics.replies)

    def speak() -> tuple[Message, dict[str, Any]]:
        there = produce(kafka_address, pipeline.topics.turns, graph, turn, headers=headers, settings={})
        return there, answer(replies, b"stray")

    there, outcome = await asyncio.to_thread(speak)
    assert there.partition() == crc32(graph), "librdkafka's default is what this test takes it for"
    assert outcome["status"] == "rejected"
    letter = only(await read_all(pipeline.transport.reader(pipeline.topics.dead_letters)))
    assert letter.reason == outcome["reason"]
    assert f"belongs to partition {partition_of(graph, PARTITIONS)}" in letter.reason
    assert "partitioner=murmur2_random" in letter.reason
    assert json.loads(letter.value) == turn
    assert pipeline.ids(graph) == []


def crc32(graph: str) -> int:
    """Return where librdkafka's default partitioner, consistent_random, puts a key."""
    return zlib.crc32(graph.encode()) % PARTITIONS


async def test_a_question_in_a_stray_partition_gets_a_failure_that_names_the_fix(
    kafka_address: str, pipeline: Pipeline, replies: Consumer
) -> None:
    graph = next(name for name in map("graph-{}".format, range(100)) if crc32(name) != partition_of(name, PARTITIONS))
    query = {"kind": "query", "graph": graph, "text": "who?"}
    headers = asking(b"stray", pipeline.topics.replies)

    def speak() -> dict[str, Any]:
        produce(kafka_address, pipeline.topics.queries, graph, query, headers=headers, settings={})
        return answer(replies, b"stray")

    failure = await asyncio.to_thread(speak)
    assert (failure["kind"], failure["code"]) == ("failure", "wrong-partition")
    assert "partitioner=murmur2_random" in failure["message"]
