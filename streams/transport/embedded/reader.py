"""LogReader (replay/log.py) on the embedded log: beside the worker in one process, or read-only from another."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from emgas.errors import NoMemoryError, TransportError
from emgas.wire import Record
from state.sealing.keyring import NO_KEYS, Keyring
from streams.transport.embedded import layout
from streams.transport.embedded.append_notifier import AppendNotifier
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.unfinished import check_finished
from streams.transport.topic_plan import TopicDescription

FOLLOW_SECONDS = 10.0  # between two looks at a log that does not grow


class LogBounds(Protocol):
    """The common part of EmbeddedLog and ReadOnlyLog."""

    def partitions(self, topic: str) -> int:
        """Count the partitions of `topic`."""

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return (first offset kept, offset after the last)."""

    def read(self, topic: str, partition: int, start: int, limit: int = 500) -> list[Record]:
        """Read up to `limit` records from offset `start` on."""


class EmbeddedReader:
    """Reads one topic of a log.  Raises TransportError."""

    def __init__(self, log: LogBounds, topic: str, batch: int = 500) -> None:
        self._log = log
        self._topic = topic
        self._batch = batch
        self.graph_keys: Keyring = NO_KEYS

    async def partitions(self) -> int:
        """Count the partitions of the topic."""
        return self._log.partitions(self._topic)

    async def bounds(self, partition: int) -> tuple[int, int]:
        """Return (first offset kept, offset after the last one)."""
        return self._log.bounds(self._topic, partition)

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        """Yield the records with start <= offset < end that there are, in batches, in order."""
        first, last = self._log.bounds(self._topic, partition)
        at, end = max(start, first), min(end, last)
        while at < end:
            records = self._log.read(self._topic, partition, at, min(self._batch, end - at))
            if not records:
                raise TransportError(f"{self._topic}[{partition}] lost offset {at} while it was read")
            at = records[-1].offset + 1
            yield records
            await asyncio.sleep(0)  # a long replay beside a live worker must not starve it

    async def follow(self, partition: int, start: int) -> AsyncIterator[Sequence[Record]]:
        """Yield the records from offset `start` on in batches, in order, without end.  In the owner's process alone."""
        at = start
        self._check_has(partition, start)
        grown = _notified(self._log)
        try:
            while True:
                grown.clear()  # before looking: what is appended from here on rings again
                while records := self._log.read(self._topic, partition, at, self._batch):
                    at = records[-1].offset + 1
                    yield records
                await grown.wait(FOLLOW_SECONDS)
        finally:
            grown.close()

    def _check_has(self, partition: int, start: int) -> None:
        first, end = self._log.bounds(self._topic, partition)
        if not first <= start <= end:
            raise TransportError(f"{self._topic}[{partition}] holds {first} to {end}: there is no offset {start}")


def _notified(log: LogBounds) -> AppendNotifier:
    """Ring whenever the log grows.  Raises TransportError where it is another process's."""
    if not isinstance(log, EmbeddedLog):
        raise TransportError("only the process that owns an embedded log can follow it")
    return AppendNotifier(log)


def _nothing_at(path: Path) -> str:
    return (
        f"there is no memory at {path.parent} yet. Start one with `emgas add` or `emgas import`. If you have one "
        "elsewhere, set EMGAS_DATA (and EMGAS_PREFIX) to it"
    )


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise TransportError(f"cannot read {path}: {error.strerror}") from error


class ReadOnlyLog:
    """The log of a directory that a live process may own: sees what is committed, changes nothing, takes no lock."""

    def __init__(self, directory: Path) -> None:
        path = directory.expanduser().resolve() / layout.FILE
        if not _is_there(path):
            raise NoMemoryError(_nothing_at(path))
        check_finished(directory)
        try:
            self._db = layout.connect(path, read_only=True)
            born = layout.check_layout(self._db, path)
        except sqlite3.Error as error:
            raise TransportError(f"cannot read {path}: {error}") from error
        if not born:
            self.close()
            raise NoMemoryError(_nothing_at(path))

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def partitions(self, topic: str) -> int:
        """Count the partitions of `topic`."""
        count = sum(name == topic for name, _ in self._partitions())
        if count == 0:
            raise NoMemoryError(f"topic {topic} does not exist: `emgas add` or `emgas import` creates it")
        return count

    def describe(self, topics: Iterable[str]) -> list[TopicDescription]:
        """Describe those of `topics` that exist, in their order."""
        try:
            plans = layout.plans_of(self._db)
            return [layout.describe(self._db, plans[name]) for name in topics if name in plans]
        except sqlite3.Error as error:
            raise TransportError(f"cannot read the log: {error}") from error

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return (first offset kept, offset after the last)."""
        kept = self._find(topic, partition)
        return kept.start, kept.end

    def read(self, topic: str, partition: int, start: int, limit: int = 500) -> list[Record]:
        """Read up to `limit` records from offset `start` on."""
        kept = self._find(topic, partition)
        try:
            return layout.read(self._db, kept.row, start, kept.end, limit)
        except sqlite3.Error as error:
            raise TransportError(f"cannot read the log: {error}") from error

    def _find(self, topic: str, partition: int) -> layout.LogPartition:
        kept = self._partitions().get((topic, partition))
        if kept is None:
            raise TransportError(f"topic {topic} has no partition {partition} (it has {self.partitions(topic)})")
        return kept

    def _partitions(self) -> dict[tuple[str, int], layout.LogPartition]:
        try:
            return layout.partitions_of(self._db)  # read each time: the owner appends meanwhile
        except sqlite3.Error as error:
            raise TransportError(f"cannot read the log: {error}") from error
