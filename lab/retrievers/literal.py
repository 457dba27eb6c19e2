"""Literal: how the original description of EMGAS ranks passages, to the letter (seed 000 §4.3; SEEDS E27).

Energy spreads over raw PPMI of rounds of dialogue.  The N most active concepts name the passages, which are ranked by
the sum of the energies that they hold; marks are no concepts of it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from processors.extraction.extractor import Extraction
from processors.recall.ranking.activation import Activation, SpreadingParameters
from processors.recall.ranking.archive import behind
from processors.recall.ranking.filters import Allowed
from processors.recall.ranking.passage_scores import carried
from processors.recall.retrieval.policies import RecallRequest, Retriever
from processors.recall.retrieval.recall import (
    MOST_RECALLED,
    NOTHING,
    RecallResult,
    activate,
    described,
    needs,
    ranked,
    recalled,
    strongest_of,
)
from state.arrays import Floats, Integers
from state.graph.view import GraphView

SOURCES: Final = 20  # most active concepts that name passages: the seed's N, which has no number there
# The seed's table 2 gives ranges, no defaults: F in 0–1, D in 0–1, 3–10 iterations, delta "tiny", self-decay optional.
# Ours: F 0.1 (above 0, or everything fires, T6), D 0.5 (the middle), 3 iterations (the fewest), delta 0.001, self-decay
# off as in its main text.
LITERAL: Final = SpreadingParameters(
    firing_threshold=0.1,
    propagation_decay=0.5,
    max_iterations=3,
    delta=1e-3,
    self_decay=False,
    convergence=1.0,
    window="round",
    weighting="ppmi",
    recall_links=0.0,
    topic_links=0.0,
    marks=False,
)


def retrieve(request: RecallRequest, sources: int = SOURCES) -> RecallResult:
    """Recall what the `sources` most active concepts name."""
    view, options = request.view, request.options
    seeds = known_words(view, request.question)
    if not len(seeds):
        return NOTHING
    activation = activate(view, seeds, options.spreading)
    awake = np.flatnonzero(activation.energy > 0)
    words = awake[~view.marks(awake)]
    strongest = strongest_of(activation, words, options.looked_at)
    needed = needs(request.text, request.meant, options)
    limit = needed if options.passages is None else options.passages
    allowed = Allowed(view, options.only)
    return RecallResult(
        seeds=described(view, activation, seeds),
        concepts=described(view, activation, strongest[: options.concepts]),
        passages=ranked(*best(view, activation, strongest_of(activation, words, sources), allowed, limit)),
        woken=len(awake),
        clamped=activation.clamped,
        depth=needed,
        recalled=recalled(view, seeds, strongest[:MOST_RECALLED], activation.energy),
        activation=activation,
        meant=request.meant,
    )


def known_words(view: GraphView, question: Extraction) -> Integers:
    """Find (k,) where energy is put in: at the words alone, as the question has them."""
    existing = [number for concept in question.concepts if (number := view.number(concept.id)) is not None]
    return np.array([number for number in existing if not view.marks(np.array([number]))[0]], np.int64)


def best(
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
    _, concepts, _ = view.concepts_of_turns(np.array([passage]))
    energies = zip(concepts.tolist(), activation.energy[concepts].tolist(), strict=True)
    return {view.ids[concept]: energy for concept, energy in energies if energy > 0}


RETRIEVER: Final = Retriever(
    name="literal",
    source="EMGAS as first described",
    spreading=LITERAL,
    fields=("firing_threshold", "propagation_decay", "max_iterations", "delta", "convergence"),
    retrieve=retrieve,
    edges=frozenset({"relations"}),
    seeks_weak_words=False,
    explain=terms,
)
