"""Every kind of event is declared once, and whoever asks the registry gets an answer for all of them."""

from __future__ import annotations

import pytest

from state.errors import UnreadableEventError
from state.events.events import DataEvent, GraphEvent, TurnRecorded, WindowEvent, decode, decode_as, encode, source_of
from state.events.registry import KINDS, SPECS, EventTiming
from state.events.upcasting import VERSION
from state.graph.graph import FOLDS
from tests.support.builders import concepts_recalled, turn_recorded
from tests.support.golden import values

OF_GRAPHS = [event for event in map(decode, values(VERSION)) if isinstance(event, GraphEvent)]


def leaves(kind: type) -> set[type]:
    """List the classes below `kind` that have none below them."""
    children: list[type] = kind.__subclasses__()
    return {leaf for child in children for leaf in leaves(child) or {child}}


def test_every_class_of_event_is_registered_and_those_of_graphs_say_what_they_are() -> None:
    assert leaves(DataEvent) < set(KINDS)
    assert leaves(GraphEvent) == set(SPECS)


def test_every_graph_event_has_a_fold() -> None:
    assert FOLDS.keys() == SPECS.keys()


@pytest.mark.parametrize("kind", SPECS, ids=lambda kind: kind.__name__)
def test_an_event_has_a_time_if_its_timing_says_so(kind: type[GraphEvent]) -> None:
    assert ("at" in kind.__struct_fields__) == (SPECS[kind].timing is not EventTiming.UNTIMED)
    assert issubclass(kind, WindowEvent) == (SPECS[kind].timing is EventTiming.WINDOW)


def test_every_event_of_the_golden_log_says_what_it_is_and_what_it_touches() -> None:
    for event in OF_GRAPHS:
        assert SPECS[type(event)].summary(event)
        assert all(isinstance(name, str) for name in SPECS[type(event)].touches(event))


def test_a_turn_touches_itself_and_its_concepts() -> None:
    assert set(SPECS[TurnRecorded].touches(turn_recorded(id="t1", concepts="coffee tea"))) == {"t1", "coffee", "tea"}


def test_only_what_came_from_the_topic_turns_has_a_source() -> None:
    assert source_of(turn_recorded(src=7)) == 7
    assert source_of(concepts_recalled()) is None


def test_a_record_is_decoded_as_the_kind_that_it_must_be_or_refused() -> None:
    value = encode(turn_recorded())
    assert decode_as(TurnRecorded, value) == decode_as(GraphEvent, value) == decode(value)
    with pytest.raises(UnreadableEventError, match="TurnRecorded where only a WindowEvent can stand"):
        decode_as(WindowEvent, value)
