"""Declare every feature of a turn for a question once: how it is computed, and its default weight.

    score of a turn = Σ weight · feature

An edge type carries energy to a turn from elsewhere (edge_scores.py); other features depend on the turn alone.  To
add one, write its function and declare it in FEATURES: weights (weights.py), ranking, explanation, fitting
and the search for the best turns (best_turns.py) read the list.

A feature that depends on the turn alone is declared by `_own`.  An edge type also declares an upper bound for a turn
whose session mentions no word of the question: without it, recall must score every turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from processors.recall.ranking import edge_scores
from processors.recall.ranking.edge_scores import QuestionMentions
from processors.recall.ranking.inquiry import Inquiry, SessionLayout, TurnColumns
from processors.recall.ranking.query_terms import QueryTerms
from state.arrays import Floats, Integers
from state.graph.view import UNTOLD, GraphView


def _mentions(turns: SessionLayout) -> QuestionMentions:
    """Return the mentions of the question's seeds."""
    return turns.once(edge_scores.find_mentions)[0]


def _near(turns: SessionLayout) -> QuestionMentions:
    """Return the mentions of the seeds and of what means nearly the same."""
    return turns.once(edge_scores.find_mentions)[1]


class LateFeature(NamedTuple):
    """An expensive feature: it is computed only for turns that its upper bound could make one of the best."""

    compute: Callable[[TurnColumns], Floats]
    most: Callable[[TurnColumns], Floats]


class Feature(NamedTuple):
    """A feature of a turn.

    compute       turns of a layout → (p,) the value of each
    weight        its default weight; 0 switches it off
    most          turns of untouched sessions → (p,) an upper bound of the value of each, or the value itself; None
                  if there is no bound.  A bound that is not the value itself is never below 0
    without_flow  its weight if no energy flows (weights.py NO_FLOW); 0 for an edge type
    is_edge       whether it is an edge type, over which energy comes from elsewhere
    reaches       whether it can make a turn recallable; other features only order the recalled turns
    late          for an expensive feature that is never below 0: how to compute it, and its upper bound
    """

    name: str
    compute: Callable[[SessionLayout], Floats]
    weight: float
    without_flow: float = 0.0
    is_edge: bool = False
    reaches: bool = False
    most: Callable[[TurnColumns], Floats] | None = None
    late: LateFeature | None = None


HISTORY: Final = -2.5  # how much worth a turn loses when a later turn says that it no longer holds
SAYS_ENOUGH: Final = 64.0  # words, beyond which a longer turn is no likelier to hold an answer
ASKS_ONLY: Final = 60.0  # words of a turn that asks something, and says as much besides

Edge: Final = partial(Feature, is_edge=True, reaches=True)


def _own(
    name: str,
    compute: Callable[[TurnColumns], Floats],
    weight: float,
    without_flow: float = 0.0,
    *,
    reaches: bool = False,
    late: LateFeature | None = None,
) -> Feature:
    """Declare a feature of what a turn is in itself."""
    return Feature(name, compute, weight, without_flow, reaches=reaches, most=compute, late=late)


def _nothing(turns: TurnColumns) -> Floats:
    return np.zeros(len(turns.turn))


def _at_most_one(turns: TurnColumns) -> Floats:
    return np.ones(len(turns.turn))


def _most_association(turns: TurnColumns) -> Floats:
    return edge_scores.saturated_association(turns, turns.strongest)


_LATE_ASSOCIATION: Final = LateFeature(edge_scores.associated, _most_association)


def _names(turns: TurnColumns) -> Floats:
    return turns.bears("@name")


def _reply(turns: SessionLayout) -> Floats:
    if len(turns.terms.named) != 1:  # the question is about no speaker, or about several
        return _nothing(turns)
    return turns.speaker * np.where(turns.is_first > 0, 0.0, np.roll(turns.asks, 1))


def _asks(turns: TurnColumns) -> Floats:
    """Grade by length how far a turn does nothing but ask: (p,); what an assistant says ends with a question anyway."""
    return turns.asks * np.where(turns.by_assistant, 1.0, 1 / (1 + turns.words / ASKS_ONLY))


def _first(turns: TurnColumns) -> Floats:
    return np.where(turns.lone, 0.0, turns.is_first)


def _length(turns: TurnColumns) -> Floats:
    return np.log(np.minimum(turns.words, SAYS_ENOUGH))


def _brevity(turns: TurnColumns) -> Floats:
    return -np.log(turns.words)


def _echo(turns: SessionLayout) -> Floats:
    """Mark what an assistant says that mentions nothing of the question but what it was just told: (p,)."""
    if not turns.by_assistant.any():
        return _nothing(turns)
    near, is_first = _near(turns), turns.is_first > 0
    mentions = np.bincount(near.at, minlength=near.turns) > 0
    answers = turns.by_assistant & ~np.roll(turns.by_assistant, 1) & ~is_first
    repeats: Floats = (answers & mentions & ~near.new()).astype(np.float64)
    return repeats


def _age(inquiry: Inquiry) -> tuple[Integers, Floats]:
    """List the turns that match, by number, and the share of them that is no newer than each; (k,) both."""
    turn, _ = inquiry.once(edge_scores.find_matches)
    age = np.lexsort((turn, inquiry.view.of_turns("at", turn)))
    share = np.zeros(len(turn))
    share[age] = np.arange(1, len(turn) + 1) / len(turn)
    return turn, share


def _latest(turns: SessionLayout) -> Floats:
    """Grade by age what is said about the same thing, if the question asks how things are now: (p,) in [0, 1]."""
    if not turns.terms.now:
        return _nothing(turns)
    match, (about, share) = _near(turns).match(), turns.inquiry.once(_age)
    if not len(about):
        return np.zeros(len(match))
    positions = np.minimum(np.searchsorted(about, turns.turn), len(about) - 1)
    latest = np.where(about[positions] == turns.turn, share[positions], 0.0)
    graded: Floats = latest * match / turns.inquiry.once(edge_scores.find_matches)[1].max()
    return graded


def _most_latest(turns: TurnColumns) -> Floats:
    if not turns.terms.now:
        return _nothing(turns)
    best = float(turns.inquiry.once(edge_scores.find_matches)[1].max(initial=1e-9))
    return edge_scores.common_match(turns) / best


def _importance(turns: TurnColumns) -> Floats:
    return turns.importance - UNTOLD


def _feedback(turns: TurnColumns) -> Floats:
    thought: Floats = turns.feedback / (1 + np.abs(turns.feedback))
    return thought


def _has_mark(mark: str, turns: TurnColumns) -> Floats:
    """Mark the turns that bear `mark`, if the question wants such an answer: (p,)."""
    return turns.bears(mark) if mark in turns.terms.wants else np.zeros(len(turns.turn))


# The weights come from a conditional logit (evaluation/fit/fitting.py) over all forms of talk, each with the same
# weight, rounded; the scale is that of log-odds.  Four were moved by what is measured, where the forms lose
# nothing: match from 1.6, because passages and notes need it; inherited from 1.3, session from 0.8 and first from 0.1,
# because a memory of many sessions needs them.  Four are set by hand: `dense` at the best of what was
# tried with a model, `latest`, `importance` and `feedback`, as no set of questions asks for them; so are `history` and
# `pictured`.  Those without flow
# are fitted in the same way, to the terms that are left.
FEATURES: Final = (
    Feature("match", lambda turns: _near(turns).match(), 2.2, 2.3, reaches=True, most=edge_scores.common_match),
    Edge("inherited", lambda turns: _near(turns).inherited(), 1.6, most=_nothing),
    Edge("session", lambda turns: _mentions(turns).sessions(), 1.4, most=edge_scores.most_of_session),
    Edge("coverage", lambda turns: _mentions(turns).coverage(), 0.6, most=edge_scores.most_coverage),
    Edge("association", edge_scores.associated, 0.95, most=_most_association, late=_LATE_ASSOCIATION),
    Edge("bridge", edge_scores.bridged, 0.4, most=_nothing),
    Edge("kinds", edge_scores.kinds, 0.35, most=_nothing),
    Edge("reply", _reply, 0.4, most=lambda turns: turns.speaker),
    _own("speaker", lambda turns: turns.speaker, 2.0, 2.5),
    _own("asks", _asks, -0.9, -1.3),
    _own("first", _first, 0.4),
    _own("time", partial(_has_mark, "@time"), 2.35, 2.35),
    _own("name", partial(_has_mark, "@name"), 1.3, 1.35),
    _own("number", partial(_has_mark, "@number"), 1.5, 1.6),
    _own("names", _names, 0.3, 0.3, late=LateFeature(_names, _at_most_one)),
    _own("length", _length, 0.95, 1.4),
    _own("brevity", _brevity, 0.45, 1.0),
    Feature("echo", _echo, -1.0, most=_at_most_one),
    Feature("latest", _latest, 1.2, 1.2, most=_most_latest),
    _own("importance", _importance, 0.8, 0.8),
    _own("feedback", _feedback, 1.5, 1.5),
    _own("history", lambda turns: turns.is_history, HISTORY, HISTORY),
    _own("pictured", lambda turns: turns.is_pictured, 4.0, 4.0),
    _own("dense", lambda turns: turns.likeness, 0.8, 0.8, reaches=True),
)


def values(turns: SessionLayout) -> Floats:
    """Compute every feature of turns that are laid out: (f, p), rows as FEATURES."""
    return np.array([feature.compute(turns) for feature in FEATURES], np.float64)


def early_values(turns: SessionLayout) -> Floats:
    """Compute every feature but those that come late, which are 0: (f, p), rows as FEATURES."""
    result = np.zeros((len(FEATURES), len(turns.turn)))
    for row, feature in enumerate(FEATURES):
        if not feature.late:
            result[row] = feature.compute(turns)
    return result


def with_late(early: Floats, turns: SessionLayout, places: Integers) -> Floats:
    """Add the features that come late to those of the turns at `places` (k,): (f, k), rows as FEATURES."""
    result, some = early[:, places], turns.some(places)
    for row, feature in enumerate(FEATURES):
        if feature.late:
            result[row] = feature.late.compute(some)
    return result


def features(view: GraphView, terms: QueryTerms, energy: Floats, cosine: Floats | None = None) -> Floats:
    """Compute every feature of every turn: (f, p) in the places of `view.session_order`; see Inquiry."""
    return values(Inquiry(view, terms, energy, cosine).everything)
