"""What is measured of one ranking against one question's evidence.  The same is told in docs/recall.md.

R@k                       share of the evidence among the first k
recall_within_531_tokens  share of the evidence inside a budget of tokens, in order of rank, up to the first turn that
recall_within_973_tokens  does not fit: what SimpleMem and Mem0 spend for a question
nDCG@10                   discounted gain of the first 10, every evidence turn gains 1, over the best possible
precision_within_973_tokens  share of the turns inside the larger budget that are evidence
MRR                       1 / rank of the first evidence turn, 0 if none was ranked

A metric is declared once, in DECLARED: tables, JSON and the control by chance read the list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from state.arrays import Floats

CUTS = (5, 10, 20)
BUDGETS = (531, 973)  # tokens
GAIN_AT = 10

Reach = Callable[[Floats], int]  # costs (k,) of a ranking's turns, best first → how many of them are looked at


@dataclass(frozen=True)
class Ranked:
    """One ranking, seen from its evidence.

    places    where evidence was ranked, from 0, ascending
    evidence  how many turns there are to find, >= 1
    costs     (k,) tokens of the ranking's turns, best first
    """

    places: list[int]
    evidence: int
    costs: Floats


class Metric(NamedTuple):
    """A measure of one ranking.

    name   as tables and JSON have it
    score  from 0 to 1, 1 for the best possible ranking
    reach  for a share of the evidence, how much of the ranking is looked at: what a random order would score is then
           known, and told with `--control shuffled`
    """

    name: str
    score: Callable[[Ranked], float]
    reach: Reach | None = None


def _recall(name: str, reach: Reach) -> Metric:
    def share(ranked: Ranked) -> float:
        seen = reach(ranked.costs)
        return sum(place < seen for place in ranked.places) / ranked.evidence

    return Metric(name, share, reach)


def _first(cut: int, _costs: Floats) -> int:
    return cut


def inside(budget: float, costs: Floats) -> int:
    """Count how many of the first turns fit into `budget` tokens."""
    return int(np.searchsorted(np.cumsum(costs), budget, side="right"))


def _gain(places: Collection[int]) -> float:
    """Sum the discounted gain of evidence at these places, counted from 0."""
    return sum(1 / math.log2(place + 2) for place in places if place < GAIN_AT)


def _gain_over_possible(ranked: Ranked) -> float:
    return _gain(ranked.places) / _gain(range(ranked.evidence))


def _reciprocal_rank(ranked: Ranked) -> float:
    return 1 / (ranked.places[0] + 1) if ranked.places else 0.0


def _precision(ranked: Ranked) -> float:
    seen = inside(BUDGETS[-1], ranked.costs)
    return sum(place < seen for place in ranked.places) / max(seen, 1)


PRECISION = f"precision_within_{BUDGETS[-1]}_tokens"
WITHIN_BUDGETS = tuple(f"recall_within_{budget}_tokens" for budget in BUDGETS)
DECLARED = (
    *(_recall(f"R@{cut}", partial(_first, cut)) for cut in CUTS),
    *(_recall(name, partial(inside, budget)) for name, budget in zip(WITHIN_BUDGETS, BUDGETS, strict=True)),
    Metric(f"nDCG@{GAIN_AT}", _gain_over_possible),
    Metric("MRR", _reciprocal_rank),
    Metric(PRECISION, _precision),
)
METRICS = tuple(metric.name for metric in DECLARED)


def scored(ranking: Sequence[str], costs: Floats, evidence: Collection[str]) -> list[float]:
    """Compute the METRICS of `ranking`, turn ids best first; `costs` (k,) are the tokens of its turns."""
    places = [place for place, turn in enumerate(ranking) if turn in evidence]
    ranked = Ranked(places, len(evidence), costs)
    return [metric.score(ranked) for metric in DECLARED]


def by_chance(turns: int, costs: Floats) -> list[float]:
    """Compute what a random order of all `turns` would score on average, NaN where that is not known.

    costs  (k,) tokens of the turns that were ranked: a budget reaches as far as it does in this ranking
    """
    reaches = [metric.reach and min(metric.reach(costs), len(costs)) for metric in DECLARED]
    return [np.nan if reach is None else reach / turns for reach in reaches]
