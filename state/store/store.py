"""Where a partition's fold is kept: the seam, its layout, and the in-memory backend (RocksDB: state/store/rocksdb.py).

    h                         head of the fold: JSON (state/log_position.py)
    l                         LAYOUT of the keys drawn here: u64; comes with the first head (state/store/rocksdb.py)
    c <graph>                 how many events the graph has: u64, big-endian (as are all integers here)
    s <graph>                 snapshot: u64 number of events it holds │ packed graph (state/graph/graph.py)
    m <graph>, b <graph>      older snapshots, from which the graph is folded again when events are taken back
    e <graph> <u64 ordinal>   the graph's own event of that ordinal: the record value as it lies in the log; gone once
                              it cannot be taken back and nobody will read its text (state/store/pages.py)

    <graph> = u8 length │ ASCII      length first, so that no graph's keys can run into another's

A graph is its snapshot plus the events from there on.  `c` counts them, so that a scan that ends too early (RocksDB
ends scans silently at a damaged block) is noticed.  A batch holds the head and all that it implies: all of it is
written, or nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol

LAYOUT: Final = 2  # of the keys drawn above; a store and a snapshot of one name it
UNNAMED: Final = 2  # the layout of stores that name none: it was not recorded before
HEAD = b"h"
LAYOUT_KEY = b"l"
_U64 = struct.Struct(">Q")
Batch = dict[bytes, bytes | None]  # None: the key is deleted


class Store(Protocol):
    """An ordered map of bytes with atomic batches.  One process, one open store."""

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`.  Raises StoreCorruptError."""

    def scan(self, prefix: bytes, start: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield (key, value) of all keys >= `start` that begin with `prefix`, ascending, as they are now.

        Raises StoreCorruptError.
        """

    def write(self, batch: Batch) -> None:
        """Put and delete all of `batch`, or nothing; it survives the death of the process."""

    def count(self) -> int:
        """Return how many keys there are, having read them all.  Raises StoreCorruptError."""

    def close(self) -> None:
        """Flush and let go of the files.  Closing twice is harmless."""


@lru_cache(maxsize=1 << 14)
def _name(graph: str) -> bytes:
    encoded = graph.encode("ascii")
    return struct.pack("B", len(encoded)) + encoded


def count_key(graph: str) -> bytes:
    """Return the key of the graph's number of events."""
    return b"c" + _name(graph)


def snapshot_key(graph: str) -> bytes:
    """Return the key of the graph's snapshot."""
    return b"s" + _name(graph)


def mark_key(graph: str) -> bytes:
    """Return the key of the snapshot that will be the base next."""
    return b"m" + _name(graph)


def base_key(graph: str) -> bytes:
    """Return the key of the snapshot before which nothing can be taken back."""
    return b"b" + _name(graph)


def event_prefix(graph: str) -> bytes:
    """Return what all event keys of the graph begin with."""
    return b"e" + _name(graph)


def event_key(graph: str, ordinal: int) -> bytes:
    """Return the key of one event of the graph."""
    return event_prefix(graph) + number(ordinal)


def graph_of_count_key(key: bytes) -> str:
    """Return the graph that a count key belongs to."""
    return key[2:].decode("ascii")


def number(value: int) -> bytes:
    """Return an unsigned integer as 8 bytes whose order is the numbers' order."""
    return _U64.pack(value)


def of_number(value: bytes) -> int:
    """Return the integer that `number` wrote, from the first 8 bytes."""
    return int(_U64.unpack_from(value)[0])


class KeptStore(Store, Protocol):
    """A store of files, which can be copied while it is written to."""

    def checkpoint(self, path: Path) -> None:
        """Make the new directory `path` a store of what is held now; later writes do not reach it."""


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
        """Keep everything: only the process's end lets go of it."""
