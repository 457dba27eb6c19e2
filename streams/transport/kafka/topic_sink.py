"""Topics that rows of graphs go to: concepts, links and themes, each a table of its own, keyed and compacted.

    kafka://HOST:PORT[,HOST:PORT][/PREFIX]    the cluster of the memory, or another; PREFIX: that of the memory's topics

    PREFIX.concepts    {"source", "graph", "id"} ▸ {"label", "kind", …}; nothing (a tombstone) for one that is gone
    PREFIX.links       {"source", "graph", "a", "b"} ▸ {"together"}
    PREFIX.themes      {"source", "graph", "id"} ▸ {"label", …}              columns: replay/graph_rows.py
    PREFIX.positions   {"source", "partition"} ▸ {"next_offset", "chain"}

Rows and position are one Kafka transaction, named after the source: when a sink starts, the broker refuses an older one
that still writes, and a consumer of committed records never sees half of a change.  All rows of a graph are in the
partition that the graph has in `events`, in the order of the log.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Unpack

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]
from aiokafka.errors import ProducerFenced  # type: ignore[import-untyped]

from emgas.client.kafka import Security, end_writing, in_time, kafka_errors
from emgas.errors import InvalidMessageError, TransportError
from emgas.times import DAY_MS, HOUR_MS
from emgas.wire import COMPRESSION
from replay.graph_rows import COLUMNS, KEYS, Changes
from replay.sinking import ANOTHER, SinkError, SinkPosition
from streams.transport.kafka.admin import KafkaTopics
from streams.transport.kafka.reader import KafkaReader
from streams.transport.topic_plan import FOR_EVER, RECORD_BYTES, TopicPlan

SECONDS: Final = 60.0  # until brokers must have taken a transaction
POSITIONS: Final = "positions"
GONE_MS: Final = 7 * DAY_MS  # for which a tombstone stays: consumers must read so often


def address_of(url: str, source: str) -> tuple[str, str]:
    """Take kafka://HOST:PORT[/PREFIX] apart: the brokers, and the prefix.  Raises InvalidMessageError."""
    brokers, _, prefix = url.removeprefix("kafka://").partition("/")
    if not brokers or "/" in prefix:
        raise InvalidMessageError("a sink of topics is kafka://HOST:PORT[,HOST:PORT][/PREFIX]")
    return brokers, prefix or source


def plans(prefix: str, partitions: int) -> list[TopicPlan]:
    """Plan the topics: one that is there may have more partitions, since a graph's is named by its log."""
    rows = [_plan(f"{prefix}.{table}", partitions) for table in KEYS]
    return [*rows, _plan(f"{prefix}.{POSITIONS}", 1)]


def _plan(name: str, partitions: int) -> TopicPlan:
    return TopicPlan(name, partitions, FOR_EVER, RECORD_BYTES, compacted_ms=HOUR_MS, unit=1, gone_ms=GONE_MS)


class TopicSink:
    """Topics of a cluster, written to by one producer in transactions."""

    def __init__(self, producer: Any, prefix: str, source: str, positions: Mapping[int, SinkPosition]) -> None:
        """Write by a started producer; `positions` are those that are committed."""
        self._producer = producer
        self._prefix, self._source = prefix, source
        self._positions = dict(positions)

    @classmethod
    async def opened(
        cls, url: str, source: str, partitions: int, replication: int = 1, **security: Unpack[Security]
    ) -> TopicSink:
        """Make the topics where they are not there, and refuse who wrote before.  Raises SinkError."""
        brokers, prefix = address_of(url, source)
        producer = AIOKafkaProducer(
            bootstrap_servers=brokers,
            client_id="emgas-sink",
            acks="all",
            compression_type=COMPRESSION,
            transactional_id=f"{prefix}-sink-{source}",
            max_request_size=RECORD_BYTES,
            **security,
        )
        try:
            await KafkaTopics(brokers, **security).create(plans(prefix, partitions), replication)
            with kafka_errors(brokers), in_time(brokers, SECONDS):
                async with asyncio.timeout(SECONDS):
                    await producer.start()  # what the one before left open is aborted now
            positions = await _positions(KafkaReader(brokers, f"{prefix}.{POSITIONS}", **security), source)
        except BaseException as error:
            await end_writing(brokers, producer, SECONDS)
            if isinstance(error, TransportError):
                raise SinkError(f"cannot use these topics as a sink: {error}") from error
            raise
        return cls(producer, prefix, source, positions)

    async def position(self, partition: int) -> SinkPosition | None:
        return self._positions.get(partition)

    async def write(
        self, partition: int, before: SinkPosition | None, after: SinkPosition, changed: Sequence[Changes]
    ) -> None:
        if self._positions.get(partition) != before:
            raise SinkError(ANOTHER)
        # In a task of its own: to abort a transaction waits for the broker, too, and nothing would end that.
        writing = asyncio.ensure_future(self._write(partition, after, changed))
        try:
            await asyncio.wait([writing], timeout=SECONDS)
        finally:
            given_up = not writing.done() and writing.cancel()
        if given_up:
            raise SinkError(f"the brokers of the sink did not take rows within {SECONDS:g} s: are they stopped?")
        await writing
        self._positions[partition] = after

    async def _write(self, partition: int, after: SinkPosition, changed: Sequence[Changes]) -> None:
        with _refusals():
            async with self._producer.transaction():
                sent = [
                    await self._producer.send(f"{self._prefix}.{table}", value, key, partition)
                    for table, key, value in self._records(changed)
                ]
                where = {"source": self._source, "partition": partition}
                at = f"{self._prefix}.{POSITIONS}", _json(after._asdict()), _json(where), 0
                sent.append(await self._producer.send(*at))
                await asyncio.gather(*sent)

    def _records(self, changed: Sequence[Changes]) -> Iterator[tuple[str, bytes, bytes | None]]:
        """Write rows as records: table, key, value; what is gone has none."""
        for each in changed:
            names = ("source", "graph", *KEYS[each.table])
            there = self._source, each.graph
            for gone in each.gone:
                yield each.table, _json(dict(zip(names, (*there, *gone), strict=True))), None
            for row in each.put:
                whole = dict(zip((*names, *COLUMNS[each.table]), (*there, *row), strict=True))
                key = {name: whole.pop(name) for name in names}
                yield each.table, _json(key), _json(whole)

    async def close(self) -> None:
        await end_writing("the sink", self._producer, SECONDS)


async def _positions(reader: KafkaReader, source: str) -> dict[int, SinkPosition]:
    """Read how far each partition of a source is: the newest record of each."""
    by_partition: dict[int, SinkPosition] = {}
    first, end = await reader.bounds(0)
    async for records in reader.read(0, first, end):
        for record in records:
            where = json.loads(record.key or b"{}")
            if where.get("source") == source and record.value:
                by_partition[where["partition"]] = SinkPosition(**json.loads(record.value))
    return by_partition


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise SinkError where a broker takes no more: another sink has begun, or the broker is unreachable."""
    try:
        with kafka_errors("the sink"):
            yield
    except TransportError as error:
        message = ANOTHER if isinstance(error.__cause__, ProducerFenced) else f"the sink refuses rows: {error}"
        raise SinkError(message) from error


def _json(fields: Mapping[str, object]) -> bytes:
    """Write one line of JSON, the same bytes for the same content: compaction goes by the bytes of a key."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
