"""Faults of records and topics: what other programs write, and what operators do to topics."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.admin import NewTopic, RecordsToDelete
from aiokafka.errors import KafkaError

from bench.torture.kinds import kind
from bench.torture.processes import ROOT
from bench.torture.scene import PARTITIONS, Scene
from emgas.limits import TRANSPORT_BYTES
from state.events.events import Claim, decode, encode
from streams.transport.kafka.reader import KafkaReader
from streams.transport.topic_plan import plan, settings_of

GARBAGE = [
    b"", b"{", b"null", b"[]", b"\x00" * 300, b"\xff\xfe\xfd", b'{"graph": 1}', b'{"kind": "turn"}', b"9" * 5000,
    b'{"id": "x", "graph": "ada", "speaker": "Ada", "text": "\\ud800"}',
    b'{"kind": "query", "graph": "nowhere-here", "text": "?", "after": 9223372036854775807}',
    b'{"id": "x", "graph": "ada", "speaker": "Ada", "text": "?", "at": 99999999999999999999}', b"[" * 5000,
]  # fmt: skip


async def _append(
    scene: Scene, topic: str, values: list[bytes], headers: list[tuple[str, bytes]] | None = None
) -> None:
    for value in values:
        partition = scene.a_partition()
        key = scene.random.choice([None, b"", b"\xff", scene.graphs[partition].encode(), b"k" * 2000])
        await scene.producer.send_and_wait(topic, value, key, partition, headers=headers or [])


@kind("garbage in turns")
async def garbage_in_turns(scene: Scene) -> AsyncIterator[None]:
    """Append records that are no turns."""
    await _append(scene, scene.topics.turns, GARBAGE)
    yield


@kind("garbage in queries")
async def garbage_in_queries(scene: Scene) -> AsyncIterator[None]:
    """Append records that are no questions."""
    await _append(scene, scene.topics.queries, GARBAGE)
    yield


@kind("garbage in replies")
async def garbage_in_replies(scene: Scene) -> AsyncIterator[None]:
    """Append records that are no answers."""
    for value in GARBAGE:
        await scene.producer.send_and_wait(scene.topics.replies, value, None, scene.random.randrange(16))
    yield


@kind("garbage in events")
async def garbage_in_events(scene: Scene) -> AsyncIterator[None]:
    """Append to the log what no one can read: its partition halts until an operator decides."""
    partition, value = scene.a_partition(), scene.random.choice(GARBAGE)
    there = await scene.producer.send_and_wait(scene.topics.events, value, None, partition)
    if scene.random.random() < 0.5:  # some notice it at their next append, some when they start
        scene.a_worker().signal(9)
    await asyncio.sleep(scene.random.uniform(0.0, 6.0))
    await scene.emgas("events", "skip", f"{partition}:{there.offset}", "--reason", "torture", "--yes")
    yield


@kind("events of a zombie")
async def events_of_a_zombie(scene: Scene) -> AsyncIterator[None]:
    """Append once more what is in the log already, as someone who does not own the partition."""
    partition = scene.a_partition()
    reader = KafkaReader(scene.bootstrap, scene.topics.events)
    first, end = await reader.bounds(partition)
    async for batch in reader.read(partition, max(first, end - 20), end):
        for record in scene.random.sample(list(batch), min(5, len(batch))):
            if not isinstance(decode_or_none(record.value), Claim | None):
                await scene.producer.send_and_wait(scene.topics.events, record.value, record.key, partition)
    yield


def decode_or_none(value: bytes) -> Any:
    """Decode an event, if it is one."""
    try:
        return decode(value)
    except Exception:  # noqa: BLE001 - whatever this torture wrote there
        return None


@kind("claimed by another")
async def claimed_by_another(scene: Scene) -> AsyncIterator[None]:
    """Claim a partition and do nothing: its owner has to notice, end, and claim again."""
    claim = Claim(writer="torture", partitions=PARTITIONS, nonce=secrets.token_hex(16))
    await scene.producer.send_and_wait(scene.topics.events, encode(claim), None, scene.a_partition())
    scene.harms(range(PARTITIONS))  # its owner leaves the group
    yield


@kind("hostile headers")
async def hostile_headers(scene: Scene) -> AsyncIterator[None]:
    """Append names that are not UTF-8, numbers of 5,000 digits, and ask for answers where none may go."""
    partition = scene.a_partition()
    for topic in (scene.topics.turns, scene.topics.queries, scene.topics.changes, scene.topics.replies):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bench.torture.hostile", scene.bootstrap, topic),
            *(str(partition), scene.graphs[partition], "{"),
            cwd=ROOT,
        )  # fmt: skip
        assert await process.wait() == 0
    for to in (scene.topics.events, "torture.nothing", scene.topics.replies):
        headers = [("emgas.event-offset", b"9" * 5000), ("reply-to", to.encode()), ("reply-partition", b"9" * 50)]
        headers += [("deadline", b"9" * 5000), ("correlation-id", b"x" * 9000)]
        for topic in (scene.topics.turns, scene.topics.queries, scene.topics.changes):
            await _append(scene, topic, [b"{", GARBAGE[-3]], headers)
    yield


@kind("records too large")
async def records_too_large(scene: Scene) -> AsyncIterator[None]:
    """Append what is as large as a topic takes; and larger, once it is unpacked."""
    partition = scene.a_partition()
    graph = scene.graphs[partition]
    huge = json.dumps({"id": "huge", "graph": graph, "speaker": "Ada", "text": "x" * (12 << 20)}).encode()
    async with AIOKafkaProducer(
        bootstrap_servers=scene.bootstrap, compression_type="zstd", max_request_size=256 << 20
    ) as foreign:
        for topic in (scene.topics.turns, scene.topics.queries):
            await foreign.send_and_wait(topic, huge, graph.encode(), partition)
            await foreign.send_and_wait(topic, b"\x00" * (140 << 20), graph.encode(), partition)
    noise = scene.random.randbytes(TRANSPORT_BYTES)
    await scene.producer.send_and_wait(scene.topics.turns, noise, graph.encode(), partition)
    yield


@kind("transactions aborted")
async def transactions_aborted(scene: Scene) -> AsyncIterator[None]:
    """Abort and commit transactions, and leave one open until Kafka gives it up."""
    partition = scene.a_partition()
    graph, marks = scene.graphs[partition], secrets.token_hex(4)
    name, key = scene.topics.turns, graph.encode()
    async with AIOKafkaProducer(
        bootstrap_servers=scene.bootstrap, transactional_id="torture", transaction_timeout_ms=8000
    ) as foreign:
        for number in range(3):
            await foreign.begin_transaction()
            value = scene.turn(graph, f"aborted-{marks}-{number}", 1).model_dump_json().encode()
            await foreign.send_and_wait(name, value, key, partition)
            await foreign.abort_transaction()
            async with foreign.transaction():
                value = scene.turn(graph, f"committed-{marks}-{number}", 1).model_dump_json().encode()
                await foreign.send_and_wait(name, value, key, partition)
    yield
    left = AIOKafkaProducer(
        bootstrap_servers=scene.bootstrap, transactional_id="torture-left", transaction_timeout_ms=5000
    )
    await left.start()
    await left.begin_transaction()
    await left.send_and_wait(name, scene.turn(graph, f"left-{marks}", 1).model_dump_json().encode(), key, partition)
    yield  # what lies behind an open transaction waits for Kafka to abort it
    with suppress(KafkaError):  # Kafka aborted it
        await left.abort_transaction()
    await left.stop()


@kind("turns deleted unread")
async def turns_deleted(scene: Scene) -> AsyncIterator[None]:
    """Delete all records of `turns` while no one reads them."""
    for worker in scene.workers:
        await worker.down()
    for partition, graph in enumerate(scene.graphs):
        for number in range(5):
            value = scene.turn(graph, f"unread-{secrets.token_hex(4)}", number).model_dump_json().encode()
            await scene.producer.send_and_wait(scene.topics.turns, value, graph.encode(), partition)
    async with scene.admin() as admin:
        everything = {TopicPartition(scene.topics.turns, n): RecordsToDelete(-1) for n in range(PARTITIONS)}
        await admin.delete_records(everything)
    for worker in scene.workers:
        await worker.up()
    yield


@kind("turns made anew")
async def turns_made_anew(scene: Scene) -> AsyncIterator[None]:
    """Delete the topic `turns` and make it again, under live workers and clients."""
    name = scene.topics.turns
    (topic_plan,) = [each for each in plan(scene.topics, PARTITIONS) if each.name == name]
    config = settings_of(topic_plan, scene.replication)
    async with scene.admin() as admin:
        await admin.delete_topics([name])
        while name in await admin.list_topics():  # noqa: ASYNC110  (the broker deletes in its own time)
            await asyncio.sleep(0.05)
        await asyncio.sleep(scene.random.uniform(0.0, 3.0))
        created = await admin.create_topics([NewTopic(name, PARTITIONS, scene.replication, topic_configs=config)])
        assert not created.topic_errors[0][1], created
    yield
