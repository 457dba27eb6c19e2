"""Which pairs of concepts were ever seen: an exact set that takes 6 to 13 bytes a pair, and many at once.

    pair   ──▶  47 bits, mixed so that none is lost   ──▶  16 bits: a bucket    31 bits: its value there

A bucket is a row of slots in which a value is looked for by double hashing; 0 is an empty slot.  All buckets have as
many slots; before they get full, each is copied into one twice as large, some of them with every call, so no call takes
long, and more of them when there is time (`move_some`).  What finds its bucket full, by whatever bad luck or skill of
who speaks, is listed beside.

It tells of each pair whether it is new, which nothing sorted does without merging, and holds no counts.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from state.arrays import Integers, Mask

_END_BITS: Final = 23  # of a concept's number; state/graph/sections.py stores no more
_BITS: Final = 2 * _END_BITS + 1
_VALUE_BITS: Final = 31
BUCKETS: Final = 1 << _BITS - _VALUE_BITS
_ALL, _VALUE = (np.uint64((1 << bits) - 1) for bits in (_BITS, _VALUE_BITS))
_FIRST, _SECOND = np.uint64(0x5851F42D4C95), np.uint64(0x2545F4914F6D)  # odd, so that multiplying loses nothing
_FOLDED: Final = np.uint64(24)  # bits: more than half of them, so that what is folded in can be taken out again
_SHIFT, _ONE = np.uint64(_VALUE_BITS), np.uint64(1)
LEAST: Final = 64  # slots of a bucket
MOST_LOAD: Final = 0.75  # of slots: with more, values are looked for in too many of them
SURE: Final = 6  # standard deviations by which a bucket may hold more than others
MOVED: Final = 1  # slots that are moved for each pair that comes, while buckets move
TOO_FULL: Final = 0.9  # of slots: then all that is left is moved at once
_Words = NDArray[Any]  # unsigned


class PairSet:
    """A set of pairs a << 32 | b, a < b < 2^23."""

    def __init__(self) -> None:
        self._slots = np.zeros(LEAST * BUCKETS, np.uint32)
        self._larger: _Words | None = None  # twice as many, while buckets move
        self._moved = 0  # buckets that have
        self._beside = np.zeros(0, np.uint64)  # mixed pairs whose buckets are full, ascending
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def size(self) -> int:
        """How much memory it takes, bytes."""
        return self._slots.nbytes + (0 if self._larger is None else self._larger.nbytes)

    def add(self, keys: Integers) -> Mask:
        """Add distinct pairs (k,); tell which were not there."""
        self._make_room(len(keys))
        mixed = _mixed(keys)
        new = np.ones(len(keys), np.bool_)
        if len(self._beside):
            new = ~np.isin(mixed, self._beside)
        listed = mixed[new]
        found = np.zeros(len(listed), np.bool_)
        has_moved = (listed >> _SHIFT).astype(np.int64) < self._moved
        for slots, here in ((self._larger, has_moved), (self._slots, ~has_moved)):
            if slots is not None:
                found[here] = self._put(slots, listed[here])
        new[new] = found
        self._count += int(np.count_nonzero(found))
        return new

    def _make_room(self, coming: int) -> None:
        """Begin to move once buckets are as full as they may be, and go on with it."""
        each = len(self._slots) // BUCKETS
        if self._larger is None and self._count + coming > BUCKETS * _bearable(each):
            self._larger, self._moved = np.zeros(2 * len(self._slots), np.uint32), 0
        if self._larger is not None:
            is_full = self._count + coming > TOO_FULL * len(self._slots)
            self._move(self._larger, BUCKETS if is_full else MOVED * coming // each + 1)

    def move_some(self, most: int) -> bool:
        """Move about so many slots, if buckets move; tell whether they did."""
        if self._larger is None:
            return False
        self._move(self._larger, most * BUCKETS // len(self._slots) + 1)
        return True

    def _move(self, larger: _Words, buckets: int) -> None:
        """Move so many buckets more."""
        each, last = len(self._slots) // BUCKETS, min(self._moved + buckets, BUCKETS)
        here = self._slots[self._moved * each : last * each]
        taken = np.flatnonzero(here)
        place = (taken // each + self._moved).astype(np.uint64)
        self._put(larger, place << _SHIFT | here[taken].astype(np.uint64) - _ONE)
        self._moved = last
        if last == BUCKETS:
            self._slots, self._larger, self._moved = larger, None, 0

    def _put(self, slots: _Words, mixed: _Words) -> Mask:
        """Put mixed pairs (k,) into their buckets; tell which were not there."""
        each = len(slots) // BUCKETS
        begins, last = (mixed >> _SHIFT).astype(np.int64) * each, each - 1
        values = ((mixed & _VALUE) + _ONE).astype(np.uint32)
        place, step = values.astype(np.int64) & last, (values >> np.uint32(15)).astype(np.int64) | 1
        new, left = np.zeros(len(values), np.bool_), np.arange(len(values))
        for _ in range(each):
            at, value = begins[left] + place[left], values[left]
            held = slots[at]
            is_free = held == 0
            slots[at[is_free]] = value[is_free]  # of several that come to one slot, the last one has it
            held[is_free] = slots[at[is_free]]
            is_there = held == value
            new[left[is_free & is_there]] = True
            left = left[~is_there]
            if not len(left):
                return new
            place[left] = place[left] + step[left] & last
        self._beside = np.union1d(self._beside, mixed[left])
        new[left] = True
        return new


def _bearable(slots: int) -> float:
    """Compute how many pairs, on average, buckets of so many slots may hold: Poisson's law has hardly any overflow."""
    return min(MOST_LOAD * slots, slots + SURE**2 / 2 - SURE * sqrt(slots + SURE**2 / 4))


def _mixed(keys: Integers) -> _Words:
    """Mix pairs (k,) into 47 bits each, no two of them into the same."""
    mixed: _Words = (keys >> 32 << _END_BITS | keys & 0xFFFFFFFF).astype(np.uint64)
    for factor in (_FIRST, _SECOND):
        mixed = mixed * factor & _ALL
        mixed ^= mixed >> _FOLDED
    return mixed
