"""A LogReader over lists, one per partition: the log without a disk."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from replay.log import Record


class ListReader:
    """Offsets are those of the records, so lists may begin late and have holes.  `batch` records at a time."""

    def __init__(self, partitions: Sequence[Sequence[Record]], batch: int = 3) -> None:
        self._partitions = partitions
        self._batch = batch

    async def partitions(self) -> int:
        return len(self._partitions)

    async def bounds(self, partition: int) -> tuple[int, int]:
        records = self._partitions[partition]
        return (records[0].offset, records[-1].offset + 1) if records else (0, 0)

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        found = [record for record in self._partitions[partition] if start <= record.offset < end]
        for at in range(0, len(found), self._batch):
            yield found[at : at + self._batch]
