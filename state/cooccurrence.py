"""Integer co-occurrence counts of one graph and one kind of window: how often two concepts were seen together.

    key      a << 32 | b     int64, a and b concept numbers; every pair is kept in both directions,
    count    int32           so the neighbours of `a` are one contiguous run of keys
    main     sorted keys; delta: sorted keys that are not in main, merged into it when it has grown

A window only queues its concepts (O(concepts)); pairs are made later, many windows at once and vectorised (`settle`).
Counts are integers, so neither order nor batching of windows can change them.  PPMI is derived from them at read
time: the number of windows changes with every turn, so a stored weight would always be stale (SEEDS trap T2).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
SETTLE_EVERY = 64  # windows queued at most: bounds memory, and the work of the first read after a burst
_LOW = np.int64(0xFFFFFFFF)


class PairCounts:
    """Symmetric pair counts.  Every reader settles first; `settle` never changes what is counted, only its form."""

    def __init__(self) -> None:
        self._queue: list[Sequence[int]] = []
        self._main = _Sorted.empty()
        self._delta = _Sorted.empty()

    def add(self, window: Sequence[int]) -> None:
        """Count one window of distinct concept numbers."""
        if len(window) > 1:
            self._queue.append(window)
            if len(self._queue) >= SETTLE_EVERY:
                self.settle()

    def settle(self) -> None:
        """Turn the queued windows into counts."""
        if self._queue:
            self._count(*np.unique(_pair_keys(self._queue), return_counts=True))
            self._queue = []

    def _count(self, keys: Integers, counts: Integers) -> None:
        for level in (self._main, self._delta):
            known = level.increment(keys, counts)
            keys, counts = keys[~known], counts[~known]
        self._delta = self._delta.with_new(keys, counts)
        if len(self._delta.keys) > 1024 + len(self._main.keys) // 4:
            self._merge()

    def _merge(self) -> None:
        self._main = self._main.with_new(self._delta.keys, self._delta.counts)
        self._delta = _Sorted.empty()

    def __len__(self) -> int:
        """Return the number of unordered pairs."""
        self.settle()
        return (len(self._main.keys) + len(self._delta.keys)) // 2

    def neighbours(self, concepts: Integers) -> tuple[Integers, Integers, Integers]:
        """Return every edge that leaves `concepts`, ordered by (position, neighbour).

        concepts  (k,)  concept numbers
        returns   (m,) position in `concepts`, (m,) neighbour's concept number, (m,) count
        """
        self.settle()
        parts = [level.edges(concepts) for level in (self._main, self._delta)]
        position, neighbour, count = (np.concatenate(column) for column in zip(*parts, strict=True))
        # The split into main and delta depends on when it was settled; the order of what is returned must not.
        order = np.argsort(position << 32 | neighbour, kind="stable")
        return position[order], neighbour[order], count[order]

    def fan(self, concepts: int) -> Integers:
        """Return (concepts,) the number of distinct neighbours of each concept number below `concepts`."""
        self.settle()
        keys = np.concatenate((self._main.keys, self._delta.keys))
        return np.bincount(keys >> 32, minlength=concepts)

    def renumber(self, numbers: Integers) -> None:
        """Give concept i the number numbers[i], and forget the pairs of those with -1.

        numbers  (n,) ascending but for the -1, so the keys stay sorted
        """
        self.settle()
        self._merge()
        left, right = numbers[self._main.keys >> 32], numbers[self._main.keys & _LOW]
        stays = (left >= 0) & (right >= 0)
        self._main = _Sorted(left[stays] << 32 | right[stays], self._main.counts[stays])

    def canonical(self) -> tuple[Integers, NDArray[np.int32]]:
        """Return (pairs,) keys with a < b in ascending order, and their counts: the same for equal counts."""
        self.settle()
        self._merge()
        half = (self._main.keys >> 32) < (self._main.keys & _LOW)
        return self._main.keys[half], self._main.counts[half]

    @classmethod
    def of_canonical(cls, keys: Integers, counts: NDArray[np.int32]) -> PairCounts:
        """Return the counts that `canonical` described."""
        both = np.concatenate((keys, (keys & _LOW) << 32 | keys >> 32))
        order = np.argsort(both, kind="stable")
        pairs = cls()
        pairs._main = _Sorted(both[order], np.concatenate((counts, counts))[order])
        return pairs


class _Sorted:
    """Ascending distinct keys with their counts."""

    def __init__(self, keys: Integers, counts: NDArray[np.int32]) -> None:
        self.keys = keys
        self.counts = counts

    @classmethod
    def empty(cls) -> _Sorted:
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int32))

    def increment(self, keys: Integers, counts: Integers) -> NDArray[np.bool_]:
        """Add `counts` to the keys that are here; return which were."""
        if not len(self.keys):
            return np.zeros(len(keys), np.bool_)
        at = np.searchsorted(self.keys, keys)
        at[at == len(self.keys)] = 0
        known: NDArray[np.bool_] = self.keys[at] == keys
        self.counts[at[known]] += counts[known].astype(np.int32)
        return known

    def with_new(self, keys: Integers, counts: NDArray[np.integer]) -> _Sorted:
        """Return this with ascending `keys` that are not in it added."""
        at = np.searchsorted(self.keys, keys)
        return _Sorted(np.insert(self.keys, at, keys), np.insert(self.counts, at, counts.astype(np.int32)))

    def edges(self, concepts: Integers) -> tuple[Integers, Integers, Integers]:
        starts = np.searchsorted(self.keys, concepts << 32)
        lengths = np.searchsorted(self.keys, (concepts + 1) << 32) - starts
        position = np.repeat(np.arange(len(concepts)), lengths)
        within = np.arange(len(position)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        at = starts[position] + within
        return position, self.keys[at] & _LOW, self.counts[at].astype(np.int64)


def _pair_keys(windows: list[Sequence[int]]) -> Integers:
    """Return one key per ordered pair of each window; windows of equal size are laid out as one matrix."""
    by_size: dict[int, list[Sequence[int]]] = {}
    for window in windows:
        by_size.setdefault(len(window), []).append(window)
    parts = []
    for size, same in by_size.items():
        rows = np.array(same, np.int64)
        left, right = _ordered_pairs(size)
        parts.append((rows[:, left] << 32 | rows[:, right]).ravel())
    return np.concatenate(parts)


@lru_cache(maxsize=256)
def _ordered_pairs(size: int) -> tuple[Integers, Integers]:
    left, right = np.nonzero(~np.eye(size, dtype=bool))
    return left, right
