"""Summarise the scores of all questions: the printed numbers, in percent.

Headline: every category but "adversarial" (LoCoMo's categories 1 to 4), every question weighing the same.  Without any
other question, the headline is all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.bootstrap import Generator, paired
from evaluation.contexts import COLUMNS
from evaluation.measure import Scores
from evaluation.methods import ABLATIONS
from evaluation.metrics import METRICS, WITHIN_BUDGETS
from evaluation.questions.labelled import UNANSWERABLE, LabelledQuestion

SUBJECT = "default"
AGAINST = (
    "default-no-spreading",
    "bm25",
    "ppr-structured",
)  # what the default must be better than, beside its ablations
_SMALL, _LARGE = WITHIN_BUDGETS
COMPARED = (_LARGE, _SMALL, "R@10", "nDCG@10")
OF_CATEGORY = (_LARGE, "R@10")
Mask = NDArray[np.bool_]


def headline(questions: Sequence[LabelledQuestion]) -> Mask:
    """Return (q,) which questions the headline counts."""
    counts = np.array([question.category != UNANSWERABLE for question in questions], np.bool_)
    return counts if counts.any() else ~counts


def of_method(
    scores: Scores, questions: Sequence[LabelledQuestion], ms_per_turn: float, *, chance: bool
) -> dict[str, Any]:
    """Return one method's numbers; with `chance` also what luck would have scored."""
    counts = headline(questions)
    report: dict[str, Any] = dict(zip(METRICS, _percent(scores.values[counts]), strict=True))
    report["by_category"] = _parts(scores, [question.category for question in questions])
    if any(question.hop for question in questions):
        report["by_hop"] = _parts(scores, [str(question.hop or 1) for question in questions])
    if chance:
        chance_rows = zip(METRICS, _percent(scores.chance[counts]), strict=True)
        report["chance"] = {metric: value for metric, value in chance_rows if not np.isnan(value)}
    p50, p99 = np.percentile(scores.ms, (50, 99))
    times = {"ms_per_query_p50": p50, "ms_per_query_p99": p99, "ms_per_turn": ms_per_turn}
    return report | {name: round(float(value), 3) for name, value in times.items()}


def of_contexts(rows: NDArray[np.float64], questions: Sequence[LabelledQuestion]) -> dict[str, float]:
    """Return what contexts hold on average: the shares in percent, the tokens as they are."""
    recall, precision, tokens, first = rows[headline(questions)].mean(axis=0).tolist()
    values = 100 * recall, 100 * precision, tokens, 100 * first
    return {name: round(value, 2) for name, value in zip(COLUMNS, values, strict=True)}


def _parts(scores: Scores, kinds: Sequence[str]) -> dict[str, Any]:
    """Return OF_CATEGORY for every kind of question, with how many there are."""
    columns, parts = [METRICS.index(metric) for metric in OF_CATEGORY], {}
    for kind in sorted(set(kinds)):
        of_kind = np.array([other == kind for other in kinds])
        means = _percent(scores.values[of_kind][:, columns])
        parts[kind] = {**dict(zip(OF_CATEGORY, means, strict=True)), "questions": int(of_kind.sum())}
    return parts


def _percent(values: NDArray[np.float64]) -> list[float]:
    """Return the mean of each column of (q, m) in percent."""
    return [round(float(value), 2) for value in 100 * values.mean(axis=0)]


def differences(
    scores: Mapping[str, Scores], questions: Sequence[LabelledQuestion], generator: Generator
) -> dict[str, dict[str, dict[str, float]]]:
    """Return what SUBJECT gains over every method of AGAINST that was measured, with intervals, in points."""
    counts = headline(questions)
    return {
        f"{SUBJECT} - {other}": {metric: _gain(scores, other, metric, counts, generator) for metric in COMPARED}
        for other in scores
        if SUBJECT in scores and (other in AGAINST or other in ABLATIONS)
    }


def _gain(
    scores: Mapping[str, Scores], other: str, metric: str, counts: Mask, generator: Generator
) -> dict[str, float]:
    column = METRICS.index(metric)
    ours, theirs = (scores[name].values[counts, column] for name in (SUBJECT, other))
    interval = paired(ours, theirs, generator)
    return {name: round(100 * value, 2) for name, value in interval._asdict().items()}
