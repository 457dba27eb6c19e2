"""The themes of one graph: concepts that belong together, under an identity that outlives single windows.

    theme   id ("topic-7", given in order of birth) → label, members (concept numbers, strongest first), born (ms)

The log and snapshots call them topics.  Source: SEEDS E3, E5: a theme has no passages of its own; concepts belong to
it, and a concept belongs to one at most.  processors/lifecycle/consolidation/ decides on
themes and records them; this table only keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from state.events.events import TopicChange


@dataclass(frozen=True, slots=True)
class ThemeRow:
    """One theme as of the last consolidation, without members that were forgotten or archived since.

    name, by  what an advisor calls it, and who; "" without one
    """

    id: str
    label: str
    members: tuple[int, ...]
    born: int
    name: str = ""
    by: str = ""


class ThemeTable:
    """Themes by id, in order of birth.  Only the graph's fold writes here."""

    def __init__(self) -> None:
        self.themes: dict[str, ThemeRow] = {}
        self.born = 0  # themes ever: the number in the next one's id

    def apply(self, change: TopicChange, members: Iterable[int], at: int) -> None:
        """Fold the change of one theme at `at` (ms)."""
        if change.change == "died":
            self.themes.pop(change.id, None)
            return
        existing = self.themes.get(change.id)
        self.born += existing is None
        theme = ThemeRow(change.id, change.label, tuple(members), existing.born if existing else at)
        if existing and existing.name and 2 * len(set(existing.members) & set(theme.members)) >= len(existing.members):
            theme = replace(theme, name=existing.name, by=existing.by)  # else the name is one of something else
        self.themes[change.id] = theme

    def name(self, topic: str, name: str, by: str) -> bool:
        """Set the name of a theme; return whether there is such a theme."""
        existing = self.themes.get(topic)
        if existing is not None:
            self.themes[topic] = replace(existing, name=name, by=by)
        return existing is not None

    def keep(self, is_active: Callable[[int], bool]) -> None:
        """Keep only words that are neither archived nor forgotten; a theme without any left dies."""
        for name, theme in list(self.themes.items()):
            members = tuple(filter(is_active, theme.members))
            if not members:
                del self.themes[name]
            elif len(members) < len(theme.members):
                self.themes[name] = replace(theme, members=members)

    def renumber(self, numbers: Sequence[int]) -> None:
        """Renumber concept i to numbers[i], and drop those of -1."""
        for name, theme in self.themes.items():
            members = tuple(numbers[member] for member in theme.members if numbers[member] >= 0)
            self.themes[name] = replace(theme, members=members)

    def values(self) -> dict[str, Any]:
        """Return the table as JSON-able values."""
        listed = [
            [theme.id, theme.label, list(theme.members), theme.born, *([theme.name, theme.by] if theme.name else ())]
            for theme in self.themes.values()
        ]
        return {"born": self.born, "topics": listed}

    @classmethod
    def of(cls, values: dict[str, Any]) -> ThemeTable:
        """Build the table that `values` described."""
        table = cls()
        table.born = values["born"]
        for name, label, members, born, *named in values["topics"]:
            table.themes[name] = ThemeRow(name, label, tuple(members), born, *named)
        return table
