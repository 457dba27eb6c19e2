"""A request to end a conversation, and the events that it becomes: its end, and what it was about."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from emgas.messages.sessions import EndSession
from processors.lifecycle.sessions import ended, going_on
from processors.recall.reports.session_summaries import summed_up
from state.events.events import GraphEvent, SessionEnded, TurnRecorded
from state.graph.graph import Graph
from state.partition import Partition
from streams.errors import RejectedError

TextOf = Callable[[Graph, int], TurnRecorded]


def parts_of(request: EndSession, state: Partition, source: int) -> list[GraphEvent]:
    """Decide which events a request at offset `source` of `turns` becomes.  Raises RejectedError."""
    graph = state.graph(request.graph)
    passages = [] if graph is None else going_on(graph, request.session)
    if graph is None or not passages:
        raise RejectedError(f"nothing was said in session {request.session!r} since it ended last: nothing to end")
    end = ended(graph, request.session, at=graph.clock, reason="said", through=passages[-1])
    return with_summaries([replace(end, src=source)], graph, state.text_of)


def with_summaries(events: Iterable[GraphEvent], graph: Graph, text_of: TextOf) -> list[GraphEvent]:
    """Add to the ends among events, which `graph` is yet to fold, what each conversation was about.

    One that is lost, because we die between two of them, is computed by whoever asks for it.
    """
    found: list[GraphEvent] = []
    for event in events:
        found.append(event)
        if isinstance(event, SessionEnded) and (summary := summed_up(graph, text_of, event)) is not None:
            found.append(summary)
    return found
