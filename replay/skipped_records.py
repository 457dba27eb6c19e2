"""Unreadable records of the log that an operator decided to skip.

    offset   …   X          …   Y                    …
    record       garbage        RecordSkipped{offset: X, sha256 of the garbage, reason}

The decision is itself in the log, so the state stays a fold of the log alone.  A reader that meets a record it cannot
decode looks ahead for a RecordSkipped that names its offset and its bytes, and folds that one in its place.  It is
stamped with no claim, so a fold passes over it wherever it stands (fenced): only the watermark moves.  Code that reads
the log, a worker, a rebuild or `verify`, wherever they begin, comes to the same state; without a decision, none does.

A program that may write to `events` may also write such a record, just as it may write garbage there.  The skipped
bytes are named, so that no other record is ever skipped, and a readable record never is.
"""

from __future__ import annotations

import hashlib

from emgas.wire import Record
from replay.log import LogReader
from state.errors import UnreadableEventError
from state.events.events import RecordSkipped, Stamp, decode, encode

NOBODY: Stamp = {"epoch": 0, "claim": "", "seq": 0, "chain": ""}  # no Claim hashes to ""
_COMMAND = "emgas admin events skip {}:{} --reason TEXT"
_NAME = RecordSkipped.__name__.encode()


def decision(record: Record, reason: str) -> bytes:
    """Write the record value of the decision to skip `record`."""
    return encode(RecordSkipped(**NOBODY, offset=record.offset, sha256=_sha256(record), reason=reason))


async def decision_on(log: LogReader, partition: int, record: Record) -> Record | None:
    """Find the decision to skip `record` behind it; return it at the offset of `record`, None without one."""
    _, end = await log.bounds(partition)
    async for batch in log.read(partition, record.offset + 1, end):
        for each in batch:
            if _NAME in each.value and _is_on(each.value, record):
                return record._replace(value=each.value)
    return None


async def instead_of(log: LogReader, partition: int, record: Record, error: UnreadableEventError) -> Record:
    """Return what is folded in place of `record`, which cannot be read.  Raises `error`, with its place."""
    skipping = await decision_on(log, partition, record)
    if skipping is None:
        place = f"partition {partition}, offset {record.offset}"
        raise UnreadableEventError(f"{error} ({place}; if it is garbage: {_COMMAND.format(partition, record.offset)})")
    return skipping


def skips(event: RecordSkipped, record: Record) -> bool:
    """Return whether `event` is the decision to skip `record`."""
    return (event.offset, event.sha256) == (record.offset, _sha256(record))


def _is_on(value: bytes, record: Record) -> bool:
    try:
        event = decode(value)
    except UnreadableEventError:
        return False
    return isinstance(event, RecordSkipped) and skips(event, record)


def _sha256(record: Record) -> str:
    return hashlib.sha256(record.value).hexdigest()
