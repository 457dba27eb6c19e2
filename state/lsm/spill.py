"""Pairs that nobody reads rest in the store: what was flushed of them is let go of in memory.

A graph that listens, and is not asked, holds only what is not flushed yet.  Who reads a kind of window first loads it
(counting/stored_pairs.py), and from then on it stays: a question needs to know of each new pair whether it is new,
to count the neighbours of concepts, and what the store holds is not looked up for so many.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from state.graph.counting import cooccurrence
from state.graph.counting.stored_pairs import Runs, Said, StoredPairs
from state.graph.graph import Graph

_WINDOWS: Final[tuple[Said, ...]] = ("exchange", "turn")


def rest(graph: Graph, said: Runs, *, begin: bool) -> None:
    """Leave the pairs of a graph that was just stored to its store, as far as nobody has read any.

    said   all of what is stored of them: it may grow, and be brought together, while they rest
    begin  whether windows may that do not yet: not where what is stored may be unreadable soon
    """
    begin = begin and not graph.settings.fades_links and said.records >= cooccurrence.RESTING
    resting: list[Said] = [
        window for window in _WINDOWS if (pairs := graph.pairs[window]).may_rest and (begin or pairs.stored is not None)
    ]
    if resting:
        rows = np.array(graph.concepts.rows, np.int64)
        numbers = np.full(graph.concepts.born + 1, -1)
        numbers[rows] = np.arange(len(rows))
        for window in resting:
            pairs = graph.pairs[window]
            pairs.rest_again(StoredPairs(said, rows, numbers, {window: pairs}, grows=True), window)
