"""Pictures, on graphs folded from events: which concepts, which links, in which order."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from emgas.messages.fields import Position
from emgas.messages.pictures import Picture, Pictured
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.turn_facts import GraphChangedError
from processors.recall.reports.picture import AT_ONCE, STRONGEST, draw_picture
from state.graph.graph import Graph
from tests.support.builders import graph_of, turn_recorded
from tests.support.clocks import NOON

WORDS = [f"word{n}" for n in range(12)]
POSITION = Position(partition=0, watermark=0, source=0)
EXTRACTOR = YakeExtractor()


def drawn(graph: Graph | None, **options: object) -> Pictured:
    return in_one_go(draw_picture(graph, Picture(graph="ada", **options), EXTRACTOR, POSITION))  # type: ignore[arg-type]


def links_of(seen: Pictured) -> list[tuple[frozenset[str], float]]:
    ids, links = seen.concepts.ids, seen.links
    ends = zip(links.sources, links.targets, links.weights, strict=True)
    return [(frozenset((ids[one], ids[other])), weight) for one, other, weight in ends]


turns = some.lists(some.sets(some.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=12)


@given(turns, some.integers(0, 30))
def test_the_strongest_links_of_every_concept_come_before_all_others(texts: list[str], limit: int) -> None:
    graph = graph_of(*texts)
    everything = links_of(drawn(graph, nodes=100, links=1000))
    firsts = set[frozenset[str]]()
    for name in graph.concepts.ids:
        own = [(weight, pair) for pair, weight in everything if name in pair]
        least = sorted((weight for weight, _ in own), reverse=True)[:STRONGEST]
        firsts |= {pair for weight, pair in own if least and weight > least[-1]}
    order = [pair for pair, _ in everything]
    assert len(set(order)) == len(order)
    ahead = max((order.index(pair) for pair in firsts), default=-1)
    between = {frozenset(pair) for pair in combinations(graph.concepts.ids, 2)} & set(order[: ahead + 1])
    for pair in between:
        ranks = [sum(weight > dict(everything)[pair] for other, weight in everything if name in other) for name in pair]
        assert min(ranks) < STRONGEST, "what comes before a strongest link is one as well"
    assert links_of(drawn(graph, nodes=100, links=limit)) == everything[:limit]


@given(turns)
def test_as_many_links_as_concepts_leave_none_without_one(texts: list[str]) -> None:
    graph = graph_of(*texts)
    every, few = (links_of(drawn(graph, nodes=100, links=many)) for many in (1000, len(graph.concepts.ids)))
    linked = {name for pair, weight in every if weight for name in pair}
    assert linked <= {name for pair, _ in few for name in pair}


def test_a_memory_of_one_sentence_links_what_is_in_it() -> None:
    assert links_of(drawn(graph_of("tea milk"))) == [(frozenset(("tea", "milk")), 0.0)]


@given(turns, some.integers(0, 12))
def test_the_strongest_concepts_are_chosen_and_no_link_leads_out_of_the_picture(texts: list[str], nodes: int) -> None:
    graph = graph_of(*texts)
    every, few = drawn(graph, nodes=100).concepts, drawn(graph, nodes=nodes)
    assert few.concepts.ids == every.ids[:nodes]
    assert few.total == len(every.ids)
    assert every.strengths == sorted(every.strengths, reverse=True)
    assert all(pair <= set(few.concepts.ids) for pair, _ in links_of(few))


def test_what_is_in_the_archive_comes_last_and_says_so() -> None:
    graph = graph_of("tea milk", "rain")
    graph.settle()
    graph.concepts.archived[graph.concepts.numbers["tea"]] = 1
    concepts = drawn(graph).concepts
    assert (concepts.ids[-1], concepts.archived) == ("tea", [False, False, True])


def test_what_is_pinned_says_so() -> None:
    graph = graph_of("tea milk", "rain")
    graph.settle()
    graph.concepts.pin(graph.concepts.numbers["rain"], pinned=True)
    concepts = drawn(graph).concepts
    assert dict(zip(concepts.ids, concepts.pinned, strict=True)) == {"tea": False, "milk": False, "rain": True}


@pytest.mark.parametrize(("hops", "reached"), [(0, ["tea"]), (1, ["tea", "milk"]), (2, ["tea", "milk", "rain"])])
def test_a_picture_grows_ring_by_ring(hops: int, reached: list[str]) -> None:
    graph = graph_of("tea milk", "milk rain", "sun sand", "sea")
    concepts = drawn(graph, around=["tea"], hops=hops).concepts
    assert concepts.ids == reached
    assert concepts.hops == list(range(hops + 1))


def test_an_unknown_word_gives_an_empty_picture_and_no_graph_none() -> None:
    nothing = drawn(graph_of("tea milk"), around=["nobody"], passages=5)
    assert (nothing.found, nothing.concepts.ids, nothing.links.sources, nothing.passages.ids) == (True, [], [], [])
    assert not drawn(None).found
    assert not drawn(Graph("ada")).found


def test_a_graph_that_changes_under_a_large_picture_is_told() -> None:
    graph = graph_of(*(f"word{n} word{n + 1}" for n in range(2 * AT_ONCE)))
    steps = draw_picture(graph, Picture(graph="ada", nodes=3000), EXTRACTOR, POSITION)
    next(steps)
    graph.fold(turn_recorded(id="late", concepts="tea", at=NOON))
    with pytest.raises(GraphChangedError):
        in_one_go(steps)
