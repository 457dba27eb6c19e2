"""The statements of turns, one value at a time, such as a home or a phone number (processors/text/statements.py).

turn  ──▶  its statements                what later ones are held against (processors/lifecycle/turns/supersession.py)
speaker, slot  ──▶  the turns that fill it, in the order folded             derived, so not packed
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from state.events.extraction_types import Statement


class StatementTable:
    """The statements of the turns that are here.  Only the graph's fold writes here."""

    def __init__(self) -> None:
        self._of_turn: dict[str, tuple[str, tuple[Statement, ...]]] = {}  # turn id → speaker, what it states
        self._filling: dict[tuple[str, str], dict[str, Statement]] = {}  # speaker, slot → turn id → the latter's

    def __bool__(self) -> bool:
        return bool(self._of_turn)

    def __iter__(self) -> Iterator[str]:
        """Yield the ids of the turns that state something."""
        return iter(self._of_turn)

    def add(self, turn: str, speaker: str, stated: Iterable[Statement]) -> None:
        """Note what a turn states."""
        statements = tuple(stated)
        if statements:
            self._of_turn[turn] = speaker, statements
            for one in statements:
                self._filling.setdefault((speaker, one.slot), {})[turn] = one

    def remove(self, turn: str) -> None:
        """Forget what a turn states."""
        speaker, statements = self._of_turn.pop(turn, ("", ()))
        for one in statements:
            filling = self._filling[speaker, one.slot]
            filling.pop(turn, None)
            if not filling:
                del self._filling[speaker, one.slot]

    def of_turn(self, turn: str) -> tuple[str, tuple[Statement, ...]]:
        """Return the speaker of a turn, and what it states; ("", ()) for one that states nothing."""
        return self._of_turn.get(turn, ("", ()))

    def filling(self, speaker: str, slot: str) -> list[tuple[str, Statement]]:
        """List the turns in which a speaker fills a slot, in the order folded, each with what it states of it."""
        return list(self._filling.get((speaker, slot), {}).items())

    def values(self) -> list[Any]:
        """Return the table as JSON-able values; [] while nothing is stated."""
        return [
            [turn, speaker, *([one.slot, one.value, one.ends] for one in stated)]
            for turn, (speaker, stated) in self._of_turn.items()
        ]

    @classmethod
    def of(cls, values: Iterable[Any]) -> StatementTable:
        """Build the table that `values` described."""
        table = cls()
        for turn, speaker, *stated in values:
            table.add(turn, speaker, (Statement(*one) for one in stated))
        return table
