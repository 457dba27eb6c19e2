"""A LogReader over lists, one per partition: the log without a disk."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from replay.log import Record
from tests.support.logs import LogWriter


class ListReader:
    """Offsets are those of the records, so lists may begin late and have holes.  `batch` records at a time.

    records  what each partition holds; it may grow
    """

    def __init__(self, partitions: Sequence[list[Record]], batch: int = 3) -> None:
        self.records = list(partitions)
        self._batch = batch

    async def partitions(self) -> int:
        return len(self.records)

    async def bounds(self, partition: int) -> tuple[int, int]:
        records = self.records[partition]
        return (records[0].offset, records[-1].offset + 1) if records else (0, 0)

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        found = [record for record in self.records[partition] if start <= record.offset < end]
        for at in range(0, len(found), self._batch):
            yield found[at : at + self._batch]


def reader_of(*logs: LogWriter, batch: int = 3) -> ListReader:
    """Read what the logs hold now, one log per partition."""
    return ListReader([records_of(log) for log in logs], batch)


def records_of(log: LogWriter) -> list[Record]:
    """List what a log holds now."""
    return [Record(offset, 0, None, value) for offset, value in log.records]
