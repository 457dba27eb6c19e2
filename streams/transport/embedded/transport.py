"""The Faust transport on the embedded log: `broker="embedded:///directory"`.

One process, one member of the group, every partition is its own.  Agents, tables, recovery and the assignor are
Faust's and run unmodified; only what talks to a broker is replaced.  What is used of Faust 0.15.3 beyond its public
interface: `App.on_rebalance_start`, `App.consumer_generation_id` and `App.assignor`, as its aiokafka driver and
aiokafka's coordinator use them (drivers/aiokafka.py:195-218).

The log is opened by the producer, which Faust starts first and stops last (app/base.py:268-285), so that another app,
in this process or the next, can have the directory as soon as this one has stopped.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from faust.assignor import PartitionAssignor
from faust.transport import base
from faust.transport.consumer import RecordMap
from faust.types import TP, ConsumerMessage
from mode import Service

from emgas.errors import TransportError
from state.errors import LogRewrittenError
from streams.transport.embedded.append_notifier import AppendNotifier
from streams.transport.embedded.layout import StoredRecord
from streams.transport.embedded.log import EmbeddedLog, open_log
from streams.transport.embedded.producer import CREATE_TIME, EmbeddedProducer
from streams.transport.source_offsets import PositionedConsumer, outside

EXPIRE_SECONDS = 600.0


class EmbeddedConsumer(PositionedConsumer):
    """Reads the log; is the whole consumer group."""

    transport: EmbeddedTransport
    consumer_stopped_errors = ()
    fetch_waits = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._assigned: set[TP] = set()
        self._positions: dict[TP, int] = {}
        self._rebalancing = asyncio.Lock()

    @property
    def _log(self) -> EmbeddedLog:
        return self.transport.log

    async def on_start(self) -> None:
        """Listen to the log."""
        self._bell = AppendNotifier(self._log, self._news)
        await super().on_start()

    async def on_stop(self) -> None:
        """Commit, as every consumer, and listen no more."""
        await super().on_stop()
        self._bell.close()

    # the group of one

    async def subscribe(self, topics: Iterable[str]) -> None:
        """Take all partitions of `topics`; as a task, because Faust's callback awaits the end of this call."""
        self.add_future(self._rebalance(frozenset(topics)))

    async def _rebalance(self, topics: frozenset[str]) -> None:
        async with self._rebalancing:
            self.app.on_rebalance_start()
            await self.on_partitions_revoked(set(self._assigned))
            self.app.consumer_generation_id += 1
            self._assigned = self._assign(topics)
            await self.on_partitions_assigned(set(self._assigned), self.app.consumer_generation_id)

    def _assign(self, topics: frozenset[str]) -> set[TP]:
        assignor = cast(PartitionAssignor, self.app.assignor)
        cluster: Any = _Cluster(self._log)
        member = assignor.assign(cluster, {"embedded": assignor.metadata(set(topics))})["embedded"]
        assignor.on_assignment(member)
        return {TP(topic, partition) for topic, partitions in member.assignment for partition in partitions}

    def assignment(self) -> set[TP]:
        """Return all partitions of the subscribed topics."""
        return set(self._assigned)

    # fetching

    async def _fetch(self, active: set[TP], seconds: float) -> RecordMap:
        limit = self.app.conf.broker_max_poll_records or 500
        found = {tp: self._log.read(tp.topic, tp.partition, self._positions.get(tp, 0), limit) for tp in active}
        fetched = {tp: records for tp, records in found.items() if records}
        self._positions.update({tp: records[-1].offset + 1 for tp, records in fetched.items()})
        return fetched

    def _to_message(self, tp: TP, record: StoredRecord) -> ConsumerMessage:
        key, value, headers = record.key, record.value, list(record.headers)
        sizes = len(key or b""), len(value or b"")
        written = record.timestamp / 1000.0
        generation = self.app.consumer_generation_id
        return ConsumerMessage(
            *tp, record.offset, written, CREATE_TIME, headers, key, value, None, *sizes, tp, generation_id=generation
        )

    # positions

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Seek sources to where the group committed, or to the first record kept; return those offsets."""
        committed = self._log.committed(self.app.conf.id)
        sources = {tp for tp in self._assigned if not self._is_changelog_tp(tp)}
        offsets = {tp: max(committed.get(tp, 0), self._log.bounds(*tp)[0]) for tp in sources}
        self._positions.update(offsets)
        return offsets

    async def _seek(self, partition: TP, offset: int) -> None:
        self._check_within(partition, offset)
        self._positions[partition] = offset

    async def seek_wait(self, partitions: Mapping[TP, int]) -> None:
        """Seek; offset 0 is also "nothing read yet" to Faust."""
        for tp, offset in partitions.items():
            await self._seek(tp, offset)
            self._read_offset[tp] = offset or None

    def _check_within(self, tp: TP, offset: int) -> None:
        start, end = self._log.bounds(*tp)
        if not start <= offset <= end:
            raise LogRewrittenError(outside(tp, offset))

    async def seek_to_beginning(self, *partitions: TP) -> None:
        """Seek to the first record kept."""
        self._positions.update({tp: self._log.bounds(*tp)[0] for tp in partitions or self._assigned})

    async def position(self, tp: TP) -> int | None:
        """Return the next offset to fetch."""
        return self._positions.get(tp)

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        self._log.commit(self.app.conf.id, {(tp.topic, tp.partition): offset for tp, offset in offsets.items()})
        return True

    def highwater(self, tp: TP) -> int:
        """Return the offset after the last record."""
        return self._log.bounds(*tp)[1]

    async def highwaters(self, *partitions: TP) -> Mapping[TP, int]:
        """Return the offsets after the last records."""
        return {tp: self.highwater(tp) for tp in partitions}

    async def earliest_offsets(self, *partitions: TP) -> Mapping[TP, int]:
        """Return the offsets of the first records kept."""
        return {tp: self._log.bounds(*tp)[0] for tp in partitions}

    # topics

    def topic_partitions(self, topic: str) -> int | None:
        """Return the partition count of `topic`."""
        return self._log.partitions(topic)

    def key_partition(self, topic: str, key: bytes | None, partition: int | None = None) -> int | None:
        """Return where `key` lies."""
        producer = cast(EmbeddedProducer, self.app.producer)
        return producer.key_partition(topic, key).partition if partition is None else partition

    async def create_topic(self, topic: str, partitions: int, replication: int, **_: Any) -> None:
        """Do nothing, as the producer."""

    def _new_topicpartition(self, topic: str, partition: int) -> TP:
        return TP(topic, partition)

    @Service.task
    async def _expire_records(self) -> None:
        self._log.expire(round(time.time() * 1000))
        async for _ in self.itertimer(EXPIRE_SECONDS, name="expire"):
            self._log.expire(round(time.time() * 1000))


class EmbeddedTransport(base.Transport):
    """Owns the log between the start and the stop of its app: `transport.log`, shared with whoever calls `open_log`."""

    Consumer = EmbeddedConsumer
    Producer = EmbeddedProducer
    default_port = 0
    driver_version = f"embedded-sqlite={sqlite3.sqlite_version}"
    _log: EmbeddedLog | None = None

    @property
    def directory(self) -> Path:
        """The data directory, from the URL."""
        return Path(self.url[0].path)

    @property
    def log(self) -> EmbeddedLog:
        """The open log.  Raises TransportError when the app does not run."""
        if self._log is None:
            raise TransportError("the embedded worker does not run: start it first")
        return self._log

    def open(self) -> None:
        """Take a share of the log.  Raises DataDirectoryInUseError."""
        if self._log is None:
            self._log = open_log(self.directory)

    def close(self) -> None:
        """Give it back."""
        if self._log is not None:
            self._log.close()
        self._log = None


class _Cluster:
    """The part of aiokafka's cluster metadata that Faust's assignor asks for."""

    def __init__(self, log: EmbeddedLog) -> None:
        self._log = log

    def partitions_for_topic(self, topic: str) -> set[int]:
        return set(range(self._log.partitions(topic)))
