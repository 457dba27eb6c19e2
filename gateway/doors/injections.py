"""A bounded list of the contexts that hooks gave to agents, in a file of the data directory.

    {"at": 1764000000000, "host": "codex", "event": "UserPromptSubmit", "session": "s1", "prompt": "<turn id>",
     "graphs": ["project/shop-3fa94c"], "turns": [["project/shop-3fa94c", "<turn id>"]], "tokens": 57}

It is not in the log: nothing is computed from it, and a log is permanent.  It names turns and holds no text, so what is
forgotten or erased is gone from it as well.  Without a data directory of its own, as on Kafka, a server keeps the list
only while it runs.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError

from emgas.limits import EXCLUDED
from emgas.logs import logger
from emgas.messages.fields import Message

log = logger("gateway")
KEPT: Final = 2000  # the latest; the file is written again when it has twice as many
FILE: Final = "injections.jsonl"


class Injection(Message):
    """The context that one prompt or session got.

    prompt  id of the turn that the prompt is, null at a session's start     graphs  that had something
    turns   graph and id of each turn that was quoted                        tokens  of the text, estimated
    """

    at: int
    host: str
    event: str
    session: str
    prompt: str | None
    graphs: list[str]
    turns: list[tuple[str, str]]
    tokens: int


class Injected(NamedTuple):
    """A record, and the text that the model gets."""

    record: Injection
    text: str


class ListedInjections(Message):
    """Injections, the latest first.  `more`: there are earlier ones."""

    injections: list[Injection]
    more: bool = False


class Injections:
    """The latest injections, and the file that keeps them, if there is one."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = None if folder is None else folder / FILE
        self._lines = 0
        self._latest: deque[Injection] = deque(self._read(), maxlen=KEPT)

    def add(self, injection: Injection) -> None:
        """Keep an injection.  If the disk refuses it, it is logged and kept in memory."""
        self._latest.append(injection)
        if self._file is None:
            return
        try:
            if self._lines >= 2 * KEPT:
                self._write_again(self._file)
            else:
                with os.fdopen(os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
                    file.write(_line(injection))
                self._lines += 1
        except OSError as error:
            log.warning("cannot keep what an agent got", error=error.strerror)

    def latest(self) -> Iterator[Injection]:
        """Yield them, the latest first."""
        return reversed(self._latest)

    def turns_of(self, session: str) -> list[str]:
        """Return ids of the turns that a session was given, the latest first, as many as a query can leave out."""
        turns = (turn for each in self.latest() if each.session == session for _, turn in each.turns)
        return list(dict.fromkeys(turns))[:EXCLUDED]

    def _read(self) -> Iterator[Injection]:
        try:
            lines = [] if self._file is None else self._file.read_bytes().splitlines()
        except FileNotFoundError:
            return
        self._lines = len(lines)
        for line in lines:
            try:
                yield Injection.model_validate_json(line)
            except ValidationError:
                continue  # the last line of a server that was killed

    def _write_again(self, file: Path) -> None:
        new = file.with_suffix(".new")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
            opened.writelines(map(_line, self._latest))
        new.replace(file)
        self._lines = len(self._latest)


def _line(injection: Injection) -> bytes:
    return injection.model_dump_json().encode() + b"\n"
