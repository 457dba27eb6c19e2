"""The recorded facts of turns on people (processors/text/facts/facts.py).

turn  ──▶  who said it, and the facts in it       a card is a fold of these (processors/lifecycle/turns/people.py)

Forgetting a turn removes its facts, so the cards are the same as without the turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import astuple

from state.events.extraction_types import Fact


class PeopleTable:
    """The facts of the turns that are here, in the order folded.  Only the graph's fold writes here.

    folded  the cards that were folded from them, with the number of changes by then: a cache, no content
    """

    def __init__(self) -> None:
        self.changes = 0
        self.folded: tuple[int, Any] | None = None
        self._of_turn: dict[str, tuple[str, tuple[Fact, ...]]] = {}  # turn id → speaker, facts

    def __bool__(self) -> bool:
        return bool(self._of_turn)

    def __iter__(self) -> Iterator[tuple[str, str, tuple[Fact, ...]]]:
        """Yield each turn that says something of people, its speaker and its facts, in the order folded."""
        return ((turn, speaker, stated) for turn, (speaker, stated) in self._of_turn.items())

    def add(self, turn: str, speaker: str, stated: Iterable[Fact]) -> None:
        """Note the facts of a turn."""
        if facts := tuple(stated):
            self._of_turn[turn] = speaker, facts
            self.changes += 1

    def remove(self, turn: str) -> None:
        """Forget the facts of a turn."""
        if self._of_turn.pop(turn, None):
            self.changes += 1

    def of_turn(self, turn: str) -> tuple[str, tuple[Fact, ...]]:
        """Return the speaker of a turn, and its facts; ("", ()) for one without."""
        return self._of_turn.get(turn, ("", ()))

    def values(self) -> list[Any]:
        """Return the table as JSON-able values; [] while nothing is said of people."""
        return [[turn, speaker, *(list(astuple(fact)) for fact in stated)] for turn, speaker, stated in self]

    @classmethod
    def of(cls, values: Iterable[Any]) -> PeopleTable:
        """Build the table that `values` described."""
        table = cls()
        for turn, speaker, *stated in values:
            table.add(turn, speaker, (Fact(*fact) for fact in stated))
        return table
