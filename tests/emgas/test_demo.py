"""The bundled conversation: valid, long enough to show forgetting, and with questions that its turns answer."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from emgas.importers.registry import read
from emgas.messages.queries import Query
from emgas.messages.turns import Turn

FOLDER = Path(__file__).parents[2] / "streams" / "cli" / "memory" / "demo_data"
QUESTIONS: list[dict[str, Any]] = orjson.loads((FOLDER / "questions.json").read_bytes())


@pytest.fixture(scope="module")
def conversation() -> dict[str, Turn]:
    with (FOLDER / "conversation.jsonl").open("rb") as stream:
        results = list(read(stream, "conversation.jsonl"))
    assert all(isinstance(item, Turn) for item in results)
    turns = {item.id: item for item in results if isinstance(item, Turn)}
    assert len(turns) == len(results), "a turn id stands twice"
    return turns


def test_the_conversation_is_bilingual_and_spans_months(conversation: dict[str, Turn]) -> None:
    demo = [turn for turn in conversation.values() if turn.graph == "demo"]
    months = {datetime.fromtimestamp((turn.at or 0) / 1000, UTC).strftime("%Y-%m") for turn in demo}
    chinese = [turn for turn in demo if re.search(r"[\u4e00-\u9fff]", turn.text)]
    assert len(demo) >= 70
    assert len({turn.session for turn in demo}) >= 6
    assert len(months) >= 6
    assert len(demo) / 5 < len(chinese) < len(demo) / 2
    assert {turn.role for turn in demo} == {"user", "assistant"}


def test_times_only_go_forward_within_a_graph(conversation: dict[str, Turn]) -> None:
    for graph in {turn.graph for turn in conversation.values()}:
        times = [turn.at for turn in conversation.values() if turn.graph == graph]
        assert times == sorted(set(times), key=lambda at: at or 0)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["kind"])
def test_every_question_is_valid_and_has_its_answer_in_its_graph(
    question: dict[str, Any], conversation: dict[str, Turn]
) -> None:
    Query(graph=question["graph"], text=question["question"])
    assert question["answers"]
    for turn in [*question["answers"], *question.get("via", [])]:
        assert conversation[turn].graph == question["graph"]


def test_there_is_one_question_of_each_kind() -> None:
    assert [question["kind"] for question in QUESTIONS] == ["en", "zh", "associative"]


def test_the_associative_question_shares_no_word_with_its_answer_but_both_do_with_the_turn_between(
    conversation: dict[str, Turn],
) -> None:
    (question,) = [question for question in QUESTIONS if question["kind"] == "associative"]
    request = words(question["question"])
    answer, between = (words(conversation[question[key][0]].text) for key in ("answers", "via"))
    assert not request & answer
    assert request & between
    assert answer & between
    assert conversation[question["answers"][0]].session != conversation[question["via"][0]].session


def words(text: str) -> set[str]:
    """Return the words of four letters and more: none of the question's shorter ones carries content."""
    return set(re.findall(r"[a-z]{4,}", text.lower()))
