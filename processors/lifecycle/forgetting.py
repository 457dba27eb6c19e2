"""What a decay window forgets, and what a user's request to forget takes with it.  Decides; the fold only applies.

A turn is archived with the last of its words, as a passage that no concept leads to can never be recalled, and when
its `episode_life` is over: its words and marks then stay by their own strength.  It stays in the log, so a replay with
other settings brings it back.  Source: SEEDS E30, S27, P24.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np

from emgas.limits import EARLIEST_MS
from state.graph.graph import Graph


class Gone(NamedTuple):
    """Concept ids and turn ids that leave a graph, each in the order of their numbers."""

    concepts: list[str]
    turns: list[str]


def faded(graph: Graph, at: int) -> Gone:
    """Find what has faded by `at` (ms).  Takes it out of the graph's heap: the event that says so must follow."""
    queue = graph.expiry_queue()
    alive, kept = graph.concepts.alive, graph.passages.kept
    concepts, passages = queue.until(at, _expiry(graph, at))
    gone = {number for number in concepts if alive[number]}
    over = {number for number in passages if kept[number]}
    return _named(graph, gone, over | _left_wordless(graph, gone))


def _expiry(graph: Graph, at: int) -> Callable[[int], int]:
    """Make a function that tells when a concept that was noted to fade by `at` does."""
    table, settings = graph.concepts, graph.settings
    alive, in_turns, recalls, long_term = table.alive, table.in_turns, table.recalls, table.long_term

    def expiry(number: int) -> int:
        if not alive[number]:
            return EARLIEST_MS  # it was forgotten otherwise
        if in_turns[number] == 1 and not recalls[number] and not long_term[number]:
            return at  # nothing that could have put it off has happened: most concepts are mentioned once
        return table.expiry(number, settings)

    return expiry


def requested(graph: Graph, concepts: Iterable[str], turns: Iterable[str], sessions: Iterable[str]) -> Gone:
    """Find what goes when a user wants these forgotten: turns take along the words that stand nowhere else."""
    graph.settle()
    passages = {graph.passages.numbers[turn] for turn in turns if turn in graph.passages.numbers}
    for session in sessions:
        passages |= _of_session(graph, session)
    words = {graph.concepts.numbers[name] for name in concepts if name in graph.concepts.numbers}
    words |= _only_in(graph, passages)
    return _named(graph, words, passages | _left_wordless(graph, words))


def _of_session(graph: Graph, session: str) -> set[int]:
    number = graph.passages.sessions.get(session, -1)
    of_session = (np.array(graph.passages.session) == number) & (np.array(graph.passages.kept) == 1)
    return set(np.flatnonzero(of_session).tolist())


def _only_in(graph: Graph, passages: AbstractSet[int]) -> set[int]:
    """Find the concepts, marks too, that no other kept passage holds."""
    candidates = {concept for passage in passages for concept in graph.passages.concepts_of(passage)}
    elsewhere = _passages_with(graph, candidates) - set(passages)
    held = {concept for passage in elsewhere for concept in graph.passages.concepts_of(passage)}
    return {concept for concept in candidates - held if graph.concepts.alive[concept]}


def _left_wordless(graph: Graph, gone: AbstractSet[int]) -> set[int]:
    """Find the kept passages of which every word is among `gone`, or was forgotten before."""
    alive, is_mark = graph.concepts.alive, graph.concepts.is_mark
    left = set()
    for passage in _passages_with(graph, {number for number in gone if not is_mark[number]}):
        for number in graph.passages.concepts_of(passage):
            if alive[number] and number not in gone and not is_mark[number]:
                break
        else:
            left.add(passage)
    return left


def _passages_with(graph: Graph, concepts: AbstractSet[int]) -> set[int]:
    """Find the kept passages that hold one of `concepts`."""
    if not concepts:
        return set()
    wanted = np.zeros(len(graph.concepts), np.bool_)
    wanted[list(concepts)] = True
    postings = np.flatnonzero(wanted[np.array(graph.passages.posting_concept)])
    holders = np.searchsorted(np.array(graph.passages.starts), postings, side="right") - 1
    return {passage for passage in set(holders.tolist()) if graph.passages.kept[passage]}


def _named(graph: Graph, concepts: Iterable[int], passages: Iterable[int]) -> Gone:
    ids, turns = graph.concepts.ids, graph.passages.ids
    return Gone([ids[number] for number in sorted(concepts)], [turns[number] for number in sorted(passages)])
