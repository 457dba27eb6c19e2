"""Subtractive activation: how memory_system (MaiBot) walks its graph of words (SEEDS M16–M18, trap T11).

    from every seed by itself, at 1.0:   new = current − 1 / strength,  strength = how often the two were said together
    stop at new <= 0, and after DEPTH edges; a node counts the energy that it got first, over the fewest edges
    words only, no marks; said together means in one turn
    over all seeds energies add up, and are squared

An edge that was seen once passes nothing on.  Where two nodes of the same distance could wake a third, the original
lets the one go first that happens to be first in its queue; here the stronger gift counts, so order cannot matter.
The original then takes three nodes and two texts of each; a ranking needs more, so passages match the squared energies
as BM25 matches words, then all else that recall has: what is compared is the walk.  Its depth of 3 is what costs it
most: words that are often said together are everywhere within three edges.
"""

from __future__ import annotations

import numpy as np

from evaluation.baselines.structured import Scoring, matched
from state.arrays import Floats
from state.graph.view import GraphView

DEPTH = 3  # edges


def woken(view: GraphView, seed: int) -> Floats:
    """Spread from one seed: (n,) the energy that it gives every node."""
    energy, visited = np.zeros(len(view.is_mark)), np.zeros(len(view.is_mark), np.bool_)
    energy[seed], visited[seed] = 1.0, True
    front = np.array([seed], np.int64)
    for _ in range(DEPTH):
        position, target, strength = view.windows["turn"].pairs.neighbours(front)
        left = energy[front][position] - 1 / strength
        reached = (left > 0) & ~visited[target] & ~view.is_mark[target]
        np.maximum.at(energy, target[reached], left[reached])
        front = np.unique(target[reached])
        visited[front] = True
    return energy


def subtractive(view: GraphView) -> Scoring:
    """Prepare memory_system's activation, matched with the passages of `view`."""

    def scores(put_in: Floats) -> Floats:
        energy = np.zeros(len(view.is_mark))
        for seed in np.flatnonzero((put_in > 0) & ~view.is_mark).tolist():
            energy += put_in[seed] * woken(view, seed)
        return matched(view, energy**2)

    return scores
