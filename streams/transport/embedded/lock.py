"""Ownership of a data directory by one process, and the address at which the owner serves its memory.

A lock of the system (emgas/locks.py), not the mere existence of a file.  The pid in the file only names the owner to
the next process.

    server.json   {"url": "http://127.0.0.1:8088", "pid": 4711, "key": "…" or null}, which only this user can read

A program that finds the directory locked reads this file (streams/worker/shared_connection.py).  A killed server may
leave a file with a process that is gone, or reused.  The lock decides who owns the directory; the file only holds the
address.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from emgas.errors import DataDirectoryInUseError
from emgas.locks import lock_file

FILE = "server.json"


class Announcement(NamedTuple):
    """The server of a memory: its address, its process, and the key that it requires, if any."""

    url: str
    pid: int
    key: str | None


@contextmanager
def announced(home: Path, announcement: Announcement) -> Iterator[None]:
    """Keep the file for as long as the block lasts."""
    path = home / FILE
    new = path.with_suffix(".new")
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(file, "wb") as opened:
        opened.write(orjson.dumps(announcement._asdict()))
    new.replace(path)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            path.unlink()


def announcement_in(home: Path) -> Announcement | None:
    """Read the address that the owner of a directory announces; None if it serves no other process."""
    try:
        return Announcement(**orjson.loads((home / FILE).read_bytes()))
    except (OSError, TypeError, orjson.JSONDecodeError):
        return None


LOCK_FILE = "lock"


class DirectoryLock:
    """Held from construction to `release`.  Raises DataDirectoryInUseError while another holds it, in any process."""

    def __init__(self, directory: Path) -> None:
        path = directory / LOCK_FILE
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            lock_file(self._file)
        except OSError:
            owner = os.read(self._file, 32).decode(errors="replace").strip() or "unknown"
            os.close(self._file)
            raise DataDirectoryInUseError(_in_use(directory, owner)) from None
        os.ftruncate(self._file, 0)
        os.write(self._file, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Release the lock, once.  The file stays: removing it would let two processes lock two files of one name."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def _in_use(directory: Path, owner: str) -> str:
    """Say who has a directory, and what to do: a server has to stop for what needs the memory alone."""
    server = announcement_in(directory)
    if server is not None and str(server.pid) == owner:
        return (
            f"process {owner} uses the data directory {directory}: it is the server at {server.url}, and this needs "
            f"the memory alone. Stop the server (kill {owner}), try again, and start it afterwards"
        )
    return (
        f"process {owner} uses the data directory {directory}: wait until it ends, or set EMGAS_DATA to another "
        "directory. To share one memory among programs, start `emgas serve`: they use it automatically"
    )
