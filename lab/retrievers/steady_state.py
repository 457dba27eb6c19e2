"""Steady state: activation that is kept up at the seeds until nothing moves any more (SoulMem; SEEDS S13).

    x = s + D · W x,   so   x = (I − D W)⁻¹ s,   W[i,j] = PPMI[i,j] / √(strength[i] · strength[j]),  D = 0.5

strength[i] is the sum of i's weights.  Normalised so, no eigenvalue of W exceeds 1, and with D < 1 there is exactly one
steady state whatever the cycles, and none are needed: the potential of a graph without them is not 0.  It is reached by
repeating the equation until less than `delta` moves in all.  Passages match the potentials as BM25 matches words.
"""

from __future__ import annotations

from typing import Final, cast

import numpy as np

from emgas.messages.settings.modes import Stage
from lab.retrievers.matching import matched
from lab.retrievers.seam import ModeInput, ModeResult
from lab.retrievers.walking import WALK, by_walk
from processors.association import Edges
from processors.recall.retrieval.policies import Retriever
from state.arrays import Floats

ROUNDS = 200
CEILING = 1e100  # with D = 1 there need be no steady state


class Network:
    """The n concepts of a graph, with normalised weights."""

    def __init__(self, edges: Edges, nodes: int) -> None:
        self._edges, self._nodes = edges, nodes
        strength = np.sqrt(np.bincount(edges.source, edges.weight, nodes))
        self._weight = edges.weight / (strength[edges.source] * strength[edges.target])

    def steady(self, put_in: Floats, decay: float = 0.5, tolerance: float = 1e-8) -> tuple[Floats, int]:
        """Find (n,) the energies at rest, with `put_in` (n,) put in all the time, and how many rounds that took."""
        energy = put_in
        rounds = 0
        change = np.inf
        while rounds < ROUNDS and change >= tolerance:
            rounds += 1
            inflow = np.bincount(self._edges.target, energy[self._edges.source] * self._weight, self._nodes)
            settled = np.minimum(put_in + decay * inflow, CEILING)
            change, energy = np.abs(settled - energy).sum(), settled
        return energy, rounds


def energies(mode_input: ModeInput) -> tuple[Floats, int]:
    """Find (n,) the potentials at rest, and how many rounds that took."""
    network = cast(
        Network, mode_input.once("network", lambda: Network(mode_input.all_edges(), mode_input.view.concepts))
    )
    return network.steady(mode_input.put_in, mode_input.how.propagation_decay, mode_input.how.delta)


def find(mode_input: ModeInput) -> ModeResult:
    """Match the passages with the potentials at rest."""
    energy, rounds = energies(mode_input)
    scores = matched(mode_input.view, energy)
    woken = int(np.count_nonzero(energy > 0))
    rest = "at rest" if rounds < ROUNDS else "not at rest"  # with D = 1 there need be none
    stages = (
        Stage(name=f"{rest} after {rounds} rounds", found=woken),
        Stage(name="match", found=int(np.count_nonzero(scores > 0))),
    )
    return ModeResult.ranked(energy, scores, {"match": scores}, stages=stages)


RETRIEVER: Final = Retriever(
    name="steady-state",
    source="SoulMem (neural dynamics)",
    spreading=WALK,
    fields=("propagation_decay", "delta"),
    retrieve=by_walk(find),
    edges=frozenset({"relations"}),
)
