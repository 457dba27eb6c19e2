"""The context of a function that answers a question: the partition, the question, and services of the worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from emgas.errors import TransportError
from emgas.messages.fields import Position
from emgas.messages.requests import PastQuestion
from emgas.messages.turns import Reinforce
from emgas.wire import Record
from processors.extraction.extractor import Extractor
from processors.lifecycle.decay.expiry import without_expired
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from replay.as_of.graph_as_of import AsOf
from state.errors import LogRewrittenError
from state.graph.graph import Graph
from state.partition import Partition
from streams.errors import RefusedError
from streams.ingest.verbs.rights import sees_forgotten
from streams.ingest.window_timer import WindowTimer
from streams.query.answers.as_of_cache import AsOfCache
from streams.query.answers.snapshot_taker import SnapshotTaker
from streams.query.scheduling import AnswerSchedule, PendingQuestion
from streams.settings import WorkerSettings
from streams.transport.sender import MessageSender


class QueryablePartition(Protocol):
    """A partition that questions are answered from: folded by its writer, or followed by a reader."""

    @property
    def partition(self) -> int:
        """Its number."""

    @property
    def state(self) -> Partition:
        """The fold of its log, as far as it has come."""

    async def until_source(self, offset: int) -> None:
        """Wait until the turn at `offset` of `turns` is folded."""

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until, once more events are folded, `holds` returns true."""


class QueryWorker(Protocol):
    """The worker around a query handler: AnsweringApp (streams/worker/answering_app.py)."""

    @property
    def is_writer(self) -> bool:
        """Return whether it writes events; else it sends the concepts that a question activated to the writer."""

    def now_ms(self) -> int:
        """Return the present, ms since 1970."""

    def monotonic_ms(self) -> float:
        """Return ms since an arbitrary moment."""

    async def end_of_turns(self, partition: int) -> int:
        """Ask the log for the offset behind the last turn of a partition."""

    async def end_of_queries(self, place: int) -> int:
        """Ask the log for the offset behind the last question of a partition of `queries`."""

    async def send_reinforcement(self, woken: Reinforce) -> None:
        """Send what a question woke to the writer of its partition; return once the log has it."""

    def fail_partition(self, partition: int, error: BaseException) -> None:
        """Halt a partition, or the worker if the error is not the partition's alone."""

    def yield_to_queries(self) -> None:
        """Pause the fold of turns for a moment; called at each step of a question."""


@dataclass(frozen=True, kw_only=True)
class QueryContext:
    """The services of a worker that its query handler uses.

    writers, timers   of the partitions that it owns, by partition: the worker keeps both up to date.  A reader has
                      folds in place of writers, and no timers
    halted            partition → why it cannot go on
    partitions        how many there are in all
    """

    worker: QueryWorker
    writers: Mapping[int, QueryablePartition]
    timers: Mapping[int, WindowTimer]
    halted: Mapping[int, BaseException]
    as_of_cache: AsOfCache
    snapshots: SnapshotTaker
    sender: MessageSender
    answerer: Answerer
    settings: WorkerSettings
    partitions: int

    def time_in(self, graph: Graph | None, record: Record) -> int:
        """Return when a question is asked, in a graph's own time (ms).

        An imported graph keeps its own clock: at the present time all windows up to now would close, and nearly
        everything in it would fade at once.
        """
        if graph is not None and not graph.live:
            return graph.clock
        if record.by_broker:
            return record.timestamp
        return min(record.timestamp, self.worker.now_ms() + self.settings.skew_ms)


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerContext:
    """One question, the partition that it is about, and what its answer needs; `started`: perf_counter as it came."""

    question: PendingQuestion
    partition: QueryablePartition
    worker: QueryContext
    schedule: AnswerSchedule
    started: float

    @property
    def state(self) -> Partition:
        """The fold of the partition."""
        return self.partition.state

    @property
    def position(self) -> Position:
        """Return the partition's position now."""
        return position_of(self.partition)

    @property
    def extractor(self) -> Extractor:
        """Return the extractor of a question's concepts."""
        return self.worker.answerer.extractor

    async def memory(self, request: PastQuestion) -> Callable[[], QueriedGraph]:
        """Return a function that opens the graph of a request: as it has become meanwhile, but the past stays."""
        state = self.state
        if request.as_of is None:
            now = self.worker.time_in(state.graph(request.graph), self.question.record)
            return lambda: QueriedGraph(
                without_expired(state.graph(request.graph), now), state.text_of, self.position, now
            )
        position = self.position  # before the past is read: the answer names the moment at which it was asked
        past = await self.past(request.graph, request.as_of)
        memory = (
            QueriedGraph(past.graph, past.text_of, position) if past else QueriedGraph(None, state.text_of, position)
        )
        return lambda: memory

    async def past(self, graph_id: str, at: int) -> AsOf | None:
        """Rebuild a graph as it was at `at` (ms), of all that is folded by now; None if it was empty.

        It includes content that was forgotten since only for subjects with the right `forget` or `admin`.
        """
        live, watermark = self.state.graph(graph_id), self.state.position.watermark
        if live is None:
            return None
        cache, where = self.worker.as_of_cache, {"partition": self.question.partition, "end": watermark + 1}
        hides = not sees_forgotten(self.question.record, live)
        try:
            async with self.schedule.time_limit(self.question):
                return await cache.graph(graph_id, at, events=live.events, hides=hides, **where)
        except TimeoutError:
            read = f"the log is read up to offset {cache.read(graph_id)} of {watermark}"
            raise RefusedError("not-yet", f"the graph as of then is not rebuilt yet, {read}: ask again") from None
        except (TransportError, LogRewrittenError) as error:  # the present, which needs no reading, can still be asked
            raise RefusedError("internal", f"the past cannot be read: {error}") from None


def position_of(partition: QueryablePartition) -> Position:
    """Return how far a partition is."""
    head = partition.state.position
    return Position(partition=partition.partition, watermark=head.watermark, source=head.source)
