"""The one writer of a partition: claim, append, fold.  Knows nothing of Faust; its log is a seam.

    claim()         append Claim, fold up to it: from here on, events of earlier owners are ignored by every fold
    append(drafts)  link drafts into the chain, append them all, wait for every ack, fold them, flush

What is appended by others in between (a zombie, a foreign program) is read back and folded too, in log order.  An own
event that the fold did not accept means that this worker is no longer the owner: FencedError.  After any failure the state
of the log is unknown, so the process must stop (streams/worker/app.py) and its successor claims anew; nothing is skipped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol
from uuid import uuid4

from emgas.wire import ProducerRecord
from replay.log import LogReader
from state.events.events import Claim, GraphData, encode
from state.log_position import Acceptance, LogPosition
from state.partition import Partition
from streams.errors import AppendFailedError, FencedError
from streams.ingest.command_handler import Draft
from streams.transport.sender import Send


class EventLog(LogReader, Protocol):
    """The topic `events`, readable and appendable."""

    async def append(self, partition: int, records: Sequence[tuple[bytes | None, bytes]]) -> list[int]:
        """Append (key, value) records in order; return their offsets once all are acknowledged."""


class ProducedLog:
    """An EventLog that a reader reads and a producer appends to.

    send  takes a record; returns, once awaited, what to await for the ack
    """

    def __init__(self, reader: LogReader, topic: str, send: Send) -> None:
        self.partitions = reader.partitions
        self.bounds = reader.bounds
        self.read = reader.read
        self._topic = topic
        self._send = send

    async def append(self, partition: int, records: Sequence[tuple[bytes | None, bytes]]) -> list[int]:
        """Append in order, pipelined; return the offsets once all are acknowledged."""
        sent = [await self._send(ProducerRecord(self._topic, key, value, (), partition)) for key, value in records]
        return [there.offset for there in await asyncio.gather(*sent)]


class PartitionWriter:
    """Owns `state` = the fold of partition `number` of `log`.  One at a time appends; others wait."""

    def __init__(
        self, number: int, partitions: int, state: Partition, log: EventLog, writer: str, timeout: float
    ) -> None:
        self.number = number
        self.state = state
        self._partitions = partitions
        self._log = log
        self._writer = writer
        self._timeout = timeout
        self._epoch = -1
        self._turn_to_append = asyncio.Lock()
        self._folded = asyncio.Condition()

    async def claim(self) -> None:
        """Take the partition.  Raises AppendFailedError, HaltedError."""
        async with self._turn_to_append:
            claim = Claim(writer=self._writer, partitions=self._partitions, nonce=uuid4().hex)
            (self._epoch,) = await self._append([(None, encode(claim))])
            self._check_owned()

    async def append(self, drafts: Sequence[Draft]) -> list[tuple[int, bytes]]:
        """Append and fold events made from `drafts`, in order; return (offset, value) of each.

        Raises FencedError, AppendFailedError, HaltedError.
        """
        async with self._turn_to_append:
            self._check_owned()
            records = _linked(self.state.head, drafts)
            offsets = await self._append(records)
            return [(offset, value) for offset, (_, value) in zip(offsets, records, strict=True)]

    def _check_owned(self) -> None:
        if self.state.head.epoch != self._epoch:
            raise FencedError(
                f"partition {self.number} was claimed by another worker at offset {self.state.head.epoch}"
            )

    async def _append(self, records: Sequence[tuple[bytes | None, bytes]]) -> list[int]:
        try:
            offsets = await asyncio.wait_for(self._log.append(self.number, records), self._timeout)
        except TimeoutError:
            raise AppendFailedError(f"no ack for partition {self.number} within {self._timeout:.0f} s") from None
        except Exception as error:  # of whichever transport: none of them tells for certain what the log holds now
            raise AppendFailedError(f"the log refused an event of partition {self.number}: {error}") from error
        for offset, (_, value) in sorted(zip(offsets, records, strict=True)):
            await self._fold_own(offset, value)
        self.state.flush()
        await self._tell()
        return offsets

    async def _fold_own(self, offset: int, value: bytes) -> None:
        await self._catch_up(offset)
        verdict = self.state.fold(offset, value).verdict
        if verdict is not Acceptance.ACCEPTED:
            raise FencedError(
                f"partition {self.number}: our event at offset {offset} was not accepted ({verdict.value})"
            )

    async def _catch_up(self, end: int) -> None:
        """Fold what others appended before `end`."""
        start = self.state.head.watermark + 1
        if start < end:
            await self._check_shown(end)
            async for batch in self._log.read(self.number, start, end):
                for record in batch:
                    if record.offset > self.state.head.watermark:  # recovery may fold meanwhile what it has in hand
                        self.state.fold(record.offset, record.value)

    async def _check_shown(self, end: int) -> None:
        """Raise AppendFailedError if the log does not show yet all that it holds before `end`.

        A new leader may tell an old end (KIP-207): what is read up to there has a hole before what was acknowledged.
        """
        _, shown = await self._log.bounds(self.number)
        if shown < end:
            raise AppendFailedError(
                f"the log of partition {self.number} shows {shown} of {end} records: its leader is new"
            )

    async def _tell(self) -> None:
        async with self._folded:
            self._folded.notify_all()

    async def until_source(self, offset: int) -> None:
        """Return once the turn at `offset` of `turns` is folded."""
        async with self._folded:
            await self._folded.wait_for(lambda: self.state.head.source >= offset)


def _linked(head: LogPosition, drafts: Sequence[Draft]) -> list[tuple[bytes | None, bytes]]:
    """Return the records of `drafts`, chained one behind the other after `head`."""
    records: list[tuple[bytes | None, bytes]] = []
    for draft in drafts:
        event = draft(**head.link)
        value = encode(event)
        key = event.graph.encode() if isinstance(event, GraphData) else None
        records.append((key, value))
        head, _ = head.after(head.watermark + 1, event, value)
    return records
