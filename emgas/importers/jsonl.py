"""Our own format: one Turn per line, as on the wire (emgas/schema/turn.json).

{"id":"1","graph":"demo","speaker":"Mei","text":"…","session":"2025-02-08","role":"user","at":1739005200000}

A line needs `id`, `graph`, `speaker` and `text`; a graph that the caller names replaces the line's.
"""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONDecoder
from typing import IO, Any

import orjson

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head, json_key
from emgas.importers.files.lines import BadLine, Item, check_graph, read_lines, turns_of, within_record
from emgas.limits import TEXT_BYTES
from emgas.messages.turns import Turn
from emgas.validation import parse

_TURN = json_key("(speaker|graph)")
REQUIRED = tuple(name for name, field in Turn.model_fields.items() if field.is_required())
EXAMPLE = '{"id": "1", "graph": "ada", "speaker": "Ada", "text": "Hello", "at": "2023-05-08T14:00"}'


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
        raise InvalidMessageError("this is not valid JSON. Write one JSON object, in UTF-8")
    return fields if graph is None else {**fields, "graph": graph}


def advice(head: Head) -> str:
    """Say how to write turns in this format, and which fields a file of JSON lacks for it."""
    how = f"Write one turn per line, as {EXAMPLE}"
    if not (head.is_array or head.is_object):
        return f"Name its format with --format, or convert it. {how}"
    first = _first_object(head.start)
    if first is None:
        return f"It holds no JSON objects. {how}"
    lacking = [f"`{name}`" for name in REQUIRED if name not in first]
    return f"{how}. The first object lacks {', '.join(lacking)}" if lacking else how


def _first_object(start: bytes) -> dict[str, Any] | None:
    """Decode the first object of a JSON array, or of lines; None if it is none or goes on after `start`."""
    try:
        first, _ = JSONDecoder().raw_decode(start.decode(errors="replace").lstrip("[ \t\r\n"))
    except (ValueError, RecursionError):
        return None
    return first if isinstance(first, dict) else None


def _matches(head: Head) -> Fit:
    if head.is_array and _TURN.search(head.start):
        raise InvalidMessageError(f"file: is a JSON array of turns, which must be lines. {advice(head)}")
    # A file of lines may begin with a bad one, or be empty.
    is_called_so = not head.is_array and head.name.lower().endswith((".jsonl", ".ndjson"))
    return Fit.MAYBE if head.is_object or is_called_so else Fit.NO


FORMAT = Format(
    name="jsonl",
    order=80,
    summary=FormatSummary(
        file="our own: lines of `id`, `graph`, `speaker`, `text`, and optionally `session`, `at` and more",
        graph="`graph`",
        session="`session`, else main",
        time="`at`, as 2023-05-08T14:00 or in ms since 1970; else when imported",
    ),
    matches=_matches,
    read=lambda stream, graph, _: read(stream, graph),
)
