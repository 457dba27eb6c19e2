"""The producer of the embedded transport: what Faust sends, appended to the embedded log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from faust.transport.producer import Producer
from faust.types import TP, HeadersArg, RecordMetadata

from emgas.errors import TransportError
from emgas.wire import Headers, murmur2
from streams.transport.embedded.log import NewRecord

if TYPE_CHECKING:
    from streams.transport.embedded.transport import EmbeddedTransport

CREATE_TIME = 0  # Kafka's timestamp type


class Pending(NamedTuple):
    """A record that waits for the end of this loop turn, and who wants to know where it came to lie."""

    record: NewRecord
    sent: asyncio.Future[RecordMetadata]


class EmbeddedProducer(Producer):
    """All sends of one loop turn become one transaction, which every sender of that turn sees succeed or fail."""

    transport: EmbeddedTransport

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pending: list[Pending] = []
        self._keyless = 0

    async def on_start(self) -> None:
        """Open the log."""
        self.transport.open()
        await super().on_start()

    async def on_stop(self) -> None:
        """Write what is pending and let go of the log."""
        self._write()
        self.transport.close()

    async def send(
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
        if partition is None:
            partition = self.key_partition(topic, key).partition
        created = time.time() if timestamp is None else timestamp
        record = NewRecord(topic, partition, key, value, _as_pairs(headers), round(created * 1000))
        self.transport.log.check(record)
        if not self._pending:
            asyncio.get_running_loop().call_soon(self._write)
        sent = asyncio.get_running_loop().create_future()
        self._pending.append(Pending(record, sent))
        return sent

    async def send_and_wait(self, *args: Any, **kwargs: Any) -> RecordMetadata:
        """Send, and return where the record lies."""
        return await (await self.send(*args, **kwargs))

    def _write(self) -> None:
        batch, self._pending = self._pending, []
        if not batch:
            return
        try:
            offsets = self.transport.log.append([pending.record for pending in batch])
        except TransportError as refusal:
            for pending in batch:
                _settle(pending.sent, refusal)
        else:
            for pending, offset in zip(batch, offsets, strict=True):
                _settle(pending.sent, _metadata(pending.record, offset))

    async def flush(self) -> None:
        """Return once everything taken so far is durable or refused."""
        await self.buffer.flush()
        self._write()

    def key_partition(self, topic: str, key: bytes | None) -> TP:
        """Return where `key` lies: as Kafka's Java client places it; without a key, in turn."""
        count = self.transport.log.partitions(topic)
        if key is None:
            self._keyless += 1
        return TP(topic, (self._keyless if key is None else murmur2(key) & 0x7FFFFFFF) % count)

    async def create_topic(self, topic: str, partitions: int, replication: int, **_: Any) -> None:
        """Do nothing: topics are created with their plan (streams/transport/topic_plan.py), never by the way."""

    def supports_headers(self) -> bool:
        """Return True."""
        return True


def _as_pairs(headers: HeadersArg | None) -> Headers:
    pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
    return tuple((name, bytes(value)) for name, value in pairs)


def _metadata(record: NewRecord, offset: int) -> RecordMetadata:
    tp = TP(record.topic, record.partition)
    return RecordMetadata(record.topic, record.partition, tp, offset, record.timestamp, CREATE_TIME)


def _settle(future: asyncio.Future[RecordMetadata], outcome: RecordMetadata | TransportError) -> None:
    if future.done():  # the sender was cancelled
        return
    if isinstance(outcome, TransportError):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
