"""Fitted weights: chosen by the others' evidence alone, and measured in the order of the questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from evaluation.fit import fitted
from evaluation.measure import Examined, Scores, measured
from evaluation.methods import recalled
from evaluation.questions.labelled import UNANSWERABLE, LabelledQuestion
from processors.recall.ranking.weights import DEFAULT_FLOW
from processors.recall.retrieval.recall import RecallOptions
from tests.support.memories import demo


def ticking() -> Callable[[], float]:
    ticks = count()
    return lambda: float(next(ticks))


def in_groups(*names: str) -> Examined:
    """Return the demo with its questions dealt out to conversations of these names, one after the other."""
    examined = demo()
    dealt = [
        replace(question, group=names[position * len(names) // len(examined.questions)])
        for position, question in enumerate(examined.questions)
    ]
    return replace(examined, questions=dealt)


def test_the_weights_of_a_conversation_do_not_know_its_evidence() -> None:
    examined = in_groups("x", "y", "z")
    spoilt = [
        replace(question, evidence=frozenset([examined.memory.view.passage_id[0]]))
        if question.group == "x"
        else question
        for question in examined.questions
    ]
    before, after = fitted.weights([examined]), fitted.weights([replace(examined, questions=spoilt)])
    assert list(before) == [fitted.ALL, "x", "y", "z"]
    assert before["x"] == after["x"]


def test_every_question_is_asked_with_the_weights_of_its_conversation_in_its_place() -> None:
    examined = in_groups("x", "y")
    flat = DEFAULT_FLOW.replace(inherited=0.0, session=0.0, coverage=0.0)
    report = fitted.measured_apart([examined], {fitted.ALL: flat, "x": DEFAULT_FLOW, "y": flat}, ticking())
    first = sum(question.group == "x" for question in examined.questions)
    with_default, with_flat = (
        measured(examined, recalled(RecallOptions(flow=flow)), ticking()) for flow in (DEFAULT_FLOW, flat)
    )
    assert np.array_equal(report.values[:first], with_default.values[:first])
    assert np.array_equal(report.values[first:], with_flat.values[first:])


def test_a_conversation_that_had_nothing_to_choose_gets_the_weights_of_all() -> None:
    report = fitted.measured_apart([in_groups("new")], {fitted.ALL: DEFAULT_FLOW}, ticking())
    assert isinstance(report, Scores)
    assert len(report.values) == len(demo().questions)


def test_every_form_weighs_the_same_and_every_part_of_it_and_the_unanswerable_little() -> None:
    examined = demo()
    turn = frozenset(examined.memory.view.passage_id[:1])

    def of(form: str, part: str, *categories: str) -> Examined:
        questions = [LabelledQuestion("why?", category, turn, f"{form}/{part}") for category in categories]
        return replace(examined, questions=questions, form=form, part=part)

    sets = [of("notes", "a", "x", "x"), of("notes", "b", "x"), of("talk", "c", "x", "x", "x", UNANSWERABLE)]
    shares = fitted._shares(sets)
    result = [
        [ex.weight for ex in fitted._examples(each, fitted.DEFAULT, shares[each.form, each.part], "form")]
        for each in sets
    ]
    assert [sum(weights) for weights in result] == pytest.approx([100, 100, 200])
    assert result[0] == [50, 50]
    assert result[2][-1] == pytest.approx(result[2][0] * fitted.UNANSWERABLE_WEIGHT)


def test_a_form_is_left_out_with_all_its_conversations() -> None:
    talk, notes = in_groups("x", "y"), replace(in_groups("z", "w"), form="notes", part="n")
    talk = replace(talk, form="talk", part="t")
    spoilt = [replace(question, evidence=frozenset([talk.memory.view.passage_id[0]])) for question in talk.questions]
    before, after = (
        fitted.weights([each, notes], leaving_out="form") for each in (talk, replace(talk, questions=spoilt))
    )
    assert set(before) == {fitted.ALL, "talk", "notes"}
    assert before["talk"] == after["talk"]
    assert before["notes"] != after["notes"]


def test_a_question_whose_evidence_was_forgotten_chooses_nothing() -> None:
    examined = demo()
    gone = LabelledQuestion("why?", "x", frozenset(["forgotten"]), "x")
    assert list(fitted._examples(replace(examined, questions=[gone]), fitted.DEFAULT, 1.0, "conversation")) == []
