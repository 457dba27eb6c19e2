"""Receiving a graph's own events from another log, and moving a graph away (state/standing/placement.py).

Events are received in their order, each once: events that the graph already has are skipped, so a sender may begin
again.  In the log they look as if they had happened here, except for their sources, which are elsewhere.

A graph that left may come back: what it was here is the beginning of what it is there, so only the rest follows.

A move is decided where the graph leaves: there, `finish` and `cancel` exclude each other.  So its receiver checks the
graph first, and opens it once the move is finished.  What a cancelled move brought stays closed; a later one goes on.
A graph that has no more events than its receiver checked may leave without being fenced before.

A mover may stand still while another run of its move ends, and the graph moves on, even back.  So a graph's moves are
counted, and each message has the number of its move (`hop`): one of an earlier move than is known here is refused.

An erasure destroys the graph's keys here.  So it is sent in a message of its own: its key must exist when it is
decided, and the events after it may need another key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from emgas.messages.transfer import Move, Receive
from state.errors import UnreadableEventError
from state.events.events import (
    UNSTAMPED,
    DataEvent,
    GraphEvent,
    GraphMoved,
    GraphReceived,
    Sealed,
    SubjectErased,
    decode_as,
)
from state.graph.graph import Graph
from state.standing.placement import Placement
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import AlreadyDoneError, Deciding, decides
from streams.ingest.verbs.refusals import ElsewhereError, existing, moved

PHASES: Mapping[str, Any] = {"begin": "leaving", "finish": "left", "cancel": "stayed"}
EXISTS = (
    "graph {!r} exists here: its events cannot be mixed with others. Import under another name (`--graph NAME`, of a "
    "copy `--as NAME`), or into another memory"
)
ERASED_HERE = (
    "graph {!r} was moved from here, and what stayed here was erased since, so the rest cannot follow it: import under "
    "another name (`--graph NAME`, of a copy or move `--as NAME`)"
)
EARLIER = (
    "graph {0!r} was received here with {1} events, and comes with {2} now: events of both may differ by now. Import "
    "under another name (`--graph NAME`, of a copy `--as NAME`), or move the graph instead of copying it"
)
ERASED_THERE = (
    "graph {0!r} lives here since it was received with {1} events, and what stayed where it left was erased since: "
    "erase it here as well if all of it is to go"
)
IN_CLEAR = (
    "graph {!r} was encrypted where it comes from, and new graphs are not encrypted here: set EMGAS_ENCRYPTION=on for "
    "this memory"
)
LEFT = (
    "graph {!r} was moved to {}, and lives there: move it back from there. If it is incomplete there, run "
    "`emgas admin graph move` again first. If that memory is lost, export the graph here (`--exact`), and import it "
    "under another name"
)
STAYED = (
    "graph {!r} stays here: its move did not begin first, or was cancelled. To move it, run `emgas admin graph move` "
    "again"
)
GREW = (
    "graph {!r} has {} events here, and {} arrived: it went on meanwhile, or its move was cancelled and began again. "
    "Run `emgas admin graph move` again"
)
OVERTAKEN = (
    "graph {!r} is at its move {} here, and this is of move {}: another run has gone on since, or this emgas is too "
    "old. To move the graph, run `emgas admin graph move` again"
)
CLEAR_HERE = (
    "graph {!r} was encrypted where it comes from, and what stayed here is in clear: import under another name "
    "(`--graph NAME`, of a copy or move `--as NAME`)"
)


@decides(Receive)
def receive(request: Receive, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Take over the next events of a graph; without any, check that all are here, and let the graph live if it may."""
    placement = context.state.placement(request.graph)
    if placement is not None:
        _check_newest(request, placement)
    if placement is not None and (placement.status, placement.place) == ("received", request.origin):
        if placement.events != request.total:
            why = ERASED_THERE if request.hop else EARLIER
            raise RejectedError(why.format(request.graph, placement.events, request.total))
        raise AlreadyDoneError(f"graph {request.graph!r} is already complete here")
    begun = _begun(request, graph, placement, context)
    count = graph.events if graph is not None else 0
    if request.first > count:
        raise RejectedError(f"graph {request.graph!r} has {count} events here: send event {count} next")
    if not request.events:
        return [*_checked(request, graph, begun, context)]
    events = [_received(request, value, context) for value in request.events[count - request.first :]]
    if not events:
        raise AlreadyDoneError("these events are here already")
    return [*begun, *events]


def _check_newest(request: Receive, placement: Placement) -> None:
    """Raise RejectedError for a message of an earlier move of the graph than the newest one that is known here."""
    if request.origin not in (placement.place, placement.origin) or not placement.hop:
        return  # another history, or one whose moves are not counted
    if placement.status == "left" and request.hop <= placement.hop:
        raise ElsewhereError(moved(request.graph, placement.place), placement.place)
    if request.hop < placement.hop:
        raise RejectedError(OVERTAKEN.format(request.graph, placement.hop, request.hop))


def _begun(
    request: Receive, graph: Graph | None, placement: Placement | None, context: Deciding
) -> list[GraphReceived]:
    """Begin to receive a graph that is not here, or by a later move.  Raises RejectedError where another one is."""
    if placement is not None and (placement.status, placement.place) == ("receiving", request.origin):
        later = GraphReceived(
            graph=request.graph, origin=request.origin, events=placement.events, hop=request.hop, **UNSTAMPED
        )
        return [later] if request.hop > placement.hop else []
    returns = placement is not None and (placement.status, placement.origin) == ("left", request.origin)
    if not returns and (graph is not None or placement is not None):
        raise RejectedError(EXISTS.format(request.graph))
    here = graph.events if graph is not None else 0
    if returns and placement is not None and here != placement.events:
        raise RejectedError(ERASED_HERE.format(request.graph))
    if request.encrypted and not (context.keys.of(request.graph) if here else context.shared.encrypts):
        raise RejectedError((CLEAR_HERE if here else IN_CLEAR).format(request.graph))
    return [GraphReceived(graph=request.graph, origin=request.origin, events=here, hop=request.hop, **UNSTAMPED)]


def _received(request: Receive, value: str, context: Deciding) -> GraphEvent:
    """Read an event as it will lie here.  Raises RejectedError for one that no export holds."""
    try:
        event = decode_as(GraphEvent, value.encode())
    except UnreadableEventError as error:
        raise RejectedError(str(error)) from None
    if event.graph != request.graph or isinstance(event, Sealed):
        raise RejectedError(f"not an event of graph {request.graph!r} that can be read: export the graph again")
    if isinstance(event, SubjectErased):
        if len(request.events) > 1:
            raise RejectedError("an erasure must come in a message of its own")
        event = replace(event, keys=_living(request.graph, context))
    return replace(event, src=None) if hasattr(event, "src") else event


def _living(graph_id: str, context: Deciding) -> list[str]:
    return sorted(name for name, key in context.keys.of(graph_id).items() if not key.is_destroyed)


def _checked(
    request: Receive, graph: Graph | None, begun: list[GraphReceived], context: Deciding
) -> Sequence[DataEvent]:
    """Complete a graph if it is what was sent, unless it is only to be checked.  Raises RejectedError if it is not.

    A graph that left is opened only after a check, which notes that it comes back.  An opening without one, by a move
    that does not count, is late: the graph came and moved on meanwhile.
    """
    placement = context.state.placement(request.graph)
    if begun and request.opens and placement is not None and not request.hop:
        raise ElsewhereError(moved(request.graph, placement.place), placement.place)
    completed = _complete(request, graph, placement, context)
    if request.opens:
        return [completed]
    if not begun:
        raise AlreadyDoneError(f"all of graph {request.graph!r} is here, and closed until it has left the other memory")
    return begun


def _complete(request: Receive, graph: Graph | None, placement: Placement | None, context: Deciding) -> GraphReceived:
    """Return what completes a graph.  Raises RejectedError if it is not what was sent."""
    count, digest = (graph.events, graph.digest()) if graph is not None else (0, "")
    if count != request.total or digest != request.digest:
        raise RejectedError(
            f"graph {request.graph!r} has {count} events and digest {digest} here, and was to have {request.total} and "
            f"{request.digest}: it stays closed. If what had arrived was erased here, choose another name (`--as "
            "NAME`). Else send the rest; if it has all, report this"
        )
    if request.opens and placement is not None and placement.events:
        context.notes.append(f"it came back: {placement.events} of its events were here from before it left")
    return GraphReceived(
        src=context.source,
        graph=request.graph,
        origin=request.origin,
        complete=True,
        events=count,
        hop=request.hop,
        **UNSTAMPED,
    )


@decides(Move)
def move(request: Move, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Fence a graph that leaves, record where it is once it has left, or cancel the move."""
    leaves = existing(request, graph)
    placement = context.state.placement(request.graph)
    leaving = placement if placement is not None and placement.status in ("leaving", "left") else None
    if placement is not None and placement.status == "receiving":
        raise RejectedError(f"graph {request.graph!r} is incomplete: import the rest of it first")
    if request.phase != "cancel" and leaving is not None and leaving.place != request.to:
        raise RejectedError(f"graph {request.graph!r} is being moved, or was moved, to {leaving.place}")
    if request.phase == "finish" and leaving is None and not (request.events and request.hop):
        raise RejectedError(STAYED.format(request.graph))
    hop = _hop(request, placement, is_under_way=leaving is not None)
    if request.phase == "finish" and request.events not in {None, leaves.events}:
        raise RejectedError(GREW.format(request.graph, leaves.events, request.events))
    if request.phase == "cancel" and leaving is not None and leaving.status == "left":
        raise RejectedError(LEFT.format(request.graph, leaving.place))
    status = leaving.status if leaving is not None else None
    if status == {"cancel": None, "begin": status or "", "finish": "left"}[request.phase]:
        raise AlreadyDoneError(f"graph {request.graph!r}: this is done already")
    fields = {"src": context.source, "graph": request.graph, "to": request.to, "phase": PHASES[request.phase]}
    return [GraphMoved(**fields, origin=request.origin, events=leaves.events, hop=hop, **UNSTAMPED)]


def _hop(request: Move, placement: Placement | None, *, is_under_way: bool) -> int:
    """Return the number of a move.  Raises RejectedError for a request of another one than is under way, or is next."""
    newest = placement.hop if placement is not None else 0
    if request.phase == "cancel":
        return newest
    awaited = newest if is_under_way else newest + 1
    if request.hop not in ((awaited,) if newest else (awaited, 0)):
        raise RejectedError(OVERTAKEN.format(request.graph, newest, request.hop))
    return request.hop
