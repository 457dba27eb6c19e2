"""Personalised PageRank by forward push: near the seeds alone, and with the weight of every edge (SEEDS S5).

    p = 0, r = restart;  while a node u has r(u) > ε · strength(u):
        p(u) += (1 − d) · r(u)      d · r(u) goes to its neighbours, by their shares of its edges' weight;  r(u) = 0

The walk's graph is that of ppr.py.  What is left in r is what p lacks: of a passage t at most ε · strength(t), where
strength is the sum of a node's weights and those are symmetric, as the default's are (Andersen, Chung & Lang 2006; with
weights on edges: Wang et al. 2022, EdgePush).  Only nodes whose r is large enough are looked at, so a question costs
what lies near its seeds, however large the graph.  All nodes that may push do so at once, so order cannot matter.
"""

from __future__ import annotations

import numpy as np

from emgas.messages.modes import Stage
from processors.recall.ranking.bm25 import idf
from processors.recall.retrieval.modes.seam import ModeInput, ModeResult
from state.arrays import Floats, Integers, Mask

ROUNDS = 500  # of pushes; with d = 0.5 some forty are enough


class Neighbourhood:
    """The edges of the nodes that were looked at, concepts below n and passages from n on, looked up as needed."""

    def __init__(self, given: ModeInput) -> None:
        self._given, self._n = given, given.view.concepts
        nodes = self._n + given.view.turns
        self.strength = np.zeros(nodes)
        self.known = np.zeros(nodes, np.bool_)
        self._source, self._target = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._weight = np.zeros(0)

    def look_at(self, nodes: Integers) -> None:
        """Read the edges of ascending `nodes` that were not looked at before."""
        new = nodes[~self.known[nodes]]
        if not len(new):
            return
        self.known[new] = True
        concepts, passages = new[new < self._n], new[new >= self._n] - self._n
        view, mention = self._given.view, self._given.episodic
        linked = self._given.edges(concepts)
        of, holders = view.holders_of(concepts)
        by, held, _ = view.held(passages)
        source = np.concatenate((linked.source, concepts[of], passages[by] + self._n))
        target = np.concatenate((linked.target, holders.astype(np.int64) + self._n, held))
        weight = np.concatenate((linked.weight, np.full(len(of) + len(by), mention)))
        self.strength += np.bincount(source, weight, len(self.strength))
        self._source = np.concatenate((self._source, source))
        self._target = np.concatenate((self._target, target))
        self._weight = np.concatenate((self._weight, weight))

    def spread(self, pushed: Floats) -> Floats:
        """Hand (nodes,) what nodes push on to their neighbours, by their shares of the weight."""
        moves = np.flatnonzero((pushed > 0)[self._source])
        source = self._source[moves]
        share = pushed[source] * self._weight[moves] / self.strength[source]
        return np.bincount(self._target[moves], share, len(pushed)).astype(np.float64, copy=False)


def push(given: ModeInput, restart: Floats) -> tuple[Floats, Floats, int]:
    """Push until no node has enough left: (nodes,) p, (nodes,) r, and how many nodes were looked at."""
    near, d, epsilon = Neighbourhood(given), given.how.propagation_decay, given.how.delta
    found, left = np.zeros(len(restart)), restart.copy()
    for _ in range(ROUNDS):
        # What has a mention has at least its weight: with less left than that share of ε it cannot push
        near.look_at(np.flatnonzero(left > epsilon * min(given.episodic, 1.0)))
        pushes: Mask = near.known & (left > epsilon * near.strength)
        if not pushes.any():
            break
        moved = np.where(pushes, left, 0.0)
        found += (1 - d) * moved
        left = np.where(pushes, 0.0, left)
        stuck = moved[near.strength == 0].sum()
        moved[near.strength == 0] = 0.0
        left += d * (near.spread(moved) + stuck * restart)
    return found, left, int(np.count_nonzero(near.known))


def find(given: ModeInput) -> ModeResult:
    """Push from what was put in."""
    view, n = given.view, given.view.concepts
    seeds = given.seeds
    restart = np.zeros(n + view.turns)
    restart[seeds] = given.put_in[seeds] * idf(view.turns, view.holding(seeds))
    found, left, looked_at = push(given, restart / restart.sum())
    scores = found[n:]
    reached = int(np.count_nonzero(scores > 0))
    stages = Stage(name="looked-at", found=looked_at), Stage(name="push", found=reached, mass=float(1 - left.sum()))
    return ModeResult.ranked(found[:n], scores, {"walk": scores}, stages=stages)
