"""Data sets with evidence: LoCoMo's conversations, passages as HippoRAG publishes them, and files that are wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emgas.errors import InvalidMessageError
from evaluation.questions.datasets import PASSAGES, is_corpus, read
from evaluation.questions.labelled import DataSet


def conversation(name: str, *entries: dict[str, Any]) -> dict[str, Any]:
    turns = [{"speaker": "Ada", "dia_id": f"D1:{number}", "text": f"text {number}"} for number in (1, 2, 3)]
    sessions = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    return {"sample_id": name, "conversation": sessions, "qa": list(entries)}


def qa(*evidence: str, **changes: Any) -> dict[str, Any]:
    return {"question": "what?", "category": 4, "evidence": list(evidence), **changes}


def of(data: Any, corpus: Any = None, merged: bool = False) -> DataSet:
    return read(json.dumps(data).encode(), None if corpus is None else json.dumps(corpus).encode(), merged=merged)


# conversations


def test_every_conversation_is_a_graph_with_its_own_questions() -> None:
    data = of([conversation("x", qa("D1:2", category=1, hop=2)), conversation("y", qa("D1:1"), qa("D1:3"))])
    assert [turn.id for turn in data.turns[:3]] == ["x/D1:1", "x/D1:2", "x/D1:3"]
    (question,) = data.questions["locomo-x"]
    assert (question.category, question.hop, question.group) == ("multi-hop", 2, "x")
    assert question.evidence == {"x/D1:2"}
    assert len(data.questions["locomo-y"]) == 2


def test_merged_conversations_share_one_graph_and_keep_their_own_evidence() -> None:
    data = of([conversation("x", qa("D1:2")), conversation("y", qa("D1:2"))], merged=True)
    assert {turn.graph for turn in data.turns} == {"merged"}
    assert [question.evidence for question in data.questions["merged"]] == [{"x/D1:2"}, {"y/D1:2"}]


@pytest.mark.parametrize(
    "evidence", [["D1:1", "D1:2"], ["D1:1; D1:2"], ["D1:1, D1:2"], ["D1:1 D1:2", "D9:9"], ["D1:1;D1:2", ""]]
)
def test_evidence_is_read_however_it_is_listed(evidence: list[str]) -> None:
    (question,) = of([conversation("x", qa(*evidence))]).questions["locomo-x"]
    assert question.evidence == {"x/D1:1", "x/D1:2"}


def test_a_question_whose_evidence_names_no_turn_is_left_out_and_counted() -> None:
    data = of([conversation("x", qa("D7:7"), qa(), qa("D1:1"))])
    assert (len(data.questions["locomo-x"]), data.unusable) == (1, 2)


# answers in the place of evidence


def without_evidence(answer: Any, *texts: str, **changes: Any) -> tuple[set[str], bool] | None:
    """Read a question that has an answer alone: which of the turns t1, t2, … hold it, and whether one is enough."""
    turns = [{"speaker": "Ada", "dia_id": f"t{number}", "text": text} for number, text in enumerate(texts, start=1)]
    sessions = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    question = {"question": "what?", "category": 4, "answer": answer, **changes}
    data = of([{"sample_id": "x", "conversation": sessions, "qa": [question]}])
    if not data.questions["locomo-x"]:
        assert data.unusable == 1
        return None
    (questions,) = data.questions["locomo-x"]
    return {turn.removeprefix("x/") for turn in questions.evidence}, questions.any_of


def test_where_no_evidence_is_labelled_one_of_the_turns_that_hold_the_answer_is_enough() -> None:
    assert without_evidence("The Blue Heron", "At the blue  heron!", "A heron, blue.", "blue Heron?") == (
        {"t1", "t3"},
        True,
    )


@pytest.mark.parametrize(
    ("answer", "text"),
    [(2022, "That was in 2022."), ("面线糊", "我在泉州吃了面线糊。"), ("ear drops", "Ear-drops, twice a day.")],
)
def test_an_answer_is_found_whatever_its_kind_its_script_and_its_punctuation(answer: Any, text: str) -> None:
    assert without_evidence(answer, text, "Nothing of it.") == ({"t1"}, True)


def test_any_of_several_answers_is_right() -> None:
    assert without_evidence(None, "In Naples.", "In Napoli.", answers=["Napoli", "Naples"]) == ({"t1", "t2"}, True)


@pytest.mark.parametrize("answer", ["yes", "No.", "是", "", "cat", None, True])
def test_an_answer_that_says_nothing_or_stands_nowhere_leaves_the_question_out(answer: Any) -> None:
    assert without_evidence(answer, "Yes, the category is true, no?", "是的。") is None


def test_labelled_evidence_goes_before_the_answer_and_what_was_never_said_has_none() -> None:
    assert without_evidence("kettle", "A kettle.", "Steam.", evidence=["t2"]) == ({"t2"}, False)
    assert without_evidence("kettle", "A kettle.", evidence=["t9"]) is None, "labelled, but not there"
    assert without_evidence("kettle", "A kettle.", category=5) is None


# passages

ROME = {"title": "Rome", "text": "Rome is a city."}
OSLO = {"title": "Oslo", "text": "Oslo is cold. It snows."}


def texts(data: DataSet, evidence: frozenset[str]) -> set[str]:
    return {turn.text for turn in data.turns if turn.id in evidence}


def test_paragraphs_of_musique_are_found_in_the_corpus() -> None:
    near = [
        {"idx": 0, "title": "Oslo", "paragraph_text": "Oslo is cold. It snows.", "is_supporting": True},
        {"idx": 1, "title": "Rome", "paragraph_text": "Rome is a city.", "is_supporting": False},
    ]
    data = of([{"id": "2hop__1_2", "question": "cold?", "paragraphs": near}], [{**ROME, "idx": 0}, {**OSLO, "idx": 1}])
    (question,) = data.questions[PASSAGES]
    assert texts(data, question.evidence) == {"Oslo\nOslo is cold. It snows."}
    assert question.category == "2-hop"


@pytest.mark.parametrize(
    "corpus", [None, [ROME, OSLO], {"Rome": ["Rome is a city."], "Oslo": ["Oslo is cold.", " It snows."]}]
)
def test_supporting_facts_of_hotpotqa_are_passages(corpus: Any) -> None:
    context = [["Rome", ["Rome is a city."]], ["Oslo", ["Oslo is cold.", "It snows."]]]
    facts = {"supporting_facts": [["Oslo", 0], ["Oslo", 1]], "context": context}
    data = of([{"question": "cold?", "type": "bridge", **facts}], corpus)
    (question,) = data.questions[PASSAGES]
    (evidence,) = texts(data, question.evidence)
    assert evidence == ("Oslo\nOslo is cold.It snows." if corpus is None else "Oslo\nOslo is cold. It snows.")
    assert (question.category, len(data.turns)) == ("bridge", 2)


def test_a_passage_that_stands_beside_two_questions_is_one_turn_in_a_session_of_its_own() -> None:
    near = [{**ROME, "is_supporting": True}, {**OSLO, "is_supporting": False}]
    data = of([{"question": "one?", "paragraphs": near}, {"question": "two?", "contexts": near}])
    assert len(data.turns) == 2
    assert len({turn.session for turn in data.turns}) == 2
    assert {turn.graph for turn in data.turns} == {PASSAGES}


def test_questions_with_answers_alone_are_answered_by_the_passages_that_hold_them() -> None:
    data = of([{"question": "where does it snow?", "answer": "Oslo"}], [ROME, OSLO])
    (question,) = data.questions[PASSAGES]
    assert texts(data, question.evidence) == {"Oslo\nOslo is cold. It snows."}
    assert question.any_of


def test_a_corpus_is_told_from_questions_and_conversations() -> None:
    assert is_corpus(json.dumps([ROME]).encode())
    assert is_corpus(json.dumps({"Rome": ["Rome is a city."]}).encode())
    assert not is_corpus(json.dumps([{"question": "?", "paragraphs": []}]).encode())
    assert not is_corpus(json.dumps([conversation("x")]).encode())


# what is wrong with a file


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "must be a JSON array"),
        ([], "with at least one"),
        ([{"text": "hello"}], "neither LoCoMo"),
        ([{**conversation("x"), "qa": None}], "conversation x: qa must be a list"),
        ([conversation("x", {"question": 3})], "conversation x, question 1: must be an object"),
        ([conversation("x", qa("D1:1", category=9))], "category must be one of 1, 2, 3, 4, 5"),
        ([conversation("x", qa("D1:1", evidence="D1:1"))], "evidence must be a list"),
        ([{"sample_id": "x", "conversation": {"session_1": []}, "qa": []}], "session_1_date_time: must be like"),
        ([{"question": "?", "paragraphs": [{"title": "Rome"}]}], "question 1: must be an object with title and text"),
        ([{"question": "?", "supporting_facts": [["Rome", 0]]}], "question 1: supporting_facts must be"),
        ([{"question": "?"}], "holds no passage"),
        ([{"question": None, "paragraphs": []}], "question 1: question must be a text"),
    ],
)
def test_a_wrong_file_is_told_by_what_is_wrong(data: Any, message: str) -> None:
    with pytest.raises(InvalidMessageError, match=message.replace("[", "\\[")):
        of(data)


def test_what_is_no_json_and_what_is_no_corpus_is_told() -> None:
    with pytest.raises(InvalidMessageError, match="not valid JSON"):
        read(b"[{")
    with pytest.raises(InvalidMessageError, match="corpus, passage 1: must be an object"):
        of([{"question": "?", "paragraphs": []}], ["Rome"])
    with pytest.raises(InvalidMessageError, match="conversations need no corpus"):
        of([conversation("x")], [ROME])


def test_a_passage_that_no_turn_can_hold_is_told_by_its_title() -> None:
    with pytest.raises(InvalidMessageError, match="passage 'Rome'"):
        of([{"question": "?", "paragraphs": [{"title": "Rome", "text": "x" * 40_000}]}])
