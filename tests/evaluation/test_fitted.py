"""Fitted weights: chosen by the others' evidence alone, and measured in the order of the questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from evaluation import fitted
from evaluation.datasets import UNANSWERABLE, Question
from evaluation.measure import Examined, Scores, measured
from evaluation.methods import recalled
from processors.recall.recall import RecallOptions
from processors.recall.weights import DEFAULT_FLOW
from tests.support.memories import demo


def ticking() -> Callable[[], float]:
    ticks = count()
    return lambda: float(next(ticks))


def in_groups(*names: str) -> Examined:
    """Return the demo with its questions dealt out to conversations of these names, one after the other."""
    examined = demo()
    dealt = [
        replace(asked, group=names[position * len(names) // len(examined.questions)])
        for position, asked in enumerate(examined.questions)
    ]
    return replace(examined, questions=dealt)


def test_the_weights_of_a_conversation_do_not_know_its_evidence() -> None:
    examined = in_groups("x", "y", "z")
    spoilt = [
        replace(asked, evidence=frozenset([examined.memory.view.passage_id[0]])) if asked.group == "x" else asked
        for asked in examined.questions
    ]
    before, after = fitted.weights([examined]), fitted.weights([replace(examined, questions=spoilt)])
    assert list(before) == [fitted.ALL, "x", "y", "z"]
    assert before["x"] == after["x"]


def test_every_question_is_asked_with_the_weights_of_its_conversation_in_its_place() -> None:
    examined = in_groups("x", "y")
    flat = DEFAULT_FLOW.replace(inherited=0.0, session=0.0, coverage=0.0)
    told = fitted.measured_apart([examined], {fitted.ALL: flat, "x": DEFAULT_FLOW, "y": flat}, ticking())
    first = sum(asked.group == "x" for asked in examined.questions)
    with_default, with_flat = (
        measured(examined, recalled(RecallOptions(flow=flow)), ticking()) for flow in (DEFAULT_FLOW, flat)
    )
    assert np.array_equal(told.values[:first], with_default.values[:first])
    assert np.array_equal(told.values[first:], with_flat.values[first:])


def test_a_conversation_that_had_nothing_to_choose_gets_the_weights_of_all() -> None:
    told = fitted.measured_apart([in_groups("new")], {fitted.ALL: DEFAULT_FLOW}, ticking())
    assert isinstance(told, Scores)
    assert len(told.values) == len(demo().questions)


@pytest.mark.parametrize(
    ("text", "category", "weight"),
    [("why?", "temporal", 1.0), ("why?", UNANSWERABLE, 0.1), ("为什么？", "temporal", 1.5)],
)
def test_what_a_question_counts(text: str, category: str, weight: float) -> None:
    examined = demo()
    asked = Question(text, category, frozenset(examined.memory.view.passage_id[:1]), "x")
    gone = replace(asked, evidence=frozenset(["forgotten"]))
    (example,) = fitted._examples(replace(examined, questions=[asked, gone]))
    assert (example.weight, example.group, example.evidence.tolist()) == (weight, "x", [0])
