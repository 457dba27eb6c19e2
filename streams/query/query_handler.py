"""Questions to this worker's partitions: parse, wait until the state has seen enough, recall, answer.

    not readable, or a key of another partition  Failure `invalid` / `wrong-partition`; unreadable ones are dead letters
    deadline passed before it was looked at      no answer: nobody waits for it any more
    too many at once, long ones before it        Failure `overloaded`
    `after` not folded shortly before it         Failure `not-yet`
    `as_of` not rebuilt shortly before it        Failure `not-yet`; what was read of the log is kept (streams/query/as_of_cache.py)
    else                                         Reply; a graph that nobody wrote to gives an empty one

A question changes nothing.  With `reinforce`, what it woke is appended as an event once it has been answered.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import structlog
from pydantic import ValidationError

from emgas.errors import TransportError
from emgas.messages.fields import Position
from emgas.messages.operator import Checkpoint, Checkpointed, Inspect
from emgas.messages.queries import Describe, Failure, Query, Reply, Timing
from emgas.messages.topics import REQUEST
from emgas.wire import DEADLINE, Record, ReplyAddress, as_mapping, partition_of
from processors.extraction.extractor import Extractor
from processors.recall.dense import Embedder
from replay.as_of.graph_as_of import AsOf
from replay.errors import SnapshotRefusedError, SnapshotsUnreachableError
from state.errors import LogRewrittenError
from state.events.events import UNSTAMPED, ConceptsRecalled
from streams.errors import RefusedError, RejectedError
from streams.ingest.command_handler import check_size, explained
from streams.ingest.partition_writer import PartitionWriter
from streams.ingest.window_timer import WindowTimer
from streams.query.answer import Asking, Recalled, Seen
from streams.query.as_of_cache import AsOfCache
from streams.query.replies import description, inspection, position_of, reply_to
from streams.query.snapshot_taker import SnapshotTaker
from streams.settings import Settings
from streams.transport.sender import MessageSender, error_headers

log = structlog.get_logger()
PATIENCE_MS = 10_000  # how long a question without a deadline may wait
LONGEST_MS = 600_000  # and one with a deadline: it holds one of the places of `queries_at_once`
PART_TO_WAIT = 0.9  # of the time until the deadline: a refusal must arrive while its asker still listens


class QueryHandler:
    """Answers for the partitions in `owners`, which the app keeps up to date."""

    def __init__(
        self,
        owners: Mapping[int, PartitionWriter],
        keepers: Mapping[int, WindowTimer],
        past: AsOfCache,
        snapshots: SnapshotTaker,
        outbox: MessageSender,
        extractor: Extractor,
        settings: Settings,
        partitions: int,
        now: Callable[[], int],
        halt: Callable[[BaseException], None],
        embedder: Embedder | None = None,
    ) -> None:
        self._owners = owners
        self._keepers = keepers
        self._past = past
        self._snapshots = snapshots
        self._outbox = outbox
        self._extractor, self._embedder = extractor, embedder
        self._settings = settings
        self._partitions = partitions
        self._now = now
        self._halt = halt
        self._tasks: set[asyncio.Task[None]] = set()
        self._appending: set[asyncio.Task[None]] = set()
        self._long = asyncio.Lock()  # for one long question at a time: several threads would starve the loop

    async def take(self, number: int, arrival: Record) -> None:
        """Start answering a record of `queries` from partition `number`."""
        to = self._outbox.address(arrival)
        if len(self._tasks) >= self._settings.queries_at_once:
            failure = Failure(code="overloaded", message="too many questions at once: ask again later")
            await self._outbox.answer(to, "failure", failure)
            return
        task = asyncio.create_task(self._answer(number, arrival, to))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drop(self, *, halted: bool = False) -> None:
        """Stop answering; who asked will ask again elsewhere.

        What is being appended is finished: the state would lack an event that the log has, and what is appended next
        would not follow it.  Not so once `halted`: nothing follows.
        """
        for task in self._tasks if halted else self._tasks - self._appending:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._past.forget()

    async def _answer(self, number: int, arrival: Record, to: ReplyAddress | None) -> None:
        deadline = _deadline(arrival)
        if deadline <= self._now():
            log.info("question expired", partition=number, offset=arrival.offset)
            return
        try:
            await self._reply(number, arrival, to, deadline)
        except RefusedError as refusal:
            await self._outbox.answer(to, "failure", refusal.failure)
        except Exception as error:
            failure = Failure(code="internal", message="the worker failed and restarts: ask again")
            await self._outbox.answer(to, "failure", failure)
            self._halt(error)

    async def _reply(self, number: int, arrival: Record, to: ReplyAddress | None, deadline: int) -> None:
        request = await self._parsed(number, arrival)
        owner = self._owners.get(number)
        if owner is None:
            return  # taken away meanwhile
        if isinstance(request, Inspect):
            await self._outbox.answer(to, "inspection", inspection(owner, request))
            return
        if isinstance(request, Checkpoint):
            await self._outbox.answer(to, "checkpointed", await self._checkpoint(number))
            return
        self._check_place(number, request)
        waited_ms = await self._wait_for(owner, request, deadline)
        if isinstance(request, Describe):
            await self._outbox.answer(to, "description", description(owner.state, request.graph, position_of(owner)))
            return
        if request.as_of is not None:
            await self._outbox.answer(to, "reply", await self._recall_past(owner, request, request.as_of, deadline))
            return
        reply, reinforced = await self._recall(owner, request, waited_ms, deadline)
        await self._outbox.answer(to, "reply", reply)
        if reinforced:
            await self._reinforce(self._keepers[number], request.graph, arrival.timestamp, reinforced)

    async def _reinforce(self, keeper: WindowTimer, graph: str, asked_at: int, concepts: list[str]) -> None:
        """Record what a question woke.  Asking is an event too: time goes on with it, and windows may end before it."""
        at = min(asked_at, self._now() + self._settings.skew_ms)
        async with keeper.lock:
            with self._undisturbed():
                await keeper.close_due(graph, at)
                await keeper.append([ConceptsRecalled(graph=graph, at=at, concepts=concepts, **UNSTAMPED)])
                keeper.look_at(graph)

    @contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """Let `drop` wait for the task for as long as the block lasts."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - there is one wherever something is awaited
        self._appending.add(task)
        try:
            yield
        finally:
            self._appending.discard(task)

    async def _checkpoint(self, number: int) -> Checkpointed:
        if not self._snapshots.is_wanted:
            raise RefusedError(
                "invalid", "this worker keeps no snapshots: start it with EMGAS_SNAPSHOTS=directory or URL"
            )
        try:
            taken = await self._snapshots.take(number)
        except (SnapshotRefusedError, SnapshotsUnreachableError) as error:
            raise RefusedError("internal", str(error)) from None
        position = Position(partition=number, watermark=taken.watermark, source=taken.source)
        return Checkpointed(snapshot=taken.name, position=position, bytes=taken.bytes)

    async def _parsed(self, number: int, arrival: Record) -> Query | Inspect | Describe | Checkpoint:
        try:
            check_size(arrival.value)
            return REQUEST.validate_json(arrival.value)
        except (RejectedError, ValidationError) as error:
            reason = explained(error) if isinstance(error, ValidationError) else str(error)
            errors = error_headers(self._settings.topics.queries, number, arrival.offset, reason)
            await self._outbox.dead_letter(arrival, errors)
            raise RefusedError("invalid", reason) from None

    def _check_place(self, number: int, query: Query | Describe) -> None:
        owner = partition_of(query.graph, self._partitions)
        if owner != number:
            raise RefusedError(
                "wrong-partition",
                f"graph {query.graph!r} belongs to partition {owner}, the question came to {number}: the key must be "
                "the graph id, placed by murmur2 (librdkafka: partitioner=murmur2_random)",
            )

    async def _wait_for(self, owner: PartitionWriter, query: Query | Describe, deadline: int) -> float:
        """Wait until the turn at `query.after` is folded; return how long that took, in ms."""
        if query.after is None or owner.state.head.source >= query.after:
            return 0.0
        started = time.perf_counter()
        try:
            async with self._in_time(deadline):
                await owner.until_source(query.after)
        except TimeoutError:
            source = owner.state.head.source
            raise RefusedError("not-yet", f"turn {query.after} is not folded yet, the state is at {source}") from None
        return _ms_since(started)

    def _in_time(self, deadline: int) -> asyncio.Timeout:
        return asyncio.timeout(PART_TO_WAIT * (deadline - self._now()) / 1000)

    async def _recall(
        self, owner: PartitionWriter, query: Query, waited_ms: float, deadline: int
    ) -> tuple[Reply, list[str]]:
        started = time.perf_counter()

        def state() -> Seen:
            return Seen(owner.state.graph(query.graph), owner.state.text_of, position_of(owner))

        recalled, position = await self._answered(query, state, deadline)
        timing = Timing(waited_ms=waited_ms, recall_ms=_ms_since(started))
        return reply_to(query, recalled, position, timing), recalled.reinforced

    async def _answered(self, query: Query, state: Callable[[], Seen], deadline: int) -> tuple[Recalled, Position]:
        """Answer from what `state` returns, asked again whenever others were let in: by a long question only."""
        asking = Asking(query, self._extractor, self._embedder)
        if not asking.is_long:
            return _at_once(asking, state())
        await self._wait_for_turn(deadline)
        try:
            seen = state()
            await asking.read_ahead(seen.graph, seen.text_of)
            seen = state()
            recalled, lines = asking.find(seen.graph, seen.text_of)
            context = await asking.packed(lines)
        finally:
            self._long.release()
        return (recalled.with_context(context), seen.position) if context else _at_once(asking, state())

    async def _wait_for_turn(self, deadline: int) -> None:
        """Wait until no other long question is being answered."""
        try:
            async with self._in_time(deadline):
                await self._long.acquire()
        except TimeoutError:
            raise RefusedError("overloaded", "other long questions come first: ask again later, or for less") from None

    async def _recall_past(self, owner: PartitionWriter, query: Query, at: int, deadline: int) -> Reply:
        """Answer from the graph as it was at `at` (ms), of all that is folded by now."""
        started, position = time.perf_counter(), position_of(owner)
        try:
            async with self._in_time(deadline):
                past = await self._rebuilt(owner, query.graph, position.watermark + 1, at)
        except TimeoutError:
            read = f"the log is read up to offset {self._past.read(query.graph)} of {position.watermark}"
            raise RefusedError("not-yet", f"the graph as of then is not rebuilt yet, {read}: ask again") from None
        except (TransportError, LogRewrittenError) as error:  # the present, which needs no reading, can still be asked
            raise RefusedError("internal", f"the past cannot be read: {error}") from None
        waited_ms, started = _ms_since(started), time.perf_counter()
        if past is None:
            return reply_to(query, Recalled(), position, Timing(waited_ms=waited_ms, recall_ms=_ms_since(started)))
        recalled, _ = await self._answered(query, lambda: Seen(past.graph, past.text_of, position), deadline)
        return reply_to(query, recalled, position, Timing(waited_ms=waited_ms, recall_ms=_ms_since(started)))

    async def _rebuilt(self, owner: PartitionWriter, name: str, end: int, at: int) -> AsOf | None:
        live = owner.state.graph(name)
        return None if live is None else await self._past.graph(owner.partition, name, live.events, end, at)


def _at_once(asking: Asking, seen: Seen) -> tuple[Recalled, Position]:
    return asking.answer(seen.graph, seen.text_of), seen.position


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _deadline(arrival: Record) -> int:
    """Return until when (ms) an answer is wanted; a header that is no number counts as none."""
    given = as_mapping(arrival.headers).get(DEADLINE, b"")
    if not given.isdigit() or len(given) > 15:
        return arrival.timestamp + PATIENCE_MS
    return min(int(given), arrival.timestamp + LONGEST_MS)
