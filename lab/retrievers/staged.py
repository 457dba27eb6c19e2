"""Staged retrieval: from the simplest to the most thorough, until it is enough (SoulMem's Soul-Retr; SEEDS S6, S12).

    direct       what holds the words of the question                        simple questions begin here
    spread       the default: what flows over the graph                      complex ones here
    ppr          personalised PageRank over all of it                        very complex ones here
    exhaustive   a second round with what was found, and the best ways       there is nothing behind it

    enough       mass: the best hold ENOUGH_MASS of the squares of all scores, and
                 coverage: they hold ENOUGH_COVERAGE of each part of the question, its words by how rare they are

The source asks a language model whether it is enough, and lets it cut the question into parts and search on; here parts
are what stands between "and", 和 and the like, the test is this, and the search ends with the graph.  What stages found
is merged by rank: Σ 1 / (60 + rank).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from emgas.messages.settings.modes import Stage
from lab.guidance.guide import second_round
from lab.retrievers import path, ppr
from lab.retrievers.matching import matched
from lab.retrievers.seam import ModeInput, ModeResult
from lab.retrievers.walking import Find, is_empty, mode_input, result_of
from processors.extraction.extractor import Extraction
from processors.recall.ranking.activation import DEFAULT
from processors.recall.ranking.bm25 import idf
from processors.recall.ranking.filters import Allowed
from processors.recall.ranking.query_terms import QueryTerms
from processors.recall.retrieval.policies import DEFAULT_RETRIEVER, RecallRequest, Retriever
from processors.recall.retrieval.recall import NOTHING, RecallResult, needs
from processors.text.questions.complexity import complexity
from state.arrays import Floats, Integers
from state.graph.view import GraphView

STAGES: Final = ("direct", "spread", "ppr", "exhaustive")
ENOUGH_MASS: Final = 0.7
ENOUGH_COVERAGE: Final = 0.8
COMPLEX: Final = 0.4  # a question of this complexity does not begin with `direct`,
VERY_COMPLEX: Final = 0.7  # and one of this not with `spread`
RANK: Final = 60  # how little the first places count more than those behind them (Cormack et al. 2009)

_PARTS: Final = re.compile(r"[?？;；,，。]|\band\b|\bas well as\b|以及|还有|并且|和|与|跟", re.IGNORECASE)


class StageRanking(NamedTuple):
    """The ranking of a stage: (k,) passages, best first, and (k,) how much each counts, >= 0."""

    passages: Integers
    scores: Floats


def stages_of(complexity: float, depth: float | None) -> tuple[str, ...]:
    """Choose the stages: where a question of this complexity begins, and how far it may go at this depth."""
    first = (complexity >= COMPLEX) + (complexity >= VERY_COMPLEX)
    last = len(STAGES) if depth is None else 1 + round(depth * (len(STAGES) - 1))
    return STAGES[min(first, last - 1) : last]


def parts(question: Extraction, text: str) -> list[tuple[str, ...]]:
    """Cut a question into parts: the ids of the concepts of each, those in no part left out."""
    pieces = [piece.casefold() for piece in _PARTS.split(text)]
    words = [(each.id, each.label.casefold()) for each in question.concepts if not each.id.startswith("@")]
    groups = [tuple(id for id, label in words if label in piece or id in piece) for piece in pieces]
    return [part for part in groups if part]


def coverage(
    view: GraphView, meant: QueryTerms, parts_of_question: Iterable[Sequence[str]], passages: Integers
) -> float:
    """Return what share of each part of a question the passages hold, of the part that they hold least of; 0 to 1.

    A word is held where it is, or what means nearly the same; a word that the graph does not know counts nowhere.
    """
    _, concepts, _ = view.concepts_of_turns(passages)
    numbers = set(concepts.tolist())
    means = {view.ids[number]: {number} for number in meant.words.tolist()}
    rows = [*(view.ids[number] for number in meant.words.tolist()), *_between(meant), *meant.unknown]
    for concept, row, _ in zip(*(column.tolist() for column in meant.relatives), strict=True):
        means.setdefault(rows[row], set()).add(concept)
    shares = [
        _covered_share(view, [means[word] for word in part if word in means], numbers) for part in parts_of_question
    ]
    measurable = [share for share in shares if share is not None]
    return min(measurable) if measurable else _covered_share(view, list(means.values()), numbers) or 0.0


def _between(meant: QueryTerms) -> list[str]:
    """Stand for the rows of dates and speakers, which have no relatives."""
    return [""] * (len(meant.dates) + len(meant.speakers))


def _covered_share(view: GraphView, words: Sequence[set[int]], numbers: set[int]) -> float | None:
    """Return the share of words, by rarity, that a known concept means; None without words."""
    rarity = [float(idf(view.turns, view.holding(np.array(sorted(word)))).max()) for word in words]
    whole = sum(rarity)
    covered = sum(rare for rare, word in zip(rarity, words, strict=True) if word & numbers)
    return covered / whole if whole else None


def mass(scores: Floats, best: int) -> float:
    """Return what share of the squares of all scores the first `best` hold; 0 of none."""
    squares = np.square(scores)
    return float(squares[:best].sum() / squares.sum()) if squares.sum() > 0 else 0.0


def staged(
    stages: Iterable[tuple[str, Callable[[], StageRanking]]], covered: Callable[[Integers], float], best: int
) -> tuple[StageRanking, tuple[Stage, ...]]:
    """Take stages until the `best` of one are enough; merge the results, and return a report of the stages."""
    rankings: list[StageRanking] = []
    stages_run: list[Stage] = []
    for name, find in stages:
        ranking = find()
        share, coverage_share = mass(ranking.scores, best), covered(ranking.passages[:best])
        enough = share >= ENOUGH_MASS and coverage_share >= ENOUGH_COVERAGE
        rankings.append(ranking)
        stages_run.append(
            Stage(name=name, found=len(ranking.passages), mass=share, coverage=coverage_share, enough=enough)
        )
        if enough:
            break
    return merged(rankings), tuple(stages_run)


def merged(rankings: Sequence[StageRanking]) -> StageRanking:
    """Merge rankings by rank, of equals the newer first."""
    scores: Counter[int] = Counter()
    for each in rankings:
        for rank, passage in enumerate(each.passages.tolist()):
            scores[passage] += 1 / (RANK + rank)  # type: ignore[assignment]  # a Counter of shares
    passages = np.array(list(scores), np.int64)
    values = np.array(list(scores.values()), np.float64)
    order = np.lexsort((-passages, -values))
    return StageRanking(passages[order], values[order])


def retrieve(request: RecallRequest) -> RecallResult:
    """Take the stages that a question needs, and merge what they found."""
    values, options = mode_input(request), request.options
    if is_empty(request, values, by_vectors=True):
        return NOTHING
    allowed = Allowed(request.view, options.only)
    question = parts(request.question, request.text)
    stages = _Stages(request, values)
    names = stages_of(complexity(request.text), options.depth)
    matches, report = staged(
        ((name, lambda name=name: _passing(stages.ranking(name), allowed)) for name in names),  # type: ignore[misc]
        lambda passages: coverage(request.view, request.meant, question, passages),
        needs(request.text, request.meant, options),
    )
    result = ModeResult(values.put_in, matches.passages, matches.scores, {"ranks": matches.scores}, stages=report)
    return result_of(request, values, result)


class _Stages:
    """The stages for one question."""

    def __init__(self, request: RecallRequest, inputs: ModeInput) -> None:
        self._request, self._input = request, inputs
        self._default = replace(request, options=replace(request.options, mode="default", rerank=None))

    def ranking(self, name: str) -> StageRanking:
        """Find what the stage of this name finds."""
        stages: Mapping[str, Callable[[], StageRanking]] = {
            "direct": self._direct,
            "spread": lambda: _likelihood(DEFAULT_RETRIEVER.retrieve(self._default)),
            "ppr": lambda: self._walked(ppr.find, ppr.RETRIEVER),
            "exhaustive": self._exhaustive,
        }
        return stages[name]()

    def _direct(self) -> StageRanking:
        result = ModeResult.ranked(self._input.put_in, matched(self._request.view, self._input.put_in))
        return StageRanking(result.passages, result.scores)

    def _walked(self, find: Find, retriever: Retriever) -> StageRanking:
        if not self._input.put_in.any():
            return StageRanking(np.zeros(0, np.int64), np.zeros(0))
        result = find(mode_input(self._request, retriever.spreading))
        return StageRanking(result.passages, result.scores)

    def _exhaustive(self) -> StageRanking:
        first = DEFAULT_RETRIEVER.retrieve(self._default)
        both = second_round(self._default, DEFAULT_RETRIEVER, first) if first.passages else first
        return merged([_likelihood(both), self._walked(path.find, path.RETRIEVER)])


def _passing(result: StageRanking, allowed: Allowed) -> StageRanking:
    keep = allowed.passes(result.passages)
    return StageRanking(result.passages[keep], result.scores[keep])


def _likelihood(result: RecallResult) -> StageRanking:
    """Return how likely each passage answers beside the best, (k,) in (0, 1]: scores of the default are logarithms."""
    passages = np.array([each.number for each in result.passages], np.int64)
    scores = np.array([each.score for each in result.passages])
    return StageRanking(passages, np.exp(scores - scores.max(initial=-np.inf)) if len(scores) else scores)


RETRIEVER: Final = Retriever(
    name="staged",
    source="SoulMem (Soul-Retr)",
    spreading=DEFAULT,
    fields=("firing_threshold", "propagation_decay", "max_iterations", "delta", "convergence"),
    retrieve=retrieve,
    edges_of_stage={
        "spread": DEFAULT_RETRIEVER.edges,
        "ppr": ppr.RETRIEVER.edges,
        "exhaustive": DEFAULT_RETRIEVER.edges | path.RETRIEVER.edges,
    },
    by_vectors=True,
    limits_stages=True,
)
