"""Ordering the best again, by the formula of another system; each is data.  SEEDS S3, H10, P33, M23.

    hello-agents  (0.7 cosine + 0.3 graph) · (0.8 + 0.4 importance);  of episodes, which has no graph:
                  (0.8 cosine + 0.2 recent) · (0.8 + 0.4 importance), five times as many fetched
    simplemem     0.5 semantic + 0.3 bm25 + 0.2 constraint; 0.1 more for what the question is like, then of 1 in all:
                  constraint where it names several, bm25 where it has technical terms, else semantic
    mofox         0.4 cosine + 0.2 graph + 0.2 importance + 0.2 recency; what matters less than 0.3 does not come back

    cosine      of vectors, as the retriever `vector` has them     graph       the score of the retriever, from its
    semantic    the cosine of embeddings; without them, `graph`                least to its best over what it found
    bm25        match of the words, of the best                    importance  0 to 1, 0.5 by default
    constraint  share of what is asked beside words, that holds: the speaker, the dates, a name, a number, a time
    recency     1 / (1 + days / 30), by the graph's clock        recent     max(0.1, e^(−0.05 a day)), likewise

Twice as many as are wanted are ordered, or as many as a formula says, and the best of them come back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from emgas.messages.settings.modes import Rerank
from lab.retrievers.matching import matched, tfidf_cosine
from lab.retrievers.path import recency
from lab.retrievers.seeds import put_in
from processors.recall.ranking import kinds
from processors.recall.ranking.working_memory import matters
from processors.recall.retrieval.policies import RecallRequest, Reordering, Reranker
from state.arrays import Floats, Integers
from state.graph.view import GraphView

MORE: Final = 0.1  # weight of the term that a question is like
_TECHNICAL: Final = re.compile(r"[A-Za-z]+[-_.]?\d|[A-Z]{2,}|[a-z][A-Z]|\w+[_/]\w+|\w+\.\w{1,4}\b")


@dataclass(frozen=True)
class Candidates:
    """The candidates of a reranker: k passages, their scores from the retriever, and the question.

    put_in  (n,) the energy that the question put in
    """

    request: RecallRequest
    passages: Integers
    scores: Floats
    put_in: Floats

    @property
    def view(self) -> GraphView:
        """The graph that is asked."""
        return self.request.view


class Formula(NamedTuple):
    """Weights of terms by name, whether importance multiplies their sum, and how much a turn must matter.

    fetched  how many times as many as are wanted are ordered
    """

    weights: Mapping[str, float]
    times_importance: bool = False
    least_importance: float = 0.0
    is_dynamic: bool = False
    fetched: int = 2


FORMULAS: Final[dict[str, Formula]] = {
    "hello-agents": Formula({"cosine": 0.7, "graph": 0.3}, times_importance=True),
    "simplemem": Formula({"semantic": 0.5, "bm25": 0.3, "constraint": 0.2}, is_dynamic=True),
    "mofox": Formula({"cosine": 0.4, "graph": 0.2, "importance": 0.2, "recency": 0.2}, least_importance=0.3),
}
EPISODES: Final[dict[str, Formula]] = {
    "hello-agents": Formula({"cosine": 0.8, "recent": 0.2}, times_importance=True, fetched=5)
}


def reorder(formula: Formula, candidates: Candidates) -> Reordering:
    """Order candidates again."""
    weights = _dynamic(formula.weights, candidates) if formula.is_dynamic else formula.weights
    terms = {name: weight * TERMS[name](candidates) for name, weight in weights.items()}
    total = sum(terms.values(), np.zeros(len(candidates.passages)))
    important = matters(candidates.view, candidates.passages)
    if formula.times_importance:
        terms["times_importance"] = 0.8 + 0.4 * important
        total = total * terms["times_importance"]
    order = np.lexsort((-candidates.passages, -total))
    order = order[important[order] >= formula.least_importance]
    return Reordering(order, total[order], {name: values[order] for name, values in terms.items()})


def reranker(name: Rerank, *, depth_by_complexity: bool = False) -> Reranker:
    """Make the reranker of a system from its formulas."""
    formula, of_episodes = FORMULAS[name], EPISODES.get(name)

    def by_formula(request: RecallRequest, passages: Integers, scores: Floats) -> Reordering:
        energy = put_in(request.view, request.question, request.meant)
        chosen = of_episodes if of_episodes and request.options.memory == "episodic" else formula
        return reorder(chosen, Candidates(request, passages, scores, energy))

    return Reranker(
        name,
        by_formula,
        fetched=formula.fetched,
        fetched_episodes=of_episodes and of_episodes.fetched,
        depth_by_complexity=depth_by_complexity,
    )


def _dynamic(weights: Mapping[str, float], of: Candidates) -> dict[str, float]:
    """Weigh more what the question is like, all weights adding up to 1."""
    several = len(of.request.meant.named) + len(of.request.meant.dates) > 1
    more = "constraint" if several else "bm25" if _TECHNICAL.search(of.request.text) else "semantic"
    result = {name: weight + MORE * (name == more) for name, weight in weights.items()}
    return {name: weight / sum(result.values()) for name, weight in result.items()}


def _cosine(of: Candidates) -> Floats:
    whole = tfidf_cosine(of.view, of.put_in) if of.request.cosine is None else np.maximum(of.request.cosine, 0.0)
    return whole[of.passages]


def _graph(of: Candidates) -> Floats:
    least, best = of.scores.min(initial=np.inf), of.scores.max(initial=-np.inf)
    return (of.scores - least) / (best - least) if best > least else np.ones(len(of.scores))


def _semantic(of: Candidates) -> Floats:
    return _graph(of) if of.request.cosine is None else _cosine(of)


def _bm25(of: Candidates) -> Floats:
    whole = matched(of.view, of.put_in)[of.passages]
    return whole / (whole.max(initial=0.0) or 1.0)


def _constraint(of: Candidates) -> Floats:
    meant = of.request.meant
    marks = [*meant.dates.tolist(), *(number for name in meant.wants if (number := of.view.number(name)))]
    holds = [np.isin(of.passages, of.view.holders(mark)[0]) for mark in marks]
    if len(meant.named):
        holds.append(np.isin(of.view.of_turns("speaker", of.passages), meant.named))
    share: Floats = np.mean(holds, axis=0) if holds else np.zeros(len(of.passages))
    return share


TERMS: Final[dict[str, Callable[[Candidates], Floats]]] = {
    "cosine": _cosine,
    "graph": _graph,
    "semantic": _semantic,
    "bm25": _bm25,
    "constraint": _constraint,
    "importance": lambda of: matters(of.view, of.passages),
    "recency": lambda of: recency(of.view, of.passages),
    "recent": lambda of: np.exp(kinds.recency(of.view, of.passages)),
}

HELLO_AGENTS: Final = reranker("hello-agents")
SIMPLEMEM: Final = reranker("simplemem", depth_by_complexity=True)
MOFOX: Final = reranker("mofox")
