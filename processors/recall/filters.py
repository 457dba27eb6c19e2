"""Which passages may be recalled: by session, speaker, role, time, importance, concept, tier, and by name left out.

What is filtered out still carries flow to others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from emgas.messages.filters import Filter
from processors.recall.edge_scores import Mask, holding
from state.arrays import Integers
from state.graph.passage_table import ROLES
from state.graph.view import GraphView

NO_FILTER = Filter()


def allowed(view: GraphView, only: Filter) -> Mask | None:
    """Find (p,) which passages a filter lets through, None for all of them.

    only  its concepts are ids; its metadata counts as none: that is in the texts of turns, not in a view
    """
    if only == NO_FILTER:
        return None
    passes = _said_by(view, only) & _said_when(view, only) & _matters(view, only)
    if only.concepts:
        numbers = [number for name in only.concepts if (number := view.number(name)) is not None]
        passes &= holding(view, np.array(numbers, np.int64))
    if only.exclude:
        passes[_positions(view.passage_id[: len(passes)], only.exclude)] = False
    return passes


def _said_by(view: GraphView, only: Filter) -> Mask:
    passes = np.ones(len(view.passage_at), np.bool_)
    if only.sessions:
        passes &= np.isin(view.passage_session, _positions(view.sessions, only.sessions))
    if only.speakers:
        passes &= np.isin(view.passage_speaker, _positions(view.speakers, only.speakers))
    if only.roles:
        passes &= np.isin(view.role, [ROLES.index(role) for role in only.roles])
    return passes


def _said_when(view: GraphView, only: Filter) -> Mask:
    passes = np.ones(len(view.passage_at), np.bool_)
    if only.since is not None:
        passes &= view.passage_at >= only.since
    if only.until is not None:
        passes &= view.passage_at < only.until
    return passes


def _matters(view: GraphView, only: Filter) -> Mask:
    passes = np.ones(len(view.passage_at), np.bool_)
    if only.min_importance is not None:
        passes &= np.where(view.passage_pinned, 1.0, view.importance) >= only.min_importance
    if only.pinned is not None:
        passes &= view.passage_pinned == only.pinned
    if not only.include_archive:
        passes &= ~view.passage_archived
    return passes


def _positions(names: Sequence[str], wanted: Iterable[str]) -> Integers:
    chosen = set(wanted)
    return np.array([position for position, name in enumerate(names) if name in chosen], np.int64)
