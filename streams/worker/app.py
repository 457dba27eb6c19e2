"""The composition root: a Faust application of topics, the event table, two agents, and what they are wired to.

    turns ───▶ agent ──▶ TurnProcessor of the partition ──▶ PartitionWriter: append to events, fold
    queries ─▶ agent ──▶ QueryHandler ──▶ recall ──▶ replies

Agents take raw bytes and never yield (a yielded value would be sent wherever the message says).  They hand records
over and do not ack: a record is acked when it is folded, and even that is only for lag metrics, as the position in
`turns` is taken from the state (`source_position`).  Any unexpected failure halts the process: Faust would ack it and
go on.  What is wrong with one partition halts that one alone.  Which are ours, and what works on them: ownership.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import faust
from faust import Stream
from faust.types import TP, StreamT
from faust.types import EventT as Event

from emgas.errors import EmgasError, TransportError
from emgas.logs import logger
from emgas.messages.queries import Failure
from emgas.wire import ProducerRecord, Record, as_mapping
from processors.extraction.extractor import Extractor
from processors.recall.answer import Answerer
from processors.recall.dense import Embedder
from processors.recall.perceptual import Encoder
from state.store.store import Store
from streams.ingest import source
from streams.ingest.change_feed import ChangeFeed
from streams.ingest.command_handler import CommandHandler, HandlerContext
from streams.ingest.partition_writer import PartitionWriter, ProducedLog
from streams.ingest.sealing import Sealer
from streams.ingest.slices import Slices
from streams.ingest.turn_processor import Delivery, ProcessorContext, TurnProcessor
from streams.ingest.window_timer import WindowTimer
from streams.query.as_of_cache import AsOfCache
from streams.query.query_handler import QueryContext, QueryHandler
from streams.query.snapshot_taker import SnapshotTaker
from streams.recovery.event_table import EventTable
from streams.recovery.partition_folds import Partitions
from streams.recovery.store_folders import RocksFolders, StoreFolders
from streams.recovery.table_manager import PromptTableManager
from streams.settings import Settings
from streams.transport.kafka.assignor import BirthAssignor
from streams.transport.kafka.credentials import faust_credentials
from streams.transport.keys.kafka_keys import KafkaKeys
from streams.transport.select import Transport
from streams.transport.source_offsets import PositionedConsumer, Rejoins
from streams.worker.metrics import CountingSender, WorkerMetrics
from streams.worker.ownership import OwnedPartition, Ownership, OwnershipContext
from streams.worker.traces import ANSWERED, tracing

log = logger("worker")
BY_BROKER = 1  # Kafka's LogAppendTime


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerContext:
    """What a worker is made of beside its settings and its transport.

    worker    its name, for its claims                 now        the present, ms since the epoch
    on_halt   told when the worker must not go on       metrics    where it counts and times what it does
    folders   where its stores lie, if not where        monotonic  counts s since whenever
              the settings say
    """

    extractor: Extractor
    embedder: Embedder | None = None
    encoders: tuple[Encoder, ...] = ()
    worker: str
    now: Callable[[], int]
    on_halt: Callable[[BaseException], None]
    metrics: WorkerMetrics = field(default_factory=WorkerMetrics)
    folders: StoreFolders | None = None
    monotonic: Callable[[], float] = time.monotonic


class MemoryApp(faust.App):
    """One worker on `transport`."""

    def __init__(self, settings: Settings, transport: Transport, context: WorkerContext) -> None:
        super().__init__(settings.prefix, **_faust_settings(settings, transport.partitions))
        self.transport = self.producer_transport = transport.driver(self)
        self.halted: BaseException | None = None
        self._emgas = settings
        self._context = context
        self.metrics = context.metrics
        self._trace = tracing(settings.prefix)
        self.health_port: int | None = None  # where health is told, if it is (health.py)
        self._partition_count = transport.partitions
        self._reader = transport.reader
        self._slices = Slices(context.monotonic)
        self._topic_id = transport.topic_id
        events = transport.reader(settings.topics.events)
        self._folders = context.folders or RocksFolders(settings)
        self.folds = Partitions(settings, events, self._folders, transport.keys)
        self._sealer = Sealer(transport.keys, is_on=settings.encryption, scrub=transport.scrub)
        if isinstance(transport.keys, KafkaKeys):
            transport.keys.sent_by(self._send)
        self._sender = CountingSender(self.metrics, settings.topics.dead_letters, transport.destinations, self._send)
        self.ownership = Ownership(self._ownership_context())
        self.ready = self.ownership.ready
        self._query_handler = self._new_query_handler(
            AsOfCache(events, self._store_beside), SnapshotTaker(settings, self.folds, events, context.now)
        )
        self._wire()

    def _ownership_context(self) -> OwnershipContext:
        return OwnershipContext(
            claim=self._claim,
            condemn=self.folds.condemn,
            failed=lambda error: self.metrics.halts.labels("partition", type(error).__name__).inc(),
            reopen=self.folds.reopen,
            stop_answering=self._stop_answering,
            halt=self.halt,
            now=self._context.now,
            tick_seconds=self._emgas.tick_seconds,
            retry_seconds=self._emgas.tick_seconds,
        )

    def _new_query_handler(self, as_of_cache: AsOfCache, snapshots: SnapshotTaker) -> QueryHandler:
        return QueryHandler(
            QueryContext(
                writers=self.ownership.writers,
                timers=self.ownership.timers,
                halted=self.ownership.halted_partitions,
                as_of_cache=as_of_cache,
                snapshots=snapshots,
                sender=self._sender,
                answerer=Answerer(self._context.extractor, self._context.embedder),
                settings=self._emgas,
                partitions=self._partition_count,
                now=self._context.now,
                monotonic=lambda: self._context.monotonic() * 1000,
                end_of_turns=self._end_of_turns,
                fail=self.ownership.fail,
            )
        )

    async def _end_of_turns(self, partition: int) -> int:
        tp = TP(self._emgas.topics.turns, partition)
        return (await cast(PositionedConsumer, self.consumer).highwaters(tp))[tp]

    def _hold(self, partition: int, is_full: bool) -> None:  # noqa: FBT001 - the one thing that is said
        cast(PositionedConsumer, self.consumer).hold(TP(self._emgas.topics.turns, partition), is_full)

    def _wire(self) -> None:
        topics, count = self._emgas.topics, self._partition_count
        typed = {"key_type": bytes, "value_type": bytes}
        raw: dict[str, Any] = {**typed, "key_serializer": "raw", "value_serializer": "raw"}
        events = self.topic(topics.events, **raw, partitions=count, internal=True, acks=False, allow_empty=True)
        options = {**typed, "partitions": count, "changelog_topic": events, "recovery_buffer_size": 500}
        self.tables.add(EventTable(self, self.folds, self.halt, self.ownership.claim, name="memory", **options))
        self.agent(self.topic(topics.turns, **raw), name="turns")(self._take_turns)
        self.agent(self.topic(topics.queries, **raw), name="queries")(self._take_queries)
        self.on_partitions_revoked.connect(self._revoked)
        self.on_partitions_assigned.connect(self._assigned)

    # what Faust and its transport ask

    async def _revoked(self, *_: Any, **__: Any) -> None:
        self.metrics.rebalances.inc()
        await self.ownership.revoked()

    async def _assigned(self, *_: Any, **__: Any) -> None:
        self.ownership.assigned()

    def source_position(self, tp: TP) -> int | None:
        """Give the next offset of `turns` to read, as the state has it; None for other topics."""
        if tp.topic != self._emgas.topics.turns or tp.partition not in self.ownership.writers:
            return None
        return self.folds.open[tp.partition].position.source + 1

    def comes_first(self, tp: TP) -> bool:
        """Tell whether `tp` holds questions: somebody waits for them, whatever is to be folded."""
        return tp.topic == self._emgas.topics.queries

    def source_goes_back(self, tp: TP) -> None:
        """Claim anew: `tp` ends before what was to be read of it next."""
        if tp.partition in self.ownership.writers:
            self.ownership.fail(tp.partition, source.changed(tp.partition))

    @faust.Service.task
    async def _watch_source(self) -> None:
        """Look now and then whether `turns` is still the topic that was claimed: it may be made anew at any moment."""
        async for _ in self.itertimer(self._emgas.tick_seconds, name="watch-source"):
            await self.look_at_source()

    async def look_at_source(self) -> None:
        """Claim anew what was claimed for another topic `turns` than is there now."""
        try:
            found = await self._topic_id(self._emgas.topics.turns)
        except TransportError as error:  # while the broker is away there is nothing to see
            log.warning("cannot see which topic turns is", error=str(error))
            return
        for partition, writer in list(self.ownership.writers.items()):
            if not source.is_claimed(writer, found):
                self.ownership.fail(partition, source.changed(partition))
        await self._check_assigned(found)

    async def _check_assigned(self, found: str | None) -> None:
        """Join the group anew where it was shared out while `turns` was not there: its turns would come to nobody."""
        turns, assigned = self._emgas.topics.turns, self.consumer.assignment()
        if found is not None and any(TP(turns, partition) not in assigned for partition in self.ownership.writers):
            log.error("turns is not assigned: joining the group anew", assigned=len(assigned))
            await cast(Rejoins, self.consumer).rejoin()

    @property
    def answering(self) -> int:
        """How many questions wait for an answer."""
        return self._query_handler.answering

    @property
    def unacknowledged(self) -> int:
        """How many answers the log has not acknowledged."""
        return self._sender.unacknowledged

    # an end

    def halt(self, error: BaseException) -> None:
        """Stop working, for good: what comes after `error` must not be folded, acked or answered."""
        if self.halted is None:
            self.halted = error
            self.metrics.halts.labels("worker", type(error).__name__).inc()
            trace = None if isinstance(error, EmgasError) else error  # ours say what to do; of a bug, the place counts
            log.critical("halted", error=f"{type(error).__name__}: {error}", exc_info=trace)
            self.ownership.halted()
            self._context.on_halt(error)

    async def _stop_answering(self, halted: bool, partition: int | None) -> None:  # noqa: FBT001 - a callback
        await self._query_handler.drop(halted=halted, partition=partition)

    @contextmanager
    def _halting(self) -> Iterator[None]:
        """Faust would ack the message at which an agent failed, and start the agent again behind it."""
        try:
            yield
        except Exception as error:
            self.halt(error)
            raise

    def _crash(self, reason: BaseException) -> None:
        """Halt when Faust crashes, whichever of its services failed: nobody else would notice (mode/services.py)."""
        is_news = not self.should_stop  # which a crash makes true
        super()._crash(reason)
        if is_news:
            self.loop.call_soon_threadsafe(self.halt, reason)  # Kafka's consumer crashes in a thread of its own

    # one partition

    async def _claim(self, partition: int) -> OwnedPartition:
        if why := self.folds.broken.get(partition):
            raise why
        settings, state = self._emgas, self.folds.open[partition]
        events = ProducedLog(self._reader(settings.topics.events), settings.topics.events, self._send)
        writer = PartitionWriter(
            partition,
            state,
            events,
            partitions=self._partition_count,
            worker=self._context.worker,
            timeout=settings.append_timeout,
            appended=partial(self.metrics.appended, partition),
            ignored=lambda reason: self.metrics.ignored.labels(reason).inc(),
            slices=self._slices,
            sealer=self._sealer,
        )
        await self._sealer.keys.refresh()
        await source.claim(writer, self._reader(settings.topics.turns), await self._topic_id(settings.topics.turns))
        self.metrics.claims.inc()
        timer = WindowTimer(writer, self._change_feed(partition))
        return OwnedPartition(writer, timer, self._turn_processor(writer, timer))

    def _change_feed(self, partition: int) -> ChangeFeed:
        topics, reader = self._emgas.topics, self._reader
        sent, events = reader(topics.changes), reader(topics.events)
        return ChangeFeed(partition, topic=topics.changes, send=self._send, sent=sent, events=events)

    def _turn_processor(self, writer: PartitionWriter, timer: WindowTimer) -> TurnProcessor:
        is_behind = writer.partition in self.ownership.halted_partitions  # what was delivered meanwhile came to nobody
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
        )
        processing = ProcessorContext(
            sender=self._sender,
            turns=self._reader(settings.topics.turns),
            turns_topic=settings.topics.turns,
            batch_turns=settings.batch_turns,
            queued_turns=settings.queued_turns,
            told=self.metrics.told,
            hold=self._hold,
            slices=self._slices,
            sealer=self._sealer,
        )
        handler = CommandHandler(writer.state, writer.partition, handling)
        return TurnProcessor(writer=writer, timer=timer, handler=handler, context=processing, is_behind=is_behind)

    def _store_beside(self, partition: int) -> AbstractContextManager[Store]:
        """Open the store of a partition that we own once more, to be read only: as it is at this moment."""
        return closing(self._folders.beside(partition))

    # records in and out

    async def _take_turns(self, stream: StreamT[Any]) -> None:
        with self._halting():
            async for event in cast(Stream[Any], stream).noack().events():
                partition, record = event.message.partition, record_of(event)
                processor = self.ownership.processors.get(partition)
                if processor is not None:  # else it was taken away: the next owner reads it again
                    processor.put(self._delivery(event, record))
                elif why := self.ownership.halted_partitions.get(partition):
                    await self._tell_halted(partition, record, why)

    async def _tell_halted(self, partition: int, record: Record, why: BaseException) -> None:
        """Tell the sender of a turn that it has to wait: it stays in `turns` until the partition goes on."""
        told = f"partition {partition} has halted, the turn is kept and will be read when it goes on: {why}"
        await self._sender.answer(self._sender.address(record), "failure", Failure(code="internal", message=told))

    def _delivery(self, event: Event[Any], record: Record) -> Delivery:
        ended = self._trace(event.message.topic, event.message.partition, record)
        return Delivery(record, lambda: (event.ack(), ended()))

    async def _take_queries(self, stream: StreamT[Any]) -> None:
        with self._halting():
            async for event in stream.events():
                if self.halted is None:
                    message, record = event.message, record_of(event)
                    ANSWERED.set(self._trace(message.topic, message.partition, record))
                    await self._query_handler.take(message.partition, record)

    async def _send(self, record: ProducerRecord) -> Any:
        topic, key, value, headers, partition, _ = record
        return await self.producer.send(topic, key, value, partition, None, list(headers))


def record_of(event: Event[Any]) -> Record:
    """Make a Record of Faust's event; on Kafka, key, value and headers may be missing."""
    message = event.message
    timestamp = round(message.timestamp * 1000)  # Faust divided by 1000; cutting off could lose a millisecond
    headers = tuple(as_mapping(message.headers).items())  # Faust gives pairs or a mapping
    by_broker = message.timestamp_type == BY_BROKER
    return Record(message.offset, timestamp, message.key, message.value or b"", headers, by_broker)


def _faust_settings(settings: Settings, partitions: int) -> dict[str, Any]:
    """Tell Faust what it must know; each line is there because its default would bite."""
    return {
        "datadir": str(settings.home / "faust"),
        "store": "memory://",
        "web_enabled": False,  # it would serve table data on 0.0.0.0 without authentication
        "topic_partitions": partitions,
        "topic_allow_declare": False,  # topics are made by `emgas topics create`, with their settings
        "topic_disable_leader": True,
        "table_standby_replicas": 1,  # 0 makes the assignor round-robin: turns and events part
        "TableManager": PromptTableManager,
        "PartitionAssignor": BirthAssignor,
        "stream_wait_empty": False,
        "stream_buffer_maxsize": 16384,
        "stream_recovery_delay": 0.0,
        "broker_commit_interval": 1.0,
        "broker_max_poll_records": 500,  # in recovery; else streams/transport/fetch_order.py has smaller shares
        "broker_session_timeout": settings.session_timeout,
        "broker_heartbeat_interval": settings.session_timeout / 5,
        # for who lives and is slow; who is dead misses the session's
        "broker_rebalance_timeout": max(60.0, settings.session_timeout * 1.5),
        "consumer_auto_offset_reset": "earliest",
        "broker_credentials": faust_credentials(settings.security),
        "producer_acks": -1,
        "producer_linger": 0,
        "producer_request_timeout": settings.append_timeout,
        "logging_config": None,
        "loghandlers": [],
    }
