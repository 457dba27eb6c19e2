"""The composition root of a worker that writes: topics, the event table, two agents, and what they are wired to.

    turns ───▶ agent ──▶ TurnProcessor of the partition ──▶ PartitionWriter: append to events, fold
    queries ─▶ agent ──▶ QueryHandler ──▶ recall ──▶ replies

Agents take raw bytes and never yield (a yielded value would be sent wherever the message says).  They hand records
over and do not ack: a turn is acked when it is folded, and even that is only for lag metrics, as the position in
`turns` is taken from the state (`source_position`); a question is acked when it is answered or refused
(streams/query/redelivery.py).  Any unexpected failure halts the process: Faust would ack it and go on.  An error in one
partition halts that one alone.  Which are ours, and what works on them: ownership.py.

A worker of role `writer` has its share of `queries`, as all members of a group must subscribe to the same topics, and
reads none of it: readers do (reader_app.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import faust
from faust import Stream
from faust.types import TP, StreamT
from faust.types import EventT as Event

from emgas.errors import TransportError
from emgas.logs import logger
from emgas.messages.advice import Advice
from emgas.messages.requests import Failure
from emgas.wire import ProducerRecord, Record, cloud_event, partition_of
from state.errors import KeysError, KeyStoreError
from streams.ingest import source
from streams.ingest.change_feed import ChangeFeed
from streams.ingest.command_handler import CommandHandler
from streams.ingest.partition_writer import PartitionWriter, ProducedLog
from streams.ingest.sealing import Sealer
from streams.ingest.turn_processor import Delivery, ProcessorContext, TurnProcessor
from streams.ingest.verbs.deciding import HandlerContext
from streams.ingest.window_timer import WindowTimer
from streams.plugins.policies import load as load_policy
from streams.query.handler import QueryHandler
from streams.recovery.event_table import EventTable
from streams.settings import WorkerSettings
from streams.transport.keys.kafka_keys import KafkaKeys
from streams.transport.routes import KeyValue, Routes
from streams.transport.runs import run_in
from streams.transport.select import Transport
from streams.transport.source_offsets import PositionedConsumer, Rejoins
from streams.worker.advisor_worker import AdvisorWorker, AdvisorWorkerContext
from streams.worker.answering_app import AnsweringApp, WorkerContext, record_of
from streams.worker.ownership import OwnedPartition, Ownership

log = logger("worker")


class MemoryApp(AnsweringApp):
    """One worker on `transport` that owns partitions, folds turns into them and, unless it only writes, answers."""

    ownership: Ownership

    def __init__(self, settings: WorkerSettings, transport: Transport, context: WorkerContext) -> None:
        super().__init__(settings, transport, context)
        self._topic_id = transport.topic_id
        events = transport.reader(settings.topics.events)
        self._sealer = Sealer(transport.keys, is_on=settings.encryption, scrub=transport.scrub, events=events)
        if isinstance(transport.keys, KafkaKeys):
            transport.keys.sent_by(self._send, settings.append_timeout)
        self.ownership = Ownership(self, self._emgas.tick_seconds)
        self._query_handler = QueryHandler(self._answering(self.ownership.timers))
        self._advisor = self._advisor_worker()
        self._wire()

    def _advisor_worker(self) -> AdvisorWorker | None:
        client = self._context.advisor
        if client is None:
            return None
        return AdvisorWorker(
            AdvisorWorkerContext(
                client=client,
                wants=frozenset(self._emgas.advisor_asks),
                state_of=lambda partition: (
                    self.folds.open.get(partition) if partition in self.ownership.writers else None
                ),
                send=self._advise,
                extractor=self._context.extractor,
                keys=self._sealer.keys,
                count=self.metrics.advised,
            )
        )

    async def _advise(self, advice: Advice) -> None:
        """Send advice to the writer of its graph; return once the log has it."""
        headers = cloud_event(advice.kind, advice.id, advice.graph)
        key, value = advice.graph.encode(), advice.model_dump_json().encode()
        partition = partition_of(advice.graph, self._partition_count)
        await (await self._send(ProducerRecord(self._emgas.topics.turns, key, value, headers, partition)))

    @faust.Service.task
    async def _ask_for_advice(self) -> None:
        if self._advisor is not None:
            await self._advisor.run()

    def _hold(self, partition: int, is_full: bool) -> None:  # noqa: FBT001 - its only argument
        cast(PositionedConsumer, self.consumer).hold(TP(self._emgas.topics.turns, partition), is_full)

    def _wire(self) -> None:
        topics, count = self._emgas.topics, self._partition_count
        events = self._raw_topic(topics.events, partitions=count, internal=True, acks=False, allow_empty=True)
        options = {"key_type": bytes, "value_type": bytes, "partitions": count, "recovery_buffer_size": 500}
        self.tables.add(
            EventTable(
                self,
                self.folds,
                self.halt,
                self.ownership.claim,
                name="memory",
                changelog_topic=events,
                **options,
            )
        )
        self._read(topics.turns, "turns", self._take_turns)
        self._read(topics.queries, "queries", self._take_queries)
        # Weakly: Faust keeps what is connected with the class, and so would every worker that a process ever had.
        self.on_partitions_revoked.connect(self._revoked, weak=True)
        self.on_partitions_assigned.connect(self._assigned, weak=True)

    # called by Faust and its transport

    async def _revoked(self, *_: Any, **__: Any) -> None:
        self.metrics.rebalances.inc()
        await self.ownership.revoked()

    async def _assigned(self, *_: Any, **__: Any) -> None:
        self.ownership.assigned()

    async def _on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Leave questions to readers, if this worker only writes; from before the first of them is fetched."""
        if self._emgas.role == "writer":
            for tp in assigned:
                if self.comes_first(tp):
                    cast(PositionedConsumer, self.consumer).leave(tp)
        await super()._on_partitions_assigned(assigned, generation_id)

    def source_position(self, tp: TP) -> int | None:
        """Return the next offset of `turns` to read, as the state has it; None for other topics."""
        if tp.topic != self._emgas.topics.turns or tp.partition not in self.ownership.writers:
            return None
        return self.folds.open[tp.partition].position.source + 1

    def source_goes_back(self, tp: TP) -> None:
        """Claim again: `tp` ends before what was to be read of it next."""
        if tp.partition in self.ownership.writers:
            self.ownership.fail(tp.partition, source.changed(tp.partition))

    @faust.Service.task
    async def _watch_source(self) -> None:
        """Check every tick whether `turns` is still the topic that was claimed: it may be created again at any time."""
        async for _ in self.itertimer(self._emgas.tick_seconds, name="watch-source"):
            await self.look_at_source()

    @faust.Service.task
    async def _watch_standbys(self) -> None:
        """Check every tick whether the log still has what standbys folded: a broker may lose the end of a log."""
        async for _ in self.itertimer(self._emgas.tick_seconds, name="watch-standbys"):
            await self.look_at_standbys()

    async def look_at_standbys(self) -> None:
        """Fold those standbys again whose log lost what they folded; while partitions are assigned, there are none."""
        if self.ownership.ready.is_set():
            ours = self.ownership.writers.keys() | self.ownership.halted_partitions.keys()
            try:
                await self.folds.mend((self.folds.open.keys() | self.folds.broken.keys()) - ours)
            except TransportError as error:
                log.warning("cannot see whether the log has what standbys folded", error=str(error))

    async def _id_of_turns(self) -> str | None:
        return await self._topic_id(self._emgas.topics.turns)

    async def look_at_source(self) -> None:
        """Claim partitions again that were claimed for another topic `turns` than there is now."""
        try:
            topic_id = await self._id_of_turns()
        except TransportError as error:  # while the broker is away there is nothing to see
            log.warning("cannot see which topic turns is", error=str(error))
            return
        for partition, writer in list(self.ownership.writers.items()):
            if not source.is_claimed(writer, topic_id):
                self.ownership.fail(partition, source.changed(partition))
        await self._check_assigned(topic_id)

    @faust.Service.task
    async def _watch_keys(self) -> None:
        async for _ in self.itertimer(self._emgas.tick_seconds, name="watch-keys"):
            await self.look_after_keys()

    async def look_after_keys(self) -> None:
        """Destroy keys again that came back, and let the broker compact destroyed ones, where keys are in a topic."""
        keys = self._sealer.keys
        if isinstance(keys, KafkaKeys):
            try:
                await keys.mend()
                await keys.write_on(self._context.now())
            except (TransportError, KeysError, KeyStoreError) as error:
                log.warning("keys cannot be looked after", error=str(error))

    async def _check_assigned(self, topic_id: str | None) -> None:
        """Join the group again if it was assigned while `turns` was missing: its turns would be read by no worker."""
        turns, writers = self._emgas.topics.turns, self.ownership.writers
        if topic_id is None or not writers:  # before anything is assigned, the consumer may not have started: it raises
            return
        assigned = self.consumer.assignment()
        if any(TP(turns, partition) not in assigned for partition in writers):
            log.error("turns is not assigned: joining the group again", assigned=len(assigned))
            await cast(Rejoins, self.consumer).rejoin()

    # one partition

    async def claim_partition(self, partition: int) -> OwnedPartition:
        """Make what works on a partition, and claim it.  Raises why it cannot."""
        if why := self.folds.broken.get(partition):
            raise why
        settings, state = self._emgas, self.folds.open[partition]
        events = ProducedLog(self._reader(settings.topics.events), self._send_events, self._route)
        writer = PartitionWriter(
            partition,
            state,
            events,
            partitions=self._partition_count,
            worker=self._context.worker,
            timeout=settings.append_timeout,
            appended=partial(self.metrics.appended, partition),
            ignored=lambda reason: self.metrics.ignored.labels(reason).inc(),
            lost=self.metrics.lost_turns.inc,
            slices=self._slices,
            sealer=self._sealer,
        )
        await source.claim(writer, self._reader(settings.topics.turns), self._id_of_turns)
        self.metrics.claims.inc()
        for place in self._questions_about(partition):
            await self._query_handler.claimed(place)
        listener = {} if self._advisor is None else {"on_appended": partial(self._advisor.on_appended, partition)}
        timer = WindowTimer(writer, self._change_feed(partition), **listener)
        return OwnedPartition(writer, timer, self._turn_processor(writer, timer))

    async def _send_events(self, partition: int, records: Sequence[KeyValue]) -> list[int]:
        return await cast(Routes, self.producer).send_all(TP(self._emgas.topics.events, partition), records)

    def _route(self, partition: int) -> object:
        return cast(Routes, self.producer).route(TP(self._emgas.topics.events, partition))

    def _change_feed(self, partition: int) -> ChangeFeed:
        topics, reader = self._emgas.topics, self._reader
        sent, events = reader(topics.changes), reader(topics.events)
        return ChangeFeed(partition, topic=topics.changes, send=self._send, sent=sent, events=events)

    def _turn_processor(self, writer: PartitionWriter, timer: WindowTimer) -> TurnProcessor:
        # while it was halted, what was delivered was not processed
        is_behind = writer.partition in self.ownership.halted_partitions
        settings, context = self._emgas, self._context
        handling = HandlerContext(
            partitions=self._partition_count,
            extractor=context.extractor,
            embedder=context.embedder,
            encoders=context.encoders,
            skew_ms=settings.skew_ms,
            preset=settings.preset,
            now=context.now,
            keys=self._sealer.keys,
            encrypts=self._sealer.is_on,
            gate=partial(load_policy, "gates"),
            redact=settings.redact,
        )
        processing = ProcessorContext(
            sender=self._sender,
            turns=self._reader(settings.topics.turns),
            turns_topic=settings.topics.turns,
            topic_id=self._id_of_turns,
            batch_turns=settings.batch_turns,
            queued_turns=settings.queued_turns,
            on_outcome=self.metrics.count_outcome,
            hold=self._hold,
            slices=self._slices,
            sealer=self._sealer,
            pool=context.pool,
        )
        handler = CommandHandler(writer.state, writer.partition, handling)
        return TurnProcessor(writer=writer, timer=timer, handler=handler, context=processing, is_behind=is_behind)

    # records in and out

    async def _take_turns(self, stream: StreamT[Any]) -> None:
        with self._halting():
            async for event in cast(Stream[Any], stream).noack().events():
                partition, records = event.message.partition, run_in(event.message) or [record_of(event)]
                processor = self.ownership.processors.get(partition)
                if processor is not None:  # else it was taken away: the next owner reads it again
                    for record in records:
                        processor.put(self._delivery(event, record, is_last=record is records[-1]))
                elif why := self.ownership.halted_partitions.get(partition):
                    for record in records:
                        await self._tell_halted(partition, record, why)

    async def _tell_halted(self, partition: int, record: Record, why: BaseException) -> None:
        """Notify the sender of a turn that it has to wait: it stays in `turns` until the partition goes on."""
        message = f"partition {partition} has halted, the turn is kept and will be read when it goes on: {why}"
        await self._sender.answer(self._sender.address(record), "failure", Failure(code="internal", message=message))

    def _delivery(self, event: Event[Any], record: Record, *, is_last: bool) -> Delivery:
        """Deliver a record of a run; the run is acked with the last of them."""
        ended = self._trace(event.message.topic, event.message.partition, record)
        return Delivery(record, (lambda: (event.ack(), ended())) if is_last else ended)
