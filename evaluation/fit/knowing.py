"""Fitting `known`: a logistic regression on the evidence for questions that a memory can answer, and that it cannot.

    own, general, other    questions of a memory, general ones, and those of another memory of its data set
    baseline               the evidence of a memory for other general questions (known.py), which is subtracted
    silent                 the likelihood below which memories lose LOST of recall in the mean, and no form MOST_LOST
    inject                 the likelihood below which shares GENERAL and OTHER of those questions lie

Every form weighs the same, and so do own and unanswerable questions in it, and their kinds.  A form is judged by
weights and thresholds that were fitted to all the others.  The baseline depends on the weights that are sought, so a
fit is repeated with those of the one before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.measures.silence import UNKNOWN, auroc, calibration_error
from processors.recall.ranking.silence.evidence import EVIDENCE
from processors.recall.ranking.silence.known import Weights, baseline_of, likelihoods
from state.arrays import Floats, Mask

RIDGE: Final = 50.0
FORM_WEIGHT: Final = 400.0  # of all questions of a form together, against the ridge
ROUNDS: Final = 25  # of weights and baselines
STEPS: Final = 20
LOST: Final = 0.8  # points of recall in the mean, well below the goal of 2: the last points buy little silence
MOST_LOST: Final = 4.9  # and in any form, below the goal of 5
GENERAL: Final = 0.935  # share of questions that get nothing in mode inject, above the goal of 0.92
OTHER: Final = 0.655  # and of other memories' questions, above the goal of 0.65
DIGITS: Final = 3
# What a memory lacks of a person decides alone, so such questions are not fitted to.  Those without an answer seldom
# ask for something of a person, so a fit cannot see how much it tells.
MISSING: Final = -5.0
KINDS: Final = ("own", *UNKNOWN)  # what is fitted to

Kinds = NDArray[np.str_]


@dataclass(frozen=True)
class MemoryCases:
    """The questions that one memory was asked.

    baseline  by language, (b, e) the evidence for the general questions of its baseline (known.py)
    evidence  (q, e);  kind: (q,) own, general, other or adversarial
    recall    (q,) what the context holds of the evidence, without silence; 0 unless the question is its own
    """

    form: str
    baseline: Sequence[Floats]
    evidence: Floats
    kind: Kinds
    recall: Floats

    def known(self, weights: Weights) -> Floats:
        """Return `known` of each question: (q,)."""
        return likelihoods(self.evidence, baseline_of(self.baseline, weights), weights)


def fit(cases: Sequence[MemoryCases]) -> Weights:
    """Fit the weights of the evidence, and the thresholds, to all cases."""
    weights = Weights(np.append(np.ones(len(EVIDENCE) - 1), MISSING), 0.0, 0.0, 0.0)
    counted = [np.isin(each.kind, KINDS) & (each.evidence[:, EVIDENCE.index("missing")] == 0) for each in cases]
    own = np.concatenate([each.kind[rows] == "own" for each, rows in zip(cases, counted, strict=True)])
    share = _shares(cases, counted)
    for _ in range(ROUNDS):
        rows = np.concatenate(
            [
                each.evidence[chosen] - baseline_of(each.baseline, weights)
                for each, chosen in zip(cases, counted, strict=True)
            ]
        )
        found = np.round(_logistic(rows[:, :-1], own, share), DIGITS)
        weights = Weights(np.append(found[:-1], MISSING), float(found[-1]), 0.0, 0.0)
    silent, inject = _thresholds(cases, weights)
    return weights._replace(silent=silent, inject=inject)


def left_out(cases: Sequence[MemoryCases]) -> dict[str, Weights]:
    """Fit weights for each form without it."""
    forms = dict.fromkeys(each.form for each in cases)
    return {form: fit([each for each in cases if each.form != form]) for form in forms}


def report(cases: Sequence[MemoryCases], weights: Mapping[str, Weights]) -> dict[str, dict[str, float]]:
    """Report each form by its weights, and under "mean" all: AUROC, calibration, shares in percent, points lost.

    The calibration of the mean is that of all forms pooled.
    """
    forms = {form: _joined(of_form, weights[form]) for form, of_form in _by_form(cases).items()}
    rows = {form: _report(answers, weights[form]) for form, answers in forms.items()}
    names = dict.fromkeys(name for row in rows.values() for name in row)
    rows["mean"] = {name: float(np.mean([row[name] for row in rows.values() if name in row])) for name in names}
    pooled = _Answers(*map(np.concatenate, zip(*forms.values(), strict=True)))
    rows["mean"]["calibration"] = _calibration(pooled)
    return {form: {name: round(value, DIGITS) for name, value in row.items()} for form, row in rows.items()}


class _Answers(NamedTuple):
    """`known` of all questions of a form, (q,), their kinds and what recall each has."""

    known: Floats
    kind: Kinds
    recall: Floats


def _by_form(cases: Sequence[MemoryCases]) -> dict[str, list[MemoryCases]]:
    forms: dict[str, list[MemoryCases]] = {}
    for each in cases:
        forms.setdefault(each.form, []).append(each)
    return forms


def _joined(cases: Sequence[MemoryCases], weights: Weights) -> _Answers:
    known = np.concatenate([each.known(weights) for each in cases])
    return _Answers(known, *(np.concatenate([getattr(each, name) for each in cases]) for name in ("kind", "recall")))


def _report(answers: _Answers, weights: Weights) -> dict[str, float]:
    known, kind, _ = answers
    own, row = kind == "own", dict[str, float]()
    for name in UNKNOWN:
        if (of_kind := kind == name).any():
            row[f"{name} auroc"] = auroc(own[own | of_kind], known[own | of_kind])
            row[f"{name} silent"] = 100 * float((known[of_kind] < weights.silent).mean())
            row[f"{name} inject"] = 100 * float((known[of_kind] < weights.inject).mean())
    row["calibration"] = _calibration(answers)
    row["lost silent"], row["lost inject"] = _lost(*answers, np.array([weights.silent, weights.inject])).tolist()
    return row


def _calibration(answers: _Answers) -> float:
    return calibration_error(answers.kind == "own", answers.known, np.isin(answers.kind, KINDS))


def _lost(known: Floats, kind: Kinds, recall: Floats, least: Floats) -> Floats:
    """Return the points of recall that silence below each of `least` (k,) costs: (k,)."""
    own = kind == "own"
    lost: Floats = 100 * ((known[own, None] < least) * recall[own, None]).mean(axis=0)
    return lost


def _shares(cases: Sequence[MemoryCases], counted: Sequence[Mask]) -> Floats:
    """Return what each counted question weighs: (n,), own ones half of a form, the other kinds equal parts of half."""
    keys = [(each.form, kind) for each, rows in zip(cases, counted, strict=True) for kind in each.kind[rows].tolist()]
    totals, others = Counter(keys), Counter(form for form, kind in set(keys) if kind != "own")
    return np.array(
        [FORM_WEIGHT / 2 / totals[form, kind] / (1 if kind == "own" else others[form]) for form, kind in keys]
    )


def _logistic(rows: Floats, positive: Mask, share: Floats) -> Floats:
    """Find the weights of a logistic regression with a ridge, the constant last, by Newton's method."""
    rows = np.column_stack((rows, np.ones(len(rows))))
    ridge = np.append(RIDGE * rows[:, :-1].var(axis=0), 1e-9)
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (share * (positive - likely)) - ridge * weights
        curve = (rows * (share * likely * (1 - likely))[:, None]).T @ rows + np.diag(ridge)
        weights = weights + np.linalg.solve(curve, slope)
    return weights


def _thresholds(cases: Sequence[MemoryCases], weights: Weights) -> tuple[float, float]:
    """Choose `silent` by the recall that it costs, `inject` by what gets nothing; each a step of 10^-DIGITS."""
    forms = [_joined(of_form, weights) for of_form in _by_form(cases).values()]
    steps = np.arange(1, 10**DIGITS) / 10**DIGITS

    def shares(kind: str) -> Floats:
        asked = [known[kinds == kind] for known, kinds, _ in forms if (kinds == kind).any()]
        silent = [(known[:, None] < steps).mean(axis=0) for known in asked]
        mean: Floats = np.array(silent or [np.ones(len(steps))]).mean(axis=0)
        return mean

    lost = np.array([_lost(*form, steps) for form in forms])
    cheap = np.flatnonzero((lost.mean(axis=0) <= LOST) & (lost.max(axis=0) <= MOST_LOST))
    quiet = (shares("general") >= GENERAL) & (shares("other") >= OTHER)
    return float(steps[cheap[-1]]), float(steps[int(np.argmax(quiet))])
