"""Measures of silence: how well `known` separates questions with an answer from those without."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.measures.silence import auroc, calibration_error
from evaluation.questions.unanswerable import read_unanswerable


def test_auroc_is_1_where_all_known_ones_are_above_and_half_where_all_are_equal() -> None:
    positive = np.array([True, True, False, False])
    assert auroc(positive, np.array([0.9, 0.8, 0.2, 0.1])) == 1
    assert auroc(positive, np.array([0.1, 0.2, 0.8, 0.9])) == 0
    assert auroc(positive, np.full(4, 0.5)) == 0.5
    assert auroc(positive, np.array([0.9, 0.3, 0.5, 0.1])) == 0.75


def test_the_calibration_error_is_the_distance_between_likelihood_and_share() -> None:
    positive = np.array([True, False])
    everything = np.ones(2, np.bool_)
    assert calibration_error(positive, np.array([0.5, 0.5]), everything) == pytest.approx(0)
    assert calibration_error(positive, np.array([0.9, 0.9]), everything) == pytest.approx(0.4)
    assert calibration_error(positive, np.array([0.99, 0.01]), everything) == pytest.approx(0.01)


def test_there_are_150_unanswerable_questions_none_of_which_makes_a_baseline() -> None:
    questions = read_unanswerable()
    assert {language: len(texts) for language, texts in questions.items()} == {"en": 75, "zh": 75}
    assert len({text for texts in questions.values() for text in texts}) == 150
