"""Common code of all importers: items, bad lines, reading line by line in bounded memory, and stable names."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from hashlib import sha256
from typing import IO, Any

from emgas import limits
from emgas.errors import InvalidMessageError
from emgas.messages.turns import Turn
from emgas.pieces import in_pieces_if_long
from emgas.times import format_utc, zone
from emgas.validation import build, checked_graph, encode

LINE_BYTES = 32 * 1024 * 1024  # of one line; what is longer is reported, and never held whole


@dataclass(frozen=True, slots=True)
class BadLine:
    """Something that cannot become a turn.  Reading goes on after it.

    `number` counts from 1 what `unit` says: lines of the file, or conversations in a format that is one JSON array; an
    empty unit is the file as a whole, or a part that the reason names.  `raw` is what was there: the line (of an
    over-long one, its beginning), or in an array the part that is at fault.
    """

    number: int
    raw: bytes
    reason: str
    unit: str = "line"

    @property
    def description(self) -> str:
        """Return where the line is and what is wrong with it."""
        return f"{self.unit} {self.number}: {self.reason}" if self.unit else self.reason


Item = Turn | BadLine
HEAD_BYTES = 64 * 1024  # by which a file is recognised


@dataclass(frozen=True, slots=True)
class Options:
    """Values that some formats do not contain.  Raises InvalidMessageError if a used value is invalid.

    date_order  dmy, mdy or ymd, for dates that may be read in more than one way; None: they have to tell themselves
    timezone    IANA name, for times that come without one
    name        of the file: some chats have no other name
    below       globs of the files that a format has below a folder's top (chat_format.py)
    bytes       of one JSON document or file of an archive, at most; None: as much as this machine can bear
    local       whether folders that a file names are on this machine, so that their repository can be read
    values      of one JSON document, at most, counted by its commas, colons and brackets; each takes some 80 bytes
    """

    date_order: str | None = None
    timezone: str = "UTC"
    name: str = ""
    below: tuple[str, ...] = ()
    bytes: int | None = None
    values: int | None = None
    local: bool = False

    @property
    def zone(self) -> tzinfo:
        """Return the time zone.  Raises InvalidMessageError."""
        return zone(self.timezone)


USUAL = Options()


def head_of(stream: IO[bytes]) -> bytes:
    """Return the first bytes of `stream` without moving its position; a pipe is peeked at instead of rewound."""
    if stream.seekable():
        position = stream.tell()
        head = stream.read(HEAD_BYTES)
        stream.seek(position)
        return head
    if isinstance(stream, io.BufferedReader):
        return stream.peek(HEAD_BYTES)
    raise InvalidMessageError("file: cannot be looked into: name its format")


def read_lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes] | BadLine]:
    """Yield (number, line) without the line end, passing over blank ones; for an over-long line a BadLine."""
    number = 0
    while line := stream.readline(LINE_BYTES):
        number += 1
        if len(line) == LINE_BYTES and not line.endswith(b"\n"):
            _skip_rest(stream)
            yield BadLine(number, line, f"line: is over {LINE_BYTES} bytes: split it")
            continue
        line = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
        if line:
            yield number, line


def _skip_rest(stream: IO[bytes]) -> None:
    while (more := stream.readline(LINE_BYTES)) and not more.endswith(b"\n"):
        pass


def within_record(turn: Turn, size: int) -> Turn:
    """Return `turn`, read from `size` bytes.  Raises InvalidMessageError if it does not fit into a record."""
    # Writing JSON again adds at most the names of fields with defaults, so only what is near the limit is written.
    if size + 4096 > limits.RECORD_BYTES:
        encode(turn)
    return turn


def turns_of(fields: Mapping[str, Any]) -> list[Turn]:
    """Build the turn of these fields, or the turns of its pieces if its text is long.  Raises InvalidMessageError."""
    return [build(Turn, piece) for piece in in_pieces_if_long(fields)]


def on_its_day(turns: Sequence[Turn]) -> list[Turn]:
    """Return turns in the session of their day (UTC); those without a time as they are."""
    return [
        turn if turn.at is None else turn.model_copy(update={"session": format_utc(turn.at)[:10]}) for turn in turns
    ]


def check_graph(graph: str) -> str:
    """Return a valid graph id.  Raises InvalidMessageError at once, so that not every line of a file is reported."""
    return checked_graph(graph)


def stable_id(graph: str, session: str, position: int, *, text: str) -> str:
    """Compute the id that a message gets on every import: sha256 of the four parts, each preceded by its length."""
    parts = (graph, session, str(position), text)
    encoded = [part.encode(errors="surrogatepass") for part in parts]
    return sha256(b"".join(len(part).to_bytes(8, "big") + part for part in encoded)).hexdigest()[:32]


def graph_named(format: str, name: str) -> str:
    """Build the graph id of a chat: its name without characters that ids cannot hold, and a hash if any were lost."""
    kept = re.sub(r"[^A-Za-z0-9_.:@-]", "-", name.replace(" ", "-"))
    graph = f"{format}-{kept}"
    if kept == name.replace(" ", "-") and len(graph) <= 128:
        return graph
    hashed = sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{graph[:119].rstrip('-')}-{hashed}"
