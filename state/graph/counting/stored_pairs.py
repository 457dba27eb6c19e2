"""The pairs of one graph that were counted before it was opened: they stay in the store, and are read as needed.

    a question     reads the pages in which the neighbours of its concepts lie, a few of every run
    `load`         reads all of them, a piece at a time, into the form that counts in memory have

The same holds for pairs that a growing graph (`grows`) has stored and not read yet: their first read loads all.

They do not change: later counts are added to them (PairCounts).  A run holds the pairs of one table of the graph
(state/lsm/table.py): records of the section `said` (state/lsm/record_types.py), by rows of concepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from state.arrays import Counts, Integers, Mask
from state.graph.counting import pair_records
from state.graph.counting.pair_merge import with_neighbours
from state.graph.counting.pair_records import Records
from state.graph.tables.lists import ragged

PIECE = 1 << 16  # pairs that are read at once: some milliseconds
FEW = 1 << 18  # pairs that are sooner copied than kept with room to spare, and joined in one go
PairWindow = Literal["turn", "exchange"]
_LOW = np.int64(0xFFFFFFFF)


class SortedRuns(Protocol):
    """Sorted records of pairs, in as many runs as there are; they never change."""

    @property
    def records(self) -> int:
        """Return an upper bound of the number of records."""

    def bounds(self, most: int) -> Sequence[int | None]:
        """Part all records into pieces of about `most`: ascending keys, None at either end; no pair is torn apart."""

    def within(self, first: int | None, last: int | None) -> Records:
        """Read all records from the key `first` to before `last`, ascending; several of one pair may be there."""

    def pages_around(self, firsts: Integers, lasts: Integers) -> Iterator[Records]:
        """Read of each run, ascending, all records from firsts[i] to before lasts[i] (k,), and some beside them."""

    def snapshot(self) -> SortedRuns:
        """Return these runs as they are, whatever is added or brought together from here on."""

    @property
    def size(self) -> int:
        """Return the memory use in bytes of pages that were read."""


class PairCounter(Protocol):
    """The counter of one kind of window, which adds to the stored pairs."""

    def settle(self) -> None:
        """Bring everything that was counted into the form that is read."""

    def begin_to_join(self, keys: Integers, counts: Counts, fan: Integers | None) -> None:
        """Keep what was stored: ascending keys, every pair in both directions, and how often each was counted.

        fan  (k,) of exchanges, the distinct neighbours of each concept there; those behind have none
        """

    def join(self, most: float) -> bool:
        """Join so many keys that were counted on top with what was stored; return whether there are more."""

    def end_joining(self) -> None:
        """Rest on the store no more."""


class _Edges(NamedTuple):
    """Records of edges: (m,) position of the concept that was asked for, number of the other one, and the record."""

    position: Integers
    neighbour: Integers
    record: Records


class StoredPairs:
    """The pairs of said windows, as of the opening of the graph, or its last flush.

    rows     (n,) of the concepts that there were then, ascending
    numbers  (born + 1,) the concept of each row, -1 for what was forgotten
    counted  who counts each of these windows on top of it
    grows    whether runs are brought together, and others added with the next flush, while this rests on them
    """

    def __init__(
        self,
        runs: SortedRuns,
        rows: Integers,
        numbers: Integers,
        counted: Mapping[PairWindow, PairCounter],
        *,
        grows: bool = False,
    ) -> None:
        self._runs, self._rows, self._numbers, self._counted = runs, rows, numbers, counted
        self.grows = grows
        self._loading: _Loader | None = None
        self._are_read = False  # and are being joined with what was counted since

    @property
    def size(self) -> int:
        """Return the memory use in bytes."""
        return self._runs.size + (self._loading.size if self._loading else 0)

    @property
    def records(self) -> int:
        """Return an upper bound of the number of pairs, in both directions."""
        return self._runs.records

    def edges(self, window: PairWindow, concepts: Integers) -> tuple[Integers, Integers, Integers]:
        """Find the edges that leave `concepts` (k,), in any order, and one of them several times: counts add up.

        returns  (m,) position in `concepts`, (m,) neighbour's concept number, (m,) count
        """
        position, neighbour, record = self._edges(concepts)
        count = _count(window, record)
        is_real = (neighbour >= 0) & (count > 0)
        return position[is_real], neighbour[is_real], count[is_real]

    def _edges(self, concepts: Integers) -> _Edges:
        stored_places = np.flatnonzero(concepts < len(self._rows))
        firsts = self._rows[concepts[stored_places]] << pair_records.ROW_BITS + pair_records.COUNT_BITS
        lasts = firsts + (1 << pair_records.ROW_BITS + pair_records.COUNT_BITS)
        edges = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        for records in self._runs.pages_around(firsts, lasts):
            start = np.searchsorted(records, firsts)
            length = np.searchsorted(records, lasts) - start
            edges.append((np.repeat(stored_places, length), records[ragged(start, length)]))
        position, record = (np.concatenate(column) for column in zip(*edges, strict=True))
        return _Edges(position, self._numbers[pair_records.ends(record)[1]], record)

    def has(self, keys: Integers) -> Mask:
        """Return which of the pairs a << 32 | b, a < b, were ever together in an exchange."""
        one, other, was_seen = keys >> 32, keys & _LOW, np.zeros(len(keys), np.bool_)
        places = np.flatnonzero(other < len(self._rows))
        if len(places):  # by the later one, which is the rarer one mostly: its neighbours lie in one page
            firsts = self._rows[other[places]] << pair_records.ROW_BITS | self._rows[one[places]]
            firsts <<= pair_records.COUNT_BITS
            for records in self._runs.pages_around(firsts, firsts + (1 << pair_records.COUNT_BITS)):
                at = np.minimum(np.searchsorted(records, firsts), len(records) - 1)
                was_seen[places] |= records[at] >> pair_records.COUNT_BITS == firsts >> pair_records.COUNT_BITS
        return was_seen

    def one_way(self, window: PairWindow) -> tuple[Integers, Counts]:
        """List the keys with a < b, ascending, and their counts, (pairs,) each."""
        all_keys, all_counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
        for keys, exchanges, turns in self._totals():
            counts = exchanges if window == "exchange" else turns
            is_wanted = (counts > 0) & (keys >> 32 < keys & _LOW)
            all_keys.append(keys[is_wanted])
            all_counts.append(counts[is_wanted].astype(np.int32))
        return np.concatenate(all_keys), np.concatenate(all_counts)

    def renumber(self, numbers: Integers) -> None:
        """Renumber concept i to numbers[i], and forget those with -1.  Those that stay keep their order."""
        before = numbers[: len(self._rows)]
        self._numbers = np.append(before, -1)[self._numbers]  # -1: the last, and stays so
        self._rows, self._loading, self._are_read = self._rows[before >= 0], None, False

    def freeze(self) -> None:
        """Rest on what is stored now: what is flushed from here on stays in memory, too, and no runs are to go."""
        if self.grows:
            self._runs, self.grows, self._loading = self._runs.snapshot(), False, None

    def load(self, most: float = inf) -> bool:
        """Read on, as many records as that, or join as many with what was counted since; return whether there are more.

        Once there are none, all is counted in memory alone.
        """
        if not self._are_read and self._read(most):
            return True
        for counted in self._counted.values():
            while counted.join(most):
                if most < inf:
                    return True
        for counted in self._counted.values():
            counted.end_joining()
        return False

    def _read(self, most: float) -> bool:
        """Read so many records; return whether there are more: else they are being joined from here on."""
        if self._runs.records >= FEW:
            for counted in self._counted.values():
                counted.settle()  # as they come: to be joined, all of them have to be
        if self._loading is None:
            self._loading = _Loader(self._totals(), self._runs.records, self._counted)
        if self._loading.step(most):
            return True
        loaded, self._loading, self._are_read = self._loading, None, True
        for window, counted in self._counted.items():
            counted.begin_to_join(*loaded.columns_of(window))
        return False

    def _totals(self) -> Iterator[tuple[Integers, Integers, Integers]]:
        """Yield pieces of keys, every pair in both directions, ascending, with its exchanges and turns, (m,) each."""
        for first, last in pairwise(self._runs.bounds(PIECE)):
            yield _numbered(pair_records.totals(self._runs.within(first, last)), self._numbers)


def _count(window: PairWindow, records: Records) -> Integers:
    exchanges, turns = pair_records.counts(records)
    return exchanges if window == "exchange" else turns


def _numbered(totals: tuple[Integers, Integers, Integers], numbers: Integers) -> tuple[Integers, Integers, Integers]:
    """Map summed pairs of rows to keys of numbers, without what was forgotten."""
    windows, turns, pair = totals
    one, other = numbers[pair >> pair_records.ROW_BITS], numbers[pair & (1 << pair_records.ROW_BITS) - 1]
    alive = (one >= 0) & (other >= 0)
    keys = one << 32 | other
    return (keys, windows, turns) if alive.all() else (keys[alive], windows[alive], turns[alive])


class _Loader:
    """All pairs, as far as they have been read."""

    def __init__(
        self, pieces: Iterator[tuple[Integers, Integers, Integers]], records: int, windows: Iterable[PairWindow]
    ) -> None:
        self._pieces = pieces
        self._columns = {window: _PairColumns(records, has_fan=window == "exchange") for window in windows}

    @property
    def size(self) -> int:
        """Return the memory use in bytes."""
        return sum(each.size for each in self._columns.values())

    def step(self, most: float) -> bool:
        """Read on, as many records as that; return whether there are more."""
        done = 0
        while done < most:
            piece = next(self._pieces, None)
            if piece is None:
                return False
            keys, exchanges, turns = piece
            for window, columns in self._columns.items():
                count = exchanges if window == "exchange" else turns
                is_counted = count > 0
                columns.extend(keys[is_counted], count[is_counted])
            done += len(keys)
        return True

    def columns_of(self, window: PairWindow) -> tuple[Integers, Counts, Integers | None]:
        """Return the keys of a window, how often each was counted, and the distinct neighbours of each concept."""
        return self._columns[window].take()


class _PairColumns:
    """The pairs of one window, as far as they have been read, and the fans of those that have any."""

    def __init__(self, records: int, *, has_fan: bool) -> None:
        self._keys, self._counts = _GrowingArray(np.int64, records), _GrowingArray(np.int32, records)
        self._fan = np.zeros(0, np.int64) if has_fan else None

    @property
    def size(self) -> int:
        return self._keys.size + self._counts.size + (0 if self._fan is None else self._fan.nbytes)

    def extend(self, keys: Integers, counts: Integers) -> None:
        self._keys.extend(keys)
        self._counts.extend(counts)
        if self._fan is not None:
            self._fan = with_neighbours(self._fan, keys)

    def take(self) -> tuple[Integers, Counts, Integers | None]:
        return self._keys.take(), self._counts.take(), self._fan


class _GrowingArray:
    """An array that is filled from its beginning: what is not filled yet takes no memory."""

    def __init__(self, dtype: type[np.generic], room: int) -> None:
        self._rows: NDArray[Any] = np.empty(room, dtype)
        self._end = 0

    @property
    def size(self) -> int:
        return self._end * self._rows.itemsize

    @property
    def rows(self) -> NDArray[Any]:
        return self._rows[: self._end]

    def take(self) -> NDArray[Any]:
        """Return the rows, to be kept: what is not filled is memory all the same where there is little of it."""
        return self.rows.copy() if len(self._rows) < FEW else self.rows

    def extend(self, rows: NDArray[Any]) -> None:
        end = self._end + len(rows)
        if end > len(self._rows):  # pages were larger once
            self._rows = np.concatenate((self.rows, np.empty(end, self._rows.dtype)))
        self._rows[self._end : end] = rows
        self._end = end
