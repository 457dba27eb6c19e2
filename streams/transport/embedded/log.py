"""The log when there is no broker: append-only, partitioned, durable, in one SQLite file that one process owns.

It promises what `events` needs of Kafka.  A batch is in the log entirely or not at all.  Offsets are dense from 0 and
never used twice.  Acknowledged records survive the death of the process.  Waiters are woken after the commit.

Durability: WAL with synchronous=NORMAL.  A commit is a write() into the WAL, so kill -9 loses nothing; only power loss
can lose the newest commits, and then a suffix of *everything* (turns, events, positions), for it is one file.  FULL
would fsync each batch, some ms on a disk, to protect acknowledged turns from a power cut; Kafka's default does not
fsync either.  The file is reachable from several threads, one at a time.

Errors of the disk become TransportError; the batch is rolled back and may be sent again.
"""

from __future__ import annotations

import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from emgas.errors import TransportError
from emgas.wire import ProducerRecord, Record
from streams.transport.embedded import layout
from streams.transport.embedded.layout import LogPartition
from streams.transport.embedded.lock import DirectoryLock
from streams.transport.embedded.unfinished import check_finished
from streams.transport.topic_plan import FOR_EVER, TopicDescription, TopicPlan, another_partition_count

CREATE_TIME = 0  # Kafka's timestamp type: as the producer says


class EmbeddedLog:
    """The open log of `directory`, owned from construction to `close`; other users in the process get this object.

    Every method raises TransportError when the log is closed or the disk refuses; the constructor also where the
    directory is an unfinished branch, and DataDirectoryInUseError when another process has the directory.
    """

    def __init__(self, directory: Path) -> None:
        directory = directory.expanduser().resolve()
        check_finished(directory)
        self.directory = directory
        self._mutex = threading.RLock()
        self._callbacks: list[Callable[[], None]] = []
        self.consumed: dict[tuple[str, int], int] = {}  # (topic, partition) → the next offset that its reader takes
        with _failing(f"cannot use the data directory {directory}"):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = DirectoryLock(directory)
        try:
            with _failing(f"cannot open {directory / layout.FILE}"):
                self._open(directory / layout.FILE)
        except BaseException:
            lock.release()
            raise
        self._lock = lock

    def _open(self, path: Path) -> None:
        self._db = layout.connect(path, read_only=False)
        layout.check_layout(self._db, path)
        self._db.execute("pragma journal_mode=wal")
        self._db.execute("pragma synchronous=normal")
        self._db.execute("pragma secure_delete=on")  # what is removed is overwritten: docs/security.md
        self._db.executescript(f"begin immediate;{layout.SCHEMA}pragma user_version={layout.LAYOUT};commit;")
        self._plans = layout.plans_of(self._db)
        self._partitions = layout.partitions_of(self._db)

    def close(self) -> None:
        """Close the file and release the directory permanently."""
        with self._mutex:
            self._db.close()
            self._lock.release()

    # topics

    def create_topic(self, topic: TopicPlan) -> None:
        """Create a topic, or do nothing when it exists with as many partitions; another count is refused."""
        with self._mutex:
            existing = self._plans.get(topic.name)
            if existing is None:
                self._create(topic)
            elif existing.partitions != topic.partitions:
                raise TransportError(another_partition_count(topic.name, existing.partitions, topic.partitions))

    def _create(self, plan: TopicPlan) -> None:
        with self._transaction(f"cannot create topic {plan.name}") as db:
            row = (plan.name, plan.partitions, plan.retention_ms, plan.max_record_bytes, str(uuid.uuid4()))
            db.execute("insert into topic values(?,?,?,?,?)", row)
            made = {(plan.name, p): self._create_partition(db, plan.name, p) for p in range(plan.partitions)}
        self._plans[plan.name] = plan
        self._partitions.update(made)

    def _create_partition(self, db: sqlite3.Connection, topic: str, partition: int) -> LogPartition:
        row = db.execute("insert into partition values(null,?,?,0,0)", (topic, partition)).lastrowid
        assert row is not None  # noqa: S101  (what sqlite3 returns after an insert)
        db.execute(
            f"create table records_{row:d}(offset integer primary key, timestamp int not null, key blob, value blob,"
            " headers blob)"
        )
        return LogPartition(row, 0, 0)

    def topics(self) -> tuple[str, ...]:
        """List the names of all topics."""
        return tuple(self._plans)

    def partitions(self, topic: str) -> int:
        """Count the partitions of `topic`."""
        return self._plan(topic).partitions

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        """Return (first offset kept, offset after the last)."""
        kept = self._partition(topic, partition)
        return kept.start, kept.end

    def describe(self, topic: str) -> TopicDescription:
        """Describe how `topic` was made and what it holds, in the words of Kafka's configuration."""
        plan = self._plan(topic)
        with self._mutex, _failing("cannot read the log"):
            return layout.describe(self._db, plan)

    def _plan(self, topic: str) -> TopicPlan:
        try:
            return self._plans[topic]
        except KeyError:
            raise TransportError(f"topic {topic} does not exist in {self.directory}: create it first") from None

    def _partition(self, topic: str, partition: int | None) -> LogPartition:
        existing = None if partition is None else self._partitions.get((topic, partition))
        if existing is None:
            count = self._plan(topic).partitions
            raise TransportError(f"topic {topic} has partitions 0 to {count - 1}, not {partition}")
        return existing

    # records

    def check(self, record: ProducerRecord) -> None:
        """Raise TransportError when `record` alone can never be appended, so that it cannot spoil a batch."""
        self._partition(record.topic, record.partition)
        limit = self._plan(record.topic).max_record_bytes
        size = len(record.key or b"") + len(record.value or b"") + sum(len(n) + len(v) for n, v in record.headers)
        if size > limit:
            raise TransportError(f"a record of {size} bytes is over the {limit} that topic {record.topic} takes")

    def append(self, records: Sequence[ProducerRecord]) -> list[int]:
        """Append all of `records` or, when this raises, none; return their offsets.

        Each names its partition and its timestamp.
        """
        with self._mutex:
            offsets = self._write(records)
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()
        return offsets

    def _write(self, records: Sequence[ProducerRecord]) -> list[int]:
        offsets: list[int] = []
        ends: dict[LogPartition, int] = {}
        with self._transaction("the log refused a batch, nothing of it was written") as db:
            for record in records:
                self.check(record)
                at = self._partition(record.topic, record.partition)
                offset = ends.get(at, at.end)
                db.execute(f"insert into records_{at.row:d} values(?,?,?,?,?)", _row(offset, record))
                ends[at] = offset + 1
                offsets.append(offset)
            db.executemany("update partition set end=? where r=?", [(end, at.row) for at, end in ends.items()])
        for at, end in ends.items():  # only now: readers must not see an end that could still be rolled back
            at.end = end
        return offsets

    def read(self, topic: str, partition: int, start: int, limit: int = 500) -> list[Record]:
        """Read up to `limit` records from offset `start` on."""
        at = self._partition(topic, partition)
        with self._mutex, _failing("cannot read the log"):
            return layout.read(self._db, at.row, start, at.end, limit)

    def on_append(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` after every append, in the thread that appended.  Returns what ends that."""
        with self._mutex:
            self._callbacks.append(callback)

        def forget() -> None:
            with self._mutex:
                self._callbacks.remove(callback)

        return forget

    # positions of consumers

    def commit(self, group: str, positions: Mapping[tuple[str, int], int]) -> None:
        """Store, of each (topic, partition), the next offset that `group` will read."""
        rows = [(group, topic, partition, offset) for (topic, partition), offset in positions.items()]
        with self._mutex, self._transaction("cannot store the positions") as db:
            db.executemany("insert or replace into position values(?,?,?,?)", rows)

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        """Read what `commit` stored for `group`."""
        with self._mutex, _failing("cannot read the positions"):
            rows = self._db.execute("select topic, partition, offset from position where grp=?", (group,)).fetchall()
        return {(topic, partition): offset for topic, partition, offset in rows}

    # retention

    def expire(self, now_ms: int) -> int:
        """Remove what is older than its topic keeps, never past a committed position; return how many records went.

        The position is respected because, unlike a broker's, this log sleeps when its only consumer does: a turn that
        waited out a month in which the program was not started has still to be read.
        """
        with self._mutex:
            return sum(self._expire(topic, partition, now_ms) for topic, partition in self._partitions)

    def _expire(self, topic: str, partition: int, now_ms: int) -> int:
        at, keep_ms = self._partition(topic, partition), self._plan(topic).retention_ms
        if keep_ms == FOR_EVER or at.start == at.end:
            return 0
        with self._transaction(f"cannot expire records of {topic}") as db:
            start = self._first_to_keep(db, topic, partition, now_ms - keep_ms)
            db.execute(f"delete from records_{at.row:d} where offset < ?", (start,))  # noqa: S608
            db.execute("update partition set start=? where r=?", (start, at.row))
        gone, at.start = start - at.start, start
        return gone

    def _first_to_keep(self, db: sqlite3.Connection, topic: str, partition: int, horizon_ms: int) -> int:
        at = self._partition(topic, partition)
        young = f"select offset from records_{at.row:d} where timestamp >= ? order by offset limit 1"  # noqa: S608
        query = "select min(offset) from position where topic=? and partition=?"
        row = db.execute(young, (horizon_ms,)).fetchone()
        (read_up_to,) = db.execute(query, (topic, partition)).fetchone()
        start = row[0] if row else at.end
        return max(at.start, start if read_up_to is None else min(start, read_up_to))

    # erasure

    def empty(self, topic: str, partition: int, end: int, *, key: bytes | None = None, naming: bytes = b"") -> None:
        """Remove the values of records before offset `end`: those of a key, or those that hold the bytes `naming`."""
        at = self._partition(topic, partition)
        which, what = ("key = ?", key) if key is not None else ("instr(value, ?) > 0", naming)
        statement = f"update records_{at.row:d} set value=x'' where offset < ? and {which}"  # noqa: S608 - our own
        with self._mutex, self._transaction(f"cannot empty records of {topic}") as db:
            db.execute(statement, (end, what))

    def empty_journal(self) -> bool:
        """Write everything into the file itself, and empty its write-ahead log; return whether that was possible."""
        with self._mutex, _failing("cannot write the log"):
            busy, _, _ = self._db.execute("pragma wal_checkpoint(truncate)").fetchone()
        return not busy

    @contextmanager
    def _transaction(self, refusal: str) -> Iterator[sqlite3.Connection]:
        with _failing(refusal):
            self._db.execute("begin immediate")
            try:
                yield self._db
                self._db.execute("commit")
            except BaseException:
                if self._db.in_transaction:  # a full disk may have rolled back already
                    self._db.execute("rollback")
                raise


class HoldsLog(Protocol):
    """The transport, as its consumer and producer see it."""

    log: EmbeddedLog


def _row(offset: int, record: ProducerRecord) -> tuple[int, int | None, bytes | None, bytes | None, bytes | None]:
    return offset, record.timestamp, record.key, record.value, layout.pack(record.headers)


@contextmanager
def _failing(what: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        why = "the disk is full. Make room on it and try again: nothing that was stored is lost"
        raise TransportError(f"{what}: {why if 'full' in str(error) else error}") from error
