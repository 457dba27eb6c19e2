"""`emgas admin events skip`: skip a record of the log that is unreadable and stops its partition."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated, NamedTuple

import orjson
import typer

from emgas.wire import Record
from streams.cli.shared import output

if TYPE_CHECKING:
    from replay.backup.restore import WritableLog

app = typer.Typer(no_args_is_help=True, help="Skip unreadable records of the log.")
_PLACE = re.compile(r"(\d{1,10}):(\d{1,19})")


class _Skipped(NamedTuple):
    """The decision; `is_new` unless the record was already skipped."""

    record: Record
    is_new: bool


def _place(text: str) -> str:
    if not _PLACE.fullmatch(text):
        raise typer.BadParameter("write partition:offset, as in the message of the halted partition")
    return text


@app.callback()
def _group() -> None:
    """Keep `skip` a command of its own, though it is the only one."""


@app.command()
def skip(
    place: Annotated[
        str, typer.Argument(metavar="PARTITION:OFFSET", help="Position of the record in the log.", callback=_place)
    ],
    reason: Annotated[str, typer.Option(help="Why it may be skipped; recorded in the log.")],
    *,
    yes: output.Yes = False,
    json: output.Json = False,
) -> None:
    """Skip an unreadable record that stops a partition, so that the partition continues.

    The record and your decision both stay in the log.  Readable records, and records of a newer version, are never
    skipped.
    """
    partition, offset = map(int, place.split(":"))
    output.make_sure(f"Every reader will skip the record at {place} of the log permanently", yes=yes)
    done = output.run(_skip(partition, offset, reason))
    if json:
        output.print_json(
            {"partition": partition, "offset": offset, "bytes": len(done.record.value), "new": done.is_new}
        )
    elif done.is_new:
        output.out.print(f"partition {partition} continues without the record at offset {offset}")
    else:
        output.out.print(f"the record at offset {offset} of partition {partition} is already skipped")


async def _skip(partition: int, offset: int, reason: str) -> _Skipped:
    from replay.skipped_records import decision, decision_on  # here: --help needs none of it
    from streams.transport.event_topic import appending

    async with appending(output.settings()) as events:
        record = await _record(events, partition, offset)
        if why := _why_not(record):
            output.fail(f"the record at offset {offset} of partition {partition} {why}")
        if await decision_on(events, partition, record) is not None:
            return _Skipped(record, is_new=False)
        value = decision(record, reason)
        await events.append(partition, [Record(-1, time.time_ns() // 1_000_000, None, value, ())])
        return _Skipped(record, is_new=True)


async def _record(events: WritableLog, partition: int, offset: int) -> Record:
    from replay.accepted_events import read_records  # here: --help needs none of it

    if partition < await events.partitions():
        async for record in read_records(events, partition, offset, offset + 1):
            return record
    return output.fail(f"the log has no record at offset {offset} of partition {partition}", output.MISSING)


def _why_not(record: Record) -> str | None:
    """Return why a record must not be skipped, None if it may be."""
    from state.errors import UnreadableEventError  # here: --help needs none of it
    from state.events.events import decode
    from state.events.upcasting import VERSION

    try:
        event = decode(record.value)
    except UnreadableEventError:
        if _version(record.value) > VERSION:
            return (
                "was written by a newer version of EMGAS: upgrade this one; records of newer versions are never skipped"
            )
        return None
    return f"is readable, a {type(event).__name__}: only unreadable records can be skipped"


def _version(value: bytes) -> int:
    try:
        version = orjson.loads(value)["v"]
    except (orjson.JSONDecodeError, TypeError, KeyError, IndexError):
        return 0
    return version if type(version) is int else 0
