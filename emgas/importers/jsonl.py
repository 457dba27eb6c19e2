"""Our own format: one Turn per line, as on the wire (emgas/schema/turn.json).

{"id":"1","graph":"demo","speaker":"Mei","text":"…","session":"2025-02-08","role":"user","at":1739005200000}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, Head, Told, json_key
from emgas.importers.lines import BadLine, Item, check_graph, read_lines, within_record
from emgas.messages.turns import Turn
from emgas.validation import parse

_TURN = json_key("(speaker|graph)")


def read(stream: IO[bytes], graph: str | None = None) -> Iterator[Item]:
    """Yield the turn of every line.  A `graph` given here takes the place of each line's own."""
    if graph is not None:
        check_graph(graph)
    for line in read_lines(stream):
        yield line if isinstance(line, BadLine) else _item(*line, graph)


def _item(number: int, raw: bytes, graph: str | None) -> Item:
    try:
        turn = parse(Turn, raw)
        return within_record(turn if graph is None else turn.model_copy(update={"graph": graph}), len(raw))
    except InvalidMessageError as error:
        return BadLine(number, raw, str(error))


def _matches(head: Head) -> Fit:
    if head.is_array and _TURN.search(head.start):
        raise InvalidMessageError(
            "file: is a JSON array of turns: write one turn per line, without brackets and commas"
        )
    # A file of lines may begin with a bad one, or be empty.
    is_called_so = not head.is_array and head.name.lower().endswith((".jsonl", ".ndjson"))
    return Fit.MAYBE if head.is_object or is_called_so else Fit.NO


FORMAT = Format(
    name="jsonl",
    order=80,
    told=Told(
        file="our own, one turn per line",
        graph="the line's",
        session="the line's",
        time="the line's, in ms since 1970: 1683554160000",
    ),
    matches=_matches,
    read=lambda stream, graph, _: read(stream, graph),
)
