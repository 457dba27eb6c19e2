"""LongMemEval: each question has a history of its own, whose marked turns hold the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emgas.errors import InvalidMessageError
from evaluation.questions.datasets import read
from evaluation.questions.labelled import UNANSWERABLE

SESSION = [
    {"role": "user", "content": "I bought a tandem from a fisherman.", "has_answer": True},
    {"role": "assistant", "content": "A tandem! Does it need a new chain?"},
    {"role": "user", "content": " "},
]


def entry(name: str, **changes: Any) -> dict[str, Any]:
    """Write a question with a history of two sessions."""
    return {
        "question_id": name,
        "question_type": "single-session-user",
        "question": "What did I buy from a fisherman?",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [SESSION, [{"role": "user", "content": "The museum was closed."}]],
    } | changes


def test_a_history_becomes_a_graph_and_its_marked_turns_are_the_evidence() -> None:
    data = read(json.dumps([entry("q1"), entry("q2_abs")]).encode())
    assert [turn.id for turn in data.turns if turn.graph == "q1"] == ["q1/s1/0", "q1/s1/1", "q1/s2/0"]
    assert (data.turns[0].at, data.turns[1].role) == (1_684_549_260_000, "assistant")
    (question,) = data.questions["q1"]
    assert (question.category, question.evidence) == ("single-session-user", frozenset(["q1/s1/0"]))
    assert data.questions["q2_abs"][0].category == UNANSWERABLE


def test_a_question_of_which_no_turn_is_marked_is_left_out() -> None:
    unmarked = entry("q1", haystack_sessions=[[{"role": "user", "content": "Hello there."}], []])
    data = read(json.dumps([unmarked]).encode())
    assert (data.questions, data.unusable) == ({}, 1)


@pytest.mark.parametrize("changes", [{"haystack_dates": ["soon", "later"]}, {"haystack_session_ids": ["s1"]}])
def test_a_history_of_another_form_is_refused_with_its_place(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidMessageError, match="question 1: is no question of LongMemEval"):
        read(json.dumps([entry("q1", **changes)]).encode())
