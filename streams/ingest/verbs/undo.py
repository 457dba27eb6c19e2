"""Undoing a range of a graph's events: which ranges can be undone, and which only an admin may undo."""

from __future__ import annotations

from typing import Final

from emgas.messages.turns import Undo
from state.events.events import UNSTAMPED, AccessGranted, AccessRevoked, DataEvent, GraphConfigured, Retracted
from state.graph.graph import Graph
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import Deciding, decides
from streams.ingest.verbs.refusals import existing
from streams.ingest.verbs.rights import holds

ADMINS: Final = (AccessGranted, AccessRevoked, GraphConfigured)


@decides(Undo)
def undo(request: Undo, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Retract a range of events, up to the newest if no end is named."""
    graph = existing(request, graph)
    last = min(request.last if request.last is not None else graph.events, graph.events - 1)
    _check_range(graph, request.first, last)
    event = Retracted(src=context.source, graph=request.graph, first=request.first, last=last, **UNSTAMPED)
    _check_retractable(graph, event, context)
    return [event]


def _check_range(graph: Graph, first: int, last: int) -> None:
    """Raise RejectedError unless the graph has these events."""
    if first >= graph.events:
        raise RejectedError(
            f"graph {graph.graph_id!r} has {graph.events} events, counted from 0: it has no event {first}"
        )
    if first > last:
        raise RejectedError(f"the last event to undo, {last}, lies before the first, {first}")


def _check_retractable(graph: Graph, event: Retracted, context: Deciding) -> None:
    """Raise RejectedError for events that are too old, retracted already, or an admin's to undo."""
    first, last = event.first, event.last
    if first < graph.undoable_from:
        last_events = graph.events - graph.undoable_from
        raise RejectedError(
            f"graph {graph.graph_id!r} can undo its last {last_events} events; to go further back, make a branch: "
            "emgas replay branch"
        )
    turned = context.state.turned(event)
    if not turned:
        raise RejectedError(
            f"events {first} to {last} of graph {graph.graph_id!r} are taken back already: nothing left to undo"
        )
    if any(isinstance(each, ADMINS) for each in turned) and not holds("admin", context.arrival, graph):
        raise RejectedError(
            f"events {first} to {last} of graph {graph.graph_id!r} decide who may do what in it, or how it lives: to "
            "undo them needs the right to admin"
        )
