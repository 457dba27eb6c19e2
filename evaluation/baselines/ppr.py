"""Personalised PageRank, HippoRAG's way to recall (Gutiérrez et al. 2024, 2025), on our graph.

    nodes    concepts and passages
    edges    concept – concept by PPMI, concept – passage by 1 for each mention
    restart  at the question's concepts, each by its idf.  HippoRAG's "node specificity", 1 / number of passages that
             hold it, does worse here (75.3 to 82.9 within 973 tokens on LoCoMo dev), so the peer gets the better one
    walk     x = d · Pᵀ x + (1 − d) · restart,  d = 0.5;  P goes to a neighbour by its share of the edges' weight
    score    a passage's share of the walk; then all else that recall has (structured.py)

HippoRAG takes its nodes and edges from a language model and its synonyms from embeddings; here they are ours, so what
is compared is the walk.  Power iteration on columns of edges, until the walk moves less than TOLERANCE in all.
"""

from __future__ import annotations

import numpy as np

from evaluation.baselines.structured import Scoring
from processors.association import edges_out
from processors.recall.bm25 import idf
from state.arrays import Floats, Integers
from state.graph.view import GraphView

DAMPING = 0.5
TOLERANCE = 1e-8
ROUNDS = 200  # never reached: a round halves what is left to move


class Walk:
    """A weighted directed graph over `nodes` nodes, on which a walk restarts where it is told to."""

    def __init__(self, source: Integers, target: Integers, weight: Floats, nodes: int) -> None:
        out = np.bincount(source, weight, nodes)
        self._source, self._target, self._nodes = source, target, nodes
        self._share = weight / out[source]
        self._stuck = out == 0

    def stationary(self, restart: Floats) -> Floats:
        """Walk until nothing moves: (nodes,) where the walk is then; `restart` (nodes,) adds up to 1, as that does."""
        here = restart
        for _ in range(ROUNDS):
            moved = np.bincount(self._target, here[self._source] * self._share, self._nodes)
            there = DAMPING * (moved + here[self._stuck].sum() * restart) + (1 - DAMPING) * restart
            change, here = np.abs(there - here).sum(), there
            if change < TOLERANCE:
                break
        return here


def graph_of(view: GraphView) -> Walk:
    """Lay out the walk over concepts (numbers below n) and passages (from n on)."""
    n = len(view.ids)
    pairs = edges_out(view.windows["exchange"], np.arange(n), "ppmi")
    linked = pairs.where(pairs.weight > 0)
    mention = np.ones(len(view.posting_concept))
    concept, passage = view.posting_concept, view.posting_passage + n
    return Walk(
        np.concatenate((linked.source, concept, passage)),
        np.concatenate((linked.target, passage, concept)),
        np.concatenate((linked.weight, mention, mention)),
        n + len(view.passage_at),
    )


def ppr(view: GraphView) -> Scoring:
    """Prepare personalised PageRank over the passages of `view`."""
    walk, n, rarity = graph_of(view), len(view.is_mark), idf(len(view.passage_at), view.passages_with)

    def scores(put_in: Floats) -> Floats:
        restart = np.zeros(n + len(view.passage_at))
        restart[:n] = put_in * rarity
        return walk.stationary(restart / restart.sum())[n:]

    return scores
