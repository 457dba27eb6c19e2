"""Windows that no fold counts: rounds, k turns, sessions; against those that are counted, and by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.errors import TooMuchAskedError
from state.graph.counting import derived_windows
from state.graph.counting.derived_windows import DerivedWindow
from state.graph.view import GraphView
from tests.support.builders import folded, turn_recorded

Line = tuple[str, str, str]  # session, speaker, concepts


def view_of(*lines: Line) -> GraphView:
    return folded(
        *(
            turn_recorded(id=f"t{number}", session=session, speaker=speaker, concepts=concepts)
            for number, (session, speaker, concepts) in enumerate(lines)
        )
    ).view()


def pairs_of(view: GraphView, kind: DerivedWindow | int) -> dict[str, int]:
    keys, counts = view.window(kind).pairs.canonical()
    names = ("".join(sorted((view.ids[key >> 32], view.ids[key & 0xFFFFFFFF]))) for key in keys.tolist())
    return dict(zip(names, counts.tolist(), strict=True))


lines = st.lists(
    st.tuples(
        st.sampled_from(["one", "two"]),
        st.sampled_from(["Ada", "Bob"]),
        st.sets(st.sampled_from("abcde"), min_size=1, max_size=3).map(lambda words: " ".join(sorted(words))),
    ),
    min_size=1,
    max_size=20,
)


@pytest.mark.source("E15")
@given(lines)
def test_one_turn_and_two_are_what_the_fold_counts(lines: list[Line]) -> None:
    view = view_of(*lines)
    for turns, kind in ((1, "turn"), (2, "exchange")):
        counted, result = view.windows[kind], view.window(turns)  # type: ignore[index]
        assert result.total == counted.total
        assert result.concept.tolist() == counted.concept.tolist()
        assert [column.tolist() for column in result.pairs.canonical()] == [
            column.tolist() for column in counted.pairs.canonical()
        ]
        assert result.fan.tolist() == counted.fan.tolist()


@pytest.mark.source("E15")
@given(lines)
def test_wider_windows_hold_what_narrower_ones_do(lines: list[Line]) -> None:
    view = view_of(*lines)
    for narrow, wide in ((1, 2), (2, 3), (3, 8), (1, "round"), ("round", "session")):
        pairs = pairs_of(view, wide)  # type: ignore[arg-type]
        assert pairs_of(view, narrow).keys() <= pairs.keys()  # type: ignore[arg-type]
    assert view.window("session").total == len({session for session, _, _ in lines})


@pytest.mark.source("E15")
def test_a_round_ends_before_somebody_speaks_again_who_has_had_their_say() -> None:
    view = view_of(
        ("s", "Ada", "a"),  # a question, in two turns,
        ("s", "Ada", "b"),
        ("s", "Bob", "c"),  # and what is answered to it
        ("s", "Ada", "d"),  # the next round
        ("s", "Bob", "e"),
        ("t", "Bob", "x"),  # a session of one speaker: each turn by itself
        ("t", "Bob", "y"),
    )
    assert pairs_of(view, "round") == {"ab": 1, "ac": 1, "bc": 1, "de": 1}
    assert view.window("round").total == 4


@pytest.mark.source("E15")
def test_three_in_a_room_speak_once_each_in_a_round() -> None:
    view = view_of(("s", "Ada", "a"), ("s", "Bob", "b"), ("s", "Cleo", "c"), ("s", "Bob", "d"), ("s", "Ada", "e"))
    assert pairs_of(view, "round") == {"ab": 1, "ac": 1, "bc": 1, "de": 1}


@pytest.mark.source("E15")
def test_three_turns_are_a_window_of_their_session_alone() -> None:
    view = view_of(("s", "Ada", "a"), ("s", "Ada", "b"), ("s", "Ada", "c"), ("s", "Ada", "d"), ("t", "Ada", "x"))
    assert pairs_of(view, 3) == {"ab": 2, "ac": 1, "bc": 2, "bd": 1, "cd": 1}
    assert pairs_of(view, "session") == dict.fromkeys(("ab", "ac", "ad", "bc", "bd", "cd"), 1)


def test_windows_are_derived_once_until_the_graph_changes() -> None:
    view = view_of(("s", "Ada", "a"), ("s", "Bob", "b"))
    assert view.window("round") is view.window("round")
    assert view.window("exchange") is view.windows["exchange"]


def test_too_many_pairs_are_refused_with_what_to_ask_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived_windows, "MOST_PAIRS", 2)
    view = view_of(("s", "Ada", "a b c d"))
    with pytest.raises(TooMuchAskedError, match="take `exchange`"):
        view.window("session")
