"""Stores to open again and again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from state.store.rocksdb import RocksStore
from state.store.store import MemoryStore, Store

Opener = Callable[[], Store]  # opens one and the same store, again and again


@contextmanager
def opener(kind: str) -> Iterator[Opener]:
    """Yield what opens a "memory" or a "rocksdb" store."""
    if kind == "memory":
        store = MemoryStore()
        yield lambda: store
        return
    with tempfile.TemporaryDirectory() as directory:
        yield lambda: RocksStore(Path(directory) / "store")
