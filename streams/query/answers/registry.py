"""The table of answers: the class of a question's message → the function that answers it.

A new kind of question is a message class in emgas/messages and one function in this folder, marked `@answers(Kind)`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from emgas.messages.requests import AnswerMessage, Question
from processors.recall.answer.answer import Answer

if TYPE_CHECKING:
    from streams.query.answers.context import AnswerContext

Q = TypeVar("Q", bound=Question)
R = TypeVar("R", bound=Answer | AnswerMessage)  # an Answer also holds what the question woke
AnswerFunction = Callable[[Q, "AnswerContext"], Awaitable[R]]


class Answering(NamedTuple):
    """The function and options of one kind of question.

    reads_pairs  whether the pairs of its graph must be loaded before; of a large graph, that takes a while
    """

    function: Callable[[Any, AnswerContext], Awaitable[Answer | AnswerMessage]]
    reads_pairs: bool


ANSWERS: dict[type, Answering] = {}  # by class of Question


def answers(kind: type[Q], *, reads_pairs: bool = False) -> Callable[[AnswerFunction[Q, R]], AnswerFunction[Q, R]]:
    """Register a function as the one that answers questions of class `kind`."""

    def register(function: AnswerFunction[Q, R]) -> AnswerFunction[Q, R]:
        if kind in ANSWERS:
            raise TypeError(f"{kind.__name__} is answered twice: remove one of the two functions")
        ANSWERS[kind] = Answering(function, reads_pairs)
        return function

    return register
