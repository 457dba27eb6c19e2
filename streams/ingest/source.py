"""Claiming a partition for the present topic `turns`: a topic that was created again is read from its beginning.

A position in `turns` is valid for one topic only.  A claim names that topic by its id (Kafka's UUID), so the fold knows
to which topic its `source` belongs (state/log_position.py).  If `turns` was deleted and created again, the claim starts
from its beginning; where there are no ids, an end before the position shows the same.  Nothing counts twice: a turn
that the log already holds is known by its id.  Turns that expired unread are recorded as lost.

Bounds are requested by the topic's name, so they may belong to a successor.  They are valid if the topic's id is the
same before and after the request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from emgas.logs import logger
from replay.backup.unfinished import missing
from replay.log import LogReader
from state.events.events import UNSTAMPED, TurnsLost
from streams.errors import RestoreUnfinishedError, SourceChangedError
from streams.ingest.partition_writer import PartitionWriter

log = logger("ingest")
COPIED = "nothing, unless this memory is being copied here: then stop, and copy all of it into an empty prefix"
TopicId = Callable[[], Awaitable[str | None]]  # requests the id of `turns`; None if there is none


async def claim(writer: PartitionWriter, turns: LogReader, id_of_turns: TopicId) -> None:
    """Claim the partition of `writer`, to go on in `turns`.

    Raises SourceChangedError while `turns` has no id and had one, or gets another: it is being created again;
    RestoreUnfinishedError while the log is restored in part; else as `writer.claim`.
    """
    position, partition, topic_id = writer.state.position, writer.partition, await id_of_turns()
    if position.source_topic and topic_id is None:
        raise SourceChangedError(f"turns of partition {partition} cannot be read: was the topic deleted?")
    first, end = await turns.bounds(partition)
    is_anew = position.source >= end or position.source_topic not in {"", topic_id}
    if (is_anew or first > position.source + 1) and await id_of_turns() != topic_id:
        raise changed(partition)
    if is_anew or not position.source_topic:
        await check_whole(writer)
    if is_anew:
        facts = {"was": position.source_topic, "is_now": topic_id, "read_to": position.source, "end": end}
        log.error("turns was created again: reading all of it", partition=partition, **facts, do=COPIED)
    await writer.claim(anew=is_anew, source_topic=topic_id or "")
    if first > (source := writer.state.position.source) + 1:
        await record_loss(writer, source + 1, first - 1)


async def check_whole(writer: PartitionWriter) -> None:
    """Raise RestoreUnfinishedError if a restore has more to append: it cannot be completed behind new events."""
    last = await writer.last_record()
    if last is not None and (lacking := missing(last)):
        raise RestoreUnfinishedError(
            f"partition {writer.partition} is restored in part: {last.offset + 1} events of a backup are there, "
            f"{lacking} are not. Stop the workers and run `emgas import FILE` again, which goes on where it ended; "
            "then start them"
        )


async def check(writer: PartitionWriter, id_of_turns: TopicId) -> None:
    """Raise SourceChangedError unless `turns` is the topic of the claim: then bounds seen before are its own."""
    claimed = writer.state.position.source_topic
    if claimed and await id_of_turns() != claimed:
        raise changed(writer.partition)


async def record_loss(writer: PartitionWriter, first: int, last: int) -> None:
    """Record that turns were lost unread; reading goes on behind them.  Raises as `writer.append`."""
    log.error("turns lost", partition=writer.partition, first=first, last=last, count=last - first + 1)
    await writer.append([TurnsLost(src=last, first=first, last=last, **UNSTAMPED)])
    writer.lost(last - first + 1)


def is_claimed(writer: PartitionWriter, topic_id: str | None) -> bool:
    """Return whether the claim is for the topic of that id, or the id is unknown."""
    return topic_id is None or topic_id == writer.state.position.source_topic


def changed(partition: int) -> SourceChangedError:
    """Build the error after which a live worker claims its partition again."""
    return SourceChangedError(f"turns of partition {partition} was created again, or lost records: claiming it again")
