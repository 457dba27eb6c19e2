"""What stands behind a seam in place of the real thing: a sender, a log, its reader, a store, an extractor.

SentRecords()                          `send` over a list; arrival(value) is a record that comes in
ListReader([records, …]), MemoryLog()  a log's readable, and its appendable face (replay/log.py)
PastLog(log)                           the log as the past is read from it; it breaks or falls silent when told
WatchedStore()                         remembers what was written
OneConcept()                           finds the same concept in every text
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any

from emgas.errors import TransportError
from emgas.wire import ProducerRecord, Record, ReplyAddress
from processors.extraction.extractor import Extraction
from state.events.extraction_types import Concept
from state.store.store import Batch, MemoryStore
from streams.transport.sender import MessageSender

REPLIES, DEAD_LETTERS = "emgas.replies", "emgas.dead-letters"


class Sent(ProducerRecord):
    """A record as it was sent, and what it says."""

    @property
    def message(self) -> Any:
        return json.loads(self.value or b"")


class SentRecords:
    """`send` for a MessageSender.  `refusal`: raised at once; `loss`: raised instead of the ack.

    silent  answers are taken for ever, as a producer takes those to a topic that is not there
    passes  of the event loop, until a record is written, as a producer needs some
    """

    def __init__(self) -> None:
        self.all: list[Sent] = []
        self.refusal: Exception | None = None
        self.loss: Exception | None = None
        self.silent = False
        self.passes = 0

    async def send(self, record: ProducerRecord) -> Awaitable[object]:
        if self.refusal:
            raise self.refusal
        if self.silent and record.topic == REPLIES:
            await asyncio.Event().wait()
        for _ in range(self.passes):
            await asyncio.sleep(0)
        acknowledged: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        if self.loss:
            acknowledged.set_exception(self.loss)
        else:
            self.all.append(Sent(*record))
            acknowledged.set_result(None)
        return acknowledged

    def to(self, topic: str) -> list[Sent]:
        return [each for each in self.all if each.topic == topic]

    def sender(self) -> MessageSender:
        return MessageSender(DEAD_LETTERS, {REPLIES: 4}, self.send)


def arrival(
    value: bytes,
    offset: int = 0,
    key: bytes | None = b"ada",
    timestamp: int = 1_000,
    asks: bool = False,
    *,
    client: int = 1,
    by_broker: bool = False,
    **more: bytes,
) -> Record:
    """Make a record that came in; with `asks`, one that wants an answer in the partition `client`."""
    headers = ReplyAddress(REPLIES, client, b"%d" % offset).headers(timestamp + 60_000) if asks else ()
    headers = (*headers, *((k.replace("_", "-"), v) for k, v in more.items()))
    return Record(offset, timestamp, key, value, headers, by_broker)


async def no_id() -> str | None:
    """Give the id of `turns` where there is none to be had."""
    return None


class ListReader:
    """A LogReader over lists, one per partition, that reads `batch` records at a time.

    Offsets are those of `records`, so lists may begin late and have holes; they may grow.
    """

    def __init__(self, partitions: Iterable[list[Record]], batch: int = 3) -> None:
        self.records = list(partitions)
        self._batch = batch

    async def partitions(self) -> int:
        return len(self.records)

    async def bounds(self, partition: int) -> tuple[int, int]:
        records = self.records[partition]
        return (records[0].offset, records[-1].offset + 1) if records else (0, 0)

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        records = [record for record in self.records[partition] if start <= record.offset < end]
        for at in range(0, len(records), self._batch):
            yield records[at : at + self._batch]


class MemoryLog(ListReader):
    """The topic `events` in memory, as an owner needs it: it can fail, hang, and let others write in between.

    log = MemoryLog()
    log.put(value)                        append as any program might
    log.before = lambda: log.put(value)   what happens between the owner's decision and its append
    log.between = [value, …]              what others write between the records of one batch
    log.broken = ConnectionError("…")     every append fails; log.silent: is never acknowledged
    log.slow = asyncio.Event()            … only once this is set
    log.leader = "another"                records reach it by another route from here on
    """

    def __init__(self, partitions: int = 1) -> None:
        super().__init__([] for _ in range(partitions))
        self.before: Callable[[], object] = lambda: None
        self.between: list[bytes] = []
        self.broken: Exception | None = None
        self.silent = False
        self.slow: asyncio.Event | None = None
        self.leader = ""

    def route(self, partition: int) -> object:
        return self.leader

    def put(self, value: bytes, key: bytes | None = None, partition: int = 0) -> int:
        offset = len(self.records[partition])
        self.records[partition].append(Record(offset, 0, key, value))
        return offset

    def values(self, partition: int = 0) -> list[tuple[int, bytes]]:
        """Return (offset, value) of all records."""
        return [(record.offset, record.value) for record in self.records[partition]]

    async def append(self, partition: int, records: Sequence[tuple[bytes | None, bytes]]) -> list[int]:
        self.before()
        await asyncio.sleep(0)  # a real log takes a while, and others run meanwhile
        if self.broken:
            raise self.broken
        offsets = []
        for key, value in records:
            offsets.append(self.put(value, key, partition))
            if self.between:
                self.put(self.between.pop(0), partition=partition)
        if self.silent:
            await asyncio.Event().wait()
        if self.slow:
            await self.slow.wait()
        return offsets


class PastLog:
    """The log as the past is read from it.  `broken`: it cannot be read; `silent`: nothing ever comes."""

    def __init__(self, log: MemoryLog) -> None:
        self.partitions, self._log = log.partitions, log
        self.broken = self.silent = False

    async def bounds(self, partition: int) -> tuple[int, int]:
        if self.broken:
            raise TransportError("the broker is gone")
        return await self._log.bounds(partition)

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        if self.silent:
            await asyncio.Event().wait()
        async for batch in self._log.read(partition, start, end):
            yield batch


class WatchedStore(MemoryStore):
    """Remembers its batches."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[Batch] = []

    def write(self, batch: Batch) -> None:
        self.batches.append(dict(batch))
        super().write(batch)


class OneConcept:
    """An extractor that finds the same in every text."""

    version = "one concept"

    def of_turn(self, text: str, *, speaker: str, at: int) -> Extraction:
        return Extraction((Concept("kettle", "Kettle", 0.5, 1),), text.endswith("?"), len(text.split()))

    def of_query(self, text: str, at: int | None = None) -> Extraction:
        words = text.lower().split()
        return Extraction((Concept("kettle", "Kettle", 0.5, 1),) if "kettles" in words else (), False, len(words))
