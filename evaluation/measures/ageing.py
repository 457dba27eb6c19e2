"""Measure whether old turns are found as well as recent ones: recall by the age of the evidence.

age    from the latest turn of the evidence to the graph's clock
fall   mean recall of the older half of the questions, by age, less that of the newer half, with its interval:
       temporal robustness is a fall that its interval does not tell from 0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from emgas.times import DAY_MS
from evaluation.bootstrap import Generator, unpaired
from evaluation.questions.labelled import LabelledQuestion
from state.arrays import Floats
from state.graph.view import GraphView

AGES: Final = (  # days up to which an age is called so
    ("a day", 1),
    ("a week", 7),
    ("a month", 30),
    ("three months", 91),
    ("a year", 365),
    ("older", float("inf")),
)


def ages(view: GraphView, questions: Sequence[LabelledQuestion]) -> Floats:
    """Compute the age (q,) of each question's evidence in days, NaN where none of it is in the memory."""
    at = dict(zip(view.passage_id, view.of_turns("at", np.arange(view.turns)).tolist(), strict=True))
    existing = ([at[turn] for turn in question.evidence if turn in at] for question in questions)
    latest = (max(times, default=None) for times in existing)
    return np.array([np.nan if time is None else (view.clock - time) / DAY_MS for time in latest], np.float64)


def ageing(age: Floats, recalled: Floats, generator: Generator) -> dict[str, Any]:
    """Sum up recall (q,) in [0, 1] by age (q,) in days; questions whose evidence is gone are a part of their own."""
    is_dated = ~np.isnan(age)
    report: dict[str, Any] = {"by_age": {}, "gone": int((~is_dated).sum()), "fall": None}
    least = -np.inf
    for name, most in AGES:
        part = is_dated & (age > least) & (age <= most)
        if part.any():
            report["by_age"][name] = {"questions": int(part.sum()), "recall": float(recalled[part].mean())}
        least = most
    order = np.flatnonzero(is_dated)[np.argsort(age[is_dated], kind="stable")]
    half = len(order) // 2
    if half and age[order[0]] < age[order[-1]]:
        newer, older = recalled[order[:half]], recalled[order[-half:]]
        report["fall"] = unpaired(older, newer, generator)._asdict()
    return report
