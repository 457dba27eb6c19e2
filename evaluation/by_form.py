"""Measure recall on each form of talk and on all; every form has the same weight, whatever its number of questions.

A form is a kind of talk: two people, a user and an assistant, notes, passages, … .  It may have several data sets,
which weigh the same within it.  The mean over forms is the headline: no form can hide behind one with more questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from evaluation.bootstrap import Generator, of_means
from evaluation.measure import Scores
from evaluation.metrics import METRICS, PRECISION, WITHIN_BUDGETS
from evaluation.questions.labelled import LabelledQuestion
from evaluation.summary import SUBJECT, headline
from state.arrays import Floats

SHOWN: Final = WITHIN_BUDGETS[-1]
LEFT_OUT: Final = "{}-other-forms"  # a method with weights that were fitted to all forms but the one that is asked
COMPARED: Final = (
    (SUBJECT, "bm25"),
    (SUBJECT, "ppr-structured"),
    (LEFT_OUT.format(SUBJECT), "bm25"),
    (LEFT_OUT.format(SUBJECT), LEFT_OUT.format("ppr-structured")),
)
MEAN: Final = "mean over forms"


class Part(NamedTuple):
    """One data set: its form of talk, its questions, and every method's scores of them."""

    form: str
    questions: Sequence[LabelledQuestion]
    scores: Mapping[str, Scores]


def by_form(parts: Sequence[Part], generator: Generator) -> dict[str, dict[str, Any]]:
    """Sum up each form, and under MEAN all of them; shares in percent, differences in points with intervals.

    Each has SHOWN and PRECISION by method, and `differences`: what one gains over the other of COMPARED.
    """
    forms = {form: [part for part in parts if part.form == form] for form in dict.fromkeys(each.form for each in parts)}
    reports = {form: _form_report([of_form], generator) for form, of_form in forms.items()}
    return reports | {MEAN: _form_report(list(forms.values()), generator)}


def _form_report(forms: Sequence[Sequence[Part]], generator: Generator) -> dict[str, Any]:
    methods = forms[0][0].scores
    compared = [pair for pair in COMPARED if methods.keys() >= set(pair)]
    return {
        "questions": sum(len(_values(part, SHOWN, next(iter(methods)))) for form in forms for part in form),
        **{metric: {name: _mean(forms, metric, name) for name in methods} for metric in (SHOWN, PRECISION)},
        "differences": {f"{one} - {other}": _gain(forms, one, other, generator) for one, other in compared},
    }


def _mean(forms: Sequence[Sequence[Part]], metric: str, method: str) -> float:
    """Average a method over the questions of a part, the parts of a form, and the forms, in percent."""
    means = [np.mean([_values(part, metric, method).mean() for part in form]) for form in forms]
    return round(100 * float(np.mean(means)), 2)


def _gain(forms: Sequence[Sequence[Part]], one: str, other: str, generator: Generator) -> dict[str, float]:
    gains = [[_values(part, SHOWN, one) - _values(part, SHOWN, other) for part in form] for form in forms]
    return {name: round(100 * value, 2) for name, value in of_means(gains, generator)._asdict().items()}


def _values(part: Part, metric: str, method: str) -> Floats:
    """Return a method's values (q,) of a metric, for the questions that the headline counts."""
    values: Floats = part.scores[method].values[headline(part.questions), METRICS.index(metric)]
    return values
