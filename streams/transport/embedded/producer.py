"""The producer of the embedded transport: what Faust sends, appended to the embedded log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from faust.transport.producer import Producer
from faust.types import TP, HeadersArg, RecordMetadata

from emgas.errors import TransportError
from emgas.wire import Headers, ProducerRecord, partition_of
from streams.transport.embedded.log import CREATE_TIME, EmbeddedLog, HoldsLog
from streams.transport.routes import KeyValue


class PendingRecord(NamedTuple):
    """A record that waits for the end of this loop turn, and the future of its receipt in Faust's form."""

    record: ProducerRecord
    place: TP
    sent: asyncio.Future[RecordMetadata]


class EmbeddedProducer(Producer):
    """All sends of one loop turn become one transaction, which every sender of that turn sees succeed or fail."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pending: list[PendingRecord] = []
        self._keyless = 0

    @property
    def _log(self) -> EmbeddedLog:
        return cast(HoldsLog, self.transport).log

    async def on_stop(self) -> None:
        """Write what is pending."""
        self._write()

    async def send(  # noqa: PLR0917 - as Faust calls it
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        partition: int | None,
        timestamp: float | None,
        headers: HeadersArg | None,
        *,
        transactional_id: str | None = None,
    ) -> Awaitable[RecordMetadata]:
        """Take a record; the awaitable resolves once it is durable.  TransportError at once: it never can be."""
        place = self.key_partition(topic, key) if partition is None else TP(topic, partition)
        created = time.time() if timestamp is None else timestamp
        record = ProducerRecord(topic, key, value, _as_pairs(headers), place.partition, round(created * 1000))
        self._log.check(record)
        if not self._pending:
            asyncio.get_running_loop().call_soon(self._write)
        sent = asyncio.get_running_loop().create_future()
        self._pending.append(PendingRecord(record, place, sent))
        return sent

    async def send_and_wait(self, *args: Any, **kwargs: Any) -> RecordMetadata:
        """Send, and wait until the record is in the log."""
        return await (await self.send(*args, **kwargs))

    async def send_all(self, tp: TP, records: Sequence[KeyValue]) -> list[int]:
        """Take records of one partition; return their offsets once all are durable.  TransportError as `send`."""
        sent = [await self.send(tp.topic, key, value, tp.partition, None, None) for key, value in records]
        return [there.offset for there in await asyncio.gather(*sent)]

    async def send_together(self, tp: TP, records: Sequence[ProducerRecord]) -> Awaitable[object]:
        """Take records of one partition; the awaitable resolves once all are durable.  TransportError as `send`."""
        return asyncio.gather(
            *[await self.send(tp.topic, r.key, r.value, tp.partition, None, list(r.headers)) for r in records]
        )

    def _write(self) -> None:
        batch, self._pending = self._pending, []
        if not batch:
            return
        try:
            offsets = self._log.append([pending.record for pending in batch])
        except TransportError as refusal:
            for pending in batch:
                _settle(pending.sent, refusal)
        else:
            for pending, offset in zip(batch, offsets, strict=True):
                _settle(pending.sent, _metadata(pending, offset))

    async def flush(self) -> None:
        """Wait until everything taken so far is durable or refused."""
        await self.buffer.flush()
        self._write()

    def key_partition(self, topic: str, key: bytes | None) -> TP:
        """Place `key`: as Kafka's Java client places it; without a key, in turn."""
        count = self._log.partitions(topic)
        if key is None:
            self._keyless += 1
        return TP(topic, self._keyless % count if key is None else partition_of(key, count))

    async def create_topic(self, topic: str, partitions: int, replication: int, **_: Any) -> None:
        """Do nothing: topics are created with their plan (streams/transport/topic_plan.py), never on first use."""

    def route(self, tp: TP) -> object:
        """Return the log itself: its route never changes (routes.py)."""
        return self._log

    def supports_headers(self) -> bool:
        """Do nothing: headers are supported."""
        return True


def _as_pairs(headers: HeadersArg | None) -> Headers:
    pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
    return tuple((name, bytes(value)) for name, value in pairs)


def _metadata(written: PendingRecord, offset: int) -> RecordMetadata:
    place = written.place
    return RecordMetadata(place.topic, place.partition, place, offset, written.record.timestamp, CREATE_TIME)


def _settle(future: asyncio.Future[RecordMetadata], outcome: RecordMetadata | TransportError) -> None:
    if future.done():  # the sender was cancelled
        return
    if isinstance(outcome, TransportError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
