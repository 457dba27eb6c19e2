"""Count co-occurrence in wider windows than the fold does: rounds, k turns, sessions; computed on first use.

    round    a stretch of a session that ends before one of its speakers speaks again: a question and
             what is answered to it.  Consecutive turns of one speaker count as one.  If a session has only one
             speaker, each turn is a round
    session  all turns of a session
    k        k turns of a session, one after the other, as they follow upon each other: a window for every turn

A round of more than LONGEST turns is cut, and a session of more than LONG_SESSION.  Only `turn` and `exchange` (k = 1
and 2) are counted by the fold: what is derived here is no state, and costs the question that needs it, once for every
change of the graph.  Windows hold what is still there: the counts of the fold know of forgotten turns too.  Seed 000
§2.3.
"""

from __future__ import annotations

from array import array
from typing import Final, Literal, NamedTuple

import numpy as np

from state.arrays import Integers, Mask
from state.errors import TooMuchAskedError
from state.graph.counting.cooccurrence import PairCounts
from state.graph.counting.session_layout import SessionOrder

DerivedWindow = Literal["round", "session"]
LONGEST: Final = 8  # turns of a round, and k: pairs grow with the square of it
LONG_SESSION: Final = 64  # turns
MOST_PAIRS: Final = 20_000_000  # that are counted: some seconds


class Derived(NamedTuple):
    """The counts: the number of windows, the windows of each of n concepts, and their pairs."""

    total: int
    seen: array[int]
    pairs: PairCounts


def derived(
    kind: DerivedWindow | int,
    order: SessionOrder,
    speaker: Integers,
    postings: tuple[Integers, Integers],
    concepts: int,
) -> Derived:
    """Count what occurred together.

    speaker  (p,) who said each passage
    held     (m,) the passage and the concept of each posting that is in windows
    concepts n

    Raises TooMuchAskedError where there are too many pairs.
    """
    of, members = _windows(kind, order, speaker)
    total = int(of.max(initial=-1)) + 1
    window, concept = _member_postings(of, order.order[members], postings, len(order.order))
    keys = np.unique(window * max(concepts, 1) + concept)
    window, concept = keys // max(concepts, 1), keys % max(concepts, 1)
    sizes = np.bincount(window, minlength=total)
    if (sizes * (sizes - 1) // 2).sum() > MOST_PAIRS:
        raise TooMuchAskedError(f"windows of this kind ({kind}) hold too many pairs in this graph: take `exchange`")
    pairs = PairCounts()
    pairs.add_all(concept.astype(np.int32), sizes.astype(np.int32))
    return Derived(total, array("q", np.bincount(concept, minlength=concepts).tobytes()), pairs)


def _windows(kind: DerivedWindow | int, order: SessionOrder, speaker: Integers) -> tuple[Integers, Integers]:
    """List the members of all windows: (m,) the window's number, (m,) the place of a turn in it."""
    places = np.arange(len(order.order))
    if isinstance(kind, int):
        back = np.repeat(np.arange(min(kind, LONGEST)), len(places))
        of = np.tile(places, min(kind, LONGEST))
        is_here = of - back >= order.start[of]
        return of[is_here], (of - back)[is_here]
    if kind == "session":
        begins = (places - order.start) % LONG_SESSION == 0
    else:
        begins = _round_begins(order, speaker[order.order])
    return np.cumsum(begins) - 1, places


def _round_begins(order: SessionOrder, speaker: Integers) -> Mask:
    """Return (p,) at which places a round begins."""
    begins = np.zeros(len(speaker), np.bool_)
    had_their_say: set[int] = set()
    length = before = 0
    is_alone = False
    rows = zip(speaker.tolist(), order.start.tolist(), order.end.tolist(), strict=True)
    for place, (who, start, end) in enumerate(rows):
        if place == start:
            is_alone = len(set(speaker[start:end].tolist())) == 1
        speaks_again = who in had_their_say and (who != before or is_alone)
        if place == start or speaks_again or length == LONGEST:
            begins[place] = True
            had_their_say, length = set(), 0
        had_their_say.add(who)
        before, length = who, length + 1
    return begins


def _member_postings(
    of: Integers, passage: Integers, postings: tuple[Integers, Integers], passages: int
) -> tuple[Integers, Integers]:
    """List (m,) the window and the concept of everything that stands in a window."""
    at, concept = postings
    starts = np.searchsorted(at, np.arange(passages + 1))
    sizes = (starts[1:] - starts[:-1])[passage]
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(of, sizes), concept[np.repeat(starts[:-1][passage], sizes) + within]
