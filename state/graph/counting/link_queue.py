"""Find links that fade: compute how long each lasts, and queue the earliest time at which one is gone.

    strength   how often two concepts were in an exchange, or recalled, together: a count
    left       after a time of silence as of a concept (decay.py): by the half-life, by the power law where both ends
               are long-term, or one less for every `links_step`
    gone       once less than `links_below` is left, at the next decay window

The time at which two concepts were last said together is not stored: it is derived from the turns, so graphs without
fading links pay nothing for it.  It is rebuilt after a load, and after something is forgotten.  Updating it turn by
turn or all at once has the same result.
"""

from __future__ import annotations

import numpy as np

from emgas.limits import EARLIEST_MS
from state.arrays import Integers, Mask
from state.events.memory_settings import MemorySettings
from state.graph.counting.cooccurrence import pairs_of
from state.graph.tables.concept_table import ConceptTable
from state.graph.tables.decay import NEVER, lifetime, lifetime_long
from state.graph.tables.passage_table import PassageTable

NOT_YET = -(2**62)  # when two concepts were said together that never were
RECENT = 4  # a part of what is known, beyond which what came since is brought together with it


class LinkQueue:
    """Times at which pairs of concepts were last in an exchange, and the earliest time at which a link may be gone.

    earliest  ms; code that looks at all links sets it, whatever touches one lowers it
    """

    def __init__(self) -> None:
        self.earliest = EARLIEST_MS  # before the first look
        self._keys, self._times = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._recent: list[tuple[Integers, Integers]] = []

    @property
    def size(self) -> int:
        """Return the memory use in bytes."""
        return sum(keys.nbytes + times.nbytes for keys, times in [(self._keys, self._times), *self._recent])

    @classmethod
    def of(cls, concepts: ConceptTable, passages: PassageTable, settings: MemorySettings) -> LinkQueue:
        """Find when the pairs of all turns were last said together."""
        queue = cls()
        if len(passages):
            queue.add(concepts, passages, 0, settings)
            queue.earliest = EARLIEST_MS
        return queue

    def add(self, concepts: ConceptTable, passages: PassageTable, first: int, settings: MemorySettings) -> None:
        """Note the exchanges of the passages from `first` on, at least one."""
        turns, numbers = passages.exchanges(first, list(concepts.phrases))
        times = np.array(passages.at[first:], np.int64)
        if not len(times):
            return
        keys, of = pairs_of(numbers, np.bincount(turns, minlength=len(times)))
        self._recent.append(_latest(keys, times[of]))
        self.touched(int(times.min()), settings)

    def touched(self, at: int, settings: MemorySettings) -> None:
        """Note that links were made or strengthened at `at` (ms): none of them goes before its least life is over."""
        self.earliest = min(self.earliest, at + min(lifetime_of(1, settings, is_long=which) for which in (False, True)))

    def look_again(self) -> None:
        """Note that something may let links go sooner than it seemed."""
        self.earliest = EARLIEST_MS

    def last(self, keys: Integers) -> Integers:
        """Return when the pairs of these keys (m,), a << 32 | b with a < b, were last in an exchange, ms; NOT_YET."""
        if sum(len(each) for each, _ in self._recent) * RECENT > len(self._keys):
            runs = [(self._keys, self._times), *self._recent]
            self._keys, self._times = _latest(*(np.concatenate(each) for each in zip(*runs, strict=True)))
            self._recent = []
        times = _looked_up(self._keys, self._times, keys)
        for run in self._recent:
            np.maximum(times, _looked_up(*run, keys), out=times)
        return times


def _latest(keys: Integers, times: Integers) -> tuple[Integers, Integers]:
    """Sort keys, and keep of each the latest time."""
    if not len(keys):
        return keys, times
    order = np.argsort(keys, kind="stable")
    keys, times = keys[order], times[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[starts], np.maximum.reduceat(times, starts)


def _looked_up(keys_known: Integers, times: Integers, keys: Integers) -> Integers:
    if not len(keys_known):
        return np.full(len(keys), NOT_YET)
    at = np.minimum(np.searchsorted(keys_known, keys), len(keys_known) - 1)
    return np.where(keys_known[at] == keys, times[at], NOT_YET)


def lifetime_of(count: int, settings: MemorySettings, *, is_long: bool) -> int:
    """Compute after how many ms of silence a link of this strength is gone, at most NEVER.

    is_long  whether both of its ends are long-term
    """
    if not settings.fades_links:
        return NEVER
    if settings.links_step:
        return min(count * settings.links_step, NEVER)
    if is_long:
        return lifetime_long(count, settings.links_below, tau=settings.long_tau, beta=settings.long_beta)
    half_life = settings.half_life * (100 + settings.stability * (count - 1)) // 100
    return min(lifetime(count, settings.links_below, half_life), NEVER)


def lifetimes(counts: Integers, is_long: Mask, settings: MemorySettings) -> Integers:
    """Compute the lifetimes of links of these strengths, (m,)."""
    kinds, inverse = np.unique(counts * 2 + is_long, return_inverse=True)
    lives = [lifetime_of(int(kind) >> 1, settings, is_long=bool(kind & 1)) for kind in kinds]
    return np.array(lives, np.int64)[inverse]
