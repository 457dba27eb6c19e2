"""Filter the passages that may be recalled: by speaker, time, session, content and id.

Filters come first, then the ranking: only sessions with a turn that passes are laid out.  Filtered turns still carry
energy to others, so the filtered ranking is the full ranking without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from emgas.messages.filters import Filter
from state.arrays import Integers
from state.graph.tables.passage_table import ORIGINS, ROLES, modality
from state.graph.view import GraphView, importance

Mask = NDArray[np.bool_]
NO_FILTER = Filter()
_ORIGIN_OF_ROLE = np.array([ORIGINS.index(role) if role in ORIGINS else 0 for role in ROLES])


class Allowed:
    """A filter applied to one graph.  Its concepts are ids; facts of turns must have been read (answer/turn_facts.py).

    sessions  the sessions that it lets anything through of, ascending; None for any
    """

    def __init__(self, view: GraphView, only: Filter) -> None:
        self._view, self._only = view, only
        self._speakers = _positions(view.speakers, only.speakers) if only.speakers else None
        self._exclude = frozenset(only.exclude)
        self._named = np.unique(view.session_numbers(only.sessions)) if only.sessions else None
        holding = self._holders(self._concepts()) if only.concepts or only.entities else None
        self._holding = self._shown_holders(holding)
        self.sessions = self._sessions()

    def _concepts(self) -> Iterable[int]:
        """Yield the concepts that are asked for: those named, of the kinds asked for; a passage must hold one."""
        view, only = self._view, self._only
        named = [number for name in only.concepts if (number := view.number(name)) is not None]
        numbers = named if only.concepts else range(view.concepts)
        return (number for number in numbers if not only.entities or view.kind(number) in only.entities)

    def _holders(self, numbers: Iterable[int]) -> Integers:
        lists = [self._view.holders(number)[0] for number in numbers]
        return np.unique(np.concatenate(lists)).astype(np.int64) if lists else np.zeros(0, np.int64)

    def _shown_holders(self, holding: Integers | None) -> Integers | None:
        """Find which of passages, None for all, tell of themselves what is asked, None if nothing is."""
        if not self._only.asks_facts:
            return holding
        facts, only = self._view.facts, self._only
        ordinals = self._view.of_turns("event", np.arange(self._view.turns))
        passes = np.ones(len(ordinals), np.bool_)
        if only.metadata:
            passes &= np.isin(ordinals, facts.holding(only.metadata))
        if only.spoken_since is not None or only.spoken_until is not None:
            passes &= np.isin(ordinals, facts.speaking_of(only.spoken_since, only.spoken_until))
        if only.statements:
            passes &= np.isin(ordinals, facts.stating(only.statements))
        passages = np.flatnonzero(passes)
        return passages if holding is None else np.intersect1d(passages, holding)

    def _sessions(self) -> Integers | None:
        if self._holding is None:
            return self._named
        sessions = np.unique(self._view.of_turns("session", self._holding))
        return sessions if self._named is None else np.intersect1d(sessions, self._named)

    def passes(self, turn: Integers) -> Mask:
        """Return which of `turn` (k,) it lets through."""
        passes = self._has_speaker(turn) & self._is_in_time(turn) & self._matters(turn)
        if self._holding is not None:
            passes &= np.isin(turn, self._holding)
        if self._exclude:
            passes &= ~np.isin(turn, self._view.passage_numbers(self._exclude))
        return passes

    def _has_speaker(self, turn: Integers) -> Mask:
        view, passes = self._view, np.ones(len(turn), np.bool_)
        if self._named is not None:
            passes &= np.isin(view.of_turns("session", turn), self._named)
        if self._speakers is not None:
            passes &= np.isin(view.of_turns("speaker", turn), self._speakers)
        if self._only.modality:
            passes &= (view.of_turns("modality", turn) & modality(self._only.modality)) > 0
        if self._only.roles:
            passes &= np.isin(view.of_turns("role", turn), [ROLES.index(role) for role in self._only.roles])
        if self._only.origins:
            passes &= np.isin(self._origin(turn), [ORIGINS.index(origin) for origin in self._only.origins])
        if self._only.without_origins:
            passes &= ~np.isin(self._origin(turn), [ORIGINS.index(origin) for origin in self._only.without_origins])
        return passes

    def _origin(self, turn: Integers) -> Integers:
        """Return the place in ORIGINS of each turn: its own, else that of its role."""
        own, role = self._view.of_turns("origin", turn), self._view.of_turns("role", turn)
        return np.where(own > 0, own, _ORIGIN_OF_ROLE[role])

    def _is_in_time(self, turn: Integers) -> Mask:
        passes = np.ones(len(turn), np.bool_)
        if self._only.since is not None:
            passes &= self._view.of_turns("at", turn) >= self._only.since
        if self._only.until is not None:
            passes &= self._view.of_turns("at", turn) < self._only.until
        return passes

    def _matters(self, turn: Integers) -> Mask:
        view, only, passes = self._view, self._only, np.ones(len(turn), np.bool_)
        if only.min_importance is not None:
            matters = importance(view.of_turns("importance", turn))
            passes &= np.where(view.of_turns("pinned", turn) > 0, 1.0, matters) >= only.min_importance
        if only.pinned is not None:
            passes &= (view.of_turns("pinned", turn) > 0) == only.pinned
        if not only.include_archive:
            passes &= view.of_turns("archived", turn) == 0
        return passes


def _positions(names: Sequence[str], chosen_names: Iterable[str]) -> Integers:
    chosen = set(chosen_names)
    return np.array([position for position, name in enumerate(names) if name in chosen], np.int64)
