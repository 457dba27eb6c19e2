"""The seam through which replay (and a worker that must catch up) reads the event log: SQLite, Kafka or a list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from emgas.wire import Record


class LogReader(Protocol):
    """Reads one topic, mostly `events`; never joins a consumer group, never writes."""

    async def partitions(self) -> int:
        """Count the partitions of the topic."""

    async def bounds(self, partition: int) -> tuple[int, int]:
        """Look up (first offset kept, offset after the last one)."""

    def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        """Yield the records with start <= offset < end in batches, in order."""
