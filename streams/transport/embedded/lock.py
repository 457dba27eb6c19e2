"""Ownership of a data directory by one process.

A lock of the system (emgas/locks.py), not the mere existence of a file.  The pid in the file only names the owner to
the next process.
"""

from __future__ import annotations

import os
from pathlib import Path

from emgas.errors import DataDirectoryInUseError
from emgas.locks import lock_file
from streams.transport.embedded.announcement import announcement_in

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
