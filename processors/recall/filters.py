"""Which passages may be recalled: by session, speaker, time, concept, tier, and by name left out.

What is filtered out still carries flow to others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from emgas.messages.filters import Filter
from processors.recall.edge_scores import Mask, holding
from state.arrays import Integers
from state.graph.view import GraphView

NO_FILTER = Filter()


def allowed(view: GraphView, only: Filter) -> Mask | None:
    """Find (p,) which passages a filter lets through, None for all of them.

    only  its concepts are ids; its metadata counts as none: that is in the texts of turns, not in a view
    """
    if only == NO_FILTER:
        return None
    passes = np.ones(len(view.passage_at), np.bool_)
    if only.sessions:
        passes &= np.isin(view.passage_session, _positions(view.sessions, only.sessions))
    if only.speakers:
        passes &= np.isin(view.passage_speaker, _positions(view.speakers, only.speakers))
    if only.since is not None:
        passes &= view.passage_at >= only.since
    if only.until is not None:
        passes &= view.passage_at < only.until
    if only.concepts:
        numbers = [number for name in only.concepts if (number := view.number(name)) is not None]
        passes &= holding(view, np.array(numbers, np.int64))
    if not only.include_archive:
        passes &= ~view.passage_archived
    if only.exclude:
        passes[_positions(view.passage_id[: len(passes)], only.exclude)] = False
    return passes


def _positions(names: Sequence[str], wanted: Iterable[str]) -> Integers:
    chosen = set(wanted)
    return np.array([position for position, name in enumerate(names) if name in chosen], np.int64)
