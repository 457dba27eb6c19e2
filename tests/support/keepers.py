"""A window keeper as the app makes one, over topics in memory."""

from __future__ import annotations

from streams.changes import Changes
from streams.owner import Owner
from streams.window_keeper import WindowKeeper
from tests.support.memory_log import MemoryLog
from tests.support.outbox import SentRecords

CHANGES = "emgas.changes"


def keeper_of(owner: Owner, log: MemoryLog, sent: SentRecords, changes: MemoryLog | None = None) -> WindowKeeper:
    """Return a keeper for what `owner` owns.  `changes`: what the topic holds from owners before."""
    return WindowKeeper(owner, changes_of(owner.number, log, sent, changes))


def changes_of(number: int, log: MemoryLog, sent: SentRecords, changes: MemoryLog | None = None) -> Changes:
    """Return the changes of partition `number` of `log`."""
    return Changes(CHANGES, number, sent.send, changes or MemoryLog(len(log.records)), log)


async def telling(number: int, sent: SentRecords) -> Changes:
    """Return changes that have caught up with an empty log."""
    changes = changes_of(number, MemoryLog(4), sent)
    await changes.catch_up(lambda: -1)
    return changes
