"""Fitting the weights of recall to questions whose evidence is known: coordinate search, the same result every time.

    for every weight in turn: try it · 0, 0.5, 0.7, 0.85, 1.2, 1.4, 2, keep the first that scores better; repeat
    score   mean over questions of  evidence within 531 and 973 tokens, within 10 passages (· 0.7) and 5 (· 0.3)

The numbers that the memory is judged by have no slope, so nothing is differentiated.  A change must gain LEAST_GAIN,
and a weight that is not missed becomes 0: few weights that stay near round numbers carry over to others.
Groups are conversations: `cross_validated` gives each the weights that the others chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from processors import features as columns
from processors.extractor import Extraction
from processors.question import asked
from processors.recall import RecallOptions, activate, seeds_of
from processors.weights import DEFAULT_FLOW, FEATURES, FlowWeights
from state.view import Floats, GraphView, Integers

FACTORS: Final = (0.0, 0.5, 0.7, 0.85, 1.2, 1.4, 2.0)
LEAST_GAIN: Final = 0.0003
SWEEPS: Final = 4
BUDGETS: Final = ((531, 1.0), (973, 1.0))  # tokens, what recall within them counts
CUTS: Final = ((10, 0.7), (5, 0.3))
DEEPEST: Final = 120  # passages that can lie within the largest budget


@dataclass(frozen=True)
class Example:
    """One question over p passages.

    features  (p, f) its features by passage number, columns as FEATURES
    tokens    (p,) what each passage costs of a budget
    evidence  (k,) the passages that hold the answer, k > 0
    group     its conversation
    weight    how much it counts
    """

    features: Floats
    tokens: Floats
    evidence: Integers
    group: str
    weight: float = 1.0


def features(view: GraphView, question: Extraction, text: str) -> Floats:
    """Return (p, f) the features of each passage for a question, as the default recall computes them."""
    meant, how = asked(view, question, text), RecallOptions()
    activation = activate(view, seeds_of(view, question, meant, "default"), how.spreading)
    return columns.features(view, meant, activation.energy)[:, view.session_order.place].T


def fit(examples: Sequence[Example], start: FlowWeights = DEFAULT_FLOW) -> FlowWeights:
    """Return the weights, searched from `start`, that find the most evidence.  Raises ValueError without examples."""
    if not examples:
        raise ValueError("nothing to fit to: give questions with evidence")
    tables = [_Table(same) for same in _alike(examples)]
    best, weights = _score(tables, start), start
    present = [name for column, name in enumerate(FEATURES) if any(table.tells(column) for table in tables)]
    for _ in range(SWEEPS):
        before = best
        for name in present:
            weights, best = _searched(tables, weights, name, best)
        if best <= before:
            break
    return weights


def cross_validated(examples: Sequence[Example], start: FlowWeights = DEFAULT_FLOW) -> dict[str, FlowWeights]:
    """Return for each group the weights that were fitted without it.  Raises ValueError for a single group."""
    groups = sorted({example.group for example in examples})
    return {left: fit([example for example in examples if example.group != left], start) for left in groups}


def _searched(tables: list[_Table], weights: FlowWeights, name: str, best: float) -> tuple[FlowWeights, float]:
    """Return the weights with the first better value of one of them, and their score."""
    now = getattr(weights, name)
    for factor in FACTORS if now else ():
        changed = replace(weights, **{name: now * factor})
        score = _score(tables, changed)
        if score > best + (LEAST_GAIN if factor else -LEAST_GAIN):
            return changed, score
    return weights, best


def _score(tables: list[_Table], weights: FlowWeights) -> float:
    vector = weights.vector()
    return sum((table.score(vector) for table in tables), 0.0) / sum(table.weight for table in tables)


def _alike(examples: Sequence[Example]) -> list[list[Example]]:
    """Return the examples by group and number of passages, so that each list makes one array."""
    lists: dict[tuple[str, int], list[Example]] = {}
    for example in examples:
        lists.setdefault((example.group, len(example.tokens)), []).append(example)
    return list(lists.values())


class _Table:
    """q questions over the same number of passages, as arrays."""

    def __init__(self, examples: list[Example]) -> None:
        self._features = np.array([example.features for example in examples], np.float32)  # (q, p, f)
        self._tokens = np.array([example.tokens for example in examples])
        self._share = np.zeros(self._tokens.shape)
        for row, example in enumerate(examples):
            self._share[row, example.evidence] = 1 / len(example.evidence)
        self._weights = np.array([example.weight for example in examples])
        self.weight = float(self._weights.sum())

    def tells(self, column: int) -> bool:
        """Return whether a feature tells any turn of some question from another; dense does not without embeddings."""
        return bool(np.ptp(self._features[:, :, column], axis=1).any())

    def score(self, vector: Floats) -> float:
        """Return the weighted sum of the scores of the questions, each in [0, 1]."""
        ranked = self._ranked(self._features @ vector.astype(np.float32))
        found = np.take_along_axis(self._share, ranked, 1).cumsum(axis=1)
        spent = np.take_along_axis(self._tokens, ranked, 1).cumsum(axis=1)
        rows = np.arange(len(ranked))
        inside = [((spent <= budget).sum(axis=1), counts) for budget, counts in BUDGETS]
        inside += [(np.full(len(rows), min(cut, ranked.shape[1])), counts) for cut, counts in CUTS]
        shares = [counts * np.where(end > 0, found[rows, end - 1], 0.0) for end, counts in inside]
        return float(np.sum(shares, axis=0) @ self._weights) / sum(counts for _, counts in (*BUDGETS, *CUTS))

    def _ranked(self, scores: NDArray[np.floating]) -> Integers:
        """Return the best passages of each question, best first, ties by number."""
        deepest = min(DEEPEST, scores.shape[1])
        if deepest < scores.shape[1]:
            edge = -np.partition(-scores, deepest - 1, axis=1)[:, deepest - 1 : deepest]
            scores = np.where(scores >= edge, scores, -np.inf)
        return np.argsort(-scores, axis=1, kind="stable")[:, :deepest]
