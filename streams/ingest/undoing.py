"""What can be taken back of a graph's events: what it has, not too far back, not twice."""

from __future__ import annotations

from state.graph.graph import Graph
from state.partition import Partition


def why_not(state: Partition, graph: Graph, first: int, last: int) -> str | None:
    """Say why these events cannot be taken back, None if they can."""
    if first >= graph.events:
        return f"graph {graph.graph_id!r} has {graph.events} events, counted from 0: it has no event {first}"
    if first > last:
        return f"the last event to undo, {last}, lies before the first, {first}"
    if first < graph.undoable_from:
        last_events = graph.events - graph.undoable_from
        return (
            f"graph {graph.graph_id!r} can undo its last {last_events} events; to go further back, make a branch: "
            "emgas replay branch"
        )
    if state.counting(graph, first, last) == 0:
        return f"events {first} to {last} of graph {graph.graph_id!r} are taken back already: nothing left to undo"
    return None
