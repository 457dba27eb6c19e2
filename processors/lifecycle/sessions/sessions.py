"""Find the conversation that goes on in a session, and record its end.  SEEDS S1, S15, P38.

A user may end one in any case.  Where a graph wants that, they end by themselves (lab/windows/conversations.py).  Any
reader can compute that one has fallen silent, and what it was about (processors/recall/reports/session_summaries.py).

An end moves no time but its own: it lies where the last turn lies, or where the silence was long enough.
"""

from __future__ import annotations

import numpy as np

from emgas.limits import EARLIEST_MS
from state.events.events import UNSTAMPED, EndReason, SessionEnded
from state.graph.graph import Graph


def going_on(graph: Graph, session: str) -> list[int]:
    """List the passages of the conversation that goes on in a session, in the order folded; [] for none."""
    number = graph.passages.sessions.get(session, -1)
    first = graph.sessions.upto(session)
    of_session = np.array(graph.passages.session[first:]) == number
    kept = np.array(graph.passages.kept[first:]) == 1
    return [first + place for place in np.flatnonzero(of_session & kept).tolist()]


def ended(graph: Graph, session: str, *, at: int, reason: EndReason, through: int) -> SessionEnded:
    """Return the event that a conversation ended at `at` (ms) with passage `through`."""
    last = graph.passages.ids[through]
    return SessionEnded(graph=graph.graph_id, session=session, at=at, reason=reason, through=last, **UNSTAMPED)


def is_idle(graph: Graph, last_at: int, now: int) -> bool:
    """Return whether nothing was said for so long since `last_at` (ms) that a conversation is over at `now` (ms)."""
    return last_at > EARLIEST_MS and now - last_at >= graph.settings.idle
