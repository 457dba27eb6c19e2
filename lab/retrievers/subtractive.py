"""Subtractive activation: how memory_system (MaiBot) walks its graph of words (SEEDS M16–M18, M20, trap T11).

    from each seed separately, at 1.0:   new = current − 1 / strength,  strength = how often the two were said together
    stop at new <= 0, and after `max_iterations` edges; a node counts the energy that it got over the fewest edges
    words only, no marks; said together means in one turn
    over all seeds energies add up; a node that many turns hold has more: · (1 + min(0.1 (turns − 1), 2))
    squared, and divided by their sum: the best NODES nodes, and of each the best ITEMS turns by cosine

An edge that was seen once passes nothing on.  Where two nodes of the same distance could wake a third, the original
lets the one go first that happens to be first in its queue; here the stronger gift counts, so order cannot matter.  The
original says that it draws nodes by their shares, and its code takes the largest (T12): so does this.

Its three nodes with two turns of each are what comes back by default.  Behind them stand the further
nodes with two turns each, then what is left of all: a question for more gets what larger numbers would give.  A turn
stands once, at the strongest node that it holds, which is its `topic`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from emgas.messages.settings.modes import Stage
from lab.retrievers.matching import tfidf_cosine
from lab.retrievers.seam import ModeInput, ModeResult
from lab.retrievers.walking import WALK, by_walk
from processors.association import Edges
from processors.recall.retrieval.policies import Retriever
from state.arrays import Floats, Integers

NODES: Final = 3  # max_memory_num
ITEMS: Final = 2  # max_memory_length, of each node
BONUS: Final = 0.1  # for each turn more that holds a node,
MOST_BONUS: Final = 2.0  # at most


class Woken(NamedTuple):
    """Activated nodes: (n,) the energy of every node; (n,) the node before it on the strongest path, or -1."""

    energy: Floats
    before: Integers


class Passing:
    """The edges over which anything can pass: those of weight above 1, as no node has more energy than 1.

    Each node's are looked up once for a question, however many of its seeds lead there.
    """

    def __init__(self, mode_input: ModeInput) -> None:
        self._input = mode_input
        self._visited = np.zeros(mode_input.view.concepts, np.bool_)
        self._edges = Edges(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        self._starts = np.zeros(mode_input.view.concepts + 1, np.int64)

    def out_of(self, nodes: Integers) -> Edges:
        """Return the edges out of ascending `nodes`, ordered by (source, target)."""
        new = nodes[~self._visited[nodes]]
        if len(new):
            self._look_at(new)
        begin = self._starts[nodes]
        count = self._starts[nodes + 1] - begin
        return self._edges.where(np.repeat(begin - (count.cumsum() - count), count) + np.arange(count.sum()))

    def _look_at(self, nodes: Integers) -> None:
        self._visited[nodes] = True
        edges, new = self._edges, self._input.edges(nodes)
        new = new.where(new.weight > 1)
        source = np.concatenate((edges.source, new.source))
        target, weight = np.concatenate((edges.target, new.target)), np.concatenate((edges.weight, new.weight))
        self._edges = Edges(source, target, weight).where(np.argsort(source, kind="stable"))
        self._starts = np.searchsorted(self._edges.source, np.arange(len(self._starts)))


def woken(mode_input: ModeInput, seed: int, passing: Passing | None = None) -> Woken:
    """Spread from one seed, which gives every node its energy; `passing`: of the question, for all of its seeds."""
    nodes, passing = mode_input.view.concepts, passing or Passing(mode_input)
    energy, visited, before = np.zeros(nodes), np.zeros(nodes, np.bool_), np.full(nodes, -1)
    energy[seed], visited[seed] = 1.0, True
    front = np.array([seed], np.int64)
    for _ in range(mode_input.how.max_iterations):
        out = passing.out_of(front)
        left = energy[out.source] - 1 / out.weight
        reached = (left > 0) & ~visited[out.target]
        np.maximum.at(energy, out.target[reached], left[reached])
        most = reached & (left == energy[out.target])
        before[out.target[most][::-1]] = out.source[most][::-1]  # of equals the lowest number
        front = np.unique(out.target[reached])
        visited[front] = True
    return Woken(energy, before)


def energies(mode_input: ModeInput) -> Woken:
    """Add up what every word that was asked for gives the nodes."""
    nodes, seeds = mode_input.view.concepts, mode_input.seeds
    energy, before, most = np.zeros(nodes), np.full(nodes, -1), np.zeros(nodes)
    passing = Passing(mode_input)
    for seed in seeds[~mode_input.view.marks(seeds)].tolist():
        gift, way = woken(mode_input, seed, passing)
        gift = mode_input.put_in[seed] * gift
        energy += gift
        before, most = np.where(gift > most, way, before), np.maximum(gift, most)
    before[seeds] = -1
    return Woken(energy, before)


def bonus(counts: Integers) -> Floats:
    """Return the factors (k,) of nodes that occur in `counts` turns."""
    factors: Floats = 1 + np.minimum(BONUS * np.maximum(counts - 1, 0), MOST_BONUS)
    return factors


def find(mode_input: ModeInput) -> ModeResult:
    """Take the best turns of the nodes that hold most."""
    view, (energy, before) = mode_input.view, energies(mode_input)
    nodes = np.flatnonzero(energy > 0)
    squared = (energy[nodes] * bonus(view.holding(nodes))) ** 2
    share = squared / (squared.sum() or 1.0)
    order = np.lexsort((nodes, -share))
    nodes, share = nodes[order], share[order]
    passages, node = _at_strongest(view.holders_of(nodes))
    cosine = tfidf_cosine(view, mode_input.put_in)[passages]
    tier = _place_within(node, cosine, passages) // ITEMS
    order = np.lexsort((-passages, -cosine, node, tier))
    passages, node, cosine, tier = passages[order], node[order], cosine[order], tier[order]
    stages = (
        Stage(name="spread", found=len(nodes)),
        Stage(
            name="select", found=int(np.count_nonzero((tier == 0) & (node < NODES))), mass=float(share[:NODES].sum())
        ),
    )
    return ModeResult(
        energy=energy,
        passages=passages,
        scores=_falling(share[node] / (1 + tier)),
        terms={"share": share[node], "cosine": cosine},
        topic=nodes[node],
        predecessor=before,
        stages=stages,
    )


def _at_strongest(postings: tuple[Integers, Integers]) -> tuple[Integers, Integers]:
    """List each passage once, and the first of the nodes (by position) that hold it; (k,) both."""
    node, passage = postings
    passages, first = np.unique(passage, return_index=True)  # nodes ascend: the first is the strongest
    return passages.astype(np.int64), node[first]


def _place_within(node: Integers, cosine: Floats, passages: Integers) -> Integers:
    """Find (k,) the place of each passage among those of its node, by cosine, of equals the newer first."""
    order = np.lexsort((-passages, -cosine, node))
    starts = np.searchsorted(node[order], node[order])
    place = np.empty(len(node), np.int64)
    place[order] = np.arange(len(node)) - starts
    return place


def _falling(scores: Floats) -> Floats:
    """Return scores that never rise from one to the next: the order depends on more than the score."""
    return np.minimum.accumulate(scores) if len(scores) else scores


RETRIEVER: Final = Retriever(
    name="subtractive",
    source="MaiBot memory_system",
    spreading=replace(WALK, max_iterations=3, window="turn", weighting="count", marks=False),
    fields=("max_iterations",),
    retrieve=by_walk(find, passages=NODES * ITEMS),
    edges=frozenset({"associations", "relations"}),
)
