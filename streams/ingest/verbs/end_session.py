"""Ending a conversation: its end, and a summary of what it was about."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from emgas.messages.sessions import EndSession
from processors.lifecycle.sessions.sessions import ended, going_on
from processors.recall.reports.session_summaries import summed_up
from state.events.events import DataEvent, GraphEvent, SessionEnded
from state.graph.graph import Graph, TextOf
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import Deciding, decides


@decides(EndSession)
def end_session(request: EndSession, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """End a conversation, and summarise it.

    The end accounts for the record, not the summary behind it: a lost summary is computed again on demand.
    """
    passages = [] if graph is None else going_on(graph, request.session)
    if graph is None or not passages:
        raise RejectedError(f"nothing was said in session {request.session!r} since it ended last: nothing to end")
    end = ended(graph, request.session, at=graph.clock, reason="said", through=passages[-1])
    return [*with_summaries([replace(end, src=context.source)], graph, context.state.text_of)]


def with_summaries(events: Iterable[GraphEvent], graph: Graph, text_of: TextOf) -> list[GraphEvent]:
    """Add a summary behind each end of a conversation among events that `graph` has not folded yet.

    A summary that is lost, because the worker dies before it, is computed again on demand.
    """
    summarised: list[GraphEvent] = []
    for event in events:
        summarised.append(event)
        if isinstance(event, SessionEnded) and (summary := summed_up(graph, text_of, event)) is not None:
            summarised.append(summary)
    return summarised
