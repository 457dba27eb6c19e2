"""LogReader (replay/log.py) on Apache Kafka.

No consumer group: partitions are assigned by hand, nothing is committed, live workers notice nothing.  Every call has a
consumer of its own, so reads may overlap and nothing has to be closed.

Offsets may have holes (transaction markers, batches that a broker dropped when it truncated), so a read ends when the
consumer's *position* has reached the end, not when a record has.  Records of an aborted transaction are a hole,
too, unless `isolation` is set otherwise: workers and readers must see the same log.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Unpack

from aiokafka import AIOKafkaConsumer, TopicPartition  # type: ignore[import-untyped]

from emgas.client.kafka import Security, end_reading, in_time, kafka_errors, record_of
from emgas.errors import TransportError
from emgas.limits import TRANSPORT_BYTES
from emgas.wire import Record
from state.sealing.keyring import NO_KEYS, Keyring

POLL_MS = 200  # a poll that met only markers returns nothing, and the position is looked at after it
FOLLOW_MS = 1000  # a poll of a log that does not grow; what comes ends it at once
PATIENCE_MS = 30_000  # without progress; then the broker is taken for lost


class KafkaReader:
    """Reads one topic of the cluster behind `bootstrap`; each request for `timeout` seconds.  Raises TransportError."""

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        batch: int = 2000,
        *,
        timeout: float = 30.0,
        isolation: str = "read_committed",
        rack: str | None = None,
        **security: Unpack[Security],
    ) -> None:
        self._bootstrap = bootstrap
        self._topic = topic
        self._batch = batch
        self._timeout = timeout
        self._isolation = isolation
        self._rack = rack
        self._security = security
        self.graph_keys: Keyring = NO_KEYS

    async def partitions(self) -> int:
        """Count the partitions of the topic."""
        async with self._consumer() as consumer:
            # of all topics: asking for one by name would create it on a broker that creates topics automatically
            cluster = await consumer._client.fetch_all_metadata()  # noqa: SLF001 - nothing public asks for all
            partitions = cluster.partitions_for_topic(self._topic)
        if not partitions:
            raise TransportError(
                f"Kafka at {self._bootstrap} has no topic {self._topic}: run `emgas admin topics create`"
            )
        return len(partitions)

    async def bounds(self, partition: int) -> tuple[int, int]:
        """Return (first offset kept, offset after the last one)."""
        async with self._consumer() as consumer:
            return await _bounds(consumer, TopicPartition(self._topic, partition))

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        """Yield the records with start <= offset < end that there are, in batches, in order."""
        async with self._consumer() as consumer:
            tp = TopicPartition(self._topic, partition)
            first, last = await _bounds(consumer, tp)
            start, end = max(start, first), min(end, last)
            if start < end:
                consumer.seek(tp, start)
                async for batch in self._batches(consumer, tp, end):
                    yield batch

    async def _batches(self, consumer: Any, tp: TopicPartition, end: int) -> AsyncIterator[Sequence[Record]]:
        position, waited = -1, 0
        while (reached := await consumer.position(tp)) < end:
            waited = waited + POLL_MS if reached == position else 0
            if waited > PATIENCE_MS:
                raise TransportError(f"{tp.topic}[{tp.partition}] does not go on after offset {reached}: is Kafka up?")
            position = reached
            fetched = await consumer.getmany(tp, timeout_ms=POLL_MS, max_records=self._batch)
            records = [record_of(record) for record in fetched.get(tp, ()) if record.offset < end]
            if records:
                yield records

    async def follow(self, partition: int, start: int) -> AsyncIterator[Sequence[Record]]:
        """Yield the records from offset `start` on in batches, in order, without end."""
        async with self._consumer() as consumer:
            tp = TopicPartition(self._topic, partition)
            consumer.assign([tp])
            consumer.seek(tp, start)
            while True:
                fetched = await consumer.getmany(tp, timeout_ms=FOLLOW_MS, max_records=self._batch)
                if records := [record_of(record) for record in fetched.get(tp, ())]:
                    yield records

    @asynccontextmanager
    async def _consumer(self) -> AsyncIterator[Any]:
        consumer = AIOKafkaConsumer(
            client_rack=self._rack,
            bootstrap_servers=self._bootstrap,
            client_id="emgas-reader",
            request_timeout_ms=int(self._timeout * 1000),
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="none",  # an offset that is gone is an error, not a reason to read elsewhere
            isolation_level=self._isolation,
            max_partition_fetch_bytes=TRANSPORT_BYTES,
            **self._security,
        )
        with kafka_errors(self._bootstrap):
            try:
                with in_time(self._bootstrap, self._timeout):
                    async with asyncio.timeout(self._timeout):
                        await consumer.start()
                yield consumer
            finally:
                await end_reading(self._bootstrap, consumer, self._timeout)


async def _bounds(consumer: Any, tp: TopicPartition) -> tuple[int, int]:
    consumer.assign([tp])  # has the metadata fetched; without it the first request fails and is repeated after 100 ms
    starts, ends = await asyncio.gather(consumer.beginning_offsets([tp]), consumer.end_offsets([tp]))
    return starts[tp], ends[tp]
