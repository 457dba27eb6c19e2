"""One partition's turns, from the queue to the fold: decide a batch, dead-letter rejected turns, append, fold, answer.

The queue belongs to one ownership: it is created when the partition is claimed, and dropped with all that waits in it
when the partition is taken away.  The next owner reads what was not folded, from the position in the state.

Turns that are missing between two deliveries are read from `turns`.  Those that are no longer there were lost, which is
an event.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from emgas.errors import HaltedError
from emgas.logs import logger
from emgas.messages.requests import Command, Outcome
from emgas.messages.transfer import Move, Receive
from emgas.messages.turns import Reinforce
from emgas.wire import Record
from processors.extraction.extractor import Utterance
from processors.lifecycle.windows import WindowForecast, next_due
from replay.log import LogReader
from state.errors import KeysError, KeyStoreError
from state.events.events import DataEvent, GraphEvent, GraphMoved, GraphReceived, SubjectErased
from state.graph.graph import Graph
from state.log_position import Draft
from state.partition import Partition
from streams.ingest import source
from streams.ingest.command_handler import CommandHandler
from streams.ingest.partition_writer import PartitionWriter
from streams.ingest.sealing import Sealer
from streams.ingest.slices import Slices
from streams.ingest.turns import AheadExtractor, Decision
from streams.ingest.window_timer import WindowTimer
from streams.transport.failpoints import Step, passing
from streams.transport.sender import MessageSender, error_headers

log = logger("ingest")
BURST = 128  # turns that wait, or came within a second, at which the pool is started
QUEUED_BYTES = 1 << 25  # of records that may wait, too: what is no turn may be as large as the topic lets through
CACHED_FORECASTS = 4096  # graphs, at most, whose next windows are kept in mind from one batch to the next
TRANSFERRED_BYTES = 1 << 20  # of messages of transfers whose events are appended together
OF_A_GRAPH = (GraphEvent, GraphMoved, GraphReceived)
KEYS_AGAIN_SECONDS = 1.0  # between two tries to make a key
_TOLD = ("status", "turn", "reason", "redacted", "remains", "moved_to", "again")  # of a decision, in its outcome
PORTIONS_AHEAD = 2  # batches that a pool works on behind the one that is decided


class Delivery(NamedTuple):
    """A record that was handed over, and what to call once it is accounted for in the log and the state."""

    arrival: Record
    done: Callable[[], object]


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessorContext:
    """The objects that all of a worker's turn processors share.

    sender        of outcomes and dead letters       batch_turns   records decided and appended together, at most
    turns         reads the topic `turns_topic`      queued_turns  records that may wait before no more are fetched
    topic_id      asks for the id of that topic
    hold          (partition, whether): fetch no more of a partition, or go on
    slices        time slices of the event loop, which partitions share
    sealer        of dead letters
    on_outcome    called with the status of each turn
    pool          extracts concepts ahead, where there is one
    """

    sender: MessageSender
    turns: LogReader
    turns_topic: str
    topic_id: source.TopicId
    batch_turns: int
    queued_turns: int
    hold: Callable[[int, bool], None]
    slices: Slices
    sealer: Sealer = field(default_factory=Sealer)
    on_outcome: Callable[[str], object] = lambda status: None
    pool: AheadExtractor | None = None


class _Portion(NamedTuple):
    """Deliveries that are decided together, and the task that extracts their concepts ahead."""

    deliveries: list[Delivery]
    extraction: asyncio.Task[None] | None


class ForecastCache:
    """Forecasts of graphs, from one batch to the next; valid while only these batches fold events."""

    def __init__(self) -> None:
        self._cached: dict[str, tuple[WindowForecast, int]] = {}  # and how many events the graph had then

    def keep(self, graph: Graph) -> None:
        """Add the forecast of a graph in which no window is due."""
        if len(self._cached) >= CACHED_FORECASTS:
            self._cached.clear()
        self._cached[graph.graph_id] = WindowForecast.of(graph), graph.events

    def take(self, graph: Graph | None) -> WindowForecast | None:
        """Remove and return the forecast of a graph; None if something was folded into it since."""
        if graph is None:
            return None
        forecast, events = self._cached.pop(graph.graph_id, (None, -1))
        return forecast if graph.events == events else None


class _Batch:
    """Appends decisions in as few rounds as windows allow: what comes before a window's end must be folded first."""

    def __init__(
        self, handler: CommandHandler, timer: WindowTimer, state: Partition, forecast_cache: ForecastCache
    ) -> None:
        self.decisions: list[Decision] = []
        self._handler = handler
        self._timer = timer
        self._state = state
        self._events: list[DataEvent] = []
        self._drafts: list[Draft | None] = []  # of each event, if it is written already
        self._queued: set[str] = set()  # graphs of these events
        self._transferred: dict[str, int] = {}  # graphs to which a message of a transfer came → its bytes
        self._forecasts: dict[str, WindowForecast] = {}
        self._births: set[str] = set()
        self._forecast_cache = forecast_cache

    async def decide(self, arrival: Record) -> Decision:
        """Decide what becomes of `arrival`; everything before it is folded first if its decision depends on that."""
        command = self._handler.read(arrival)
        if isinstance(command, Decision):
            return command
        if not self._handler.is_available(command.graph):
            return self._handler.decide(arrival, command)
        if self._needs_fold(command):
            await self.append()
        if isinstance(command, Reinforce) and self._timer.runs(
            command.graph
        ):  # what it finds faded is what has faded by then
            await self._timer.close_due(command.graph, self._handler.question_time(command, arrival))
        decision = self._handler.decide(arrival, command)
        if isinstance(command, Receive | Move) and not _erases(decision):
            self._transferred[command.graph] = len(arrival.value)
        return decision

    def _needs_fold(self, command: Command) -> bool:
        """Return whether what is queued must be folded before a command is decided.

        A message of a transfer depends on its own graph alone: those of many graphs are appended together.
        """
        if isinstance(command, Receive | Move):
            return command.graph in self._queued
        return command.graph in self._transferred or self._handler.needs_fold(command)

    async def add(self, decision: Decision) -> None:
        """Queue the events of one record, behind the windows that end before it."""
        graph_id = decision.graph_id
        if graph_id is not None and decision.at is not None:
            await self._pass_time(graph_id, decision)
        self.decisions.append(decision)
        self._events += decision.events
        self._drafts += decision.drafts or [None] * len(decision.events)
        self._queued.update(event.graph for event in decision.events if isinstance(event, OF_A_GRAPH))
        if graph_id in self._transferred:
            if sum(self._transferred.values()) > TRANSFERRED_BYTES:
                await self.append()
        elif graph_id is not None and decision.at is None:  # a request
            await self.append()
            self._look_again(graph_id)

    def _look_again(self, graph_id: str) -> None:
        """Look when the windows of a graph end: after a request that may be otherwise than before."""
        self._forecasts.pop(graph_id, None)
        self._timer.look_at(graph_id)

    async def _pass_time(self, graph_id: str, decision: Decision) -> None:
        at, born_with = decision.at, decision.settings
        assert at is not None  # noqa: S101 - it is a turn
        forecast = self._forecasts.get(graph_id) or self._cached(graph_id)
        if born_with is not None:
            forecast = self._forecasts[graph_id] = WindowForecast(born_with)  # a graph yet to be born has no windows
            self._births.add(graph_id)
        elif forecast is None or forecast.may_close(at):
            forecast = await self._with_windows_closed(graph_id, at)
        forecast.add(at, decision.expires_at)

    def _cached(self, graph_id: str) -> WindowForecast | None:
        forecast = self._forecast_cache.take(self._state.graph_at_hand(graph_id))
        if forecast is not None:
            self._forecasts[graph_id] = forecast
        return forecast

    async def _with_windows_closed(self, graph_id: str, at: int) -> WindowForecast:
        """Fold what is queued and close the windows that end before `at` (ms)."""
        if graph_id in self._forecasts or next_due(self._graph(graph_id), at) is not None:
            await self.append()
        await self._timer.close_due(graph_id, at)
        self._forecasts[graph_id] = WindowForecast.of(self._graph(graph_id))
        return self._forecasts[graph_id]

    def _graph(self, graph_id: str) -> Graph:
        graph = self._state.graph(graph_id)
        assert graph is not None, f"graph {graph_id} is neither known nor born with this turn"  # noqa: S101 - see CommandHandler
        return graph

    async def append(self) -> None:
        """Append and fold what is queued."""
        if self._events:
            events, self._events = self._events, []
            drafts, self._drafts = self._drafts, []
            transferred, self._transferred = self._transferred, {}
            self._queued.clear()
            await self._timer.append(events, drafts)
            for graph_id in transferred:
                self._look_again(graph_id)

    async def finish(self) -> None:
        """Append the rest; nothing of the batch is pending any more."""
        await self.append()
        self._handler.folded()
        for graph_id, forecast in self._forecasts.items():
            if forecast.expires_next <= forecast.clock:  # a turn came late, and has expired
                await self._timer.close_due(graph_id, forecast.clock)
            self._timer.look_at(graph_id)
            if graph_id not in self._births and (graph := self._state.graph_at_hand(graph_id)) is not None:
                self._forecast_cache.keep(graph)


class TurnProcessor:
    """Runs as one task per owned partition.

    is_behind  turns may have been fetched and never delivered: read them from the log, before all others
    working    held while a batch is half done; who holds it lets none begin
    """

    def __init__(
        self,
        *,
        writer: PartitionWriter,
        timer: WindowTimer,
        handler: CommandHandler,
        context: ProcessorContext,
        is_behind: bool = False,
    ) -> None:
        self._writer = writer
        self._timer = timer
        self._handler = handler
        self._context = context
        self._is_behind = is_behind
        self._queue: asyncio.Queue[Delivery] = asyncio.Queue()
        self._ahead: deque[_Portion] = deque()  # taken from the queue, and not begun
        self._under_way: list[Decision] = []  # decided, perhaps appended; no outcome is sent yet
        self._queued_bytes = 0
        self._is_paused = False
        self._came, self._in_second = 0, -1  # turns that came in this second
        self.working = asyncio.Lock()
        self._forecast_cache = ForecastCache()
        self.waits_for: HaltedError | None = None  # why no key can be made for a graph that is to be born
        self._tried: set[str] = set()  # damaged graphs that were to be restored

    def put(self, delivery: Delivery) -> None:
        """Queue a turn.  Once `queued_turns` wait, or QUEUED_BYTES, no more are fetched; what was fetched comes."""
        self._queue.put_nowait(delivery)
        self._queued_bytes += _size(delivery)
        self._look_for_burst()
        if not self._is_paused and self._fullness >= 1:
            self._hold(True)  # noqa: FBT003 - its only argument

    @property
    def _fullness(self) -> float:
        """Return the waiting records as a share of the maximum."""
        return max(self.queued / self._context.queued_turns, self._queued_bytes / QUEUED_BYTES)

    def _look_for_burst(self) -> None:
        second = int(self._context.slices.clock())
        self._came, self._in_second = (self._came + 1 if second == self._in_second else 1), second
        if self._context.pool is not None and max(self._came, self.queued) >= BURST:
            self._context.pool.start()

    def _hold(self, is_paused: bool) -> None:  # noqa: FBT001 - its only argument
        self._is_paused = is_paused
        self._context.hold(self._writer.partition, is_paused)

    async def run(self) -> None:
        """Process turns until cancelled.  Raises HaltedError and the transport's errors: the process must then stop."""
        if self._is_behind:
            async with self.working:
                await self._fill((await self._context.turns.bounds(self._writer.partition))[1])
        while True:
            batch = await self._next()
            await self._prepare_births(batch)
            async with self.working:
                if self._is_paused and self._fullness <= 0.5:
                    self._hold(False)  # noqa: FBT003 - its only argument
                for deliveries in self._consecutive(batch):
                    await self._fill(deliveries[0].arrival.offset)
                    await self._account_for(deliveries)

    async def _prepare_births(self, deliveries: list[Delivery]) -> None:
        """Create keys for graphs that begin with these turns; wait as long as that fails.

        Nothing is half done meanwhile: the partition answers, its windows end, and it can be given up.
        """
        if not self._context.sealer.is_on:
            return
        graphs = self._handler.graphs_of_turns([delivery.arrival for delivery in deliveries])
        while True:
            try:
                await self._context.sealer.prepare_births(self._writer.state, sorted(graphs))
            except (KeysError, KeyStoreError) as error:
                if self.waits_for is None:
                    log.critical("turns wait for keys", partition=self._writer.partition, why=str(error))
                self.waits_for = error
                await asyncio.sleep(KEYS_AGAIN_SECONDS)
            else:
                self.waits_for = None
                return

    async def _next(self) -> list[Delivery]:
        """Return the next batch; meanwhile, a pool extracts from the batches behind it."""
        if not self._ahead:
            self._handler.forget_ahead()
            self._take([await self._queue.get()])
        while len(self._ahead) <= PORTIONS_AHEAD and self._ahead[-1].extraction and not self._queue.empty():
            self._take([self._queue.get_nowait()])
        if (extraction := self._ahead[0].extraction) is not None:
            await extraction
        batch = self._ahead.popleft().deliveries
        self._queued_bytes -= sum(map(_size, batch))
        return batch

    def _take(self, batch: list[Delivery]) -> None:
        """Fill a batch from the queue, and begin what can be done ahead of it."""
        while not self._queue.empty() and len(batch) < self._context.batch_turns:
            batch.append(self._queue.get_nowait())
        pool, extraction = self._context.pool, None
        if pool is not None and pool.is_ready:
            arrivals = [delivery.arrival for delivery in batch]
            extraction = asyncio.create_task(self._handler.extract_ahead(pool, arrivals))
        self._ahead.append(_Portion(batch, extraction))

    @property
    def queued(self) -> int:
        """Return the number of waiting records."""
        return self._queue.qsize() + sum(len(portion.deliveries) for portion in self._ahead)

    def drop(self) -> None:
        """Drop what waits, and resume fetching: the partition's next owner needs it."""
        while not self._queue.empty():
            self._queue.get_nowait()
        while self._ahead:
            if (extraction := self._ahead.popleft().extraction) is not None:
                extraction.cancel()
        self._queued_bytes = 0
        if self._is_paused:
            self._hold(False)  # noqa: FBT003 - its only argument

    def _consecutive(self, deliveries: list[Delivery]) -> list[list[Delivery]]:
        """Pick those that are not yet accounted for, in runs without a hole."""
        runs: list[list[Delivery]] = []
        last = self._writer.state.position.source
        for delivery in deliveries:
            offset = delivery.arrival.offset
            if offset <= last:
                delivery.done()
            elif runs and offset == last + 1:
                runs[-1].append(delivery)
            else:
                runs.append([delivery])
            last = max(last, offset)
        return runs

    async def _fill(self, end: int) -> None:
        """Account for the turns before offset `end` that were not delivered: read them, or record that they are lost.

        They were fetched while the partition was halted, have expired, or never were (markers of transactions).
        """
        turns, partition = self._context.turns, self._writer.partition
        if (start := self._source + 1) >= end:
            return
        first, _ = await turns.bounds(partition)
        if first > start:
            await source.check(self._writer, self._context.topic_id)  # else it is a successor's turns that are gone
            await self._record_loss(start, min(first, end) - 1)
        async for records in turns.read(partition, self._source + 1, end):
            for at in range(0, len(records), self._context.batch_turns):
                chunk = records[at : at + self._context.batch_turns]
                await self._account_for([Delivery(record, _nothing) for record in chunk])
        if (start := self._source + 1) < end:
            if (await turns.bounds(partition))[1] < end:  # of a successor: what lay there is gone with its topic
                raise source.changed(partition)
            log.info("hole in turns", partition=partition, start=start, end=end)

    async def _record_loss(self, first: int, last: int) -> None:
        """Record that turns were lost unread, and go on behind them."""
        async with self._timer.lock:
            await source.record_loss(self._writer, first, last)

    @property
    def _source(self) -> int:
        """Offset of the last turn that is accounted for."""
        return self._writer.state.position.source

    async def _account_for(self, deliveries: list[Delivery]) -> None:
        if self._handler.embeds:  # a model takes milliseconds a text: the loop goes on meanwhile
            await asyncio.to_thread(self._handler.embed_ahead, [delivery.arrival for delivery in deliveries])
        await self._extract(deliveries)
        await self._restore_damaged()
        async with self._timer.lock:
            batch = _Batch(self._handler, self._timer, self._writer.state, self._forecast_cache)
            self._under_way = batch.decisions
            with self._context.slices.work() as share:
                for delivery in deliveries:
                    await self._decide(delivery.arrival, batch)
                    await share.checkpoint()
            await batch.finish()
        for delivery in deliveries:
            delivery.done()
        self._under_way = []
        for decision in batch.decisions:
            self._send_outcome(decision)

    async def _extract(self, deliveries: list[Delivery]) -> None:
        """Read all records, then extract from all: each loop runs faster with its own code in the processor's cache."""
        with self._context.slices.work() as share:
            requests = list[Utterance]()
            for delivery in deliveries:
                if (utterance := self._handler.extraction_request(delivery.arrival)) is not None:
                    requests.append(utterance)
                await share.checkpoint()
            for utterance in requests:
                self._handler.extract(utterance)
                await share.checkpoint()

    async def _restore_damaged(self) -> None:
        """Fold graphs again whose rows were found damaged, before what was sent to them would be rejected.

        Once for each: a graph that stays damaged is tried again with every tick.
        """
        damaged = set(self._writer.state.damaged)
        if damaged - self._tried:
            await self._timer.take_back()
        self._tried = damaged

    def take_over(self, failed: TurnProcessor) -> None:
        """Send the outcomes of turns that were under way when this partition failed, if they are in the log.

        Only `failed` wrote under its claim.  If another claim came before ours, its owner has sent these outcomes.
        The other turns are read again.
        """
        before_claim = self._writer.before_claim
        if before_claim.epoch == failed.epoch:
            for decision in failed._under_way:
                if decision.arrival.offset <= before_claim.source:
                    self._send_outcome(decision)

    @property
    def epoch(self) -> int:
        """The claim under which it works."""
        return self._writer.epoch

    async def _decide(self, arrival: Record, batch: _Batch) -> None:
        passing(Step.TURN)
        decision = await batch.decide(arrival)
        if decision.status == "rejected" and not decision.discarded:
            partition, reason = self._writer.partition, decision.reason or ""
            errors = error_headers(self._context.turns_topic, partition, arrival.offset, reason)
            clean = self._handler.redacted(arrival)
            letter = clean if decision.in_clear else self._context.sealer.dead_letter(clean)
            await self._context.sender.dead_letter(letter, errors)
            log.warning("turn rejected", partition=partition, offset=arrival.offset, reason=reason)
        await batch.add(decision)

    def _send_outcome(self, decision: Decision) -> None:
        self._context.on_outcome(decision.status)
        sender, arrival = self._context.sender, decision.arrival
        address = sender.address(arrival)
        if address is not None:
            watermark = self._writer.state.position.watermark
            position = {"partition": self._writer.partition, "watermark": watermark, "source": arrival.offset}
            fields = {name: getattr(decision, name) for name in _TOLD}
            sender.start(address, "outcome", Outcome.model_validate({**fields, "position": position}))


def _erases(decision: Decision) -> bool:
    """Return whether an event destroys keys: what is sealed after it must be decided behind it."""
    return any(isinstance(event, SubjectErased) for event in decision.events)


def _size(delivery: Delivery) -> int:
    return len(delivery.arrival.value or b"")


def _nothing() -> None:
    """Acknowledge nothing: the record did not come through Faust."""
