"""What the index of turns says is what a look through all columns says, however the turns came in."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state.graph import turn_index
from state.graph.graph import Graph
from state.graph.tables.lists import Lists
from tests.support.builders import concept, forgotten, turn_recorded

WORDS = ("paint", "painter", "pain", "喝咖啡", "咖啡", "@name", "tea")

turn_fields = st.builds(
    dict,
    session=st.sampled_from(["s", "t", "u"]),
    tokens=st.integers(0, 9),
    concepts=st.lists(
        st.builds(concept, st.sampled_from(WORDS), count=st.integers(1, 3)), unique_by=lambda one: one.id, max_size=5
    ),
)
appended = st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 99)), max_size=20), max_size=6)


@given(appended)
def test_lists_hold_what_was_appended_in_that_order(parts: list[list[tuple[int, int]]]) -> None:
    lists, expected = Lists(columns=2), defaultdict[int, list[int]](list)
    lists.grow(6)
    for part in parts:
        keys, values = (np.array(column, np.int64) for column in zip(*part, strict=True)) if part else [np.zeros(0)] * 2
        lists.extend(keys.astype(np.int64), values.astype(np.int64), values.astype(np.int64) + 1)
        for key, value in part:
            expected[key].append(value)
    assert [lists.of(key)[0].tolist() for key in range(6)] == [expected[key] for key in range(6)]
    assert [lists.of(key)[1].tolist() for key in range(6)] == [[n + 1 for n in expected[key]] for key in range(6)]
    assert lists.lengths.tolist() == [len(expected[key]) for key in range(6)]
    of, values, _ = lists.of_all(np.array([4, 0, 4]))
    assert (of.tolist(), values.tolist()) == (
        [0] * len(expected[4]) + [1] * len(expected[0]) + [2] * len(expected[4]),
        [*expected[4], *expected[0], *expected[4]],
    )


@pytest.fixture(
    params=[(1 << 19, 32, 1 << 14), (0, 2, 2), (0, 6, 0), (0, 1000, 0)],
    ids=["sorted", "looked for at first", "looked for together at first", "looked for"],
)
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let so many postings be many, so much be looked for among them, and so many words be many."""
    for name, value in zip(("MANY", "LOOKS", "MANY_WORDS"), request.param, strict=True):
        monkeypatch.setattr(turn_index, name, value)


@pytest.mark.usefixtures("many")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(turn_fields, max_size=24), st.sets(st.integers(0, 23)), st.integers(0, 24))
def test_the_index_says_what_the_columns_say(turns: list[dict[str, object]], steps: set[int], gone: int) -> None:
    graph = Graph("g")
    for number, turn in enumerate(turns):
        graph.fold(turn_recorded(graph="g", id=f"t{number}", **turn))
        if number == gone:
            graph.fold(forgotten(graph="g", turns=[f"t{number // 2}"], concepts=["paint"]))
        if number in steps:
            assert_index(graph)
    assert_index(graph)


def assert_index(graph: Graph) -> None:
    view = graph.view()
    few = np.arange(view.concepts)[1::2]
    of, mentioning, times = view.mentions_of(few)
    for place, number in enumerate(few.tolist()):
        here = view.posting_concept == number
        assert mentioning[of == place].tolist() == view.posting_passage[here].tolist()
        assert times[of == place].tolist() == view.posting_count[here].tolist()
    values = np.arange(view.concepts) % 7 * 1.0
    assert view.most_of_turn(values).tolist() == [
        max(values[view.posting_concept[view.posting_passage == passage]].tolist(), default=0.0)
        for passage in range(view.turns)
    ]
    for number in range(view.concepts):
        here = view.posting_concept == number
        passages, counts = view.holders(number)
        assert passages.tolist() == view.posting_passage[here].tolist()
        assert counts.tolist() == view.posting_count[here].tolist()
        assert view.holding(np.array([number])).tolist() == [int(here.sum())]
    some = np.arange(view.concepts)[::-2]
    of, turns_of = view.holders_of(some)
    assert [turns_of[of == place].tolist() for place in range(len(some))] == [
        view.posting_passage[view.posting_concept == number].tolist() for number in some
    ]
    excerpt = view.excerpt(np.arange(len(view.sessions)))
    order = np.argsort(view.passage_session, kind="stable")
    assert excerpt.turn.tolist() == order.tolist()
    assert excerpt.session.tolist() == view.passage_session[order].tolist()
    places = excerpt.place(view.passage_session, view.within(np.arange(view.turns)))
    assert places[order].tolist() == list(range(view.turns))
    assert view.session_tokens.tolist() == np.bincount(view.passage_session, view.passage_tokens).tolist()
    assert view.tokens == view.passage_tokens.sum()
    if view.turns:
        assert view.lengths == (view.passage_tokens.min(), view.passage_tokens.max())
    words = [name for name in view.ids[: view.concepts] if not name.startswith("@")]
    assert list(view.words_beginning("pain")) == [name for name in words if name.startswith("pain")]
    assert list(view.words_beginning("tea")) == [name for name in words if name == "tea"]
    assert list(view.words_with_initial("p")) == [name for name in words if name[0] == "p"]
    assert list(view.words_holding("咖啡")) == [name for name in words if "咖啡" in name]


@given(st.lists(st.text("paint喝咖é", max_size=6).filter(bool), unique=True, max_size=30))
def test_a_small_graph_finds_the_words_that_a_list_of_all_would_hold(words: list[str]) -> None:
    few, many = (Graph("g") for _ in range(2))
    for number, word in enumerate(words):
        for graph in (few, many):
            graph.fold(turn_recorded(graph="g", id=f"t{number}", concepts=[concept(word)]))
    here = few.view()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(turn_index, "FEW", 0)
        there = many.view()
        for part in {word[:size] for word in words for size in range(1, 5)} | {"", "pain", "咖"}:
            assert list(here.words_beginning(part)) == list(there.words_beginning(part))
            assert list(here.words_with_initial(part)) == list(there.words_with_initial(part))
            assert list(here.words_holding(part)) == list(there.words_holding(part))


def test_the_places_of_sessions_that_are_not_laid_out_are_none() -> None:
    graph = Graph("g")
    for number in range(9):
        graph.fold(turn_recorded(graph="g", id=f"t{number}", session=f"s{number % 3}"))
    view = graph.view()
    excerpt = view.excerpt(np.array([0, 2]))
    assert excerpt.turn.tolist() == [0, 3, 6, 2, 5, 8]
    assert excerpt.start.tolist() == [0, 0, 0, 3, 3, 3]
    assert excerpt.end.tolist() == [3, 3, 3, 6, 6, 6]
    assert excerpt.place(view.passage_session, view.within(np.arange(9))).tolist() == [0, -1, 3, 1, -1, 4, 2, -1, 5]
