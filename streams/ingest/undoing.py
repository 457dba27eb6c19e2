"""What can be taken back of a graph's events: what it has, not too far back, not twice; and what only an admin may."""

from __future__ import annotations

from typing import Final

from emgas.wire import Record
from state.events.events import AccessGranted, AccessRevoked, GraphConfigured, Retracted
from state.graph.graph import Graph
from state.partition import Partition
from streams.ingest.access import holds

ADMINS: Final = (AccessGranted, AccessRevoked, GraphConfigured)


def why_not(state: Partition, graph: Graph, undo: Retracted, record: Record) -> str | None:
    """Say why these events cannot be taken back, or not by who sent `record`; None if they can."""
    first, last = undo.first, undo.last
    if first < graph.undoable_from:
        last_events = graph.events - graph.undoable_from
        return (
            f"graph {graph.graph_id!r} can undo its last {last_events} events; to go further back, make a branch: "
            "emgas replay branch"
        )
    found = state.turned(undo)
    if not found:
        return f"events {first} to {last} of graph {graph.graph_id!r} are taken back already: nothing left to undo"
    if any(isinstance(event, ADMINS) for event in found) and not holds("admin", record, graph):
        return (
            f"events {first} to {last} of graph {graph.graph_id!r} decide who may do what in it, or how it lives: to "
            "undo them needs the right to admin"
        )
    return None


def why_no_range(graph: Graph, first: int, last: int) -> str | None:
    """Say why there are no such events, None if there are."""
    if first >= graph.events:
        return f"graph {graph.graph_id!r} has {graph.events} events, counted from 0: it has no event {first}"
    if first > last:
        return f"the last event to undo, {last}, lies before the first, {first}"
    return None
