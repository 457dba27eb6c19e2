"""Fitting the weights of recall to questions whose evidence is known: a conditional logit, the same result every time.

    P(turn holds the answer) = exp S[turn] / Σ over all turns exp S,    S = Σ weight · feature
    fitted     the weights that make the evidence most likely, less RIDGE/2 · Σ (weight · deviation of the feature)²,
               or of how far a weight is from what it was, where fitted towards some (few questions move it little)

The likelihood is concave, so Newton's method finds its one maximum from zero: no starting point, no seed, no order of
the examples counts.  It uses every question, not only those at the edge of a budget, so it carries over: left-out
conversations score as those fitted to, where a search on the measured recall itself lost a point.
Groups are conversations: `cross_validated` gives each the weights that the others chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from processors.extraction.extractor import Extraction
from processors.recall.ranking import features as columns
from processors.recall.ranking.query_terms import find_query_terms
from processors.recall.ranking.weights import DEFAULT_FLOW, FEATURES, FlowWeights
from processors.recall.retrieval.recall import RecallOptions, activate, seeds_of
from state.arrays import Floats, Integers
from state.graph.view import GraphView

RIDGE: Final = 10.0
STEPS: Final = 30
SETTLED: Final = 1e-4  # change of a term, in deviations of its feature, below which nothing is gained
SMALLEST_STEP: Final = 1e-4

Tables = list["_Table"]
Features = NDArray[np.floating]


@dataclass(frozen=True)
class Example:
    """One question over p passages.

    features  (p, f) its features by passage number, columns as FEATURES
    tokens    (p,) what each passage costs of a budget
    evidence  (k,) the passages that hold the answer, k > 0
    group     what is left out together: its conversation, or its form of talk
    weight    how much it counts
    """

    features: Features
    tokens: Floats
    evidence: Integers
    group: str
    weight: float = 1.0


def features(view: GraphView, question: Extraction, text: str) -> Floats:
    """Compute the features of each passage for a question, as the default recall does: (p, f)."""
    meant, how = find_query_terms(view, question, text), RecallOptions()
    activation = activate(view, seeds_of(view, meant), how.spreading)
    return columns.features(view, meant, activation.energy)[:, view.session_order.place].T


def fit(
    examples: Sequence[Example], start: FlowWeights = DEFAULT_FLOW, *, towards: FlowWeights | None = None
) -> FlowWeights:
    """Fit the weights that make the evidence most likely; what is 0 in `start` stays 0 (an edge type left out).

    towards  weights that hold as long as the evidence says nothing else; None: zeros
    Raises ValueError without examples.
    """
    if not examples:
        raise ValueError("nothing to fit to: give questions with evidence")
    before = np.zeros(len(FEATURES)) if towards is None else towards.vector()
    tables = [_Table(same, before) for same in _alike(examples)]
    deviation = np.concatenate([table.features.reshape(-1, len(FEATURES)) for table in tables]).std(axis=0)
    start_vector = start.vector()
    free = np.flatnonzero((start_vector != 0) & (deviation > 0))
    weights = np.where(deviation > 0, before, start_vector)
    weights[free] += _maximum(tables, free, RIDGE * deviation[free].astype(np.float64) ** 2)
    return FlowWeights(**dict(zip(FEATURES, weights.tolist(), strict=True)))


def cross_validated(
    examples: Sequence[Example], start: FlowWeights = DEFAULT_FLOW, *, towards: FlowWeights | None = None
) -> dict[str, FlowWeights]:
    """Fit weights for each group without it.  Raises ValueError for a single group."""
    groups = sorted({example.group for example in examples})
    others = {left: [example for example in examples if example.group != left] for left in groups}
    return {left: fit(training, start, towards=towards) for left, training in others.items()}


def _maximum(tables: Tables, free: Integers, ridge: Floats) -> Floats:
    """Find (k,) the weights of the `free` (k,) features at which the penalised likelihood is largest."""
    weights = np.zeros(len(free))
    for _ in range(STEPS):
        slope, curve = -ridge * weights, np.diag(ridge)
        for table in tables:
            gradient, information = table.derivatives(weights, free)
            slope, curve = slope + gradient, curve + information
        step = np.asarray(np.linalg.solve(curve, slope), np.float64)
        step *= _share(tables, free, ridge, weights, step)
        weights = weights + step
        if (np.abs(step) * np.sqrt(ridge / RIDGE)).max(initial=0.0) < SETTLED:
            break
    return weights


def _share(tables: Tables, free: Integers, ridge: Floats, weights: Floats, step: Floats) -> float:
    """Find how much of a step makes the evidence more likely: 1, or a half, a quarter, ... of it; 0 if none does."""

    def value(at: Floats) -> float:
        return sum((table.likelihood(at, free) for table in tables), 0.0) - float(ridge @ (at * at)) / 2

    before, share = value(weights), 1.0
    while value(weights + share * step) < before:
        share /= 2
        if share < SMALLEST_STEP:
            return 0.0
    return share


def _alike(examples: Sequence[Example]) -> list[list[Example]]:
    """Group the examples by group and number of passages, so that each list makes one array."""
    lists: dict[tuple[str, int], list[Example]] = {}
    for example in examples:
        lists.setdefault((example.group, len(example.tokens)), []).append(example)
    return list(lists.values())


class _Table:
    """q questions over the same p passages, as arrays; `before` (f,) is what is weighed besides what is found."""

    def __init__(self, examples: list[Example], before: Floats) -> None:
        self.features = np.array([example.features for example in examples], np.float32)  # (q, p, f)
        self._before = self.features @ before.astype(np.float32)  # (q, p)
        self._weights = np.array([example.weight for example in examples])
        self._share = np.zeros(self.features.shape[:2])
        for row, example in enumerate(examples):
            self._share[row, example.evidence] = 1 / len(example.evidence)

    def likelihood(self, weights: Floats, free: Integers) -> float:
        """Sum the mean log-likelihood of the evidence over questions."""
        return float(self._weights @ (self._share * self._logarithms(weights, free)).sum(axis=1))

    def derivatives(self, weights: Floats, free: Integers) -> tuple[Floats, Floats]:
        """Compute (k,) the gradient of the likelihood and (k, k) its information, minus the second derivative."""
        free_features = self.features[:, :, free]
        likely = np.exp(self._logarithms(weights, free))
        expected = np.einsum("qp,qpf->qf", likely, free_features)
        result = np.einsum("qp,qpf->qf", self._share, free_features)
        flat = free_features.reshape(-1, len(free))
        weighted = flat * (likely * self._weights[:, None]).reshape(-1, 1).astype(np.float32)
        information = (weighted.T @ flat).astype(np.float64) - (expected * self._weights[:, None]).T @ expected
        return self._weights @ (result - expected), information

    def _logarithms(self, weights: Floats, free: Integers) -> Floats:
        """Compute (q, p) ln P of each passage."""
        scores = (self._before + self.features[:, :, free] @ weights.astype(np.float32)).astype(np.float64)
        scores -= scores.max(axis=1, keepdims=True)
        logarithms: Floats = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return logarithms
