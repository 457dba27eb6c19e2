"""Pair counts as sorted int64 records: the form that pages hold and merges add up.

A pair is one int64, in both directions, so that the neighbours of `a` lie together; a count that its bits cannot hold
is several records:

    a 24 bits │ b 24 bits │ exchanges, or recalls, 10 bits │ turns 6 bits
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from state.arrays import Integers

Records = NDArray[Any]  # int64, ascending

ROW_BITS: Final = 24
MOST_ROWS: Final = 1 << ROW_BITS - 1  # else a record would be negative
_ROW = (1 << ROW_BITS) - 1
COUNT_BITS, TURN_BITS = 16, 6
_MOST_WINDOWS, _MOST_TURNS = (1 << COUNT_BITS - TURN_BITS) - 1, (1 << TURN_BITS) - 1
_COUNTS = (1 << COUNT_BITS) - 1


def encode(keys: Integers, exchanges: Integers, turns: Integers) -> Records:
    """Make records (m,) of pairs a << 32 | b, not sorted and perhaps several of one, and their counts; one way only."""
    return _with_counts((keys >> 32 << ROW_BITS | keys & 0xFFFFFFFF) << COUNT_BITS, exchanges, turns)


def both_ways(records: Records) -> Records:
    """Add up records, and sort them together with those of the same pairs the other way round."""
    records = added_up(records)
    pair, counts = records >> COUNT_BITS, records & _COUNTS
    turned = ((pair & _ROW) << ROW_BITS | pair >> ROW_BITS) << COUNT_BITS | counts
    both = np.concatenate((records, turned))
    both.sort(kind="stable")  # ascending runs: it only merges them
    return both


def _with_counts(keys: Integers, windows: Integers, turns: Integers) -> Records:
    """Write counts into as many records as they need, the first of each in their order."""
    made = [keys | np.minimum(windows, _MOST_WINDOWS) << TURN_BITS | np.minimum(turns, _MOST_TURNS)]
    while True:
        over = np.flatnonzero((windows > _MOST_WINDOWS) | (turns > _MOST_TURNS))
        if not len(over):
            return np.concatenate(made) if len(made) > 1 else made[0]
        keys = keys[over]
        windows, turns = np.maximum(windows[over] - _MOST_WINDOWS, 0), np.maximum(turns[over] - _MOST_TURNS, 0)
        made.append(keys | np.minimum(windows, _MOST_WINDOWS) << TURN_BITS | np.minimum(turns, _MOST_TURNS))


def added_up(records: Records) -> Records:
    """Sort records of pairs, and add up those of one pair."""
    records = np.sort(records, kind="stable")  # ascending runs: it only merges them where tables are merged
    windows, turns, pair = totals(records)
    if len(pair) == len(records):
        return records
    added = _with_counts(pair << COUNT_BITS, windows, turns)
    return added if len(added) == len(pair) else np.sort(added)


def totals(records: Records) -> tuple[Integers, Integers, Integers]:
    """Add up ascending records: windows (k,), turns (k,) and a << 24 | b of each pair, ascending."""
    pair = records >> COUNT_BITS
    if not len(pair):
        return (np.zeros(0, np.int64),) * 3
    is_first = np.append(True, pair[1:] != pair[:-1])
    windows, turns = counts(records)
    if is_first.all():
        return windows, turns, pair
    starts = np.flatnonzero(is_first)
    return np.add.reduceat(windows, starts), np.add.reduceat(turns, starts), pair[starts]


def counts(records: Records) -> tuple[Integers, Integers]:
    """Read the windows and the turns of each record."""
    return records >> TURN_BITS & _MOST_WINDOWS, records & _MOST_TURNS


def ends(records: Records) -> tuple[Integers, Integers]:
    """Read the rows of both concepts of each record."""
    pair = records >> COUNT_BITS
    return pair >> ROW_BITS, pair & _ROW


def pair_from(row: int, other: int) -> int:
    """Return the least record that this pair can have."""
    return (row << ROW_BITS | other) << COUNT_BITS
