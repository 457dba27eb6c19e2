"""Restoring: a backup's records, byte for byte, into a log that is empty or that holds the beginning of it.

    pass 1   every line is checked, every event is folded as far as the head, and what the log holds is compared
    pass 2   what the log lacks is appended, at the offsets that it had: events name offsets; of each partition the
             first record comes before all else, for its mark keeps workers away until all is there (unfinished.py)
    then     one Claim per partition says that the sources start again (state/log_position.py): `turns` is another topic

Nothing is appended before pass 1 has come to its end.  A restore that was killed is started again.  Where the log goes
on behind the backup, there is nothing to do: it is the log that was backed up, or one that was restored before.  Where
it ends with the backup, it may be either, or a restore that died before its claims: only then is `turns` too short for
what the events account for.  Claimed without need, sources that were dealt with would be read again: turns that were
taken back since would come back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from itertools import chain, groupby
from typing import IO, NamedTuple, Protocol

import orjson
from msgspec.structs import replace

from emgas.errors import HaltedError, InvalidMessageError
from emgas.importers.files.lines import BadLine, Item
from emgas.messages.turns import Turn
from emgas.validation import build
from emgas.wire import Record
from replay.accepted_events import read_records
from replay.backup.backup import records
from replay.backup.lines import LINE_BYTES, Header, header_of
from replay.backup.unfinished import marked
from replay.errors import NotRestorableError
from replay.log import LogReader
from replay.skipped_records import skips
from state.errors import UnreadableEventError
from state.events.events import Claim, RecordSkipped, decode, encode
from state.log_position import LogPosition

BATCH_RECORDS, BATCH_BYTES = 500, 4 * 1024 * 1024  # appended at once
AS_TURNS = "`emgas import --turns FILE` publishes its turns into any memory instead"
Observe = Callable[[], object]


class WritableLog(LogReader, Protocol):
    """The topic `events` of a memory in which no worker lives."""

    async def append(self, partition: int, records: Sequence[Record]) -> list[int]:
        """Append records as they are, but for their offsets; return theirs once all are acknowledged."""

    async def sources(self, partition: int) -> int:
        """Read the offset after the last record of the memory's topic `turns`."""


class Restored(NamedTuple):
    """The number of appended records, without claims, and of records that were there already."""

    appended: int
    found: int


async def restore(
    file: IO[bytes], log: WritableLog, now: int, nonce: Callable[[], str], observe: Observe = lambda: None
) -> Restored:
    """Restore the backup in `file`, which can be rewound, into `log`; `now`, ms, is the time of the claims.

    `observe` is called for each record, twice.
    Raises NoBackupError, BackupDamagedError, NotRestorableError, TransportError.
    """
    header = restorable(file)
    if await log.partitions() != len(header.bounds):
        raise NotRestorableError(
            f"the backup has {len(header.bounds)} partitions and the topic has {await log.partitions()}: restore it "
            f"under a prefix, or in a data directory, with as many; {AS_TURNS}"
        )
    ends = [(await log.bounds(partition))[1] for partition in range(len(header.bounds))]
    heads, firsts = await _check(file, log, header, ends, observe)
    at = list(ends)
    for partition, first in firsts.items():
        if at[partition] == 0:
            at[partition] += await _append(log, partition, [first], header.bounds[partition][1])
    appended = sum(at) - sum(ends)
    for partition, ours in _by_partition(file, observe):
        lacking = (record for record in ours if record.offset >= at[partition])
        appended += await _append(log, partition, lacking, header.bounds[partition][1])
    for partition, (_, end) in enumerate(header.bounds):
        next_offset, accounted_for = ends[partition], heads[partition].source
        if next_offset < end or (next_offset == end and await log.sources(partition) <= accounted_for):
            claim = Claim(writer="import", partitions=len(header.bounds), nonce=nonce(), anew=True)
            await _put(log, partition, [Record(end, now, None, encode(claim))])
    return Restored(appended, sum(end for _, end in header.bounds) - appended)


def turns(file: IO[bytes]) -> Iterator[Item]:
    """Yield the turns that a backup's events recorded, once the whole file was found undamaged.

    Turns that were forgotten since are included; settings, recalls and themes are not.
    Raises NoBackupError, BackupDamagedError.
    """
    header_of(file.readline(LINE_BYTES))
    _read_through(file)
    for line, stored in enumerate(records(file), start=2):
        turn = _turn(line, stored.record.value)
        if turn is not None:
            yield turn


def _turn(line: int, value: bytes) -> Item | None:
    try:
        event = orjson.loads(value)
        if isinstance(event, dict) and event.get("kind") == "Sealed":
            return BadLine(line, value, "is encrypted: import the backup as a log, where its keys are")
        if not isinstance(event, dict) or event.get("kind") != "TurnRecorded":
            return None
        return build(Turn, {name: event[name] for name in Turn.model_fields if name in event})
    except (orjson.JSONDecodeError, InvalidMessageError) as error:
        return BadLine(line, value, str(error))


def restorable(file: IO[bytes]) -> Header:
    """Read the header of the backup in `file`.  Raises NoBackupError, BackupDamagedError, NotRestorableError."""
    header = header_of(file.readline(LINE_BYTES))
    if header.graph is not None and header.exact is None:
        raise NotRestorableError(
            f"the backup holds the events of graph {header.graph} only, which are no log; {AS_TURNS}"
        )
    return header


def whole(file: IO[bytes]) -> Header:
    """Read the backup in `file` to its end, and return its header; `file` stands at its beginning then.

    Raises NoBackupError, BackupDamagedError, NotRestorableError.
    """
    header = restorable(file)
    _read_through(file)
    return header


def _read_through(file: IO[bytes]) -> None:
    """Check every line of a file that is a backup.  Raises BackupDamagedError."""
    file.seek(0)
    for _ in records(file):
        pass
    file.seek(0)


def _by_partition(file: IO[bytes], observe: Observe) -> Iterator[tuple[int, Iterator[Record]]]:
    """Yield each partition that has records, with its records."""
    file.seek(0)
    for partition, stored in groupby(records(file), lambda each: each.partition):
        yield partition, _observed((each.record for each in stored), observe)


def _observed(ours: Iterable[Record], observe: Observe) -> Iterator[Record]:
    for record in ours:
        yield record
        observe()


async def _check(
    file: IO[bytes], log: LogReader, header: Header, ends: Sequence[int], observe: Observe
) -> tuple[list[LogPosition], dict[int, Record]]:
    """Check the whole backup, and compare it with `log`; return the positions of folds of its partitions.

    And the first record of each that has some.
    Raises NotRestorableError unless it is a log that a worker can live with, and `log` holds a beginning of it, or all.
    """
    heads, firsts = [LogPosition()] * len(header.bounds), dict[int, Record]()
    for partition, ours in _by_partition(file, observe):
        async with aclosing(
            read_records(log, partition, 0, min(ends[partition], header.bounds[partition][1]))
        ) as theirs:
            first = firsts[partition] = next(ours)
            whole = chain([first], ours)
            heads[partition] = await _check_partition(partition, len(header.bounds), whole, theirs)
    if any(first or head.watermark + 1 != end for head, (first, end) in zip(heads, header.bounds, strict=True)):
        raise NotRestorableError(
            f"the backup lacks the head of the log, or has gaps: it cannot be a log again; {AS_TURNS}"
        )
    return heads, firsts


async def _check_partition(
    partition: int, partitions: int, ours: Iterable[Record], theirs: AsyncIterator[Record]
) -> LogPosition:
    """Fold a partition of the backup and return the position at its end; with a gap, the position before all."""
    head = LogPosition()
    refused: dict[int, tuple[Record, HaltedError]] = {}  # records that are unreadable, as long as none skips them
    for expected, record in enumerate(ours):
        if record.offset != expected:
            return LogPosition()
        try:
            event = decode(record.value)
            head, _ = head.after(record.offset, event, record.value)
            if isinstance(event, RecordSkipped) and event.offset in refused and skips(event, refused[event.offset][0]):
                del refused[event.offset]
        except UnreadableEventError as why:
            refused[record.offset] = record, why
            head = replace(head, watermark=record.offset)
        except HaltedError as error:
            raise _not_folded(partition, record, error) from error
        existing = await anext(theirs, None)
        if existing is not None and (existing.offset, existing.key, existing.value) != (
            record.offset,
            record.key,
            record.value,
        ):
            raise NotRestorableError(
                f"partition {partition} of the topic holds something else than the backup at offset {existing.offset}: "
                f"it is another memory. Restore under another prefix, or in another data directory; {AS_TURNS}"
            )
    for record, unread in refused.values():
        raise _not_folded(partition, record, unread) from unread
    if head.partitions not in (0, partitions):
        raise NotRestorableError(
            f"partition {partition} is of a topic with {head.partitions} partitions, not {partitions}; {AS_TURNS}"
        )
    return head


def _not_folded(partition: int, record: Record, error: HaltedError) -> NotRestorableError:
    return NotRestorableError(
        f"the backup's event at offset {record.offset} of partition {partition} cannot be folded: {error}"
    )


async def _append(log: WritableLog, partition: int, ours: Iterable[Record], end: int) -> int:
    """Append records of a partition that ends before `end`, marked, in batches; count them."""
    batch: list[Record] = []
    size = count = 0
    for record in ours:
        batch.append(marked(record, end))
        size, count = size + len(record.value), count + 1
        if len(batch) >= BATCH_RECORDS or size >= BATCH_BYTES:
            await _put(log, partition, batch)
            batch, size = [], 0
    await _put(log, partition, batch)
    return count


async def _put(log: WritableLog, partition: int, batch: Sequence[Record]) -> None:
    offsets = await log.append(partition, batch) if batch else []
    if offsets != [record.offset for record in batch]:
        raise NotRestorableError(
            f"another program writes to partition {partition} of the topic: stop the workers, and restore under a new "
            "prefix"
        )
