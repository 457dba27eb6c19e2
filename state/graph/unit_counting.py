"""Turns counted by other units than the turn and the one before it: clauses, and windows of tokens.  SEEDS P4, P12.

    clauses   two concepts were said together where one clause holds both: within the turn, and as an exchange
    windows   a turn's exchange is the turn and as many before it in its session as fit into `window_overlap` of
              `window_tokens` words; a turn longer than such a window is several, of which the first has what was before

A pair counts once for a turn, however many of its units hold it, so that what is counted stays a number of turns, as
the counts of its concepts are.  Only graphs that want this come here: it goes turn by turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from state.graph.cooccurrence import PairCounts
from state.graph.tables import GraphTables

Units = Mapping[int, Sequence[Sequence[int]]]  # passage → concept numbers of each of its units


def count_in_units(tables: GraphTables, first: int, weights: Sequence[float], units: Units) -> None:
    """Count the passages from `first` on, as turn_counting.count does.  What a passage has no units of is one."""
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
    """Mention the concepts of a passage, each by the next weight; give those that are words, not phrases."""
    passages, concepts = tables.passages, tables.concepts
    mentioned, at = passages.concepts_of(passage), passages.at[passage]
    for number in mentioned:
        concepts.mention(number, next(weights), at=at, settings=tables.settings)
    return [number for number in mentioned if number not in concepts.phrases]


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
        held = [number for each in passages.before_within(passage, room) for number in passages.concepts_of(each)]
    else:
        held = list(passages.concepts_before(passage))
    return [number for number in dict.fromkeys(held) if concepts.alive[number] and number not in concepts.phrases]


def _add(counts: PairCounts, units: Sequence[Sequence[int]]) -> None:
    """Count each pair that stands in a unit, once."""
    if len(units) == 1:
        counts.add(list(dict.fromkeys(units[0])))
        return
    for pair in sorted({pair for unit in units for pair in combinations(sorted(set(unit)), 2)}):
        counts.add(pair)
