"""Working memory: the turns that a conversation has in mind, computed at each query.  SEEDS H1, H2, M13, M14.

    in mind    turns of the current conversation, said within LIFE; of more than CAPACITY, those with the highest
               importance · decay, among equal ones the newer
    score      (0.7 tf-idf + 0.3 keywords) · decay · (0.8 + 0.4 importance)
    tf-idf     cosine of the question's and the turn's words, each by how often and how rare
    keywords   share of the question's words that the turn holds
    decay      0.95 for every six hours, 0.1 at least.  The source names no law; this one never outweighs importance
    keywords of a conversation: the heaviest words of its turns, the more the longer a turn is; the last KEYWORDS

Time is the graph's own: of an imported conversation the last hour is in mind, whenever it is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from emgas.limits import RING_TURNS
from emgas.times import HOUR_MS
from processors.recall.ranking.bm25 import idf
from processors.recall.ranking.query_terms import QueryTerms
from processors.text.shown import Shown
from state.arrays import Floats, Integers
from state.graph.view import GraphView, importance

CAPACITY: Final = RING_TURNS
LIFE: Final = HOUR_MS
TFIDF: Final = 0.7
SHARE: Final = 0.3
KEYWORDS: Final = 8
LENGTHS: Final = ((12, 3), (20, 4))  # words of a turn up to which it gives so many keywords
MOST: Final = 5


@dataclass(frozen=True)
class Terms:
    """The terms of the score of k turns, (k,) each."""

    tfidf: Floats
    keywords: Floats
    decay: Floats
    importance: Floats

    @property
    def scores(self) -> Floats:
        """Score each turn."""
        total: Floats = (TFIDF * self.tfidf + SHARE * self.keywords) * self.decay * self.importance
        return total


def latest_session(view: GraphView) -> str | None:
    """Return the session of the latest turn, None if the graph is empty."""
    if not view.turns:
        return None
    passages = np.arange(view.turns)
    last = np.lexsort((passages, view.of_turns("at", passages)))[-1:]
    return view.sessions[int(view.of_turns("session", last)[0])]


def going_on(view: GraphView, session: str) -> Integers:
    """List the turns of the conversation that goes on in a session, in the order folded."""
    numbers = view.session_numbers([session])
    if not len(numbers):
        return np.zeros(0, np.int64)
    turns = view.excerpt(numbers).turn.astype(np.int64)
    return turns[turns >= view.session_upto(session)]


def in_mind(view: GraphView, session: str, now: int, capacity: int = CAPACITY) -> Integers:
    """List the turns that are in mind of a session at `now` (ms), in the order folded."""
    turns = going_on(view, session)
    turns = turns[now - view.of_turns("at", turns) < LIFE]
    priority = matters(view, turns) * decay(view, turns, now)
    stays = np.lexsort((-turns, -priority))[:capacity]
    return np.sort(turns[stays])


def decay(view: GraphView, turns: Integers, now: int) -> Floats:
    """Return what age leaves of each turn: (k,) in [0.1, 1]."""
    age = np.maximum(now - view.of_turns("at", turns), 0) / HOUR_MS
    left: Floats = np.maximum(0.1, 0.95 ** (age / 6))
    return left


def matters(view: GraphView, turns: Integers) -> Floats:
    """Return how much each turn matters, (k,) in [0, 1]; what is pinned matters most."""
    stated = importance(view.of_turns("importance", turns))
    return np.where(view.of_turns("pinned", turns) > 0, 1.0, stated)


def weighed(view: GraphView, terms: QueryTerms, turns: Integers, now: int) -> Terms:
    """Weigh k turns for a question that is asked at `now` (ms)."""
    weights = _weights(view, terms)
    of, concept, count = view.concepts_of_turns(turns)
    words = ~view.marks(concept)
    of, concept, count = of[words], concept[words], count[words]
    rare = idf(view.turns, view.holding(concept))
    values = np.array([weights.get(number, 0.0) for number in concept.tolist()])
    dot = np.bincount(of, values * rare * count * rare, len(turns))
    length = np.sqrt(np.bincount(of, (count * rare) ** 2, len(turns)))
    asks = sum((weight * _rarity(view, number)) ** 2 for number, weight in weights.items()) ** 0.5
    cosine = np.divide(dot, length * asks, out=np.zeros(len(turns)), where=length * asks > 0)
    sums = np.bincount(of, values, len(turns))
    total = sum(weights.values())
    keywords = np.minimum(1.0, sums / total) if total else np.zeros(len(turns))
    return Terms(cosine, keywords, decay(view, turns, now), 0.8 + 0.4 * matters(view, turns))


def _weights(view: GraphView, terms: QueryTerms) -> dict[int, float]:
    """Map the words of a question, and what means nearly the same, to how much each counts."""
    near = dict(zip(terms.relatives.concept.tolist(), terms.relatives.share.tolist(), strict=True))
    return near | dict(zip(terms.words.tolist(), terms.weight.tolist(), strict=True))


def _rarity(view: GraphView, number: int) -> float:
    return float(idf(view.turns, view.holding(np.array([number])))[0])


def keywords(view: GraphView, turns: Iterable[int], shown: Shown | None = None) -> list[int]:
    """List the last KEYWORDS words of turns, the latest last; with `shown`, such as people would say."""
    numbers: dict[int, None] = {}
    for turn in turns:
        _, concept, _ = view.concepts_of_turns(np.array([turn]))
        words = concept[~view.marks(concept)]  # the heaviest first, as they were recorded
        if shown:
            words = np.array([word for word, _ in shown.labels(words.tolist())], np.int64)
        most = next((most for length, most in LENGTHS if _length(view, turn) <= length), MOST)
        for word in words[:most][::-1].tolist():
            numbers.pop(word, None)
            numbers[word] = None
    return list(numbers)[-KEYWORDS:]


def _length(view: GraphView, turn: int) -> int:
    return int(view.of_turns("tokens", np.array([turn]))[0])
