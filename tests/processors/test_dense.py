"""How the likeness of vectors joins a score of passages, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from processors.dense import WEIGHT, cosines, fused, unit


def test_vectors_get_length_one_and_nothing_stays_nothing() -> None:
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)).tolist() == [pytest.approx([0.6, 0.8]), [0, 0]]


def test_cosines_are_those_of_the_passages_with_the_question() -> None:
    passages = unit(np.array([[1, 0], [1, 1], [-1, 0]], np.float32))
    assert cosines(passages, unit(np.array([[2, 0]], np.float32))) == pytest.approx([1, 2**-0.5, -1])


def test_likeness_joins_a_score_by_hand() -> None:
    # mean 0.4, so only the third is above it; it takes the whole weight whatever the deviation
    assert fused(np.array([4.0, 2.0, 0.0]), np.array([0.2, 0.2, 0.8])) == pytest.approx([1.0, 0.5, WEIGHT])


def test_likeness_is_measured_in_deviations_above_the_mean() -> None:
    cosine = np.array([0.1, 0.2, 0.3, 0.6])
    above = np.maximum(0, cosine - 0.3)
    assert fused(np.zeros(4), cosine) == pytest.approx(WEIGHT * above / above.max())
    assert fused(np.zeros(4), 0.5 + cosine / 10) == pytest.approx(fused(np.zeros(4), cosine)), "whatever the range"


def test_where_all_are_alike_only_the_scores_count() -> None:
    assert fused(np.array([2.0, 1.0]), np.array([0.5, 0.5])).tolist() == [1.0, 0.5]
    assert fused(np.zeros(2), np.zeros(2)).tolist() == [0, 0]
    assert fused(np.zeros(0), np.zeros(0)).tolist() == []
