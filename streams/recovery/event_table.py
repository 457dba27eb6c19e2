"""The log is the changelog: a Faust table whose changelog topic is `events` itself and whose store is the fold.

Faust's own recovery and standbys then rebuild and follow a partition by folding its log.  Faust may do this:

    persisted_offset         = the fold's watermark: recovery reads on from there
    apply_changelog_batch    = fold, then flush (state and watermark in one batch)
    on_rebalance             opens what is assigned, checks it against the log, closes what is not
    on_recovery_completed    hands the recovered active partitions to the worker, which claims them

and what it must not: write items, set offsets, send to the changelog: those raise.

Faust 0.15.3 swallows exceptions of its recovery (endless warnings, never ready) and of recovery callbacks (dropped),
and skips a truncated head of the log.  So every entry here hands its failure to `app.halt`, which stops the process;
but for those of one partition, which the folds note (streams/recovery/partition_folds.py), and who claims it sees.

Nor does it always deliver the next record: what its queue still holds of a partition that was taken away and comes back
goes on beyond what was dropped in between.  Folded, such a hole would make every event after it a gap, silently.  So
what does not continue the fold is left out, and a claim of the partition reads it from the log
(streams/ingest/partition_writer.py).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, NoReturn

from faust.stores.base import Store
from faust.tables.table import Table
from faust.types import TP, AppT, EventT

from streams.recovery.partition_folds import Partitions

Halting = Callable[[BaseException], None]
Claiming = Callable[[set[int]], Awaitable[None]]


class FoldStore(Store[bytes, bytes]):
    """The storage of the table, as Faust sees it."""

    def __init__(self, app: AppT, table: Table[bytes, bytes], partitions: Partitions, halt: Halting) -> None:
        super().__init__("fold://", app, table)
        self._partitions = partitions
        self._halt = halt

    def persisted_offset(self, tp: TP) -> int | None:
        """Return the watermark, -1 for an empty fold: for None, Faust would go on where an earlier fold stood."""
        return self._partitions.folded_to(tp.partition)

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
    """The table that Faust recovers; its items are never read or written."""

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
