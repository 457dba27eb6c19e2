"""Integer co-occurrence counts of one graph and one kind of window: how often two concepts were seen together.

    key      a << 32 | b     int64, a and b concept numbers
    count    int32
    queue    windows that no pair was made of yet, one behind the other
    half     sorted keys with a < b, counted but never read
    main     sorted keys of every pair in both directions, so the neighbours of `a` are one contiguous run of keys;
    delta    the same, of keys that are not in main, merged into it when it has grown

A window only queues its concepts (O(concepts)); pairs are made later, many windows at once and vectorised, and come
into the form that readers need when somebody reads (`settle`): a rebuild never does, nor a graph that only listens.
Counts are integers, so neither order nor batching of windows can change them.  PPMI is derived from them at read
time: the number of windows changes with every turn, so a stored weight would always be stale (SEEDS trap T2).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from state.arrays import Counts, Integers, Mask

QUEUED_PAIRS = 1 << 16  # at most: bounds the work of the next read after a burst
UNREAD_PAIRS = 1 << 18  # the same, as long as nobody reads: bounds memory
_LOW = np.int64(0xFFFFFFFF)


class PairCounts:
    """Symmetric pair counts.  Every reader settles first; that never changes what is counted, only its form."""

    def __init__(self) -> None:
        self._queue = array("i")
        self._sizes = array("i")  # of the windows in the queue
        self._queued = 0  # pairs in the queue
        self._half = _Sorted.empty()
        self._main = _Sorted.empty()
        self._delta = _Sorted.empty()

    def add(self, window: Sequence[int]) -> None:
        """Count one window of distinct concept numbers."""
        size = len(window)
        if size > 1:
            self._queue.extend(window)
            self._sizes.append(size)
            self._queued += size * (size - 1) // 2
            self._bound_queue()

    def add_all(self, concepts: Counts, sizes: Counts) -> None:
        """Count many windows of distinct concept numbers, which lie in `concepts` one behind the other."""
        paired = sizes > 1
        concepts, sizes = concepts[np.repeat(paired, sizes)], sizes[paired]
        self._queue.frombytes(concepts.tobytes())
        self._sizes.frombytes(sizes.tobytes())
        self._queued += int((sizes.astype(np.int64) * (sizes - 1) // 2).sum())
        self._bound_queue()

    def _bound_queue(self) -> None:
        if self._queued >= QUEUED_PAIRS and (self._queued >= UNREAD_PAIRS or len(self._main.keys)):
            self._count_queue()

    def _count_queue(self) -> None:
        """Count the queued windows.  Once somebody reads, what is not yet in his form must stay small."""
        if self._queued:
            self._half = self._half.plus(_counted(_pair_keys(self._queue, self._sizes)))
            self._queue, self._sizes, self._queued = array("i"), array("i"), 0
            if len(self._main.keys):
                self.settle()

    def settle(self) -> None:
        """Bring everything into the form that is read."""
        self._count_queue()
        if len(self._half.keys):
            settled, self._half = self._half.both_ways(), _Sorted.empty()
            self._take(settled)

    def _take(self, settled: _Sorted) -> None:
        if len(settled.keys) > len(self._main.keys) // 4:
            self._merge()
            self._main = self._main.plus(settled)
            return
        keys, counts = settled.keys, settled.counts
        for level in (self._main, self._delta):
            known = level.increment(keys, counts)
            keys, counts = keys[~known], counts[~known]
        self._delta = self._delta.plus(_Sorted(keys, counts))
        if len(self._delta.keys) > 1024 + len(self._main.keys) // 4:
            self._merge()

    def _merge(self) -> None:
        self._main = self._main.plus(self._delta)
        self._delta = _Sorted.empty()

    def __len__(self) -> int:
        """Count the unordered pairs."""
        return len(self.canonical()[0])

    def __bool__(self) -> bool:
        """Say whether any pair was counted, without counting what is queued."""
        return bool(self._queued or len(self._half.keys) or len(self._main.keys) or len(self._delta.keys))

    def neighbours(self, concepts: Integers) -> tuple[Integers, Integers, Integers]:
        """Find every edge that leaves `concepts`, ordered by (position, neighbour).

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
        """Count the distinct neighbours of each concept number below `concepts`, (concepts,)."""
        self.settle()
        keys = np.concatenate((self._main.keys, self._delta.keys))
        return np.bincount(keys >> 32, minlength=concepts)

    def renumber(self, numbers: Integers) -> None:
        """Give concept i the number numbers[i], and forget the pairs of those with -1.

        numbers  (n,) ascending but for the -1, so the keys stay sorted
        """
        self._count_queue()
        self._merge()
        self._half, self._main = self._half.renumbered(numbers), self._main.renumbered(numbers)

    def canonical(self) -> tuple[Integers, Counts]:
        """List the keys with a < b, ascending, and their counts, (pairs,) each: the same for equal counts."""
        self._count_queue()
        if not len(self._main.keys):  # never read
            return self._half.keys, self._half.counts
        self.settle()
        self._merge()
        half = (self._main.keys >> 32) < (self._main.keys & _LOW)
        return self._main.keys[half], self._main.counts[half]

    @classmethod
    def of_canonical(cls, keys: Integers, counts: Counts) -> PairCounts:
        """Build the counts that `canonical` described."""
        pairs = cls()
        pairs._half = _Sorted(np.array(keys), np.array(counts))
        return pairs


class _Sorted:
    """Ascending distinct keys with their counts."""

    def __init__(self, keys: Integers, counts: Counts) -> None:
        self.keys = keys
        self.counts = counts

    @classmethod
    def empty(cls) -> _Sorted:
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int32))

    def increment(self, keys: Integers, counts: Counts) -> Mask:
        """Add `counts` to the keys that are here; return which were."""
        if not len(self.keys):
            return np.zeros(len(keys), np.bool_)
        at = np.searchsorted(self.keys, keys)
        at[at == len(self.keys)] = 0
        known: Mask = self.keys[at] == keys
        self.counts[at[known]] += counts[known]
        return known

    def plus(self, other: _Sorted) -> _Sorted:
        """Add both up."""
        if not len(self.keys) or not len(other.keys):
            return self if len(self.keys) else other
        keys = np.concatenate((self.keys, other.keys))
        order = np.argsort(keys, kind="stable")  # two ascending runs: it only merges them
        keys, counts = keys[order], np.concatenate((self.counts, other.counts))[order]
        starts = _starts(keys)
        return _Sorted(keys[starts], np.add.reduceat(counts, starts, dtype=np.int32))

    def both_ways(self) -> _Sorted:
        """Lay out every pair in both directions."""
        both = np.concatenate((self.keys, (self.keys & _LOW) << 32 | self.keys >> 32))
        order = np.argsort(both)
        return _Sorted(both[order], np.concatenate((self.counts, self.counts))[order])

    def renumbered(self, numbers: Integers) -> _Sorted:
        left, right = numbers[self.keys >> 32], numbers[self.keys & _LOW]
        stays = (left >= 0) & (right >= 0)
        return _Sorted(left[stays] << 32 | right[stays], self.counts[stays])

    def edges(self, concepts: Integers) -> tuple[Integers, Integers, Integers]:
        starts = np.searchsorted(self.keys, concepts << 32)
        lengths = np.searchsorted(self.keys, (concepts + 1) << 32) - starts
        position = np.repeat(np.arange(len(concepts)), lengths)
        within = np.arange(len(position)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        at = starts[position] + within
        return position, self.keys[at] & _LOW, self.counts[at].astype(np.int64)


def _starts(keys: Integers) -> Integers:
    """Find where each distinct key of a sorted, non-empty array begins."""
    changes = np.empty(len(keys), np.bool_)
    changes[0] = True
    np.not_equal(keys[1:], keys[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def _counted(keys: Integers) -> _Sorted:
    """Count how often each of `keys` is there.  Sorts `keys` in place."""
    keys.sort()
    starts = _starts(keys)
    return _Sorted(keys[starts], np.diff(starts, append=len(keys)).astype(np.int32))


def _pair_keys(queue: Sequence[int], sizes: Sequence[int]) -> Integers:
    """Make one key per pair of each window; windows of equal size are laid out as one matrix."""
    concepts, lengths = np.array(queue, np.int64), np.array(sizes, np.int64)
    starts = np.cumsum(lengths) - lengths
    parts = []
    for size in np.unique(lengths).tolist():
        rows = concepts[starts[lengths == size][:, None] + np.arange(size)]
        rows.sort(axis=1)
        left, right = _pairs(size)
        parts.append((rows[:, left] << 32 | rows[:, right]).ravel())
    return np.concatenate(parts)


@lru_cache(maxsize=256)
def _pairs(size: int) -> tuple[Integers, Integers]:
    return np.triu_indices(size, 1)
