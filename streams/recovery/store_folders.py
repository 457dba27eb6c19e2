"""The folders of a worker's stores, one for each partition: opened, read beside their owner, set aside.

    home/partitions/N             the store of partition N
    home/partitions/N.set-aside   what was set aside of it, and why; only the last one of each reason is kept

A seam: the simulation puts a disk of its own behind it (bench/simulation/disk.py).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Protocol

from state.store.rocksdb import RocksStore
from state.store.store import Store
from streams.settings import WorkerSettings


class KeptStore(Store, Protocol):
    """A store on a disk."""

    def checkpoint(self, path: Path) -> None:
        """Make the new directory `path` a store of what is held now; later writes do not reach it."""


class StoreFolders(Protocol):
    """The stores of one worker."""

    def open(self, partition: int) -> KeptStore:
        """Open the store of `partition`, a new one where there is none.

        Raises StoreCorruptError, WrongLayoutError, DataDirectoryInUseError, errors of the disk.
        """

    def beside(self, partition: int) -> Store:
        """Open a store that its owner has open once more, to be read only: as it is at this moment."""

    def set_aside(self, partition: int, why: str) -> Path | None:
        """Rename the store of `partition`, which must be closed; return its new name, None without a store."""


class RocksFolders:
    """RocksDB below the directories that `settings` name."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings

    def open(self, partition: int) -> RocksStore:
        return RocksStore(self._settings.store_of(partition))

    def beside(self, partition: int) -> RocksStore:
        return RocksStore(self._settings.store_of(partition), read_only=True)

    def set_aside(self, partition: int, why: str) -> Path | None:
        store = self._settings.store_of(partition)
        if not store.exists():
            return None
        aside = store.with_name(f"{partition}.{why}")
        shutil.rmtree(aside, ignore_errors=True)
        store.rename(aside)
        return aside
