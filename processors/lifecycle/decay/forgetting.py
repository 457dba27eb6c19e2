"""Decide what a decay window archives, and what a request to forget removes.  The fold only applies it.

    archived    a concept that has faded; a turn with the last of its words, or when its `episode_life` is over: its
                words and marks then stay by their own strength.  All of it can still be found, and comes back when it
                is mentioned or recalled.  Pinned content stays, and so does an important turn (PassageTable.stays).
                Where links fade, too: those, and a word that has lost all of its own (lab/windows/fading_links.py)
    forgotten   what a user asks to forget: a concept with the turns that mention it, or the word alone, with the turns
                that no other word leads to.  It stays in the log

Source: SEEDS E30, S27, P24, P25.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np

from emgas.limits import EARLIEST_MS
from processors.lifecycle.parts import parts
from processors.lifecycle.policies import FadedLinks, FadingLinks, policy
from processors.lifecycle.steps import in_one_step
from processors.lifecycle.window import Timekeeping, Window, WindowEnd
from state.events.events import UNSTAMPED, GraphEvent, MemoryArchived
from state.graph.graph import Graph
from state.graph.tables.concept_table import ConceptTable
from state.graph.tables.decay import NEVER
from state.graph.tables.passage_table import PassageTable


class Leaving(NamedTuple):
    """Concept ids and turn ids that leave the active tier, or the graph, each in the order of their numbers.

    links  that are cut: the first concept of each list is linked no more with the others
    """

    concepts: list[str]
    turns: list[str]
    links: Sequence[list[str]] = ()


def _next_end(graph: Graph) -> WindowEnd:
    """Find the end of the first open decay window in which something may have faded."""
    settings = graph.settings
    closed = (graph.clock - settings.grace) // settings.decay_every * settings.decay_every
    fading = graph.link_queue().earliest if settings.fades_links else NEVER
    earliest = max(min(graph.expiry_queue().earliest(), fading), closed + 1)
    return WindowEnd(earliest + -earliest % settings.decay_every)


def _may_end(graph: Timekeeping, now: int) -> bool:
    every, grace = graph.settings.decay_every, graph.settings.grace
    return (now - grace) // every != (graph.clock - grace) // every


def _closing(graph: Graph, at: int) -> list[GraphEvent]:
    """Archive what has faded.  If nothing has, there is no event, yet what seemed due is due later now."""
    over = faded(graph, at)
    return archiving(graph, at, **over._asdict()) if any(over) else []


def archiving(graph: Graph, at: int, **over: Sequence[Any]) -> list[GraphEvent]:
    """Make the events that archive concepts, turns and links, in as many parts as records need."""
    there: dict[str, Any] = {"graph": graph.graph_id, "at": at, **UNSTAMPED}
    return [MemoryArchived(**{**there, **part}) for part in parts(over)]


DECAY = Window("decay", _next_end, in_one_step(_closing), _may_end)


def faded(graph: Graph, at: int) -> Leaving:
    """Find what has faded by `at` (ms).  Takes it out of the graph's heap: the event that says so must follow."""
    links, alone = _faded_links(graph, at)
    queue = graph.expiry_queue()
    active, kept = _active(graph.concepts.alive, graph.concepts), _active(graph.passages.kept, graph.passages)
    concepts, passages = queue.until(at, _expiry(graph, at))
    leaving = {number for number in (*concepts, *alone) if active(number)}
    over = {*passages, *_left_wordless(graph, leaving, active)}
    stays = graph.passages.stays
    return _named(graph, leaving, [n for n in over if kept(n) and not stays(n)])._replace(links=links)


def _faded_links(graph: Graph, at: int) -> FadedLinks:
    if not graph.settings.fades_links:
        return FadedLinks()
    decide: FadingLinks = policy("decisions", "fading-links")
    return decide(graph, at)


def _active(is_here: Sequence[int], table: ConceptTable | PassageTable) -> Callable[[int], bool]:
    """Make a function that tells whether a row is here, and not in the archive."""
    archived = table.archived
    return lambda number: bool(is_here[number]) and not archived[number]


def _expiry(graph: Graph, at: int) -> Callable[[int], int]:
    """Make a function that tells when a concept that was noted to fade by `at` does."""
    table, settings = graph.concepts, graph.settings
    alive, in_turns, recalls, long_term = table.alive, table.in_turns, table.recalls, table.long_term
    pinned = table.pinned

    def expiry(number: int) -> int:
        if not alive[number]:
            return EARLIEST_MS  # it was forgotten otherwise
        if in_turns[number] == 1 and not (recalls[number] or long_term[number] or pinned[number]):
            return at  # nothing that could have put it off has happened: most concepts are mentioned once
        return table.expiry(number, settings)

    return expiry


def requested(graph: Graph, concepts: Iterable[str], turns: Iterable[str], sessions: Iterable[str]) -> Leaving:
    """Find what goes when a user wants these forgotten: turns take along the words that stand nowhere else."""
    graph.settle()
    passages = {graph.passages.numbers[turn] for turn in turns if turn in graph.passages.numbers}
    for session in sessions:
        passages |= _of_session(graph, session)
    words = {graph.concepts.numbers[name] for name in concepts if name in graph.concepts.numbers}
    words |= _only_in(graph, passages)
    words |= _phrases_with(graph, words)
    return _named(graph, words, passages | _left_wordless(graph, words, lambda word: bool(graph.concepts.alive[word])))


def mentioning(graph: Graph, concepts: Sequence[str]) -> list[str]:
    """Return the turns that mention all of these concepts; none for no concepts."""
    graph.settle()
    numbers = [graph.concepts.numbers.get(name) for name in concepts]
    holders = [set[int]() if number is None else _passages_with(graph, {number}) for number in numbers]
    return [graph.passages.ids[number] for number in sorted(set.intersection(*holders))] if holders else []


def _phrases_with(graph: Graph, words: AbstractSet[int]) -> set[int]:
    """Find the phrases that hold one of `words`: its name must not stay in theirs."""
    concepts = graph.concepts
    names = {concepts.ids[number] for number in words}
    return {n for n in concepts.phrases if concepts.alive[n] and not names.isdisjoint(concepts.ids[n].split(" "))}


def everything(graph: Graph) -> Leaving:
    """List everything in a graph that is to forget all."""
    graph.compact()
    return _named(graph, range(len(graph.concepts)), range(len(graph.passages)))


def _of_session(graph: Graph, session: str) -> set[int]:
    number = graph.passages.sessions.get(session, -1)
    of_session = (np.array(graph.passages.session) == number) & (np.array(graph.passages.kept) == 1)
    return set(np.flatnonzero(of_session).tolist())


def _only_in(graph: Graph, passages: AbstractSet[int]) -> set[int]:
    """Find the concepts, marks too, that no other kept passage holds."""
    candidates = {concept for passage in passages for concept in graph.passages.concepts_of(passage)}
    elsewhere = _passages_with(graph, candidates) - set(passages)
    shared = {concept for passage in elsewhere for concept in graph.passages.concepts_of(passage)}
    return {concept for concept in candidates - shared if graph.concepts.alive[concept]}


def _left_wordless(graph: Graph, leaving: AbstractSet[int], is_here: Callable[[int], bool]) -> set[int]:
    """Find the kept passages without a word that would be here any more without those that are `leaving`."""
    is_mark = graph.concepts.is_mark
    left = set()
    for passage in _passages_with(graph, {number for number in leaving if not is_mark[number]}):
        for number in graph.passages.concepts_of(passage):
            if number not in leaving and not is_mark[number] and is_here(number):
                break
        else:
            left.add(passage)
    return left


def _passages_with(graph: Graph, concepts: AbstractSet[int]) -> set[int]:
    """Find the kept passages that hold one of `concepts`."""
    if not concepts:
        return set()
    is_chosen = np.zeros(len(graph.concepts), np.bool_)
    is_chosen[list(concepts)] = True
    _, holders = graph.passages.holding(is_chosen)
    return {passage for passage in set(holders.tolist()) if graph.passages.kept[passage]}


def _named(graph: Graph, concepts: Iterable[int], passages: Iterable[int]) -> Leaving:
    ids, turns = graph.concepts.ids, graph.passages.ids
    return Leaving([ids[number] for number in sorted(concepts)], [turns[number] for number in sorted(passages)])
