"""Kinds of memory, as data: how each differs from the default when a question asks for it.  SEEDS H1–H6, H9, H10.

    all       every turn, by the default weights
    working   only the turns in working memory (working_memory.py), by the source's formula; 5 if the question sets no
              number
    episodic  score · recency · (0.8 + 0.4 importance), recency = max(0.1, e^(−0.05 a day)) by the graph's clock.  A
              score is a logarithm of odds here, so its factors are terms, their logarithms, in the place of the
              default's own term for importance

    semantic  knowledge of any age: relations of the concepts in the question come with the answer (relations.py), and
              turns are ordered by (0.7 cosine + 0.3 graph) · (0.8 + 0.4 importance), among twice as many as come back
              (lab/rerankers); outdated turns come after those that supersede them (succession.py)
    perceptual  turns with attachments, ranked again (perceptual.py)

A kind is a filter, terms and constants of the one engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from emgas.messages.queries import MemoryKind
from emgas.messages.settings.modes import Rerank
from emgas.times import DAY_MS
from processors.recall.ranking.working_memory import matters
from state.arrays import Floats, Integers
from state.graph.view import GraphView

FADING: Final = 0.05  # of an episode, a day
LEAST_RECENT: Final = 0.1


def recency(view: GraphView, turns: Integers) -> Floats:
    """Grade k turns by age, ln max(0.1, e^(−0.05 a day)): (k,) in [ln 0.1, 0]."""
    days = (view.clock - view.of_turns("at", turns)) / DAY_MS
    graded: Floats = np.maximum(np.log(LEAST_RECENT), -FADING * days)
    return graded


def moment(view: GraphView, turns: Integers) -> Floats:
    """Grade k turns by how much they matter, ln (0.8 + 0.4 importance): (k,) in [ln 0.8, ln 1.2]."""
    graded: Floats = np.log(0.8 + 0.4 * matters(view, turns))
    return graded


@dataclass(frozen=True)
class MemoryKindRules:
    """The options of a kind of memory.

    in_mind  whether only turns in working memory come back, with the weights of working_memory.py
    depth    default number of turns; None: as many as the question needs
    without  features that are switched off
    terms    further terms of a turn's score, by name in an explanation;  most: upper bound of their sum
    rerank   the reranker that orders the best turns, None for none
    tells    whether relations of the concepts in the question come with the answer
    """

    in_mind: bool = False
    depth: int | None = None
    without: tuple[str, ...] = ()
    terms: Mapping[str, Callable[[GraphView, Integers], Floats]] = field(default_factory=dict)
    most: float = 0.0
    rerank: Rerank | None = None
    tells: bool = False

    def graded(self, view: GraphView, turns: Integers, scores: Floats) -> Floats:
        """Add what the kind does to the scores of k turns."""
        for term in self.terms.values():
            scores = scores + term(view, turns)
        return scores

    def explained(self, view: GraphView, turn: int) -> dict[str, float]:
        """Return the terms that the kind adds to the score of a turn, by name."""
        terms = {name: float(term(view, np.array([turn]))[0]) for name, term in self.terms.items()}
        return {name: value for name, value in terms.items() if value}


KINDS: Final[dict[MemoryKind, MemoryKindRules]] = {
    "all": MemoryKindRules(),
    "working": MemoryKindRules(in_mind=True, depth=5),
    "semantic": MemoryKindRules(rerank="hello-agents", tells=True),
    "perceptual": MemoryKindRules(),
    "episodic": MemoryKindRules(
        without=("importance",), terms={"recency": recency, "moment": moment}, most=float(np.log(1.2))
    ),
}
