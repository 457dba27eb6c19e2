"""Paired bootstrap: how sure a difference between two methods is, given that both answered the same questions.

Questions are drawn with replacement, DRAWS times; the interval holds the middle 95 % of the mean differences.
Source: Efron & Tibshirani 1993; as a paired test of retrieval: Smucker, Allan & Carterette 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from state.arrays import Floats, Integers

DRAWS = 10_000
LEVEL = 95  # percent
_AT_ONCE = 500  # draws in memory at a time


class Generator(Protocol):
    """The part of numpy's Generator that is needed; the caller makes one, from a fixed seed."""

    def integers(self, low: int, high: int, size: tuple[int, int]) -> Any:
        """Draw whole numbers from low to below high."""


class Interval(NamedTuple):
    """A mean difference, and between which two values it lies with LEVEL percent confidence."""

    mean: float
    low: float
    high: float


def paired(one: Floats, other: Floats, generator: Generator) -> Interval:
    """Bootstrap the interval of one − other; both (q,), the same question at the same place."""
    return of_means([[one - other]], generator) if len(one) else Interval(0.0, 0.0, 0.0)


def unpaired(one: Floats, other: Floats, generator: Generator) -> Interval:
    """Bootstrap the interval of mean(one) − mean(other), of different questions; each (q,) has at least one."""
    drawn = _drawn(one, generator) - _drawn(other, generator)
    low, high = np.percentile(drawn, [(100 - LEVEL) / 2, (100 + LEVEL) / 2])
    return Interval(float(one.mean() - other.mean()), float(low), float(high))


def of_means(differences: Sequence[Sequence[Floats]], generator: Generator) -> Interval:
    """Bootstrap the interval of a mean over forms of the mean over their data sets of a mean difference.

    Every data set (q,) has at least one question; the questions of each are drawn apart.
    """
    drawn = np.mean([np.mean([_drawn(part, generator) for part in form], axis=0) for form in differences], axis=0)
    low, high = np.percentile(drawn, [(100 - LEVEL) / 2, (100 + LEVEL) / 2])
    return Interval(
        float(np.mean([np.mean([part.mean() for part in form]) for form in differences])), float(low), float(high)
    )


def _drawn(difference: Floats, generator: Generator) -> Floats:
    """Draw DRAWS times: the mean difference of each draw."""
    return np.concatenate([_means(difference, generator) for _ in range(DRAWS // _AT_ONCE)])


def _means(difference: Floats, generator: Generator) -> Floats:
    drawn: Integers = generator.integers(0, len(difference), (_AT_ONCE, len(difference)))
    means: Floats = difference[drawn].mean(axis=1)
    return means
