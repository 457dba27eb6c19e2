"""Graphs that move from or to another log, and what they accept and answer meanwhile.

    GraphReceived               receiving   takes the events of its origin, and nothing else; answers nothing, but
                                            where it is, if it left here and comes back
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
    comes_from  where a graph went that left here and comes back: it lives there until all of it is here
    """

    status: Literal["receiving", "received", "leaving", "left", "stayed"]
    place: str
    origin: str | None = None
    events: int = 0
    hop: int = 0
    comes_from: str | None = None

    @property
    def went_to(self) -> str | None:
        """Return where a graph is that left here; None for one that is here, or comes for the first time."""
        return self.place if self.status == "left" else self.comes_from

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
        self._by_graph = {keys.graph_of(key): msgspec.json.decode(value, type=Placement) for key, value in stored}

    def of(self, graph_id: str) -> Placement | None:
        """Return where a graph is; None for one that never came or went."""
        return self._by_graph.get(graph_id)

    def apply(self, event: GraphReceived | GraphMoved) -> tuple[bytes, bytes | None]:
        """Apply an event; return the key and value to store."""
        placement = _placement(event, self._by_graph.get(event.graph))
        if placement is None:
            self._by_graph.pop(event.graph, None)
            return keys.placed_key(event.graph), None
        self._by_graph[event.graph] = placement
        return keys.placed_key(event.graph), msgspec.json.encode(placement)

    def lines(self) -> list[str]:
        """List all of them, for a digest."""
        return [_line(name, each) for name, each in sorted(self._by_graph.items())]


def _placement(event: GraphReceived | GraphMoved, before: Placement | None) -> Placement | None:
    if isinstance(event, GraphReceived) and event.complete:
        return Placement("received", event.origin, events=event.events, hop=event.hop)
    if isinstance(event, GraphReceived):
        comes_from = before.went_to if before is not None else None
        return Placement("receiving", event.origin, events=event.events, hop=event.hop, comes_from=comes_from)
    if event.phase == "stayed" and not event.hop:
        return None  # of a log from before moves were counted
    return Placement(event.phase, event.to, event.origin, event.events, event.hop)


def _line(name: str, placement: Placement) -> str:
    hop = f" {placement.hop}" if placement.hop else ""
    return f"{name} {placement.status} {placement.place}{hop}\n"
