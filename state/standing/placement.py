"""Graphs that move from or to another log, and what they accept and answer meanwhile.

    GraphReceived               receiving   takes the events of its origin, and nothing else; answers nothing
    GraphReceived {complete}    received    a graph like any other; repeated events of its origin are skipped
    GraphMoved {leaving}        leaving     accepts nothing, and still answers
    GraphMoved {left}           left        accepts and answers nothing: it is elsewhere; it may come back
    GraphMoved {stayed}         stayed      a graph like any other again

A graph counts its moves: the number of the newest one, its hop, goes with it.  So a mover that stood still while the
graph moved on is recognised by its older number (streams/ingest/verbs/transfer.py).

These are control events: they are no events of the graph, so it has the same digest wherever it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from state.events.events import GraphMoved, GraphReceived
from state.store import keys

PLACES = (GraphReceived, GraphMoved)


class Placement(msgspec.Struct, frozen=True):
    """The state of a graph's move.

    place   the origin of a received graph, or the destination of a leaving one
    origin  of what leaves                  events  of it that were here as it began to come, came, or stay here
    hop     number of its newest move, as far as it is known here
    """

    status: Literal["receiving", "received", "leaving", "left", "stayed"]
    place: str
    origin: str | None = None
    events: int = 0
    hop: int = 0

    @property
    def answers(self) -> bool:
        """Return whether the graph answers questions here."""
        return self.status in ("received", "leaving", "stayed")

    @property
    def accepts(self) -> bool:
        """Return whether the graph takes turns and requests here, and its time moves on."""
        return self.status in ("received", "stayed")


class Placements:
    """The placements of a partition's graphs; most have none."""

    def __init__(self, stored: Iterable[tuple[bytes, bytes]] = ()) -> None:
        """Take up what is stored: keys and values."""
        self._by_graph = {
            keys.graph_of_placed_key(key): msgspec.json.decode(value, type=Placement) for key, value in stored
        }

    def of(self, graph_id: str) -> Placement | None:
        """Return where a graph is; None for one that never came or went."""
        return self._by_graph.get(graph_id)

    def apply(self, event: GraphReceived | GraphMoved) -> tuple[bytes, bytes | None]:
        """Apply an event; return the key and value to store."""
        placement = _placement(event)
        if placement is None:
            self._by_graph.pop(event.graph, None)
            return keys.placed_key(event.graph), None
        self._by_graph[event.graph] = placement
        return keys.placed_key(event.graph), msgspec.json.encode(placement)

    def lines(self) -> list[str]:
        """List all of them, for a digest."""
        return [_line(name, each) for name, each in sorted(self._by_graph.items())]


def _placement(event: GraphReceived | GraphMoved) -> Placement | None:
    if isinstance(event, GraphReceived):
        status: Literal["received", "receiving"] = "received" if event.complete else "receiving"
        return Placement(status, event.origin, events=event.events, hop=event.hop)
    if event.phase == "stayed" and not event.hop:
        return None  # of a log from before moves were counted
    return Placement(event.phase, event.to, event.origin, event.events, event.hop)


def _line(name: str, placement: Placement) -> str:
    hop = f" {placement.hop}" if placement.hop else ""
    return f"{name} {placement.status} {placement.place}{hop}\n"
