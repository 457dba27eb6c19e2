"""The consumer of the embedded transport: one process, one member of the group, every partition is its own.

It uses these parts of Faust 0.15.3 beyond its public interface: `App.on_rebalance_start`, `App.consumer_generation_id`
and `App.assignor`, as its aiokafka driver and aiokafka's coordinator use them (drivers/aiokafka.py:195-218).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from typing import Any, cast

from faust.assignor import PartitionAssignor
from faust.transport.consumer import RecordMap
from faust.types import TP, ConsumerMessage
from mode import Service

from emgas.wire import Record
from state.errors import LogRewrittenError
from streams.transport.embedded.append_notifier import AppendNotifier
from streams.transport.embedded.log import CREATE_TIME, EmbeddedLog, HoldsLog
from streams.transport.source_offsets import PositionedConsumer, outside

EXPIRE_SECONDS = 600.0


class EmbeddedConsumer(PositionedConsumer):
    """Reads the log; is the whole consumer group."""

    consumer_stopped_errors = ()
    fetch_waits = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._assigned: set[TP] = set()
        self._positions: dict[TP, int] = {}
        self._rebalancing = asyncio.Lock()

    @property
    def _log(self) -> EmbeddedLog:
        return cast(HoldsLog, self.transport).log

    async def on_start(self) -> None:
        """Listen to the log."""
        self._notifier = AppendNotifier(self._log, self._news)
        await super().on_start()

    async def on_stop(self) -> None:
        """Commit, as every consumer, and listen no more."""
        await super().on_stop()
        self._notifier.close()

    # the group of one

    async def subscribe(self, topics: Iterable[str]) -> None:
        """Take all partitions of `topics`; as a task, because Faust's callback awaits the end of this call."""
        self.add_future(self._rebalance(frozenset(topics)))

    async def rejoin(self) -> None:
        """Do nothing: topics of the embedded log are not made while a worker has it."""

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
        return await self._order.fetch(self._read, active, seconds, self.app.conf.broker_max_poll_records or 500)

    async def _read(self, partitions: set[TP], _: float, most: int) -> RecordMap:
        """Read up to `most` records of each partition, without waiting: `_news` tells when there is more."""
        behind = {tp: at for tp in partitions if (at := self._positions.get(tp, 0)) < self.highwater(tp)}
        batches = {tp: self._log.read(*tp, at, most) for tp, at in behind.items()}
        fetched = {tp: records for tp, records in batches.items() if records}
        self._positions.update({tp: records[-1].offset + 1 for tp, records in fetched.items()})
        self._log.consumed.update({(tp.topic, tp.partition): self._positions[tp] for tp in fetched})
        return fetched

    def _message_of(self, tp: TP, fetched: Record) -> ConsumerMessage:
        record, key, value, headers = fetched, fetched.key, fetched.value, list(fetched.headers)
        sizes = len(key or b""), len(value)
        written = record.timestamp / 1000.0
        generation = self.app.consumer_generation_id
        return ConsumerMessage(
            *tp, record.offset, written, CREATE_TIME, headers, key, value, None, *sizes, tp, generation_id=generation
        )

    def _record_of(self, fetched: Record) -> Record:
        return fetched

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
        for tp, position in partitions.items():
            offset = max(position, self._log.bounds(*tp)[0]) if not self._is_changelog_tp(tp) else position
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
        """Count the partitions of `topic`."""
        return self._log.partitions(topic)

    def key_partition(self, topic: str, key: bytes | None, partition: int | None = None) -> int | None:
        """Place `key`."""
        if partition is not None:
            return partition
        return self.app.producer.key_partition(topic, key).partition  # type: ignore[arg-type]  # a record may lack a key

    async def create_topic(self, topic: str, partitions: int, replication: int, **_: Any) -> None:
        """Do nothing, as the producer."""

    def _new_topicpartition(self, topic: str, partition: int) -> TP:
        return TP(topic, partition)

    @Service.task
    async def _expire_records(self) -> None:
        self._log.expire(round(time.time() * 1000))
        async for _ in self.itertimer(EXPIRE_SECONDS, name="expire"):
            self._log.expire(round(time.time() * 1000))


class _Cluster:
    """The part of aiokafka's cluster metadata that Faust's assignor asks for."""

    def __init__(self, log: EmbeddedLog) -> None:
        self._log = log

    def partitions_for_topic(self, topic: str) -> set[int]:
        return set(range(self._log.partitions(topic)))
