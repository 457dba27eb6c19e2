"""Our own format: one Turn per line, as on the wire (emgas/schema/turn.json).

{"id":"1","graph":"demo","speaker":"Mei","text":"…","session":"2025-02-08","role":"user","at":1739005200000}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from emgas.errors import InvalidMessageError
from emgas.importers.lines import BadLine, Item, check_graph, read_lines, within_record
from emgas.messages.turns import Turn
from emgas.validation import parse


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
