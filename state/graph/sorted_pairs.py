"""Sorted runs of pairs with their counts: made of windows, added up, merged, and read.

    key      a << 32 | b     int64, a and b concept numbers
    count    int32

What they are runs of, and how many there are, is the business of state/graph/cooccurrence.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from state.arrays import Counts, Integers, Mask

SPARSE = 64  # numbers to a pair, beyond which nothing is counted by number
BITS = 63  # of a number that is not negative
_LOW = np.int64(0xFFFFFFFF)


class Merging:
    """Two runs on their way to be one, from the least key on.

    What is merged already, and what is left of each, are runs by themselves: who reads, or counts on, needs not know.
    """

    def __init__(self, one: Sorted, other: Sorted) -> None:
        self._runs = [one, other]
        room = len(one.keys) + len(other.keys)
        self._keys, self._counts = np.empty(room, np.int64), np.empty(room, np.int32)
        self._done = 0
        self._levels = self._runs

    @property
    def left(self) -> int:
        """How many keys are still to be merged."""
        return sum(len(run.keys) for run in self._runs)

    def start(self, levels: Sequence[Sorted]) -> int:
        """Find where its runs begin among `levels`."""
        return next(place for place, level in enumerate(levels) if level is self._levels[0])

    def end(self, levels: Sequence[Sorted]) -> int:
        """Find where they end."""
        return self.start(levels) + len(self._levels)

    def step(self, most: int) -> list[Sorted]:
        """Merge about so many keys; give the runs that there are then, none of them empty."""
        ends = [int(run.keys[most]) for run in self._runs if len(run.keys) > most]
        upto = [len(run.keys) if not ends else int(np.searchsorted(run.keys, min(ends))) for run in self._runs]
        longer, shorter = (Sorted(run.keys[:end], run.counts[:end]) for run, end in zip(self._runs, upto, strict=True))
        merged = longer.merged(shorter)
        done = self._done + len(merged.keys)
        self._keys[self._done : done], self._counts[self._done : done] = merged.keys, merged.counts
        self._done = done
        self._runs = [Sorted(run.keys[end:], run.counts[end:]) for run, end in zip(self._runs, upto, strict=True)]
        whole = Sorted(self._keys[:done], self._counts[:done])
        self._levels = [run for run in (whole, *self._runs) if len(run.keys)]
        return self._levels


class Sorted:
    """Ascending distinct keys with their counts."""

    def __init__(self, keys: Integers, counts: Counts) -> None:
        self.keys = keys
        self.counts = counts

    @classmethod
    def empty(cls) -> Sorted:
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

    def has(self, keys: Integers) -> Mask:
        """Tell which of `keys` are here."""
        if not len(self.keys):
            return np.zeros(len(keys), np.bool_)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        here: Mask = self.keys[at] == keys
        return here

    @classmethod
    def sum_of(cls, runs: Sequence[Sorted]) -> Sorted:
        """Add runs up: what is in several has the sum of its counts."""
        if len(runs) == 1:
            return runs[0]
        keys = np.concatenate([run.keys for run in runs])
        order = np.argsort(keys, kind="stable")  # ascending runs: it only merges them
        keys, counts = keys[order], np.concatenate([run.counts for run in runs])[order]
        starts = starts_of(keys)
        return cls(keys[starts], np.add.reduceat(counts, starts, dtype=np.int32))

    @staticmethod
    def disjoint(runs: Sequence[Sorted]) -> tuple[Integers, Counts]:
        """Merge runs that have no key in common: keys and counts."""
        keys, counts = (np.concatenate([getattr(run, name) for run in runs]) for name in ("keys", "counts"))
        if len(runs) == 1:
            return keys, counts
        order = np.argsort(keys, kind="stable")
        return keys[order], counts[order]

    def merged(self, other: Sorted) -> Sorted:
        """Merge in a shorter run."""
        at = np.searchsorted(self.keys, other.keys)
        if len(self.keys) and (self.keys[np.minimum(at, len(self.keys) - 1)] == other.keys).any():
            return Sorted.sum_of([self, other])
        at += np.arange(len(other.keys))
        stays = np.ones(len(self.keys) + len(other.keys), np.bool_)
        stays[at] = False
        keys, counts = np.empty(len(stays), np.int64), np.empty(len(stays), np.int32)
        keys[at], counts[at] = other.keys, other.counts
        keys[stays], counts[stays] = self.keys, self.counts
        return Sorted(keys, counts)

    def places(self, keys: Integers) -> Integers:
        """Find where ascending `keys` are, (k,), -1 for those that are not here."""
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def without(self, places: Integers) -> Sorted:
        """Leave out what is at these places."""
        stays = np.ones(len(self.keys), np.bool_)
        stays[places] = False
        return Sorted(self.keys[stays], self.counts[stays])

    def one_way(self) -> Sorted:
        """Give the keys with a < b alone."""
        half = (self.keys >> 32) < (self.keys & _LOW)
        return Sorted(self.keys[half], self.counts[half])

    def both_ways(self) -> Sorted:
        """Lay out every pair, given as a < b, in both directions.

        A concept's neighbours below it, which are turned around and sorted, all stand before those above it.
        """
        turned, counts = _sorted_with((self.keys & _LOW) << 32 | self.keys >> 32, self.counts)
        concepts = int(turned[-1] >> 32) + 1 if len(turned) else 0
        if concepts > SPARSE * len(turned):
            both = np.concatenate((self.keys, turned))
            return Sorted(*_sorted_with(both, np.concatenate((self.counts, counts))))
        above = np.bincount(self.keys >> 32, minlength=concepts)
        below = np.bincount(turned >> 32, minlength=concepts)
        places = np.arange(len(turned))
        keys, found = np.empty(2 * len(turned), np.int64), np.empty(2 * len(turned), np.int32)
        at = places + np.repeat(np.cumsum(above) - above, below)
        keys[at], found[at] = turned, counts
        at = places + np.repeat(np.cumsum(below), above)
        keys[at], found[at] = self.keys, self.counts
        return Sorted(keys, found)

    def renumbered(self, numbers: Integers) -> Sorted:
        left, right = numbers[self.keys >> 32], numbers[self.keys & _LOW]
        stays = (left >= 0) & (right >= 0)
        return Sorted(left[stays] << 32 | right[stays], self.counts[stays])

    def edges(self, concepts: Integers) -> tuple[Integers, Integers, Integers]:
        starts = self.keys.searchsorted(concepts << 32)
        lengths = self.keys.searchsorted((concepts + 1) << 32) - starts
        position = np.arange(len(concepts)).repeat(lengths)
        within = np.arange(len(position)) - (lengths.cumsum() - lengths).repeat(lengths)
        at = starts[position] + within
        return position, self.keys[at] & _LOW, self.counts[at].astype(np.int64)


def _sorted_with(keys: Integers, counts: Counts) -> tuple[Integers, Counts]:
    """Sort distinct keys, and their counts with them.

    If all of it fits into 64 bits it is sorted as one number each, which takes a tenth of the time.
    """
    most = int(counts.max(initial=0)).bit_length()
    size = int((keys | keys >> 32).max(initial=0) & _LOW).bit_length()  # bits of a concept number: at least so many
    if 2 * size + most > BITS:
        order = np.argsort(keys)
        return keys[order], counts[order]
    packed = ((keys >> 32) << size | (keys & _LOW)) << most | counts
    packed.sort()
    counts = (packed & ((1 << most) - 1)).astype(np.int32)
    packed >>= most
    return (packed >> size) << 32 | (packed & ((1 << size) - 1)), counts


def starts_of(keys: Integers) -> Integers:
    """Find where each distinct key of a sorted, non-empty array begins."""
    changes = np.empty(len(keys), np.bool_)
    changes[0] = True
    np.not_equal(keys[1:], keys[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def counted(keys: Integers) -> Sorted:
    """Count how often each of `keys` is there.  Sorts `keys` in place."""
    keys.sort()
    starts = starts_of(keys)
    return Sorted(keys[starts], np.diff(starts, append=len(keys)).astype(np.int32))


def pair_keys(queue: Sequence[int], sizes: Sequence[int]) -> Integers:
    """Make one key per pair of each window."""
    concepts, lengths = np.array(queue, np.int64), np.array(sizes, np.int64)
    return np.concatenate([keys.ravel() for _, keys in _matrices(concepts, lengths)])


def _matrices(concepts: Integers, lengths: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Lay out the pairs of windows of equal size as one matrix: which windows (w,), and a key for each pair (w, k)."""
    starts = np.cumsum(lengths) - lengths
    for size in np.unique(lengths).tolist():
        windows = np.flatnonzero(lengths == size)
        rows = concepts[starts[windows][:, None] + np.arange(size)]
        rows.sort(axis=1)
        left, right = _pairs(size)
        yield windows, rows[:, left] << 32 | rows[:, right]


def pairs_of(concepts: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    """List the pairs of windows of distinct concepts that lie one behind the other: (m,) keys a << 32 | b, a < b.

    returns  besides, (m,) which window each is of
    """
    found = [(keys.ravel(), np.repeat(windows, keys.shape[1])) for windows, keys in _matrices(concepts, lengths)]
    keys, of = zip(*found, strict=True)
    return np.concatenate(keys), np.concatenate(of)


@lru_cache(maxsize=256)
def _pairs(size: int) -> tuple[Integers, Integers]:
    return np.triu_indices(size, 1)
