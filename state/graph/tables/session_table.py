"""The ended conversations of one graph: time and reason of the end, and the summary.

    ended    session → its latest end, in the order of the ends: the last one ended last

What is said in a session behind its end is another conversation under the same name.  Sessions that were not ended are
not here: nothing of them is content.  Source:
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from state.arrays import Integers
from state.events.events import SessionEnded, SessionSummarised


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The end of a conversation.

    upto   passages of the graph that lay before its end: numbers from there on are of the next one
    text   what it was about, "" without a summary;  turns: ids of those that the text is made of;  by: whom
    topic  what it was about in a word or two, "" if nothing was stated
    """

    at: int
    reason: str
    upto: int
    text: str = ""
    turns: tuple[str, ...] = ()
    by: str = ""
    topic: str = ""


class SessionTable:
    """Ends by session.  Only the graph's fold writes here."""

    def __init__(self) -> None:
        self.ended: dict[str, SessionEnd] = {}

    def end(self, event: SessionEnded, upto: int) -> None:
        """Record that a session ended before passage `upto`."""
        self.ended.pop(event.session, None)
        self.ended[event.session] = SessionEnd(event.at, event.reason, upto)

    def sum_up(self, event: SessionSummarised) -> bool:
        """Note what a session that has ended was about; return whether there is one."""
        end = self.ended.get(event.session)
        if end is not None:
            self.ended[event.session] = replace(
                end, text=event.text, turns=tuple(event.turns), by=event.by, topic=event.topic
            )
        return end is not None

    def forget(self, turns: AbstractSet[str], is_here: Callable[[str], bool]) -> None:
        """Drop the summaries that are made of turns that are forgotten, and sessions without any turn here."""
        for session, end in list(self.ended.items()):
            if not is_here(session):
                del self.ended[session]
            elif not turns.isdisjoint(end.turns):
                self.ended[session] = replace(end, text="", turns=(), by="", topic="")

    def renumber(self, passages: Integers) -> None:
        """Renumber the ends to new passage numbers (p,), -1 for passages that are gone."""
        kept = np.concatenate(([0], np.cumsum(passages >= 0)))
        for session, end in self.ended.items():
            self.ended[session] = replace(end, upto=int(kept[end.upto]))

    def upto(self, session: str) -> int:
        """Return from which passage on turns of a session are of the conversation that goes on."""
        end = self.ended.get(session)
        return end.upto if end else 0

    def values(self) -> list[list[Any]]:
        """Return the table as JSON-able values."""
        return [
            [
                session,
                end.at,
                end.reason,
                end.upto,
                end.text,
                list(end.turns),
                end.by,
                *([end.topic] if end.topic else ()),
            ]
            for session, end in self.ended.items()
        ]

    @classmethod
    def of(cls, values: Iterable[list[Any]]) -> SessionTable:
        """Build the table that `values` described."""
        table = cls()
        for session, at, reason, upto, text, turns, by, *topic in values:
            table.ended[session] = SessionEnd(at, reason, upto, text, tuple(turns), by, *topic)
        return table
