"""The folds that a worker keeps, active and standby: opened, checked against the log, fed, set aside, closed.

    hold(partitions)     open exactly these; what one of them lacks is fetched from a snapshot
    fold(records)        what Faust's recovery delivers
    reopen(partition)    close one, whatever is wrong with it, open it again and fold it to the end of its log
    mend(partitions)     look whether the log still has what was folded of standbys; fold them again if it lost that

An error affects only its partition.  It is noted in `broken`, the partition's state is dropped without a flush, and a
claim of the partition fails with the reason (streams/worker/ownership.py).

A store that cannot be right is set aside, renamed and kept, and its partition is folded again, from a snapshot if there
is a good one:

    N.set-aside   it is of another log, or ahead of it: it may be the last copy of what the log lost
    N.old-layout  an older version of EMGAS laid out its keys
    N.damaged     RocksDB reports damage, or what it holds does not fit together: check the disk

Only the last one of each is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from emgas.errors import HaltedError
from emgas.logs import logger
from replay.accepted_events import fold_record
from replay.backup.snapshots import Snapshots, restore
from replay.errors import SnapshotRefusedError, SnapshotsUnreachableError
from replay.log import LogReader
from replay.rebuild.rebuild import folded_from, leads_to
from state.errors import DiskFullError, LogRewrittenError, OldLayoutError, OtherHistoryError, StoreCorruptError
from state.log_position import LogPosition
from state.memory_budget import MemoryBudget
from state.partition import Partition
from streams.recovery.store_folders import KeptStore, RocksFolders, StoreFolders
from streams.settings import WorkerSettings
from streams.transport.failpoints import Step, passing
from streams.transport.keys.key_store import KeyStore, MemoryKeys, refreshed

log = logger("recovery")
OTHER_LOG, OLD_LAYOUT, DAMAGED = "set-aside", "old-layout", "damaged"
FOLDED_AT_ONCE = 64  # records, before others are let in
OPENED_AT_ONCE = 8  # partitions: each waits for its log several times, the group for all of them


class Partitions:
    """The folds that this worker keeps, by partition, and the errors of those that it cannot keep."""

    def __init__(
        self,
        settings: WorkerSettings,
        reader: LogReader,
        folders: StoreFolders | None = None,
        keys: KeyStore | None = None,
    ) -> None:
        self._settings = settings
        self._reader = reader
        self._keys = keys or MemoryKeys()
        self._folders = folders or RocksFolders(settings)
        self._memory = MemoryBudget(int(settings.memory))
        self._stores: dict[int, KeptStore] = {}
        self._behind: set[int] = set()  # partitions whose next record was not delivered
        self._left_at: dict[int, int] = {}  # watermark up to which Faust need not read a broken partition
        self._seen: dict[int, LogPosition] = {}  # where folds stood when their log had what was folded
        self._doubted: set[int] = set()  # partitions whose log did not have what was folded, when it was read last
        self._mending: asyncio.Task[None] | None = None
        self._met_full_disk = False
        self._retried: set[int] = set()  # partitions that are broken, and were folded again since they were assigned
        self._folded_anew: set[int] = set()  # partitions that no fold of this log could follow, even from its beginning
        self.open: dict[int, Partition] = {}
        self.broken: dict[int, BaseException] = {}

    def folded_to(self, partition: int) -> int | None:
        """Return the watermark of an open partition; Faust need not read one that is broken."""
        state = self.open.get(partition)
        return self._left_at.get(partition) if state is None else state.position.watermark

    def fold(self, records: Iterable[tuple[int, int, bytes]]) -> None:
        """Fold those of the (partition, offset, value) records that come next in their logs, and flush.

        Faust reads the last folded record once more, and flushes what it had buffered of a partition that was taken
        away: its new owner reads it from the log.
        """
        touched = set()
        for partition, offset, value in records:
            state = self.open.get(partition)
            if state is not None and self._is_next(partition, state.position.watermark, offset):
                touched.add(partition)
                try:
                    state.fold(offset, value)
                except HaltedError as error:
                    self._break(partition, error)
        passing(Step.RECOVERY)
        for partition in touched & set(self.open):
            try:
                self.open[partition].flush()
            except HaltedError as error:
                self._break(partition, error)

    def _is_next(self, partition: int, watermark: int, offset: int) -> bool:
        if offset > watermark + 1 and partition not in self._behind:
            log.warning("recovery left records out", partition=partition, folded_to=watermark, delivered=offset)
            self._behind.add(partition)
        return offset == watermark + 1

    def _break(self, partition: int, error: HaltedError) -> None:
        log.error("partition broken", partition=partition, error=f"{type(error).__name__}: {error}")
        state = self.open.get(partition)
        if state is not None:
            self._left_at[partition] = state.position.watermark
        self.broken[partition] = error
        self._let_go(partition)

    def _let_go(self, partition: int) -> None:
        """Close a store as it is: what was folded since the last flush may be wrong."""
        state = self.open.pop(partition, None)
        self._seen.pop(partition, None)
        if state is not None:
            self._memory.release(state)
        store = self._stores.pop(partition, None)
        if store is not None:
            with suppress(HaltedError):  # it may be damaged
                store.close()

    async def hold(self, partitions: set[int]) -> None:
        """Open exactly these partitions, all checked against the log; close all others, and try again what is broken.

        Raises what concerns all of them: TransportError, DataDirectoryInUseError, errors of the disk.
        """
        await self._stop_mending()
        self._behind.clear()
        self._retried.clear()
        await refreshed(self._keys)
        for partition in list(self.broken):
            self._discard(partition)
        for partition in set(self.open) - partitions:
            self._close(partition)
        opened_at_once = asyncio.Semaphore(OPENED_AT_ONCE)
        try:
            async with asyncio.TaskGroup() as opening:
                for partition in sorted(partitions):
                    opening.create_task(self._hold(partition, opened_at_once))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the others were cancelled, or failed for the same

    async def _hold(self, partition: int, opened_at_once: asyncio.Semaphore) -> None:
        """Check a partition that stays open, too: its log may have lost its end, and grown again, meanwhile."""
        async with opened_at_once:
            try:
                await (self._check(partition) if partition in self.open else self._take_up(partition))
            except HaltedError as error:
                _, end = await self._reader.bounds(partition)
                self._break(partition, error)
                self._left_at[partition] = end - 1

    async def reopen(self, partition: int) -> None:
        """Close a partition as it is, open it again and fold it to the end of its log.  Raises HaltedError, as `hold`.

        The contents of the store are complete: they were written with their position.  A damaged store is set aside.
        """
        self._discard(partition)
        try:
            await refreshed(self._keys)
            await self._take_up(partition)
            await self._follow(partition)
        except HaltedError as error:
            self._break(partition, error)
            raise

    async def check(self, partition: int) -> None:
        """Check that the log still holds what was folded of a partition.  Raises OtherHistoryError, TransportError.

        A record counts as missing after two checks: a new leader may report an old end for a moment (KIP-207).  The
        position of the last check is checked, too: claims of others, behind a lost record, may have been folded since.
        If a record was passed over that may fit behind a lost one, all records since the last check are read again.
        """
        state = self.open[partition]
        head = state.position
        heads = dict.fromkeys((self._seen.get(partition, head), head))
        is_there = [await folded_from(self._reader, partition, each) for each in heads]
        if all(is_there) and state.is_doubtful:
            state.is_doubtful = False
            is_there.append(await leads_to(self._reader, partition, self._seen.get(partition, LogPosition()), head))
        if self.open.get(partition) is not state:
            return
        if all(is_there):
            self._doubted.discard(partition)
            self._seen[partition] = head
        elif partition not in self._doubted:
            self._doubted.add(partition)
            state.is_doubtful = True  # the log may have grown beyond what it lost when it is looked at again
        else:
            self._doubted.discard(partition)
            raise OtherHistoryError(f"the log of partition {partition} lost events that were folded: folding it again")

    async def mend(self, partitions: Iterable[int]) -> None:
        """Fold those of the standbys `partitions` again whose log lost what was folded.  Raises TransportError.

        `hold` and `close` cut it off.
        """
        self._mending = asyncio.create_task(self._mend_all(sorted(partitions)))
        await asyncio.wait([self._mending])
        if not self._mending.cancelled():
            self._mending.result()

    async def _mend_all(self, partitions: Sequence[int]) -> None:
        for partition in partitions:
            try:
                await self._check_standby(partition)
            except LogRewrittenError as error:
                log.warning("standby is of another log", partition=partition, error=str(error))
                self.condemn(partition, error)
                with suppress(HaltedError):  # noted in `broken`
                    await self.reopen(partition)

    async def _check_standby(self, partition: int) -> None:
        """Check one; raise once what broke it, if that was its log: folding it again may help."""
        error = self.broken.get(partition)
        if partition in self.open:
            await self.check(partition)
        elif isinstance(error, LogRewrittenError) and partition not in self._retried:
            self._retried.add(partition)
            raise error

    async def _stop_mending(self) -> None:
        if self._mending is not None and self._mending.cancel():
            await asyncio.wait([self._mending])

    def release(self, partition: int) -> None:
        """Flush and close a partition; it is broken no more."""
        if self.broken.pop(partition, None) is None and partition in self.open:
            self._close(partition)
        else:
            self._let_go(partition)

    def _discard(self, partition: int) -> None:
        """Close a partition as it is; set its store aside if that is what is broken."""
        error = self.broken.pop(partition, None)
        self._let_go(partition)
        if isinstance(error, StoreCorruptError):
            self._set_aside(partition, DAMAGED)
        elif isinstance(error, OtherHistoryError):
            self._set_aside(partition, OTHER_LOG)

    def condemn(self, partition: int, error: BaseException) -> None:
        """Note why a partition that is open cannot go on; it is closed when it is opened again."""
        self.broken[partition] = error

    async def _take_up(self, partition: int) -> None:
        """Open and check a partition; if its store turns out to be damaged, open it again without it."""
        await restore_missing(self._settings, partition, self._reader)
        try:
            self._open(partition)
            await self._check(partition)
        except StoreCorruptError as error:
            log.error("store is damaged: folding again", partition=partition, error=str(error))  # noqa: TRY400 - the sentence says what to do, a trace would not
            self._let_go(partition)
            self._set_aside(partition, DAMAGED)
            await restore_missing(self._settings, partition, self._reader)
            self._open(partition)
            await self._check(partition)

        passing(Step.RECOVERY)

    async def _follow(self, partition: int) -> None:
        """Fold to the end of the log; once from its beginning where what is stored does not lead there.

        A store that folded claims behind a record that the log lost looks like a fold of this log, and is none.
        """
        try:
            await self._catch_up(partition)
        except LogRewrittenError:
            start, end = await self._reader.bounds(partition)
            if start > 0 or partition in self._folded_anew:
                raise
            self._folded_anew.add(partition)
            self._start_anew(partition, end)
            await self._catch_up(partition)
        self._folded_anew.discard(partition)

    async def _catch_up(self, partition: int) -> None:
        state = self.open[partition]
        _, end = await self._reader.bounds(partition)
        async for batch in self._reader.read(partition, state.position.watermark + 1, end):
            for start in range(0, len(batch), FOLDED_AT_ONCE):
                for record in batch[start : start + FOLDED_AT_ONCE]:
                    if record.offset > state.position.watermark:  # Faust may fold meanwhile what it has in hand
                        await fold_record(state, self._reader, partition, record)
                await asyncio.sleep(0)
            state.flush()

    async def _check(self, partition: int) -> None:
        head = self.open[partition].position
        start, end = await self._reader.bounds(partition)
        if head.watermark >= end or not await folded_from(self._reader, partition, head):
            self._start_anew(partition, end)
            head = self.open[partition].position
        if start > head.watermark + 1:
            raise LogRewrittenError(
                f"the log of partition {partition} begins at offset {start}, but the state ends at {head.watermark}: "
                "events are missing. The topic must be kept permanently (retention.ms=-1); restore the log, or a store "
                "that reaches further."
            )
        if start > 0:
            log.error("the head of the log is gone: this store may be its last copy", partition=partition, start=start)

    def _open(self, partition: int) -> None:
        try:
            store = self._folders.open(partition)
        except OldLayoutError as error:
            log.warning("store of an older version: folding again", partition=partition, why=str(error))
            self._set_aside(partition, OLD_LAYOUT)
            store = self._folders.open(partition)
        self._stores[partition] = store  # before it is looked into: `close` then closes it, whatever happens
        self.open[partition] = Partition(store, self._memory, graph_keys=self._keys)

    def _start_anew(self, partition: int, end: int) -> None:
        """Set a store aside that holds events that the log lost: it is no fold of it."""
        details = {"partition": partition, "watermark": self.open[partition].position.watermark, "end": end}
        log.warning("store is of another log: folding again", **details)
        self._close(partition)
        self._set_aside(partition, OTHER_LOG)
        self._open(partition)

    def _set_aside(self, partition: int, why: str) -> None:
        if (aside := self._folders.set_aside(partition, why)) is not None:
            log.warning("store set aside", partition=partition, kept=str(aside))

    def checkpoint(self, partition: int, path: Path) -> None:
        """Make the new directory `path` a store of what is folded of `partition`.  Raises SnapshotRefusedError."""
        if partition not in self._stores or partition not in self.open:
            raise SnapshotRefusedError(f"partition {partition} was taken away from this worker: ask its new owner")
        self.open[partition].flush()
        self._stores[partition].checkpoint(path)

    def _close(self, partition: int) -> None:
        """Flush and close; a store that turned out to be damaged is set aside, now or when it is opened next."""
        state = self.open[partition]
        try:
            state.close()
        except HaltedError as error:
            if not (self._met_full_disk and isinstance(error, DiskFullError)):  # one sentence is enough for all stores
                log.error("store not flushed", partition=partition, error=str(error))  # noqa: TRY400 - the sentence says what to do, a trace would not
            self._met_full_disk |= isinstance(error, DiskFullError)
        self._let_go(partition)
        if state.is_damaged:  # a graph was folded again beside the damage: what lies there is not to be met again
            self._set_aside(partition, DAMAGED)

    def close(self) -> None:
        """Flush and close everything that is not broken."""
        if self._mending is not None:
            self._mending.cancel()
        for partition in list(self.open):
            if partition in self.broken:
                self._let_go(partition)
            else:
                self._close(partition)
        for partition in list(self._stores):
            self._let_go(partition)


async def restore_missing(settings: WorkerSettings, partition: int, reader: LogReader) -> None:
    """Fetch the newest good snapshot of a partition whose store is not there; without one, it is folded from the log.

    An unusable snapshot is logged and never fatal: the log has everything.
    """
    if settings.snapshots is None or settings.store_of(partition).exists():
        return
    try:
        manifest = await restore(
            Snapshots(settings.snapshots, settings.prefix), partition, reader, settings.store_of(partition), _refused
        )
    except SnapshotsUnreachableError as error:
        log.error("no snapshots: folding from the beginning", partition=partition, error=str(error))  # noqa: TRY400 - its text tells all
        return
    if manifest is not None:
        log.info("snapshot restored", partition=partition, snapshot=manifest.name, watermark=manifest.watermark)


def _refused(why: str) -> None:
    log.error("snapshot refused", error=why)
