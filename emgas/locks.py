"""Locks on files between processes, on every system: the one place that knows `fcntl` and `msvcrt`.

The kernel releases a lock when the process dies, however it dies, so no stale lock has to be deleted by hand.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

AT = 2**30  # the byte that Windows locks: it cannot be read meanwhile, so it lies behind what a file holds
AGAIN_SECONDS = 0.05
Lock = Callable[[int, bool, bool], None]  # descriptor, whether to wait, whether as a record lock


def posix_lock(fcntl: ModuleType) -> Lock:
    """Return the lock of POSIX systems: of a whole file, or the record lock that RocksDB takes."""

    def lock(descriptor: int, wait: bool, record: bool) -> None:  # noqa: FBT001 - see Lock
        function = fcntl.lockf if record else fcntl.flock
        function(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))

    return lock


def windows_lock(msvcrt: ModuleType, sleep: Callable[[float], None] = time.sleep) -> Lock:
    """Return the lock of Windows: of one byte, tried again and again by code that waits."""

    def lock(descriptor: int, wait: bool, record: bool) -> None:  # noqa: FBT001 - see Lock; there is one kind
        while True:
            place = os.lseek(descriptor, 0, os.SEEK_CUR)
            os.lseek(descriptor, AT, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError as error:
                if not wait or error.errno not in (errno.EACCES, errno.EDEADLK, errno.EAGAIN):
                    raise
            else:
                return
            finally:
                os.lseek(descriptor, place, os.SEEK_SET)
            sleep(AGAIN_SECONDS)

    return lock


def lock_of(system: str) -> Lock:
    """Return the lock of a system, by its `os.name`."""
    return windows_lock(import_module("msvcrt")) if system == "nt" else posix_lock(import_module("fcntl"))


def lock_file(descriptor: int, *, wait: bool = False, record: bool = False) -> None:
    """Lock an open file for this process, until it is closed.  Raises OSError if another holds it and `wait` is false.

    record  on POSIX, as RocksDB locks its stores: such a lock and a plain one do not see each other
    """
    lock_of(os.name)(descriptor, wait, record)
