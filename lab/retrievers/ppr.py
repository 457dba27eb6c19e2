"""Personalised PageRank, HippoRAG's way to recall (Gutiérrez et al. 2024, 2025), on our graph (SEEDS S4).

    nodes    concepts and passages
    edges    concept – concept by PPMI, concept – passage by 1 for each mention
    restart  at the question's concepts, each by its idf.  HippoRAG's "node specificity", 1 / number of passages that
             hold it, does worse here (75.3 to 82.9 within 973 tokens on LoCoMo dev)
    walk     x = d · Pᵀ x + (1 − d) · restart,  d = 0.5;  P goes to a neighbour by its share of the edges' weight
    score    a passage's share of the walk

HippoRAG takes its nodes and edges from a language model and its synonyms from embeddings; here they are ours.  Power
iteration on columns of edges, until the walk moves less than `delta` in all.
"""

from __future__ import annotations

from typing import Final, cast

import numpy as np

from emgas.messages.settings.modes import Stage
from lab.retrievers.seam import ModeInput, ModeResult
from lab.retrievers.walking import WALK, by_walk
from processors.recall.ranking.bm25 import idf
from processors.recall.retrieval.policies import Retriever
from state.arrays import Floats, Integers

ROUNDS = 200  # never reached: with d = 0.5 a round halves what is left to move


class Walk:
    """A weighted directed graph over `nodes` nodes, on which a walk restarts at given nodes."""

    def __init__(self, source: Integers, target: Integers, weight: Floats, nodes: int) -> None:
        out = np.bincount(source, weight, nodes)
        self._source, self._target, self._nodes = source, target, nodes
        self._share = weight / out[source]
        self._stuck = out == 0

    def stationary(self, restart: Floats, damping: float = 0.5, tolerance: float = 1e-8) -> tuple[Floats, int]:
        """Walk until nothing moves: (nodes,) where the walk is then, and the rounds that it took.

        restart  (nodes,) adds up to 1, as that does
        """
        here = restart
        rounds = 0
        change = np.inf
        while rounds < ROUNDS and change >= tolerance:
            rounds += 1
            moved = np.bincount(self._target, here[self._source] * self._share, self._nodes)
            there = damping * (moved + here[self._stuck].sum() * restart) + (1 - damping) * restart
            change, here = np.abs(there - here).sum(), there
        return here, rounds


def graph_of(mode_input: ModeInput) -> Walk:
    """Lay out the walk over concepts (numbers below n) and passages (from n on)."""
    view, n = mode_input.view, mode_input.view.concepts
    linked = mode_input.all_edges()
    mention = np.full(len(view.posting_concept), mode_input.episodic)
    concept, passage = view.posting_concept, view.posting_passage + n
    weight = np.concatenate((linked.weight, mention, mention))
    source = np.concatenate((linked.source, concept, passage))
    target = np.concatenate((linked.target, passage, concept))
    return Walk(source[weight > 0], target[weight > 0], weight[weight > 0], n + view.turns)


def restart_of(mode_input: ModeInput) -> Floats:
    """Find where the walk restarts: (n + p,), which adds up to 1, at least something being put in."""
    view = mode_input.view
    restart = np.zeros(view.concepts + view.turns)
    restart[: view.concepts] = mode_input.put_in * idf(view.turns, view.passages_with)
    share: Floats = restart / restart.sum()
    return share


def find(mode_input: ModeInput) -> ModeResult:
    """Walk from what was put in."""
    walk, n = cast(Walk, mode_input.once("walk", lambda: graph_of(mode_input))), mode_input.view.concepts
    here, _ = walk.stationary(restart_of(mode_input), mode_input.how.propagation_decay, mode_input.how.delta)
    scores = here[n:]
    stage = Stage(name="walk", found=int(np.count_nonzero(scores > 0)), mass=float(scores.sum()))
    return ModeResult.ranked(here[:n], scores, {"walk": scores}, stages=(stage,))


RETRIEVER: Final = Retriever(
    name="ppr",
    source="HippoRAG",
    spreading=WALK,
    fields=("propagation_decay", "delta"),
    retrieve=by_walk(find),
    edges=frozenset({"mentions", "associations", "relations"}),
)
