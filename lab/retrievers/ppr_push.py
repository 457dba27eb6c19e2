"""Personalised PageRank by forward push: near the seeds alone, and with the weight of every edge (SEEDS S5).

    p = 0, r = restart;  while a node u has r(u) > ε · strength(u):
        p(u) += (1 − d) · r(u)      d · r(u) goes to its neighbours, by their shares of its edges' weight;  r(u) = 0

The walk's graph is that of ppr.py.  What is left in r is what p lacks: of a passage t at most ε · strength(t), where
strength is the sum of a node's weights and those are symmetric, as the default's are (Andersen, Chung & Lang 2006; with
weights on edges: Wang et al. 2022, EdgePush).  Only nodes whose r is large enough are looked at, so a question costs
what lies near its seeds, however large the graph.  All nodes that may push do so at once, so order cannot matter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from emgas.messages.settings.modes import Stage
from lab.retrievers.seam import ModeInput, ModeResult
from lab.retrievers.walking import WALK, by_walk
from processors.recall.ranking.bm25 import idf
from processors.recall.retrieval.policies import Retriever
from state.arrays import Floats, Integers, Mask

ROUNDS = 500  # of pushes; with d = 0.5 some forty are enough


class Neighbourhood:
    """The edges of the nodes that were looked at, concepts below n and passages from n on, looked up as needed."""

    def __init__(self, mode_input: ModeInput) -> None:
        self._input, self._n = mode_input, mode_input.view.concepts
        nodes = self._n + mode_input.view.turns
        self.strength = np.zeros(nodes)
        self.visited = np.zeros(nodes, np.bool_)
        self._source, self._target = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._weight = np.zeros(0)

    def look_at(self, nodes: Integers) -> None:
        """Read the edges of ascending `nodes` that were not looked at before."""
        new = nodes[~self.visited[nodes]]
        if not len(new):
            return
        self.visited[new] = True
        concepts, passages = new[new < self._n], new[new >= self._n] - self._n
        view, mention = self._input.view, self._input.episodic
        linked = self._input.edges(concepts)
        of, holders = view.holders_of(concepts)
        by, mentioned, _ = view.concepts_of_turns(passages)
        source = np.concatenate((linked.source, concepts[of], passages[by] + self._n))
        target = np.concatenate((linked.target, holders.astype(np.int64) + self._n, mentioned))
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


def push(mode_input: ModeInput, restart: Floats) -> tuple[Floats, Floats, int]:
    """Push until no node has enough left: (nodes,) p, (nodes,) r, and how many nodes were looked at."""
    near, d, epsilon = Neighbourhood(mode_input), mode_input.how.propagation_decay, mode_input.how.delta
    settled, left = np.zeros(len(restart)), restart.copy()
    for _ in range(ROUNDS):
        # What has a mention has at least its weight: with less left than that share of ε it cannot push
        near.look_at(np.flatnonzero(left > epsilon * min(mode_input.episodic, 1.0)))
        pushes: Mask = near.visited & (left > epsilon * near.strength)
        if not pushes.any():
            break
        moved = np.where(pushes, left, 0.0)
        settled += (1 - d) * moved
        left = np.where(pushes, 0.0, left)
        stuck = moved[near.strength == 0].sum()
        moved[near.strength == 0] = 0.0
        left += d * (near.spread(moved) + stuck * restart)
    return settled, left, int(np.count_nonzero(near.visited))


def find(mode_input: ModeInput) -> ModeResult:
    """Push from what was put in."""
    view, n = mode_input.view, mode_input.view.concepts
    seeds = mode_input.seeds
    restart = np.zeros(n + view.turns)
    restart[seeds] = mode_input.put_in[seeds] * idf(view.turns, view.holding(seeds))
    settled, left, looked_at = push(mode_input, restart / restart.sum())
    scores = settled[n:]
    reached = int(np.count_nonzero(scores > 0))
    stages = Stage(name="looked-at", found=looked_at), Stage(name="push", found=reached, mass=float(1 - left.sum()))
    return ModeResult.ranked(settled[:n], scores, {"walk": scores}, stages=stages)


RETRIEVER: Final = Retriever(
    name="ppr-push",
    source="SoulMem (EdgePush-PPR)",
    spreading=replace(WALK, delta=1e-6),
    fields=("propagation_decay", "delta"),
    retrieve=by_walk(find),
    edges=frozenset({"mentions", "associations", "relations"}),
)
