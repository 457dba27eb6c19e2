"""Find the pieces of turns that were too long for one record: "d" has "d/1", "d/2" … (emgas/pieces.py)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from emgas.pieces import PIECE_OF
from state.events.events import TurnRecorded
from state.graph.graph import Graph, TextOf


def with_pieces(graph: Graph, turns: Iterable[str], text_of: TextOf) -> Iterator[str]:
    """Yield each turn, and then those of its pieces that the graph still holds."""
    for turn in turns:
        yield turn
        for number in count(1):
            piece = f"{turn}/{number}"
            if graph.passages.knows(piece) is None:
                break
            place = graph.passages.numbers.get(piece)
            if place is None:
                continue  # it was forgotten alone; the next one may be there
            if not is_piece_of(text_of(graph, place), turn):
                break  # a sender chose this id for another turn
            yield piece


def is_piece_of(event: TurnRecorded, turn: str) -> bool:
    """Check whether a turn is a piece of another."""
    return event.metadata.get(PIECE_OF) == turn
