"""The one writer of a partition: claim, append, fold.  It knows nothing of Faust; its log is a protocol.

    claim()         append Claim, fold up to it: from here on, events of earlier writers are ignored by every fold
    append(events)  stamp them one after the other, append them all, wait for every ack, fold them, flush

What is appended by others in between (a zombie, a foreign program) is read back and folded too, in log order.  An own
event that the fold did not accept means that this worker no longer owns the partition: FencedError.  After any failure
the state of the log is unknown, so the process must stop (streams/worker/app.py) and its successor claims again;
nothing is skipped.

An append that fits behind what was folded may still follow other records: a broker may have lost the end of its log,
and others may have filled it up.  This does not happen while one connection reaches one leader.  So where the route is
another one than for the last append, the record before the append is read back, and all but the last of its own.  For a
claim this is done always.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple, Protocol
from uuid import uuid4

from emgas.errors import HaltedError
from emgas.wire import Record
from replay.accepted_events import check_same, fold_record, read_records, values_of
from replay.log import LogReader, keys_of
from state.errors import DiskFullError, LogRewrittenError
from state.events.events import AnyEvent, Claim, DataEvent, GraphEvent, SubjectErased, encode
from state.log_position import Acceptance, Draft, LogPosition, stamp
from state.partition import Partition, taken_back
from streams.errors import AppendFailedError, FencedError, WorkerHaltedError
from streams.ingest.sealing import Sealer
from streams.ingest.slices import Slices
from streams.transport.failpoints import Step, passing
from streams.transport.keys.key_store import refreshed
from streams.transport.routes import KeyValue


class AppendedEvent(NamedTuple):
    """An event as it is in the log: stamped, and its record value."""

    offset: int
    event: DataEvent
    value: bytes


class EventLog(LogReader, Protocol):
    """The topic `events`, readable and appendable."""

    async def append(self, partition: int, records: Sequence[KeyValue]) -> list[int]:
        """Append (key, value) records in order; return their offsets once all are acknowledged."""

    def route(self, partition: int) -> object:
        """Return how records reach the log now: equal to an earlier result if nothing of it has changed."""


class ProducedLog:
    """An EventLog that a reader reads and a producer appends to.

    send_all  appends records to a partition, in order; returns their offsets once all are acknowledged
    route     of a partition of the topic, as EventLog has it
    """

    def __init__(
        self,
        reader: LogReader,
        send_all: Callable[[int, Sequence[KeyValue]], Awaitable[list[int]]],
        route: Callable[[int], object],
    ) -> None:
        self.partitions = reader.partitions
        self.bounds = reader.bounds
        self.read = reader.read
        self.graph_keys = keys_of(reader)
        self._send_all = send_all
        self.route = route

    async def append(self, partition: int, records: Sequence[KeyValue]) -> list[int]:
        """Append in order; return the offsets once all are acknowledged."""
        return await self._send_all(partition, records)


class PartitionWriter:
    """Owns `state`, the fold of `partition` of `log`.  Appends wait for one another.

    partitions  of the topic             worker   its name, for the claim
    timeout     to wait for acks, s
    appended    called for each append with how long the acks and the fold took, s
    ignored     called with why the fold did not accept an event of another writer
    lost        called with how many turns are recorded as lost
    slices      of the event loop, which folding and windows share with others
    sealer      of what belongs to encrypted graphs

    `before_claim`: the position of the fold right before our claim.
    """

    def __init__(
        self,
        partition: int,
        state: Partition,
        log: EventLog,
        *,
        partitions: int,
        worker: str,
        timeout: float,
        appended: Callable[[float, float], object] = lambda acks, fold: None,
        ignored: Callable[[str], object] = lambda reason: None,
        lost: Callable[[int], object] = lambda count: None,
        slices: Slices | None = None,
        sealer: Sealer | None = None,
    ) -> None:
        self.partition = partition
        self._sealer = sealer or Sealer()
        self.state = state
        self._log = log
        self._partitions = partitions
        self._worker = worker
        self._timeout = timeout
        self._appended, self._ignored = appended, ignored
        self.lost = lost
        self.slices = slices or Slices(time.perf_counter)
        self._epoch = -1
        self._route = object()  # by which the append before went; unlike any
        self._before = self.before_claim = state.position
        self._turn_to_append = asyncio.Lock()
        self._folded = asyncio.Condition()

    async def claim(self, *, anew: bool = False, source_topic: str = "") -> None:
        """Claim the partition, to go on in the topic `turns` of that id.  Raises AppendFailedError, HaltedError."""
        async with self._turn_to_append:
            await self._sealer.check(self.state)
            nonce = uuid4().hex
            claim = Claim(
                writer=self._worker, partitions=self._partitions, nonce=nonce, anew=anew, source_topic=source_topic
            )
            (self._epoch,) = await self._append([(None, encode(claim))])
            self.before_claim = self._before
            self._check_owned()
            taken_back(self.state, {})  # keys that were born elsewhere while we only followed
            await self._sealer.finish_erasures(self.state)

    async def append(self, events: Sequence[DataEvent], drafts: Sequence[Draft | None] = ()) -> list[AppendedEvent]:
        """Stamp `events`, append and fold them, in order.  Raises FencedError, AppendFailedError, HaltedError.

        drafts  of the events, where they are written already (state/log_position.py); none of any
        """
        async with self._turn_to_append:
            self._check_owned()
            await self._sealer.prepare(self.state, events)
            drafted = list(zip(events, drafts or [None] * len(events), strict=True))
            stamped, records, decoded = _stamped(self.state.position, drafted, self._sealer.values(self.state))
            offsets = await self._append(records, decoded)
            if any(isinstance(event, SubjectErased) for event in events):
                await self._sealer.finish_erasures(self.state)
            placed = zip(offsets, stamped, records, strict=True)
            return [AppendedEvent(offset, event, value) for offset, event, (_, value) in placed]

    def _check_owned(self) -> None:
        if self.is_fenced:
            raise FencedError(
                f"partition {self.partition} was claimed by another worker at offset {self.state.position.epoch}"
            )

    async def take_back(self) -> list[str]:
        """Restore the graphs that were set aside and can be read by now; list them.  Raises TransportError.

        While the keys cannot be read, a graph that needs one stays set aside.
        """
        if not self.state.unavailable:
            return []
        if self.state.unavailable.keys() - set(self.state.damaged):
            await refreshed(self._sealer.keys)
        histories = {name: await self._every(name) for name in self.state.damaged}
        async with self._turn_to_append:
            back = taken_back(self.state, histories)
            await self._sealer.finish_erasures(self.state)
            return back

    async def _every(self, graph_id: str) -> list[bytes]:
        """Read the record values of all events of a graph from the log, as far as it is folded."""
        return await values_of(self._log, self.partition, graph_id, self.state.position.watermark + 1)

    async def last_record(self) -> Record | None:
        """Read the record that the state was folded up to; None if there is none, or it was a hole."""
        at = self.state.position.watermark
        records = [record async for batch in self._log.read(self.partition, max(at, 0), at + 1) for record in batch]
        return records[-1] if records else None

    @property
    def epoch(self) -> int:
        """Offset of our claim, -1 before it."""
        return self._epoch

    @property
    def is_fenced(self) -> bool:
        """Return whether another worker is known to have claimed the partition."""
        return self.state.position.epoch != self._epoch

    async def _append(self, records: Sequence[KeyValue], decoded: Sequence[AnyEvent | None] = (None,)) -> list[int]:
        """Append records, and fold each: as the event that it is known to hold, else as the event that is decoded."""
        passing(Step.APPEND)
        started = time.perf_counter()
        try:
            route = self._log.route(self.partition)
            offsets = await asyncio.wait_for(self._log.append(self.partition, records), self._timeout)
        except TimeoutError:
            raise AppendFailedError(f"no ack for partition {self.partition} within {self._timeout:.0f} s") from None
        except Exception as error:  # of whichever transport: after an error, none of them knows what the log holds
            raise AppendFailedError(f"the log refused an event of partition {self.partition}: {error}") from error
        acknowledged = time.perf_counter()
        passing(Step.ACK)
        if offsets and not self._route == route == self._log.route(self.partition):
            await self._check_there(dict(zip(offsets, (value for _, value in records), strict=True)))
        self._route = route
        with self.slices.work() as share:
            appended = zip(offsets, (value for _, value in records), decoded, strict=True)
            for offset, value, event in sorted(appended, key=itemgetter(0)):
                await self._fold_own(offset, value, event)
                await share.checkpoint()
        self.state.flush()
        self._appended(acknowledged - started, time.perf_counter() - acknowledged)
        passing(Step.FLUSH)
        await self._notify()
        await self._compact()
        return offsets

    async def _compact(self) -> None:
        """Compact the store, piece by piece, with a checkpoint between two pieces."""
        with self.slices.work() as share:
            while self.state.compact_step():
                await share.checkpoint()

    async def _fold_own(self, offset: int, value: bytes, decoded: AnyEvent | None) -> None:
        await self._catch_up(offset)
        self._before = self.state.position
        acceptance = self.state.fold(offset, value, decoded).acceptance
        passing(Step.FOLD)
        if acceptance is not Acceptance.ACCEPTED:
            raise FencedError(
                f"partition {self.partition}: our event at offset {offset} was not accepted ({acceptance.value})"
            )

    async def _check_there(self, appended: Mapping[int, bytes]) -> None:
        """Raise LogRewrittenError unless before the last of `appended` lie what was folded last, and the others of it.

        Earlier records of other writers are checked when they are folded.
        """
        head, first, last = self.state.position, min(appended), max(appended)
        start = max(head.watermark if first == head.watermark + 1 else first, 0)
        seen = start - 1
        if start < last:
            async for record in read_records(self._log, self.partition, start, last):
                check_same(head, record)
                if appended.get(record.offset, record.value) != record.value:
                    raise LogRewrittenError(
                        f"the log holds another record at offset {record.offset} than was appended: it lost its end"
                    )
                seen = record.offset
        if seen < last - 1:
            await self._check_shown(last)

    async def _catch_up(self, end: int) -> None:
        """Fold what others appended before `end`.  Raises LogRewrittenError where they wrote over what is folded.

        A broker that loses the end of the log lets others write there: what they claimed would never be seen.
        """
        head = self.state.position
        if head.watermark + 1 < end:
            await self._check_shown(end)
            async for batch in self._log.read(self.partition, max(head.watermark, 0), end):
                for record in batch:
                    check_same(head, record)
                    if record.offset > self.state.position.watermark:  # recovery may fold meanwhile what it has in hand
                        folded = await fold_record(self.state, self._log, self.partition, record)
                        if folded.acceptance is not Acceptance.ACCEPTED:
                            self._ignored(folded.acceptance.value)

    async def _check_shown(self, end: int) -> None:
        """Raise AppendFailedError unless the log shows everything that it holds before `end`.

        A new leader may report an old end (KIP-207): then acknowledged records seem to be missing.
        """
        _, shown = await self._log.bounds(self.partition)
        if shown < end:
            raise AppendFailedError(
                f"the log of partition {self.partition} shows {shown} of {end} records: its leader is new"
            )

    async def _notify(self) -> None:
        async with self._folded:
            self._folded.notify_all()

    async def until_source(self, offset: int) -> None:
        """Wait until the turn at `offset` of `turns` is folded."""
        await self.until(lambda: self.state.position.source >= offset)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until, once more events are folded, `holds` returns true."""
        async with self._folded:
            await self._folded.wait_for(holds)


def _stamped(
    position: LogPosition,
    events: Sequence[tuple[DataEvent, Draft | None]],
    write: Callable[[DataEvent, Draft | None], tuple[bytes, AnyEvent | None]],
) -> tuple[list[DataEvent], list[KeyValue], list[AnyEvent | None]]:
    """Stamp events one behind the other, the first right behind `position`.

    Return them with their records, and with what decoding each record gives, where that is known.

    events  each with its draft, if there is one
    write   returns the record value of a stamped event, and what decoding it gives; called in the events' order
    """
    stamped: list[DataEvent] = []
    records: list[KeyValue] = []
    decoded: list[AnyEvent | None] = []
    for unstamped, drafted in events:
        event = stamp(unstamped if drafted is None else drafted.event, position)
        value, read = write(event, drafted)
        stamped.append(event)
        records.append((_key(event), value))
        decoded.append(read)
        position, _ = position.after(position.watermark + 1, event, value, is_last=False)
    return stamped, records, decoded


def _key(event: DataEvent) -> bytes | None:
    return event.graph.encode() if isinstance(event, GraphEvent) else None


def halts_alone(error: BaseException) -> bool:
    """Return whether `error` concerns one partition only: the worker's other partitions go on.

    A full disk has no room for any partition: the worker ends, so that workers with room take them over.
    """
    return isinstance(error, HaltedError) and not isinstance(error, WorkerHaltedError | DiskFullError)
