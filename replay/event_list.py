"""The events of one graph as the log holds them, each with its ordinal, and whether it counts: what an undo picks."""

from __future__ import annotations

from typing import NamedTuple

from replay.accepted_events import AcceptedEvents
from replay.log import LogReader
from state.erasure import erased_by
from state.events.events import GraphEvent, SubjectErased
from state.events.registry import SPECS
from state.retraction import surviving


class ListedEvent(NamedTuple):
    """One event of a graph.

    ordinal   its position among the graph's events, from 0: what an undo names
    offset    where it is in the log            recorded  when it came to lie there, the log's timestamp, ms
    counts    whether it is in the graph: it was not taken back, or its undo was
    """

    ordinal: int
    offset: int
    recorded: int
    event: GraphEvent
    counts: bool


async def event_list(log: LogReader, partition: int, graph_id: str) -> list[ListedEvent]:
    """List the events of a graph that lives in `partition` of `log`; none if it was never written to.

    Raises as `AcceptedEvents.read`.
    """
    accepted = AcceptedEvents().read(log, partition)
    own_events = [(record, event) async for event, record in accepted if event.graph == graph_id]
    counts = surviving([event for _, event in own_events])
    erased = erased_by(
        {ordinal: event for ordinal, (_, event) in enumerate(own_events) if isinstance(event, SubjectErased)}
    )
    standing = [erased.standing(ordinal, event) for ordinal, (_, event) in enumerate(own_events)]
    return [
        ListedEvent(ordinal, record.offset, record.timestamp, now or event, counts[ordinal] and now is not None)
        for ordinal, ((record, event), now) in enumerate(zip(own_events, standing, strict=True))
    ]


def as_far_back(events: list[ListedEvent], count: int) -> int | None:
    """Find the ordinal from which on the last `count` events that count lie; None without any.

    The vector of a turn goes with the turn, and is not counted itself.
    """
    counting = [each.ordinal for each in events if each.counts and SPECS[type(each.event)].is_step]
    return counting[-min(count, len(counting))] if counting and count else None


def since(events: list[ListedEvent], recorded: int) -> int | None:
    """Find the ordinal of the first event that was recorded at `recorded` (ms) or later; None without any.

    A log's timestamps may go back a little where workers' clocks differ: nothing before it was recorded later.
    """
    return next((each.ordinal for each in events if each.recorded >= recorded), None)
