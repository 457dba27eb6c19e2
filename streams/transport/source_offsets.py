"""Read sources from the position in the state.  Both transports' consumers inherit this.

Faust 0.15.3 does this after an assignment (tables/recovery.py, one order for "something to recover" and "nothing"):

    1  seek changelogs to the persisted offset     435   the last folded record is read again and dropped
    2  resume_flow, fetcher runs                   478   or 448-453 when there is something to recover
    3  standbys: seek, resume, resume_flow         505-546
    4  on_recovery_completed callbacks             631-641   the claim is appended and folded here
    5  resume_partitions(all sources)              649   <- sources are being fetched from here on ...
    6  perform_seek (to committed offsets)         655   <- ... but positioned only here, after network round trips
    7  flow_control.resume: empties agents' queues 659   <- and what was queued in between is lost
    8  resume_flow                                 660

So messages from the group's committed offset could reach an agent before 6, and messages fetched between 6 and 7
vanish from its queue.  Here sources stay inactive until 8:  5 only notes them, 6 positions them (once no fetch
is under way), 8 lets them go.  Without tables Faust takes 5, 6, 7, 8 alone (table_manager.py:311-329).

Also closed here:
- a newly assigned partition is active until app/base.py:1886 pauses it (consumer.py:677);
- one that was under buffer pressure stays readable through a rebalance (`_buffered_partitions`, consumer.py:761);
- a perform_seek outlives its cancellation in the Kafka thread (mode/threads.py:406) and may end after the next one;
- a message of a source that was fetched before a seek may be delivered after it;
- with nothing active yet, Faust sleeps a second whatever happens meanwhile (consumer.py:808).

Records of a source that are fetched together come as one message (runs.py), except questions: those must not wait.
"""

from __future__ import annotations

import abc
import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Any, ClassVar, Protocol, cast

from faust.transport.consumer import Consumer, RecordMap
from faust.types import TP, ConsumerMessage, Message

from emgas.wire import Record
from streams.transport.fetch_order import FetchOrder
from streams.transport.runs import Run

FETCH_SECONDS = 0.25  # a seek waits for the fetch that is under way, at most this long when nothing arrives


class ReadsSources(Protocol):
    """The methods that the Faust app must have beside Faust's own."""

    def comes_first(self, tp: TP) -> bool:
        """Return whether `tp` holds questions, which are read before all else (streams/transport/fetch_order.py)."""

    def questions_came(self) -> None:
        """Take note that questions were fetched: they are on their way to who answers them."""

    def source_position(self, tp: TP) -> int | None:
        """Return the next offset of `tp` to read; None leaves it where the group committed."""

    def source_goes_back(self, tp: TP) -> None:
        """Take note that `tp` ends before what was to be read of it next; reading goes on at its beginning."""


class Rejoins(Protocol):
    """The methods of both transports' consumers beside Faust's own."""

    async def rejoin(self) -> None:
        """Join the group again, with the topics that are there now."""


class PositionedConsumer(Consumer):
    """Mixin before a Faust consumer.  Nothing of a source reaches an agent before it stands where the state says."""

    fetch_waits: ClassVar[bool]  # whether `_fetch` itself waits for records to come

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._news = asyncio.Event()  # something may have become readable
        self._resumed: set[TP] = set()  # resumed by Faust, not positioned yet
        self._full: set[TP] = set()  # sources whose readers have enough for now
        self._unread: set[TP] = set()  # those that others read
        self._placed: set[TP] = set()  # positioned, waiting for resume_flow
        self._released = False
        self._holds = 0
        self._fetch_or_seek = asyncio.Lock()
        self._seeks = 0
        self._seeks_before_fetch = 0
        super().__init__(*args, **kwargs)
        self._order = FetchOrder(cast(ReadsSources, self.app).comes_first, self._is_changelog_tp)

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Hold every source until the next recovery has positioned it."""
        self._hold()
        await super().on_partitions_revoked(revoked)

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Start with everything paused: Faust would make new partitions active first and pause them later."""
        self._hold()
        self._paused_partitions.update(assigned)
        await super().on_partitions_assigned(assigned, generation_id)

    def _hold(self) -> None:
        self._resumed, self._placed, self._full, self._released = set(), set(), set(), False
        self._unread = set()
        self._holds += 1
        self._buffered_partitions.clear()

    def resume_partitions(self, tps: Iterable[TP]) -> None:
        """Resume changelogs; note sources, which have to be positioned first."""
        resumed = set(tps)
        sources = set() if self._released else {tp for tp in resumed if not self._is_changelog_tp(tp)}
        self._resumed |= sources
        super().resume_partitions(resumed - sources)
        self._news.set()

    def hold(self, tp: TP, is_full: bool) -> None:  # noqa: FBT001 - its only argument
        """Fetch no more of `tp` until its reader has room again: one that is slow holds up no other partition.

        An assignment releases all sources.  Not by Faust's `pause_partitions`, which a rebalance reads otherwise.
        """
        (self._full.add if is_full else self._full.discard)(tp)
        self._news.set()

    def leave(self, tp: TP) -> None:
        """Fetch nothing of `tp`, which others read, until the next assignment."""
        self._unread.add(tp)
        self.hold(tp, True)  # noqa: FBT003 - its only argument

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Warn, as Faust does every few seconds, if what is there of `tp` is not read; not where others read it."""
        if tp not in self._unread:
            super().verify_event_path(now, tp)

    async def perform_seek(self) -> None:
        """Seek to the committed offsets, as Faust does, then to the positions in the state.  Raises TimeoutError.

        With nothing resumed there is nothing to do: Faust then seeks back because a rebalance began while it fetched
        (consumer.py:772), and the recovery that follows positions everything again, from a state that is open again.

        Shielded: a cancelled seek would go on in the Kafka thread (mode's queue keeps it) and could end after the next
        one.  So it ends here too, and the next one waits for it.
        """
        if not self._resumed:
            return
        seek = asyncio.ensure_future(self._position_sources())
        seek.add_done_callback(_retrieve)
        await asyncio.shield(seek)

    async def _position_sources(self) -> None:
        async with self._fetch_or_seek:
            resumed_sources, self._resumed, hold = self._resumed, set(), self._holds
            self._seeks += 1
            async with asyncio.timeout(0.9 * self.app.conf.broker_request_timeout):
                await super().perform_seek()
                await self._seek_to_state()
            if hold == self._holds:  # else the next rebalance has begun, and holds them again
                self._placed |= resumed_sources

    async def _seek_to_state(self) -> None:
        app = cast(ReadsSources, self.app)
        sources = {tp for tp in self.assignment() if not self._is_changelog_tp(tp)}
        state_positions = {tp: app.source_position(tp) for tp in sources}
        positions = {tp: offset for tp, offset in state_positions.items() if offset is not None}
        if positions:
            await self.seek_wait(positions)
        for tp, offset in positions.items():
            # Faust writes "nothing read yet" as None, and takes 0 for an offset that was read (consumer.py:1175-1190)
            self._read_offset[tp] = self._committed_offset[tp] = offset or None

    def resume_flow(self) -> None:
        """Activate what has been positioned: Faust has emptied the queues just before this call."""
        super().resume_flow()
        if self._placed:
            placed, self._placed, self._released = self._placed, set(), True
            super().resume_partitions(placed)
        self._news.set()

    def stop_flow(self) -> None:
        """Stop, and have the fetcher notice."""
        super().stop_flow()
        self._news.set()

    async def _wait_next_records(self, timeout: float) -> tuple[RecordMap | None, set[TP] | None]:
        if not self.flow_active:
            await self.wait(self.can_resume_flow)  # type: ignore[arg-type]  # mode's own Event; Faust does the same
        active = self._get_active_partitions()
        self._news.clear()
        records = await self._getmany(active, timeout)
        if not records and not (active - self._full and self.fetch_waits):
            await self._wait_for_news(timeout)
        return records, active

    async def _wait_for_news(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), seconds)

    async def getmany(self, timeout: float) -> AsyncIterator[tuple[TP, Message]]:
        """Yield what was fetched, but nothing of a source that was fetched before the last seek.

        A changelog was not sought: what is left out of it here would be a hole in the fold of a standby.
        """
        async for tp, message in super().getmany(timeout):
            if self._seeks_before_fetch == self._seeks or self._is_changelog_tp(tp):
                yield tp, message

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> RecordMap:
        async with self._fetch_or_seek:
            # a copy: Faust hands its live set to another thread, and aiokafka takes an empty one for "all partitions"
            active = set(self._get_active_partitions()) - self._full
            self._seeks_before_fetch = self._seeks
            fetched = await self._fetch(active, min(timeout, FETCH_SECONDS)) if active else {}
            if any(map(cast(ReadsSources, self.app).comes_first, fetched)):
                cast(ReadsSources, self.app).questions_came()
            return {tp: [records] if self._comes_in_runs(tp) else records for tp, records in fetched.items()}

    def _comes_in_runs(self, tp: TP) -> bool:
        return not (self._is_changelog_tp(tp) or cast(ReadsSources, self.app).comes_first(tp))

    def _to_message(self, tp: TP, record: Any) -> ConsumerMessage:
        if not isinstance(record, list):
            return self._message_of(tp, record)
        return Run.of([*map(self._record_of, record)], self._message_of(tp, record[-1]))

    @abc.abstractmethod
    async def _fetch(self, active: set[TP], seconds: float) -> RecordMap:
        """Read what there is of `active` by `self._order`, waiting up to `seconds` for something."""

    @abc.abstractmethod
    def _message_of(self, tp: TP, fetched: Any) -> ConsumerMessage:
        """Make Faust's message of a record as `_fetch` gives it."""

    @abc.abstractmethod
    def _record_of(self, fetched: Any) -> Record:
        """Make a Record of a record as `_fetch` gives it."""

    async def go_on_at_first(self, tp: TP, offset: int) -> None:
        """Go on at the first record kept of a source that has no `offset`: it expired, or the topic is another one.

        Missing records are reported, or read again when they are accounted for (streams/ingest/turn_processor.py).
        """
        first = (await self.earliest_offsets(tp))[tp]
        self.log.warning("%s[%d] has no offset %d: going on at %d", tp.topic, tp.partition, offset, first)
        if offset > first:
            cast(ReadsSources, self.app).source_goes_back(tp)
        await self.seek_wait({tp: first})


def _retrieve(done: asyncio.Future[None]) -> None:
    if not done.cancelled():
        done.exception()  # raised where the shield is awaited; otherwise it must not be reported as lost


def outside(tp: TP, offset: int) -> str:
    """Explain to an operator that the log does not have the offset that must be read next."""
    return (
        f"{tp.topic}[{tp.partition}] no longer has (or never had) offset {offset}, which must be read next: the topic "
        "was truncated, recreated or has expired; restore it, or remove this worker's state and let it refold"
    )
