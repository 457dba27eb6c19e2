"""Erasing a turn, a speaker or a whole graph, by destroying the keys of what they said.

Only a graph that was encrypted from its first event can be erased: destroying a key does not remove clear text.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from emgas.messages.turns import Erase
from processors.lifecycle.decay.erasing import Erasure, erasures
from state.erasure import erased_by
from state.events.events import UNSTAMPED, DataEvent, GraphEvent, Sealed, SubjectErased, TurnRecorded, decode
from state.graph.graph import Graph
from state.graph.pieces import is_piece_of
from state.graph.tables.passage_table import ERASED
from state.partition import Partition
from state.sealing.keyring import read_as
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import AlreadyDoneError, Deciding, decides
from streams.ingest.verbs.refusals import existing

NOT_ENCRYPTED = (
    "graph {!r} {} not encrypted: its texts are in the log in clear, and log records cannot be deleted. "
    "`emgas change erase` replaces an embedded memory by an encrypted copy without them; on Kafka, make the copy with "
    "`emgas replay branch --without {}` and EMGAS_ENCRYPTION=on, and delete this memory: docs/security.md"
)
NO_SUCH_TURN = (
    "graph {!r} holds no such turn: nothing to erase. An erased speaker's name is not kept: if the answer to an "
    "earlier request was lost, it was done; else they never spoke here"
)


@decides(Erase)
def erase(request: Erase, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Erase a subject; the last part accounts for the record, as of a request to forget.

    An erased speaker's name is not kept: a request that names them again finds no turn.  Raises
    AlreadyDoneError if all that the request names is erased.
    """
    if request.whole and request.graph in context.state.unavailable:
        parts = [_unreadable_graph(request.graph, context.state)]
    else:
        parts = _parts(request, existing(request, graph), context)
    context.unfolded.births.discard(request.graph)
    if elsewhere := _elsewhere(request.graph, context.state):
        context.notes.append(elsewhere)
    return [*parts]


def _elsewhere(graph_id: str, state: Partition) -> str:
    """Write where a graph lives that left: only what stayed of it is erased here."""
    placement = state.placement(graph_id)
    if placement is None or placement.status != "left":
        return ""
    return f"only what stayed here is erased: graph {graph_id!r} was moved to {placement.place}, erase it there as well"


def _parts(request: Erase, graph: Graph, context: Deciding) -> list[SubjectErased]:
    """Erase a subject, and say again what is dark though no erasure names it: the log lost the one that did.

    A fold that read it before counts it until an erasure says so; a request that was lost with its event comes again.
    """
    graph_id, keys = graph.graph_id, context.keys
    if not keys.of(graph_id):
        raise RejectedError(NOT_ENCRYPTED.format(graph_id, "is", graph_id))
    values = context.state.rows_of(graph_id)
    events = [read_as(GraphEvent, value, keys) for value in values]
    erased = erased_by({at: event for at, event in enumerate(events) if isinstance(event, SubjectErased)})
    if any(not isinstance(decode(value), Sealed | SubjectErased) for value in values[erased.start :]):
        raise RejectedError(NOT_ENCRYPTED.format(graph_id, "was born", graph_id))
    living = sorted(name for name, key in keys.of(graph_id).items() if not key.is_destroyed)
    dark = {at: event.key for at, event in enumerate(events) if isinstance(event, Sealed) and not erased.takes(at)}
    is_known = request.turn is not None and graph.passages.knows(request.turn) == ERASED
    if not dark and (not living or is_known):
        done = f"this is already erased permanently; digest of the graph: {graph.digest()}"
        raise AlreadyDoneError("; ".join(filter(None, [done, _elsewhere(graph_id, context.state)])))
    if request.whole or not living:
        names, everything = sorted({*living, *dark.values()}), Erasure([], [], [])
        return [SubjectErased(graph=graph_id, whole=True, keys=names, **everything._asdict(), **UNSTAMPED)]
    standing = [erased.standing(at, event) for at, event in enumerate(events)]
    parts = [
        SubjectErased(graph=graph_id, whole=False, keys=living, **part._asdict(), **UNSTAMPED)
        for part in erasures(standing, _subject(request), dark)
    ]
    if not parts:
        raise RejectedError(NO_SUCH_TURN.format(graph_id))
    if dark and request.turn is not None:  # it may be one of those, and is not to come again under its id
        parts[-1] = replace(parts[-1], turns=sorted({*parts[-1].turns, request.turn}))
    return parts


def _unreadable_graph(graph_id: str, state: Partition) -> SubjectErased:
    """Erase all of a graph that cannot be read: the event names every key that its records name."""
    records = [event for event in map(decode, state.rows_of(graph_id)) if isinstance(event, Sealed)]
    if graph_id in state.damaged or not records:
        raise RejectedError(f"the store of graph {graph_id!r} is damaged and is being rebuilt: erase it afterwards")
    names = sorted({event.key for event in records})
    return SubjectErased(graph=graph_id, whole=True, keys=names, turns=[], events=[], instead=[], **UNSTAMPED)


def _subject(request: Erase) -> Callable[[TurnRecorded], bool]:
    if (turn := request.turn) is not None:
        return lambda event: event.id == turn or is_piece_of(event, turn)
    return lambda event: event.speaker == request.speaker
