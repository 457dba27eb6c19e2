"""The topics of one graph: concepts that belong together, under an identity that outlives single windows.

    topic   id ("topic-7", given in order of birth) → label, members (concept numbers, strongest first), born (ms)

Source: SEEDS E3, E5: a topic has no passages of its own; concepts belong to it, and a concept belongs to one at most.
What the topics are is decided by processors/lifecycle/consolidation.py and recorded; here it is only kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from state.events.events import TopicChange


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic as of the last consolidation, without members that were forgotten since."""

    id: str
    label: str
    members: tuple[int, ...]
    born: int


class ThemeTable:
    """Topics by id, in order of birth.  Only the graph's fold writes here."""

    def __init__(self) -> None:
        self.topics: dict[str, Topic] = {}
        self.born = 0  # topics ever: the number in the next one's id

    def apply(self, change: TopicChange, members: Iterable[int], at: int) -> None:
        """Fold what became of one topic."""
        if change.change == "died":
            self.topics.pop(change.id, None)
            return
        known = self.topics.get(change.id)
        self.born += known is None
        born = known.born if known else at
        self.topics[change.id] = Topic(change.id, change.label, tuple(members), born)

    def renumber(self, numbers: Sequence[int]) -> None:
        """Give concept i the number numbers[i], and let those of -1 go."""
        for name, topic in self.topics.items():
            members = tuple(numbers[member] for member in topic.members if numbers[member] >= 0)
            self.topics[name] = Topic(name, topic.label, members, topic.born)

    def values(self) -> dict[str, Any]:
        """Return the table as plain values."""
        listed = [[topic.id, topic.label, list(topic.members), topic.born] for topic in self.topics.values()]
        return {"born": self.born, "topics": listed}

    @classmethod
    def of(cls, values: dict[str, Any]) -> ThemeTable:
        """Return the table that `values` described."""
        table = cls()
        table.born = values["born"]
        for name, label, members, born in values["topics"]:
            table.topics[name] = Topic(name, label, tuple(members), born)
        return table
