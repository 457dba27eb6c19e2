"""Integer co-occurrence counts of one graph and one kind of window: how often two concepts were seen together.

    key      a << 32 | b     int64, a and b concept numbers
    count    int32
    queue    windows that no pair was made of yet, one behind the other
    counted  sorted runs of keys with a < b that are in no other form yet
    unstored the same, of what was counted since all was stored; None if nothing is stored
    half     sorted runs of keys with a < b, counted but never read; RUNS of one size become one of the next
    levels   sorted keys of every pair in both directions, so the neighbours of `a` are one contiguous run in each; each
             LEVEL times as long as the next, but for what is being merged; no key in two of them
    fan      distinct neighbours of each concept, counted as keys come into the levels
    stored   pairs that stay in the store (counting/stored_pairs.py): all others here come on top of them, and
             what is here and there adds up.  So does all that was stored of many pairs, until the first read

A window only queues its concepts (O(concepts)); pairs are made later, many windows at once and vectorised, and come
into the form that readers need at the first read (`settle`): a rebuild never does, nor a graph that only listens.
Either form is merged so that a key is moved a few times in all, however many there are.
Counts are integers, so neither order nor batching of windows can change them.  PPMI is derived from them at read
time: the number of windows changes with every turn, so a stored weight would always be stale.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from math import inf
from typing import NamedTuple

import numpy as np

from state.arrays import Counts, Integers, Mask
from state.graph.counting.pair_merge import StoredPairsJoin
from state.graph.counting.sorted_pairs import LevelMerge, Sorted, counted, starts_of
from state.graph.counting.stored_pairs import PairWindow, StoredPairs
from state.graph.tables.lists import longer

QUEUED_PAIRS = 1 << 16  # at most: bounds the work of the next read after a burst
UNREAD_PAIRS = 1 << 18  # the same, before the first read: bounds memory
RUNS = 8
LEVEL = 4
SMALLEST_LEVEL = 1 << 12  # keys
MERGED_AT_ONCE = 1 << 18  # keys: what takes longer to be merged is, piece by piece (`merge_some`)
MOST_WAITING = 8  # levels behind those that are being merged, which wait for that
MANY = 1 << 18  # pairs, in both directions: from so many on, the store holds the number of neighbours of each concept
SPILL_ABOVE = 1 << 20  # the same, which stay in the store until the first read
LOOKED_UP = 1 << 15  # pairs that are looked up in a store at once, and not too dear
SMALL_BITS = 16  # of a concept number, so that two of them are a number of 32 bits
_LOW = np.int64(0xFFFFFFFF)
_LOW_SMALL = np.int64((1 << SMALL_BITS) - 1)


class PairCounts:
    """Symmetric pair counts.  Every reader settles first, which changes only the form of the counts."""

    def __init__(self) -> None:
        self._queue = array("i")
        self._sizes = array("i")  # of the windows in the queue
        self._queued = 0  # pairs in the queue
        self._counted: list[Sorted] = []
        self._unstored: list[Sorted] | None = None
        self._half: list[_PairRun] = []  # longest first
        self._levels: list[Sorted] = []  # likewise
        self._merging: LevelMerge | None = None  # of some of those, one behind the other
        self._joining: StoredPairsJoin | None = None  # what was stored, all of it read, and what is in them
        self._few: Sorted | None = (
            None  # likewise, but so little that it is counted as if it were new: few ever read it
        )
        self._fan: Integers | None = None  # until first use
        self.stored: StoredPairs | None = None
        self._window: PairWindow = "turn"  # which of those
        self._uncounted: list[Integers] = []  # keys with a < b that may be there, too, and are in no fan yet
        self.fans_are_stored = False  # what is stored tells the fans of all concepts, but for those that changed since
        self._was_cut = False  # more is stored of some pairs than counts

    def attach_stored(self, stored: StoredPairs, window: PairWindow, fan: Integers | None) -> None:
        """Count on top of what is stored.

        fan  (n,) the distinct neighbours of each concept there, None if unknown: they would be counted
        """
        self.stored, self._window, self._fan = stored, window, fan
        self.fans_are_stored = fan is not None

    def spill(self, stored: StoredPairs, window: PairWindow) -> None:
        """Leave all that was counted to the store, which has it: until the first read."""
        self._counted, self._half, self._levels, self._merging = [], [], [], None
        self.stored, self._window = stored, window

    @property
    def can_spill(self) -> bool:
        """Return whether what is stored may be left to the store: none was read yet, or it is there already."""
        if self.stored is not None:
            return self.stored.grows
        return not (self._levels or self._was_cut or self._fan is not None)

    def prepare(self, most: float = inf) -> bool:
        """Read so many of the stored pairs, if code that reads needs all of them; return whether there are more."""
        if self.stored is None or self._fan is not None:
            return False
        self.stored.freeze()
        return self.stored.load(most)

    def take_stored(self, keys: Integers, counts: Counts) -> None:
        """Keep what was stored: ascending keys, every pair in both directions; all is kept, and changed."""
        self.begin_to_join(keys, counts, None)
        while self.join(inf):
            pass
        self.end_joining()

    def begin_to_join(self, keys: Integers, counts: Counts, fan: Integers | None) -> None:
        """Begin to join what was stored, as `take_stored`, with all that was counted since.

        fan  (k,) the distinct neighbours of each concept there, if they were counted
        """
        stored = Sorted(keys, counts)
        if self._window == "turn" and not self._levels and len(keys) < MANY:
            self._few = stored.one_way()
            return
        self.settle()
        self._joining = StoredPairsJoin(stored, fan, self._levels)

    def join(self, most: float) -> bool:
        """Join so many keys; return whether there are more."""
        return self._joining is not None and self._joining.step(most)

    def end_joining(self) -> None:
        """Replace what was stored, and what was counted on top, by the joined runs."""
        joined, few, self.stored = self._joining, self._few, None
        self._joining = self._few = None
        if few is not None and len(few.keys):
            self._add_run(few)
        if joined is None:
            return
        stored, *new = joined.runs()
        if joined.fan is not None:
            self._fan, self._uncounted = joined.fan, []
        elif self._fan is not None:
            self._count_new(stored.has)
        self._put_levels([stored, *new])
        self._merge_levels()

    @property
    def size(self) -> int:
        """Return the approximate memory use in bytes."""
        runs = [*self._counted, *(self._unstored or ()), *(run.pairs for run in self._half), *self._levels]
        distinct = {id(run): int(run.keys.nbytes + run.counts.nbytes) for run in runs}  # some are in both
        others = [*self._uncounted, *([] if self._fan is None else [self._fan])]
        waiting = 4 * (len(self._queue) + len(self._sizes)) + (self._joining.size if self._joining else 0)
        return sum(distinct.values()) + sum(column.nbytes for column in others) + waiting

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
        if self._queued >= QUEUED_PAIRS and (self._queued >= UNREAD_PAIRS or self._levels):
            self._count_queue()

    def _count_queue(self) -> None:
        """Count the queued windows.  Once there are readers, what is not in the form that they read must stay small."""
        self._only_count()
        if self._counted:
            runs, self._counted = self._counted, []
            for run in runs:
                self._add_run(run)
            if self._levels:
                self.settle()

    def _only_count(self) -> None:
        """Count the queued windows, and leave them at that: as much work as there are."""
        if self._queued:
            run = _count_pairs(self._queue, self._sizes)
            self._queue, self._sizes, self._queued = array("i"), array("i"), 0
            self._counted.append(run)
            if self._unstored is not None:
                self._unstored.append(run)

    def unstored(self) -> tuple[Integers, Counts]:
        """List the keys with a < b that were counted since all was stored, and how often, (pairs,) each.

        It is as much work as there are of them, whatever else is here.
        """
        if self._unstored is None:
            return self.canonical()
        self._only_count()
        runs = [run for run in self._unstored if len(run.keys)]
        total = Sorted.sum_of(runs) if runs else Sorted.empty()
        self._unstored = [total]
        return total.keys, total.counts

    def is_stored(self) -> None:
        """Note that all that was counted has been stored."""
        self._only_count()
        self._unstored = []

    def is_not_stored(self) -> None:
        """Note that what was counted is not stored, or all of it has to be stored."""
        if self.stored is not None:
            self.stored.load()
        self._unstored, self.fans_are_stored = None, False

    def _add_run(self, run: Sorted) -> None:
        self._half.append(_PairRun(0, run))
        while len(self._half) >= RUNS and self._half[-RUNS].merges == self._half[-1].merges:
            merged = Sorted.sum_of([each.pairs for each in self._half[-RUNS:]])
            self._half[-RUNS:] = [_PairRun(self._half[-1].merges + 1, merged)]

    def _whole_half(self) -> Sorted:
        """Merge the unread runs into one, and return it."""
        if not self._half:
            return Sorted.empty()
        if len(self._half) > 1:
            self._half = [_PairRun(self._half[0].merges, Sorted.sum_of([each.pairs for each in self._half]))]
        return self._half[0].pairs

    def settle(self) -> None:
        """Bring everything into the form that is read."""
        self._count_queue()
        if self._half:
            half, self._half = self._whole_half(), []
            self._take(half.both_ways())

    def _take(self, settled: Sorted) -> None:
        keys, counts = settled.keys, settled.counts
        if self._joining is not None:
            self._joining.add(keys, counts)
        for level in self._levels:
            is_known = level.increment(keys, counts)
            keys, counts = keys[~is_known], counts[~is_known]
        if len(keys):
            if self.stored is None:
                self._count_fans(keys >> 32)
            elif self._fan is not None:
                self._uncounted.append(keys[keys >> 32 < keys & _LOW])
            self._levels.append(Sorted(keys, counts))
            self._merge_levels()

    def _count_fans(self, concepts: Integers) -> None:
        """Count one neighbour more for each of ascending `concepts`, once anybody has asked for fans."""
        if self._fan is None:
            return
        self._fan = longer(self._fan, int(concepts[-1]) + 1)
        if len(concepts) * LEVEL > len(self._fan):
            self._fan += np.bincount(concepts, minlength=len(self._fan))
        else:
            np.add.at(self._fan, concepts, 1)

    def _count_new(self, is_there: Callable[[Integers], Mask]) -> None:
        """Count the fans of what came since on top of what is stored, but for the pairs that are there, too."""
        if self._uncounted:
            keys, self._uncounted = np.sort(np.concatenate(self._uncounted)), []
            keys = keys[~is_there(keys)]
            if len(keys):
                self._count_fans(np.sort(np.concatenate((keys >> 32, keys & _LOW))))

    def _put_levels(self, levels: Iterable[Sorted]) -> None:
        """Set the levels, without empty ones, and stop the merge that was in progress."""
        self._levels, self._merging = [level for level in levels if len(level.keys)], None

    def _merge_levels(self) -> None:
        """Merge what is short at once, and begin to merge what is longer, if nothing else is being merged."""
        levels = self._levels
        if self._merging is not None and len(levels) > self._merging.among(levels).stop + MOST_WAITING:
            self._merge_on(self._merging.left)
        while len(levels) > self._untouched + 1:
            before, last = levels[-2:]
            if len(before.keys) >= max(LEVEL * len(last.keys), SMALLEST_LEVEL):
                return
            if len(before.keys) + len(last.keys) > MERGED_AT_ONCE:
                self._merging = self._merging or LevelMerge(before, last)
                return
            levels[-2:] = [before.inserted(last)]

    @property
    def _untouched(self) -> int:
        """Return the number of first levels that must stay unchanged until they are merged."""
        return 0 if self._merging is None else self._merging.among(self._levels).stop

    def merge_some(self, most: int) -> bool:
        """Merge about so many keys of levels, if there are any to merge; return whether there were."""
        if self._merging is None:
            return False
        self._merge_on(most)
        return True

    def _merge_on(self, most: int) -> None:
        assert self._merging is not None  # noqa: S101 - who calls has seen to it
        part = self._merging.among(self._levels)
        self._levels[part] = self._merging.step(most)
        if not self._merging.left:
            self._merging = None
            self._merge_levels()

    def __len__(self) -> int:
        """Count the unordered pairs."""
        if self.stored is not None and (self.stored.grows or self._fan is not None):
            return int(self._fans().sum()) // 2
        return len(self.canonical()[0])

    def __bool__(self) -> bool:
        """Return whether any pair was counted, without counting what is queued."""
        return bool(self._queued or self._counted or self._half or self._levels or self.stored)

    def neighbours(self, concepts: Integers) -> tuple[Integers, Integers, Integers]:
        """Find every edge that leaves `concepts`, ordered by (position, neighbour).

        concepts  (k,)  concept numbers
        returns   (m,) position in `concepts`, (m,) neighbour's concept number, (m,) count
        """
        if self.stored is not None and self.stored.grows:
            self.stored.load()
        self.settle()
        parts = [level.edges(concepts) for level in self._levels] or [Sorted.empty().edges(concepts)]
        if self.stored is not None:
            parts.append(self.stored.edges(self._window, concepts))
        position, neighbour, count = (np.concatenate(column) for column in zip(*parts, strict=True))
        # The split into levels depends on when it was settled; the order of what is returned must not.
        edges = position << 32 | neighbour
        order = edges.argsort(kind="stable")
        if self.stored is None:
            return position[order], neighbour[order], count[order]
        edges = edges[order]
        starts = starts_of(edges) if len(edges) else order
        edges = edges[starts]
        return edges >> 32, edges & _LOW, np.add.reduceat(count[order], starts) if len(edges) else count

    def fan(self, concepts: int) -> Integers:
        """Count the distinct neighbours of each concept number below `concepts`, (concepts,): not to be kept."""
        fan = self._fan = longer(self._fans(), concepts)
        return fan[:concepts]

    def _fans(self) -> Integers:
        """Count the distinct neighbours of all concepts, and perhaps of some more, which have none."""
        self.settle()
        if self._fan is None and self.stored is not None:
            self.stored.load()
        if self._fan is None:
            self._fan = np.zeros(0, np.int64)
            for level in self._levels:
                self._count_fans(level.keys >> 32)
        if self.stored is not None:
            self._count_new(self.stored.has)
        return self._fan

    @property
    def are_many(self) -> bool:
        """Return whether so many pairs were counted, about, that it is worth while to store their fans."""
        one_way = [*self._counted, *(run.pairs for run in self._half)]
        settled_pairs = sum(len(run.keys) for run in self._levels) + 2 * sum(len(run.keys) for run in one_way)
        return settled_pairs + 2 * self._queued + (self.stored.records if self.stored else 0) >= MANY

    @property
    def knows_fans(self) -> bool:
        """Return whether it is little work to count the fans: what is counted was read before."""
        waiting = sum(map(len, self._uncounted)) + sum(len(run.pairs.keys) for run in self._half) + self._queued
        return waiting <= LOOKED_UP and self._fan is not None if self.stored is not None else bool(self._levels)

    def renumber(self, numbers: Integers) -> None:
        """Renumber concept i to numbers[i], and forget the pairs of those with -1.

        numbers  (n,) ascending but for the -1, so the keys stay sorted

        Code that calls this renumbers what is stored behind it.
        """
        self._count_queue()
        if not (numbers < 0).any():
            return
        self._joining = self._few = None
        fan = None if self.stored is None or self._fan is None else self._fan_without(numbers < 0)
        self._unstored = self._unstored and [each.renumbered(numbers) for each in self._unstored]
        half = (each._replace(pairs=each.pairs.renumbered(numbers)) for each in self._half)
        self._half = [each for each in half if len(each.pairs.keys)]
        left = (level.renumbered(numbers) for level in self._levels)
        self._put_levels(left)
        self._fan = fan
        self._merge_levels()
        self.fans_are_stored = False

    def _fan_without(self, gone: Mask) -> Integers:
        """Count the fans of the concepts that stay once these (n,) are gone."""
        fan = self.fan(len(gone)).copy()
        _, neighbour, _ = self.neighbours(np.flatnonzero(gone))
        np.subtract.at(fan, neighbour, 1)
        return fan[~gone]

    def drop(self, keys: Integers) -> Counts:
        """Forget the pairs of these distinct keys with a < b, (k,); return how often each was counted, 0 for none."""
        if self.stored is not None:
            self.stored.load()
        self._was_cut = True
        self.settle()
        dropped = np.zeros(len(keys), np.int32)
        order = np.argsort(keys)
        one_way, other_way = keys[order], np.sort((keys & _LOW) << 32 | keys >> 32)
        for place, level in enumerate(self._levels):
            at = level.places(one_way)
            dropped[order] += np.where(at >= 0, level.counts[at], 0).astype(np.int32)
            gone = np.concatenate((at, level.places(other_way)))
            self._levels[place] = level.without(gone[gone >= 0])
        self._put_levels(self._levels)
        self._fan = None
        self.fans_are_stored = False
        return dropped

    def lessen(self, keys: Integers, by: int) -> Counts:
        """Count the pairs of these distinct keys with a < b, (k,), so often less; those that are left with 0 go.

        returns  (k,) how often each was counted before: what has to be taken from what is stored, as what is left is
                 counted again
        """
        counts = self.drop(keys)
        left = np.repeat(keys, np.maximum(counts - by, 0))
        ends = np.stack((left >> 32, left & _LOW), axis=1).ravel().astype(np.int32)
        self.add_all(ends, np.full(len(left), 2, np.int32))
        return counts

    def take_away(self, keys: Integers, counts: Counts) -> None:
        """Count pairs with a < b, (k,), each perhaps several times, so often less; those that are left with 0 go."""
        self._was_cut = True
        self.settle()
        distinct, of = np.unique(keys, return_inverse=True)
        less = np.bincount(of, counts, len(distinct)).astype(np.int32)
        turned = (distinct & _LOW) << 32 | distinct >> 32
        order = np.argsort(turned)
        for place, level in enumerate(self._levels):
            for ascending, away in ((distinct, less), (turned[order], less[order])):
                at = level.places(ascending)
                level.counts[at[at >= 0]] -= away[at >= 0]
            self._levels[place] = level.without(np.flatnonzero(level.counts <= 0))
        self._put_levels(self._levels)
        self._fan = None

    def canonical(self) -> tuple[Integers, Counts]:
        """List the keys with a < b, ascending, and their counts, (pairs,) each: the same for equal counts."""
        self._count_queue()
        if self.stored is not None:
            self.settle()
            runs = [level.one_way() for level in self._levels]
            total = Sorted.sum_of([Sorted(*self.stored.one_way(self._window)), *runs])
            return total.keys, total.counts
        if not self._levels:  # never read
            half = self._whole_half()
            return half.keys, half.counts
        self.settle()
        return Sorted.disjoint([level.one_way() for level in self._levels])

    @classmethod
    def of_canonical(cls, keys: Integers, counts: Counts) -> PairCounts:
        """Build the counts that `canonical` described."""
        pairs = cls()
        if len(keys):
            pairs._half = [_PairRun(0, Sorted(np.array(keys), np.array(counts)))]
        return pairs


class _PairRun(NamedTuple):
    """A run, and how many merges it came from, one upon the other."""

    merges: int
    pairs: Sorted


def _count_pairs(queue: Sequence[int], sizes: Sequence[int]) -> Sorted:
    """Count the pairs of each window, at least one.

    Where all concept numbers are small, a pair is sorted as one number of 32 bits: that takes half the time.
    """
    concepts, lengths = np.array(queue, np.int64), np.array(sizes, np.int64)
    if concepts.max() >> SMALL_BITS:
        return counted(_all_keys(concepts, lengths, 32))
    run = counted(_all_keys(concepts.astype(np.uint32), lengths, SMALL_BITS))
    keys = run.keys.astype(np.int64)
    return Sorted(keys >> SMALL_BITS << 32 | keys & _LOW_SMALL, run.counts)


def _all_keys(concepts: Integers, lengths: Integers, bits: int) -> Integers:
    """Make one key per pair of each window, a << bits | b."""
    return np.concatenate([keys.ravel() for _, keys in _matrices(concepts, lengths, bits)])


def _matrices(concepts: Integers, lengths: Integers, bits: int = 32) -> Iterator[tuple[Integers, Integers]]:
    """Lay out the pairs of windows of equal size as one matrix: which windows (w,), and a key for each pair (w, k)."""
    starts = np.cumsum(lengths) - lengths
    for size in np.unique(lengths).tolist():
        windows = np.flatnonzero(lengths == size)
        rows = concepts[starts[windows][:, None] + np.arange(size)]
        rows.sort(axis=1)
        left, right = _pairs(size)
        yield windows, rows[:, left] << bits | rows[:, right]


def pairs_of(concepts: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    """List the pairs of windows of distinct concepts that lie one behind the other: (m,) keys a << 32 | b, a < b.

    returns  besides, (m,) which window each is of
    """
    keyed = [(keys.ravel(), np.repeat(windows, keys.shape[1])) for windows, keys in _matrices(concepts, lengths)]
    keys, of = zip(*keyed, strict=True)
    return np.concatenate(keys), np.concatenate(of)


@lru_cache(maxsize=256)
def _pairs(size: int) -> tuple[Integers, Integers]:
    return np.triu_indices(size, 1)
