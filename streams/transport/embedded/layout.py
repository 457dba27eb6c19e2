"""The tables of `log.sqlite3`, and how to read them.  Only log.py writes to it.

    topic       name -> partitions, retention_ms, max_record_bytes, id (a UUID: a recreated topic is another topic)
    partition   (topic, partition) -> rowid r, start, end       offsets kept: start <= offset < end
    records_r   offset -> timestamp ms, key, value, headers     one table, so one B-tree, per partition
    position    (group, topic, partition) -> offset             the next one that the group will read
    headers     [u32 n | n bytes UTF-8 name | u32 m | m bytes value]*, NULL for none

One B-tree per partition, because appends then always go to its right edge and a range read is one scan.
`end` is stored, not derived from the last row: offsets go on where they were when all records have expired.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from emgas.errors import TransportError
from emgas.wire import Headers, Record
from streams.transport.topic_plan import TopicDescription, TopicPlan, settings_of

FILE: Final = "log.sqlite3"
LAYOUT: Final = 1  # PRAGMA user_version
SHOWN: Final = ("cleanup.policy", "retention.ms", "max.message.bytes")  # of a topic, in the words of Kafka
READ_BYTES: Final = 16 * 1024 * 1024  # of values that one read returns, beyond the first record

SCHEMA: Final = """
create table if not exists topic(
    name text primary key, partitions int not null, retention_ms int not null, max_record_bytes int not null,
    id text not null) without rowid;
create table if not exists partition(
    r integer primary key, topic text not null, partition int not null, start int not null, end int not null,
    unique(topic, partition));
create table if not exists position(
    grp text not null, topic text not null, partition int not null, offset int not null,
    primary key(grp, topic, partition)) without rowid;
"""


class LogPartition:
    """The row of one partition in the file, and which offsets it keeps: start <= offset < end."""

    __slots__ = ("end", "row", "start")

    def __init__(self, row: int, start: int, end: int) -> None:
        self.row, self.start, self.end = row, start, end


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Open the file.  Raises sqlite3.Error.  Transactions are ours to begin; any thread may use the connection."""
    mode = "ro" if read_only else "rwc"
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False
    )


def check_layout(db: sqlite3.Connection, path: Path) -> bool:
    """Return whether the file has its tables yet.  Raises TransportError when a newer version of EMGAS wrote it."""
    layout = db.execute("pragma user_version").fetchone()[0]
    if layout > LAYOUT:
        raise TransportError(f"{path} has layout {layout}, this version reads up to {LAYOUT}: run a newer EMGAS")
    return bool(layout > 0)


def plans_of(db: sqlite3.Connection) -> dict[str, TopicPlan]:
    """Find every topic in the file: name → how it was made."""
    rows = db.execute("select name, partitions, retention_ms, max_record_bytes from topic")
    return {row[0]: TopicPlan(*row) for row in rows}


def describe(db: sqlite3.Connection, plan: TopicPlan) -> TopicDescription:
    """Describe a topic of the file and what it holds, in the words of Kafka's configuration."""
    topic_id = str(db.execute("select id from topic where name=?", (plan.name,)).fetchone()[0])
    partitions = partitions_of(db)
    held = (partitions[plan.name, number] for number in range(plan.partitions))
    config = settings_of(plan, replication=1)
    shown = {name: config[name] for name in SHOWN}
    return TopicDescription(plan.name, plan.partitions, 1, tuple((p.start, p.end) for p in held), topic_id, shown)


def partitions_of(db: sqlite3.Connection) -> dict[tuple[str, int], LogPartition]:
    """Find every partition in the file."""
    rows = db.execute("select topic, partition, r, start, end from partition")
    return {(topic, partition): LogPartition(r, start, end) for topic, partition, r, start, end in rows}


def read(db: sqlite3.Connection, row: int, start: int, end: int, limit: int) -> list[Record]:
    """Read the records with start <= offset < end, at most `limit` and about READ_BYTES of them, at least one."""
    rows = db.execute(
        f"select offset, timestamp, key, value, headers from records_{row:d}"  # noqa: S608  (an integer of our own)
        " where offset >= ? and offset < ? order by offset limit ?",
        (start, end, limit),
    )
    records, size = [], 0
    for offset, timestamp, key, value, headers in rows:
        records.append(Record(offset, timestamp, key, value or b"", unpack(headers) if headers else ()))
        size += len(value or b"")
        if size >= READ_BYTES:
            break
    return records


def pack(headers: Iterable[tuple[str, bytes]]) -> bytes | None:
    """Pack headers in the form drawn above; order and repetition are kept."""
    parts = [
        part
        for name, value in headers
        for text in (name.encode(), value)
        for part in (struct.pack(">I", len(text)), text)
    ]
    return b"".join(parts) or None


def unpack(packed: bytes | None) -> Headers:
    """Unpack what `pack` made."""
    texts, at = [], 0
    while packed and at < len(packed):
        (size,) = struct.unpack_from(">I", packed, at)
        texts.append(packed[at + 4 : at + 4 + size])
        at += 4 + size
    return tuple((name.decode(), value) for name, value in zip(texts[::2], texts[1::2], strict=True))
