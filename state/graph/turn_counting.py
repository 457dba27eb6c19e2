"""Turns counted: their mentions, and which concepts stood together.  Many at once are a third less work.

    a turn's postings, with their weights    ──▶  concepts: strength, in_turns, seen_windows, …
    its window: the concepts in it           ──▶  pairs["turn"]
    its exchange: those, and the concepts    ──▶  pairs["exchange"], and in_exchanges of concepts
      of the turn before it in its session

Windows are not kept for that: they are found again in the postings.  What was forgotten since the turn before was said
is in no exchange.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from state.events.memory_settings import MemorySettings
from state.graph import mentions
from state.graph.concept_table import ConceptTable
from state.graph.cooccurrence import PairCounts
from state.graph.passage_table import PassageTable
from state.graph.view import Window

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
