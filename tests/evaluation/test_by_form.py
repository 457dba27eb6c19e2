"""The table by form of talk: every form weighs the same, every data set within it, and every question within that."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.bootstrap import of_means
from evaluation.by_form import MEAN, SHOWN, Part, by_form
from evaluation.measure import Scores
from evaluation.metrics import METRICS, PRECISION
from evaluation.questions.labelled import UNANSWERABLE, LabelledQuestion


def part(form: str, default: list[float], bm25: list[float], category: str = "x") -> Part:
    def scores(values: list[float]) -> Scores:
        row = np.array([[value] * len(METRICS) for value in values])
        return Scores(row, row, np.ones(len(values)))

    questions = [LabelledQuestion("?", category, frozenset("t"), "g") for _ in default]
    return Part(form, questions, {"default": scores(default), "bm25": scores(bm25)})


def test_forms_weigh_the_same_whatever_their_questions_number() -> None:
    parts = [part("talk", [1.0] * 9, [0.5] * 9), part("notes", [0.0], [0.5])]
    report = by_form(parts, np.random.default_rng(1))
    assert list(report) == ["talk", "notes", MEAN]
    assert report["talk"][SHOWN] == {"default": 100, "bm25": 50}
    assert report[MEAN][SHOWN] == {"default": 50, "bm25": 50}
    assert report[MEAN][PRECISION]["default"] == 50
    assert report[MEAN]["differences"]["default - bm25"]["mean"] == 0
    assert report[MEAN]["questions"] == 10


def test_data_sets_weigh_the_same_within_a_form() -> None:
    parts = [part("notes", [1.0] * 3, [0.0] * 3), part("notes", [0.0], [0.0])]
    report = by_form(parts, np.random.default_rng(1))
    assert report["notes"][SHOWN]["default"] == report[MEAN][SHOWN]["default"] == 50


def test_what_the_headline_leaves_out_is_left_out_here() -> None:
    mixed = part("talk", [1.0, 1.0], [0.0, 0.0])
    mixed = mixed._replace(questions=[mixed.questions[0], LabelledQuestion("?", UNANSWERABLE, frozenset("t"), "g")])
    assert by_form([mixed], np.random.default_rng(1))["talk"]["questions"] == 1


def test_weights_of_other_forms_are_compared_too_where_they_were_fitted() -> None:
    fitted = part("talk", [1.0, 0.0], [0.0, 0.0])
    scores = {**fitted.scores, "default-other-forms": fitted.scores["default"], "ppr-structured": fitted.scores["bm25"]}
    report = by_form([fitted._replace(scores=scores)], np.random.default_rng(1))["talk"]["differences"]
    assert list(report) == ["default - bm25", "default - ppr-structured", "default-other-forms - bm25"]
    assert report["default-other-forms - bm25"] == report["default - bm25"]


def test_an_interval_is_as_wide_as_the_questions_differ() -> None:
    same, differing = np.full(50, 0.3), np.tile([0.0, 0.6], 25)
    assert of_means([[same]], np.random.default_rng(1)) == pytest.approx((0.3, 0.3, 0.3))
    wide = of_means([[differing]], np.random.default_rng(1))
    half = of_means([[same], [differing]], np.random.default_rng(1))
    assert wide.low < half.low < 0.3 < half.high < wide.high
    assert wide.high - wide.low == pytest.approx(2 * (half.high - half.low), rel=0.1)
