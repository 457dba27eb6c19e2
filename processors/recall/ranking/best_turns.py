"""Find the best turns for a question without scoring all turns.  The result is bit for bit that of a full search.

    1  lay out the sessions that mention a word of the question, and score their turns
    2  compute an upper bound for all other turns, from their own features and associations: if it is below the score
       of the last of the best turns, stop
    3  else bound each other turn, and lay out the sessions of those that may still be among the best, best bound first

Energy reaches a turn only from its own session; statistics of the whole graph are in inquiry.py.  The declaration of a
feature includes its upper bound (features.py).  Expensive features are computed last, and only for turns that their
bound could make one of the best.  Source: safe pruning as in MaxScore (Turtle & Flood 1995), by sessions.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np

from emgas.messages.settings.modes import Mode
from processors.recall.ranking import edge_scores
from processors.recall.ranking.archive import behind
from processors.recall.ranking.edge_scores import Mask
from processors.recall.ranking.features import FEATURES, Feature, early_values, values, with_late
from processors.recall.ranking.filters import Allowed
from processors.recall.ranking.inquiry import Inquiry, SessionLayout, TurnColumns
from processors.recall.ranking.kinds import KINDS, MemoryKindRules
from processors.recall.ranking.passage_scores import weighed
from processors.recall.ranking.weights import FlowWeights
from state.arrays import Floats, Integers
from state.graph.view import UNTOLD

SOON_DONE: Final = 2000  # laid-out turns whose features are computed all at once
FEW: Final = 8000  # turns of a graph that is looked at whole: sooner done than to ask which of it may matter
AT_ONCE: Final = 500  # turns, the best bounds first, that are looked at in the third step; then MORE times as many
MORE: Final = 4
LOOKED_UP: Final = 20_000  # mentions of associated concepts that are looked up to bound what holds them
ROUNDING: Final = 1e-9  # a bound is added up in another order than a score
LENGTHS: Final = 128  # words up to which a bound is computed for every length
MOST_TIMES: Final = 1 << 20  # a turn mentions nothing more often
DEFAULT: Final[Mode] = "default"
PLAIN: Final = KINDS["all"]
NONE: Final = np.zeros(0)


def best_turns(
    inquiry: Inquiry,
    weights: FlowWeights,
    allowed: Allowed,
    limit: int,
    *,
    few: int = FEW,
    kind: MemoryKindRules = PLAIN,
) -> tuple[Integers, Floats]:
    """Find the passages that score best: (k,) their numbers, best first, of equals the newer first, and (k,) scores.

    limit  how many at most;  few  turns of a graph that is looked at whole;  kind  of memory, whose terms count besides
    """
    search = _Search(inquiry, weights, allowed, limit, kind=kind)
    if limit:
        search.run(few)
    return search.best()


class _Search:
    """One search: the turns that are scored, and the best of them."""

    def __init__(
        self, inquiry: Inquiry, weights: FlowWeights, allowed: Allowed, limit: int, *, kind: MemoryKindRules = PLAIN
    ) -> None:
        self._inquiry, self._weights, self._allowed, self._limit = inquiry, weights, allowed, limit
        self._kind = kind
        self._turn, self._score = np.zeros(0, np.int64), np.zeros(0)
        self._seen = np.zeros(len(inquiry.view.session_tokens), np.bool_)  # sessions that were looked at

    def run(self, few: int) -> None:
        """Score all turns that may be among the best."""
        inquiry = self._inquiry
        if inquiry.view.turns <= few:
            self._look_at(np.arange(len(self._seen)))
        elif self._allowed.sessions is not None:
            self._look_at(self._allowed.sessions)
        else:
            self._look_at(inquiry.touched)
            self._look_at(self._bridged())
            if not self._all_seen() and self._may_reach():
                self._look_further()

    def best(self) -> tuple[Integers, Floats]:
        """Return the best of what was looked at, best first."""
        order = np.lexsort((-self._turn, -self._score))[: self._limit]
        return self._turn[order], self._score[order]

    def _look_at(self, sessions: Integers) -> None:
        """Score the turns of ascending `sessions`, and keep the best of all."""
        if not len(sessions):
            return
        inquiry = self._inquiry
        laid = inquiry.near if sessions is inquiry.touched else inquiry.on(sessions)
        self._seen[sessions] = True
        if len(laid.turn) <= SOON_DONE:
            turn, columns = laid.turn, values(laid)
        else:
            early = early_values(laid)
            places = self._may_be_best(laid, early)
            turn, columns = laid.turn[places], with_late(early, laid, places)
        self._keep_best(turn, *self._scored(turn, columns))

    def _scored(self, turn: Integers, columns: Floats) -> tuple[Floats, Mask]:
        """Score turns (k,) by their features (f, k), and return which of them may be recalled at all."""
        scores, reached = weighed(columns, self._weights)
        scores = self._kind.graded(self._inquiry.view, turn, behind(self._inquiry.view, turn, scores, DEFAULT))
        return scores, reached & self._allowed.passes(turn)

    def _may_be_best(self, laid: SessionLayout, early: Floats) -> Integers:
        """Find the places of turns that may be among the best, whatever their features are that come late."""
        scores, reached = self._scored(laid.turn, early)
        less, more = _late(laid, self._weights)
        worst = self._worst((scores - less)[reached])
        return np.flatnonzero(self._allowed.passes(laid.turn) & (scores + more >= worst))

    def _keep_best(self, turn: Integers, scores: Floats, may: Mask) -> None:
        keep = may & (scores >= self._worst())
        self._turn = np.concatenate((self._turn, turn[keep]))
        self._score = np.concatenate((self._score, scores[keep]))
        keep = self._score >= self._worst()
        self._turn, self._score = self._turn[keep], self._score[keep]

    def _worst(self, besides: Floats = NONE) -> float:
        """Find the score that one of the best must have, with `besides` (m,) among what was found."""
        scores = np.concatenate((self._score, besides))
        if len(scores) < self._limit:
            return -np.inf
        return float(np.partition(scores, -self._limit)[-self._limit])

    def _all_seen(self) -> bool:
        return bool(self._seen.all())

    def _bridged(self) -> Integers:
        """Find the lone turns' sessions that a bridge leads to."""
        bridge, view = self._inquiry.once(edge_scores.find_bridges), self._inquiry.view
        if bridge is None:
            return np.zeros(0, np.int64)
        _, passages, _ = view.mentions_of(bridge.ends)
        sessions = np.unique(view.of_turns("session", passages))
        lone: Integers = sessions[(view.session_turns[sessions] == 1) & ~self._seen[sessions]]
        return lone

    def _may_reach(self) -> bool:
        """Return whether the best that a turn can be that nothing led to reaches the last of the best."""
        return _most(_Extremes.of(self._inquiry), self._weights) + self._kind.most >= self._worst()

    def _look_further(self) -> None:
        turns = _Unseen.all_of(self._inquiry)
        session = self._inquiry.view.of_turns("session", turns.turn)
        bound = np.where(self._seen[session], -np.inf, _bounds(turns, self._weights) + self._kind.most)
        bound[~self._allowed.passes(turns.turn)] = -np.inf
        size = AT_ONCE
        while (left := np.flatnonzero((bound >= self._worst()) & (bound > -np.inf))).size:
            chosen = left if len(left) <= size else left[np.argpartition(-bound[left], size)[:size]]
            self._look_at(np.unique(session[chosen]))
            bound[self._seen[session]] = -np.inf
            size *= MORE


def _bounds(turns: TurnColumns, weights: FlowWeights) -> Floats:
    """Bound (p,) the score of turns of sessions that nothing led to; −inf for those that nothing can reach."""
    total, reached = np.full(len(turns.turn), ROUNDING), np.zeros(len(turns.turn), np.bool_)
    for feature, weight in zip(FEATURES, weights.vector().tolist(), strict=True):
        if not weight:
            continue
        if feature.most is None:
            return np.full(len(turns.turn), np.inf)
        most = feature.most(turns)
        if feature.reaches:
            reached |= most > 0
        if not _takes_at_most(feature, weight):
            total += weight * most
    return np.where(reached, total, -np.inf)


def _late(turns: TurnColumns, weights: FlowWeights) -> tuple[Floats, Floats]:
    """Bound what features that come late take from a score, and add to it: (p,) both, >= 0."""
    less = np.full(len(turns.turn), ROUNDING)
    more = less.copy()
    for feature, weight in zip(FEATURES, weights.vector().tolist(), strict=True):
        if feature.late and weight:
            most = abs(weight) * feature.late.most(turns)
            more, less = (more + most, less) if weight > 0 else (more, less + most)
    return less, more


def _takes_at_most(feature: Feature, weight: float) -> bool:
    """Check whether a feature adds nothing: what is not of the turn itself is never below 0, and is held against it."""
    return weight < 0 and feature.most is not feature.compute


def _most(extremes: tuple[_Extremes, _Extremes], weights: FlowWeights) -> float:
    """Bound the score of any turn that nothing led to, from the least and the most that it can be."""
    total = np.full(len(extremes[0].turn), ROUNDING)
    for feature, weight in zip(FEATURES, weights.vector().tolist(), strict=True):
        if weight and not _takes_at_most(feature, weight):
            if feature.most is None:
                return np.inf
            total += np.maximum(*(weight * feature.most(extreme) for extreme in extremes))
    return float(total.max())


class _Unseen(TurnColumns):
    """Upper bounds of all turns by their own features."""

    @cached_property
    def strongest(self) -> Floats:
        """Looked up for what holds the strongest concepts; no more than the next strongest for all others."""
        numbers, energies = self.inquiry.woken
        order = np.argsort(-energies, kind="stable")
        looked_up = int(np.searchsorted(np.cumsum(self.view.holding(numbers[order])), LOOKED_UP, side="right"))
        bound = np.full(len(self.turn), energies[order[looked_up]] if looked_up < len(order) else 0.0)
        chosen = order[:looked_up][::-1]  # the strongest last: it stays
        of, passages = self.view.holders_of(numbers[chosen])
        bound[passages] = energies[chosen][of]
        return bound


class _Extremes(TurnColumns):
    """Turns of every length, all of them as little, or as much, of everything else as a turn can be."""

    def __init__(self, inquiry: Inquiry, *, much: bool) -> None:
        shortest, longest = inquiry.view.lengths
        tokens = np.unique(np.append(np.arange(shortest, min(longest, shortest + LENGTHS) + 1), longest))
        super().__init__(inquiry, tokens, tokens, tokens)
        self.tokens, self._much = tokens, float(much)

    def _all(self, value: float) -> Floats:
        return np.full(len(self.tokens), value)

    @classmethod
    def of(cls, inquiry: Inquiry) -> tuple[_Extremes, _Extremes]:
        """Return both extremes."""
        return cls(inquiry, much=False), cls(inquiry, much=True)

    @cached_property
    def asks(self) -> Floats:
        return self._all(self._much)

    @cached_property
    def by_assistant(self) -> Mask:
        return self._all(self._much) > 0

    @cached_property
    def is_first(self) -> Floats:
        return self._all(self._much)

    @cached_property
    def lone(self) -> Mask:
        return np.full(len(self.tokens), not self._much)  # what is first is in company

    @cached_property
    def speaker(self) -> Floats:
        return self._all(self._much * (len(self.terms.named) == 1))

    @cached_property
    def importance(self) -> Floats:
        is_rated = self.view.extremes("importance")[1] >= 0  # else no turn has an importance
        pinned = self.view.extremes("pinned")[1] > 0
        least, most = 0.0 if is_rated else UNTOLD, 1.0 if is_rated or pinned else UNTOLD
        return self._all(most if self._much else least)

    @cached_property
    def feedback(self) -> Floats:
        return self._all(self.view.extremes("feedback")[int(self._much)] / 10)

    @cached_property
    def is_history(self) -> Floats:
        return self._all(self._much)

    @cached_property
    def is_pictured(self) -> Floats:
        return self._all(self._much * self.terms.pictures)

    @cached_property
    def likeness(self) -> Floats:
        likeness = self.inquiry.likeness
        if likeness is None:
            return self._all(0.0)
        return self._all(float(likeness.max(initial=0.0) if self._much else likeness.min(initial=0.0)))

    def times(self, row: int) -> Integers:
        return np.full(len(self.tokens), MOST_TIMES if self._much else 0)

    def bears(self, mark: str) -> Floats:
        return self._all(self._much)
