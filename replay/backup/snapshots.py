"""Snapshots: copies of partitions' stores, from which a worker starts instead of folding the log from its beginning.

    <root>/<prefix>/<partition>/<watermark>-<time>/      root: a directory, or any URL that fsspec knows
        000009.sst, CURRENT, …                           a RocksDB checkpoint, each file compressed (compressed.py)
        manifest.json                                    what it is, and the size and sha256 of every file, unpacked

The manifest is put there last, by a rename: without it there is no snapshot, so one whose making was killed is
never taken.  A snapshot proves nothing, the log does: one is taken only if its files are those of its manifest, if it
holds as many keys, and if the log still holds the record that it was folded up to.  Later records are folded.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from fsspec.core import url_to_fs  # type: ignore[import-untyped]
from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]
from fsspec.implementations.memory import MemoryFileSystem  # type: ignore[import-untyped]

from emgas.times import DAY_MS, datetime_of
from replay.backup.compressed import decompressed, frames
from replay.backup.manifest import FORMATS, File, Manifest, check_contents, check_log, titled
from replay.errors import BackupDamagedError, NoSuchPlaceError, SnapshotRefusedError, SnapshotsUnreachableError
from replay.log import LogReader, keys_of
from replay.rebuild.rebuild import graph_from
from state.errors import StoreCorruptError, WrongLayoutError
from state.graph.graph import Graph
from state.sealing.keyring import NO_KEYS, Keyring
from state.store import keys
from state.store.rocksdb import RocksStore
from state.store.store import MemoryStore

MANIFEST: Final = "manifest.json"
UNFINISHED_MS = DAY_MS  # a snapshot that is still without a manifest after that long is removed
_PART: Final = MANIFEST + ".part"
_NAME = re.compile(r"\d{16}-\d{8}T\d{9}Z")
_CHUNK = 1 << 20
T = TypeVar("T")


class Snapshots:
    """The snapshots of the topics `prefix` below `root`.  Every method raises SnapshotsUnreachableError, and blocks."""

    def __init__(self, root: str, prefix: str) -> None:
        self.root = root
        self.prefix = prefix
        try:
            files, base = url_to_fs(root)
        except (ValueError, TypeError, ImportError) as error:
            raise NoSuchPlaceError(
                f"{root} is no directory and no URL that can be used here: {error}. A path needs no scheme; of URLs, "
                "s3:// needs the package s3fs, gs:// gcsfs, abfs:// adlfs, sftp:// paramiko (pip install s3fs)"
            ) from error
        except OSError as error:
            raise SnapshotsUnreachableError(f"cannot use the snapshots at {root}: {error}") from error
        self._files: Any = files  # an fsspec file system: fsspec has no types
        self._root = base
        self._base = f"{base.rstrip('/')}/{prefix}"

    @property
    def outlast(self) -> bool:
        """Return whether snapshots still exist after this process has ended."""
        return not isinstance(self._files, MemoryFileSystem)

    @property
    def exist(self) -> bool:
        """Return whether the place is there; true of a remote one, where directories come with their files."""
        return not isinstance(self._files, LocalFileSystem) or bool(self._files.isdir(self._root))

    def check_writable(self) -> None:
        """Make the directory that snapshots are written into, where it is a local one."""
        if isinstance(self._files, LocalFileSystem):
            with _reaching(self.root):
                self._files.makedirs(self._base, exist_ok=True)

    def write(self, manifest: Manifest, checkpoint: Path) -> None:
        """Copy a checkpoint to where it is kept, its manifest last."""
        place = self._place(manifest.partition, manifest.name)
        with _reaching(self.root):
            self._files.makedirs(place, exist_ok=True)
            for name in manifest.files:
                self._put_file(checkpoint / name, f"{place}/{name}")
            self._files.pipe_file(f"{place}/{_PART}", manifest.model_dump_json(indent=2).encode())
            self._files.mv(f"{place}/{_PART}", f"{place}/{MANIFEST}")

    def _put_file(self, path: Path, remote: str) -> None:
        with path.open("rb") as source, self._files.open(remote, "wb") as target:
            for frame in frames(source):
                target.write(frame)

    def partitions(self) -> list[int]:
        """List the partitions that have snapshots, ascending."""
        return sorted(int(name) for name in self._entries(self._base) if name.isdigit())

    def names(self, partition: int) -> list[str]:
        """List the names of a partition's finished snapshots, the newest first."""
        with _reaching(self.root):
            return [name for name in self._all(partition) if self._files.exists(self._at(partition, name, MANIFEST))]

    def manifest(self, partition: int, name: str) -> Manifest:
        """Read a snapshot's manifest.  Raises SnapshotRefusedError for one that cannot be."""
        with _reaching(self.root), _refusing(partition, name):
            manifest = Manifest.model_validate_json(self._files.cat_file(self._at(partition, name, MANIFEST)))
            if manifest.format not in FORMATS or manifest.layout != keys.LAYOUT:
                raise ValueError(f"it was written by EMGAS {manifest.emgas}, in another format: run that version")
            if (manifest.prefix, manifest.partition, manifest.name) != (self.prefix, partition, name):
                raise ValueError("its manifest is another snapshot's")
            if any(Path(file).name != file for file in manifest.files):
                raise ValueError("its manifest names files elsewhere")
        return manifest

    def fetch(self, manifest: Manifest, into: Path, graph_keys: Keyring = NO_KEYS) -> None:
        """Copy a snapshot to `into`, which must not exist; it is there in full or not at all.

        graph_keys  open what is encrypted in it

        Raises SnapshotRefusedError when it is not what its manifest says.
        """
        part = into.with_name(f"{into.name}.restoring")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            with _reaching(self.root), _refusing(manifest.partition, manifest.name):
                for name, expected in manifest.files.items():
                    self._fetch_file(manifest, name, expected, part / name)
                check_contents(manifest, part, graph_keys)
            part.rename(into)
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def _fetch_file(self, manifest: Manifest, name: str, expected: File, into: Path) -> None:
        remote = self._at(manifest.partition, manifest.name, name)
        if not self._files.exists(remote):
            raise ValueError(f"its file {name} is missing")
        digest, size = hashlib.sha256(), 0
        try:
            with self._files.open(remote, "rb") as stored, into.open("wb") as target:
                source = decompressed(stored)
                while chunk := source.read(_CHUNK):
                    target.write(chunk)
                    digest.update(chunk)
                    size += len(chunk)
        except BackupDamagedError as error:
            raise ValueError(f"its file {name} is damaged behind {size} of {expected.bytes} bytes") from error
        if (size, digest.hexdigest()) != (expected.bytes, expected.sha256):
            raise ValueError(f"its file {name} is damaged: {size} bytes, {expected.bytes} expected, or another sha256")

    @contextlib.contextmanager
    def opened(self, manifest: Manifest) -> Iterator[RocksStore]:
        """Open a copy of a snapshot's store to read from.  Raises SnapshotRefusedError."""
        with contextlib.ExitStack() as stack:
            checkpoint = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="emgas-snapshot-"))) / "store"
            self.fetch(manifest, checkpoint)
            with _refusing(manifest.partition, manifest.name):
                store = stack.enter_context(contextlib.closing(RocksStore(checkpoint, read_only=True)))
            yield store

    def retain(self, partition: int, count: int, now: int) -> list[str]:
        """Remove all but the newest `count` of a partition's snapshots, and unfinished old ones; return their names."""
        finished = self.names(partition)
        old = f"{datetime_of(now - UNFINISHED_MS):%Y%m%dT%H%M%S}"
        left = [name for name in self._all(partition) if name not in finished and _time_of(name) < old]
        for name in [*finished[count:], *left]:
            self.remove(partition, name)
        return [*finished[count:], *left]

    def remove(self, partition: int, name: str) -> None:
        """Remove a snapshot, its manifest first: what is half removed is none."""
        with _reaching(self.root):
            if self._files.exists(self._at(partition, name, MANIFEST)):
                self._files.rm_file(self._at(partition, name, MANIFEST))
            self._files.rm(self._place(partition, name), recursive=True)

    def _all(self, partition: int) -> list[str]:
        names = self._entries(f"{self._base}/{partition}")
        return sorted((name for name in names if _NAME.fullmatch(name)), key=_time_of, reverse=True)

    def _entries(self, directory: str) -> list[str]:
        with _reaching(self.root):
            self._files.invalidate_cache()
            if not self._files.exists(directory):
                return []
            return [str(path).rstrip("/").rpartition("/")[2] for path in self._files.ls(directory, detail=False)]

    def _place(self, partition: int, name: str) -> str:
        return f"{self._base}/{partition}/{name}"

    def _at(self, partition: int, name: str, file: str) -> str:
        return f"{self._place(partition, name)}/{file}"


def _time_of(name: str) -> str:
    """Return when a snapshot was made, as text that sorts; its watermark may be of a log that was replaced."""
    return name.partition("-")[2]


Refused = Callable[[str], None]


async def restore(
    snapshots: Snapshots, partition: int, log: LogReader, into: Path, refused: Refused
) -> Manifest | None:
    """Copy the newest snapshot of a partition that is valid to `into`; return its manifest, None if there is none.

    `refused` gets the name of every one that does not, and why.  Raises SnapshotsUnreachableError.
    """

    async def fetch(manifest: Manifest) -> Manifest:
        await asyncio.to_thread(snapshots.fetch, manifest, into, keys_of(log))
        return manifest

    return await _newest(snapshots, partition, log, fetch, refused)


class Loaded(NamedTuple):
    """A graph, None without events, and from which offset on the log was read for it."""

    graph: Graph | None
    start: int


async def graph_of(
    snapshots: Snapshots, partition: int, log: LogReader, name: str, *, end: int, refused: Refused
) -> Loaded:
    """Load a graph as of offset `end` from the newest snapshot that holds good, or from the log alone without one.

    Raises as `replay.rebuild.refold`, SnapshotsUnreachableError.
    """

    async def load(manifest: Manifest) -> Loaded:
        if manifest.watermark >= end:
            raise SnapshotRefusedError(f"{manifest.title}: it reaches beyond offset {end}")
        with snapshots.opened(manifest) as store, _refusing(partition, manifest.name):
            return Loaded(await graph_from(store, log, partition, name, end), manifest.watermark + 1)

    newest = await _newest(snapshots, partition, log, load, refused)
    return newest or Loaded(await graph_from(MemoryStore(), log, partition, name, end), 0)


async def _newest(
    snapshots: Snapshots, partition: int, log: LogReader, use: Callable[[Manifest], Awaitable[T]], refused: Refused
) -> T | None:
    """Use the newest snapshot that is of `log` and that `use` does not refuse; None without one."""
    for name in await asyncio.to_thread(snapshots.names, partition):
        try:
            manifest = await asyncio.to_thread(snapshots.manifest, partition, name)
            await check_log(log, manifest)
            return await use(manifest)
        except SnapshotRefusedError as error:
            refused(str(error))
    return None


@contextlib.contextmanager
def _refusing(partition: int, name: str) -> Iterator[None]:
    """Turn what is wrong with a snapshot into one error that names it."""
    try:
        yield
    except (ValueError, StoreCorruptError, WrongLayoutError) as error:
        raise SnapshotRefusedError(f"{titled(partition, name)}: {error}") from error


@contextlib.contextmanager
def _reaching(root: str) -> Iterator[None]:
    """Turn what a file system raises into ours; a ValueError within is none of its."""
    try:
        yield
    except (OSError, ImportError, NotImplementedError) as error:
        what = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise SnapshotsUnreachableError(
            f"cannot use the snapshots at {root}: {what or 'not possible there'}"
        ) from error
