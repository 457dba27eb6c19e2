"""Sorted runs of pairs with their counts: added up, merged, searched, turned to be read from either end.

    key      a << 32 | b     int64, a and b concept numbers, ascending and distinct
    count    int32

state/graph/counting/cooccurrence.py decides what the runs hold, and how many there are.

A long run is searched by every EVERYth key first: those lie together, and most of the way to a key is found in the
processor's cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np

from state.arrays import Counts, Integers, Mask

SPARSE: Final = 64  # numbers to a pair, beyond which nothing is counted by number
BITS: Final = 63  # of a number that is not negative
EVERY: Final = 256  # keys: a power of two
LONG = 1 << 18  # keys of a run, from which on it is searched so
CLOSE = 64  # keys of a run for each that is looked for: with fewer, one is found near the one before
_LOW = np.int64(0xFFFFFFFF)


class LevelMerge:
    """Two runs that have no key in common on their way to be one, from the least key on.

    The merged part, and the rest of each input, are valid runs: readers and counters need not know of the merge.
    """

    def __init__(self, one: Sorted, other: Sorted) -> None:
        self._left = [one, other]
        room = len(one.keys) + len(other.keys)
        self._keys, self._counts = np.empty(room, np.int64), np.empty(room, np.int32)
        self._done = 0
        self._runs = self._left

    @property
    def left(self) -> int:
        """Return the number of keys that are still to be merged."""
        return sum(len(run.keys) for run in self._left)

    def among(self, levels: Sequence[Sorted]) -> slice:
        """Find where its runs lie among `levels`, one behind the other."""
        start = next(place for place, level in enumerate(levels) if level is self._runs[0])
        return slice(start, start + len(self._runs))

    def step(self, most: int) -> list[Sorted]:
        """Merge between `most` and twice as many keys, if there are so many; return the runs after that."""
        ends = [int(run.keys[most]) for run in self._left if len(run.keys) > most]
        upto = [int(np.searchsorted(run.keys, min(ends))) if ends else len(run.keys) for run in self._left]
        one, other = (run.part(slice(end)) for run, end in zip(self._left, upto, strict=True))
        merged = one.inserted(other)
        done = self._done + len(merged.keys)
        self._keys[self._done : done], self._counts[self._done : done] = merged.keys, merged.counts
        self._done = done
        self._left = [run.part(slice(end, None)) for run, end in zip(self._left, upto, strict=True)]
        self._runs = [run for run in (Sorted(self._keys[:done], self._counts[:done]), *self._left) if len(run.keys)]
        return self._runs


class Sorted:
    """Ascending distinct keys with their counts."""

    def __init__(self, keys: Integers, counts: Counts) -> None:
        self.keys = keys
        self.counts = counts

    @classmethod
    def empty(cls) -> Sorted:
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int32))

    def part(self, part: slice) -> Sorted:
        """Return a part, which shares its counts with this run."""
        return Sorted(self.keys[part], self.counts[part])

    @cached_property
    def _some(self) -> Integers:
        """Every EVERYth key."""
        return self.keys[::EVERY].copy()

    def find(self, keys: Integers) -> Integers:
        """Find where each of `keys` (k,) is, or would be put in before all that are greater, (k,)."""
        if len(self.keys) < max(LONG, CLOSE * len(keys)):
            return self.keys.searchsorted(keys)
        at: Integers = np.maximum(np.searchsorted(self._some, keys, "right") - 1, 0) * EVERY
        step = EVERY // 2
        while step:  # the last one that is not greater, if any is not
            beyond = np.minimum(at + step, len(self.keys) - 1)
            at = np.where(self.keys[beyond] <= keys, beyond, at)
            step //= 2
        return at + (self.keys[at] < keys)

    def increment(self, keys: Integers, counts: Counts) -> Mask:
        """Add `counts` to the keys that are here; return which were."""
        if not len(self.keys):
            return np.zeros(len(keys), np.bool_)
        at = self.find(keys)
        at[at == len(self.keys)] = 0
        is_known: Mask = self.keys[at] == keys
        self.counts[at[is_known]] += counts[is_known]
        return is_known

    def has(self, keys: Integers) -> Mask:
        """Return which of `keys` are here."""
        if not len(self.keys):
            return np.zeros(len(keys), np.bool_)
        at = np.minimum(self.find(keys), len(self.keys) - 1)
        is_there: Mask = self.keys[at] == keys
        return is_there

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

    def inserted(self, other: Sorted) -> Sorted:
        """Merge in a shorter run that has no key in common with this one."""
        at = self.find(other.keys) + np.arange(len(other.keys))
        stays = np.ones(len(self.keys) + len(other.keys), np.bool_)
        stays[at] = False
        keys, counts = np.empty(len(stays), np.int64), np.empty(len(stays), np.int32)
        keys[at], counts[at] = other.keys, other.counts
        keys[stays], counts[stays] = self.keys, self.counts
        return Sorted(keys, counts)

    def places(self, keys: Integers) -> Integers:
        """Find where ascending `keys` are, (k,), -1 for those that are not here."""
        at = np.minimum(self.find(keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)

    def without(self, places: Integers) -> Sorted:
        """Leave out what is at these places."""
        stays = np.ones(len(self.keys), np.bool_)
        stays[places] = False
        return Sorted(self.keys[stays], self.counts[stays])

    def one_way(self) -> Sorted:
        """Return the keys with a < b alone."""
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
        keys, both_counts = np.empty(2 * len(turned), np.int64), np.empty(2 * len(turned), np.int32)
        at = places + np.repeat(np.cumsum(above) - above, below)
        keys[at], both_counts[at] = turned, counts
        at = places + np.repeat(np.cumsum(below), above)
        keys[at], both_counts[at] = self.keys, self.counts
        return Sorted(keys, both_counts)

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
    packed.sort(kind="stable")  # mostly ascending runs, which it only merges
    counts = (packed & ((1 << most) - 1)).astype(np.int32)
    packed >>= most
    return (packed >> size) << 32 | (packed & ((1 << size) - 1)), counts


def starts_of(keys: Integers) -> Integers:
    """Find where each distinct key of a sorted array begins."""
    changes = np.empty(len(keys), np.bool_)
    changes[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def counted(keys: Integers) -> Sorted:
    """Count how often each of `keys` is there.  Sorts `keys` in place."""
    keys.sort()
    starts = starts_of(keys)
    return Sorted(keys[starts], np.diff(starts, append=len(keys)).astype(np.int32))
