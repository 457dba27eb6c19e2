"""What a consolidation window finds: long-term words and turns that say the same again; and closing windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.lifecycle.consolidation import consolidation
from processors.lifecycle.consolidation.consolidation import LEAST_WORDS, consolidated
from processors.lifecycle.windows import DueWindow, close, due_events, next_due
from state.events.events import UNSTAMPED, ConsolidationWindowClosed, GraphConfigured
from state.events.memory_settings import PRESETS, MemorySettings
from state.graph.graph import Graph
from tests.support.builders import concepts_recalled, consolidation_closed, memory_archived, turn_recorded
from tests.support.clocks import DAY, NOON

WEEK = 7 * DAY
HOUR = DAY // 24


def graph_with(*turns: dict[str, Any], **changed: Any) -> Graph:
    """Return a graph whose settings are the defaults, `changed`, in which `turns` were said."""
    graph = Graph("ada")
    kept = MemorySettings(**{**PRESETS["default"].model_dump(), **changed})
    graph.fold(GraphConfigured(**UNSTAMPED, graph="ada", preset="default", settings=kept))
    for number, turn in enumerate(turns):
        graph.fold(turn_recorded(**{"id": f"t{number}", "live": True, **turn}))
    return graph


def turn_fields(words: str, **more: Any) -> dict[str, Any]:
    return {"concepts": words, **more}


def test_a_word_mentioned_in_enough_windows_becomes_long_term() -> None:
    turns = [turn_fields("coffee @speaker:ada", at=NOON + week * WEEK) for week in range(3)]
    graph = graph_with(*turns, turn_fields("tea", at=NOON + 2 * WEEK), long_windows=3)
    assert consolidated(graph, graph.clock).consolidated == ["coffee"]


def test_a_word_recalled_often_enough_becomes_long_term() -> None:
    graph = graph_with(turn_fields("coffee tea"), long_recalls=2)
    for _ in range(2):
        graph.fold(concepts_recalled(concepts="tea"))
    assert consolidated(graph, graph.clock).consolidated == ["tea"]


def test_nothing_becomes_long_term_by_a_number_that_is_zero() -> None:
    graph = graph_with(turn_fields("coffee"), turn_fields("coffee"), long_windows=0, long_recalls=0)
    assert consolidated(graph, graph.clock).consolidated == []


def test_a_word_becomes_long_term_once() -> None:
    graph = graph_with(turn_fields("coffee"), long_windows=1)
    event = consolidated(graph, NOON)
    graph.fold(ConsolidationWindowClosed(**UNSTAMPED, graph="ada", at=NOON, **event._asdict()))
    assert (event.consolidated, consolidated(graph, NOON).consolidated) == (["coffee"], [])


def test_a_word_that_has_faded_does_not_become_long_term() -> None:
    graph = graph_with(turn_fields("coffee"), long_windows=1, half_life=DAY)
    assert consolidated(graph, NOON + 30 * DAY).consolidated == []


@pytest.mark.source("M7")
def test_of_two_turns_that_say_the_same_the_longer_one_stays() -> None:
    words = "coffee tea milk sugar"
    graph = graph_with(turn_fields(words, tokens=5), turn_fields("piano"), turn_fields(words, tokens=9))
    assert consolidated(graph, NOON).repeats == [("t2", "t0")]


def test_of_equally_long_turns_the_earlier_one_stays() -> None:
    graph = graph_with(turn_fields("coffee tea milk sugar"), turn_fields("sugar milk tea coffee"))
    assert consolidated(graph, NOON).repeats == [("t0", "t1")]


def test_marks_do_not_make_turns_differ() -> None:
    graph = graph_with(turn_fields("coffee tea milk sugar @day:2023-05-08"), turn_fields("coffee tea milk sugar @time"))
    assert consolidated(graph, NOON).repeats == [("t0", "t1")]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"concepts": "coffee tea milk honey"}, id="other words"),
        pytest.param({"speaker": "Bob"}, id="an echo"),
        pytest.param({"question": True}, id="a question"),
        pytest.param({"session": "another"}, id="another conversation"),
        pytest.param({"at": NOON + DAY - HOUR}, id="the next morning"),
    ],
)
def test_turns_that_do_not_say_the_same_both_stay(other: dict[str, Any]) -> None:
    first = turn_fields("coffee tea milk sugar")
    assert consolidated(graph_with(first, {**first, **other}), NOON).repeats == []


def test_a_greeting_may_be_said_again() -> None:
    words = " ".join(f"hello{number}" for number in range(LEAST_WORDS - 1))
    assert consolidated(graph_with(turn_fields(words), turn_fields(words)), NOON).repeats == []


def test_old_turns_are_compared_with_new_ones_only() -> None:
    words = "coffee tea milk sugar"
    graph = graph_with(turn_fields(words), turn_fields(words), duplicate_above=2.0)
    graph.fold(ConsolidationWindowClosed(**UNSTAMPED, graph="ada", at=NOON, consolidated=[], topics=[], merged=[]))
    graph.fold(GraphConfigured(**UNSTAMPED, graph="ada", preset="default", settings=PRESETS["default"]))
    assert consolidated(graph, NOON).repeats == []
    graph.fold(turn_recorded(id="t2", concepts=words, live=True))
    assert consolidated(graph, NOON).repeats == [("t0", "t2")]  # t1 is no duplicate of a turn that goes


_words = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=7, unique=True).map(" ".join)
_turns = st.lists(
    st.builds(
        turn_fields,
        _words,
        tokens=st.integers(1, 9),
        session=st.sampled_from(["home", "home", "work"]),
        speaker=st.sampled_from(["Ada", "Ada", "Ben"]),
        question=st.sampled_from([False, False, True]),
        at=st.sampled_from([NOON, NOON, NOON + 11 * HOUR, NOON + 12 * HOUR]),
    ),
    min_size=2,
    max_size=20,
)


def test_a_turn_is_compared_with_those_of_its_conversation_alone_however_much_else_was_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared, candidates = list[tuple[int, int]](), consolidation._sharing  # noqa: SLF001 - what is counted is its own

    def counted(*arguments: Any) -> Iterator[tuple[int, int]]:
        for pair in candidates(*arguments):
            compared.append(pair)
            yield pair

    monkeypatch.setattr(consolidation, "_sharing", counted)
    turns = [turn_fields("coffee tea cake milk", session=f"s{number % 40}", at=NOON + number) for number in range(120)]
    assert len(consolidated(graph_with(*turns), NOON + DAY).repeats) == 40 * 2
    assert len(compared) == 120 * 2
    assert all(one % 40 == other % 40 for one, other in compared)


@pytest.mark.source("M26")
@given(_turns, st.sampled_from([0.3, 0.5, 2 / 3, 0.75, 0.8, 0.9]), st.integers(1, 20))
def test_duplicates_are_those_that_comparing_all_pairs_finds(
    turns: list[dict[str, Any]], share: float, fresh: int
) -> None:
    graph = graph_with(*turns, duplicate_above=share)
    graph.fresh_turns = fresh
    merged = consolidated(graph, NOON).repeats
    words = [frozenset(turn["concepts"].split()) for turn in turns]

    def alike(left: str, right: str) -> bool:
        first, second = turns[int(left[1:])], turns[int(right[1:])]
        if any(first[name] != second[name] for name in ("session", "speaker", "question")):
            return False
        one, two = words[int(left[1:])], words[int(right[1:])]
        if abs(first["at"] - second["at"]) >= 12 * HOUR:
            return False
        return len(one & two) / len(one | two) > share and min(len(one), len(two)) >= LEAST_WORDS

    kept, dropped = {kept for kept, _ in merged}, [dropped for _, dropped in merged]
    assert all(alike(left, right) for left, right in merged)
    assert len(dropped) == len(set(dropped))
    assert not kept & set(dropped)
    new = {f"t{number}" for number in range(len(turns))[-fresh:]} - set(dropped)
    staying = {f"t{number}" for number in range(len(turns))} - set(dropped)
    assert not any(alike(one, other) for one in new for other in staying - {one}), "a duplicate was overlooked"


def test_a_session_is_consolidated_once_it_is_over() -> None:
    graph = graph_with(*(turn_fields("coffee tea milk", at=NOON + turn) for turn in range(12)))
    for event in due_events(graph, NOON + HOUR):
        assert isinstance(event, ConsolidationWindowClosed)
        graph.fold(event)
    assert next_due(graph, NOON + HOUR) is None
    assert (graph.fresh_turns, graph.clock) == (0, event.at + graph.settings.grace)


def test_a_consolidation_that_finds_nothing_is_closed_all_the_same() -> None:
    graph = graph_with(turn_fields("coffee"))
    assert close(graph, DueWindow("consolidation", NOON)) == [consolidation_closed(at=NOON, **UNSTAMPED)]


def test_a_decay_window_tells_what_has_faded() -> None:
    graph = graph_with(turn_fields("coffee tea"), half_life=DAY)
    later = NOON + 30 * DAY
    expected = memory_archived(at=later, concepts="coffee tea", turns="t0", **UNSTAMPED)
    assert close(graph, DueWindow("decay", later)) == [expected]


def test_a_decay_window_in_which_nothing_faded_leaves_no_event() -> None:
    assert close(graph_with(turn_fields("coffee")), DueWindow("decay", NOON + DAY)) == []
