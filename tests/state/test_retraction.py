"""What is taken back was never there: for a graph alone, whatever was taken back and given back before."""

from __future__ import annotations

import pytest
from hypothesis import given

from state.events.events import GraphEvent, Retracted, encode
from state.graph.graph import Graph
from state.retraction import refolded, surviving
from tests.support.builders import folded, forgotten, graph_configured, retracted, turn_recorded
from tests.support.graphs import assert_same_view
from tests.support.logs import events_of
from tests.support.strategies import Step, steps_taken_back, written


def counts(events: list[GraphEvent], place: int) -> bool:
    """Say it as the definition does: nothing that counts takes it back."""
    later = ((other, event) for other, event in enumerate(events) if other > place and isinstance(event, Retracted))
    return not any(event.first <= place <= event.last and counts(events, other) for other, event in later)


def refold(*events: GraphEvent) -> Graph:
    return refolded(Graph("ada"), [encode(event) for event in events])


@given(steps_taken_back(16))
def test_what_counts_is_what_nothing_that_counts_takes_back(happened: list[Step]) -> None:
    events = events_of(written(happened), "ada")
    assert surviving(events) == [counts(events, place) for place in range(len(events))]


@given(steps_taken_back())
def test_a_graph_is_the_fold_of_what_counts(happened: list[Step]) -> None:
    events = events_of(written(happened), "ada")
    alone = [event for event, counted in zip(events, surviving(events), strict=True) if counted]
    graph, plain = refold(*events), folded(*(event for event in alone if not isinstance(event, Retracted)))
    assert graph.digest() == plain.digest()
    assert graph.events == len(events)
    assert_same_view(graph, plain)


@given(steps_taken_back())
def test_to_undo_the_undo_restores_the_digest(happened: list[Step]) -> None:
    events = events_of(written(happened), "ada")
    before = refold(*events)
    undone = [*events, retracted(first=0, last=len(events))]
    assert refold(*undone).digest() == Graph("ada").digest()
    undone += [retracted(first=len(events), last=len(events))]
    assert refold(*undone).digest() == before.digest()


def test_an_undo_does_not_take_out_what_comes_after_it() -> None:
    assert surviving([turn_recorded(), retracted(first=0, last=9), turn_recorded()]) == [False, True, True]


def test_events_before_the_first_one_given_are_left_alone() -> None:
    assert surviving([turn_recorded(), retracted(first=3, last=10)], 10) == [False, True]


@given(steps_taken_back(24))
def test_what_counts_from_an_ordinal_on_is_what_counts_in_all_but_for_what_lies_before(happened: list[Step]) -> None:
    """An undo may lie behind the first event given, and what it takes back before it."""
    events = events_of(written(happened), "ada")
    whole = surviving(events)
    for first in range(len(events) + 1):
        assert surviving(events[first:], first) == whole[first:]


def test_an_undo_of_what_lies_before_the_events_given_takes_out_none_of_them() -> None:
    turns = [turn_recorded(id=f"t{n}") for n in range(4)]
    assert surviving([*turns, retracted(first=7, last=8), turn_recorded()], 10) == [True] * 6


def test_what_was_forgotten_comes_back_when_the_wish_is_taken_back() -> None:
    turns = [turn_recorded(id="t0"), turn_recorded(id="t1", concepts="milk")]
    graph = refold(*turns, forgotten(concepts="coffee", turns="t0"), retracted(first=2))
    assert graph.digest() == folded(*turns).digest()


def test_a_turn_that_was_taken_back_is_not_known() -> None:
    graph = refold(turn_recorded(id="t0"), retracted())
    assert not graph.knows("t0")
    assert graph.is_blank


def test_a_graph_without_its_configuration_lives_as_one_that_never_had_any() -> None:
    graph = refold(graph_configured(preset="forgetful"), retracted())
    assert (graph.preset, graph.is_blank) == ("default", True)
    assert not refold(graph_configured()).is_blank


def test_how_far_back_one_can_go_only_ever_grows() -> None:
    graph = folded(graph_configured(undo_events=2), *(turn_recorded(id=f"t{n}") for n in range(9)))
    assert graph.undoable_from == 8
    graph.fold(graph_configured(undo_events=100))
    assert graph.undoable_from == 8


def test_a_graph_alone_cannot_fold_a_retraction() -> None:
    with pytest.raises(TypeError, match="changes which events count"):
        Graph("ada").fold(retracted())
