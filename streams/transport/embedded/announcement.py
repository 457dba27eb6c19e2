"""The address at which the owner of a data directory serves its memory: a file in it that only this user can read.

    {"url": "http://127.0.0.1:8088", "pid": 4711, "key": "…" or null}

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
