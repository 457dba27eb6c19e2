"""Turns that expire: at their `expires_at` they are forgotten, with the concepts that only they mention.

Nothing keeps such a turn, not even a pin.  The window that forgets it waits for no late turns, so a graph whose time
is `expires_at` or later never has it.  In a silent graph, time passes for its readers before a window can close:
`without_expired` shows them what the window will leave.
"""

from __future__ import annotations

from typing import Any

from processors.lifecycle.decay.forgetting import requested
from processors.lifecycle.parts import parts
from processors.lifecycle.steps import in_one_step
from processors.lifecycle.window import Timekeeping, Window, WindowEnd
from state.events.events import UNSTAMPED, GraphEvent, TurnsExpired
from state.graph.graph import Graph
from state.graph.tables.decay import NEVER


def _next_end(graph: Graph) -> WindowEnd | None:
    expires = graph.expires_next
    return None if expires == NEVER else WindowEnd(expires, waits=False)


def _closing(graph: Graph, at: int) -> list[GraphEvent]:
    """Forget the turns that have expired, in as many events as records need."""
    gone = requested(graph, (), graph.deadlines().until(at, graph.passages.numbers), ())
    there: dict[str, Any] = {"graph": graph.graph_id, "at": at, **UNSTAMPED}
    named = {"concepts": gone.concepts, "turns": gone.turns}
    return [TurnsExpired(**{**there, **part}) for part in parts(named)]


def _may_end(graph: Timekeeping, now: int) -> bool:
    return graph.expires_next <= now


EXPIRY = Window("expiry", _next_end, in_one_step(_closing), _may_end)


def without_expired(graph: Graph | None, now: int) -> Graph | None:
    """Return a graph as it is at `now` (ms): itself, or a copy in which what has expired is forgotten."""
    if graph is None or graph.expires_next > now:
        return graph
    copy = Graph.unpack(graph.pack())
    while copy.expires_next <= now:
        for event in _closing(copy, copy.expires_next):
            copy.fold(event)
    return copy
