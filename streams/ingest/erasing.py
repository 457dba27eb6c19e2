"""A request to erase, and the events that it becomes: what a subject is, and whether that can be erased at all.

Only what was encrypted from its birth can: destroying a key cannot take back what lies in the log in clear.
"""

from __future__ import annotations

from collections.abc import Callable

from emgas.messages.turns import Erase
from processors.lifecycle.erasing import Erasure, erasures
from state.erasure import erased_by
from state.events.events import UNSTAMPED, GraphEvent, Sealed, SubjectErased, TurnRecorded, decode
from state.graph.tables.passage_table import ERASED
from state.partition import Partition
from state.sealing.keyring import Keyring, read_as
from streams.errors import RejectedError

NOT_ENCRYPTED = (
    "graph {!r} {} not encrypted: its texts lie in the log in clear, and in every backup of it, and nothing can take "
    "them out of there. `emgas forget` lets nothing find them any more; to be rid of them, make a memory without it "
    "(`emgas replay branch --without {}`, with EMGAS_ENCRYPTION=on), and delete this one with its backups: "
    "docs/erasure.md"
)
NO_SUCH_TURN = (
    "graph {!r} holds no such turn: nothing to erase. An erased speaker's name is not kept: if the answer to an "
    "earlier request was lost, it was done; else they never spoke here"
)


def parts_of(request: Erase, state: Partition, keys: Keyring) -> list[SubjectErased]:
    """Decide which events a request becomes; none where all that it asks for is erased already.

    An erased speaker's name is not kept: a request that names them again finds no turn.  Raises RejectedError.
    """
    graph_id = request.graph
    if request.whole and graph_id in state.unavailable:
        return [_lost(graph_id, state)]
    graph = state.graph(graph_id)
    if graph is None:
        raise RejectedError(f"nobody has written to graph {graph_id!r}: nothing to erase")
    if not keys.of(graph_id):
        raise RejectedError(NOT_ENCRYPTED.format(graph_id, "is", graph_id))
    values = state.rows_of(graph_id)
    events = [read_as(GraphEvent, value, keys) for value in values]
    erased = erased_by({at: event for at, event in enumerate(events) if isinstance(event, SubjectErased)})
    if any(not isinstance(decode(value), Sealed | SubjectErased) for value in values[erased.start :]):
        raise RejectedError(NOT_ENCRYPTED.format(graph_id, "was born", graph_id))
    living = sorted(name for name, key in keys.of(graph_id).items() if not key.is_destroyed)
    if not living or (request.turn is not None and graph.passages.knows(request.turn) == ERASED):
        return []
    if request.whole:
        everything = Erasure([], [], [])
        return [SubjectErased(graph=graph_id, whole=True, keys=living, **everything._asdict(), **UNSTAMPED)]
    standing = [erased.standing(at, event) for at, event in enumerate(events)]
    found = [
        SubjectErased(graph=graph_id, whole=False, keys=living, **part._asdict(), **UNSTAMPED)
        for part in erasures(standing, _subject(request))
    ]
    if not found:
        raise RejectedError(NO_SUCH_TURN.format(graph_id))
    return found


def _lost(graph_id: str, state: Partition) -> SubjectErased:
    """Erase all of a graph that nobody can read: it names every key that its records name."""
    records = [event for event in map(decode, state.rows_of(graph_id)) if isinstance(event, Sealed)]
    if graph_id in state.damaged or not records:
        raise RejectedError(f"what is stored of graph {graph_id!r} is damaged and being folded anew: erase it then")
    names = sorted({event.key for event in records})
    return SubjectErased(graph=graph_id, whole=True, keys=names, turns=[], events=[], instead=[], **UNSTAMPED)


def _subject(request: Erase) -> Callable[[TurnRecorded], bool]:
    if request.turn is not None:
        return lambda event: event.id == request.turn
    return lambda event: event.speaker == request.speaker
