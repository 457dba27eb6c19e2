"""The ledger of one graph: all of its events as the log holds them, each with its ordinal, and whether it counts."""

from __future__ import annotations

from typing import NamedTuple

from replay.log import LogReader
from state.errors import LogRewrittenError
from state.events.events import GraphEvent, TurnEmbedded, decode
from state.log_position import Acceptance, LogPosition
from state.retraction import surviving


class Entry(NamedTuple):
    """One event of a graph.

    ordinal   its position among the graph's events, from 0: what an undo names
    offset    where it lies in the log            recorded  when it came to lie there, the log's timestamp, ms
    counts    whether it is in the graph: it was not taken back, or its undo was
    """

    ordinal: int
    offset: int
    recorded: int
    event: GraphEvent
    counts: bool


async def ledger(log: LogReader, number: int, graph: str) -> list[Entry]:
    """Return the events of a graph that lives in partition `number` of `log`; none if nobody ever wrote to it.

    Raises LogRewrittenError when the log's beginning is gone, and what `decode` and `LogPosition.after` raise.
    """
    start, end = await log.bounds(number)
    if start > 0:
        raise LogRewrittenError(
            f"partition {number} begins at offset {start}: the head of the log is gone, and with it the beginning of "
            "every graph. Restore it; events must be kept for ever (retention.ms=-1)."
        )
    head, found = LogPosition(), list[tuple[int, int, GraphEvent]]()
    async for batch in log.read(number, start, end):
        for record in batch:
            event = decode(record.value)
            head, verdict = head.after(record.offset, event, record.value)
            if verdict is Acceptance.ACCEPTED and isinstance(event, GraphEvent) and event.graph == graph:
                found.append((record.offset, record.timestamp, event))
    counts = surviving([event for _, _, event in found])
    return [Entry(ordinal, *each, counts[ordinal]) for ordinal, each in enumerate(found)]


def as_far_back(entries: list[Entry], count: int) -> int | None:
    """Return the ordinal from which on the last `count` events that count lie; None without any.

    The vector of a turn goes with the turn, and is not counted itself.
    """
    counting = [entry.ordinal for entry in entries if entry.counts and not isinstance(entry.event, TurnEmbedded)]
    return counting[-min(count, len(counting))] if counting and count else None


def since(entries: list[Entry], recorded: int) -> int | None:
    """Return the ordinal of the first event that was recorded at `recorded` (ms) or later; None without any.

    A log's timestamps may go back a little where workers' clocks differ: nothing before it was recorded later.
    """
    return next((entry.ordinal for entry in entries if entry.recorded >= recorded), None)
