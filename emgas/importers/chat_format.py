"""A chat format, declared once, in the file that reads it: `FORMAT = Format(...)`.

emgas/importers/registry.py finds every FORMAT of this folder.  The recognised formats, the values of `--format`
and the table in docs/how-to.md (`scripts/docs`) come from it, so a new format is a new file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import IO, Protocol

from emgas.importers.files.archives import Files, read_each
from emgas.importers.files.lines import Item, Options


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file, without byte order mark and blanks, and its name."""

    start: bytes
    name: str = ""

    @property
    def first_line(self) -> bytes:
        """The first line, without its end."""
        return self.start.partition(b"\n")[0]

    @property
    def is_array(self) -> bool:
        """Check whether the file may be a JSON array."""
        return self.start.startswith(b"[")

    @property
    def is_object(self) -> bool:
        """Check whether the file may be a JSON object, or lines of them."""
        return self.start.startswith(b"{")


class Fit(IntEnum):
    """The degree to which a file's head fits a format."""

    NO = 0
    MAYBE = 1  # taken where no other format is sure
    SURE = 2


class Transcript(Protocol):
    """A reader of the lines of one session, which may go on."""

    def feed(self, number: int, raw: bytes) -> list[Item]:
        """Return what a line completes."""

    def pause(self) -> list[Item]:
        """Return what is complete, though no line says so; called while nothing new is there."""

    def end(self) -> list[Item]:
        """Return what the end of the session completes."""


@dataclass(frozen=True, slots=True)
class FormatSummary:
    """A format's row in the documentation, in Markdown: its file, and where a turn's fields come from."""

    file: str
    graph: str
    session: str
    time: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """The format in which a program exports chats, and its reader.

    name        what `--format` calls it
    order       lower is tried first: the first format that is sure gets the file, else the first that may fit. Take any
                free number: below 50 if only this program writes such files, 50 to 74 for a shape that several programs
                write, 75 and more for a shape that nearly any file has
    matches     by a file's head; may raise InvalidMessageError for what is nearly of this format, and say what to do
    read        (stream, graph, options): the turns and bad lines of one file
    files       which files of a ZIP or a folder belong to an export of it, None where it has no such exports
    by_content  other programs name files so, too: one file has to have the content of this format, whatever its name
    below       globs of the files below a folder's top; other subfolders are not searched
    read_files  the turns and bad lines of such an export; None: those of each of its `files`, by `read`
    open_session  of a file that grows while it is read: what reads its lines one by one
    """

    name: str
    order: int
    summary: FormatSummary
    matches: Callable[[Head], Fit]
    read: Callable[[IO[bytes], str | None, Options], Iterator[Item]]
    files: re.Pattern[str] | None = None
    by_content: bool = False
    below: tuple[str, ...] = ()
    read_files: Callable[[Files, str | None, Options], Iterator[Item]] | None = None
    open_session: Callable[[str | None, Options], Transcript] | None = None

    def read_all(self, files: Files, graph: str | None, options: Options) -> Iterator[Item]:
        """Yield the turns and bad lines of an export of this format; none where it has no exports of many files."""
        options = replace(options, below=self.below)
        if self.read_files:
            return self.read_files(files, graph, options)
        return read_each(files, self.files, self.read, graph=graph, options=options) if self.files else iter(())

    def has_files_among(self, names: list[str]) -> bool:
        """Check whether a ZIP or a folder with files of these names may be an export of this format."""
        return self.files is not None and any(map(self.files.search, names))


def json_key(name: str, opening: str = "") -> re.Pattern[bytes]:
    """Compile what finds a JSON key in a head, with what its value opens with.

    Inside a string, the quote of a key would have a backslash before it.
    """
    return re.compile(rf'(?<!\\)"{name}"\s*:\s*{opening}'.encode())


MESSAGES = json_key("messages", r"\[")
CONVERSATIONS = json_key("conversations", r"\[")
