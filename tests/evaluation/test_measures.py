"""What a memory does over time, measured on sets whose right answer is known by how they were made."""

from __future__ import annotations

import json

import numpy as np
import pytest

from emgas.errors import InvalidMessageError
from emgas.times import DAY_MS, HOUR_MS
from evaluation.measures.abstraction import abstraction
from evaluation.measures.ageing import ageing, ages
from evaluation.measures.forgetting import forgetting
from evaluation.measures.patterns import extract_patterns, matches_pattern, patterns
from evaluation.questions.datasets import read
from evaluation.questions.labelled import LabelledQuestion
from processors.extraction.yake_extractor import YakeExtractor
from processors.text.statements import statements
from state.events.events import GraphConfigured, TurnRecorded
from state.events.memory_settings import PRESETS
from state.graph.graph import Graph
from tests.support.builders import UNLINKED, concepts_recalled, folded, graph_configured, memory_archived, turn_recorded
from tests.support.clocks import NOON
from tests.support.living import Life

EXTRACTOR = YakeExtractor()
LATTES = ("A latte at the corner café.", "My latte with oat milk.", "Latte first, then the world.", "Had a latte.")
OTHERS = (
    "The violin needs new strings.",
    "A storm closed the harbour.",
    "My sister moved to Porto.",
    "The lamp broke.",
)


def a_turn(name: str, text: str, at: int) -> TurnRecorded:
    extraction = EXTRACTOR.of_turn(text, speaker="Ada", at=at)
    facts = {"concepts": list(extraction.concepts), "question": extraction.question, "statements": statements(text)}
    return turn_recorded(id=name, text=text, speaker="Ada", at=at, session=f"day {at // DAY_MS}", **facts)


def with_a_habit() -> tuple[Graph, frozenset[str]]:
    """Return a graph of twenty mornings with a latte, among four other things, and which turns the habit is of."""
    settings = PRESETS["elephant"].model_copy(update={"least_turns": 4})
    life = Life([GraphConfigured(**UNLINKED, graph="ada", preset="elephant", settings=settings)])
    mornings = [a_turn(f"m{day}", LATTES[day % 4], NOON - 4 * HOUR_MS + day * DAY_MS) for day in range(20)]
    others = [a_turn(f"o{number}", text, NOON + number * 5 * DAY_MS) for number, text in enumerate(OTHERS)]
    for turn in sorted([*mornings, *others], key=lambda turn: turn.at):
        life.tell(turn)
    life.tick(NOON + 60 * DAY_MS)
    return life.graph, frozenset(turn.id for turn in mornings)


@pytest.mark.source("P50")
def test_a_habit_that_was_put_in_is_extracted_and_nothing_else_is() -> None:
    graph, mornings = with_a_habit()
    report = patterns([(graph, [mornings])])
    assert (report["expected"], report["recall"], report["precision"], report["f1"]) == (1, 1.0, 1.0, 1.0)
    assert report["turns_of_habits"] >= 15


def test_a_habit_that_is_not_there_is_missed_and_one_that_nobody_named_is_too_much() -> None:
    graph, mornings = with_a_habit()
    others = frozenset(turn for turn in graph.passages.ids if turn not in mornings)
    report = patterns([(graph, [mornings, others])])
    assert (report["recall"], report["precision"]) == (0.5, 1.0)
    assert patterns([(graph, [others])])["f1"] == 0.0
    assert patterns([(graph, [])])["recall"] is None, "where nothing was to be found, nobody can say"


def test_a_habit_that_swallows_everything_has_found_nothing() -> None:
    pattern = frozenset("abcd")
    assert matches_pattern(pattern, frozenset("abcx"))
    assert not matches_pattern(pattern, frozenset("abcd") | frozenset("uvwxyz"))
    assert not matches_pattern(pattern, frozenset("a"))


def test_recall_falls_with_age_only_where_it_does() -> None:
    age = np.array([0.5, 3.0, 20.0, 200.0, 400.0, 500.0] * 20)
    fading = np.where(age > 100, 0.0, 1.0)
    report = ageing(age, fading, np.random.default_rng(1))
    assert {name: part["recall"] for name, part in report["by_age"].items()} == {
        "a day": 1.0, "a week": 1.0, "a month": 1.0, "a year": 0.0, "older": 0.0,
    }  # fmt: skip
    assert (report["fall"]["mean"], report["fall"]["high"] < 0) == (-1.0, True)
    even = ageing(age, np.tile([1.0, 0.0, 1.0, 1.0, 0.0, 1.0], 20), np.random.default_rng(1))
    assert even["fall"]["low"] <= 0 <= even["fall"]["high"]


def test_the_age_of_evidence_is_that_of_its_latest_turn_and_what_is_gone_counts_apart() -> None:
    graph = folded(*(a_turn(f"t{day}", f"Day {day} at the harbour.", NOON + day * DAY_MS) for day in range(11)))
    questions = [LabelledQuestion("?", "x", frozenset(turns), "g") for turns in (["t0", "t4"], ["t10"], ["nowhere"])]
    age = ages(graph.view(), questions)
    assert age[:2].tolist() == [6.0, 0.0]
    assert np.isnan(age[2])
    assert ageing(age, np.ones(3), np.random.default_rng(1))["gone"] == 1


def test_abstraction_is_balanced_where_patterns_and_their_details_are_both_found() -> None:
    graph, _ = with_a_habit()
    questions = [LabelledQuestion("?", "x", frozenset([turn]), "g") for turn in ("m3", "o1")]
    (habit,) = extract_patterns(graph)
    assert "m3" in habit
    report = abstraction([(graph, questions)], np.array([1.0, 0.0]), 1.0)
    assert (report["detail"], report["rest"], report["questions_of_habits"], report["balance"]) == (1.0, 0.0, 1, 1.0)
    assert report["coverage"] == pytest.approx(len(habit) / 24)
    hidden = abstraction([(graph, questions)], np.array([0.0, 1.0]), 1.0)
    assert (hidden["detail"], hidden["balance"]) == (0.0, 0.0), "an abstract that hides its details is no balance"
    assert abstraction([(graph, questions)], np.array([1.0, 1.0]), None)["balance"] is None


@pytest.mark.source("P50")
def test_what_was_rehearsed_stays_longer_and_nothing_comes_back_by_itself() -> None:
    turns = [turn_recorded(id="once", at=NOON, concepts="kettle")]
    turns += [turn_recorded(id=f"r{day}", at=NOON + day * DAY_MS, concepts="latte") for day in range(8)]
    report = forgetting([folded(graph_configured(long_windows=0, long_recalls=0), *turns)])
    assert report["words"] == {"once": 1, "5 and more": 1}
    assert (report["falls"], report["rehearsed"]) == (0, 0)
    first_gone = {name: curve.index(0.0) for name, curve in report["curves"].items() if 0.0 in curve}
    assert first_gone["once"] < first_gone.get("5 and more", len(report["days"]))
    assert report["fit"]["explained"] > 0.95, "what fades by halves is an exponential"


def test_a_memory_in_which_rehearsal_does_harm_is_told() -> None:
    """Recalled often in early times, and not since, against what was said once just now."""
    early = [turn_recorded(id="e", at=NOON - 900 * DAY_MS, concepts="latte")]
    early += [concepts_recalled(at=NOON - (899 - day) * DAY_MS, concepts="latte") for day in range(6)]
    graph = folded(
        graph_configured(long_windows=0, long_recalls=0),
        *early,
        turn_recorded(id="once", at=NOON, concepts="kettle"),
        memory_archived(at=NOON, concepts="latte"),
    )
    report = forgetting([graph])
    assert report["rehearsed"] > 0
    assert report["now"] == {"once": 1.0, "5 and more": 0.0}


def conversation(**more: object) -> bytes:
    talk = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": f"Latte number {n}."} for n in (1, 2, 3)],
    }
    questions = [{"question": "Which latte?", "category": 4, "evidence": ["D1:2"]}]
    return json.dumps([{"sample_id": "x", "conversation": talk, "qa": questions, **more}]).encode()


def test_what_recurs_can_stand_in_a_file_of_conversations() -> None:
    data = read(conversation(patterns=[["D1:1", "D1:3"]]))
    (of_graph,) = data.patterns.values()
    assert of_graph == [frozenset(["x/D1:1", "x/D1:3"])]
    assert read(conversation()).patterns == {}
    for wrong, why in (
        ([["D9:9"]], "pattern 1: there is no turn D9:9"),
        ([[]], "at least one"),
        (["D1:1"], "a list of"),
    ):
        with pytest.raises(InvalidMessageError, match=why):
            read(conversation(patterns=wrong))
