"""Keys in files: one for each graph, in a directory that one process writes to, or several on one machine.

    DIRECTORY/ab/abcdef….keys     name: sha256 of the graph id        a JSON array of the graph's keys, wrapped or not
    DIRECTORY/lock                held while a file is replaced

A file is replaced in one step: the new one is written, made durable, and renamed over the old one, whose bytes are then
overwritten.  After a crash in between, either the old file or the new one is there.  EMGAS cannot reach copies that a
disk keeps of overwritten files (a snapshot of the file system, spare blocks of an SSD): use EMGAS_KEK_FILE for that.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import orjson

from emgas.locks import lock_file
from state.errors import KeysError, KeyStoreError
from state.sealing.graph_key import GraphKey
from streams.transport.keys.wrapping import Wrapping

TRIES: Final = 10  # to read a file that is being replaced


class FileKeys:
    """A KeyStore (key_store.py) in `directory`, which is made when the first key is kept."""

    def __init__(self, directory: Path, wrapping: Wrapping) -> None:
        self._directory = directory.expanduser()
        self._wrapping = wrapping
        self._cache: dict[str, dict[str, GraphKey]] = {}

    def of(self, graph_id: str) -> Mapping[str, GraphKey]:
        """Return the keys of a graph; its file is read at the first call."""
        if graph_id not in self._cache:
            self._cache[graph_id] = self._read(graph_id)
        return self._cache[graph_id]

    def check(self) -> None:
        """Raise KeyStoreError unless the directory is there and something was ever kept in it."""
        with self._failing("read"):
            if not self._directory.is_dir() or not any(self._directory.iterdir()):
                raise self._absent("is missing or empty")

    def _absent(self, what: str) -> KeyStoreError:
        return KeyStoreError(
            f"the directory of the keys {what}: {self._directory} (EMGAS_GRAPH_KEYS). Mount or restore it, and the "
            "worker continues. If all keys are lost permanently, create it with an empty file `lock` in it: then every "
            "encrypted graph is unavailable until you erase it with `emgas change erase`"
        )

    async def put(self, key: GraphKey) -> None:
        """Keep a key, beside what others have put of its graph, and overwrite the file that was there."""
        with self._failing("keep"), self._locked():
            beside = self._beside(key)
            existing = beside.get(key.id)
            keys = beside | {key.id: key if existing is None else existing.meet(key)}
            self._replace(key.graph, keys)
        self._cache[key.graph] = keys

    def _beside(self, key: GraphKey) -> dict[str, GraphKey]:
        """Read the keys that are kept beside one; a file that is damaged counts as none where its graph is erased."""
        try:
            return self._read(key.graph)
        except KeysError:
            if not key.is_destroyed:
                raise
            return {}

    async def refresh(self) -> None:
        """Clear the cache: other processes may have written keys since."""
        self._cache.clear()

    def _path(self, graph_id: str) -> Path:
        name = hashlib.sha256(graph_id.encode()).hexdigest()
        return self._directory / name[:2] / f"{name}.keys"

    def _read(self, graph_id: str) -> dict[str, GraphKey]:
        with self._failing("read"):
            value = self._bytes_of(graph_id)
        if value is None:
            return {}
        try:
            entries = orjson.loads(self._wrapping.unwrap(value, graph_id.encode()))
            return {key.id: key for key in (GraphKey.of_bytes(orjson.dumps(each)) for each in entries)}
        except (ValueError, KeyError, TypeError) as error:
            raise KeysError(f"{self._path(graph_id)} does not hold keys ({error}): restore it") from None

    def _bytes_of(self, graph_id: str) -> bytes | None:
        """Read a graph's file; once more if it was just replaced, and overwritten under our eyes."""
        for _ in range(TRIES):
            try:
                value = self._path(graph_id).read_bytes()
            except FileNotFoundError:
                return None
            if value.strip(b"\x00"):
                return value
        return b""

    def _replace(self, graph_id: str, keys: Mapping[str, GraphKey]) -> None:
        path = self._path(graph_id)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        value = orjson.dumps([orjson.loads(key.to_bytes()) for key in keys.values()])
        new = path.with_suffix(".new")
        _write(new, self._wrapping.wrap(value, graph_id.encode()))
        with _overwritten(path):
            new.replace(path)
            _make_durable(path.parent)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(self._directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            lock_file(lock, wait=True)
            yield
        finally:
            os.close(lock)

    @contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            try:
                os.scandir(self._directory).close()
            except FileNotFoundError:
                pass
            except OSError as whole:
                raise self._absent(f"cannot be read ({whole.strerror})") from error
            raise KeysError(f"cannot {what} keys in {self._directory} (EMGAS_GRAPH_KEYS): {error.strerror}") from error


def _write(path: Path, value: bytes) -> None:
    with suppress(FileNotFoundError):  # of a process that was killed: it may be readable by others
        path.unlink()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        os.write(file, value)
        os.fsync(file)
    finally:
        os.close(file)


@contextmanager
def _overwritten(path: Path) -> Iterator[None]:
    """Overwrite the file that is at `path` now, once it is there no more."""
    try:
        old = os.open(path, os.O_WRONLY)
    except FileNotFoundError:
        yield
        return
    try:
        yield
        os.write(old, bytes(os.fstat(old).st_size))
        os.fsync(old)
    finally:
        os.close(old)


def _make_durable(directory: Path) -> None:
    if os.name == "nt":  # a directory cannot be opened there
        return
    file = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
