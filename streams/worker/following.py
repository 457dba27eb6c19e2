"""The partitions that a reader follows: it folds each from its growing log, and never writes to it.

    hold(partitions)   hold exactly these: open each, fold it to the end of its log, then follow the log
    release()          release all

A reader claims nothing, so workers do not notice it.  A failure affects one partition: the reader closes it, opens it
again and folds on, at first at once and then less and less often; waiting queries get an error (QueryHandler).  Queries
of a released partition get none, because the next reader finds them in the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from emgas.errors import HaltedError, TransportError
from emgas.logs import logger
from emgas.wire import Record
from replay.accepted_events import fold_record, values_of
from replay.log import FollowedLog
from state.log_position import Acceptance
from state.partition import Folded, Partition, taken_back
from streams.ingest.slices import Slice, Slices
from streams.recovery.partition_folds import Partitions
from streams.transport.keys.key_store import KeyStore, refreshed

log = logger("worker")
LONGEST_RETRY_SECONDS = 60.0  # between two tries to take up a partition that fails every time
FOLD_BATCH = 64  # records that are folded before waiting tasks are notified


class Followed:
    """A QueryablePartition (streams/query/answers/context.py) that is folded along."""

    def __init__(self, partition: int, state: Partition) -> None:
        self.partition = partition
        self.state = state
        self._grown = asyncio.Condition()

    async def until_source(self, offset: int) -> None:
        """Wait until the turn at `offset` of `turns` is folded."""
        await self.until(lambda: self.state.position.source >= offset)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until, once more events are folded, `holds` returns true."""
        async with self._grown:
            await self._grown.wait_for(holds)

    async def tell(self) -> None:
        """Notify all waiting tasks that more events are folded."""
        async with self._grown:
            self._grown.notify_all()


@dataclass(frozen=True, kw_only=True, slots=True)
class FollowingContext:
    """The services of a reader that the followers of its partitions use.

    events          the log                             keys     of encrypted graphs
    slices          of the event loop                   folded   told of each record that was folded, and its partition
    opened          called with a partition that can be asked from now on, or tells why it cannot
    closing         called with a partition, before its state is closed, and whether it is given up
    failed          told each time that a partition halts, and why
    halt            told what must stop the reader
    retry_seconds   between the second and the third try to take up a partition; doubled with each
    """

    folds: Partitions
    events: FollowedLog
    keys: KeyStore
    slices: Slices
    folded: Callable[[int, Folded], None]
    opened: Callable[[int], None]
    closing: Callable[[int, bool], Awaitable[None]]
    failed: Callable[[BaseException], None]
    halt: Callable[[BaseException], None]
    retry_seconds: float


class Following:
    """The partitions of one reader.  `ready` is set once all that it holds can be asked, or has halted."""

    def __init__(self, context: FollowingContext) -> None:
        self._context = context
        self.ready = asyncio.Event()
        self.queryable: dict[int, Followed] = {}
        self.halted_partitions: dict[int, BaseException] = {}
        self.queued: dict[int, int] = {}  # a reader reads no turns
        self.waiting: dict[int, BaseException] = {}  # so none of them waits for a key
        self.lost: list[int] = []  # nor can it lose what it does not own
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._changing = asyncio.Lock()
        self._failing: dict[int, asyncio.Future[BaseException]] = {}
        self._keys_read = True  # whether the keys could be read the last time

    async def hold(self, partitions: set[int]) -> None:
        """Hold exactly `partitions`; what was held before and stays is not disturbed."""
        async with self._changing:
            for partition in set(self._tasks) - partitions:
                await self._let_go(partition)
            for partition in partitions - set(self._tasks):
                self._tasks[partition] = asyncio.create_task(self._guarded(partition))
            self._look_whether_ready()

    async def release(self) -> None:
        """Release all partitions; their folds stay open."""
        async with self._changing:
            self.ready.clear()
            for task in self._tasks.values():
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks.values())
            for partition in list(self.queryable):
                await self._close(partition, given_up=True)
            self._tasks.clear()

    def halted(self) -> None:
        """Cancel what works: the reader will not go on."""
        for task in self._tasks.values():
            task.cancel()

    def fail(self, partition: int, error: BaseException) -> None:
        """Open a partition again whose state a question found broken; halt for what concerns more than it."""
        failing = self._failing.get(partition)
        if not isinstance(error, HaltedError):
            self._context.halt(error)
        elif failing is not None and not failing.done():
            failing.set_result(error)

    async def _let_go(self, partition: int) -> None:
        task = self._tasks.pop(partition)
        task.cancel()
        await asyncio.wait([task])
        await self._close(partition, given_up=True)
        self.halted_partitions.pop(partition, None)
        self._context.folds.release(partition)

    async def _close(self, partition: int, *, given_up: bool = False) -> None:
        """Stop answering queries of a partition; the next reader answers the queries of one that is given up."""
        if self.queryable.pop(partition, None) is not None:
            await self._context.closing(partition, given_up)

    async def _guarded(self, partition: int) -> None:
        try:
            await self._keep(partition)
        except Exception as error:  # noqa: BLE001 - a bug: whatever is folded after it may be wrong
            self._context.halt(error)

    async def _keep(self, partition: int) -> None:
        """Follow a partition permanently, taking it up again whenever that fails."""
        failures = 0
        while True:
            try:
                await self._context.folds.reopen(partition)
                failures = 0 if await self._answer_from(partition) else failures + 1
            except (HaltedError, TransportError) as error:
                failures += 1
                self._note(partition, error)
            await self._close(partition)
            if failures > 1:
                await asyncio.sleep(min(self._context.retry_seconds * 2.0 ** (failures - 2), LONGEST_RETRY_SECONDS))

    async def _answer_from(self, partition: int) -> bool:
        """Answer queries and fold on until that fails; return whether anything was folded by then."""
        followed = Followed(partition, self._context.folds.open[partition])
        began = followed.state.position.watermark
        failing = self._failing[partition] = asyncio.get_running_loop().create_future()
        self.queryable[partition] = followed
        if self.halted_partitions.pop(partition, None) is not None:
            log.warning("partition goes on", partition=partition)
        self._tell_opened(partition)
        if followed.state.unavailable:  # else it would fold later than it can be asked
            await self._open_again(followed)
        following = asyncio.create_task(self._work(followed))
        try:
            await asyncio.wait({following, failing}, return_when=asyncio.FIRST_COMPLETED)
            raise failing.result() if failing.done() else following.exception() or AssertionError("a log has no end")
        except (HaltedError, TransportError) as error:
            self._context.folds.condemn(partition, error)
            self._note(partition, error)
        finally:
            following.cancel()
            await asyncio.wait([following])
        return followed.state.position.watermark > began

    def _note(self, partition: int, error: BaseException) -> None:
        """Note why a partition cannot be asked.  That a log is out of reach is no news each time."""
        if str(self.halted_partitions.get(partition)) != str(error):
            log.critical("partition halted", partition=partition, error=f"{type(error).__name__}: {error}")
            self._context.failed(error)
        self.halted_partitions[partition] = error
        self._tell_opened(partition)

    def _tell_opened(self, partition: int) -> None:
        self._context.opened(partition)
        self._look_whether_ready()

    def _look_whether_ready(self) -> None:
        if set(self._tasks) <= self.queryable.keys() | self.halted_partitions.keys():
            if not self.ready.is_set():
                log.info("follows", partitions=sorted(self.queryable))
            self.ready.set()
        else:
            self.ready.clear()

    async def _work(self, followed: Followed) -> None:
        """Follow the log, watch it, and take back what was set aside.  Raises what the first of them raises."""
        tasks = [
            asyncio.create_task(work) for work in (self._follow(followed), self._mend(followed), self._watch(followed))
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            done.pop().result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _follow(self, followed: Followed) -> None:
        start = followed.state.position.watermark + 1
        batches = self._context.events.follow(followed.partition, start)
        async with aclosing(cast(AsyncGenerator[Sequence[Record], None], batches)):
            async for batch in batches:
                with self._context.slices.work() as share:
                    for begin in range(0, len(batch), FOLD_BATCH):
                        await self._fold(followed, batch[begin : begin + FOLD_BATCH], share)
                    # In pieces: else a flush does all of it, and questions wait for that.
                    while followed.state.compact_step():
                        await share.yield_slice()

    async def _fold(self, followed: Followed, records: Sequence[Record], share: Slice) -> None:
        for record in records:
            folded = await self._folded(followed, record)
            if folded.acceptance is Acceptance.ACCEPTED:
                self._context.folded(followed.partition, folded)
            await share.checkpoint()
        await share.yield_slice()  # what follows cannot be cut into slices
        followed.state.flush()
        await followed.tell()

    async def _folded(self, followed: Followed, record: Record) -> Folded:
        """Fold a record; if that sets a graph aside, its key may have been created since the last check.

        Keys that could not be read the last time are left to `_mend`: the graphs that need none do not wait for them.
        """
        before = followed.state.unavailable.keys()
        folded = await fold_record(followed.state, self._context.events, followed.partition, record)
        if self._keys_read and followed.state.unavailable.keys() - before:
            await self._open_again(followed)
        return folded

    async def _open_again(self, followed: Followed) -> None:
        """Take back what was set aside for a key that is there by now."""
        if await self._read_keys():
            taken_back(followed.state, {})

    async def _read_keys(self) -> bool:
        self._keys_read = await refreshed(self._context.keys)
        return self._keys_read

    async def _watch(self, followed: Followed) -> None:
        """Check every tick whether the log still has what was folded.  Raises LogRewrittenError where it lost that."""
        while True:
            await asyncio.sleep(self._context.retry_seconds)
            try:
                await self._context.folds.check(followed.partition)
            except TransportError as error:  # where that lasts, what follows the log raises it
                log.warning("cannot see whether the log has what was folded", error=str(error))

    async def _mend(self, followed: Followed) -> None:
        """Take back, again and again, what was set aside and can be read by now."""
        while True:
            await asyncio.sleep(self._context.retry_seconds)
            if followed.state.unavailable:
                await self._read_keys()
                for graph_id in taken_back(followed.state, await self._histories(followed)):
                    log.warning("graph is available again", partition=followed.partition, graph=graph_id)

    async def _histories(self, followed: Followed) -> dict[str, list[bytes]]:
        events, end = self._context.events, followed.state.position.watermark + 1
        return {name: await values_of(events, followed.partition, name, end) for name in followed.state.damaged}
