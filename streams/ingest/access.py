"""Who may do what in a graph: what a record needs, and whether the subject that it names has that.

A record without a subject comes from who runs the memory.  What rights mean: emgas/messages/rights.py.
"""

from __future__ import annotations

from typing import Any, Final

from emgas.messages.advice import Advice
from emgas.messages.queries import Query
from emgas.messages.rights import Grant, Revoke, Right
from emgas.messages.topics import Command, OfGraph
from emgas.messages.turns import Configure, Erase, Forget, Undo
from emgas.wire import SUBJECT, Record, as_mapping
from state.events.events import UNSTAMPED, AccessGranted, AccessRevoked
from state.graph.graph import Graph
from streams.errors import RejectedError

_ADMIN: Final = (Configure, Erase, Grant, Revoke, Advice)


def needed(command: Command) -> Right:
    """Tell which right a record of `turns` needs."""
    if isinstance(command, _ADMIN):
        return "admin"
    return "forget" if isinstance(command, Forget | Undo) else "write"


def check_command(command: Command, record: Record, graph: Graph | None) -> None:
    """Raise RejectedError unless the subject of a record of `turns` may do what it asks for."""
    if graph is not None and graph.access:
        check(needed(command), record, graph)


def check_question(question: OfGraph, record: Record, graph: Graph | None) -> None:
    """Raise RejectedError unless the subject of a record of `queries` may ask that."""
    check("read", record, graph)
    if isinstance(question, Query) and question.reinforce:
        check("write", record, graph)


def check(right: Right, record: Record, graph: Graph | None) -> None:
    """Raise RejectedError unless the subject that a record names, if it names one, has a right in a graph."""
    if graph is None or not graph.access:
        return
    subject = as_mapping(record.headers).get(SUBJECT)
    if subject is not None and right not in graph.access.get(subject.decode(errors="replace"), ()):
        raise RejectedError(f"this subject may not {right} in graph {graph.graph_id!r}: it was not granted that")


def granted(request: Grant | Revoke, graph: Graph | None, source: int) -> AccessGranted | AccessRevoked:
    """Decide which event a request at offset `source` of `turns` becomes.  Raises RejectedError."""
    rights = list(dict.fromkeys(request.rights))
    there: dict[str, Any] = {"graph": request.graph, "src": source, "subject": request.subject, "rights": rights}
    if isinstance(request, Grant):
        return AccessGranted(**there, **UNSTAMPED)
    if graph is None or not set(rights) & set(graph.access.get(request.subject, ())):
        raise RejectedError(f"graph {request.graph!r} did not grant this subject any of that: nothing to revoke")
    return AccessRevoked(**there, **UNSTAMPED)
