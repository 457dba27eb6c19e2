"""The metadata of turns, the times that they mention and the facts that they state, indexed by value.

    ("channel", "phone") → ordinals of the events of the turns that have it
    "home", "lives-in"   → ordinals of those that state a fact of the slot, or of the relation
    times                → of each span of time that a turn's expressions mean: ordinal, since, until

It is no content: the first question that needs it reads it from the events of all turns, later questions only from new
ones (`missing`, `add`).  The key is the ordinal of an event, which no compaction changes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping

import numpy as np

from emgas.messages.fields import MetadataValue
from state.arrays import Integers
from state.events.events import TurnRecorded

ENTRY_BYTES = 350  # a name and a value, and what finds them
Entry = tuple[str, bool, MetadataValue]  # name, whether the value is true or false, value: as in JSON, true is not 1


class TurnFacts:
    """The facts of one graph's turns, as far as they were read."""

    def __init__(self) -> None:
        self._entries: dict[Entry, array[int]] = {}
        self._stating: dict[str, array[int]] = {}
        self._of, self._since, self._until = array("q"), array("q"), array("q")
        self._read = 0  # the ordinal up to which all is in

    @property
    def size(self) -> int:
        """Return the approximate memory use in bytes."""
        entries = sum(ENTRY_BYTES + 8 * len(turns) for turns in self._entries.values())
        entries += sum(ENTRY_BYTES + 8 * len(turns) for turns in self._stating.values())
        return entries + 8 * (len(self._of) + len(self._since) + len(self._until))

    def missing(self, ordinals: Integers) -> Integers:
        """Find the positions in ascending `ordinals` (p,), of the events of turns, of those that are to be added."""
        return np.arange(int(np.searchsorted(ordinals, self._read)), len(ordinals))

    def add(self, ordinal: int, turn: TurnRecorded) -> None:
        """Take in the next turn; in the order of their ordinals."""
        for name, value in turn.metadata.items():
            self._entries.setdefault(_entry(name, value), array("q")).append(ordinal)
        for name in {name for fact in turn.facts for name in (fact.slot, fact.relation) if name}:
            self._stating.setdefault(name, array("q")).append(ordinal)
        for span in turn.times:
            self._of.append(ordinal)
            self._since.append(span.since)
            self._until.append(span.until)
        self._read = ordinal + 1

    def holding(self, metadata: Mapping[str, MetadataValue]) -> Integers:
        """List the ordinals of the turns that have all of these entries, ascending."""
        turns = [np.array(self._entries.get(_entry(*each), ()), np.int64) for each in metadata.items()]
        return _common(turns)

    def stating(self, names: Iterable[str]) -> Integers:
        """List the ordinals of the turns that state a fact of one of these slots or relations, ascending."""
        turns = [np.array(self._stating.get(name, ()), np.int64) for name in names]
        return np.unique(np.concatenate(turns)) if turns else np.zeros(0, np.int64)

    def speaking_of(self, since: int | None, until: int | None) -> Integers:
        """List the ordinals of the turns that speak of a time in since <= time < until (ms), ascending."""
        passes = np.ones(len(self._of), np.bool_)
        if since is not None:
            passes &= np.array(self._until) > since
        if until is not None:
            passes &= np.array(self._since) < until
        return np.unique(np.array(self._of, np.int64)[passes])


def _entry(name: str, value: MetadataValue) -> Entry:
    return name, isinstance(value, bool), value


def _common(lists: Iterable[Integers]) -> Integers:
    first, *others = lists
    for other in others:
        first = np.intersect1d(first, other, assume_unique=True)
    return first
