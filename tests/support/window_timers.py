"""A window timer as the app makes one, over topics in memory."""

from __future__ import annotations

from streams.ingest.change_feed import ChangeFeed
from streams.ingest.partition_writer import PartitionWriter
from streams.ingest.window_timer import WindowTimer
from tests.support.fakes import SentRecords
from tests.support.fakes import MemoryLog

CHANGES = "emgas.changes"


def timer_of(
    writer: PartitionWriter, log: MemoryLog, sent: SentRecords, changes: MemoryLog | None = None
) -> WindowTimer:
    """Make a timer for what `writer` owns.  `changes`: what the topic holds from owners before."""
    return WindowTimer(writer, feed_of(writer.partition, log, sent, changes))


def feed_of(partition: int, log: MemoryLog, sent: SentRecords, changes: MemoryLog | None = None) -> ChangeFeed:
    """Make the change feed of a partition of `log`."""
    earlier = changes or MemoryLog(len(log.records))
    return ChangeFeed(partition, topic=CHANGES, send=sent.send, sent=earlier, events=log)


async def caught_up_feed(partition: int, sent: SentRecords) -> ChangeFeed:
    """Make a change feed that has caught up with an empty log."""
    feed = feed_of(partition, MemoryLog(4), sent)
    await feed.catch_up(lambda: -1)
    return feed
