"""What is told of moods is right: on sentences of both languages, and counted over time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from emgas.messages.views import Mood, Trend, Trended
from emgas.times import DAY_MS as DAY
from processors.recall.reports.trends import compute_trend
from processors.text import tables
from processors.text.feelings import feelings
from state.graph.graph import Graph
from tests.support.clocks import NOON
from tests.support.stories import EXTRACTOR, extracted, queried

TABLE = Path(__file__).parent / "data" / "feelings.tsv"
LIFE = (
    "I'm so excited about the new flat!",
    "我很难过，小猫走丢了。",
    "The latte was cold, and I was furious.",
    "I'm thrilled with the latte at the corner.",
    "Are you happy with the latte?",
)


@pytest.mark.source("P39")
def test_of_a_hundred_moods_that_are_told_98_are_right_and_few_are_missed() -> None:
    rows = [line.split("\t") for line in TABLE.read_text("utf-8").splitlines() if not line.startswith("#")]
    report = right = meant = 0
    for text, means in rows:
        moods, expected = feelings(text), [] if means == "-" else means.split("; ")
        right += (Counter(moods) & Counter(expected)).total()
        report, meant = report + len(moods), meant + len(expected)
    assert right / report >= 0.98
    assert right / meant >= 0.9
    assert sum(means == "-" for _, means in rows) > len(rows) / 3


def test_the_moods_of_the_table_are_those_of_the_wire() -> None:
    assert {mood for mood, *_ in tables.rows("processors.text", "feelings")} == set(get_args(Mood))


def trend_of(text: str, *, moods: bool = True) -> Trended:
    graph = Graph("ada")
    turns = {f"t{n}": extracted(sentence, id=f"t{n}", at=NOON + n * 7 * DAY) for n, sentence in enumerate(LIFE)}
    for turn in turns.values():
        graph.fold(turn)
    return compute_trend(queried(graph, turns), Trend(graph="ada", text=text, by="week", moods=moods), EXTRACTOR)


@pytest.mark.source("P39")
def test_a_trend_tells_how_somebody_felt_over_time_if_it_is_asked() -> None:
    latte = trend_of("latte")
    assert latte.moods == {"angry": 1, "glad": 1}
    assert [period.moods for period in latte.periods] == [{"angry": 1}, {"glad": 1}, {}]
    assert trend_of("latte", moods=False).moods == {}


@pytest.mark.source("P39")
@pytest.mark.parametrize("question", ["How did I feel?", "我的心情怎么样？"])
def test_a_question_for_moods_alone_asks_of_all_that_was_said(question: str) -> None:
    trend = trend_of(question)
    assert trend.moods == {"glad": 2, "sad": 1, "angry": 1}
    assert trend.turns == len(LIFE)
