"""A transcript in plain text: a line per turn, the speaker before a colon.

Ada: The kettle broke again.
Ben: Then let us buy one
that whistles.                          the same turn, going on

graph     must be given      session   the file's name      id   a hash of its position and text
at        none: the log's timestamp counts                  metadata  {"origin": "import:transcript"}
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head
from emgas.importers.files.lines import BadLine, Item, Options, read_lines, stable_id, turns_of
from emgas.messages.turns import Turn

SPOKEN = re.compile(r"(?P<speaker>[^\W_][^:\n]{0,39}?)\s?(?::\s+|：\s*)(?P<text>\S.*)", re.DOTALL)
LOOKED_AT = 20  # a file is recognised by its first lines: most of them must be spoken


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Yield the turns of a transcript.  Raises InvalidMessageError if no graph is given."""
    if graph is None:
        raise InvalidMessageError("graph: a transcript names none: say which graph it belongs to (--graph NAME)")
    session = PurePosixPath(options.name.replace("\\", "/")).stem.strip("-") or "main"
    for position, (number, lines) in enumerate(_spoken(stream)):
        if isinstance(lines, BadLine):
            yield lines
            continue
        text = "\n".join(lines)
        match = SPOKEN.match(text)
        if match is None:
            yield BadLine(number, text.encode(errors="surrogateescape"), "line: has no speaker: write `Name: text`")
            continue
        try:
            yield from _turns(graph, session, position, match)
        except InvalidMessageError as error:
            yield BadLine(number, text.encode(errors="surrogateescape"), str(error))


def _spoken(stream: IO[bytes]) -> Iterator[tuple[int, list[str] | BadLine]]:
    """Yield each turn's first line number and its lines."""
    begun, lines = 0, list[str]()
    for line in read_lines(stream):
        if isinstance(line, BadLine):
            yield line.number, line
            continue
        number, raw = line
        text = raw.decode(errors="surrogateescape")
        if lines and not SPOKEN.match(text):
            lines.append(text)
            continue
        if lines:
            yield begun, lines
        begun, lines = number, [text]
    if lines:
        yield begun, lines


def _turns(graph: str, session: str, position: int, match: re.Match[str]) -> list[Turn]:
    fields = {
        "id": stable_id(graph, session, position, text=match[0]),
        "graph": graph,
        "session": session[:256],
        "speaker": match["speaker"],
        "text": match["text"],
        "metadata": {"origin": "import:transcript"},
    }
    return turns_of(fields)


def _matches(head: Head) -> Fit:
    if head.is_array or head.is_object:
        return Fit.NO
    lines = [line for line in head.start.decode(errors="replace").splitlines()[:LOOKED_AT] if line.strip()]
    spoken = sum(SPOKEN.match(line.strip()) is not None for line in lines)
    return Fit.MAYBE if lines and 2 * spoken > len(lines) else Fit.NO


FORMAT = Format(
    name="transcript",
    order=90,
    summary=FormatSummary(
        file="text, a line per turn: `Name: text`", graph="must be given", session="the file", time="when imported"
    ),
    matches=_matches,
    read=read,
)
