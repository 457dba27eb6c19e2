"""Paired bootstrap: how sure a difference between two methods is, given that both answered the same questions.

Questions are drawn with replacement, DRAWS times; the interval holds the middle 95 % of the mean differences.
Source: Efron & Tibshirani 1993; as a paired test of retrieval: Smucker, Allan & Carterette 2007.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from state.arrays import Floats, Integers

DRAWS = 10_000
LEVEL = 95  # percent
_AT_ONCE = 500  # draws in memory at a time


class Generator(Protocol):
    """The part of numpy's Generator that is needed; whoever calls makes one, from a fixed seed."""

    def integers(self, low: int, high: int, size: tuple[int, int]) -> Any:
        """Draw whole numbers from low to below high."""


class Interval(NamedTuple):
    """A mean difference, and between which two values it lies with LEVEL percent confidence."""

    mean: float
    low: float
    high: float


def paired(one: Floats, other: Floats, generator: Generator) -> Interval:
    """Bootstrap the interval of one − other; both (q,), the same question at the same place."""
    difference = one - other
    if not len(difference):
        return Interval(0.0, 0.0, 0.0)
    means = np.concatenate([_means(difference, generator) for _ in range(DRAWS // _AT_ONCE)])
    low, high = np.percentile(means, [(100 - LEVEL) / 2, (100 + LEVEL) / 2])
    return Interval(float(difference.mean()), float(low), float(high))


def _means(difference: Floats, generator: Generator) -> Floats:
    drawn: Integers = generator.integers(0, len(difference), (_AT_ONCE, len(difference)))
    means: Floats = difference[drawn].mean(axis=1)
    return means
