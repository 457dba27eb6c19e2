"""What an advisor is told and what of its answer counts: by its form, and by what was said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.messages.advice import JudgedTurn, NamedTheme, RatedLink, Rewritten, SplitTurn, SummedUp, TextPart
from processors.advice import bounds
from processors.advice.advisor import (
    KINDS,
    AdviceContent,
    JudgeWorth,
    NameTheme,
    RateLinks,
    Rewrite,
    Split,
    Summarise,
    Task,
    advice,
    kind_of,
)
from processors.advice.prompts import answers, messages
from tests.support.models import answered

TEXT = "We moved in May. The lift is broken, and the landlord is away."
TASKS: dict[str, tuple[Task, dict[str, Any], AdviceContent]] = {
    "name": (NameTheme("topic-1", ("cat", "vet")), {"name": " The  cat "}, NamedTheme(theme="topic-1", name="The cat")),
    "rate": (
        RateLinks((("cat", "vet"), ("cat", "tea")), (("cat", "vet"), ("cat", "tea"))),
        {"ratings": [1, 0.25]},
        (RatedLink(source="cat", target="vet", rating=1.0), RatedLink(source="cat", target="tea", rating=0.25)),
    ),
    "summarise": (
        Summarise("main", ("Ada: The cat is ill.",)),
        {"topic": "The cat", "summary": "Ada's cat is ill."},
        SummedUp(session="main", topic="The cat", summary="Ada's cat is ill."),
    ),
    "split": (
        Split("t1", TEXT),
        {"parts": ["We moved in May.", "the landlord is away."]},
        SplitTurn(turn="t1", parts=[TextPart(start=0, end=16), TextPart(start=41, end=62)]),
    ),
    "rewrite": (
        Rewrite("The cat is ill.", turn="t1", role="a sailor"),
        {"text": "Arr, the cat be ill."},
        Rewritten(turn="t1", text="Arr, the cat be ill.", role="a sailor"),
    ),
    "judge": (
        JudgeWorth("t1", "The cat is ill."),
        {"worth": 0.9, "keywords": ["cat"]},
        JudgedTurn(turn="t1", worth=0.9, keywords=["cat"]),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_thing_that_an_advisor_is_asked_for_is_told_as_data_and_read_by_its_form(kind: str) -> None:
    task, answer, content = TASKS[kind]
    assert kind_of(task) == kind
    system, user = messages([task])
    assert (system["role"], user["role"]) == ("system", "user")
    assert json.loads(user["content"])["items"][0]["n"] == 1
    assert answers([task], answered(answer)) == [content]
    assert advice("ada", "me 1", "a1", content).by == "me 1"


def test_what_surrounds_an_answer_does_not_hide_it() -> None:
    task, answer, answer_text = TASKS["name"]
    content = f'<think>is it {{"answers": 1}}?</think>Here you are:\n```json\n{answered(answer)}\n```'
    assert answers([task], content) == [answer_text]


@pytest.mark.parametrize(
    "content",
    ["", "no", "[]", "{}", '{"answers": {}}', '{"answers": "x"}', '{"answers": [', "{" * 5000, '{"answers": NaN}'],
)
def test_what_is_no_answer_at_all_is_told_from_one_that_says_nothing(content: str) -> None:
    with pytest.raises(ValueError, match="answer"):
        answers([TASKS["name"][0]], content)


WRONG: dict[str, list[Any]] = {
    "name": [{}, {"name": None}, {"name": ""}, {"name": 7}, {"name": "x" * 81}, {"name": ["x"]}],
    "rate": [{"ratings": [1.0]}, {"ratings": [1.0, 2.0]}, {"ratings": ["1", "0"]}, {"ratings": [1, None]}, {}],
    "summarise": [{"summary": ""}, {"summary": 1}, {"summary": "x" * 16_385}, {"topic": "x"}, {"summary": "x\x00"}],
    "split": [{"parts": ["We moved in June.", "x"]}, {"parts": [TEXT]}, {"parts": ["The lift", "We moved"]}, {}],
    "rewrite": [{"text": ""}, {"text": None}, {"text": "x" * 8193}, {"text": {"a": 1}}],
    "judge": [{"worth": 2}, {"worth": -1}, {"worth": "much"}, {"worth": 1, "keywords": "x"}, {"worth": True}],
}


@pytest.mark.parametrize(("kind", "answer"), [(kind, answer) for kind, listed in WRONG.items() for answer in listed])
def test_an_answer_that_breaks_the_form_says_nothing_and_others_beside_it_still_do(
    kind: str, answer: dict[str, Any]
) -> None:
    task, good, content = TASKS[kind]
    if kind == "summarise" and answer.get("summary") == "x\x00":
        assert bounds.unshowable("x\x00") is not None, "the form allows it, the bounds do not"
        return
    assert answers([task, task], answered(answer, good)) == [None, content]


def test_two_answers_to_one_question_are_none_and_answers_to_no_question_are_passed_over() -> None:
    task, _, _ = TASKS["name"]
    listed = [{"n": 1, "name": "a"}, {"n": 1, "name": "b"}, {"n": 9, "name": "c"}, {"n": True, "name": "d"}, 5, None]
    assert answers([task, task], json.dumps({"answers": listed})) == [None, None]


@given(
    st.text(),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    ),
)
def test_whatever_a_model_says_is_an_answer_or_none_and_never_an_error_of_another_kind(text: str, value: Any) -> None:
    for task, _, _ in TASKS.values():
        for content in (text, json.dumps({"answers": [{"n": 1, "name": value, "text": value, "parts": value}]})):
            try:
                parsed = answers([task], content)
            except ValueError:
                continue
            assert len(parsed) == 1


# bounds

CONCEPTS = {"cat", "vet", "ear drop"}


def test_a_text_may_not_say_more_than_its_sources() -> None:
    sources = ["The vet prescribed 3 ear drops for the cat."]
    assert bounds.invented("The cat gets 3 drops from the vet.", sources, {"cat", "drop", "vet"}, CONCEPTS) is None
    assert "number" in (bounds.invented("The cat gets 30 drops.", sources, {"cat", "drop"}, CONCEPTS) or "")
    foreign = {"bank", "account", "password", "transfer", "cat"}
    assert "was not said" in (bounds.invented("Transfer the cat …", sources, foreign, CONCEPTS) or "")


@pytest.mark.source("P22")
def test_other_words_are_consistent_cover_what_was_said_and_are_not_the_same_words() -> None:
    source, original = "Coffee on 29 mornings.", {"coffee", "morning"}
    assert bounds.no_rewriting("Mornings begin with coffee.", source, {"morning", "coffee"}, original) is None
    assert "same words" in (bounds.no_rewriting("coffee on  29 mornings.", source, original, original) or "")
    assert "missing" in (bounds.no_rewriting("Tea.", source, {"tea"}, original) or "")
    assert "number" in (bounds.invented("Coffee on 31 mornings.", [source], original, original) or "")


def test_a_name_is_one_short_line_that_can_be_shown() -> None:
    assert bounds.unfit_name("Der Umzug im Mai") is None
    assert bounds.unfit_name("猫和兽医") is None
    for name in ("a\nb", "one two three four five six seven eight nine", "\x1b[31mred", "\u202edrow", "", " "):
        assert bounds.unfit_name(name) is not None, name


def test_parts_lie_in_the_text_one_behind_the_other_and_leave_little_out() -> None:
    assert bounds.no_parts([(0, 16), (17, 62)], TEXT) is None
    for spans in ([(0, 16), (10, 62)], [(0, 16), (17, 63)], [(5, 5), (6, 62)], [(17, 62), (0, 16)]):
        assert "overlap" in (bounds.no_parts(spans, TEXT) or ""), spans
    assert "leave out" in (bounds.no_parts([(0, 2), (3, 8)], TEXT) or "")


def test_a_keyword_stands_in_the_text() -> None:
    assert bounds.foreign_keywords(["Lift", "landlord"], TEXT) is None
    assert bounds.foreign_keywords(["elevator"], TEXT) is not None
