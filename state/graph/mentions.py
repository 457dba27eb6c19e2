"""Many mentions folded at once: what is done to each concept is, bit by bit, what `mention` does one by one.

    mentions, in the order of the log          sorted by concept, each concept's still in that order
    tea milk │ tea cake │ milk          ──▶    tea tea │ milk milk │ cake

All that a mention needs to know of those before it is the latest time of any: so elapsed times, windows and what decay
takes are computed for all mentions in one go, and one plain loop adds up the strengths, as rounding depends on order.
"""

from __future__ import annotations

from array import array
from math import ldexp

import numpy as np
from numpy.typing import NDArray

from state.events.memory_settings import MemorySettings
from state.graph.concept_table import ConceptTable
from state.graph.decay import NEVER, factors

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def fold(table: ConceptTable, numbers: Integers, times: Integers, weights: Floats, settings: MemorySettings) -> None:
    """Fold mentions of concepts that have a row.

    numbers, times, weights  (m,) concept number, event time (ms) and weight of each mention, in order
    """
    if settings.stability or not len(numbers):  # with stability, how a strength fades depends on each mention before
        for number, time, weight in zip(numbers.tolist(), times.tolist(), weights.tolist(), strict=True):
            table.mention(number, time, weight, settings)
        return
    order = np.argsort(numbers, kind="stable")
    numbers, times, weights = numbers[order], times[order], weights[order]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    concepts, counts = numbers[starts], np.diff(starts, append=len(numbers))
    latest = _latest(times, counts)
    last, before = latest[starts + counts - 1], np.concatenate(([-NEVER], latest[:-1]))
    before[starts] = -NEVER

    _strengthen(table, numbers, times, before, weights, settings)
    for column in (table.strength_at, table.accessed):
        _raise_to(column, concepts, last)
    np.frombuffer(table.in_turns, np.int64)[concepts] += counts
    _see(table, numbers, times, before, starts, settings.consolidate_every)
    _raise_to(table.last_window, concepts, last - last % settings.consolidate_every)


def _latest(times: Integers, counts: Integers) -> Integers:
    """Return (m,) the largest time of the same concept up to each mention.

    counts  (k,) mentions of each concept

    The ranks of each concept's times are moved beyond those of the one before it: one running maximum serves all.
    """
    ordered, rank = np.unique(times, return_inverse=True)
    moved = np.repeat(np.arange(len(counts)) * len(ordered), counts)
    latest: Integers = ordered[np.maximum.accumulate(rank + moved) - moved]
    return latest


def _strengthen(
    table: ConceptTable, numbers: Integers, times: Integers, before: Integers, weights: Floats, settings: MemorySettings
) -> None:
    since = np.maximum(before, np.frombuffer(table.strength_at, np.int64)[numbers])
    taken = factors(np.maximum(times - since, 0), settings.half_life)
    columns = numbers.tolist(), times.tolist(), weights.tolist(), *taken
    strength, long_term = table.strength, table.long_term
    for number, time, weight, coarse, fine, power in zip(*columns, strict=True):
        if long_term[number]:
            table.boost(number, weight, time, settings)
        else:
            strength[number] = ldexp(strength[number] * coarse * fine, power) + weight


def _see(
    table: ConceptTable, numbers: Integers, times: Integers, before: Integers, starts: Integers, every: int
) -> None:
    """Count the consolidation windows that a mention is the first in; a late one was counted, or is too late."""
    seen = np.maximum(before - before % every, np.frombuffer(table.last_window, np.int64)[numbers])
    is_first = (times - times % every > seen).astype(np.int64)
    np.frombuffer(table.seen_windows, np.int64)[numbers[starts]] += np.add.reduceat(is_first, starts)


def _raise_to(column: array[int], concepts: Integers, values: Integers) -> None:
    """Raise the column's values of these distinct concepts to `values` (k,), where they are lower."""
    view = np.frombuffer(column, np.int64)
    view[concepts] = np.maximum(view[concepts], values)
