"""Asks every question of a method, and only then lets the answers meet the evidence.

    texts of the questions ──▶ method ──▶ rankings        a method gets the extraction and the text of a question
                                             │
    evidence ────────────────────────────────┴──▶ scores  joined by position afterwards

With `shuffled` evidence every question keeps as many evidence turns as it had, drawn by chance from its own graph: a
method scores at chance then, unless evidence found a way into the harness.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from evaluation.memory import EvaluatedMemory, Ranker, Ranking
from evaluation.methods import Method
from evaluation.metrics import Order, RankedPlaces, by_chance, scored
from evaluation.questions.labelled import LabelledQuestion
from state.arrays import Floats, Integers
from state.events.events import TurnRecorded
from state.graph.graph import Graph

Clock = Callable[[], float]  # seconds, as time.perf_counter


class Shuffler(Protocol):
    """The part of numpy's Generator that draws without repetition."""

    def choice(self, a: int, size: int, replace: bool) -> Any:  # noqa: FBT001 - as numpy has it
        """Return `size` distinct numbers below `a`."""


@dataclass(frozen=True)
class Examined:
    """A memory, and the questions that it is asked.

    form     the kind of talk that it is of: forms weigh the same in fitting, and are left out together
    part     the data set within the form: those of one form weigh the same, too
    patterns what recurs in it, as turn ids, if that is known
    graph    what the memory's view is of, for measures of the memory itself; no method gets it
    turns    its turns by number, as the log holds them
    """

    memory: EvaluatedMemory
    questions: Sequence[LabelledQuestion]
    form: str = ""
    part: str = ""
    patterns: Sequence[frozenset[str]] = ()
    graph: Graph | None = None
    turns: Sequence[TurnRecorded] = ()


@dataclass(frozen=True)
class Scores:
    """One method over q questions: `values` (q, metrics) in [0, 1], `chance` the same by luck, `ms` (q,) per query.

    chance  what a random order of all turns would score on average: NaN for nDCG and MRR
    """

    values: Floats
    chance: Floats
    ms: Floats

    @classmethod
    def joined(cls, parts: Sequence[Scores]) -> Scores:
        """Return the scores of all parts, in order."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "chance", "ms")))


def measured(examined: Examined, method: Method, clock: Clock) -> Scores:
    """Return how `method` does on one memory.  Preparing (an index, a transition matrix) is not timed."""
    memory = examined.memory
    rankings, ms = _answers(memory, method(memory), [question.text for question in examined.questions], clock)
    joined = list(zip(rankings, examined.questions, strict=True))
    values = [_against(memory, ranking, question) for ranking, question in joined]
    chance = [by_chance(len(memory.view.passage_at), _costs(memory, ranking)) for ranking in rankings]
    return Scores(np.array(values), np.array(chance), ms)


def _answers(
    memory: EvaluatedMemory, ranker: Ranker, texts: Sequence[str], clock: Clock
) -> tuple[list[Ranking], Floats]:
    """Return the ranking and the milliseconds of every question; the time includes extraction.

    The first is asked once before, untimed: with the first question after a turn a graph makes its arrays.
    """
    for text in texts[:1]:
        ranker(memory.question(text), text)
    rankings, ms = [], []
    for text in texts:
        began = clock()
        rankings.append(ranker(memory.question(text), text))
        ms.append((clock() - began) * 1000)
    return rankings, np.array(ms)


def _against(memory: EvaluatedMemory, ranking: Ranking, question: LabelledQuestion) -> list[float]:
    costs = _costs(memory, ranking)
    return scored({name: _seen(memory, order, costs[name], question) for name, order in _orders(ranking).items()})


def _orders(ranking: Ranking) -> dict[Order, Integers]:
    return {"listed": ranking.listed, "packed": ranking.packed, "shown": ranking.shown}


def _costs(memory: EvaluatedMemory, ranking: Ranking) -> dict[Order, Floats]:
    return {name: memory.costs[order] for name, order in _orders(ranking).items()}


def _seen(memory: EvaluatedMemory, order: Integers, costs: Floats, question: LabelledQuestion) -> RankedPlaces:
    turns = [memory.view.passage_id[number] for number in order.tolist()]
    return RankedPlaces.of(turns, costs, question.evidence, any_of=question.any_of)


def shuffled(
    questions: Sequence[LabelledQuestion], turns: Sequence[str], generator: Shuffler
) -> list[LabelledQuestion]:
    """Return the questions with other evidence: as many turns as are to be found, drawn from `turns` by chance."""
    return [replace(question, evidence=_drawn(_evidence_count(question), turns, generator)) for question in questions]


def _evidence_count(question: LabelledQuestion) -> int:
    return 1 if question.any_of else len(question.evidence)


def _drawn(count: int, turns: Sequence[str], generator: Shuffler) -> frozenset[str]:
    places = generator.choice(len(turns), min(count, len(turns)), replace=False)
    return frozenset(turns[place] for place in places.tolist())
