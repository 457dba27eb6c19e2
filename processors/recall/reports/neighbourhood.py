"""Explore a concept: its linked neighbours, and the paths from it to another concept.  SEEDS E2, H12, S10.

neighbour   a word that people would say (shown.py), reached over at most `hops` links, each as strong as spreading
            sees it (processors/association.py, fan); its strength is the product of the links on the strongest way to
            it, its confidence 1 / hops; listed by strength · ln(1 + times together): what recurs before what is rare
way         the strongest product of links (Dijkstra on −ln of each, a link counting at most 1), of at most MOST_HOPS;
            the next ways avoid what the ones before went through.  Where there is none, because all is said
            with everything, links count by how often two were together
phrase      counts in no pair: it is linked with the words of its turns, as PPMI of these turns has it
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from itertools import islice
from math import log1p
from typing import Final, NamedTuple

import numpy as np

from emgas.limits import TOP
from emgas.messages.settings.modes import Weighting
from emgas.messages.views import Explore, Explored, KnownConcept, Neighbour
from processors.association import edges_out
from processors.extraction.extractor import Extractor
from processors.recall.answer.people import known_relations
from processors.recall.answer.prepared_query import QueriedGraph, concept_ids
from processors.recall.answer.relations import inferred
from processors.recall.ranking.activation import DEFAULT
from processors.recall.ranking.query_terms import speaker_mark
from processors.text.shown import Shown
from state.arrays import Floats, Integers
from state.graph.graph import Graph
from state.graph.view import GraphView

WAYS: Final = 3  # to another concept that are told
MOST_HOPS: Final = 4  # of a way
LOOKED_AT: Final = 60  # concepts, at most, while a way is searched: a millisecond each in a large graph
BROAD: Final = 30  # links of a concept that are followed: the strongest
STEPS: Final = 3  # of a relation that is inferred, where a question does not say
DIGITS: Final = 6  # of strengths


class _Reached(NamedTuple):
    """A concept that was reached: how strongly, over how many times together, and the way there."""

    strength: float
    times: int
    path: tuple[int, ...]

    @property
    def evidence(self) -> float:
        """Return how much speaks for it: its strength, and how often it was met."""
        return self.strength * log1p(self.times)


def explore_graph(memory: QueriedGraph, request: Explore, extractor: Extractor) -> Explored:
    """Return what a concept is to a graph, and what is around it."""
    graph = memory.graph
    if graph is None or graph.is_blank:
        return Explored(graph=request.graph, found=False, position=memory.position)
    view = graph.view()
    number = _number(view, request.concept, extractor)
    if number is None:
        return Explored(graph=request.graph, found=False, position=memory.position)
    target = None if request.to is None else _number(view, request.to, extractor)
    holding = view.posting_passage[view.posting_concept == number]
    latest = holding[np.argsort(-view.passage_at[holding], kind="stable")][:TOP]
    return Explored(
        graph=request.graph,
        found=True,
        concept=_describe(graph, view, number),
        neighbours=_neighbours(view, number, request),
        paths=[] if target is None else [[view.ids[node] for node in way] for way in _ways(view, number, target)],
        relations=known_relations(graph, view, number, request.limit),
        inferred=[] if request.relation is None else inferred(view, number, request.relation, request.hops or STEPS),
        ids=[view.passage_id[passage] for passage in latest[: request.limit].tolist()],
        position=memory.position,
    )


def _number(view: GraphView, name: str, extractor: Extractor) -> int | None:
    """Find the concept that is meant: by its id, as a phrase is written, as words are, or by whose name it is."""
    folded = name.casefold()
    phrase = next((number for number in view.phrases if view.labels[number].casefold() == folded), None)
    if phrase is not None and view.number(name) is None:
        return phrase
    ids = [*concept_ids([name], view, extractor), speaker_mark(name)]
    return next((number for each in ids if (number := view.number(each)) is not None), None)


def _describe(graph: Graph, view: GraphView, number: int) -> KnownConcept:
    concepts = graph.concepts
    now = max(graph.clock, concepts.strength_at[number])
    theme = next((theme for theme in view.themes if number in theme.members), None)
    return KnownConcept(
        id=view.ids[number],
        label=view.labels[number],
        forms=concepts.forms(number),
        created=concepts.created[number],
        accessed=concepts.accessed[number],
        strength=round(concepts.strength_of(number, now, graph.settings), DIGITS),
        turns=concepts.in_turns[number],
        recalls=concepts.recalls[number],
        long_term=bool(concepts.long_term[number]),
        archived=bool(concepts.archived[number]),
        pinned=bool(concepts.pinned[number]),
        theme=None if theme is None else theme.id,
        of=view.kind(number) or None,
        anchored=bool(concepts.anchored[number]),
    )


def _neighbours(view: GraphView, number: int, request: Explore) -> list[Neighbour]:
    """List what is linked over at most `asked.hops` links: the fewest hops first, then the strongest."""
    reached, edge = {number: _Reached(1.0, 0, (number,))}, [number]
    for _ in range(request.hops or 1):
        result: dict[int, _Reached] = {}
        for source in edge:
            here = reached[source]
            for target, weight, times in _links(view, source):
                strength = here.strength * weight
                if target not in reached and (target not in result or strength > result[target].strength):
                    result[target] = _Reached(strength, times, (*here.path, target))
        reached |= result
        edge = sorted(result, key=lambda node: (-result[node].strength, node))[:BROAD]
    del reached[number]
    order = sorted(reached, key=lambda node: (len(reached[node].path), -reached[node].evidence, node))
    labels = islice(Shown(view.concept_table).labels(order), request.limit)
    return [_neighbour(view, node, label, reached[node]) for node, label in labels]


def _neighbour(view: GraphView, number: int, label: str, reached: _Reached) -> Neighbour:
    hops = len(reached.path) - 1
    times = _shared_passages(view, *reached.path[-2:])
    return Neighbour(
        id=view.ids[number],
        label=label,
        strength=round(reached.strength, DIGITS),
        times=reached.times,
        hops=hops,
        confidence=round(1 / hops, DIGITS),
        path=[view.ids[node] for node in reached.path],
        first=int(times.min()) if len(times) else None,
        last=int(times.max()) if len(times) else None,
    )


def _shared_passages(view: GraphView, one: int, other: int) -> Integers:
    """List when two concepts were in one turn, or in one and the one before it in its session, ms."""
    here, there = (view.holders(number)[0].astype(np.int64) for number in (one, other))
    one_place, other_place = (view.of_turns("session", each) << 32 | view.within(each) + 1 for each in (here, there))
    with_other = np.isin(one_place, other_place) | np.isin(one_place - 1, other_place)
    after_one = np.isin(other_place - 1, one_place)
    return view.of_turns("at", np.concatenate((here[with_other], there[after_one])))


def _links(view: GraphView, source: int, weighting: Weighting = DEFAULT.weighting) -> list[tuple[int, float, int]]:
    """List (target, weight, times together) of a concept's links to words, the strongest BROAD first."""
    if source in view.phrases:
        return _links_of_phrase(view, source)
    counts, one = view.window(DEFAULT.window), np.array([source])
    _, _, together = counts.pairs.neighbours(one)
    edges = edges_out(counts, one, weighting)
    kept = np.flatnonzero((edges.weight > 0) & ~view.is_mark[edges.target])
    best = kept[_strongest(edges.weight[kept])]
    columns: Iterable[Integers | Floats] = (edges.target[best], edges.weight[best], together[best])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _links_of_phrase(view: GraphView, phrase: int) -> list[tuple[int, float, int]]:
    """List (target, weight, turns together) of a phrase's links to words other than its own."""
    passages, _ = view.holders(phrase)
    _, concepts = view.concepts_of(passages.astype(np.int64))
    neighbours, together = np.unique(concepts.astype(np.int64), return_counts=True)
    own = [number for word in view.ids[phrase].split(" ") if (number := view.number(word)) is not None]
    kept = ~view.is_mark[neighbours] & ~np.isin(neighbours, own)
    neighbours, together = neighbours[kept], together[kept]
    lift = together * view.turns / (view.holding(neighbours) * len(passages))
    weights = np.log(np.maximum(lift, 1.0)) / np.sqrt(
        np.maximum(len(concepts), 1) * view.window(DEFAULT.window).fans(neighbours)
    )
    best = np.array([place for place in _strongest(weights).tolist() if weights[place] > 0], np.int64)
    return list(zip(neighbours[best].tolist(), weights[best].tolist(), together[best].tolist(), strict=True))


def _strongest(weights: Floats) -> Integers:
    order: Integers = np.argsort(-weights, kind="stable")[:BROAD]
    return order


def _ways(view: GraphView, source: int, target: int) -> list[tuple[int, ...]]:
    """Find up to WAYS ways, the strongest first; none where both are one."""
    if target in view.phrases and source not in view.phrases:  # no link leads to a phrase, those of its words do
        return [way[::-1] for way in _ways(view, target, source)]
    return _ways_by(view, source, target, DEFAULT.weighting) or _ways_by(view, source, target, "count")


def _ways_by(view: GraphView, source: int, target: int, weighting: Weighting) -> list[tuple[int, ...]]:
    ways: list[tuple[int, ...]] = []
    avoided: set[int] = set()
    while len(ways) < WAYS and source != target:
        way = _way(view, source, target, avoided, weighting)
        if way is None:
            break
        ways.append(way)
        if len(way) == 2:
            avoided.add(-1)
        avoided.update(way[1:-1])
    return ways


def _way(view: GraphView, source: int, target: int, avoided: set[int], weighting: Weighting) -> tuple[int, ...] | None:
    """Find the strongest way that goes through none of `avoided`; −1 among them: not straight from one to the other."""
    heap: list[tuple[float, tuple[int, ...]]] = [(0.0, (source,))]
    done: set[int] = set()
    while heap and len(done) < LOOKED_AT:
        cost, way = heapq.heappop(heap)
        if way[-1] == target:
            return way
        if way[-1] in done or len(way) > MOST_HOPS:
            continue
        done.add(way[-1])
        links = _links(view, way[-1], weighting)
        most = max((weight for _, weight, _ in links), default=1.0) if weighting == "count" else 1.0
        for node, weight, _ in links:
            straight = node == target and len(way) == 1 and -1 in avoided
            if node not in done and node not in avoided and not straight:
                heapq.heappush(heap, (cost - float(np.log(min(weight / most, 1.0))), (*way, node)))
    return None
