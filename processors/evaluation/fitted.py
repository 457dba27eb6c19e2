"""The default with fitted weights, measured on conversations that they were not fitted on (processors/fitting.py).

    conversation ──▶ asked with the weights that all the *other* conversations chose ──▶ scores
    all of them  ──▶ the weights to ship: what a default is made from

This is the one place where evidence shapes a ranking, so no question is asked with weights that have seen its evidence.
The search starts from NEUTRAL, not from the shipped weights: those may have been chosen on these very conversations.
Questions of the headline choose; the others count UNANSWERABLE_WEIGHT, so that they keep their place.  Questions in
Chinese count HAN_WEIGHT, because there are few of them.  A question whose evidence was forgotten chooses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from processors.evaluation.measure import Clock, Examined, Scores, measured
from processors.evaluation.memory import Memory
from processors.evaluation.methods import recalled
from processors.evaluation.questions import UNANSWERABLE, Question
from processors.fitting import Example, cross_validated, features, fit
from processors.recall import RecallOptions
from processors.weights import FEATURES, FlowWeights
from state.view import Integers

ALL = "none left out"
UNANSWERABLE_WEIGHT = 0.1
HAN_WEIGHT = 1.5
NEUTRAL = replace(FlowWeights(**dict.fromkeys(FEATURES, 1.0)), asks=-1.0, length=-0.5)
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")


def weights(examined: Sequence[Examined]) -> dict[str, FlowWeights]:
    """Return the weights that were fitted without each group, and under ALL those fitted to everything."""
    examples = [example for each in examined for example in _examples(each)]
    return {ALL: fit(examples, NEUTRAL), **cross_validated(examples, NEUTRAL)}


def measured_apart(examined: Sequence[Examined], fitted: Mapping[str, FlowWeights], clock: Clock) -> Scores:
    """Return the scores of all questions in their order, each group's with the weights fitted without it."""
    parts = []
    for each in examined:
        for group, questions in groupby(each.questions, key=lambda asked: asked.group):
            method = recalled(RecallOptions(flow=fitted.get(group, fitted[ALL])))
            parts.append(measured(replace(each, questions=list(questions)), method, clock))
    return Scores.joined(parts)


def _examples(examined: Examined) -> Iterator[Example]:
    memory, numbers = examined.memory, {turn: number for number, turn in enumerate(examined.memory.view.passage_id)}
    for asked in examined.questions:
        evidence = np.array(sorted(numbers[turn] for turn in asked.evidence if turn in numbers), np.int64)
        if len(evidence):
            yield _example(memory, asked, evidence)


def _example(memory: Memory, asked: Question, evidence: Integers) -> Example:
    columns = features(memory.view, memory.extractor.of_query(asked.text), asked.text)
    return Example(columns, memory.costs, evidence, asked.group, _weight(asked))


def _weight(asked: Question) -> float:
    language = HAN_WEIGHT if HAN.search(asked.text) else 1.0
    return language * (UNANSWERABLE_WEIGHT if asked.category == UNANSWERABLE else 1.0)
