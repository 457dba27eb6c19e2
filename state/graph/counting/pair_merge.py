"""Merge the stored pairs with those that were counted since, piece by piece.

    stored    37 M keys  ┐  what is in both counts as often as both say; what was only counted on top is new, stays in
    on top    2 M keys   ┘  runs of its own, and adds to the fans

Until the merge is complete, readers add up the stored pairs and those that were counted since.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np

from state.arrays import Counts, Integers
from state.graph.counting.sorted_pairs import Sorted
from state.graph.tables.lists import longer


class StoredPairsJoin:
    """The stored pairs, which the merge changes, and the levels that were counted since.

    fan  (k,) the distinct neighbours of each concept in what was stored, None if not needed
    """

    def __init__(self, stored: Sorted, fan: Integers | None, on_top: Iterable[Sorted]) -> None:
        self._stored = stored
        self.fan = fan
        self._levels = deque(Sorted(level.keys, level.counts.copy()) for level in on_top)
        self._later = deque[Sorted]()
        self._parts: list[Sorted] = []  # of the level in hand, what is new of it
        self._new: list[Sorted] = []

    @property
    def size(self) -> int:
        """Return the memory use in bytes."""
        runs = [self._stored, *self._levels, *self._later, *self._parts, *self._new]
        return sum(int(run.keys.nbytes + run.counts.nbytes) for run in runs)

    def add(self, keys: Integers, counts: Counts) -> None:
        """Note what is counted meanwhile: every pair in both directions."""
        self._later.append(Sorted(keys, counts.copy()))

    def step(self, most: float) -> bool:
        """Join so many keys, or what was counted at one time meanwhile; return whether there are more."""
        if self._levels:
            self._join(self._levels.popleft(), most)
        elif self._later:
            self._take(self._later.popleft())
        return bool(self._levels or self._later)

    def _join(self, level: Sorted, most: float) -> None:
        end = int(min(most, len(level.keys)))
        part, rest = level.part(slice(end)), level.part(slice(end, None))
        new = ~self._stored.increment(part.keys, part.counts)
        self._parts.append(self._counted(part.keys[new], part.counts[new]))
        if len(rest.keys):
            self._levels.appendleft(rest)
            return
        parts, self._parts = self._parts, []
        keys, counts = (np.concatenate([getattr(each, name) for each in parts]) for name in ("keys", "counts"))
        self._new.append(Sorted(keys, counts))

    def _take(self, later: Sorted) -> None:
        keys, counts = later.keys, later.counts
        for run in (self._stored, *self._new):
            is_known = run.increment(keys, counts)
            keys, counts = keys[~is_known], counts[~is_known]
        self._new.append(self._counted(keys, counts))

    def _counted(self, keys: Integers, counts: Counts) -> Sorted:
        """Count what is new in the fans."""
        if self.fan is not None:
            self.fan = with_neighbours(self.fan, keys)
        return Sorted(keys, counts)

    def runs(self) -> list[Sorted]:
        """Return all runs once they are joined, longest first; no key is in two of them."""
        return [self._stored, *sorted(self._new, key=lambda run: -len(run.keys))]


def with_neighbours(fan: Integers, keys: Integers) -> Integers:
    """Count a neighbour more for the first end of each of ascending `keys`, in place as far as there is room."""
    if not len(keys):
        return fan
    first, last = int(keys[0] >> 32), int(keys[-1] >> 32)
    fan = longer(fan, last + 1)
    fan[first : last + 1] += np.bincount((keys >> 32) - first)
    return fan
