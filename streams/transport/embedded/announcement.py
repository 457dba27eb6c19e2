"""Where the owner of a data directory serves its memory: a file that only this user can read, in the directory itself.

    {"url": "http://127.0.0.1:8088", "pid": 4711, "key": "…" or null}

Who finds the directory in use looks here (streams/worker/shared_connection.py).  A file that a killed server left tells
of a process that is gone, or of another directory's: the lock decides who owns, and this only where to ask.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import orjson

FILE = "server.json"


class Announcement(NamedTuple):
    """The server of a memory: its address, its process, and the key that it wants, if it wants one."""

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
