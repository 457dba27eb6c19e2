"""The store of a partition's fold: the interface and its in-memory backend.  RocksDB: state/store/rocksdb.py.

state/store/keys.py shows the layout of keys.  A batch holds the position in the log and all changes up to it: it is
written completely or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

Batch = dict[bytes, bytes | None]  # None: the key is deleted


class Store(Protocol):
    """An ordered map of bytes with atomic batches.  One process, one open store."""

    def get(self, key: bytes) -> bytes | None:
        """Read the value of `key`, None without one.  Raises StoreCorruptError."""

    def scan(self, prefix: bytes, start: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield (key, value) of all keys >= `start` that begin with `prefix`, ascending, as they are now.

        Raises StoreCorruptError.
        """

    def write(self, batch: Batch) -> None:
        """Write all of `batch`, or nothing; it survives the death of the process."""

    def count(self) -> int:
        """Count the keys by reading all of them.  Raises StoreCorruptError."""

    def close(self) -> None:
        """Flush and close the files.  Closing twice is harmless."""


class MemoryStore:
    """A store that dies with its process: for an offline fold, and the model that RocksDB is compared with."""

    def __init__(self) -> None:
        self._entries: dict[bytes, bytes] = {}

    def get(self, key: bytes) -> bytes | None:
        return self._entries.get(key)

    def scan(self, prefix: bytes, start: bytes) -> Iterator[tuple[bytes, bytes]]:
        entries = self._entries.items()
        return iter(sorted(entry for entry in entries if entry[0] >= start and entry[0].startswith(prefix)))

    def write(self, batch: Batch) -> None:
        self._entries.update((key, value) for key, value in batch.items() if value is not None)
        for key in [key for key, value in batch.items() if value is None]:
            self._entries.pop(key, None)

    def count(self) -> int:
        return len(self._entries)

    def close(self) -> None:
        """Keep everything until the process ends."""
