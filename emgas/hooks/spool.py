"""A spool of messages that the server does not have yet: one file each, written before sending and removed afterwards.

So a hook, a deliverer or a server may be killed at any time.  A message that is sent twice is one turn, by its id.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

LOG_BYTES = 256 * 1024


class Spooled(NamedTuple):
    """A message of a host.  `input`: the host's JSON, without what is not needed, its secrets replaced."""

    host: str
    event: str
    graph: str
    at: int
    input: dict[str, Any]


def keep(folder: Path, message: Spooled) -> Path:
    """Write a message; return its file, whose name sorts by its time."""
    place = folder / "spool"
    place.mkdir(0o700, parents=True, exist_ok=True)
    path = place / f"{message.at:014d}-{os.getpid()}-{os.urandom(4).hex()}.json"
    new = path.with_suffix(".new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(message._asdict(), file)
    return new.replace(path)


def kept(folder: Path) -> Iterator[tuple[Path, Spooled | None]]:
    """Yield the file of each message, oldest first, with the message; None if it cannot be read."""
    for path in waiting(folder):
        with suppress(FileNotFoundError):
            yield path, _read(path)


def waiting(folder: Path) -> list[Path]:
    """List the files of messages, oldest first."""
    return sorted((folder / "spool").glob("*.json"))


def is_late(folder: Path, before: int) -> bool:
    """Check whether a message of an earlier hook waits, from before this time (ms)."""
    oldest = next(iter(waiting(folder)), None)
    return oldest is not None and int(oldest.name.partition("-")[0]) < before


def remove(path: Path) -> None:
    """Remove a message that the server has."""
    path.unlink(missing_ok=True)


def note(folder: Path, trouble: str) -> None:
    """Append a line to the log, which begins again when it is full."""
    with suppress(OSError):
        folder.mkdir(0o700, parents=True, exist_ok=True)
        path = folder / "hook.log"
        mode = "w" if path.exists() and path.stat().st_size > LOG_BYTES else "a"
        with path.open(mode, encoding="utf-8") as file:
            file.write(f"{trouble}\n")


def _read(path: Path) -> Spooled | None:
    try:
        return Spooled(**json.loads(path.read_text("utf-8")))
    except (ValueError, TypeError):
        return None
