"""Find turns that a new one makes outdated: "I live in Lisbon now" after "I live in Berlin".  The fold applies it.

    newer     states another value of a slot, or says that a value is over, or holds again
    older     the same speaker's turns that the newer one contradicts, and that nothing has made history yet

What counts is when something was said, not when it came: a letter of last year, imported today, is history at once.
Outdated turns stay, and are found; recall ranks them behind the turns that supersede them.  This is decided once, when
a turn is recorded, so an undone decision stays undone.  Source: SEEDS P38.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from processors.text.statements import contradicts
from state.events.events import UNSTAMPED, Superseded
from state.events.extraction_types import Statement
from state.graph.graph import Graph

MOST_OLDER: Final = 100  # turns that one turn makes history for one slot: the latest of them


def superseded(graph: Graph, turn: str, *, speaker: str, at: int, stated: Sequence[Statement]) -> Iterator[Superseded]:
    """Decide what a turn, which is not folded yet, makes history in a graph, or that it is history itself.

    at  when it was said, ms
    """
    for one in stated:
        others = list(_current_statements(graph, speaker, one.slot))
        before = [other for spoken_at, other, statement in others if spoken_at <= at and contradicts(one, statement)]
        if before:
            yield _event(graph, before[-MOST_OLDER:], turn, about=one.slot, at=at)
        after = [
            (spoken_at, other)
            for spoken_at, other, statement in others
            if spoken_at > at and contradicts(statement, one)
        ]
        if after:
            spoken_at, newer = min(after)
            yield _event(graph, [turn], newer, about=one.slot, at=spoken_at)


def _current_statements(graph: Graph, speaker: str, slot: str) -> Iterator[tuple[int, str, Statement]]:
    """Yield when, in which turn and what a speaker said of a slot that is not history: in the order folded."""
    passages = graph.passages
    for turn, statement in graph.statements.filling(speaker, slot):
        number = passages.numbers[turn]
        if passages.superseded[number] < 0:
            yield passages.at[number], turn, statement


def _event(graph: Graph, older: list[str], newer: str, *, about: str, at: int) -> Superseded:
    return Superseded(graph=graph.graph_id, at=at, older=older, newer=newer, about=about, **UNSTAMPED)
