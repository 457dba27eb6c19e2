"""The table of answers: every kind of question is answered by exactly one function."""

from __future__ import annotations

from typing import Any

import pytest

from emgas.messages.queries import Describe, Description
from emgas.messages.topics import QUESTIONS
from streams.query import handler
from streams.query.answers.registry import ANSWERS, answers


def test_every_kind_of_question_has_exactly_one_answer() -> None:
    assert handler.ANSWERS is ANSWERS
    assert set(ANSWERS) == set(QUESTIONS)
    functions = [answering.function for answering in ANSWERS.values()]
    assert len(set(functions)) == len(functions), "one function each"


def test_a_second_answer_to_a_kind_is_an_error_where_it_is_declared() -> None:
    before = ANSWERS[Describe]

    async def another(request: Describe, context: Any) -> Description:
        raise AssertionError

    with pytest.raises(TypeError, match="Describe is answered twice"):
        answers(Describe)(another)
    assert ANSWERS[Describe] is before
