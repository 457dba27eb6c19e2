"""The default and its peers with fitted weights, measured on conversations that they were not fitted on.

    conversation ──▶ asked with the weights that all the *other* conversations chose ──▶ scores
    all of them  ──▶ the weights to ship: what a default is made from

This is the one place where evidence shapes a ranking, so no question is asked with weights that have seen its evidence.
The search starts from NEUTRAL, not from the shipped weights: those may have been chosen on these very conversations.
Questions of the headline choose; the others count UNANSWERABLE_WEIGHT, so that they keep their place.  Questions in
Chinese count HAN_WEIGHT, because there are few of them.  A question whose evidence was forgotten chooses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np

from evaluation.baselines.structured import Columns, columns, structured
from evaluation.datasets import UNANSWERABLE, Question
from evaluation.fitting import Example, cross_validated, features, fit
from evaluation.measure import Clock, Examined, Scores, measured
from evaluation.memory import Memory
from evaluation.methods import PEERS, Method, recalled
from processors.recall.recall import RecallOptions
from processors.recall.weights import FEATURES, FlowWeights
from processors.text.scripts import HAN

ALL = "none left out"
UNANSWERABLE_WEIGHT = 0.1
HAN_WEIGHT = 1.5
NEUTRAL = FlowWeights(**dict.fromkeys(FEATURES, 1.0) | {"asks": -1.0, "length": -0.5})
_CHINESE = re.compile(f"[{HAN}]")


class Fittable(NamedTuple):
    """A method whose weights can be fitted: what it weighs of a question, and how it ranks with given weights."""

    columns: Callable[[Memory], Columns]
    ranking: Callable[[FlowWeights], Method]


def _ours(memory: Memory) -> Columns:
    return partial(features, memory.view)


def _ranking(flow: FlowWeights) -> Method:
    return recalled(RecallOptions(flow=flow))


DEFAULT = Fittable(_ours, _ranking)
FITTABLE = {
    "default": DEFAULT,
    **{name: Fittable(partial(columns, walk), partial(structured, walk)) for name, (walk, _) in PEERS.items()},
}


def weights(examined: Sequence[Examined], method: Fittable = DEFAULT) -> dict[str, FlowWeights]:
    """Fit weights without each group, and under ALL to everything."""
    examples = [example for each in examined for example in _examples(each, method)]
    return {ALL: fit(examples, NEUTRAL), **cross_validated(examples, NEUTRAL)}


def measured_apart(
    examined: Sequence[Examined], fitted: Mapping[str, FlowWeights], clock: Clock, method: Fittable = DEFAULT
) -> Scores:
    """Score all questions in their order, each group's with the weights fitted without it."""
    parts = []
    for each in examined:
        for group, questions in groupby(each.questions, key=lambda asked: asked.group):
            ranking = method.ranking(fitted.get(group, fitted[ALL]))
            parts.append(measured(replace(each, questions=list(questions)), ranking, clock))
    return Scores.joined(parts)


def _examples(examined: Examined, method: Fittable = DEFAULT) -> Iterator[Example]:
    memory, numbers = examined.memory, {turn: number for number, turn in enumerate(examined.memory.view.passage_id)}
    weighed = method.columns(memory)
    for asked in examined.questions:
        evidence = np.array(sorted(numbers[turn] for turn in asked.evidence if turn in numbers), np.int64)
        if len(evidence):
            values = weighed(memory.extractor.of_query(asked.text), asked.text)
            yield Example(values, memory.costs, evidence, asked.group, _weight(asked))


def _weight(asked: Question) -> float:
    language = HAN_WEIGHT if _CHINESE.search(asked.text) else 1.0
    return language * (UNANSWERABLE_WEIGHT if asked.category == UNANSWERABLE else 1.0)
