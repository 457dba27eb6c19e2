"""The log is the changelog: a Faust table whose changelog topic is `events` itself and whose store is the fold.

Faust's own recovery and standbys then rebuild and follow a partition by folding its log.  What Faust may do:

    persisted_offset         = the fold's watermark: recovery reads on from there
    apply_changelog_batch    = fold, then flush (state and watermark in one batch)
    on_rebalance             opens what is assigned, checks it against the log, closes what is not
    on_recovery_completed    hands the recovered active partitions to the worker, which claims them

and what it must not: write items, set offsets, send to the changelog: those raise.

Faust 0.15.3 swallows exceptions of its recovery (endless warnings, never ready) and of recovery callbacks (dropped),
and skips a truncated head of the log.  So every entry here hands its failure to `app.halt`, which stops the process.

Nor does it always deliver the next record: what its queue still holds of a partition that was taken away and comes back
goes on beyond what was dropped in between.  Folded, such a hole would make every event after it a gap, silently.  So
what does not continue the fold is left out, and whoever claims the partition reads it from the log
(streams/ingest/partition_writer.py).
"""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import structlog
from faust.stores.base import Store
from faust.tables.table import Table
from faust.types import TP, AppT, EventT

from replay.errors import SnapshotRefusedError
from replay.log import LogReader
from replay.rebuild.rebuild import folded_from
from state.errors import LogRewrittenError
from state.partition import Partition
from state.store.rocksdb import RocksStore
from streams.recovery import snapshots
from streams.settings import Settings

log = structlog.get_logger()

Halting = Callable[[BaseException], None]
Claiming = Callable[[set[int]], Awaitable[None]]


class Partitions:
    """The folds that this worker keeps, active and standby, by partition."""

    def __init__(self, settings: Settings, reader: LogReader) -> None:
        self._settings = settings
        self._reader = reader
        self._stores: dict[int, RocksStore] = {}
        self._behind: set[int] = set()  # partitions of which the next record was not delivered
        self.open: dict[int, Partition] = {}

    def fold(self, records: Iterable[tuple[int, int, bytes]]) -> None:
        """Fold those of the (partition, offset, value) records that come next in their logs, and flush.

        Faust reads the last folded record once more, and flushes what it had buffered of a partition that was taken
        away: whoever has that one now reads it from the log.
        """
        touched = set()
        for partition, offset, value in records:
            state = self.open.get(partition)
            if state is not None and self._is_next(partition, state.position.watermark, offset):
                state.fold(offset, value)
                touched.add(partition)
        for partition in touched:
            self.open[partition].flush()

    def _is_next(self, partition: int, watermark: int, offset: int) -> bool:
        if offset > watermark + 1 and partition not in self._behind:
            log.warning("recovery left records out", partition=partition, folded_to=watermark, delivered=offset)
            self._behind.add(partition)
        return offset == watermark + 1

    async def hold(self, partitions: set[int]) -> None:
        """Open exactly these partitions, each checked against the log; close all others."""
        self._behind.clear()
        for partition in set(self.open) - partitions:
            self.open.pop(partition).close()
        for partition in partitions - set(self.open):
            await snapshots.restore_missing(self._settings, partition, self._reader)
            self.open[partition] = self._opened(
                partition
            )  # before it is checked: `close` then closes it, whatever happens
            await self._check(partition)

    async def _check(self, partition: int) -> None:
        head = self.open[partition].position
        start, end = await self._reader.bounds(partition)
        if head.watermark >= end or not await folded_from(self._reader, partition, head):
            self._start_anew(partition, end)
            head = self.open[partition].position
        if start > head.watermark + 1:
            raise LogRewrittenError(
                f"the log of partition {partition} begins at offset {start}, but the state ends at {head.watermark}: "
                "events are missing. The topic must be kept for ever (retention.ms=-1); restore the log, or a store "
                "that reaches further."
            )

    def _opened(self, partition: int) -> Partition:
        self._stores[partition] = RocksStore(self._settings.store_of(partition))
        return Partition(self._stores[partition], self._settings.cached_graphs)

    def _start_anew(self, partition: int, end: int) -> None:
        """Set the store aside: it holds events that the log lost, so it is no fold of it, but may be their last copy.

        Only the last such store is kept.
        """
        state, store = self.open.pop(partition), self._settings.store_of(partition)
        aside = store.with_name(f"{partition}.set-aside")
        told = {"partition": partition, "watermark": state.position.watermark, "end": end, "kept": str(aside)}
        log.warning("store is of another log: folding anew", **told)
        state.close()
        shutil.rmtree(aside, ignore_errors=True)
        store.rename(aside)
        self.open[partition] = self._opened(partition)

    def checkpoint(self, partition: int, path: Path) -> None:
        """Make the new directory `path` a store of what is folded of `partition`.  Raises SnapshotRefusedError."""
        if partition not in self._stores or partition not in self.open:
            raise SnapshotRefusedError(f"partition {partition} was taken away from this worker: ask its new owner")
        self.open[partition].flush()
        self._stores[partition].checkpoint(path)

    def close(self) -> None:
        """Flush and close everything."""
        for state in self.open.values():
            state.close()
        self.open.clear()


class FoldStore(Store[bytes, bytes]):
    """What Faust takes for the table's storage."""

    def __init__(self, app: AppT, table: Table[bytes, bytes], partitions: Partitions, halt: Halting) -> None:
        super().__init__("fold://", app, table)
        self._partitions = partitions
        self._halt = halt

    def persisted_offset(self, tp: TP) -> int | None:
        """Give the watermark, -1 for an empty fold: for None, Faust would go on where an earlier fold stood."""
        state = self._partitions.open.get(tp.partition)
        return None if state is None else state.position.watermark

    def apply_changelog_batch(self, batch: Iterable[EventT[Any]], *_: Any, **__: Any) -> None:
        messages = [event.message for event in batch]
        try:
            self._partitions.fold((message.partition, message.offset, message.value or b"") for message in messages)
        except Exception as error:
            self._halt(error)
            raise

    async def on_rebalance(
        self, assigned: set[TP], revoked: set[TP], newly_assigned: set[TP], generation_id: int = 0
    ) -> None:
        changelog = self.table.changelog_topic.get_topic_name()
        try:
            await self._partitions.hold({tp.partition for tp in assigned if tp.topic == changelog})
        except Exception as error:
            self._halt(error)
            raise

    async def on_stop(self) -> None:
        self._partitions.close()

    async def need_active_standby_for(self, tp: TP) -> bool:
        return True

    def _refused(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("state changes only by folding the log")

    set_persisted_offset = __getitem__ = __setitem__ = __delitem__ = _refused
    clear = reset_state = backup_partition = restore_backup = _refused

    def __iter__(self) -> Iterator[bytes]:
        return iter(())

    def __len__(self) -> int:
        return 0


class EventTable(Table[bytes, bytes]):
    """The table that Faust recovers; nobody reads or writes items of it."""

    def __init__(self, app: AppT, folds: Partitions, halt: Halting, claim: Claiming, **options: Any) -> None:
        self._folds = folds
        self._halt = halt
        self._claim = claim
        super().__init__(app, **options)

    def _new_store(self) -> FoldStore:
        return FoldStore(self.app, self, self._folds, self._halt)

    def send_changelog(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("events are appended by their partition's writer (streams/ingest/partition_writer.py)")

    async def on_recovery_completed(self, active_tps: set[TP], standby_tps: set[TP]) -> None:
        try:
            await super().on_recovery_completed(active_tps, standby_tps)
            await self._claim({tp.partition for tp in active_tps})
        except Exception as error:
            self._halt(error)
            raise
