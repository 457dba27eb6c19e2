"""Our own format: one Turn per line, as on the wire (emgas/schema/turn.json).

{"id":"1","graph":"demo","speaker":"Mei","text":"…","session":"2025-02-08","role":"user","at":1739005200000}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import orjson

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head, json_key
from emgas.importers.files.lines import BadLine, Item, check_graph, read_lines, turns_of, within_record
from emgas.limits import TEXT_BYTES
from emgas.messages.turns import Turn
from emgas.validation import parse

_TURN = json_key("(speaker|graph)")


def read(stream: IO[bytes], graph: str | None = None) -> Iterator[Item]:
    """Yield the turn of every line.  A `graph` passed here replaces each line's own."""
    if graph is not None:
        check_graph(graph)
    for line in read_lines(stream):
        yield from [line] if isinstance(line, BadLine) else _items(*line, graph)


def _items(number: int, raw: bytes, graph: str | None) -> list[Item]:
    try:
        is_plain = graph is None and len(raw) <= TEXT_BYTES
        turns = [parse(Turn, raw)] if is_plain else turns_of(_fields(raw, graph))
        return [within_record(turn, len(raw)) for turn in turns]
    except InvalidMessageError as error:
        return [BadLine(number, raw, str(error))]


def _fields(raw: bytes, graph: str | None) -> dict[str, Any]:
    """Read the fields of a turn, of `graph` if you pass one, whatever the line names.  Raises InvalidMessageError."""
    try:
        fields = orjson.loads(raw)
    except orjson.JSONDecodeError:
        fields = None
    if not isinstance(fields, dict):
        parse(Turn, raw)  # raises what is wrong with it
        raise InvalidMessageError("message: is not valid JSON: send one JSON object in UTF-8")
    return fields if graph is None else {**fields, "graph": graph}


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
    summary=FormatSummary(
        file="our own, one turn per line",
        graph="the line's",
        session="the line's",
        time="the line's, in ms since 1970: 1683554160000",
    ),
    matches=_matches,
    read=lambda stream, graph, _: read(stream, graph),
)
