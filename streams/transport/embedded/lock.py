"""Ownership of a data directory by one process.

An OS lock, not the mere existence of a file: the kernel releases it when the process dies, however it dies, so no stale
lock has to be deleted by hand.  The pid in the file only names the owner to the next process.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from emgas.errors import DataDirectoryInUseError

LOCK_FILE = "lock"


class DirectoryLock:
    """Held from construction to `release`.  Raises DataDirectoryInUseError while another holds it, in any process."""

    def __init__(self, directory: Path) -> None:
        path = directory / LOCK_FILE
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.pread(self._file, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(self._file)
            raise DataDirectoryInUseError(
                f"process {owner} uses the data directory {directory}: stop it, set EMGAS_DATA to another directory, "
                "or let `emgas serve` own it, through which any number of programs share a memory"
            ) from None
        os.truncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock, once.  The file stays: removing it would let two processes lock two files of one name."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)
