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
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from emgas.messages.modes import Stage
from processors.extraction.extractor import Extraction
from processors.recall.ranking.bm25 import idf
from processors.recall.ranking.query_terms import QueryTerms
from state.arrays import Floats, Integers
from state.graph.view import GraphView

STAGES: Final = ("direct", "spread", "ppr", "exhaustive")
ENOUGH_MASS: Final = 0.7
ENOUGH_COVERAGE: Final = 0.8
COMPLEX: Final = 0.4  # a question of this complexity does not begin with `direct`,
VERY_COMPLEX: Final = 0.7  # and one of this not with `spread`
RANK: Final = 60  # how little the first places count more than those behind them (Cormack et al. 2009)

_PARTS: Final = re.compile(r"[?？;；,，。]|\band\b|\bas well as\b|以及|还有|并且|和|与|跟", re.IGNORECASE)


class Ranking(NamedTuple):
    """What a stage found: (k,) passages, best first, and (k,) how much each counts, >= 0."""

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
    found = [tuple(id for id, label in words if label in piece or id in piece) for piece in pieces]
    return [part for part in found if part]


def coverage(view: GraphView, meant: QueryTerms, asked: Iterable[Sequence[str]], passages: Integers) -> float:
    """Return what share of each part of a question the passages hold, of the part that they hold least of; 0 to 1.

    A word is held where it is, or what means nearly the same; one of which the graph knows nothing counts nowhere.
    """
    _, held, _ = view.held(passages)
    known = set(held.tolist())
    means = {view.ids[number]: {number} for number in meant.words.tolist()}
    rows = [*(view.ids[number] for number in meant.words.tolist()), *_between(meant), *meant.unknown]
    for concept, row, _ in zip(*(column.tolist() for column in meant.relatives), strict=True):
        means.setdefault(rows[row], set()).add(concept)
    shares = [_held(view, [means[word] for word in part if word in means], known) for part in asked]
    told = [share for share in shares if share is not None]
    return min(told) if told else _held(view, list(means.values()), known) or 0.0


def _between(meant: QueryTerms) -> list[str]:
    """Stand for the rows of dates and speakers, which have no relatives."""
    return [""] * (len(meant.dates) + len(meant.speakers))


def _held(view: GraphView, words: Sequence[set[int]], known: set[int]) -> float | None:
    """Tell the share of words, by rarity, of which one of the concepts that mean them is known; None of no words."""
    rarity = [float(idf(view.turns, view.holding(np.array(sorted(word)))).max()) for word in words]
    whole = sum(rarity)
    found = sum(rare for rare, word in zip(rarity, words, strict=True) if word & known)
    return found / whole if whole else None


def mass(scores: Floats, best: int) -> float:
    """Return what share of the squares of all scores the first `best` hold; 0 of none."""
    squares = np.square(scores)
    return float(squares[:best].sum() / squares.sum()) if squares.sum() > 0 else 0.0


def staged(
    stages: Iterable[tuple[str, Callable[[], Ranking]]], covered: Callable[[Integers], float], best: int
) -> tuple[Ranking, tuple[Stage, ...]]:
    """Take stages until the `best` of one are enough; merge what was found, and tell what was done."""
    rankings: list[Ranking] = []
    told: list[Stage] = []
    for name, find in stages:
        found = find()
        share, held = mass(found.scores, best), covered(found.passages[:best])
        enough = share >= ENOUGH_MASS and held >= ENOUGH_COVERAGE
        rankings.append(found)
        told.append(Stage(name=name, found=len(found.passages), mass=share, coverage=held, enough=enough))
        if enough:
            break
    return merged(rankings), tuple(told)


def merged(rankings: Sequence[Ranking]) -> Ranking:
    """Merge rankings by rank, of equals the newer first."""
    scores: Counter[int] = Counter()
    for each in rankings:
        for rank, passage in enumerate(each.passages.tolist()):
            scores[passage] += 1 / (RANK + rank)  # type: ignore[assignment]  # a Counter of shares
    passages = np.array(list(scores), np.int64)
    values = np.array(list(scores.values()), np.float64)
    order = np.lexsort((-passages, -values))
    return Ranking(passages[order], values[order])
