"""Following a log into a sink: the rows of every graph, as the fold up to a position has them, with that position.

    sink = f(log[0..next))       whatever was written, and wherever its writer died

A sink keeps its position in the same transaction as the rows, so what it holds is always the rows at that position.
A restarted sink folds the log up to there without writing, and goes on.  So it never reads the sink's rows, which other
programs may read, join and copy.  Encrypted graphs are left out: erased content must not stay in another database.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple, Protocol

from emgas.errors import EmgasError
from emgas.wire import Record
from replay.accepted_events import decoded, fold_record
from replay.graph_rows import Changes, GraphRows, changes, rows_of
from replay.log import LogReader, keys_of
from state.events.events import GraphEvent
from state.partition import Partition
from state.store.store import MemoryStore

ANOTHER: Final = "another sink writes there, too: let one of them be enough"


class SinkPosition(NamedTuple):
    """The position of a sink: the next offset of `events`, and the chain of the log before it."""

    next_offset: int
    chain: str


class SinkError(EmgasError):
    """A sink cannot be written.  Operator action: in the text."""


class Sink(Protocol):
    """A destination of rows.  Raises SinkError."""

    async def position(self, partition: int) -> SinkPosition | None:
        """Return how far a partition is; None for one that was never written."""

    async def write(
        self, partition: int, before: SinkPosition | None, after: SinkPosition, changed: Sequence[Changes]
    ) -> None:
        """Write rows and position, all or nothing; raise SinkError if the position is not `before`: another writes."""

    async def close(self) -> None:
        """Close it."""


class PartitionSink:
    """Brings a sink up to the end of one partition, as often as it is asked to."""

    def __init__(self, log: LogReader, partition: int, sink: Sink, batch: int = 500) -> None:
        """Follow `log`.  batch: records written together."""
        self._log = log
        self._partition = partition
        self._sink = sink
        self._batch = batch
        self._keys = keys_of(log)
        self._state = Partition(MemoryStore(), rebuilding=True, graph_keys=self._keys)
        self._position: SinkPosition | None = None
        self._next = -1  # offset that is folded next; -1: not begun

    async def catch_up(self) -> AsyncIterator[int]:
        """Write what the log has and the sink has not; yield the count of rows of each transaction.

        Raises SinkError, TransportError, and what folding raises.
        """
        if self._next < 0:
            await self._begin()
        _, end = await self._log.bounds(self._partition)
        async for records in self._log.read(self._partition, self._next, end):
            for at in range(0, len(records), self._batch):
                yield await self._written(records[at : at + self._batch])

    async def _begin(self) -> None:
        """Fold the log up to where the sink is."""
        first, end = await self._log.bounds(self._partition)
        self._position = await self._sink.position(self._partition)
        if first > 0:
            raise SinkError(
                f"partition {self._partition} of the log has lost its head: nothing can be folded from there"
            )
        self._next = first
        if self._position is None:
            return
        if self._position.next_offset > end:
            raise SinkError(f"partition {self._partition} of this sink is ahead of the log: it is of another one")
        async for records in self._log.read(self._partition, first, self._position.next_offset):
            for record in records:
                await fold_record(self._state, self._log, self._partition, record)
            self._state.flush()
        self._next = self._position.next_offset
        if self._state.position.chain.hex() != self._position.chain:
            raise SinkError(f"partition {self._partition} of this sink is of another log: give this one another sink")

    async def _written(self, records: Sequence[Record]) -> int:
        events = [await decoded(self._log, self._partition, record) for record in records]
        graphs = sorted({event.graph for _, event in events if isinstance(event, GraphEvent)})
        before = {graph: rows_of(self._state.graph(graph)) for graph in graphs if not self._keys.of(graph)}
        for record in records:
            await fold_record(self._state, self._log, self._partition, record)
        self._state.flush()
        changed = [each for graph, rows in before.items() for each in changes(graph, rows, self._rows_now(graph))]
        after = SinkPosition(records[-1].offset + 1, self._state.position.chain.hex())
        await self._sink.write(self._partition, self._position, after, changed)
        self._position, self._next = after, after.next_offset
        return sum(len(each.put) + len(each.gone) for each in changed)

    def _rows_now(self, graph: str) -> GraphRows:
        return GraphRows() if self._keys.of(graph) else rows_of(self._state.graph(graph))
