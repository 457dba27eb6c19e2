"""Fold many mentions at once; the result for each concept is bit for bit that of `mention`, one by one.

    mentions, in the order of the log          sorted by concept, each concept's still in that order
    tea milk │ tea cake │ milk          ──▶    tea tea │ milk milk │ cake

A mention depends only on the latest time of the mentions before it.  So elapsed times, windows and decay are computed
for all mentions together; one plain loop adds up the strengths, because rounding depends on their order.
"""

from __future__ import annotations

from array import array
from math import ldexp
from typing import NamedTuple

import numpy as np

from state.arrays import Floats, Integers
from state.events.memory_settings import MemorySettings
from state.graph.tables.concept_table import ConceptTable
from state.graph.tables.decay import NEVER
from state.graph.tables.decay import factors as decay_factors


class Mentions(NamedTuple):
    """Concept number, event time (ms) and weight of m mentions, (m,) each, in the order of the log."""

    concept: Integers
    at: Integers
    weight: Floats


def fold(table: ConceptTable, mentions: Mentions, settings: MemorySettings) -> None:
    """Fold mentions of concepts that have a row."""
    if settings.stability or not len(mentions.concept):  # with stability, how one fades depends on each mention before
        for number, at, weight in zip(*(column.tolist() for column in mentions), strict=True):
            table.mention(number, weight, at=at, settings=settings)
        return
    order = np.argsort(mentions.concept, kind="stable")
    mentions = Mentions(mentions.concept[order], mentions.at[order], mentions.weight[order])
    starts = np.flatnonzero(np.diff(mentions.concept, prepend=-1))
    concepts, counts = mentions.concept[starts], np.diff(starts, append=len(order))
    latest = _latest(mentions.at, counts)
    last, before = latest[starts + counts - 1], np.concatenate(([-NEVER], latest[:-1]))
    before[starts] = -NEVER

    _strengthen(table, mentions, before, settings=settings)
    for column in (table.strength_at, table.accessed):
        _raise_to(column, concepts, last)
    np.frombuffer(table.in_turns, np.int64)[concepts] += counts
    np.frombuffer(table.archived, np.int8)[concepts] = 0
    _see(table, mentions, before, starts=starts, every=settings.consolidate_every)
    _raise_to(table.last_window, concepts, last - last % settings.consolidate_every)


def _latest(times: Integers, counts: Integers) -> Integers:
    """Find the largest time of the same concept up to each mention, (m,).

    counts  (k,) mentions of each concept

    The ranks of each concept's times are moved beyond those of the one before it: one running maximum serves all.
    """
    ordered, rank = np.unique(times, return_inverse=True)
    moved = np.repeat(np.arange(len(counts)) * len(ordered), counts)
    latest: Integers = ordered[np.maximum.accumulate(rank + moved) - moved]
    return latest


def _strengthen(table: ConceptTable, mentions: Mentions, before: Integers, *, settings: MemorySettings) -> None:
    """Decay each strength up to each mention, then add its weight.

    before  (m,) ms, the largest time of the same concept before each mention, -NEVER for none
    """
    since = np.maximum(before, np.frombuffer(table.strength_at, np.int64)[mentions.concept])
    factors = decay_factors(np.maximum(mentions.at - since, 0), settings.half_life)
    columns = *(column.tolist() for column in mentions), *factors
    strength, long_term, anchored = table.strength, table.long_term, table.anchored
    for number, at, weight, coarse, fine, power in zip(*columns, strict=True):
        if long_term[number] or anchored[number]:
            table.boost(number, weight, at=at, settings=settings)
        else:  # as `decayed` has it, written out: a call per mention costs a rebuild some time
            strength[number] = ldexp(strength[number] * coarse * fine, power) + weight


def _see(table: ConceptTable, mentions: Mentions, before: Integers, *, starts: Integers, every: int) -> None:
    """Count the consolidation windows that a mention is the first in; a late one was counted, or is too late."""
    seen = np.maximum(before - before % every, np.frombuffer(table.last_window, np.int64)[mentions.concept])
    is_first = (mentions.at - mentions.at % every > seen).astype(np.int64)
    np.frombuffer(table.seen_windows, np.int64)[mentions.concept[starts]] += np.add.reduceat(is_first, starts)


def _raise_to(column: array[int], concepts: Integers, values: Integers) -> None:
    """Raise the column's values of these distinct concepts to `values` (k,), where they are lower."""
    view = np.frombuffer(column, np.int64)
    view[concepts] = np.maximum(view[concepts], values)
