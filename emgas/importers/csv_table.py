"""A table in CSV with a line of names first: a turn per row.

time,speaker,text                       the names may be others that mean the same (COLUMNS), in any order
2023-05-08T13:56,Ada,"Hi, Ben"          commas, semicolons or tabs between

graph     its column, or the given one, which goes first      session   its column, else main
id        its column, else a hash of row, speaker and text    at        its column: ISO 8601 or ms
other columns    metadata, with {"origin": "import:csv"}
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import IO

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head
from emgas.importers.files.lines import LINE_BYTES, BadLine, Item, Options, stable_id, turns_of
from emgas.limits import METADATA_CHARACTERS, METADATA_ENTRIES
from emgas.messages.turns import Turn
from emgas.times import milliseconds

COLUMNS = {
    "text": ("text", "content", "message", "body", "utterance"),
    "speaker": ("speaker", "author", "name", "sender", "from", "user", "role"),
    "at": ("at", "time", "timestamp", "date", "datetime", "created_at"),
    "session": ("session", "session_id", "conversation", "conversation_id", "thread"),
    "graph": ("graph", "user_id"),
    "id": ("id", "message_id", "turn_id"),
}
DELIMITERS = ",;\t"


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Yield the turn of every row.  Raises InvalidMessageError if the first line does not name text and speaker."""
    csv.field_size_limit(LINE_BYTES)
    lines = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    try:
        names = next(iter(lines), "")
        delimiter = _delimiter(names)
        places = _places(next(csv.reader([names], delimiter=delimiter), []))
        if graph is None and "graph" not in places.values():
            raise InvalidMessageError(
                "graph: no column of this table names one: say which graph it belongs to (--graph NAME)"
            )
        rows = csv.reader(lines, delimiter=delimiter)
        yield from _rows(rows, places, graph, options=options)
    finally:
        lines.detach()  # the file is the caller's, and stays open


def _rows(rows: Iterator[list[str]], places: dict[str, str], graph: str | None, *, options: Options) -> Iterator[Item]:
    number = 1
    while True:
        number += 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield BadLine(number, b"", f"row: is no CSV ({error})", "row")
            continue
        if row is None:
            return
        if any(row):
            try:
                yield from _turns(dict(zip(places, row, strict=False)), places, graph, number=number, options=options)
            except InvalidMessageError as error:
                yield BadLine(number, ",".join(row).encode(errors="surrogateescape"), str(error), "row")


def _turns(
    row: dict[str, str], places: dict[str, str], graph: str | None, *, number: int, options: Options
) -> list[Turn]:
    fields = {places[name]: value for name, value in row.items() if places[name] and value}
    others = [(name, value) for name, value in row.items() if not places[name] and name and value]
    kept = {name: value for name, value in others if len(value) <= METADATA_CHARACTERS}
    if graph is not None:
        fields["graph"] = graph
    identity = stable_id(fields.get("graph", ""), str(number), 0, text=f"{fields.get('speaker')}\0{fields.get('text')}")
    at = {"at": milliseconds(fields["at"], options.timezone)} if "at" in fields else {}
    metadata = dict(list(kept.items())[: METADATA_ENTRIES - 2])
    return turns_of({"id": identity, **fields, **at, "metadata": {**metadata, "origin": "import:csv"}})


def _places(names: list[str]) -> dict[str, str]:
    """Map each column to the field of a turn that it fills, "" for none; the first column that fits wins."""
    plain = {name: name.strip().casefold().replace(" ", "_") for name in names}
    taken = {
        field: next((name for title in meant for name in names if plain[name] == title), None)
        for field, meant in COLUMNS.items()
    }
    if taken["text"] is None or taken["speaker"] is None:
        raise InvalidMessageError(
            "columns: the first line must name one for the text (text, content, message) and one for the speaker "
            "(speaker, author, name, role)"
        )
    return {name: next((field for field, column in taken.items() if column == name), "") for name in names}


def _delimiter(names: str) -> str:
    return max(DELIMITERS, key=names.count)


def _matches(head: Head) -> Fit:
    if head.is_array or head.is_object:
        return Fit.NO
    line = head.first_line.decode(errors="replace")
    try:
        _places(next(csv.reader([line], delimiter=_delimiter(line)), []))
    except (InvalidMessageError, csv.Error):
        return Fit.MAYBE if head.name.lower().endswith((".csv", ".tsv")) else Fit.NO
    return Fit.SURE


FORMAT = Format(
    name="csv",
    order=75,
    summary=FormatSummary(
        file="a table; its first line names columns: text, speaker, time …",
        graph="its column, else must be given",
        session="its column",
        time="its column",
    ),
    matches=_matches,
    read=read,
)
