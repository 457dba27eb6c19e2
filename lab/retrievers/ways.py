"""Ways: how energy likely came to what a walk or a state at rest woke, where the mode itself follows none (SEEDS S10).

    way    from a seed to a concept, found in STEPS steps, all of whose concepts hold energy
    best   the largest product of shares, which is the shortest by −ln share (Dijkstra's relaxation, edge by edge); a
           share is an edge's weight over all that its concept gives, and a seed begins with what was put in

SoulMem asks for such ways of PageRank's hits, by A*, once a language model has said which hit came from which seed.
They explain a reply and change none.  Each step follows the FRONT concepts of most energy alone, so that a way costs
what lies near the seeds.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from lab.retrievers.seam import ModeInput
from state.arrays import Floats, Integers, Mask

STEPS: Final = 3
FRONT: Final = 64


def likeliest(mode_input: ModeInput, energy: Floats) -> Integers:
    """Find (n,) the concept before each on its best way, -1 for seeds and for what no such way leads to."""
    before, score = np.full(len(energy), -1), np.zeros(len(energy))
    front = mode_input.seeds
    score[front] = mode_input.put_in[front]
    may_wake = energy > 0
    may_wake[front] = False
    for _ in range(STEPS):
        front = _step(mode_input, front, may_wake, score, before)
        strongest = np.argsort(-energy[front], kind="stable")[:FRONT]
        front = np.sort(front[strongest])
    return before


def _step(mode_input: ModeInput, front: Integers, may_wake: Mask, score: Floats, before: Integers) -> Integers:
    """Go one edge further from ascending `front`; note better ways, and return (k,) where they lead, ascending."""
    out = mode_input.edges(front)
    gives = np.bincount(out.source, out.weight, len(score))
    gift = score[out.source] * out.weight / gives[out.source]
    better = may_wake[out.target] & (gift > score[out.target])
    source, target, gift = out.source[better], out.target[better], gift[better]
    order = np.lexsort((source, -gift, target))  # of equals the lowest number
    reached, first = np.unique(target[order], return_index=True)
    score[reached], before[reached] = gift[order][first], source[order][first]
    return reached
