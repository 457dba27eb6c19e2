"""The seam through which replay (and a worker that must catch up) reads the event log: SQLite, Kafka or a list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from emgas.wire import Record
from state.sealing.keyring import NO_KEYS, Keyring


class LogReader(Protocol):
    """Reads one topic, mostly `events`; never joins a consumer group, never writes.

    One of an encrypted memory has its keys as well, as `graph_keys` (see `keys_of`).
    """

    async def partitions(self) -> int:
        """Count the partitions of the topic."""

    async def bounds(self, partition: int) -> tuple[int, int]:
        """Read (first offset kept, offset after the last one)."""

    def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        """Yield the records with start <= offset < end in batches, in order."""


class FollowedLog(LogReader, Protocol):
    """A log that is read on as it grows."""

    def follow(self, partition: int, start: int) -> AsyncIterator[Sequence[Record]]:
        """Yield the records from offset `start` on in batches, in order, without end; none twice, none left out.

        Raises TransportError, also where the log does not have that offset: code that folds it looks why.
        """


def keys_of(log: object) -> Keyring:
    """Return the keys that open what is encrypted in a log: its reader brings them, if there are any."""
    graph_keys: Keyring = getattr(log, "graph_keys", NO_KEYS)
    return graph_keys
