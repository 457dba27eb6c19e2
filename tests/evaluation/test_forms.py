"""The same conversations in another form: nothing that is asked gets lost, and nothing is added that answers it."""

from __future__ import annotations

import pytest

from emgas.messages.turns import Turn
from evaluation.questions.forms import ASSISTANTS, FORMS, LONG, USER
from evaluation.questions.labelled import DataSet, LabelledQuestion
from evaluation.questions.neutral_replies import TOKENS, reply
from processors.recall.context.context import tokens

ABOUT = 0.95  # of a size: parts are measured one by one, and each is rounded up
SENTENCE = "I took the early ferry to the island and met my sister there for lunch."


def turn(number: int, *, session: str = "s", speaker: str = "Ada", text: str = SENTENCE) -> Turn:
    return Turn(id=f"t{number}", graph="g", session=session, speaker=speaker, text=text, at=1_000_000 + number)


def question_with(*evidence: str) -> LabelledQuestion:
    return LabelledQuestion("Where to?", "single-hop", frozenset(evidence), "g")


DATA = DataSet(
    [turn(number, session="st"[number // 30], speaker=("Ada", "Ben")[number % 2]) for number in range(60)],
    {"g": [question_with("t3"), question_with("t3", "t59")]},
)


def test_as_given_nothing_changes() -> None:
    assert FORMS["as given"](DATA) == DATA


@pytest.mark.parametrize("form", ["user", "assistant", "long"])
def test_a_form_is_the_same_every_time_and_keeps_every_word_and_question(form: str) -> None:
    changed = FORMS[form](DATA)
    assert changed == FORMS[form](DATA)
    text = "\n".join(each.text for each in changed.turns if each.speaker == USER)
    assert text.count(SENTENCE) == 60
    assert [each.text for each in changed.questions["g"]] == [each.text for each in DATA.questions["g"]]
    assert len({each.id for each in changed.turns}) == len(changed.turns)
    ids = {each.id for each in changed.turns}
    assert all(each.evidence <= ids for each in changed.questions["g"])


def test_an_assistant_answers_every_turn_at_length() -> None:
    changed = FORMS["assistant"](DATA)
    assert [each.speaker for each in changed.turns] == [USER, ASSISTANTS[-1]] * 60
    assert all(tokens(each.text) >= ABOUT * TOKENS for each in changed.turns[1::2])
    assert changed.questions == DATA.questions


def test_what_an_assistant_of_the_data_says_is_lengthened_and_not_answered() -> None:
    talk = [turn(0), turn(1, speaker="AI", text="The island is Naxos."), turn(2)]
    changed = FORMS["assistant"](DataSet(talk, {})).turns
    assert [each.id for each in changed] == ["t0", "t1", "t2", "t2/reply"]
    assert changed[1].text.startswith("The island is Naxos. ")
    assert tokens(changed[1].text) > ABOUT * TOKENS


def test_long_messages_are_long_stay_in_their_session_and_take_the_evidence_along() -> None:
    changed = FORMS["long"](DATA)
    assert all(tokens(each.text) >= ABOUT * LONG for each in changed.turns)
    assert {each.session for each in changed.turns} == {"s", "t"}
    (first, second) = changed.questions["g"]
    (message,) = (each for each in changed.turns if each.id in first.evidence)
    assert message.session == "s"
    assert len(second.evidence) == 2


def test_a_reply_takes_up_the_words_of_its_turn_in_its_language_and_differs_from_turn_to_turn() -> None:
    assert "ferry" in reply("t1", "I took the ferry")
    assert "泉州" in reply("t1", "我在泉州吃了面线糊")
    assert reply("t1", "I took the ferry") != reply("t2", "I took the ferry")
