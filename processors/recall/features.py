"""Every feature of a turn for one question, declared once: how it is computed and what it is worth by default.

    score of a turn = Σ weight · feature

An edge type carries energy to a turn from elsewhere (edge_scores.py); the other features say what the turn is in
itself.  To add one, write its function and declare it in FEATURES: weights (weights.py), ranking, explanation and
fitting read the list.  Values are laid out in the places of `view.session_order`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, NamedTuple

import numpy as np

from processors.recall import edge_scores
from processors.recall.dense import standardised
from processors.recall.edge_scores import Mentions
from processors.recall.query_terms import QueryTerms
from state.arrays import Floats
from state.graph.passage_table import ROLES
from state.graph.view import GraphView


@dataclass
class Inquiry:
    """A question put to one graph, and what several features need of it, computed once.

    energy  (n,) what the concepts hold after spreading
    cosine  (p,) of each passage with the question, by passage number; None without embeddings
    """

    view: GraphView
    asked: QueryTerms
    energy: Floats
    cosine: Floats | None = None

    @cached_property
    def _mentions(self) -> tuple[Mentions, Mentions]:
        return edge_scores.mentions(self.view, self.asked)

    @property
    def said(self) -> Mentions:
        """The mentions of the question's seeds."""
        return self._mentions[0]

    @property
    def near(self) -> Mentions:
        """The mentions of the seeds and of what means nearly the same."""
        return self._mentions[1]

    @cached_property
    def asks(self) -> Floats:
        """(p,) 1 for the turns that ask something."""
        asks: Floats = self.view.passage_question[self.view.session_order.order].astype(np.float64)
        return asks

    @cached_property
    def is_first(self) -> Floats:
        """(p,) 1 for the turns that open their session."""
        first: Floats = (self.view.session_order.start == np.arange(len(self.asks))).astype(np.float64)
        return first

    @cached_property
    def words(self) -> Floats:
        """(p,) the length of each turn in words, at least 1."""
        return np.maximum(self.view.passage_tokens[self.view.session_order.order], 1).astype(np.float64)

    @cached_property
    def speaker(self) -> Floats:
        """(p,) 1 for the turns of the speaker named, if it is just one."""
        named, view = self.asked.named, self.view
        if len(named) != 1:
            return np.zeros(len(view.passage_at))
        said: Floats = (view.passage_speaker[view.session_order.order] == named[0]).astype(np.float64)
        return said


class Feature(NamedTuple):
    """A feature of a turn.

    compute       an inquiry → (p,) its value at each place
    weight        what it is worth by default; 0 switches it off
    without_flow  what it is worth where nothing flows (weights.py NO_FLOW); 0 for an edge type
    is_edge       whether it is an edge type, over which energy comes from elsewhere
    reaches       whether a turn that has it may be recalled for it; the others only order what was reached
    """

    name: str
    compute: Callable[[Inquiry], Floats]
    weight: float
    without_flow: float = 0.0
    is_edge: bool = False
    reaches: bool = False


EVERYDAY: Final = 0.5  # how much a turn matters of which nobody said
SAYS_ENOUGH: Final = 64.0  # words, beyond which a longer turn is no likelier to hold an answer

Edge: Final = partial(Feature, is_edge=True, reaches=True)


def _association(inquiry: Inquiry) -> Floats:
    return edge_scores.associated(inquiry.view, inquiry.energy, inquiry.asked)


def _bridge(inquiry: Inquiry) -> Floats:
    return edge_scores.bridged(inquiry.view, inquiry.asked, inquiry.near.match())


def _kinds(inquiry: Inquiry) -> Floats:
    return edge_scores.kinds(inquiry.view, inquiry.asked, inquiry.said.total)


def _reply(inquiry: Inquiry) -> Floats:
    return inquiry.speaker * np.where(inquiry.is_first, 0.0, np.roll(inquiry.asks, 1))


def _first(inquiry: Inquiry) -> Floats:
    return np.where(edge_scores.lone(inquiry.view), 0.0, inquiry.is_first)


def _length(inquiry: Inquiry) -> Floats:
    return np.log(np.minimum(inquiry.words, SAYS_ENOUGH))


def _brevity(inquiry: Inquiry) -> Floats:
    return -np.log(inquiry.words)


def _echo(inquiry: Inquiry) -> Floats:
    """Mark what an assistant says that mentions nothing of the question but what it was just told: (p,)."""
    view = inquiry.view
    by_assistant = view.role[view.session_order.order] == ROLES.index("assistant")
    if not by_assistant.any():
        return np.zeros(len(by_assistant))
    near = inquiry.near
    mentions = np.bincount(near.at, minlength=near.turns) > 0
    answers = by_assistant & ~np.roll(by_assistant, 1) & ~inquiry.is_first.astype(np.bool_)
    repeats: Floats = (answers & mentions & ~near.new()).astype(np.float64)
    return repeats


def _latest(inquiry: Inquiry) -> Floats:
    """Grade by age what is said about the same thing, if the question asks how things are now: (p,) in [0, 1]."""
    match = inquiry.near.match()
    about = np.flatnonzero(match > 0)
    if not inquiry.asked.now or not len(about):
        return np.zeros(len(match))
    order = inquiry.view.session_order.order[about]
    age = np.lexsort((order, inquiry.view.passage_at[order]))
    latest = np.zeros(len(match))
    latest[about[age]] = np.arange(1, len(about) + 1) / len(about)
    graded: Floats = latest * match / match.max()
    return graded


def _dense(inquiry: Inquiry) -> Floats:
    if inquiry.cosine is None:
        return np.zeros(len(inquiry.view.passage_at))
    return standardised(inquiry.cosine)[inquiry.view.session_order.order]


def _importance(inquiry: Inquiry) -> Floats:
    view = inquiry.view
    matters = np.where(view.passage_pinned, 1.0, view.importance) - EVERYDAY
    return matters[view.session_order.order]


def _feedback(inquiry: Inquiry) -> Floats:
    thought: Floats = inquiry.view.feedback / (1 + np.abs(inquiry.view.feedback))
    return thought[inquiry.view.session_order.order]


def _marked(mark: str, inquiry: Inquiry) -> Floats:
    """Mark the turns that bear `mark`: (p,)."""
    view, number = inquiry.view, inquiry.view.number(mark)
    if number is None:
        return np.zeros(len(view.passage_at))
    return edge_scores.holding(view, np.array([number]))[view.session_order.order].astype(np.float64)


def _wanted(mark: str, inquiry: Inquiry) -> Floats:
    """Mark the turns that bear `mark`, if the question wants such an answer: (p,)."""
    return _marked(mark, inquiry) if mark in inquiry.asked.wants else np.zeros(len(inquiry.view.passage_at))


# The weights are those of a conditional logit (evaluation/fitting.py) over all forms of talk at once, each of which
# weighs the same, rounded; the scale is that of log-odds.  Four were moved by what is measured, where the forms lose
# nothing: match from 1.6, because passages and notes need it; inherited from 1.3, session from 0.8 and first from 0.1,
# because a memory of many sessions needs them (docs/recall.md).  Four are set by hand: `dense` at the best of what was
# tried with a model, `latest`, `importance` and `feedback`, as no set of questions asks for them.  Those without flow
# are fitted in the same way, to the terms that are left.
FEATURES: Final = (
    Feature("match", lambda inquiry: inquiry.near.match(), 2.2, 2.3, reaches=True),
    Edge("inherited", lambda inquiry: inquiry.near.inherited(), 1.6),
    Edge("session", lambda inquiry: inquiry.said.sessions(), 1.4),
    Edge("coverage", lambda inquiry: inquiry.said.coverage(), 0.6),
    Edge("association", _association, 0.95),
    Edge("bridge", _bridge, 0.4),
    Edge("kinds", _kinds, 0.35),
    Edge("reply", _reply, 0.4),
    Feature("speaker", lambda inquiry: inquiry.speaker, 2.0, 2.5),
    Feature("asks", lambda inquiry: inquiry.asks, -0.9, -1.3),
    Feature("first", _first, 0.4),
    Feature("time", partial(_wanted, "@time"), 2.35, 2.35, reaches=True),
    Feature("name", partial(_wanted, "@name"), 1.3, 1.35, reaches=True),
    Feature("number", partial(_wanted, "@number"), 1.5, 1.6, reaches=True),
    Feature("names", partial(_marked, "@name"), 0.3, 0.3),
    Feature("length", _length, 0.95, 1.4),
    Feature("brevity", _brevity, 0.45, 1.0),
    Feature("echo", _echo, -1.0),
    Feature("latest", _latest, 0.8, 0.8),
    Feature("importance", _importance, 0.8, 0.8),
    Feature("feedback", _feedback, 1.5, 1.5),
    Feature("dense", _dense, 0.8, 0.8, reaches=True),
)


def features(view: GraphView, asked: QueryTerms, energy: Floats, cosine: Floats | None = None) -> Floats:
    """Compute every feature of every turn: (f, p), rows as FEATURES; for the arguments see `Inquiry`."""
    inquiry = Inquiry(view, asked, energy, cosine)
    return np.array([feature.compute(inquiry) for feature in FEATURES], np.float64)
