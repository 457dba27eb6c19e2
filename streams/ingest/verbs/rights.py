"""Rights in a graph: checking the right that a record needs, granting and revoking rights.

A record without a subject comes from the operator, with all rights.  emgas/messages/rights.py explains the rights.

The header `rights` lists what a gateway's key may do.  It limits every command, and what a question sees of the past;
the gateway itself has checked which questions the key may ask.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from emgas.messages.requests import Command, GraphQuestion, Right
from emgas.messages.rights import Grant, Revoke
from emgas.wire import RIGHTS, SUBJECT, Record, as_mapping
from state.events.events import UNSTAMPED, AccessGranted, AccessRevoked, DataEvent
from state.graph.graph import Graph
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import Deciding, decides


def check_command(command: Command, record: Record, graph: Graph | None) -> None:
    """Raise RejectedError unless the subject of a record of `turns` has the right that its command needs."""
    if not holds(command.right, record, graph):
        raise _refused(command.right, command.graph)


def check_question(question: GraphQuestion, record: Record, graph: Graph | None) -> None:
    """Raise RejectedError unless the subject of a record of `queries` has the rights that its question needs."""
    subject = subject_of(record)
    for right in question.needed_rights():
        if graph is not None and not is_granted(right, subject, graph.access):
            raise _refused(right, question.graph)


def sees_forgotten(record: Record, graph: Graph | None) -> bool:
    """Return whether a question about a graph's past sees what was forgotten since."""
    return holds("forget", record, graph) or holds("admin", record, graph)


def holds(right: Right, record: Record, graph: Graph | None) -> bool:
    """Return whether the subject of a record has a right in a graph, by the gateway's key and by the graph."""
    key_rights = as_mapping(record.headers).get(RIGHTS)
    if key_rights is not None and right.encode() not in key_rights.split(b","):
        return False
    return graph is None or is_granted(right, subject_of(record), graph.access)


def is_granted(right: Right, subject: str | None, access: Mapping[str, Collection[str]]) -> bool:
    """Check whether a subject has a right in a graph with these grants; None is the operator, with all rights."""
    return subject is None or not access or right in access.get(subject, ())


def subject_of(record: Record) -> str | None:
    """Return the subject that a record names, None if it names none."""
    subject = as_mapping(record.headers).get(SUBJECT)
    return None if subject is None else subject.decode(errors="replace")


def _refused(right: Right, graph_id: str) -> RejectedError:
    return RejectedError(f"this subject may not {right} in graph {graph_id!r}: it was not granted that")


@decides(Grant, Revoke)
def change_rights(request: Grant | Revoke, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Grant rights, in a new graph too, or revoke rights that the subject has."""
    rights = list(dict.fromkeys(request.rights))
    fields: dict[str, Any] = {
        "graph": request.graph,
        "src": context.source,
        "subject": request.subject,
        "rights": rights,
        **UNSTAMPED,
    }
    if isinstance(request, Revoke):
        if graph is None or not set(rights) & set(graph.access.get(request.subject, ())):
            raise RejectedError(f"graph {request.graph!r} did not grant this subject any of that: nothing to revoke")
        return [*context.birth(request.graph, graph), AccessRevoked(**fields)]
    return [*context.birth(request.graph, graph), AccessGranted(**fields)]
