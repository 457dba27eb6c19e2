"""One partition's turns, from the queue to the fold: judge a batch, bury what is dead, append, fold, answer.

The queue belongs to one ownership: it is made when the partition is claimed and dropped, with all that waits in it,
when the partition is taken away.  What was not folded is read again by the next owner, from the position in the state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

import structlog

from emgas.messages.fields import Position
from emgas.messages.turns import Outcome, Turn
from emgas.wire import Record
from processors.lifecycle.windows import WindowForecast, next_due
from replay.log import LogReader
from state.events.memory_settings import MemorySettings
from state.graph.graph import Graph
from state.partition import Partition
from streams.errors import TurnsSkippedError
from streams.ingest.command_handler import CommandHandler, Decision, Draft
from streams.ingest.partition_writer import PartitionWriter
from streams.ingest.window_timer import WindowTimer
from streams.transport.sender import MessageSender, error_headers

log = structlog.get_logger()
TURNS_BETWEEN_YIELDS = 4  # extraction holds the event loop for about a millisecond a turn


class Delivery(NamedTuple):
    """A record that was handed over, and what to call once it is accounted for in the log and the state."""

    arrival: Record
    done: Callable[[], object]


class _Rounds:
    """Appends a batch in as few rounds as windows allow: what comes before the end of a window must be folded first."""

    def __init__(self, intake: CommandHandler, keeper: WindowTimer, state: Partition) -> None:
        self.judged: list[Decision] = []
        self._intake = intake
        self._keeper = keeper
        self._state = state
        self._drafts: list[Draft] = []
        self._ahead: dict[str, WindowForecast] = {}

    async def judge(self, arrival: Record) -> Decision:
        """Return what becomes of `arrival`; a command is judged on a state that has folded all before it."""
        message = self._intake.read(arrival)
        if isinstance(message, Decision):
            return message
        if not isinstance(message, Turn):
            await self.append()
        return self._intake.judge(arrival, message)

    async def add(self, judged: Decision) -> None:
        """Queue the events of one record, behind the windows that end before it."""
        if judged.graph is not None and judged.at is not None:
            await self._pass_time(judged.graph, judged.at, judged.settings)
        self.judged.append(judged)
        self._drafts += judged.drafts
        if judged.graph is not None and judged.at is None:  # a command: windows may end otherwise from here on
            await self.append()
            self._ahead.pop(judged.graph, None)
            self._keeper.look_at(judged.graph)

    async def _pass_time(self, name: str, at: int, born_with: MemorySettings | None) -> None:
        ahead = self._ahead.get(name)
        if born_with is not None:
            ahead = self._ahead[name] = WindowForecast(born_with)  # a graph yet to be born has no windows
        elif ahead is None or ahead.may_close(at):
            ahead = await self._up_to_date(name, at)
        ahead.add(at)

    async def _up_to_date(self, name: str, at: int) -> WindowForecast:
        """Fold what is queued and close the windows that end before `at`."""
        if name in self._ahead or next_due(graph := self._graph(name), max(graph.clock, at)) is not None:
            await self.append()
        await self._keeper.close_due(name, max(self._graph(name).clock, at))
        self._ahead[name] = WindowForecast.of(self._graph(name))
        return self._ahead[name]

    def _graph(self, name: str) -> Graph:
        graph = self._state.graph(name)
        assert graph is not None, f"graph {name} is neither known nor born with this turn"  # noqa: S101 - see CommandHandler
        return graph

    async def append(self) -> None:
        """Append and fold what is queued."""
        if self._drafts:
            drafts, self._drafts = self._drafts, []
            await self._keeper.append(drafts)

    async def finish(self) -> None:
        """Append the rest; nothing of the batch is pending any more."""
        await self.append()
        self._intake.folded()
        for name in self._ahead:
            self._keeper.look_at(name)


class TurnProcessor:
    """Runs as one task per owned partition.  `source` reads the topic `turns`."""

    def __init__(
        self,
        owner: PartitionWriter,
        keeper: WindowTimer,
        intake: CommandHandler,
        outbox: MessageSender,
        source: LogReader,
        turns_topic: str,
        batch_turns: int,
        queued_turns: int,
    ) -> None:
        self._owner = owner
        self._keeper = keeper
        self._intake = intake
        self._outbox = outbox
        self._source = source
        self._turns_topic = turns_topic
        self._batch_turns = batch_turns
        self._queue: asyncio.Queue[Delivery] = asyncio.Queue(queued_turns)
        self._working = asyncio.Lock()

    async def put(self, delivery: Delivery) -> None:
        """Queue a turn; wait while the queue is full."""
        await self._queue.put(delivery)

    async def run(self) -> None:
        """Work for ever.  Raises HaltedError and whatever the transport raises: the process must then stop."""
        while True:
            batch = [await self._queue.get()]
            async with self._working:
                while not self._queue.empty() and len(batch) < self._batch_turns:
                    batch.append(self._queue.get_nowait())
                await self._account_for(batch)

    async def settle(self) -> None:
        """Return once no batch is half done."""
        async with self._working:
            pass

    def drop(self) -> None:
        """Forget what waits; whoever waits for room in the queue goes on (the agent serves other partitions too)."""
        while not self._queue.empty():
            self._queue.get_nowait()

    async def _account_for(self, batch: list[Delivery]) -> None:
        async with self._keeper.lock:
            rounds = _Rounds(self._intake, self._keeper, self._owner.state)
            for count, delivery in enumerate(await self._fresh(batch)):
                await self._judge(delivery.arrival, rounds)
                if count % TURNS_BETWEEN_YIELDS == TURNS_BETWEEN_YIELDS - 1:
                    await asyncio.sleep(0)  # let queries in
            await rounds.finish()
        for delivery in batch:
            delivery.done()
        for each in rounds.judged:
            await self._tell(each)

    async def _fresh(self, batch: list[Delivery]) -> list[Delivery]:
        """Return what is not yet accounted for; make sure that nothing was left out before it."""
        fresh = []
        source = self._owner.state.head.source
        for delivery in batch:
            offset = delivery.arrival.offset
            if offset > source + 1:
                await self._check_hole(source + 1, offset)
            if offset > source:
                fresh.append(delivery)
                source = offset
        return fresh

    async def _check_hole(self, start: int, end: int) -> None:
        """A hole in the offsets is only harmless if the log holds no record there (transaction markers, retention)."""
        async for records in self._source.read(self._owner.number, start, end):
            if records:
                raise TurnsSkippedError(
                    f"turns {start}..{end - 1} of partition {self._owner.number} were not delivered though they exist"
                )
        log.warning("hole in turns", partition=self._owner.number, start=start, end=end)

    async def _judge(self, arrival: Record, rounds: _Rounds) -> None:
        judged = await rounds.judge(arrival)
        if judged.reason is not None:
            errors = error_headers(self._turns_topic, self._owner.number, arrival.offset, judged.reason)
            await self._outbox.dead_letter(arrival, errors)
            log.warning("turn rejected", partition=self._owner.number, offset=arrival.offset, reason=judged.reason)
        await rounds.add(judged)

    async def _tell(self, judged: Decision) -> None:
        address = self._outbox.address(judged.arrival)
        if address is not None:
            head = self._owner.state.head
            position = Position(partition=self._owner.number, watermark=head.watermark, source=judged.arrival.offset)
            outcome = Outcome(status=judged.status, turn=judged.turn, reason=judged.reason, position=position)
            await self._outbox.answer(address, "outcome", outcome)
