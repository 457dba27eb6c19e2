"""The default and its peers with fitted weights, measured on conversations that they were not fitted on.

    conversation ──▶ asked with the weights that all the *other* conversations chose ──▶ scores
    form of talk ──▶ asked with the weights that all the *other* forms chose         ──▶ scores: the sober row
    all of them  ──▶ the weights to ship: what a default is made from

This is the one place where evidence shapes a ranking, so no question is asked with weights that have seen its evidence.
Every form of talk weighs the same, whatever the number of its questions, and so does every data set within a form.
Questions of the headline choose; the others count UNANSWERABLE_WEIGHT, so that they keep their place.  A question whose
evidence was forgotten chooses nothing, and neither does one whose evidence is only where its answer's words stand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np

from evaluation.baselines.structured import Columns, columns, structured
from evaluation.fit.fitting import Example, cross_validated, features, fit
from evaluation.measure import Clock, Examined, Scores, measured
from evaluation.memory import EvaluatedMemory
from evaluation.methods import PEERS, Method, recalled
from evaluation.questions.labelled import UNANSWERABLE, LabelledQuestion
from processors.recall.ranking.weights import FEATURES, FlowWeights
from processors.recall.retrieval.recall import RecallOptions

Kind = Literal["conversation", "form"]  # what is left out

ALL = "none left out"
UNANSWERABLE_WEIGHT = 0.1
FORM_WEIGHT = 200.0  # of all questions of a form together, against the ridge of fitting.py
NEUTRAL = FlowWeights(**dict.fromkeys(FEATURES, 1.0) | {"asks": -1.0})


class Fittable(NamedTuple):
    """A method whose weights can be fitted: what it weighs of a question, and how it ranks with given weights."""

    columns: Callable[[EvaluatedMemory], Columns]
    ranking: Callable[[FlowWeights], Method]


def _ours(memory: EvaluatedMemory) -> Columns:
    return partial(features, memory.view)


def _ranking(flow: FlowWeights) -> Method:
    return recalled(RecallOptions(flow=flow))


DEFAULT = Fittable(_ours, _ranking)
FITTABLE = {
    "default": DEFAULT,
    **{name: Fittable(partial(columns, walk), partial(structured, walk)) for name, (walk, _) in PEERS.items()},
}


def weights(
    examined: Sequence[Examined], method: Fittable = DEFAULT, leaving_out: Kind = "conversation"
) -> dict[str, FlowWeights]:
    """Fit weights without each conversation, or without each form, and under ALL to everything."""
    shares = _shares(examined)
    examples = [
        example for each in examined for example in _examples(each, method, shares[each.form, each.part], leaving_out)
    ]
    return {ALL: fit(examples, NEUTRAL), **cross_validated(examples, NEUTRAL)}


def measured_apart(
    examined: Sequence[Examined],
    fitted: Mapping[str, FlowWeights],
    clock: Clock,
    method: Fittable = DEFAULT,
    leaving_out: Kind = "conversation",
) -> Scores:
    """Score all questions in their order, each with the weights fitted without its conversation, or its form."""
    parts = []
    for each in examined:
        for group, questions in groupby(each.questions, key=partial(_left_out, each, leaving_out)):
            ranking = method.ranking(fitted.get(group, fitted[ALL]))
            parts.append(measured(replace(each, questions=list(questions)), ranking, clock))
    return Scores.joined(parts)


def _left_out(examined: Examined, leaving_out: Kind, question: LabelledQuestion) -> str:
    return question.group if leaving_out == "conversation" else examined.form


def _shares(examined: Sequence[Examined]) -> dict[tuple[str, str], float]:
    """Compute what a question of each part of a form counts, so that forms weigh the same, and parts within a form."""
    counts: dict[tuple[str, str], float] = {}
    for each in examined:
        key = each.form, each.part
        counts[key] = counts.get(key, 0.0) + sum(map(_weight, each.questions))
    parts = Counter(form for form, _ in counts)
    return {(form, part): FORM_WEIGHT / parts[form] / max(count, 1.0) for (form, part), count in counts.items()}


def _examples(examined: Examined, method: Fittable, share: float, leaving_out: Kind) -> Iterator[Example]:
    memory, numbers = examined.memory, {turn: number for number, turn in enumerate(examined.memory.view.passage_id)}
    weighed = method.columns(memory)
    for question in examined.questions:
        evidence = np.array(sorted(numbers[turn] for turn in question.evidence if turn in numbers), np.int64)
        if len(evidence) and not question.any_of:
            values = weighed(memory.question(question.text), question.text).astype(np.float32)
            group = _left_out(examined, leaving_out, question)
            yield Example(values, memory.costs, evidence, group, share * _weight(question))


def _weight(question: LabelledQuestion) -> float:
    return UNANSWERABLE_WEIGHT if question.category == UNANSWERABLE else 1.0
