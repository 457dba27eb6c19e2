"""Count the turns, events and bytes of each graph in a log, as its writers appended them.

Only what a fold accepts is counted, so nothing counts twice.  Questions leave no trace in the log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from replay.accepted_events import AcceptedEvents
from replay.log import LogReader
from state.events.events import AnyEvent, Claim, TurnRecorded
from state.standing.quotas import COUNTING, Limit, Quotas, tag_of


@dataclass
class Usage:
    """Counts of a graph, or of several.  bytes: of the records' keys and values, before Kafka compresses them."""

    graphs: int = 0
    turns: int = 0
    events: int = 0
    bytes: int = 0

    def add(self, other: Usage) -> None:
        """Add the counts of others."""
        self.graphs += other.graphs
        self.turns += other.turns
        self.events += other.events
        self.bytes += other.bytes


async def usage(
    log: LogReader, partition: int, since: int = 0, locked: dict[str, str] | None = None
) -> dict[str, Usage]:
    """Count what was appended to a partition at `since` (ms) or later, by graph.

    With `locked`, graphs whose keys are missing are noted there, and count only as far as they can be read.
    """
    by_graph: defaultdict[str, Usage] = defaultdict(lambda: Usage(graphs=1))
    async for event, record in AcceptedEvents().read(log, partition, locked=locked):
        if record.timestamp >= since:
            counts = by_graph[event.graph]
            counts.turns += isinstance(event, TurnRecorded)
            counts.events += 1
            counts.bytes += len(record.key or b"") + len(record.value)
    return dict(by_graph)


def by_prefix(by_graph: Mapping[str, Usage], separator: str) -> dict[str, Usage]:
    """Add up graphs whose names are the same up to a separator; a name without one stands for itself."""
    sums: defaultdict[str, Usage] = defaultdict(Usage)
    for name, counts in by_graph.items():
        sums[name.partition(separator)[0]].add(counts)
    return dict(sums)


def total(counts: Iterable[Usage]) -> Usage:
    """Add up all."""
    result = Usage()
    for each in counts:
        result.add(each)
    return result


async def quota_of(log: LogReader, partition: int, graph: str, subject: str | None) -> Limit | None:
    """Return a quota of a graph, or of a subject in it, and what of it is used; None for none."""
    quotas = Quotas()

    def note(event: AnyEvent) -> None:
        if isinstance(event, COUNTING):
            quotas.apply(event)
        elif isinstance(event, Claim):
            quotas.restart(event)

    async for _ in AcceptedEvents(on_control=note).read(log, partition, of=""):
        pass  # graphs' own events say nothing of quotas
    quota = quotas.of(graph)
    return quota.limits.get(tag_of(graph, subject)) if quota is not None else None
