"""The topic `events` in memory, as an owner needs it: it can fail, hang, and let others write in between.

log = MemoryLog()
log.put(value)                        append as any program might
log.before = lambda: log.put(value)   what happens between the owner's decision and its append
log.between = [value, …]              what others write between the records of one batch
log.broken = ConnectionError("…")     every append fails; log.silent: is never acknowledged
log.slow = asyncio.Event()            … only once this is set
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from replay.log import Record
from tests.support.list_log import ListReader


class MemoryLog(ListReader):
    def __init__(self, partitions: int = 1) -> None:
        self.records: list[list[Record]] = [[] for _ in range(partitions)]
        super().__init__(self.records)
        self.before: Callable[[], object] = lambda: None
        self.between: list[bytes] = []
        self.broken: Exception | None = None
        self.silent = False
        self.slow: asyncio.Event | None = None

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
