"""The simulated disk of one machine: the stores of its partitions, which outlive its processes; full, damaged, rewound.

Stands behind the seam of streams/recovery/store_folders.py.  A write is atomic and kept, as RocksDB's is; what a power
cut may take is the newest writes, whole ones (docs/reliability.md).
"""

from __future__ import annotations

import zlib
from collections import Counter, deque
from pathlib import Path

from emgas.errors import DataDirectoryInUseError
from state.errors import DiskFullError, StoreCorruptError
from state.store.store import Batch, MemoryStore

REWOUND = 6  # writes, at most, that a power cut takes


class _Files(MemoryStore):
    """The files of one store.  `damaged`: none, "open" (CURRENT, MANIFEST), "block" (some keys)."""

    def __init__(self) -> None:
        super().__init__()
        self.damaged = ""
        self.holder: SimulatedStore | None = None
        self._undo: deque[Batch] = deque(maxlen=REWOUND)

    def write(self, batch: Batch) -> None:
        self._undo.append({key: self.get(key) for key in batch})
        super().write(batch)

    def copy(self) -> _Files:
        """Copy what is written."""
        copied = _Files()
        copied.write(dict(self.scan(b"", b"")))
        return copied

    def rewind(self, writes: int) -> None:
        """Take back the newest writes."""
        for _ in range(min(writes, len(self._undo))):
            super().write(self._undo.pop())


class Disk:
    """The disk of one machine."""

    def __init__(self, steps: Counter[str]) -> None:
        self.steps = steps
        self.files: dict[int, _Files] = {}
        self.is_full = False
        self.set_aside: list[str] = []
        self.snapshots: dict[int, _Files] = {}

    def folders(self) -> Folders:
        """Return the view of the disk for a new process."""
        return Folders(self)

    def damage(self, partition: int, kind: str) -> bool:
        """Damage a store, if it is there."""
        files = self.files.get(partition)
        if files is not None:
            files.damaged = kind
        return files is not None

    def lose(self, snapshots: dict[int, _Files]) -> None:
        """Be replaced by a new disk, onto which snapshots are restored."""
        self.files = {partition: taken.copy() for partition, taken in snapshots.items()}

    def cut_power(self, writes: int) -> None:
        """Lose the newest writes of every store."""
        for files in self.files.values():
            files.rewind(writes)


class Folders:
    """The stores as one process has them, until it dies."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self.is_dead = False

    @property
    def disk(self) -> Disk:
        return self._disk

    def open(self, partition: int) -> SimulatedStore:
        self.check_room()
        files = self._disk.files.setdefault(partition, _Files())
        if files.holder is not None and not files.holder.folders.is_dead:
            raise DataDirectoryInUseError(f"the store of partition {partition} is open already")
        if files.damaged == "open":
            raise StoreCorruptError("Corruption: CURRENT file is damaged")
        files.holder = SimulatedStore(files, self)
        return files.holder

    def beside(self, partition: int) -> SimulatedStore:
        return SimulatedStore(self._disk.files[partition], self, is_owner=False)

    def set_aside(self, partition: int, why: str) -> Path | None:
        if self._disk.files.pop(partition, None) is None:
            return None
        self._disk.set_aside.append(f"{partition}.{why}")
        return Path(f"{partition}.{why}")

    def check_room(self) -> None:
        if self._disk.is_full:
            raise DiskFullError("the disk is full")


class SimulatedStore:
    """An open store."""

    def __init__(self, files: _Files, folders: Folders, *, is_owner: bool = True) -> None:
        self._files = files
        self._is_owner = is_owner
        self.folders = folders

    def get(self, key: bytes) -> bytes | None:
        if self._files.damaged == "block" and zlib.crc32(key) % 3 == 0:
            self._corrupt()
        return self._files.get(key)

    def scan(self, prefix: bytes, start: bytes) -> object:
        if self._files.damaged == "block":
            self._corrupt()
        return self._files.scan(prefix, start)

    def _corrupt(self) -> None:
        raise StoreCorruptError("Corruption: block checksum mismatch")

    def write(self, batch: Batch) -> None:
        if self.folders.is_dead:
            return
        self.folders.check_room()
        self.folders.disk.steps["write"] += 1
        self._files.write(batch)

    def count(self) -> int:
        return self._files.count()

    def checkpoint(self, path: Path) -> None:
        """Copy what is written, as the snapshot of the partition that `path` names."""
        self.folders.disk.snapshots[int(path.name)] = self._files.copy()

    def close(self) -> None:
        if self._is_owner and self._files.holder is self:
            self._files.holder = None
