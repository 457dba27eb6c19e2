"""The metrics of one ranking against one question's evidence.

As turns are listed, best first:
R@k                       share of the evidence among the first k
nDCG@10                   discounted gain of the first 10, every evidence turn gains 1, over the best possible
MRR                       1 / rank of the first evidence turn, 0 if none was ranked
As a context takes them:
recall_within_531_tokens  share of the evidence inside a budget of tokens, up to the first turn that does not fit:
recall_within_973_tokens  what SimpleMem and Mem0 spend for a question
precision_within_973_tokens  share of the turns inside the larger budget that are evidence
The same of what is shown, where a context ends before the larger budget does, because scores drop:
recall_shown, precision_shown, and room_taken: the share of the larger budget that is used

A metric is declared once, in DECLARED: tables, JSON and the control by chance read the list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from state.arrays import Floats

CUTS = (5, 10, 20)
BUDGETS = (531, 973)  # tokens
GAIN_AT = 10

Order = Literal["listed", "packed", "shown"]  # of a Ranking (memory.py)
Reach = Callable[[Floats], int]  # costs (k,) of a ranking's turns, best first → how many of them are looked at


@dataclass(frozen=True)
class RankedPlaces:
    """One order of turns, seen from its evidence.

    places    where evidence was ranked, from 0, ascending; only the first of it, where one turn is enough
    evidence  how many turns there are to find, >= 1
    costs     (k,) tokens of the turns, in this order
    """

    places: list[int]
    evidence: int
    costs: Floats

    @classmethod
    def of(
        cls, turns: Sequence[str], costs: Floats, evidence: Collection[str], *, any_of: bool = False
    ) -> RankedPlaces:
        """Find the evidence in an order of turn ids, with the tokens (k,) of each.

        any_of  one turn of the evidence is enough: it counts where it first stands, and no other does
        """
        places = [place for place, turn in enumerate(turns) if turn in evidence]
        return cls(places[:1], 1, costs) if any_of else cls(places, len(evidence), costs)


class Metric(NamedTuple):
    """A measure of one ranking.

    name   as tables and JSON have it
    score  from 0 to 1, 1 for the best possible ranking
    reach  for a share of the evidence, how much of the ranking is looked at: what a random order would score is then
           known, and told with `--control shuffled`
    order  which of Orders it is of
    """

    name: str
    score: Callable[[RankedPlaces], float]
    reach: Reach | None = None
    order: Order = "listed"


def _recall(name: str, reach: Reach, order: Order = "listed") -> Metric:
    def share(ranked: RankedPlaces) -> float:
        seen = reach(ranked.costs)
        return sum(place < seen for place in ranked.places) / ranked.evidence

    return Metric(name, share, reach, order)


def _first(cut: int, _costs: Floats) -> int:
    return cut


def inside(budget: float, costs: Floats) -> int:
    """Count how many of the first turns fit into `budget` tokens."""
    return int(np.searchsorted(np.cumsum(costs), budget, side="right"))


def _gain(places: Collection[int]) -> float:
    """Sum the discounted gain of evidence at these places, counted from 0."""
    return sum(1 / math.log2(place + 2) for place in places if place < GAIN_AT)


def _gain_over_possible(ranked: RankedPlaces) -> float:
    return _gain(ranked.places) / _gain(range(ranked.evidence))


def _reciprocal_rank(ranked: RankedPlaces) -> float:
    return 1 / (ranked.places[0] + 1) if ranked.places else 0.0


def _precision(ranked: RankedPlaces) -> float:
    seen = inside(BUDGETS[-1], ranked.costs)
    return sum(place < seen for place in ranked.places) / max(seen, 1)


def _room(ranked: RankedPlaces) -> float:
    return float(ranked.costs[: inside(BUDGETS[-1], ranked.costs)].sum()) / BUDGETS[-1]


PRECISION = f"precision_within_{BUDGETS[-1]}_tokens"
WITHIN_BUDGETS = tuple(f"recall_within_{budget}_tokens" for budget in BUDGETS)
DECLARED = (
    *(_recall(f"R@{cut}", partial(_first, cut)) for cut in CUTS),
    *(_recall(name, partial(inside, most), "packed") for name, most in zip(WITHIN_BUDGETS, BUDGETS, strict=True)),
    Metric(f"nDCG@{GAIN_AT}", _gain_over_possible),
    Metric("MRR", _reciprocal_rank),
    Metric(PRECISION, _precision, order="packed"),
    _recall("recall_shown", partial(inside, BUDGETS[-1]), "shown"),
    Metric("precision_shown", _precision, order="shown"),
    Metric("room_taken", _room, order="shown"),
)
METRICS = tuple(metric.name for metric in DECLARED)


def scored(orders: Mapping[Order, RankedPlaces]) -> list[float]:
    """Compute the METRICS of a ranking, each in the order that it is of."""
    return [metric.score(orders[metric.order]) for metric in DECLARED]


def by_chance(turns: int, costs: Mapping[Order, Floats]) -> list[float]:
    """Compute what a random order of all `turns` would score on average, NaN where that is not known.

    costs  (k,) tokens of the turns of each order: a budget reaches as far as it does there
    """
    reaches = [each.reach and min(each.reach(costs[each.order]), len(costs[each.order])) for each in DECLARED]
    return [np.nan if reach is None else reach / turns for reach in reaches]
