"""Turns counted: their mentions, and which concepts stood together.  Many at once are a third less work.

    passages    0 ───── counted ────── first ─── wait ─── now
                                         │ postings (concept numbers) and their weights
    concepts    strength, in_turns, in_exchanges, …   ◀──┤ as of `first`; after `count`, as of now
    pairs       turn, exchange                        ◀──┘

A turn's windows are not kept for that: they are its postings, and those of the turn before it in its session, but for
concepts that were forgotten since that one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from state import mentions
from state.concept_table import ConceptTable
from state.cooccurrence import PairCounts
from state.passage_table import PassageTable
from state.presets import MemorySettings
from state.view import Window

FEW = 8  # turns that are sooner counted one by one: a worker that is asked after every turn has no more


def count(
    passages: PassageTable,
    first: int,
    weights: Sequence[float],
    concepts: ConceptTable,
    pairs: Mapping[Window, PairCounts],
    settings: MemorySettings,
) -> None:
    """Count the passages from `first` on, of which there is one at least, in `concepts` and `pairs`.

    weights   (m,) of their postings
    settings  those that held when they were said

    Nothing may have been forgotten since they were said: what stood together is told from what is here.
    """
    concepts.grow()
    counting = _count_one_by_one if len(passages) - first < FEW else _count_at_once
    counting(passages, first, weights, concepts, pairs, settings)


def _count_one_by_one(
    passages: PassageTable,
    first: int,
    weights: Sequence[float],
    concepts: ConceptTable,
    pairs: Mapping[Window, PairCounts],
    settings: MemorySettings,
) -> None:
    left = iter(weights)
    for passage in range(first, len(passages)):
        numbers, at = passages.concepts_of(passage), passages.at[passage]
        for number in numbers:
            concepts.mention(number, at, next(left), settings)
        previous = (number for number in passages.concepts_before(passage) if concepts.alive[number])
        exchange = list({*previous, *numbers})
        for number in exchange:
            concepts.in_exchanges[number] += 1
        pairs["turn"].add(numbers)
        pairs["exchange"].add(exchange)


def _count_at_once(
    passages: PassageTable,
    first: int,
    weights: Sequence[float],
    concepts: ConceptTable,
    pairs: Mapping[Window, PairCounts],
    settings: MemorySettings,
) -> None:
    numbers, sizes = passages.postings(first)
    times = np.repeat(np.array(passages.at[first:]), sizes)
    mentions.fold(concepts, numbers.astype(np.int64), times, np.array(weights), settings)
    pairs["turn"].add_all(numbers, sizes)
    turns, exchanged = passages.exchanges(first)
    alive = np.frombuffer(concepts.alive, np.bool_)[exchanged]
    turns, exchanged = turns[alive], exchanged[alive]
    np.add.at(np.frombuffer(concepts.in_exchanges, np.int64), exchanged, 1)
    pairs["exchange"].add_all(exchanged.astype(np.int32), np.bincount(turns).astype(np.int32))
