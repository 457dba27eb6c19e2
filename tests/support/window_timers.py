"""A window keeper as the app makes one, over topics in memory."""

from __future__ import annotations

from streams.ingest.change_feed import ChangeFeed
from streams.ingest.partition_writer import PartitionWriter
from streams.ingest.window_timer import WindowTimer
from tests.support.fakes import SentRecords
from tests.support.logs import MemoryLog

CHANGES = "emgas.changes"


def keeper_of(
    owner: PartitionWriter, log: MemoryLog, sent: SentRecords, changes: MemoryLog | None = None
) -> WindowTimer:
    """Return a keeper for what `owner` owns.  `changes`: what the topic holds from owners before."""
    return WindowTimer(owner, changes_of(owner.number, log, sent, changes))


def changes_of(number: int, log: MemoryLog, sent: SentRecords, changes: MemoryLog | None = None) -> ChangeFeed:
    """Return the changes of partition `number` of `log`."""
    return ChangeFeed(CHANGES, number, sent.send, changes or MemoryLog(len(log.records)), log)


async def telling(number: int, sent: SentRecords) -> ChangeFeed:
    """Return changes that have caught up with an empty log."""
    changes = changes_of(number, MemoryLog(4), sent)
    await changes.catch_up(lambda: -1)
    return changes
