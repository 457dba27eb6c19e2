"""A partition's store in RocksDB: one database, one column family, keys as in state/store/keys.py.

A store that is opened read-only shows the moment of its opening, takes no lock and writes nothing: it may be one that a
live worker writes to, which RocksDB allows as long as all its files are open (they are: `max_open_files` is -1).

Durability: the write-ahead log is on and never fsynced.  The death of the process loses nothing; a power cut may
rewind the store to an earlier batch, whole, and what came after is folded again from the log.  A store that is filled
in bulk goes without that log: until it is closed, the death of the process may rewind it in the same way.
Traps handled here: scans end silently at a damaged block (status is checked), a batch serves once, a live iterator
keeps the lock after `close` (scans are drained before they are handed out), errors are bare `Exception`s.

A store names its layout: written with the first position, in the same batch, and looked at before anything else is
read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rocksdict import (
    AccessType,
    BlockBasedOptions,
    Checkpoint,
    DBCompressionType,
    Options,
    Rdict,
    WriteBatch,
    WriteOptions,
)

from emgas.errors import DataDirectoryInUseError
from emgas.locks import lock_file
from state.errors import DiskFullError, OldLayoutError, StoreCorruptError, WrongLayoutError
from state.store.keys import LAYOUT, LAYOUT_KEY, POSITION, u64
from state.store.store import Batch

_WRITE_BUFFER_BYTES = 16 << 20  # per partition; a worker may own many
_BULK_BUFFER_BYTES = 64 << 20  # a rebuild has few of them open, and is spared compactions
# Matched from the start: "lock" alone is also in "Corruption: block checksum mismatch", and in people's paths.  A file
# that RocksDB cannot find when it opens one is a file of its own that is gone.
_LOCKED = re.compile(r"IO error: (While lock file|lock hold by current process)")
_FULL = re.compile(r"IO error: No space left on device|IO error: .*Disk quota exceeded")
_DAMAGED = re.compile(r"Corruption: |IO error: No such file or directory: While open")


class RocksStore:
    """An open database in the directory `path` (made if missing).

    read_only  of a database that exists; else StoreCorruptError is raised
    bulk       it is being filled by a rebuild, which would begin where the store stands if it died

    Raises DataDirectoryInUseError, StoreCorruptError, and WrongLayoutError if another version laid out its keys.
    """

    def __init__(self, path: Path, *, read_only: bool = False, bulk: bool = False) -> None:
        self._path = path
        self._explained = _Explained(path)
        self._read_only = read_only
        if read_only and not (path / "CURRENT").exists():  # RocksDB would leave an empty directory behind
            raise StoreCorruptError(f"{path} is no store: its file CURRENT is missing")
        path.parent.mkdir(parents=True, exist_ok=True)
        access = AccessType.read_only() if read_only else AccessType.read_write()
        with self._explained:
            options = _options(_BULK_BUFFER_BYTES if bulk else _WRITE_BUFFER_BYTES)
            self._database = Rdict(str(path), options, access_type=access)
            if bulk:
                self._database.set_write_options(_without_log())
        self._open = True
        try:
            self._names_layout = self._check_layout()
        except BaseException:  # the caller never gets the store, so it cannot close it
            self.close()
            raise

    def _check_layout(self) -> bool:
        """Check that the layout of the store is ours; return whether it names one (an empty store does not).

        Raises WrongLayoutError when that is not ours.
        """
        named = self.get(LAYOUT_KEY)
        if named is not None and int.from_bytes(named, "big") == LAYOUT:
            return True
        if named is None and self.get(POSITION) is None:
            return False
        written_layout = "no layout" if named is None else f"layout {int.from_bytes(named, 'big')}"
        kind = OldLayoutError if named is None or int.from_bytes(named, "big") < LAYOUT else WrongLayoutError
        raise kind(
            f"the store {self._path} has {written_layout}, this version of EMGAS reads {LAYOUT}: run the one that "
            "wrote it, or remove that directory and start again: it is rebuilt from the log."
        )

    def get(self, key: bytes) -> bytes | None:
        with self._explained:
            return self._database.get(key)

    def scan(self, prefix: bytes, start: bytes) -> Iterator[tuple[bytes, bytes]]:
        return iter(self._drained(prefix, start))

    def _drained(self, prefix: bytes, start: bytes) -> list[tuple[bytes, bytes]]:
        rows = []
        with self._explained:
            cursor = self._database.iter()
            try:
                cursor.seek(max(prefix, start))
                while cursor.valid() and cursor.key().startswith(prefix):
                    rows.append((cursor.key(), cursor.value()))
                    cursor.next()
                cursor.status()
            finally:
                del cursor  # else the traceback of an error would keep it, and the lock, after `close`
        return rows

    def write(self, batch: Batch) -> None:
        rows = WriteBatch(raw_mode=True)
        for key, value in batch.items():
            if value is None:
                rows.delete(key)
            else:
                rows.put(key, value)
        if POSITION in batch and not self._names_layout:
            rows.put(LAYOUT_KEY, u64(LAYOUT))
        with self._explained:
            self._database.write(rows)
        self._names_layout |= POSITION in batch

    def count(self) -> int:
        rows = 0
        with self._explained:
            cursor = self._database.iter()
            try:
                cursor.seek_to_first()
                while cursor.valid():
                    rows += 1
                    cursor.next()
                cursor.status()
            finally:
                del cursor
        return rows

    def checkpoint(self, path: Path) -> None:
        """Make the new directory `path` a store of what is held now; later writes do not reach it.

        By hard links where the file system has them.  Raises if there is something at `path`.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._explained:
            Checkpoint(self._database).create_checkpoint(str(path))

    def close(self) -> None:
        if self._open:
            self._open = False
            with self._explained:
                try:
                    if not self._read_only:
                        self._database.flush()
                finally:
                    self._database.close()


class _Explained:
    """Turns the bare exceptions of the engine of one store into ours; a read must not pay for a generator."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Watch what the engine does."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raise what an exception of the engine means; let others pass."""
        if not isinstance(error, Exception):
            return
        text = str(error)
        if _LOCKED.match(text):
            raise DataDirectoryInUseError(
                f"{self._path} is open in another process: stop it, or give this one its own EMGAS_DATA"
            ) from error
        if _FULL.match(text):
            raise DiskFullError(
                f"the disk of {self._path} is full ({text}). Make room on it, or move EMGAS_DATA to a larger one: "
                "nothing is lost, a worker that starts again goes on from the log."
            ) from error
        if _DAMAGED.match(text):
            raise StoreCorruptError(
                f"the store {self._path} is damaged ({text}). Remove that directory and start again: "
                "it is rebuilt from the log, nothing is lost."
            ) from error


def check_free(path: Path) -> None:
    """Raise DataDirectoryInUseError when another process has the store at `path` open.

    The store may be damaged, or not there.
    """
    if not (path / "LOCK").exists():
        return
    try:
        with (path / "LOCK").open("r+b") as lock:  # Windows refuses even this while RocksDB has it open
            lock_file(lock.fileno(), record=True)
    except OSError:
        raise DataDirectoryInUseError(f"{path} is open in another process: stop it first") from None


def _without_log() -> WriteOptions:
    options = WriteOptions()
    options.disable_wal = True  # type: ignore[assignment,method-assign]  # the stub has a method, the module a value
    return options


def _options(write_buffer: int) -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)  # noqa: FBT003 - rocksdict's takes no name
    options.set_compression_type(DBCompressionType.lz4())
    options.set_write_buffer_size(write_buffer)
    options.set_max_background_jobs(2)
    blocks = BlockBasedOptions()
    blocks.set_bloom_filter(10, False)  # noqa: FBT003 - as above; False: whole filters, not one per block
    options.set_block_based_table_factory(blocks)
    return options
