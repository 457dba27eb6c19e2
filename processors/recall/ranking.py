"""How well each passage answers: from energies and features to one score for each, pure functions of a view.

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

from processors.recall import edge_scores
from processors.recall.edge_scores import Mask
from processors.recall.features import FEATURES, features
from processors.recall.query_terms import QueryTerms
from processors.recall.weights import FlowWeights
from state.arrays import Floats, Integers
from state.graph.view import GraphView

DENSITY: Final = 0.9  # a little less than 1, because a budget is never filled to the last token

_REACHES: Final = tuple(row for row, feature in enumerate(FEATURES) if feature.reaches)


def scored(
    view: GraphView, asked: QueryTerms, energy: Floats, weights: FlowWeights, cosine: Floats | None = None
) -> tuple[Floats, Mask]:
    """Score each passage, and tell whether anything reached it; both (p,)."""
    return weighed(view, features(view, asked, energy, cosine), weights)


def weighed(view: GraphView, columns: Floats, weights: FlowWeights) -> tuple[Floats, Mask]:
    """Weigh the features (f, p) of each place: score and reach of each passage, both (p,)."""
    vector = weights.vector()
    reaches = [row for row in _REACHES if vector[row]]
    reached: Mask = np.any(columns[reaches] > 0, axis=0)
    place = view.session_order.place
    return (vector @ columns)[place], reached[place]


def per_token(scores: Floats, words: Integers) -> Floats:
    """Score turns of so many words, (k,), by what they answer for each token: ln (P / tokens) = S − ln tokens."""
    return scores - DENSITY * np.log(np.maximum(words, 1))


def carried(view: GraphView, energy: Floats, sources: Integers) -> Floats:
    """Sum (p,) the energies that each passage holds, 0 unless it holds one of `sources` (seed 000 §4.3)."""
    given = _summed(view.posting_passage, energy[view.posting_concept], len(view.passage_at))
    return np.where(edge_scores.holding(view, sources), given, 0.0)


def _summed(at: Integers, values: Floats, size: int) -> Floats:
    """Sum the values at each position: (size,), added in their order."""
    return np.bincount(at, values, size).astype(np.float64, copy=False)
