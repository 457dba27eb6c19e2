"""Compute how strongly two concepts are associated: weights of edges, derived at read time from integer counts.

    N        windows counted          c(x), c(x,y)   windows that held x, that held both
    PMI      ln( p(x,y) / (p(x) p(y)) ) = ln( c(x,y) N / (c(x) c(y)) )      natural logarithm, so weights are in nats
    PPMI     max(0, PMI)
    NPMI     PPMI / −ln p(x,y), in [0, 1]
    fan      PPMI / sqrt(fan(x) fan(y)), fan = number of distinct neighbours (Anderson's fan effect, ACT-R)
    count    c(x,y)
    max      PPMI / the largest PPMI of x, in [0, 1]
    out_degree  PPMI / the sum of x's, in [0, 1]: what x gives in all is no more than it has

Seed 000 §2.3; its printed formula lost the fraction bar (SEEDS trap T1).  No weight is ever stored: N changes with
every turn, so a stored weight would always be stale (T2).  PPMI is not bounded, so energy may grow with every round;
the seed promises that it settles (T4): with `out_degree` and self-decay it never exceeds what was put in.  Every
variant but max and out_degree is symmetric, as the counts are.

A weight may differ in its last bit between machines (np.log follows the CPU's SIMD level), so no digest may hold one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from emgas.messages.settings.modes import Weighting
from state.arrays import Floats, Integers
from state.graph.view import WindowCounts


class Edges(NamedTuple):
    """Edges out of some concepts, ordered by (source, target).

    source  (m,) concept number that was asked for
    target  (m,) concept number of its neighbour
    weight  (m,) >= 0
    """

    source: Integers
    target: Integers
    weight: Floats

    def joined(self, other: Edges) -> Edges:
        """Return both; an edge that is in both has the sum of its weights."""
        keys = np.concatenate((self.source << 32 | self.target, other.source << 32 | other.target))
        unique_keys, position = np.unique(keys, return_inverse=True)
        weight = np.bincount(position, np.concatenate((self.weight, other.weight)), len(unique_keys)) + np.zeros(
            len(unique_keys)
        )
        return Edges(unique_keys >> 32, unique_keys & 0xFFFFFFFF, weight)

    def where(self, keep: NDArray[np.bool_] | Integers) -> Edges:
        """Return the edges for which `keep` (m,) holds, or those at these places, in their order."""
        return Edges(self.source[keep], self.target[keep], self.weight[keep])


def edges_out(counts: WindowCounts, concepts: Integers, weighting: Weighting) -> Edges:
    """Return every edge that leaves `concepts` (k,) with its weight; ascending `concepts` give ascending sources."""
    position, target, together = counts.pairs.neighbours(concepts)
    source = concepts[position]
    if weighting == "count":
        return Edges(source, target, together.astype(np.float64))
    # One quotient of exact integer products: independent concepts get exactly 0, not the noise of four logarithms.
    lift = (together * counts.total) / (counts.seen(source) * counts.seen(target))
    ppmi = np.log(np.maximum(lift, 1.0))
    if weighting == "ppmi":
        return Edges(source, target, ppmi)
    if weighting == "npmi":
        return Edges(source, target, _npmi(ppmi, together, counts.total))
    if weighting in ("max", "out_degree"):
        return Edges(source, target, _shares(ppmi, position, len(concepts), of_sum=weighting == "out_degree"))
    fans: Floats = np.sqrt(counts.fans(source) * counts.fans(target))
    return Edges(source, target, ppmi / fans)


def _shares(weight: Floats, position: Integers, sources: int, *, of_sum: bool) -> Floats:
    """Return the weights (m,) over the largest, or the sum, of the same source's; 0 where that is 0."""
    whole = np.zeros(sources)
    (np.add if of_sum else np.maximum).at(whole, position, weight)
    return np.divide(weight, whole[position], out=np.zeros_like(weight), where=weight > 0)


def _npmi(ppmi: Floats, together: Integers, total: int) -> Floats:
    """Return PPMI over its largest possible value; two concepts that are in every window tell nothing: 0."""
    surprise = np.log(total / together)
    return np.divide(ppmi, surprise, out=np.zeros_like(ppmi), where=surprise > 0)
