"""Turns counted many at once: their mentions, and which concepts stood together.

That is a third less work than one by one, and a rebuild does little else.

    passages    0 ───── counted ────── first ─── wait ─── now
                                         │ postings (concept numbers) and their weights
    concepts    strength, in_turns, in_exchanges, …   ◀──┤ as of `first`; after `count`, as of now
    pairs       turn, exchange                        ◀──┘

A turn's windows are not kept for that: they are its postings, and those of the turn before it in its session.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from state.concept_table import ConceptTable
from state.cooccurrence import PairCounts
from state.passage_table import PassageTable
from state.presets import MemorySettings
from state.view import Window


def count(
    passages: PassageTable,
    first: int,
    weights: NDArray[np.float64],
    concepts: ConceptTable,
    pairs: Mapping[Window, PairCounts],
    settings: MemorySettings,
) -> None:
    """Count the passages from `first` on, of which there is one at least, in `concepts` and `pairs`.

    weights   (m,) of their postings
    settings  those that held when they were said

    Nothing may have been forgotten since they were said: what stood together is told from what is here.
    """
    numbers, sizes = passages.postings(first)
    times = np.repeat(np.array(passages.at[first:]), sizes)
    concepts.mention(numbers.astype(np.int64), times, weights, settings)
    pairs["turn"].add_all(numbers, sizes)
    turns, exchanged = passages.exchanges(first)
    alive = np.frombuffer(concepts.alive, np.bool_)[exchanged]  # the turn before may hold what was forgotten
    exchanged = exchanged[alive]
    concepts.exchange(exchanged)
    pairs["exchange"].add_all(exchanged.astype(np.int32), np.bincount(turns[alive]).astype(np.int32))
