"""Find settings that suit a user's own questions better: fitted on some of them, tested on the others.

    questions ──▶ folds ──▶ for each: weights and drop fitted to the others ──▶ its own questions, asked with both
                                                                                   ──▶ differences, with intervals
              ──▶ weights and drop fitted to all: what is recorded, if the differences speak for it

Weights are fitted towards those in force (fitting.py), so that few questions move them little.  `drop`, how far scores
may fall until a context shows no more, is a threshold and calibrated as one (thresholds.py): a turn is wanted where it
is evidence.  Folds are the conversations that questions are of, or FOLDS of each conversation where those are too few.

All is pure; the clock and the randomness are arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from emgas.errors import InvalidMessageError
from evaluation.bootstrap import Generator, Interval, paired
from evaluation.fit.fitting import Example, cross_validated, features, fit
from evaluation.fit.thresholds import Cases, Point, best, curve, point
from evaluation.measure import Clock, Examined, Scores, measured
from evaluation.methods import recalled
from evaluation.metrics import METRICS, WITHIN_BUDGETS
from evaluation.questions.labelled import UNANSWERABLE, LabelledQuestion
from processors.recall.context.context import most_lines
from processors.recall.ranking.weights import DEFAULT_FLOW, FlowWeights
from processors.recall.retrieval.recall import DROP, RecallOptions, recall
from processors.text.questions.answer_kinds import LEAST_DEPTH

FOLDS: Final = 5
LEAST_QUESTIONS: Final = 20  # with evidence that the memory holds: fewer decide nothing
BUDGET: Final = 1000  # tokens of the context that `drop` is calibrated for: a query's own default
DIGITS: Final = 3  # of a weight that is recorded
COMPARED: Final = ("nDCG@10", "R@10", *reversed(WITHIN_BUDGETS))
BY: Final = COMPARED[0]
ALL: Final = "all"
DROPS: Final = tuple(float(each) for each in (*np.arange(0.0, 4.0, 0.25), *np.arange(4.0, 8.5, 0.5), 10, 12, 15, 20))


class WeightsInForce(NamedTuple):
    """By what a graph recalls now."""

    weights: FlowWeights = DEFAULT_FLOW
    drop: float = DROP


@dataclass(frozen=True)
class Tuning:
    """The result of tuning.

    weights, drop   fitted to all questions: what would be recorded
    before, after   held-out means by metric of COMPARED, in [0, 1];  gains  their differences
    drop_before, drop_after, drop_gain    mean F1 of what a context shows, held out, by the weights found
    points          precision, recall and F1 over DROPS, on all questions, by the weights found
    """

    questions: int
    folds: int
    weights: FlowWeights
    drop: float
    before: Mapping[str, float]
    after: Mapping[str, float]
    gains: Mapping[str, Interval]
    drop_before: float
    drop_after: float
    drop_gain: Interval
    points: Sequence[Point]
    by: str = BY

    @property
    def weights_are_better(self) -> bool:
        """Return whether the weights gain on unseen questions, and lose nothing in COMPARED."""
        return self.gains[self.by].low > 0 and all(gain.high >= 0 for gain in self.gains.values())

    @property
    def drop_is_better(self) -> bool:
        """Return whether the threshold gains on unseen questions."""
        return self.drop_gain.low > 0


def in_folds(examined: Sequence[Examined]) -> list[Examined]:
    """Keep the questions that tell something, in folds.

    Raises InvalidMessageError for fewer than LEAST_QUESTIONS.
    """
    usable = [
        replace(each, questions=[question for question in each.questions if _tells(each, question)])
        for each in examined
    ]
    count = sum(len(each.questions) for each in usable)
    if count < LEAST_QUESTIONS:
        raise InvalidMessageError(
            f"{count} questions have evidence that the memory holds: give at least {LEAST_QUESTIONS}, "
            "fewer decide nothing"
        )
    if len({question.group for each in usable for question in each.questions}) >= FOLDS:
        return [each for each in usable if each.questions]
    return [replace(each, questions=_dealt(each.questions)) for each in usable if each.questions]


def _tells(examined: Examined, question: LabelledQuestion) -> bool:
    """Return whether a question has an answer, and labelled evidence that is in the memory."""
    labelled = question.category != UNANSWERABLE and not question.any_of
    return labelled and not question.evidence.isdisjoint(examined.memory.view.passage_id)


def _dealt(questions: Sequence[LabelledQuestion]) -> list[LabelledQuestion]:
    """Deal questions out to FOLDS: those about the same turns go together, or one gives away the other's answer."""
    fold_of: dict[frozenset[str], int] = {}
    for question in questions:
        fold_of.setdefault(question.evidence, len(fold_of) % FOLDS)
    return [replace(question, group=f"fold-{fold_of[question.evidence]}") for question in questions]


def tune(
    examined: Sequence[Examined], now: WeightsInForce, *, clock: Clock, generator: Generator, by: str = BY
) -> Tuning:
    """Fit, and measure on what was held out.  `examined` as `in_folds` gives them."""
    fitted_weights = _fitted(examined, now.weights)
    before = _scores(examined, {ALL: now.weights}, clock)
    after = _scores(examined, fitted_weights, clock)
    gains = {name: _gain(after, before, name, generator) for name in COMPARED}
    weights = _rounded(fitted_weights[ALL])
    better = gains[by].low > 0
    drops = _drops(examined, fitted_weights if better else {ALL: now.weights}, now.drop, generator)
    return Tuning(
        questions=len(before.values),
        folds=len(_groups(examined)),
        weights=weights,
        before={name: _mean(before, name) for name in COMPARED},
        after={name: _mean(after, name) for name in COMPARED},
        gains=gains,
        by=by,
        **drops._asdict(),
    )


def _fitted(examined: Sequence[Examined], now: FlowWeights) -> dict[str, FlowWeights]:
    """Fit weights without each fold, and under ALL to all."""
    examples = [example for each in examined for example in _examples(each)]
    return {ALL: fit(examples, now, towards=now), **cross_validated(examples, now, towards=now)}


def _examples(examined: Examined) -> list[Example]:
    memory = examined.memory
    numbers = {turn: number for number, turn in enumerate(memory.view.passage_id)}
    examples = []
    for question in examined.questions:
        values = features(memory.view, memory.question(question.text), question.text).astype(np.float32)
        evidence = np.array(sorted(numbers[turn] for turn in question.evidence if turn in numbers), np.int64)
        examples.append(Example(values, memory.costs, evidence, question.group))
    return examples


def _groups(examined: Sequence[Examined]) -> list[str]:
    return sorted({question.group for each in examined for question in each.questions})


def _scores(examined: Sequence[Examined], weights: Mapping[str, FlowWeights], clock: Clock) -> Scores:
    """Score every question with the weights of its fold, else with those under ALL; fold by fold."""
    parts = []
    for group in _groups(examined):
        method = recalled(RecallOptions(flow=weights.get(group, weights[ALL])))
        for each in examined:
            of_group = [one for one in each.questions if one.group == group]
            if of_group:
                parts.append(measured(replace(each, questions=of_group), method, clock))
    return Scores.joined(parts)


def _mean(scores: Scores, metric: str) -> float:
    return float(scores.values[:, METRICS.index(metric)].mean())


def _gain(after: Scores, before: Scores, metric: str, generator: Generator) -> Interval:
    column = METRICS.index(metric)
    return paired(after.values[:, column], before.values[:, column], generator)


def _rounded(weights: FlowWeights) -> FlowWeights:
    """Round what was fitted: no one knows a weight better, and what is recorded is read by people."""
    return FlowWeights(**{name: float(f"{weight:.{DIGITS}g}") for name, weight in weights.items()})


class _Drops(NamedTuple):
    """The result of calibrating `drop`; see Tuning."""

    drop: float
    drop_before: float
    drop_after: float
    drop_gain: Interval
    points: list[Point]


def _drops(
    examined: Sequence[Examined], weights: Mapping[str, FlowWeights], now: float, generator: Generator
) -> _Drops:
    """Calibrate how far scores may fall, by the weights of each fold, and measure it on the fold."""
    before, after = [], []
    for group in _groups(examined):
        cases = _cases(examined, weights.get(group, weights[ALL]))
        training = [case for question, case in cases if question.group != group]
        chosen = -best(curve(Cases.joined(training), _thresholds(now))).threshold
        for question, case in cases:
            if question.group == group:
                before.append(point(case, -now).f1)
                after.append(point(case, -chosen).f1)
    points = curve(Cases.joined([case for _, case in _cases(examined, weights[ALL])]), _thresholds(now))
    gain = paired(np.array(after), np.array(before), generator)
    curve_points = [each._replace(threshold=-each.threshold) for each in points]
    return _Drops(-best(points).threshold, float(np.mean(before)), float(np.mean(after)), gain, curve_points)


def _thresholds(now: float) -> list[float]:
    """List the thresholds to try, as a case's score has it: ascending drops, the one in force among them."""
    return [-drop for drop in sorted({*DROPS, now})]


def _cases(examined: Sequence[Examined], weights: FlowWeights) -> list[tuple[LabelledQuestion, Cases]]:
    """Label what a context may show of each question: how far below the third best it scores, and if it is evidence."""
    cases = []
    for each in examined:
        view, options = each.memory.view, RecallOptions(flow=weights, passages=most_lines(BUDGET))
        for question in each.questions:
            listed = recall(view, each.memory.question(question.text), question.text, options).passages
            scores = np.array([one.score for one in listed], np.float64)
            if len(scores) >= LEAST_DEPTH:
                scores = np.minimum(scores - scores[LEAST_DEPTH - 1], 0.0)
            else:
                scores = np.zeros(len(scores))  # so few are all shown
            relevant = np.array([view.passage_id[one.number] in question.evidence for one in listed], np.bool_)
            cases.append((question, Cases(scores, relevant, len(question.evidence) - int(relevant.sum()))))
    return cases
