"""What is measured of one ranking against one question's evidence.  The same is told in docs/recall.md.

R@k                       share of the evidence among the first k
recall_within_531_tokens  share of the evidence inside a budget of tokens, in order of rank, up to the first turn that
recall_within_973_tokens  does not fit: what SimpleMem and Mem0 spend for a question
nDCG@10                   discounted gain of the first 10, every evidence turn gains 1, over the best possible
MRR                       1 / rank of the first evidence turn, 0 if none was ranked
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from state.graph.view import Floats

CUTS = (5, 10, 20)
BUDGETS = (531, 973)
GAIN_AT = 10
WITHIN_BUDGETS = tuple(f"recall_within_{budget}_tokens" for budget in BUDGETS)
METRICS = (*(f"R@{cut}" for cut in CUTS), *WITHIN_BUDGETS, f"nDCG@{GAIN_AT}", "MRR")


def scored(ranking: Sequence[str], costs: Floats, evidence: Collection[str]) -> list[float]:
    """Return the METRICS of `ranking`, turn ids best first; `costs` (k,) are the tokens of its turns."""
    cuts = (*CUTS, *(inside(costs, budget) for budget in BUDGETS))
    places = [place for place, turn in enumerate(ranking) if turn in evidence]
    shares = [sum(place < cut for place in places) / len(evidence) for cut in cuts]
    return [*shares, _gain(places) / _gain(range(len(evidence))), 1 / (places[0] + 1) if places else 0.0]


def inside(costs: Floats, budget: float) -> int:
    """Return how many of the first turns fit into `budget` tokens."""
    return int(np.searchsorted(np.cumsum(costs), budget, side="right"))


def _gain(places: Collection[int]) -> float:
    """Return the discounted gain of evidence at these places, counted from 0."""
    return sum(1 / math.log2(place + 2) for place in places if place < GAIN_AT)
