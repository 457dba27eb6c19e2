"""Spreading activation: compute which concepts a question activates, how strongly, and along which path.

    fire        every node whose energy exceeds F (strictly: SEEDS trap T6)
    propagate   new[j] = cur[j] + Σ over firing i of cur[i] · W[i,j] · D          (seed 000 §4.2; convergence 1)
    converge    the sum over i may favour many givers over one: (Σ g_i^p)^(1/p), g_i what i gives, p = convergence
    tire        with self-decay, a node that fired keeps cur[i] · (1 − D) of its own energy
    stop        after `max_iterations`, when no node fires, or when Σ |new − cur| < delta

The energies of one round are computed from those of the round before alone (double buffer).  The seed's pseudo-code
lets self-decay overwrite what a node received in the same round, so its result depends on the order of nodes (trap T3).
D is the share of energy that survives a hop: near 0 stays local, near 1 goes far (T5).  Only edges out of firing nodes
are read.  Firing nodes are visited in ascending order, which fixes the order of every sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from emgas.messages.relations import RelationType
from emgas.messages.settings.modes import Weighting
from processors.association import Edges
from state.arrays import Floats, Integers
from state.graph.counting.derived_windows import DerivedWindow
from state.graph.graph_tables import Window

INITIAL_ENERGY = 1.0  # put in at every seed (seed 000 §4.1 and table 2)

# Raw PPMI times D may exceed 1, so energy can grow every round although the seed promises that it settles (trap T4).
# Ten rounds over a hundred million neighbours at PPMI 18 stay below this; above it energy is cut off and reported.
CEILING = 1e100


@dataclass(frozen=True)
class SpreadingParameters:
    """The parameters of spreading; a query may change some of them (emgas/messages/settings/spreading.py).

    firing_threshold   F, in [0, 1]: a node fires if its energy exceeds it
    propagation_decay  D, in [0, 1]: share of energy that survives a hop
    max_iterations     rounds at most; 0 leaves the seeds alone
    delta              stop after a round that changed less energy than this in all; 0 never does
    self_decay         whether a node that fired loses D of its energy
    convergence        p in (0, 1]: 1 adds up what a node is given; below 1, k equal gifts count k^(1/p) times one
    window             which co-occurrence counts: within a turn, a turn and the one before it, a round, a session, or
                       so many turns of one (state/graph/counting/derived_windows.py)
    weighting          which weight of an edge (processors/association.py)
    recall_links       κ: how strongly concepts are linked that were recalled together (links.py); 0: not
    topic_links        τ: how much energy a concept's theme passes on to its members; 0: themes take no part
    type_weights       how strongly concepts are linked that turns say to be related so (links.py); by type, 0 without
    marks              whether marks ("@speaker:…", "@day:…") pass energy on and receive it, or only words do
    """

    firing_threshold: float
    propagation_decay: float
    max_iterations: int
    delta: float
    self_decay: bool
    convergence: float
    window: Window | DerivedWindow | int
    weighting: Weighting
    recall_links: float
    topic_links: float
    marks: bool
    type_weights: Mapping[RelationType, float] = field(default_factory=dict)


# D and the single round are what was measured best; further rounds, thresholds and smoothing gained nothing
# (evaluation/README.md).  F and delta have no effect in a single round (seeds hold 1.0); they are set so that raising
# `max_iterations` lets woken nodes fire, whose fan-normalised energies are mostly between 0.001 and 0.1.
# A link from recall is as strong as a good one from what was said (0.2); without reinforcing queries there is none.
# Convergence ½ because fan normalisation alone prefers a rare word that stood beside one seed to the name that several
# seeds share (SEEDS E26); on LoCoMo it changes nothing that can be told from noise.  Marks do not spread: a speaker
# stands beside every word, and a day is reached by what is asked of it alone.
DEFAULT = SpreadingParameters(
    firing_threshold=0.01,
    propagation_decay=0.8,
    max_iterations=1,
    delta=1e-6,
    self_decay=False,
    convergence=0.5,
    window="exchange",
    weighting="fan",
    recall_links=0.2,
    topic_links=0.0,
    marks=False,
)


@dataclass(frozen=True)
class Activation:
    """The result of spreading activation, over n nodes.

    energy       (n,) final energy, finite, >= 0
    predecessor  (n,) whose firing woke the node: the largest contribution in the round it first received any (ties:
                 lowest number); -1 for seeds and for nodes that were not woken
    hops         (n,) edges between the node and the seed it was woken from; 0 for seeds, -1 if not woken
    rounds       rounds in which a node fired
    clamped      whether some energy was cut off at CEILING
    """

    energy: Floats
    predecessor: Integers
    hops: Integers
    rounds: int
    clamped: bool

    def path(self, node: int) -> tuple[int, ...]:
        """Trace the way energy first came to `node`, seed first, `node` last; just (node,) for a seed.

        A predecessor was awake a round earlier than the node that it woke, so the way has no cycle.
        """
        way = [node]
        while self.predecessor[way[-1]] >= 0:
            way.append(int(self.predecessor[way[-1]]))
        return tuple(reversed(way))


def spread(seeds: Integers, nodes: int, edges: Callable[[Integers], Edges], how: SpreadingParameters) -> Activation:
    """Spread energy from `seeds` over `edges`.

    seeds  (k,) distinct node numbers below `nodes`
    edges  returns the edges out of ascending node numbers, ordered by (source, target)
    """
    energy, predecessor, hops = _at_rest(seeds, nodes)
    rounds, clamped = 0, False
    for _ in range(how.max_iterations):
        firing = np.flatnonzero(energy > how.firing_threshold)
        if not len(firing):
            break
        out = edges(firing)
        arriving = energy[out.source] * out.weight * how.propagation_decay
        _note_woken(out, arriving, predecessor, hops)
        new = _tired(energy, firing, how) + _received(out.target, arriving, nodes, how.convergence)
        clamped = clamped or bool((new > CEILING).any())
        np.minimum(new, CEILING, out=new)
        change, energy, rounds = np.abs(new - energy).sum(), new, rounds + 1
        if change < how.delta:
            break
    return Activation(energy, predecessor, hops, rounds, clamped)


def _at_rest(seeds: Integers, nodes: int) -> tuple[Floats, Integers, Integers]:
    energy, predecessor, hops = np.zeros(nodes), np.full(nodes, -1), np.full(nodes, -1)
    energy[seeds], hops[seeds] = INITIAL_ENERGY, 0
    return energy, predecessor, hops


def _tired(energy: Floats, firing: Integers, how: SpreadingParameters) -> Floats:
    """Compute what every node keeps of its own energy."""
    kept = energy.copy()
    if how.self_decay:
        kept[firing] *= 1 - how.propagation_decay
    return kept


def _received(target: Integers, arriving: Floats, nodes: int, convergence: float) -> Floats:
    """Add up (nodes,) what every node is given in this round."""
    gathered = np.zeros(nodes)
    if convergence == 1.0:
        return gathered + np.bincount(target, arriving, nodes)
    roots = gathered + np.bincount(target, arriving**convergence, nodes)
    return np.asarray(roots ** (1 / convergence), np.float64)


def _note_woken(out: Edges, arriving: Floats, predecessor: Integers, hops: Integers) -> None:
    """Record, for the nodes that first receive energy in this round, which firing node gave them most."""
    first = (hops[out.target] < 0) & (arriving > 0)
    target, received = out.target[first], arriving[first]
    most = np.zeros(len(hops))
    np.maximum.at(most, target, received)
    best = received == most[target]
    # Written backwards: where two gave the same, the assignment of the lower number is the last and stays.
    target, source = target[best][::-1], out.source[first][best][::-1]
    predecessor[target] = source
    hops[target] = hops[source] + 1
