"""Steady state: activation that is kept up at the seeds until nothing moves any more (SoulMem; SEEDS S13).

    x = s + D · W x,   so   x = (I − D W)⁻¹ s,   W[i,j] = PPMI[i,j] / √(strength[i] · strength[j]),  D = 0.5

strength[i] is the sum of i's weights.  Normalised so, no eigenvalue of W exceeds 1, and with D < 1 there is exactly one
steady state whatever the cycles; it is reached by repeating the equation until less than TOLERANCE moves in all.
Passages match the energies as BM25 matches words, then all else that recall has: what is compared is the activation.
"""

from __future__ import annotations

import numpy as np

from evaluation.baselines.structured import Scoring, matched
from processors.association import edges_out
from state.arrays import Floats
from state.graph.view import GraphView

DECAY = 0.5
TOLERANCE = 1e-8
ROUNDS = 200


class Network:
    """The concepts of a graph, with normalised weights."""

    def __init__(self, view: GraphView) -> None:
        self.nodes = len(view.is_mark)
        edges = edges_out(view.windows["exchange"], np.arange(self.nodes), "ppmi")
        self._edges = edges.where(edges.weight > 0)
        strength = np.sqrt(np.bincount(self._edges.source, self._edges.weight, self.nodes))
        self._weight = self._edges.weight / (strength[self._edges.source] * strength[self._edges.target])

    def steady(self, put_in: Floats) -> Floats:
        """Find (n,) the energies at rest, with `put_in` (n,) put in all the time."""
        energy = put_in
        for _ in range(ROUNDS):
            given = np.bincount(self._edges.target, energy[self._edges.source] * self._weight, self.nodes)
            settled = put_in + DECAY * given
            change, energy = np.abs(settled - energy).sum(), settled
            if change < TOLERANCE:
                break
        return energy


def steady_state(view: GraphView) -> Scoring:
    """Prepare SoulMem's steady state, matched with the passages of `view`."""
    network = Network(view)
    return lambda put_in: matched(view, network.steady(put_in))
