"""Reading a partition's log: record by record, or only the graph events that a fold accepts.

Code that rebuilds a graph reads here: which events of a log are a graph's is what a fold of the partition accepts
(state/log_position.py), and of that what carries the graph's name.  Undone events are still included
(state/retraction.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import cast

from emgas.wire import Record
from replay.log import LogReader, keys_of
from replay.skipped_records import instead_of
from state.errors import KeysError, LogRewrittenError, UnreadableEventError
from state.events.events import AnyEvent, GraphEvent, decode
from state.log_position import Acceptance, LogPosition, fingerprint
from state.partition import Folded, Partition
from state.sealing.keyring import Keyring, is_sealed, opened, read_as

AT_ONCE = 64  # records read without letting others in: some milliseconds


async def read_records(log: LogReader, partition: int, start: int, end: int) -> AsyncGenerator[Record, None]:
    """Yield the records with start <= offset < end, one by one."""
    batches = log.read(partition, start, end)
    try:
        async for batch in batches:
            for record in batch:
                yield record
    finally:  # a reader may hold a connection: let go of it at once when our caller is cancelled
        if isinstance(batches, AsyncGenerator):
            await batches.aclose()


async def end_behind(log: LogReader, partition: int, needed: int) -> int:
    """Read the offset after the log's last record.  Raises LogRewrittenError when it begins behind `needed`."""
    start, end = await log.bounds(partition)
    if start > needed:
        raise LogRewrittenError(
            f"partition {partition} begins at offset {start}, offset {needed} is needed: the head of the log is gone. "
            "Restore it; events must be kept permanently (retention.ms=-1)."
        )
    return end


def graph_event(value: bytes, keys: Keyring) -> GraphEvent:
    """Read the record value of an event that is known to be a graph's.  Raises as `read`."""
    return read_as(GraphEvent, value, keys)


async def decoded(log: LogReader, partition: int, record: Record) -> tuple[Record, AnyEvent]:
    """Decode a record, or what stands in its place.  Raises UnreadableEventError."""
    try:
        return record, decode(record.value)
    except UnreadableEventError as error:
        record = await instead_of(log, partition, record, error)
        return record, decode(record.value)


async def fold_record(state: Partition, log: LogReader, partition: int, record: Record) -> Folded:
    """Fold the log's next record into `state`, or what stands in its place.  Raises as `Partition.fold`."""
    try:
        return state.fold(record.offset, record.value)
    except UnreadableEventError as error:
        return state.fold(record.offset, (await instead_of(log, partition, record, error)).value)


def check_same(head: LogPosition, record: Record) -> None:
    """Raise LogRewrittenError if `record` lies where a fold stands at `head`, and is another than was folded there."""
    if record.offset == head.watermark and fingerprint(record.value) != head.last:
        raise LogRewrittenError(
            f"the log holds another record at offset {head.watermark} than was folded: it lost its end, and grew again"
        )


async def any_sealed(log: LogReader) -> bool:
    """Return whether any partition of a log holds a sealed event."""
    for partition in range(await log.partitions()):
        async for record in read_records(log, partition, *await log.bounds(partition)):
            if is_sealed(record.value):
                return True
    return False


def _ignore(event: AnyEvent) -> None:
    """Do nothing with an event that no graph folds."""


class AcceptedEvents:
    """Reads the graph events that a fold accepts which stands at `position`, and moves it on."""

    def __init__(self, position: LogPosition | None = None, on_control: Callable[[AnyEvent], object] = _ignore) -> None:
        """Begin at a position; call `on_control` with what a fold accepts and no graph folds."""
        self.position = position or LogPosition()
        self._on_control = on_control
        self._since_yield = 0

    async def read(
        self,
        log: LogReader,
        partition: int,
        end: int | None = None,
        *,
        of: str | None = None,
        locked: dict[str, str] | None = None,
    ) -> AsyncIterator[tuple[GraphEvent, Record]]:
        """Yield events with their records, from where reading stopped to before offset `end`, or to the log's end.

        Sealed events are opened, if their keys are not destroyed: only those of the graph `of`, if it is set, because
        the keys of others may be missing.  With `locked`, a graph whose key is missing is noted there, and why; none of
        its events is yielded from then on.  Lets others in every few milliseconds.  Raises LogRewrittenError when the
        log's beginning is gone, and what `decode` and `LogPosition.after` raise.
        """
        start, keys = self.position.watermark + 1, keys_of(log)
        last = await end_behind(log, partition, start)
        records = read_records(log, partition, start, last if end is None else min(end, last))
        try:
            async for read in records:
                record = read
                try:
                    event = decode(record.value)
                except UnreadableEventError as error:
                    record = await instead_of(log, partition, record, error)
                    event = decode(record.value)
                self.position, acceptance = self.position.after(record.offset, event, record.value)
                if acceptance is Acceptance.ACCEPTED and isinstance(event, GraphEvent):
                    result = event if of not in (None, event.graph) else _opened(event, keys, locked)
                    if result is not None:
                        yield result, record
                elif acceptance is Acceptance.ACCEPTED:
                    self._on_control(event)
                self._since_yield += 1
                if self._since_yield >= AT_ONCE:
                    self._since_yield = 0
                    await asyncio.sleep(0)
        finally:
            await records.aclose()


def _opened(event: GraphEvent, keys: Keyring, locked: dict[str, str] | None) -> GraphEvent | None:
    """Open an event; None for one of a graph that is noted in `locked`.  Raises KeysError where nothing is noted."""
    if locked is not None and event.graph in locked:
        return None
    try:
        return cast(GraphEvent, opened(event, keys))
    except KeysError as error:
        if locked is None:
            raise
        locked[event.graph] = str(error)
        return None


async def values_of(log: LogReader, partition: int, graph: str, end: int) -> list[bytes]:
    """Read the record values of all events of a graph before offset `end`.  Raises as `AcceptedEvents.read`."""
    accepted = AcceptedEvents().read(log, partition, end, of="")
    return [record.value async for event, record in accepted if event.graph == graph]
