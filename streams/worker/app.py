"""The Faust application: topics, the event table, two agents, and who owns which partition.

    turns ──▶ agent ──▶ TurnProcessor of the partition ──▶ PartitionWriter: append to events, fold
    queries ─▶ agent ──▶ QueryHandler ──▶ recall ──▶ replies

Agents take raw bytes and never yield (a yielded value would be sent wherever the message says).  They hand records
over and do not ack: a record is acked when it is folded, and even that is only for lag metrics, as the position in
`turns` is taken from the state (`source_position`).  Any unexpected failure halts the process: Faust would ack it and
go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any, cast

import faust
import structlog
from faust import Stream
from faust.types import TP, StreamT
from faust.types import EventT as Event

from emgas.errors import EmgasError
from emgas.wire import Headers, as_mapping
from processors.extraction.extractor import Extractor
from processors.recall.dense import Embedder
from state.store.rocksdb import RocksStore
from state.store.store import Store
from streams.ingest.change_feed import ChangeFeed
from streams.ingest.command_handler import Arrival, CommandHandler, HandlerContext
from streams.ingest.partition_writer import PartitionWriter, ProducedLog
from streams.ingest.turn_processor import Delivery, ProcessorContext, TurnProcessor
from streams.ingest.window_timer import WindowTimer
from streams.query.as_of_cache import AsOfCache
from streams.query.query_handler import QueryHandler
from streams.recovery.event_table import EventTable, Partitions
from streams.recovery.snapshots import SnapshotTaker
from streams.recovery.table_manager import PromptTableManager
from streams.settings import Settings
from streams.transport.select import Transport
from streams.transport.sender import MessageSender

log = structlog.get_logger()
LAST_SECONDS = 1.0  # that a task may take to end once it is cancelled: a rebalance waits for it


class MemoryApp(faust.App):
    """One worker.  `now` returns ms since the epoch; `on_halt` is told when the worker must not go on."""

    def __init__(
        self,
        settings: Settings,
        carrier: Transport,
        extractor: Extractor,
        writer: str,
        now: Callable[[], int],
        on_halt: Callable[[BaseException], None],
        embedder: Embedder | None = None,
    ) -> None:
        super().__init__(settings.prefix, broker=carrier.broker, **_faust_settings(settings, carrier.partitions))
        self.halted: BaseException | None = None
        self.ready = asyncio.Event()
        self._emgas = settings
        self._count = carrier.partitions
        self._readers = carrier.reader
        self._writer = writer
        self._now = now
        self._handling = HandlerContext(
            partitions=carrier.partitions,
            extractor=extractor,
            embedder=embedder,
            skew_ms=settings.skew_ms,
            preset=settings.preset,
            now=now,
        )
        self._on_halt = on_halt
        self._ownership = asyncio.Lock()
        self._assigned = False  # else partitions were taken away, and what is assigned instead is not known yet
        self._loops: dict[int, TurnProcessor] = {}
        self._work: list[asyncio.Task[None]] = []
        self.owners: dict[int, PartitionWriter] = {}
        self.folds = Partitions(settings, carrier.reader(settings.topics.events))
        self._outbox = MessageSender(settings.topics.dead_letters, carrier.destinations, self._send)
        self._processing = ProcessorContext(
            sender=self._outbox,
            turns=carrier.reader(settings.topics.turns),
            turns_topic=settings.topics.turns,
            batch_turns=settings.batch_turns,
            queued_turns=settings.queued_turns,
        )
        self.keepers: dict[int, WindowTimer] = {}
        past = AsOfCache(carrier.reader(settings.topics.events), self._store_beside)
        snapshots = SnapshotTaker(settings, self.folds, carrier.reader(settings.topics.events), now)
        self._desk = QueryHandler(
            self.owners,
            self.keepers,
            past,
            snapshots,
            self._outbox,
            extractor,
            settings,
            self._count,
            now,
            self.halt,
            embedder,
        )
        self._wire()

    def _wire(self) -> None:
        topics = self._emgas.topics
        typed = {"key_type": bytes, "value_type": bytes}
        raw: dict[str, Any] = {**typed, "key_serializer": "raw", "value_serializer": "raw"}
        events = self.topic(topics.events, **raw, partitions=self._count, internal=True, acks=False, allow_empty=True)
        options = {**typed, "partitions": self._count, "changelog_topic": events}
        table = EventTable(self, self.folds, self.halt, self._claim, name="memory", recovery_buffer_size=500, **options)
        self.tables.add(table)
        self.agent(self.topic(topics.turns, **raw), name="turns")(self._take_turns)
        self.agent(self.topic(topics.queries, **raw), name="queries")(self._take_queries)
        self.on_partitions_revoked.connect(self._release)
        self.on_partitions_assigned.connect(self._may_claim)

    def _store_beside(self, number: int) -> AbstractContextManager[Store]:
        """Open the store of a partition that we own once more, to be read only: as it is at this moment."""
        return closing(RocksStore(self._emgas.store_of(number), read_only=True))

    def source_position(self, tp: TP) -> int | None:
        """Return the next offset of `turns` to read, as the state has it; None for other topics."""
        if tp.topic != self._emgas.topics.turns or tp.partition not in self.folds.open:
            return None
        return self.folds.open[tp.partition].head.source + 1

    def halt(self, error: BaseException) -> None:
        """Stop working, for good: what comes after `error` must not be folded, acked or answered."""
        if self.halted is None:
            self.halted = error
            trace = None if isinstance(error, EmgasError) else error  # ours say what to do; of a bug, the place counts
            log.critical("halted", error=f"{type(error).__name__}: {error}", exc_info=trace)
            for task in self._work:
                task.cancel()
            self._on_halt(error)

    async def release(self) -> None:
        """Finish what is half done and give up all partitions; the folds stay open."""
        async with self._ownership:
            self.ready.clear()
            await self._give_up()

    async def _give_up(self) -> None:
        self.owners.clear()  # first: a question that comes now would outlive the store that it asks
        await self._desk.drop(halted=self.halted is not None)
        if self.halted is None:
            for number, turns in self._loops.items():
                await turns.settle()
                async with self.keepers[number].lock:  # a window is closed as a whole
                    pass
        for task in self._work:
            task.cancel()
        if self._work:  # held until they have ended: the loop itself forgets a task that nobody else knows
            await asyncio.wait(self._work, timeout=LAST_SECONDS)
        for turns in self._loops.values():
            turns.drop()
        for held in (self._loops, self._work, self.keepers):
            held.clear()

    async def _release(self, *_: Any, **__: Any) -> None:
        self._assigned = False
        await self.release()

    async def _may_claim(self, *_: Any, **__: Any) -> None:
        self._assigned = True

    async def _claim(self, numbers: set[int]) -> None:
        async with self._ownership:
            if self.halted is not None or not self._assigned:  # a recovery may end after its partitions were revoked:
                return  # they may be another worker's by now, and the next recovery is to come
            await self._give_up()  # what a recovery claimed that was cut off by this one
            await asyncio.gather(*(self._own(number) for number in numbers))
            self.ready.set()
            log.info("owns", partitions=sorted(self.owners))

    async def _own(self, number: int) -> None:
        settings, state = self._emgas, self.folds.open[number]
        events = ProducedLog(self._readers(settings.topics.events), settings.topics.events, self._send)
        owner = PartitionWriter(
            number,
            state,
            events,
            partitions=self._count,
            worker=self._writer,
            timeout=settings.append_timeout,
        )
        await owner.claim()
        keeper = self._keeper(owner)
        handler = CommandHandler(state, number, self._handling)
        turns = TurnProcessor(writer=owner, timer=keeper, handler=handler, context=self._processing)
        self.owners[number] = owner
        self.keepers[number] = keeper
        self._loops[number] = turns
        for work in (keeper.catch_up(), turns.run(), self._tick(keeper)):
            self._work.append(asyncio.create_task(self._guarded(work)))

    async def _tick(self, keeper: WindowTimer) -> None:
        while True:
            await asyncio.sleep(self._emgas.tick_seconds)
            await keeper.tick(self._now())

    def _keeper(self, owner: PartitionWriter) -> WindowTimer:
        topics, reader = self._emgas.topics, self._readers
        sent, events = reader(topics.changes), reader(topics.events)
        feed = ChangeFeed(owner.partition, topic=topics.changes, send=self._send, sent=sent, events=events)
        return WindowTimer(owner, feed)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:
            self.halt(error)

    async def _take_turns(self, stream: StreamT[Any]) -> None:
        with self._halting():
            async for event in cast(Stream[Any], stream).noack().events():
                running = self._loops.get(event.message.partition)
                if running is not None:  # else it was taken away: the next owner reads it again
                    await running.put(Delivery(_arrival(event), event.ack))

    async def _take_queries(self, stream: StreamT[Any]) -> None:
        with self._halting():
            async for event in stream.events():
                if self.halted is None:
                    await self._desk.take(event.message.partition, _arrival(event))

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

    async def _send(self, topic: str, partition: int | None, key: bytes | None, value: bytes, headers: Headers) -> Any:
        return await self.producer.send(topic, key, value, partition, None, list(headers))


def _arrival(event: Event[Any]) -> Arrival:
    message = event.message
    timestamp = round(message.timestamp * 1000)  # Faust divided by 1000; cutting off could lose a millisecond
    return Arrival(message.offset, timestamp, message.key, message.value or b"", as_mapping(message.headers))


def _faust_settings(settings: Settings, partitions: int) -> dict[str, Any]:
    """Return what Faust must be told; each line is there because its default would bite."""
    return {
        "datadir": str(settings.home / "faust"),
        "store": "memory://",
        "web_enabled": False,  # it would serve table data on 0.0.0.0 without authentication
        "topic_partitions": partitions,
        "topic_allow_declare": False,  # topics are made by `emgas topics create`, with their settings
        "topic_disable_leader": True,
        "table_standby_replicas": 1,  # 0 makes the assignor round-robin: turns and events part
        "TableManager": PromptTableManager,
        "stream_wait_empty": False,
        "stream_buffer_maxsize": 16384,
        "stream_recovery_delay": 0.0,
        "broker_commit_interval": 1.0,
        "broker_max_poll_records": 500,
        "broker_session_timeout": settings.session_timeout,
        "broker_heartbeat_interval": settings.session_timeout / 5,
        "broker_rebalance_timeout": max(15.0, settings.session_timeout * 1.5),
        "consumer_auto_offset_reset": "earliest",
        "producer_acks": -1,
        "producer_linger": 0,
        "producer_request_timeout": settings.append_timeout,
        "logging_config": None,
        "loghandlers": [],
    }
