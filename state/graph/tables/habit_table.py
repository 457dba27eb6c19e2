"""The habits of a graph: each is an abstract of its member turns, which stay.

    habit  ──▶  what is said of it, and its members       turn  ──▶  the habit that it is a member of (derived)

A habit's row is the latest record of a window (MemoryConsolidated).  If a user forgets a member or a concept of a
habit, the habit is forgotten too, because it is computed from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from state.events.events import MemoryConsolidated
from state.events.extraction_types import Exempt


@dataclass(frozen=True)
class HabitRow:
    """A habit: fields as in MemoryConsolidated; `members`: all of them, in the order in which they joined.

    born  ms, the end of the window that found it
    """

    id: str
    born: int
    speaker: str
    text: str
    concepts: tuple[str, ...]
    members: tuple[str, ...]
    count: int
    days: int
    first: int
    last: int
    period: int
    hours: tuple[int, ...]
    weekdays: tuple[int, ...]
    exceptions: tuple[Exempt, ...]
    by: str


class HabitTable:
    """The habits of one graph, in order of birth.  Only the graph's fold writes here."""

    def __init__(self) -> None:
        self.habits: dict[str, HabitRow] = {}
        self.of_turn: dict[str, str] = {}  # member → habit

    def apply(self, event: MemoryConsolidated, members: Iterable[str]) -> None:
        """Set a habit to what an event says, with `members` that joined."""
        existing = self.habits.get(event.id)
        before = existing.members if existing else ()
        joined = tuple(turn for turn in members if turn not in self.of_turn)
        self.habits[event.id] = HabitRow(
            id=event.id,
            born=existing.born if existing else event.at,
            speaker=event.speaker,
            text=event.text,
            concepts=tuple(event.concepts),
            members=(*before, *joined),
            count=event.count,
            days=event.days,
            first=event.first,
            last=event.last,
            period=event.period,
            hours=tuple(event.hours),
            weekdays=tuple(event.weekdays),
            exceptions=tuple(event.exceptions),
            by=event.by,
        )
        self.of_turn.update(dict.fromkeys(joined, event.id))

    def copied(self) -> HabitTable:
        """Copy the table: what is applied to the copy changes nothing here."""
        table = HabitTable()
        table.habits, table.of_turn = dict(self.habits), dict(self.of_turn)
        return table

    def remove(self, id: str) -> None:
        """Take a habit out; its members stay."""
        habit = self.habits.pop(id, None)
        for turn in habit.members if habit else ():
            self.of_turn.pop(turn, None)

    def without(self, turns: Iterable[str], concepts: Iterable[str]) -> None:
        """Take out the habits that rest on any of these turns or concepts."""
        gone = {self.of_turn[turn] for turn in turns if turn in self.of_turn}
        words = set(concepts)
        if words:
            gone |= {habit.id for habit in self.habits.values() if words.intersection(habit.concepts)}
        for id in gone:
            self.remove(id)

    def values(self) -> list[Any]:
        """Return the habits as JSON-able values; [] for none."""
        return [
            {**vars(habit), "exceptions": [[each.since, each.until, each.turn] for each in habit.exceptions]}
            for habit in self.habits.values()
        ]

    @classmethod
    def of(cls, values: Iterable[Any]) -> HabitTable:
        """Build the table that `values` described."""
        table = cls()
        for value in values:
            lists = {name: tuple(value[name]) for name in ("concepts", "members", "hours", "weekdays")}
            exempt = tuple(Exempt(*each) for each in value["exceptions"])
            habit = HabitRow(**{**value, **lists, "exceptions": exempt})
            table.habits[habit.id] = habit
            table.of_turn.update(dict.fromkeys(habit.members, habit.id))
        return table
