"""The base of every worker, whatever its role: a Faust application that answers questions, and stops in order.

    queries ─▶ agent ──▶ QueryHandler ──▶ recall ──▶ replies

The role decides on its partitions: app.py owns and writes them, reader_app.py follows them.  Agents take raw bytes and
never yield (a yielded value would be sent wherever the message says).  Any unexpected failure halts the process: Faust
would ack it and go on.  An error in one partition halts only that one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import faust
from faust import Stream
from faust.types import TP, StreamT
from faust.types import EventT as Event

from emgas.errors import EmgasError
from emgas.logs import logger
from emgas.messages.turns import Reinforce
from emgas.wire import COMPRESSION, ProducerRecord, Record, as_mapping, cloud_event, partition_of
from processors.extraction.extractor import Extractor
from processors.lifecycle.policies import register
from processors.recall.answer.answer import Answerer
from processors.recall.answer.perceptual import AttachmentEncoder
from processors.recall.ranking.dense import Embedder
from processors.recall.retrieval.policies import Policies
from state.store.store import Store
from streams.ingest.slices import READER_SECONDS, SLICE_SECONDS, Slices
from streams.ingest.window_timer import WindowTimer
from streams.plugins.advisor_client import AdvisorClient
from streams.plugins.extraction_pool import ExtractionPool
from streams.plugins.policies import load as load_policy
from streams.query.answers.as_of_cache import AsOfCache
from streams.query.answers.context import QueryablePartition, QueryContext
from streams.query.answers.snapshot_taker import SnapshotTaker
from streams.query.handler import QueryHandler
from streams.recovery.partition_folds import Partitions
from streams.recovery.store_folders import RocksFolders, StoreFolders
from streams.recovery.table_manager import PromptTableManager
from streams.settings import WorkerSettings
from streams.transport.kafka.assignor import BirthAssignor
from streams.transport.kafka.credentials import faust_credentials
from streams.transport.routes import Routes
from streams.transport.select import CLIENT, Transport
from streams.transport.source_offsets import PositionedConsumer
from streams.worker.metrics import CountingSender, WorkerMetrics
from streams.worker.traces import ANSWERED, stage, tracing

log = logger("worker")
BY_BROKER = 1  # Kafka's LogAppendTime


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerContext:
    """The parts of a worker beside its settings and its transport.

    worker    its name, for its claims                 now        the present, ms since the epoch
    on_halt   called when the worker must not go on       metrics    where it counts and times what it does
    folders   where its stores lie, if not where        monotonic  counts s since an arbitrary moment
              the settings say                          pool       finds concepts in other processes, if there is one
    advisor   asks the advisor, if there is one
    """

    extractor: Extractor
    embedder: Embedder | None = None
    encoders: tuple[AttachmentEncoder, ...] = ()
    worker: str
    now: Callable[[], int]
    on_halt: Callable[[BaseException], None]
    metrics: WorkerMetrics = field(default_factory=WorkerMetrics)
    folders: StoreFolders | None = None
    monotonic: Callable[[], float] = time.monotonic
    pool: ExtractionPool | None = None
    advisor: AdvisorClient | None = None


class Holding(Protocol):
    """The holder of a worker's partitions (ownership.py, following.py).

    queryable          the partitions that questions are answered from
    halted_partitions  partition → why it cannot go on
    """

    ready: asyncio.Event
    halted_partitions: dict[int, BaseException]

    @property
    def queryable(self) -> Mapping[int, QueryablePartition]: ...

    @property
    def queued(self) -> Mapping[int, int]:
        """Count the turns that are read ahead, by partition."""

    @property
    def waiting(self) -> Mapping[int, BaseException]:
        """The partitions whose turns wait until a key can be made for one of them, and why it cannot."""

    @property
    def lost(self) -> list[int]:
        """List the partitions that now belong to another worker, as far as this one knows."""

    def fail(self, partition: int, error: BaseException) -> None:
        """Halt a partition because of `error`, and try to take it up again; halt the worker if it is not alone."""

    def halted(self) -> None:
        """Cancel what works: the worker will not go on."""

    async def release(self) -> None:
        """Finish work in progress, then release all partitions."""


class AnsweringApp(faust.App):
    """One worker on `transport`.  Its role makes `ownership` and `_query_handler`, and says when it is to stop."""

    ownership: Holding
    _query_handler: QueryHandler

    def __init__(
        self, settings: WorkerSettings, transport: Transport, context: WorkerContext, **faust_settings: Any
    ) -> None:
        super().__init__(settings.group, **(_faust_settings(settings, transport.partitions) | faust_settings))
        self.transport = self.producer_transport = transport.driver(self)
        self.halted: BaseException | None = None
        self._emgas = settings
        self._context = context
        self.metrics = context.metrics
        self._trace = tracing(settings.group)
        self.health_port: int | None = None  # where health is served, if it is (health.py)
        self._partition_count = transport.partitions
        self._reader = transport.reader
        self._slices = Slices(context.monotonic, READER_SECONDS if settings.role == "reader" else SLICE_SECONDS)
        self._keys = transport.keys
        events = transport.reader(settings.topics.events)
        self._folders = context.folders or RocksFolders(settings)
        self.folds = Partitions(settings, events, self._folders, transport.keys)
        going = settings.topics.dead_letters, transport.destinations, self._send, self._send_together
        self._sender = CountingSender(self.metrics, *going)
        register(load_policy)
        self._as_of_cache = AsOfCache(events, self._store_beside)
        self._snapshots = SnapshotTaker(settings, self.folds, events, context.now)

    @property
    def pool(self) -> ExtractionPool | None:
        """Return the pool that extracts concepts in other processes, if there is one."""
        return self._context.pool

    @property
    def role(self) -> str:
        """Return the worker's role: all, writer or reader."""
        return self._emgas.role

    @property
    def ready(self) -> asyncio.Event:
        """Set once everything assigned can be queried, or has halted."""
        return self.ownership.ready

    def _answering(self, timers: Mapping[int, WindowTimer]) -> QueryContext:
        """Build the context of the query handler."""
        return QueryContext(
            worker=self,
            halted=self.ownership.halted_partitions,
            as_of_cache=self._as_of_cache,
            snapshots=self._snapshots,
            sender=self._sender,
            answerer=Answerer(self._context.extractor, self._context.embedder, Policies(load_policy), stage),
            settings=self._emgas,
            partitions=self._partition_count,
            writers=self.ownership.queryable,
            timers=timers,
        )

    def _read(self, topic: str, name: str, take: Callable[[StreamT[bytes]], Awaitable[None]]) -> None:
        """Read a topic by an agent.  `App.agent` would also look through every module for where it is declared."""
        channel, on_error = self._raw_topic(topic), self._on_agent_error
        make: Any = self.conf.Agent
        agent = make(take, name=name, app=self, channel=channel, on_error=on_error, help=take.__doc__)
        self.agents[agent.name] = agent
        self.topics.beacon.add(agent)

    def _raw_topic(self, name: str, **options: Any) -> Any:
        """Make a Faust topic of bytes."""
        raw: dict[str, Any] = {"key_serializer": "raw", "value_serializer": "raw"}
        return self.topic(name, key_type=bytes, value_type=bytes, **raw, **options)

    # called by the query handler (QueryWorker)

    @property
    def is_writer(self) -> bool:
        """Return whether it writes events."""
        return self.role != "reader"

    def now_ms(self) -> int:
        """Return the present, ms since 1970."""
        return self._context.now()

    def monotonic_ms(self) -> float:
        """Return ms since an arbitrary moment."""
        return self._context.monotonic() * 1000

    def fail_partition(self, partition: int, error: BaseException) -> None:
        """Halt a partition, or the worker if the error is not the partition's alone."""
        self.ownership.fail(partition, error)

    def count_failure(self, error: BaseException) -> None:
        """Count that a partition halts alone."""
        self.metrics.halts.labels("partition", type(error).__name__).inc()

    def yield_to_queries(self) -> None:
        """Pause the fold of turns for a moment."""
        self._slices.yield_to_queries()

    async def send_reinforcement(self, woken: Reinforce) -> None:
        """Send what a question woke to the writer of its partition; return once the log has it."""
        key = woken.graph.encode()
        headers = cloud_event(woken.kind, woken.id, woken.graph)
        value = woken.model_dump_json().encode()
        partition = partition_of(woken.graph, self._partition_count)
        await (await self._send(ProducerRecord(self._emgas.topics.turns, key, value, headers, partition)))

    async def end_of_turns(self, partition: int) -> int:
        """Ask the log for the offset behind the last turn of a partition."""
        tp = TP(self._emgas.topics.turns, partition)
        return (await cast(PositionedConsumer, self.consumer).highwaters(tp))[tp]

    async def end_of_queries(self, place: int) -> int:
        """Ask the log for the offset behind the last question of a partition of `queries`."""
        return (await self._reader(self._emgas.topics.queries).bounds(place))[1]

    def _questions_about(self, partition: int) -> list[int]:
        """List the partitions of `queries` whose questions about a partition come to us."""
        if self.role == "writer":
            return []
        places = {tp.partition for tp in self.consumer.assignment() if self.comes_first(tp)}
        return sorted({partition, *(place for place in places if place % self._partition_count == partition)})

    # called by the transport

    def source_position(self, tp: TP) -> int | None:
        """Return the next offset of `tp` to read, as the state has it; None for a topic without one."""
        return None

    def source_goes_back(self, tp: TP) -> None:
        """Take note that `tp` ends before what was to be read of it next: of questions, that has no effect."""

    def comes_first(self, tp: TP) -> bool:
        """Return whether `tp` holds questions: clients wait for them, so they come before turns."""
        return tp.topic == self._emgas.topics.queries

    def questions_came(self) -> None:
        """Pause the fold of turns for questions that were fetched."""
        self.yield_to_queries()

    # how it does

    @property
    def answering(self) -> int:
        """Return the number of questions that wait for an answer."""
        return self._query_handler.answering

    @property
    def unacknowledged(self) -> int:
        """Return the number of answers that the log has not acknowledged."""
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

    async def stop_answering(self, *, halted: bool, partition: int | None) -> None:
        """Stop answering questions about a partition, or all; `halted`: leave half done what they append."""
        await self._query_handler.drop(halted=halted, partition=partition)

    @contextmanager
    def _halting(self) -> Iterator[None]:
        """Halt where an agent fails: Faust would ack the message that it failed at, and start it again behind that."""
        try:
            yield
        except Exception as error:
            self.halt(error)
            raise

    def _crash(self, reason: BaseException) -> None:
        """Halt when Faust crashes, whichever of its services failed: else it would go unnoticed (mode/services.py)."""
        is_news = not self.should_stop  # which a crash makes true
        super()._crash(reason)
        if is_news:
            self.loop.call_soon_threadsafe(self.halt, reason)  # Kafka's consumer crashes in a thread of its own

    def _store_beside(self, partition: int) -> AbstractContextManager[Store]:
        """Open the store of a partition that we own once more, to be read only: as it is at this moment."""
        return closing(self._folders.beside(partition))

    # records in and out

    async def _take_queries(self, stream: StreamT[Any]) -> None:
        with self._halting():
            async for event in cast(Stream[Any], stream).noack().events():
                if self.halted is None:
                    message, record = event.message, record_of(event)
                    ANSWERED.set(self._trace(message.topic, message.partition, record))
                    await self._query_handler.take(message.partition, record, event.ack)

    async def _send(self, record: ProducerRecord) -> Any:
        topic, key, value, headers, partition, _ = record
        return await self.producer.send(topic, key, value, partition, None, list(headers))

    async def _send_together(self, records: Sequence[ProducerRecord]) -> Awaitable[Any]:
        topic, partition = records[0].topic, records[0].partition
        assert partition is not None  # noqa: S101 - an answer has an address
        return await cast(Routes, self.producer).send_together(TP(topic, partition), records)


def record_of(event: Event[Any]) -> Record:
    """Make a Record of Faust's event; on Kafka, key, value and headers may be missing."""
    message = event.message
    timestamp = round(message.timestamp * 1000)  # Faust divided by 1000; cutting off could lose a millisecond
    headers = tuple(as_mapping(message.headers).items())  # Faust gives pairs or a mapping
    by_broker = message.timestamp_type == BY_BROKER
    return Record(message.offset, timestamp, message.key, message.value or b"", headers, by_broker)


def _faust_settings(settings: WorkerSettings, partitions: int) -> dict[str, Any]:
    """Return the settings of Faust; each line is there because its default would do harm."""
    return {
        "datadir": str(settings.home / "faust"),
        "store": "memory://",
        "web_enabled": False,  # it would serve table data on 0.0.0.0 without authentication
        "topic_partitions": partitions,
        "topic_allow_declare": False,  # topics are made by `emgas admin topics create`, with their settings
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
        "broker_client_id": f"{CLIENT}{settings.role}",
        "consumer_group_instance_id": settings.instance,
        "consumer_auto_offset_reset": "earliest",
        "broker_credentials": faust_credentials(settings.security),
        "producer_acks": -1,
        "producer_compression_type": COMPRESSION,
        "producer_linger": 0,
        "producer_request_timeout": settings.append_timeout,
        "logging_config": None,
        "loghandlers": [],
    }
