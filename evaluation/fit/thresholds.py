"""Calibrating a threshold on what someone labelled: label, then precision, recall and F1 over thresholds.  SEEDS P9.

    scores of cases, each labelled as wanted or not ──▶ a point for each threshold ──▶ the one with the best F1

The recipe is SimpleMem's for its τ (docs/sources.md): if you have another use for a memory, label a sample of it and
pick the point that suits you.  It serves any score that a threshold is laid on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from state.arrays import Floats

Labels = NDArray[np.bool_]


class Point(NamedTuple):
    """The effect of a threshold: its precision and its recall."""

    threshold: float
    precision: float
    recall: float
    f1: float


class Cases(NamedTuple):
    """Scored cases (n,) with their labels, and how many more are wanted that have no score at all."""

    scores: Floats
    relevant: Labels
    unseen: int = 0

    @classmethod
    def joined(cls, parts: Sequence[Cases]) -> Cases:
        """Put cases together."""
        scores = np.concatenate([part.scores for part in parts]) if parts else np.zeros(0)
        relevant = np.concatenate([part.relevant for part in parts]) if parts else np.zeros(0, np.bool_)
        return cls(scores, relevant, sum(part.unseen for part in parts))


def point(cases: Cases, threshold: float) -> Point:
    """Measure what scores of at least `threshold` let through; where there is nothing to divide by, 0."""
    through = cases.scores >= threshold
    hits, of = int((through & cases.relevant).sum()), int(cases.relevant.sum()) + cases.unseen
    precision, recall = hits / max(int(through.sum()), 1), hits / max(of, 1)
    return Point(threshold, precision, recall, 2 * precision * recall / max(precision + recall, 1e-12))


def curve(cases: Cases, thresholds: Iterable[float]) -> list[Point]:
    """Measure every threshold, in the order given."""
    return [point(cases, threshold) for threshold in thresholds]


def best(points: Sequence[Point]) -> Point:
    """Find the point with the highest F1, of equals the one that lets more through.  Raises ValueError without any."""
    return max(points, key=lambda each: (round(each.f1, 12), -each.threshold))
