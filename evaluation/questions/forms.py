"""The same conversations in another form: recall must not fall when only the form changes.

    user       one user says everything: no speaker tells turns apart
    assistant  the same, and after every turn an assistant writes 500 words that say nothing of consequence
               (neutral_replies.py); what an assistant of the data set says is lengthened to 500 words
    long       the user writes messages of 200 words and more: turns of a session, joined in their order

Questions stay.  In the long form their evidence is the message that their turn went into.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby
from typing import Final

from emgas.messages.turns import Turn
from evaluation.questions.labelled import DataSet, LabelledQuestion
from evaluation.questions.neutral_replies import reply
from processors.recall.context.context import tokens

USER: Final = "User"
ASSISTANTS: Final = ("AI", "Assistant")  # speakers that are no users; the last answers where there is none
LONG: Final = 260  # tokens from which a message is long: 200 words, · 1.3


def of_one_user(data: DataSet) -> DataSet:
    """Attribute all turns that are not an assistant's to one user."""
    return replace(data, turns=[turn if _is_assistant(turn) else _by_user(turn) for turn in data.turns])


def _by_user(turn: Turn) -> Turn:
    return turn.model_copy(update={"speaker": USER, "role": "user"})


def _is_assistant(turn: Turn) -> bool:
    return turn.role == "assistant" or turn.speaker in ASSISTANTS


def with_assistant(data: DataSet) -> DataSet:
    """Add a long reply of an assistant to every turn of a user."""
    turns = of_one_user(data).turns
    answered: list[Turn] = []
    for turn, after in zip(turns, [*turns[1:], None], strict=True):
        if _is_assistant(turn):
            answered.append(_at_length(turn, f"{turn.text} {reply(turn.id, turn.text)}"))
            continue
        answered.append(turn)
        if after is None or after.session != turn.session or not _is_assistant(after):
            answered.append(_at_length(turn.model_copy(update={"id": f"{turn.id}/reply"}), reply(turn.id, turn.text)))
    return replace(data, turns=answered)


def _at_length(turn: Turn, text: str) -> Turn:
    return turn.model_copy(update={"speaker": ASSISTANTS[-1], "role": "assistant", "text": text})


def in_long_messages(data: DataSet) -> DataSet:
    """Join the turns of a session to messages of LONG tokens and more; a rest joins the message before."""
    turns, message_of = list[Turn](), dict[str, str]()
    for _, utterances in groupby(data.turns, key=lambda turn: (turn.graph, turn.session)):
        for message in _messages(utterances):
            text = "\n".join(turn.text for turn in message)
            turns.append(_by_user(message[0]).model_copy(update={"text": text}))
            message_of.update((turn.id, message[0].id) for turn in message)
    patterns = {
        graph: [frozenset(message_of[turn] for turn in pattern) for pattern in of_graph]
        for graph, of_graph in data.patterns.items()
    }
    questions = {graph: _moved(questions, message_of) for graph, questions in data.questions.items()}
    return DataSet(turns, questions, data.unusable, patterns)


def _messages(session: Iterable[Turn]) -> list[list[Turn]]:
    """Cut the turns of a session into those of each long message."""
    messages: list[list[Turn]] = []
    for turn in session:
        if not messages or _size(messages[-1]) >= LONG:
            messages.append([])
        messages[-1].append(turn)
    if len(messages) > 1 and _size(messages[-1]) < LONG:
        messages[-2:] = [messages[-2] + messages[-1]]
    return messages


def _size(message: Iterable[Turn]) -> int:
    return sum(tokens(turn.text) for turn in message)


def _moved(questions: Iterable[LabelledQuestion], message_of: dict[str, str]) -> list[LabelledQuestion]:
    return [
        replace(question, evidence=frozenset(message_of[turn] for turn in question.evidence)) for question in questions
    ]


UNCHANGED: Final = "as given"
FORMS: Final[dict[str, Callable[[DataSet], DataSet]]] = {
    UNCHANGED: lambda data: data,
    "user": of_one_user,
    "assistant": with_assistant,
    "long": in_long_messages,
}
