"""Compute one score for each passage from energies and features: pure functions of a view.

    default   Σ weight · feature: what flows to a turn over typed edges, and what it is    (features.py)
    literal   the energies that a passage holds                                            (seed 000 §4.3)

A default score is the logarithm of how likely a turn answers, up to a constant; it may be negative.  A context is paid
in tokens, so it takes turns by how likely they are *per token* (`per_token`).  Ranked is what energy reached, over an
edge type whose weight is not 0, by a mention, or by holding the kind of answer that is wanted.  There is no ranking by
recency: when it was tried, evidence was lost.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from processors.recall.ranking.edge_scores import Mask, added
from processors.recall.ranking.features import FEATURES
from processors.recall.ranking.weights import FlowWeights
from state.arrays import Floats, Integers
from state.graph.view import GraphView

DENSITY: Final = 0.9  # a little less than 1, because a budget is never filled to the last token

_REACHES: Final = tuple(row for row, feature in enumerate(FEATURES) if feature.reaches)


def weighed(columns: Floats, weights: FlowWeights) -> tuple[Floats, Mask]:
    """Weigh the features (f, p) of turns: score each, and return whether anything reached it; both (p,)."""
    vector = weights.vector()
    reaches = [row for row in _REACHES if vector[row]]
    reached: Mask = np.any(columns[reaches] > 0, axis=0)
    return added(vector, columns), reached


def per_token(scores: Floats, words: Integers, density: float = DENSITY) -> Floats:
    """Score turns of so many words, (k,), by what they answer for each token: ln (P / tokens) = S − ln tokens."""
    return scores - density * np.log(np.maximum(words, 1))


def carried(view: GraphView, energy: Floats, sources: Integers) -> tuple[Integers, Floats]:
    """Sum the energies that the passages hold which hold one of `sources` (seed 000 §4.3).

    returns  (k,) passage numbers, ascending, (k,) the sum of each
    """
    lists = [view.holders(source)[0] for source in sources.tolist()]
    passages = np.unique(np.concatenate(lists)).astype(np.int64) if lists else np.zeros(0, np.int64)
    of, concept, _ = view.concepts_of_turns(passages)
    return passages, np.bincount(of, energy[concept], len(passages)).astype(np.float64, copy=False)
