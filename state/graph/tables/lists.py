"""Many growing lists of integers in one buffer, such as the turns of a concept, or of a session.

    slot of list 0      slot of list 1        slot of list 2 …
    │ 3 8 9 │ · │       │ 1 │               │ 0 2 4 5 7 │ · · · │

A list that outgrows its slot moves to the end, into a slot of twice the size.  So appending takes constant time on
average, and no list is scattered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from state.arrays import Counts, Integers

LEAST_ROOM: Final = 4


class Growable:
    """An array that grows at its end; what is added is zeros until it is written."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._rows: NDArray[Any] = np.zeros(0, dtype)
        self.size = 0

    def grow(self, size: int) -> None:
        """Make the array at least this long."""
        if size > len(self._rows):
            more = np.zeros(max(size, 2 * len(self._rows)) - len(self._rows), self._rows.dtype)
            self._rows = np.concatenate((self._rows, more))
        self.size = max(self.size, size)

    def begin(self, rows: NDArray[Any]) -> None:
        """Hold these rows, to be kept, and no other."""
        self._rows, self.size = rows.astype(self._rows.dtype, copy=False), len(rows)

    @property
    def rows(self) -> NDArray[Any]:
        """The array as it is now; to be read or written at once, and not kept."""
        return self._rows[: self.size]

    @property
    def taken(self) -> int:
        """Return the memory use in bytes."""
        return int(self._rows.nbytes)


class Lists:
    """Lists by key, 0 and up, of rows of as many int32 columns as are named."""

    def __init__(self, columns: int = 1) -> None:
        self._start, self._length, self._room = (Growable(np.int64) for _ in range(3))
        self._columns = [Growable(np.int32) for _ in range(columns)]
        self._end = 0

    def grow(self, keys: int) -> None:
        """Grow to at least so many lists."""
        for each in (self._start, self._length, self._room):
            each.grow(keys)

    def extend(self, keys: Integers | Counts, *values: Integers | Counts) -> None:
        """Append values (m,), a column each, to the lists `keys` (m,), to each in the order given."""
        if not len(keys):
            return
        self.grow(int(keys.max()) + 1)
        order = stable_order(keys)
        if not self._end:
            self._begin(keys, [rows[order] for rows in values])
            return
        ordered = keys[order]
        first = np.flatnonzero(np.diff(ordered, prepend=-1))
        distinct, added = ordered[first].astype(np.int64), np.diff(first, append=len(keys))
        self._make_room(distinct, added)
        length = self._length.rows
        at = ragged(self._start.rows[distinct] + length[distinct], added)
        for column, rows in zip(self._columns, values, strict=True):
            column.rows[at] = rows[order]
        length[distinct] += added

    def _begin(self, keys: Integers | Counts, columns: Sequence[Integers | Counts]) -> None:
        """Lay out the first lists, whose rows are ordered by key: each as long as it is."""
        length = np.bincount(keys, minlength=self._start.size)
        self._start.rows[:] = np.cumsum(length) - length
        self._length.rows[:] = self._room.rows[:] = length
        self._end = len(keys)
        for column, rows in zip(self._columns, columns, strict=True):
            column.begin(rows)

    def _make_room(self, keys: Integers, added: Integers) -> None:
        """Move those of distinct lists that have no room for `added` more rows."""
        start, length, room = self._start.rows, self._length.rows, self._room.rows
        tight = length[keys] + added > room[keys]
        keys, needed = keys[tight], (length[keys] + added)[tight]
        if not len(keys):
            return
        wider = np.where(room[keys] == 0, needed, np.maximum(2 * needed, LEAST_ROOM))
        new_start = self._end + np.cumsum(wider) - wider
        self._end += int(wider.sum())
        old, new = ragged(start[keys], length[keys]), ragged(new_start, length[keys])
        for column in self._columns:
            column.grow(self._end)
            column.rows[new] = column.rows[old]
        start[keys], room[keys] = new_start, wider

    def of(self, key: int) -> tuple[Counts, ...]:
        """Return one list, column by column: to be read at once, and not kept."""
        if key >= self._start.size:
            return tuple(np.zeros(0, np.int32) for _ in self._columns)
        start = int(self._start.rows[key])
        end = start + int(self._length.rows[key])
        return tuple(column.rows[start:end] for column in self._columns)

    def of_all(self, keys: Integers) -> tuple[Integers, ...]:
        """Copy the lists of `keys` (k,), one behind the other: (m,) the position of each key, then the columns."""
        start, length = self._start.rows[keys], self._length.rows[keys]
        at = ragged(start, length)
        copies = (column.rows[at].astype(np.int64) for column in self._columns)
        return (np.arange(len(keys)).repeat(length), *copies)

    @property
    def taken(self) -> int:
        """Return the memory use in bytes."""
        return sum(each.taken for each in (self._start, self._length, self._room, *self._columns))

    @property
    def lengths(self) -> Integers:
        """The length of each list, (keys,): to be read at once, and not kept."""
        return self._length.rows


def stable_order(keys: Integers | Counts) -> Integers:
    """Find the order (m,) that sorts keys from 0 to 2³¹, equal ones as they stand: a tenth of the time of argsort."""
    if (keys[1:] >= keys[:-1]).all():
        return np.arange(len(keys))
    placed = keys.astype(np.int64) << 32
    placed |= np.arange(len(keys))
    placed.sort()
    placed &= np.int64(0xFFFFFFFF)
    return placed


def ragged(start: Integers, length: Integers) -> Integers:
    """List start[i] … start[i] + length[i] − 1 for every i, one behind the other."""
    ends: Integers = length.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    positions: Integers = np.arange(total) + (start - (ends - length)).repeat(length)
    return positions


def longer(column: Integers, size: int) -> Integers:
    """Make a column at least so long, with zeros, and room for more if it was not."""
    if size <= len(column):
        return column
    return np.concatenate((column, np.zeros(size + size // 4 - len(column), np.int64)))
