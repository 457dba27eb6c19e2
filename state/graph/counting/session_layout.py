"""Lay out turns session by session: all of a graph, or chosen sessions.  Energy flows between turns of such a layout.

sessions 3, 7          place     0  1  2  3  4
turn      4  5  9  6  8       passage numbers, each session in the order folded
session   0  0  0  1  1       position of the session among those that were chosen
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from state.arrays import Integers


@dataclass(frozen=True)
class Excerpt:
    """Chosen sessions, laid out in p places.

    turn      (p,) passage number at each place
    within    (p,) its position in its session, from 0
    sessions  (s,) the sessions, ascending
    session   (p,) position in `sessions` of the session at each place, ascending
    """

    turn: Integers
    within: Integers
    sessions: Integers
    session: Integers

    @cached_property
    def start(self) -> Integers:
        """(p,) where the session of each place starts."""
        return np.arange(len(self.turn)) - self.within

    @cached_property
    def end(self) -> Integers:
        """(p,) where it ends, exclusive."""
        return self.start + np.bincount(self.session, minlength=len(self.sessions))[self.session]

    @cached_property
    def _first(self) -> Integers:
        """(s,) the place at which each session starts."""
        return self.session.searchsorted(np.arange(len(self.sessions)))

    def place(self, session: Integers, within: Integers) -> Integers:
        """Find the place (m,) of turns by their session's number and their position in it; -1 for those not here."""
        if not len(self.sessions):
            return np.full(len(session), -1)
        at = np.minimum(self.sessions.searchsorted(session), len(self.sessions) - 1)
        return np.where(self.sessions[at] == session, self._first[at] + within, -1)


@dataclass(frozen=True)
class SessionOrder:
    """All p passages of a graph, laid out.

    order       (p,) passage number at each place            place       (p,) place of each passage number
    session     (p,) session at each place, ascending
    start, end  (p,) where the session of each place starts, and where it ends (exclusive)
    tokens      (sessions,) length of each session in words
    """

    order: Integers
    place: Integers
    session: Integers
    start: Integers
    end: Integers
    tokens: Integers

    @classmethod
    def of(cls, whole: Excerpt, tokens: Integers) -> SessionOrder:
        """Describe an excerpt of all sessions."""
        place = np.empty_like(whole.turn)
        place[whole.turn] = np.arange(len(whole.turn))
        return cls(whole.turn, place, whole.session, whole.start, whole.end, tokens)
