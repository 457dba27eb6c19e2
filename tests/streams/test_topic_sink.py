"""Concepts and links as they change, on topics of their own: what sinks promise, and what is Kafka's, on a real one."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition  # type: ignore[import-untyped]
from aiokafka.structs import RecordMetadata  # type: ignore[import-untyped]

from emgas.errors import InvalidMessageError, TransportError
from emgas.wire import Record
from replay.graph_rows import COLUMNS, KEYS, Changes, rows_of
from replay.sinking import SinkError, SinkPosition
from streams.settings import WorkerSettings
from streams.transport import event_topic
from streams.transport.kafka import topic_sink
from streams.transport.kafka.admin import KafkaTopics
from streams.transport.kafka.reader import KafkaReader
from streams.transport.kafka.topic_sink import GONE_MS, TopicSink, address_of
from tests.pipeline.test_embedded import embedded
from tests.streams.test_sinks import SinkContract, Table, a_log, caught_up, rows_in
from tests.support.cli import ROOT
from tests.support.clocks import PATIENCE
from tests.support.weeks import talk


class Sent(NamedTuple):
    """A record as it lies in a topic; value None: a tombstone."""

    partition: int
    key: bytes
    value: bytes | None


async def records_in(address: str, topic: str) -> list[Sent]:
    """Read what is committed in a topic."""
    consumer = AIOKafkaConsumer(bootstrap_servers=address, isolation_level="read_committed")
    await consumer.start()
    try:
        parts = [TopicPartition(topic, number) for number in range(await KafkaReader(address, topic).partitions())]
        consumer.assign(parts)
        await consumer.seek_to_beginning(*parts)
        ends, result = await consumer.end_offsets(parts), list[Sent]()
        while any([await consumer.position(part) < ends[part] for part in parts]):
            for part, records in (await consumer.getmany(timeout_ms=200)).items():
                result += [Sent(part.partition, record.key, record.value) for record in records]
    finally:
        await consumer.stop()
    return result


async def tables_in(address: str, prefix: str, source: str) -> dict[str, Table]:
    """Read the topics as tables: the newest record of every key, but for tombstones."""
    result: dict[str, Table] = {}
    for table in KEYS:
        rows: dict[tuple[Any, ...], tuple[Any, ...] | None] = {}
        for record in await records_in(address, f"{prefix}.{table}"):
            key = json.loads(record.key)
            assert list(key) == ["source", "graph", *KEYS[table]]
            if key.pop("source") != source:
                continue
            answer = None if record.value is None else json.loads(record.value)
            assert answer is None or list(answer) == list(COLUMNS[table])
            rows[tuple(key.values())] = None if answer is None else tuple(answer.values())
        result[table] = {key: row for key, row in rows.items() if row is not None}
    return result


class TestTopics(SinkContract):
    @pytest.fixture(autouse=True)
    def _cluster(self, kafka_address: str, prefix: str) -> None:
        self.address, self.prefix = kafka_address, prefix
        self.url = f"kafka://{kafka_address}/{prefix}"

    async def tables(self) -> dict[str, Table]:
        return await tables_in(self.address, self.prefix, "emgas")

    async def opened(self, source: str = "emgas", partitions: int = 1) -> TopicSink:
        return await TopicSink.opened(self.url, source, partitions)

    async def test_a_sink_that_begins_shuts_out_the_one_before(self) -> None:
        log, first = a_log(), await self.opened()
        await caught_up(log, first)
        second = await self.opened()
        at = await second.position(0)
        assert at == await first.position(0)
        log.turn(id="t9", text="more", concepts="tea biscuit")
        with pytest.raises(SinkError, match="another sink"):
            await caught_up(log, first)
        await caught_up(log, second)
        assert await self.tables() == rows_in(log)
        await first.close()
        await second.close()

    async def test_what_was_sent_and_not_committed_is_seen_by_nobody(self) -> None:
        log, first = a_log(), await self.opened()
        await caught_up(log, first)
        producer = first._producer  # noqa: SLF001 - to die between sending and committing
        await producer.begin_transaction()
        await producer.send_and_wait(f"{self.prefix}.links", b'{"together":9}', b'{"source":"emgas"}', 0)
        before = await self.tables()
        second = await self.opened()  # the first is dead to the broker from here on
        assert await self.tables() == before == rows_in(log)
        assert await caught_up(log, second) == 0
        await second.close()
        await first.close()

    async def test_memories_that_share_topics_keep_their_rows_and_positions_apart(self) -> None:
        log = a_log()
        for source in ("one", "two"):
            sink = await self.opened(source)
            await caught_up(log, sink)
            await sink.close()
        for source in ("one", "two"):
            assert await tables_in(self.address, self.prefix, source) == rows_in(log)

    async def test_a_graph_has_the_partition_that_it_has_in_the_log(self) -> None:
        sink = await self.opened(partitions=3)
        changed = [
            Changes("ada", "links", [("a", "b", 1), ("c", "d", 2)], []),
            Changes("ada", "links", [], [("a", "b")]),
        ]
        await sink.write(2, None, SinkPosition(7, "x"), changed)
        await sink.close()
        result = await records_in(self.address, f"{self.prefix}.links")
        assert [record.partition for record in result] == [2, 2, 2]
        assert result[-1].value is None, "what is gone is a tombstone"
        assert (await self.tables())["links"] == {("ada", "c", "d"): (2,)}

    async def test_the_topics_are_compacted_and_a_tombstone_stays_for_a_week(self) -> None:
        await (await self.opened(partitions=2)).close()
        names = [f"{self.prefix}.{table}" for table in (*KEYS, "positions")]
        described = await KafkaTopics(self.address).describe(names)
        assert [each.partitions for each in described] == [2, 2, 2, 1]
        for each in described:
            assert each.config["cleanup.policy"] == "compact"
            assert int(each.config["delete.retention.ms"]) == GONE_MS

    @pytest.mark.source("E36")
    async def test_a_sink_of_topics_that_is_killed_again_and_again_ends_with_what_the_memory_holds(
        self, tmp_path: Path
    ) -> None:
        chance = random.Random(5)
        async with embedded(tmp_path / "data") as pipeline:
            environment = os.environ | {"EMGAS_DATA": str(tmp_path / "data"), "EMGAS_PREFIX": "test"}
            command = [sys.executable, "-m", "streams.cli.main", "sink", self.url, "--batch", "3"]
            await pipeline.memory.configure("ada", "forgetful", least_turns=2)
            turns = talk(["ada", "ben"], weeks=3)
            for number in range(3):
                process = await asyncio.create_subprocess_exec(
                    *command, cwd=ROOT, env=environment, stdout=asyncio.subprocess.DEVNULL
                )
                start = await self.written()
                for turn in turns[number * 24 : (number + 1) * 24]:
                    await pipeline.memory.record(turn)
                async with asyncio.timeout(PATIENCE):
                    while await self.written() <= start + chance.randrange(4):
                        assert process.returncode is None
                process.send_signal(signal.SIGKILL)
                await process.wait()
            done = await asyncio.to_thread(subprocess.run, [*command, "--once"], cwd=ROOT, env=environment, check=False)
            assert done.returncode == 0
            contents = {name: rows_of(pipeline.graph(name)) for name in ("ada", "ben")}
        result = await tables_in(self.address, self.prefix, "test")
        for table in KEYS:
            expected = {(name, *key): row for name in contents for key, row in getattr(contents[name], table).items()}
            assert result[table] == expected

    async def written(self) -> int:
        """Count the transactions that were committed; 0 before the topics are there."""
        there = await KafkaTopics(self.address).describe([f"{self.prefix}.positions"])
        return len(await records_in(self.address, f"{self.prefix}.positions")) if there else 0


@pytest.mark.parametrize("url", ["kafka://", "kafka:///emgas", "kafka://there:9092/a/b"])
def test_topics_are_named_by_a_cluster_and_a_prefix(url: str) -> None:
    assert address_of("kafka://there:9092,here:9092/graph", "emgas") == ("there:9092,here:9092", "graph")
    assert address_of("kafka://there:9092", "emgas") == ("there:9092", "emgas")
    assert address_of("kafka://there:9092/", "emgas") == ("there:9092", "emgas")
    with pytest.raises(InvalidMessageError, match="HOST:PORT"):
        address_of(url, "emgas")


async def test_a_cluster_that_is_not_there_is_told(unused_port: int) -> None:
    with pytest.raises(SinkError, match="cannot use these topics"):
        await TopicSink.opened(f"kafka://127.0.0.1:{unused_port}/x", "emgas", 1)


@pytest.fixture
def unused_port() -> Iterator[int]:
    """Keep a port at which nobody listens: bound for as long as the test has it, so that no other process gets it."""
    import socket

    with socket.socket() as there:
        there.bind(("127.0.0.1", 0))
        yield int(there.getsockname()[1])


class FrozenProducer:
    """A producer of a broker that is stopped: a transaction is neither committed nor aborted, and no stop ends."""

    def __init__(self) -> None:
        self._sender = SimpleNamespace(sender_task=None)
        self.client = SimpleNamespace(close=self.closed)
        self.is_closed = False

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await asyncio.Event().wait()

    async def send(self, *_: object) -> asyncio.Future[RecordMetadata]:
        return asyncio.get_running_loop().create_future()

    async def stop(self) -> None:
        await asyncio.Event().wait()

    async def closed(self) -> None:
        self.is_closed = True


async def test_a_broker_that_freezes_ends_a_sinks_write_and_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_sink, "SECONDS", 0.05)
    producer, at = FrozenProducer(), SinkPosition(1, "chain")
    sink = TopicSink(producer, "rows", "emgas", {})
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(SinkError, match=r"did not take rows within 0\.05 s"):
            await sink.write(0, None, at, [])
        assert await sink.position(0) is None
        await sink.close()
    assert producer.is_closed


async def test_a_broker_that_freezes_ends_an_append_to_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_topic, "SECONDS", 0.05)
    topic = event_topic._KafkaTopic(WorkerSettings(broker="kafka://b:1"), FrozenProducer())  # noqa: SLF001 - made by brokers alone
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(TransportError, match=r"did not answer within 0\.05 s"):
            await topic.append(0, [Record(-1, 0, None, b"event", ())])
