"""The composition root of a reader: it folds `events` along, answers questions, and writes no event.

    events ──▶ Following: a fold of each partition that it holds      queries ─▶ agent ──▶ QueryHandler ──▶ replies

Its consumer group shares out `queries` alone (streams/transport/kafka/assignor.py); what it holds are the
partitions of `events` that its questions are about.  They are followed without a group, from where the fold stands, by
a consumer of each: a Faust table stops following once it is recovered, and a rebalance would stop all of them.

`queries` has R times the partitions of `events`, and question partition q is about partition q modulo their count, so R
readers can hold one partition.  With R or more readers, none gets two question partitions about the same one.

Questions about a partition are left in the log until its fold has come to the log's end; what a question woke is sent
to the partition's writer, in `turns`.
"""

from __future__ import annotations

import asyncio
from typing import cast

import faust
from faust.types import TP

from replay.log import FollowedLog
from state.events.events import SubjectErased
from state.partition import Folded
from streams.query.handler import QueryHandler
from streams.settings import WorkerSettings
from streams.transport.kafka.assignor import ReaderAssignor
from streams.transport.keys.key_store import refreshed
from streams.transport.select import Transport
from streams.transport.source_offsets import PositionedConsumer
from streams.worker.answering_app import AnsweringApp, WorkerContext
from streams.worker.following import Following, FollowingContext

METADATA_MS = 15_000  # until a reader notices that `queries` was given more partitions


class ReaderApp(AnsweringApp):
    """One reader on `transport`."""

    ownership: Following

    def __init__(self, settings: WorkerSettings, transport: Transport, context: WorkerContext) -> None:
        super().__init__(
            settings,
            transport,
            context,
            PartitionAssignor=ReaderAssignor,
            consumer_metadata_max_age_ms=METADATA_MS,
        )
        self._queries: set[TP] = set()  # partitions of `queries` that are ours
        self._is_erased = False  # whether something was erased since the past was last forgotten
        self.ownership = Following(self._following_context())
        self._query_handler = QueryHandler(self._answering(timers={}))
        self._read(settings.topics.queries, "queries", self._take_queries)

    def _following_context(self) -> FollowingContext:
        return FollowingContext(
            folds=self.folds,
            events=cast(FollowedLog, self._reader(self._emgas.topics.events)),
            keys=self._keys,
            slices=self._slices,
            folded=self._folded,
            opened=self._opened,
            closing=self._stop_asking,
            failed=self.count_failure,
            halt=self.halt,
            retry_seconds=self._emgas.tick_seconds,
        )

    async def _on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Hold the folds that our questions are about; leave each question where it is until it can be answered."""
        self.metrics.rebalances.inc()
        self._queries = {tp for tp in assigned if self.comes_first(tp)}
        partitions = {self._about(tp) for tp in self._queries}
        for tp in self._queries:
            self._hold(tp)
        self._query_handler.come_again()  # the group goes on where it committed
        await asyncio.gather(*(self._query_handler.claimed(tp.partition) for tp in self._queries))
        await super()._on_partitions_assigned(assigned, generation_id)
        await self.ownership.hold(partitions)

    def _about(self, tp: TP) -> int:
        """Return the partition that the questions in `tp` are about."""
        return tp.partition % self._partition_count

    def _hold(self, tp: TP) -> None:
        partition, holding = self._about(tp), self.ownership
        is_open = partition in holding.queryable or partition in holding.halted_partitions
        cast(PositionedConsumer, self.consumer).hold(tp, not is_open)

    def _opened(self, partition: int) -> None:
        for tp in self._queries:
            if self._about(tp) == partition:
                self._hold(tp)

    async def _stop_asking(self, partition: int, given_up: bool) -> None:  # noqa: FBT001 - a callback
        await self._query_handler.drop(partition=partition, given_up=given_up)

    def _folded(self, partition: int, folded: Folded) -> None:
        self.metrics.followed(partition)
        self._is_erased |= isinstance(folded.event, SubjectErased)

    @faust.Service.task
    async def _forget_what_is_erased(self) -> None:
        """Refresh the keys every tick: the keys of an erased subject are destroyed shortly after the event."""
        async for _ in self.itertimer(self._emgas.tick_seconds, name="keys"):
            was_erased, self._is_erased = self._is_erased, False
            if not await refreshed(self._keys):
                self._is_erased |= was_erased
            elif was_erased:
                self._as_of_cache.forget()
