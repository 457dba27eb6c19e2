"""Count turns: their mentions, and the concepts that occur together.  Counting many at once is a third less work.

    a turn's postings, with their weights    ──▶  concepts: strength, in_turns, seen_windows, …
    its window: the heaviest concepts in it  ──▶  pairs["turn"]
    its exchange: those, and the concepts    ──▶  pairs["exchange"], and in_exchanges of concepts
      of the turn before it in its session

Windows are not stored for that: they are found again in the postings.  Concepts that were forgotten since the turn
before are in no exchange.  Phrases are mentioned as other concepts are, but are in no window: their words are.  Of a
long turn, WINDOW_CONCEPTS are in its window: the pairs of all would be more than all else that a graph holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from emgas.limits import WINDOW_CONCEPTS
from state.graph.counting import mentions
from state.graph.counting.cooccurrence import PairCounts
from state.graph.counting.mentions import Mentions
from state.graph.graph_tables import GraphTables
from state.graph.tables.passage_table import in_window

# Turns counted by other units than the turn and the one before it: clauses, and windows of tokens.
#
#     clauses   two concepts were said together where one clause holds both: within the turn, and as an exchange
#     windows   a turn's exchange is the turn and as many before it in its session as fit into `window_overlap` of
#               `window_tokens` words; a longer turn is several windows, and the first one includes what was
#               said before
#
# A pair counts once for a turn, however many of its units hold it, so that what is counted stays a number of turns, as
# the counts of its concepts are.  Only graphs that want this come here: it goes turn by turn.

Units = Mapping[int, Sequence[Sequence[int]]]  # passage → concept numbers of each of its units


def count_in_units(tables: GraphTables, first: int, weights: Sequence[float], units: Units) -> None:
    """Count the passages from `first` on, as turn_counting.count does.  A passage without units is one unit."""
    passages, concepts, pairs = tables.passages, tables.concepts, tables.pairs
    left = iter(weights)
    for passage in range(first, len(passages)):
        words = words_mentioned(tables, passage, left)
        parts = [[n for n in unit if n not in concepts.phrases] for unit in units.get(passage, ())] or [words]
        before = [] if tables.settings.clauses else _before(tables, passage)
        note_exchange(tables, {*before, *words})
        _add(pairs["turn"], parts)
        _add(pairs["exchange"], [[*before, *parts[0]], *parts[1:]])


def words_mentioned(tables: GraphTables, passage: int, weights: Iterator[float]) -> list[int]:
    """Mention the concepts of a passage, each by the next weight; return those of its window."""
    passages, concepts = tables.passages, tables.concepts
    mentioned, at = passages.concepts_of(passage), passages.at[passage]
    for number in mentioned:
        concepts.mention(number, next(weights), at=at, settings=tables.settings)
    return _window(tables, mentioned)


def _window(tables: GraphTables, mentioned: Iterable[int]) -> list[int]:
    """List those of a passage's concepts that count as said together."""
    phrases = tables.concepts.phrases
    return [number for number in mentioned if number not in phrases][:WINDOW_CONCEPTS]


def note_exchange(tables: GraphTables, exchange: Iterable[int]) -> None:
    """Count one more exchange for each distinct concept that was in it."""
    concepts = tables.concepts
    for number in exchange:
        concepts.in_exchanges[number] += 1
        concepts.changed[number] = 1


def _before(tables: GraphTables, passage: int) -> list[int]:
    """List the concepts of what a passage's window holds beside it: of tokens, or the turn before."""
    passages, concepts, settings = tables.passages, tables.concepts, tables.settings
    if settings.window_tokens:
        room = settings.window_overlap * settings.window_tokens
        windows = (_window(tables, passages.concepts_of(each)) for each in passages.before_within(passage, room))
        numbers = [number for window in windows for number in window]
    else:
        numbers = _window(tables, passages.concepts_before(passage))
    return [number for number in dict.fromkeys(numbers) if concepts.alive[number]]


def _add(counts: PairCounts, units: Sequence[Sequence[int]]) -> None:
    """Count each pair that stands in a unit, once."""
    if len(units) == 1:
        counts.add(list(dict.fromkeys(units[0])))
        return
    for pair in sorted({pair for unit in units for pair in combinations(sorted(set(unit)), 2)}):
        counts.add(pair)


FEW = 8  # turns that are sooner counted one by one: a worker that is asked after every turn has no more


def count(tables: GraphTables, first: int, weights: Sequence[float], units: Units) -> None:
    """Count the passages from `first` on, at least one, in concepts and pairs.

    weights  (m,) of their postings     units  what of them counts together, where that is not all (unit_counting.py)

    The settings must be those that held when they were said, and nothing may have been forgotten since: what stood
    together is derived from what is here.
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
        before = _window(tables, passages.concepts_before(passage))
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
    phrases = list(concepts.phrases)
    turns, exchanged = passages.exchanges(first, phrases)
    alive = np.array(concepts.alive, np.bool_)[exchanged]
    turns, exchanged = turns[alive], exchanged[alive]
    together = in_window(numbers, sizes, phrases)
    if not together.all():
        of = np.repeat(np.arange(len(sizes)), sizes)[together]
        numbers, sizes = numbers[together], np.bincount(of, minlength=len(sizes)).astype(np.int32)
    pairs["turn"].add_all(numbers, sizes)
    np.add.at(np.frombuffer(concepts.in_exchanges, np.int64), exchanged, 1)
    np.frombuffer(concepts.changed, np.int8)[exchanged] = 1
    pairs["exchange"].add_all(exchanged.astype(np.int32), np.bincount(turns).astype(np.int32))
