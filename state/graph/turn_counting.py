"""Turns counted: their mentions, and which concepts stood together.  Many at once are a third less work.

    a turn's postings, with their weights    ──▶  concepts: strength, in_turns, seen_windows, …
    its window: the concepts in it           ──▶  pairs["turn"]
    its exchange: those, and the concepts    ──▶  pairs["exchange"], and in_exchanges of concepts
      of the turn before it in its session

Windows are not kept for that: they are found again in the postings.  What was forgotten since the turn before was said
is in no exchange.  Phrases are mentioned as other concepts are, and stand in no window: their words do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from state.graph import mentions
from state.graph.mentions import Mentions
from state.graph.tables import GraphTables
from state.graph.unit_counting import Units, count_in_units, note_exchange, words_mentioned

FEW = 8  # turns that are sooner counted one by one: a worker that is asked after every turn has no more


def count(tables: GraphTables, first: int, weights: Sequence[float], units: Units) -> None:
    """Count the passages from `first` on, of which there is one at least, in concepts and pairs.

    weights  (m,) of their postings     units  what of them counts together, where that is not all (unit_counting.py)

    The settings must be those that held when they were said, and nothing may have been forgotten since: what stood
    together is told from what is here.
    """
    tables.concepts.grow()
    if units or tables.settings.counts_units:
        count_in_units(tables, first, weights, units)
        return
    counting = _count_one_by_one if len(tables.passages) - first < FEW else _count_at_once
    counting(tables, first, weights)


def _count_one_by_one(tables: GraphTables, first: int, weights: Sequence[float]) -> None:
    passages, concepts, pairs = tables.passages, tables.concepts, tables.pairs
    left = iter(weights)
    for passage in range(first, len(passages)):
        numbers = words_mentioned(tables, passage, left)
        before = (number for number in passages.concepts_before(passage) if number not in concepts.phrases)
        previous = (number for number in before if concepts.alive[number])
        exchange = list({*previous, *numbers})
        note_exchange(tables, exchange)
        pairs["turn"].add(numbers)
        pairs["exchange"].add(exchange)


def _count_at_once(tables: GraphTables, first: int, weights: Sequence[float]) -> None:
    passages, concepts, pairs = tables.passages, tables.concepts, tables.pairs
    numbers, sizes = passages.postings(first)
    times = np.repeat(np.array(passages.at[first:]), sizes)
    np.frombuffer(concepts.changed, np.int8)[numbers] = 1
    mentions.fold(concepts, Mentions(numbers.astype(np.int64), times, np.array(weights)), tables.settings)
    turns, exchanged = passages.exchanges(first)
    counts = np.array(concepts.alive, np.bool_)
    counts[list(concepts.phrases)] = False
    turns, exchanged = turns[counts[exchanged]], exchanged[counts[exchanged]]
    if concepts.phrases:
        in_window = ~np.isin(numbers, list(concepts.phrases))
        of = np.repeat(np.arange(len(sizes)), sizes)[in_window]
        numbers, sizes = numbers[in_window], np.bincount(of, minlength=len(sizes)).astype(np.int32)
    pairs["turn"].add_all(numbers, sizes)
    np.add.at(np.frombuffer(concepts.in_exchanges, np.int64), exchanged, 1)
    np.frombuffer(concepts.changed, np.int8)[exchanged] = 1
    pairs["exchange"].add_all(exchanged.astype(np.int32), np.bincount(turns).astype(np.int32))
