"""Literal: how the original description of EMGAS ranks passages, to the letter (seed 000 §4.3; SEEDS E27).

Energy spreads over raw PPMI of rounds of dialogue (activation.py LITERAL).  The N most active concepts name the
passages, which are ranked by the sum of the energies that they hold; marks are no concepts of it.
"""

from __future__ import annotations

import numpy as np

from processors.recall.ranking.activation import Activation
from processors.recall.ranking.archive import behind
from processors.recall.ranking.filters import Allowed
from processors.recall.ranking.passage_scores import carried
from state.arrays import Floats, Integers
from state.graph.view import GraphView


def ranked(
    view: GraphView, activation: Activation, sources: Integers, allowed: Allowed, limit: int
) -> tuple[Integers, Floats]:
    """Rank the passages that hold one of `sources` by the energies that they hold: numbers and scores, best first."""
    passages, scores = carried(view, activation.energy, sources)
    keep = (scores > 0) & allowed.passes(passages)
    passages, scores = passages[keep], behind(view, passages, scores, "literal")[keep]
    order = np.lexsort((-passages, -scores))[:limit]
    return passages[order], scores[order]


def terms(view: GraphView, activation: Activation, passage: int) -> dict[str, float]:
    """Return the energies that a passage holds, by concept: their sum is its score, but for the archive."""
    _, concepts, _ = view.held(np.array([passage]))
    held = zip(concepts.tolist(), activation.energy[concepts].tolist(), strict=True)
    return {view.ids[concept]: energy for concept, energy in held if energy > 0}
