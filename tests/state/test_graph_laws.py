"""Laws of one graph's fold, whatever happens: packing, looking, compacting and events without effect change nothing."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.limits import EARLIEST_MS
from state.events.events import GraphEvent
from state.events.extraction_types import Anchor, Relation
from state.graph.graph import WAITING, Graph
from tests.support.builders import concepts_recalled, folded, turn_recorded
from tests.support.clocks import DAY, NOON
from tests.support.graphs import assert_same_view
from tests.support.logs import events_of, fold
from tests.support.strategies import Step, steps, written


@given(steps())
def test_packing_and_unpacking_changes_nothing(happened: list[Step]) -> None:
    graph = folded(*events_of(written(happened), "ada"))
    again = Graph.unpack(graph.pack())
    assert (again.digest(), again.pack()) == (graph.digest(), graph.pack())
    assert (again.events, again.passages.event) == (graph.events, graph.passages.event)
    assert_same_view(again, graph)


@given(steps(), st.integers(0, 25))
def test_a_fold_may_be_packed_at_any_point_and_go_on(happened: list[Step], cut: int) -> None:
    events = events_of(written(happened), "ada")
    resumed = Graph.unpack(folded(*events[:cut]).pack())
    for event in events[cut:]:
        resumed.fold(event)
    assert resumed.digest() == folded(*events).digest()
    assert resumed.pack() == folded(*events).pack()
    assert_same_view(resumed, folded(*events))


@given(steps(), st.integers(1, 25), st.integers(1, 4))
def test_folding_many_events_at_once_gives_what_folding_them_one_by_one_does(
    happened: list[Step], at_once: int, few: int
) -> None:
    events, graph = events_of(written(happened), "ada"), Graph("ada")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("state.graph.graph.FEW", few)
        for start in range(0, len(events), at_once):
            graph.fold_all(events[start : start + at_once])
    assert_same_fold(graph, folded(*events))


def assert_same_fold(graph: Graph, expected: Graph) -> None:
    """Check that two folds hold the same, in the same places."""
    assert (graph.digest(), graph.pack()) == (expected.digest(), expected.pack())
    assert_same_view(graph, expected)


def test_turns_that_are_folded_at_once_depend_on_those_before_them_as_ever() -> None:
    later_word = Relation(source="coffee", type="likes", target="word9", start=0, end=4)
    special: dict[int, dict[str, Any]] = {
        3: {"id": "t1", "text": "another text under a known id", "concepts": "unheard-of"},
        4: {"relations": [later_word]},
        12: {"relations": [later_word]},
        14: {"anchor": Anchor(kind="forced", rule="test"), "importance": 0.9},
        20: {"uncounted": "redundant"},
        22: {"units": [[0, 1]]},
        25: {"at": NOON - DAY, "live": False, "session": "other", "speaker": "Ben"},
        26: {"expires_at": NOON + DAY, "origin": "web", "ahead": 60, "role": None, "question": True},
    }
    turns = [
        turn_recorded(**{"id": f"t{n}", "at": NOON + n, "concepts": f"coffee word{n}", **special.get(n, {})})
        for n in range(WAITING + 40)
    ]
    graph, expected = Graph("ada"), folded(*turns)
    graph.deadlines()
    graph.fold_all(turns)
    assert_same_fold(graph, expected)
    assert [each.passages for each in graph.relations.all()] == [(11,)], "the first came before the word that it names"
    assert graph.expires_next == expected.expires_next == NOON + DAY
    assert (graph.enough_at, graph.fresh_turns, graph.clock) == (
        expected.enough_at,
        expected.fresh_turns,
        expected.clock,
    )


@given(steps(), st.lists(st.tuples(st.integers(0, 25), st.booleans(), st.randoms(use_true_random=False)), max_size=5))
def test_events_without_effect_change_no_digest(
    happened: list[Step], ticks: list[tuple[int, bool, random.Random]]
) -> None:
    events = events_of(written(happened), "ada")
    graph, ticked = Graph("ada"), Graph("ada")
    for number in range(len(events) + 1):
        for _, is_turn, seeded in (tick for tick in ticks if min(tick[0], len(events)) == number):
            ticked.fold(without_effect(ticked, is_turn, seeded))
        for each in (graph, ticked):
            each.fold(events[number]) if number < len(events) else None
        assert ticked.digest() == graph.digest()
        assert_same_view(ticked, graph)
    assert ticked.events == graph.events + len(ticks)
    assert (ticked.pack() == graph.pack()) == (not ticks), "a snapshot knows at which event it stands"


def without_effect(graph: Graph, is_turn: bool, seeded: random.Random) -> GraphEvent:
    """Return a turn whose id is known, or a recall of nothing that is known and not later than what was."""
    if is_turn and graph.passages.ids:
        turn = seeded.choice(graph.passages.ids)
        return turn_recorded(id=turn, session="another", concepts="coffee new", at=graph.clock + DAY)
    return concepts_recalled(concepts="unheard-of", at=max(EARLIEST_MS, graph.clock - seeded.choice([0, DAY])))


@given(steps(), st.sets(st.integers(0, 25)))
def test_looking_at_a_graph_does_not_change_it(happened: list[Step], looks: set[int]) -> None:
    events = events_of(written(happened), "ada")
    watched = Graph("ada")
    for number, event in enumerate(events):
        watched.fold(event)
        if number in looks:
            watched.view().windows["exchange"].pairs.neighbours(np.arange(len(watched.concepts)))
            watched.digest()
    assert watched.digest() == folded(*events).digest()


@pytest.mark.source("E39")
@given(steps())
def test_a_graph_is_the_fold_of_its_own_events_whatever_happens_to_others(happened: list[Step]) -> None:
    log = written(happened)
    digests = {graph.graph_id: graph.digest() for graph in fold(log.records).graphs()}
    for name, digest in digests.items():
        alone = Graph(name)
        for event in events_of(log, name):
            alone.fold(event)
        assert alone.digest() == digest


@given(steps(), st.lists(st.tuples(st.integers(0, 25), st.sampled_from(["compact", "pack", "view", "digest"]))))
def test_neither_packing_nor_compacting_changes_what_later_folds_give(
    happened: list[Step], acts: list[tuple[int, str]]
) -> None:
    events = events_of(written(happened), "ada")
    handled = Graph("ada")
    for number, event in enumerate(events):
        handled.fold(event)
        for act in (act for place, act in acts if place == number):
            if act == "pack":
                handled = Graph.unpack(handled.pack())
            else:
                getattr(handled, act)()
    plain = folded(*events)
    assert handled.digest() == plain.digest()
    assert_same_view(handled, plain)


@given(steps())
def test_no_strength_is_negative_and_none_outlives_the_decay(happened: list[Step]) -> None:
    graph = folded(*events_of(written(happened), "ada"))
    for number in graph.concepts.numbers.values():
        now = graph.concepts.strength[number]
        later = graph.concepts.strength_of(number, graph.clock + 400 * DAY, graph.settings)
        assert 0 <= later <= now


@given(steps())
def test_an_event_that_names_something_twice_or_something_gone_folds_like_any_other(happened: list[Step]) -> None:
    log = written(happened)
    everything = ["coffee", "coffee", "tea", "gone", "tea"]
    log.recall(graph="ada", concepts=everything)
    log.consolidation(graph="ada", consolidated=everything, merged=[("a", "b"), ("a", "b"), ("b", "gone")])
    log.decay(graph="ada", concepts=everything, turns=["a", "a", "gone"])
    log.forget(graph="ada", concepts=everything, turns=["a", "a", "gone"])
    graph = folded(*events_of(log, "ada"))
    assert not {"coffee", "tea"} & set(graph.concepts.numbers)
    assert Graph.unpack(graph.pack()).digest() == graph.digest()
