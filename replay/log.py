"""The seam through which replay (and a worker that must catch up) reads the event log: SQLite, Kafka or a list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

from emgas.wire import Headers


class Record(NamedTuple):
    """One record of a partition as it lies in the log.  `timestamp` is the log's, in ms."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes
    headers: Headers = ()


class LogReader(Protocol):
    """Reads one topic, mostly `events`; never joins a consumer group, never writes."""

    async def partitions(self) -> int:
        """Count the partitions of the topic."""

    async def bounds(self, partition: int) -> tuple[int, int]:
        """Look up (first offset kept, offset after the last one)."""

    def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        """Yield the records with start <= offset < end in batches, in order."""
