"""Clauses and windows of tokens as what is counted together; in English and in Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.gates.clauses import clauses
from lab.gates.units import units
from state.events.events import GraphEvent
from state.events.extraction_types import UNITS
from state.graph.graph import Graph
from tests.support.builders import concepts, forgotten, graph_configured, refolded, turn_recorded
from tests.support.gated import Gated
from tests.support.memories import extractor


@pytest.mark.source("P12")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "We adopted a cat, because the kids wanted one. It sleeps a lot.",
            ["We adopted a cat, ", "because the kids wanted one. ", "It sleeps a lot."],
        ),
        ("We need milk, eggs, bread.", ["We need milk, eggs, bread."]),
        ("Version 3.5 costs 10,000 euros at 10:30 sharp.", ["Version 3.5 costs 10,000 euros at 10:30 sharp."]),
        (
            "When it rains the cellar floods; nobody knows why.",
            ["When it rains the cellar floods;", " nobody knows why."],
        ),
        ("我明天去北京出差，但是项目还没做完。", ["我明天去北京出差，", "但是项目还没做完。"]),
        ("我很想去海边但是我没有时间。下次一定！", ["我很想去海边", "但是我没有时间。", "下次一定！"]),
        ("买了牛奶，鸡蛋，面包。", ["买了牛奶，鸡蛋，面包。"]),
    ],
)
def test_a_text_is_cut_into_clauses_and_fragments_stay_with_theirs(text: str, expected: list[str]) -> None:
    assert [clause.strip() for clause in clauses(text)] == [clause.strip() for clause in expected]


@given(st.text(alphabet="ab ,;.!?，。但是because\n", max_size=60))
def test_joined_the_clauses_are_the_text(text: str) -> None:
    assert "".join(clauses(text)) == text


@pytest.mark.source("P12")
@pytest.mark.parametrize(
    ("text", "inside", "across"),
    [
        ("The vet prescribed ear drops, because Biscuit scratched the sofa.", ("vet", "drop"), ("vet", "sofa")),
        ("医生给小猫开了滴耳液，因为它抓坏了沙发。", ("医生", "小猫"), ("医生", "沙发")),
    ],
)
def test_only_what_one_clause_holds_was_said_together(
    text: str, inside: tuple[str, str], across: tuple[str, str]
) -> None:
    memory = Gated(clauses=1)
    memory.say(text)
    assert (memory.together(*inside), memory.together(*across)) == (1, 0)
    plain = Gated()
    plain.say(text)
    assert plain.together(*across) == 1


@pytest.mark.source("P4")
@pytest.mark.parametrize(
    ("long", "one", "near", "far"),
    [
        (
            "The ferry leaves at noon. Nora packs the tent. The stove needs gas. Walter brings the guitar.",
            "ferry",
            "tent",
            "guitar",
        ),
        ("渡轮中午出发。小红收拾帐篷。炉子需要煤气。老王带上吉他。", "渡轮", "帐篷", "吉他"),
    ],
)
def test_a_long_turn_is_windows_that_overlap(long: str, one: str, near: str, far: str) -> None:
    memory = Gated(window_tokens=11, window_overlap=0.5)
    (turn,) = memory.say(long)
    assert len(turn.units) >= 2
    assert set(turn.units[0]) & set(turn.units[1]), "what one window ends with, the next one begins with"
    assert (memory.together(one, near, "turn"), memory.together(one, far, "turn")) == (1, 0)
    short = Gated(window_tokens=512, window_overlap=0.5)
    short.say(long)
    assert short.together(one, far, "turn") == 1


@pytest.mark.source("P4")
def test_a_window_reaches_back_over_as_many_turns_as_fit() -> None:
    def memory_of(room: int) -> Gated:
        memory = Gated(window_tokens=room, window_overlap=0.5)
        memory.say("The ferry leaves.", "Nora packs the tent.", "Walter brings the guitar.")
        return memory

    wide, narrow = memory_of(64), memory_of(8)
    assert (wide.together("ferry", "guitar"), narrow.together("ferry", "guitar")) == (1, 0)
    assert narrow.together("tent", "guitar") == 1
    plain = Gated()
    plain.say("The ferry leaves.", "Nora packs the tent.", "Walter brings the guitar.")
    assert plain.together("ferry", "guitar") == 0, "by default, an exchange is two turns"


@pytest.mark.source("P4", "P5")
def test_a_short_turn_is_judged_with_the_window_that_it_stands_in() -> None:
    texts = ("The volcano on the island erupted last night.", "Unbelievable, the volcano!")
    alone, together = (
        Gated(novelty_above=0.35, novelty_alpha=1.0, novelty_border=0.0),
        Gated(novelty_above=0.35, novelty_alpha=1.0, novelty_border=0.0, window_tokens=512),
    )
    scores = [[turn.novelty for turn in memory.say(*texts)] for memory in (alone, together)]
    assert (scores[0][1] or 0.0) < (scores[1][1] or 0.0)


def test_a_text_of_very_many_clauses_has_no_more_units_than_an_event_holds() -> None:
    text = "The cat sleeps all day; " * (UNITS + 50)
    extraction = extractor().of_turn(text, speaker="Ada", at=0)
    counted_units = units(
        extractor(), text, extraction.concepts, tokens=extraction.tokens, settings=Gated(clauses=1).graph.settings
    )
    assert len(counted_units) == UNITS


parts = st.lists(st.lists(st.integers(0, 3), max_size=4, unique=True), max_size=4)
conversations = st.lists(st.tuples(parts, st.integers(1, 30), st.booleans(), st.integers(0, 6)), max_size=15)


@given(
    conversations,
    st.sampled_from([{"clauses": 1}, {"window_tokens": 20}, {"window_tokens": 40, "window_overlap": 0.9}]),
)
def test_when_units_are_counted_changes_nothing(
    conversation: list[tuple[list[list[int]], int, bool, int]], settings: dict[str, float]
) -> None:
    events: list[GraphEvent] = [graph_configured(**settings)]
    for number, (unit, tokens, forgets, back) in enumerate(conversation):
        words = concepts("coffee tea milk sugar")
        events.append(turn_recorded(id=f"t{number}", concepts=words, units=unit, tokens=tokens, at=number))
        if forgets:
            events.append(forgotten(turns=f"t{number - back}"))
    plain = refolded(events, Graph("ada"))
    eager = Graph("ada")
    for event in events:
        eager.fold(event)
        eager.compact()
    assert eager.digest() == plain.digest()
