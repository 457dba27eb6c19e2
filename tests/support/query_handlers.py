"""A query handler over a log in memory, and the questions that its tests ask."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from emgas.errors import TransportError
from emgas.messages.turns import Reinforce
from emgas.wire import partition_of
from lab.catalogue import POLICIES
from processors.extraction.yake_extractor import YakeExtractor
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from state.events.events import TurnRecorded
from state.partition import Partition
from state.store.store import MemoryStore
from streams.ingest.partition_writer import PartitionWriter
from streams.query.answers.as_of_cache import AsOfCache
from streams.query.answers.context import QueryContext, position_of
from streams.query.answers.snapshot_taker import SnapshotTaker
from streams.query.handler import QueryHandler
from streams.recovery.partition_folds import Partitions
from streams.settings import WorkerSettings
from tests.support.builders import turn_recorded
from tests.support.clocks import NOW, eventually
from tests.support.fakes import REPLIES, MemoryLog, PastLog, SentRecords, arrival
from tests.support.window_timers import timer_of

PARTITIONS = 4
HERE = partition_of("ada", PARTITIONS)
ANSWERER = Answerer(YakeExtractor(language="en"), policies=POLICIES)


class Answering:
    """A QueryHandler with one owned partition, and everything around it in memory."""

    def __init__(self, answerer: Answerer = ANSWERER, **settings: Any) -> None:
        self.log = MemoryLog(PARTITIONS)
        self.sent = SentRecords()
        self.sender = self.sent.sender()
        self.halted: list[BaseException] = []
        self.halted_partitions: dict[int, BaseException] = {}
        self.now = NOW
        self.monotonic = 0.0
        self.turns_end: int | TransportError = 1_000_000
        self.queries_end: int | TransportError = 0
        self.acknowledged: list[int] = []
        self.yields = 0
        self.store = MemoryStore()
        self.state = Partition(self.store)
        self.writer = PartitionWriter(HERE, self.state, self.log, partitions=PARTITIONS, worker="me", timeout=60.0)
        self.writers = {HERE: self.writer}
        self.past_log = PastLog(self.log)
        self.timer = timer_of(self.writer, self.log, self.sent)
        self.timers = {HERE: self.timer}
        self.handler = QueryHandler(
            QueryContext(
                worker=self,
                writers=self.writers,
                timers=self.timers,
                as_of_cache=AsOfCache(self.past_log),
                snapshots=self.snapshots(settings),
                sender=self.sender,
                answerer=answerer,
                settings=WorkerSettings(broker=None, **settings),
                partitions=PARTITIONS,
                halted=self.halted_partitions,
            )
        )

    is_writer = True

    def now_ms(self) -> int:
        return self.now

    def monotonic_ms(self) -> float:
        return self.monotonic

    def fail_partition(self, partition: int, error: BaseException) -> None:
        self.halted.append(error)

    async def send_reinforcement(self, woken: Reinforce) -> None:
        raise AssertionError("a writer reinforces by itself")

    def yield_to_queries(self) -> None:
        self.yields += 1

    def memory(self) -> QueriedGraph:
        """Look at the memory as a question about the graph "ada" does."""
        return QueriedGraph(self.state.graph("ada"), self.state.text_of, position_of(self.writer))

    def snapshots(self, settings: dict[str, Any]) -> SnapshotTaker:
        folds = Partitions(WorkerSettings(broker=None, **settings), self.log)
        folds.open[HERE] = self.state
        return SnapshotTaker(WorkerSettings(broker=None, **settings), folds, self.log, lambda: self.now)

    async def end_of_turns(self, partition: int) -> int:
        await asyncio.sleep(0)
        if isinstance(self.turns_end, TransportError):
            raise self.turns_end
        return self.turns_end

    async def end_of_queries(self, place: int) -> int:
        if isinstance(self.queries_end, TransportError):
            raise self.queries_end
        return self.queries_end

    async def remember(self, *names: str) -> None:
        if self.state.position.epoch < 0:
            await self.writer.claim()
            await self.timer.catch_up()
        source = self.state.position.source + 1
        await self.writer.append([turn(source + n, name) for n, name in enumerate(names)])

    async def ask(self, value: bytes | None = None, partition: int = HERE, **more: Any) -> None:
        value = a_query() if value is None else value
        record = arrival(value, **{"timestamp": NOW, "asks": True, **more})
        await self.handler.take(partition, record, lambda: self.acknowledged.append(record.offset))

    async def waited(self, ms: float) -> None:
        """Let a question of NOW have waited in the log for `ms`, as a newer one shows."""
        newer = arrival(a_query(), timestamp=NOW + round(ms), by_broker=True)
        await self.handler.take(HERE, newer)
        await self.answers()

    async def answers(self) -> list[Any]:
        """Wait until nobody waits any more; return all answers."""
        await eventually(lambda: not self.handler.answering and not self.sender.unacknowledged)
        return [sent.message for sent in self.sent.to(REPLIES)]


def turn(source: int, name: str) -> TurnRecorded:
    return turn_recorded(src=source, id=name, at=NOW, concepts="kettle tea", text="The kettle whistles.")


def a_query(**changes: Any) -> bytes:
    return json.dumps({"kind": "query", "graph": "ada", "text": "the kettle", **changes}).encode()
