"""Questions to this worker's partitions: parse, wait until the state has seen enough, answer.

    not readable, or a key of another partition  Failure `invalid` / `wrong-partition`; unreadable ones are dead letters
    deadline passed before it was looked at      no answer: nobody waits for it any more
    too many at once, long ones before it        Failure `overloaded`
    `after` not folded shortly before it         Failure `not-yet`
    `as_of` not rebuilt shortly before it        Failure `not-yet`; what was read of the log is kept (as_of_cache.py)
    answering fails unexpectedly                 Failure `internal`: that answer is lost, the worker goes on
    the state is broken (HaltedError)            Failure `internal`, and the partition halts
    the partition has halted                     Failure `internal`, with what an operator can do
    its subject may not ask that graph           Failure `forbidden`
    the graph's key or rows are damaged          Failure `unavailable`; the partition's other graphs do not notice
    it halts meanwhile                           Failure `internal`: ask again
    the partition is taken away meanwhile        no answer here: the next owner reads the question (redelivery.py)
    else                                         Reply; a graph that nobody wrote to gives an empty one

A question changes nothing.  With `reinforce`, what it woke is appended as an event once it has been answered; a reader,
which appends nothing, tells the partition's writer.  What is answered, and from what, is said in
processors/recall/answer/answer.py: here is only when, and where to.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from emgas import limits
from emgas.errors import HaltedError, TransportError
from emgas.logs import logger
from emgas.messages.contents import List, Read
from emgas.messages.fields import Position
from emgas.messages.operator import Checkpoint, Checkpointed, Inspect
from emgas.messages.pictures import Compare, Compared, Picture
from emgas.messages.queries import Describe, Failure, FailureCode, Query, Timing
from emgas.messages.sessions import Recent
from emgas.messages.topics import REQUEST, OfGraph, OfPartition, Question
from emgas.messages.topics import Answer as Message
from emgas.messages.turns import Reinforce
from emgas.messages.views import Explore, Habits, Recap, Trend
from emgas.wire import DEADLINE, Record, ReplyAddress, as_mapping, partition_of
from processors.lifecycle.steps import Steps, in_one_go
from processors.recall.answer.answer import Answer, Answerer, Memory, is_long
from processors.recall.answer.turn_facts import GraphChangedError
from processors.recall.reports.picture import pictured
from replay.as_of.graph_as_of import AsOf
from replay.errors import SnapshotRefusedError, SnapshotsUnreachableError
from state.errors import GraphUnavailableError, KeysError, LogRewrittenError, StoreCorruptError, TooMuchAskedError
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from streams.errors import RefusedError, RejectedError
from streams.ingest.access import check_question, sees_forgotten, subject_of
from streams.ingest.refusals import check_size, explained
from streams.ingest.reinforcing import RecallEvent, recalled_events
from streams.ingest.window_timer import WindowTimer
from streams.query import contents
from streams.query.as_of_cache import AsOfCache
from streams.query.held import HeldPartition
from streams.query.log_clock import LogClock
from streams.query.places import Place, Places
from streams.query.redelivery import Redelivery
from streams.query.replies import description, inspection, position_of
from streams.query.snapshot_taker import SnapshotTaker
from streams.settings import Settings
from streams.transport.sender import MessageSender, error_headers

log = logger("query")
PATIENCE_MS = 10_000  # how long a question without a deadline may wait
LONGEST_MS = 600_000  # and one with a deadline: it holds one of the places of `queries_at_once`
PART_TO_WAIT = 0.9  # of the time until the deadline: a refusal must arrive while its asker still listens
PART_FOR_A_TURN = 0.7  # of the same, until it is answered at last: where many wait so long, many must be told
PART_IN_QUEUE = 0.4  # of its time: what lay in the log for longer is refused at once, as is all that lies behind it
PASSES_TO_LEAVE = 5  # of the event loop, until the producer has written what it was handed to its socket
MENDED = "the partition failed and is mended: ask again"

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class QueryContext:
    """What a worker lends to its query handler.

    writers, timers  of the partitions that it owns, by partition: the worker keeps both up to date.  A reader has folds
                     in place of writers, and no timers
    halted           why those of them cannot go on that have halted
    partitions       how many there are in all
    now              ms since the epoch
    monotonic        ms since whenever
    end_of_turns     partition → the offset behind its last turn, asked of the log
    end_of_queries   partition → the offset behind its last question, asked of the log
    fail             halts a partition, or the worker if the error is not the partition's alone
    command          sends what a question woke to the writer of its partition; None: we are the writer
    give_way         told at each step of a question: what is folded meanwhile gives way for a moment
    """

    writers: Mapping[int, HeldPartition]
    timers: Mapping[int, WindowTimer]
    halted: Mapping[int, BaseException]
    as_of_cache: AsOfCache
    snapshots: SnapshotTaker
    sender: MessageSender
    answerer: Answerer
    settings: Settings
    partitions: int
    now: Callable[[], int]
    monotonic: Callable[[], float]
    end_of_turns: Callable[[int], Awaitable[int]]
    end_of_queries: Callable[[int], Awaitable[int]]
    fail: Callable[[int, BaseException], None]
    command: Callable[[Reinforce], Awaitable[None]] | None = None
    give_way: Callable[[], None] = lambda: None


class _Asked(NamedTuple):
    """A record of `queries`, the partition that it is about, and until when (monotonic, ms) it wants an answer.

    place  the partition of `queries` that it came from: it may have several times as many

    told  to be called once the answer, or why there is none, is in the log
    """

    partition: int
    place: int
    record: Record
    deadline: float
    told: Callable[[], None]


def _nothing() -> None:
    """Acknowledge nothing: the record did not come through Faust."""


class QueryHandler:
    """Answers for the partitions in `context.writers`."""

    def __init__(self, context: QueryContext) -> None:
        self._context = context
        self._clock = LogClock(context.monotonic)
        self._places = Places(context.settings.queries_at_once)
        self._asking: dict[asyncio.Task[None], int] = {}  # each with the partition that it asks
        self._appending: set[asyncio.Task[None]] = set()
        self._short = asyncio.Lock()  # one recall, then whatever else is to be done, then the next
        self._long = asyncio.Lock()  # for one long question at a time: several would hold up the short ones
        self._ends: dict[int, asyncio.Task[int]] = {}  # of `turns`, being asked, by partition
        self._redelivery = Redelivery(context.end_of_queries)
        self.claimed = self._redelivery.claimed  # to be told that a partition was taken up
        self.come_again = self._redelivery.forget  # to be told that what was handed over comes again

    @property
    def answering(self) -> int:
        """How many questions wait for an answer, or for what they woke to be appended."""
        return len(self._places.tasks)

    async def take(self, place: int, record: Record, acknowledge: Callable[[], object] = _nothing) -> None:
        """Start answering a record of `queries`, or tell at once that there will be no answer.

        How much of its time is left is told by the log's clock, as is its deadline: a worker's wall clock may be wrong.

        place        the partition of `queries` that it lay in
        acknowledge  called when nobody need read it again (redelivery.py)
        """
        self._context.give_way()
        told = self._redelivery.hold(place, acknowledge)
        asker = Place(self._context.sender.address(record), record.key, told)
        granted, age = _granted(record), self._age(record)
        if age >= granted:
            self._refuse(
                asker, "expired", "the deadline has passed before a worker saw it: ask again, or check your clock"
            )
        elif age > PART_IN_QUEUE * granted:
            self._refuse(asker, "overloaded", "too many questions lie before this one: ask again later")
        else:
            partition, deadline = place % self._context.partitions, self._context.monotonic() + granted - age
            self._start(_Asked(partition, place, record, deadline, told), asker)

    def _age(self, record: Record) -> float:
        """Tell for how long (ms) a record waited in the log; unknown, and 0, if its sender wrote the timestamp."""
        if not record.by_broker:
            return 0.0
        self._clock.see(record.timestamp)
        return self._clock.age(record.timestamp)

    def _start(self, asked: _Asked, place: Place) -> None:
        """Give the question a place and answer it in a task of its own."""
        has_room, displaced = self._places.make_room(place)
        if displaced is not None:
            self._refuse(displaced, "overloaded", "others ask, too, and you have most questions here: ask again later")
        if has_room:
            task = asyncio.create_task(self._answer(asked, place.to))
            self._places.hold(task, place)
            self._asking[task] = asked.partition
            task.add_done_callback(lambda done: self._asking.pop(done, None))
        else:
            self._refuse(place, "overloaded", "too many questions at once: ask again later")

    def _refuse(self, place: Place, code: FailureCode, message: str) -> None:
        failure = Failure(code=code, message=message)
        self._context.sender.start(place.to, failure.kind, failure, place.told)

    async def drop(self, *, halted: bool = False, partition: int | None = None, given_up: bool = False) -> None:
        """Stop answering, all or what asks `partition`: the next owner reads the questions, or who asked is told.

        He is told of a partition that stays ours, not of one that is `given_up`.

        What is being appended is finished: the state would lack an event that the log has, and what is appended next
        would not follow it.  Not so once `halted`: nothing follows.
        """
        myself = asyncio.current_task()
        mine = [task for task in self._places.tasks if partition in (None, self._asking.get(task))]
        dropped = [task for task in mine if task is not myself]
        if partition is None:
            self._redelivery.forget()
        elif given_up:
            self._redelivery.forget(lambda place: place % self._context.partitions == partition)
        else:  # it stays ours, and nobody reads them again
            for place in self._places.unanswered(dropped):
                self._refuse(place, "internal", MENDED)
        for task in dropped:
            if halted or task not in self._appending:
                task.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)
        self._context.as_of_cache.forget()

    async def _answer(self, asked: _Asked, to: ReplyAddress | None) -> None:
        """Answer one question.  What fails ends this answer alone, unless the state is broken."""
        answer: Answer | Message | None
        try:
            answer = await self._found(asked)
        except RefusedError as refusal:
            answer = refusal.failure
        except TooMuchAskedError as error:
            answer = Failure(code="invalid", message=str(error))
        except GraphUnavailableError as error:
            log.error("graph unavailable", partition=asked.partition, graph=error.graph, why=str(error))  # noqa: TRY400 - the sentence says what to do, a trace would not
            answer = Failure(code="unavailable", message=error.told)
        except HaltedError as error:
            await self._send(to, Failure(code="internal", message=MENDED), asked.told)
            self._context.fail(asked.partition, error)
            return
        except Exception:
            log.exception("answer failed", partition=asked.partition, offset=asked.record.offset)
            answer = Failure(code="internal", message="this answer failed, and no other: the worker's log says how")
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - there is one wherever something is awaited
        self._places.settle(task)
        if isinstance(answer, Answer):
            await self._send(to, answer.reply, asked.told)
            await self._reinforce(asked, answer)
        elif answer is not None:
            await self._send(to, answer, asked.told)

    async def _send(self, to: ReplyAddress | None, message: Message, told: Callable[[], None]) -> None:
        self._context.give_way()
        await self._context.sender.answer(to, message.kind, message, told)

    async def _request(self, asked: _Asked) -> Question:
        """Parse a record.  Raises RefusedError for one that is no question, once it is a dead letter."""
        record = asked.record
        try:
            check_size(record.value)
            return REQUEST.validate_json(record.value)
        except (RejectedError, ValidationError) as error:
            reason = explained(error) if isinstance(error, ValidationError) else str(error)
            topic = self._context.settings.topics.queries
            errors = error_headers(topic, asked.place, record.offset, reason)
            await self._context.sender.dead_letter(record, errors)
            raise RefusedError("invalid", reason) from None

    async def _found(self, asked: _Asked) -> Answer | Message | None:
        """Find the answer to a record of `queries`; None if the partition was taken away meanwhile."""
        request = await self._request(asked)
        writer = self._context.writers.get(asked.partition)
        if writer is None and (why := self._context.halted.get(asked.partition)):
            raise RefusedError("internal", f"partition {asked.partition} has halted: {why}")
        if writer is None:
            return None
        if isinstance(request, OfPartition):
            return await self._of_partition(request, writer, subject_of(asked.record))
        self._check_place(request.graph, asked)
        try:
            return await self._of_graph(request, writer, asked)
        except GraphUnavailableError:
            raise
        except (KeysError, StoreCorruptError) as error:  # while it was answered: it concerns that graph alone
            writer.state.set_aside(request.graph, error)
            writer.state.graph(request.graph)
            raise

    async def _of_partition(self, request: OfPartition, writer: HeldPartition, subject: str | None) -> Message:
        match request:
            case Inspect():
                is_exact = request.digest or request.graphs_after is not None  # it is compared with a fold of then
                counting = inspection(writer, request)
                return in_one_go(counting) if is_exact else await _letting_others_in(counting)
            case List():
                return await _letting_others_in(contents.graphs(writer, request, subject))
            case Checkpoint():
                return await self._checkpoint(writer.partition)

    async def _of_graph(self, request: OfGraph, writer: HeldPartition, asked: _Asked) -> Answer | Message:
        started = time.perf_counter()
        await self._wait_for(request.after, writer, asked)
        try:
            check_question(request, asked.record, writer.state.graph(request.graph))
        except RejectedError as why:
            raise RefusedError("forbidden", str(why)) from None
        if isinstance(request, Query | Picture | Explore | Describe):
            await self._pairs_at_hand(request.graph, writer, asked)
        match request:
            case Query():
                return await self._recall(request, writer, asked, started=started)
            case Describe():
                return description(writer.state, request.graph, position_of(writer), measured=request.measures)
            case Recap() | Trend() | Explore() | Habits() | Recent():
                memory = await self._memory(request, writer, asked)
                async with self._turn(self._short, asked):
                    await self._let_others_in()
                    return contents.told(memory(), request, self._context.answerer.extractor)
            case Read():
                memory = await self._memory(request, writer, asked)
                async with self._turn(self._short, asked):
                    await self._let_others_in()
                    return contents.turns(memory(), request, self._context.answerer.extractor)
            case Picture():
                memory = await self._memory(request, writer, asked)
                extractor = self._context.answerer.extractor
                return await self._long_steps(
                    lambda: pictured(memory().graph, request, extractor, memory().position), asked
                )
            case Compare():
                return await self._compared(request, writer, asked)

    async def _pairs_at_hand(self, graph_id: str, writer: HeldPartition, asked: _Asked) -> None:
        """Have the pairs of a large graph that nobody has asked yet read, and let others in meanwhile.

        Who asks again after a refusal goes on with what was read.
        """
        if not writer.state.prepare(graph_id):
            return
        try:
            async with self._turn(self._long, asked), self._in_time(asked, PART_FOR_A_TURN):
                while writer.state.prepare(graph_id):  # noqa: ASYNC110 - it is we who work
                    await asyncio.sleep(0)
        except TimeoutError:
            reason = "what goes together in this memory is being read, as nobody has asked it before: ask again"
            raise RefusedError("not-yet", reason) from None

    async def _compared(self, request: Compare, writer: HeldPartition, asked: _Asked) -> Compared:
        """Compare two moments of the past: the graphs of then are nobody else's, so it is done in a thread."""
        graph_id, position = request.graph, position_of(writer)
        live = writer.state.graph(graph_id)
        until = request.until if request.until is not None else live.clock if live else request.since
        before = await self._past(graph_id, request.since, writer=writer, asked=asked)
        after = await self._past(graph_id, until, writer=writer, asked=asked)
        memory = Memory(after.graph if after else None, writer.state.text_of, position)
        async with self._turn(self._long, asked):
            return await asyncio.to_thread(contents.compared, before.graph if before else None, memory, request)

    async def _checkpoint(self, partition: int) -> Checkpointed:
        if not self._context.snapshots.is_wanted:
            raise RefusedError(
                "invalid", "this worker keeps no snapshots: start it with EMGAS_SNAPSHOTS=directory or URL"
            )
        try:
            taken = await self._context.snapshots.take(partition)
        except (SnapshotRefusedError, SnapshotsUnreachableError) as error:
            raise RefusedError("internal", str(error)) from None
        position = Position(partition=partition, watermark=taken.watermark, source=taken.source)
        return Checkpointed(snapshot=taken.name, position=position, bytes=taken.bytes)

    def _check_place(self, graph_id: str, asked: _Asked) -> None:
        place = partition_of(graph_id, self._context.partitions)
        if place != asked.partition:
            raise RefusedError(
                "wrong-partition",
                f"graph {graph_id!r} belongs to partition {place}, the question came to {asked.partition}: the key "
                "must be the graph id, placed by murmur2 (librdkafka: partitioner=murmur2_random)",
            )

    async def _wait_for(self, after: int | None, writer: HeldPartition, asked: _Asked) -> None:
        """Wait until the turn at offset `after` is folded; refuse at once to wait for one that is not in the log."""
        if after is None or writer.state.position.source >= after:
            return
        try:
            async with self._in_time(asked):
                if (end := await self._end_of_turns(asked.partition)) <= after:
                    raise RefusedError("not-yet", f"there is no turn {after} yet: the log of turns ends before {end}")
                await writer.until_source(after)
        except TimeoutError:
            source = writer.state.position.source
            raise RefusedError("not-yet", f"turn {after} is not folded yet, the state is at {source}") from None

    async def _end_of_turns(self, partition: int) -> int:
        """Ask the log where the turns of a partition end, as of now or later; all who ask meanwhile ask together."""
        before = self._ends.get(partition)
        if before is not None:  # its answer may be older than the turn that is waited for
            await asyncio.wait([before])
        if self._ends.get(partition) in (None, before):
            self._ends[partition] = asyncio.ensure_future(self._context.end_of_turns(partition))
        try:
            return await asyncio.shield(self._ends[partition])
        except TransportError as error:
            raise RefusedError("internal", f"the log does not tell where the turns end: {error}") from None

    def _in_time(self, asked: _Asked, part: float = PART_TO_WAIT) -> asyncio.Timeout:
        """Give up so early before the deadline that a refusal arrives in time."""
        return asyncio.timeout(part * (asked.deadline - self._context.monotonic()) / 1000)

    async def _recall(self, query: Query, writer: HeldPartition, asked: _Asked, *, started: float) -> Answer:
        """Answer a query from the graph as it is, or as it was; it has been waiting since `started` (s)."""
        memory = await self._memory(query, writer, asked)
        waited_ms, started = _ms_since(started), time.perf_counter()
        answer = await self._answered(query, memory, asked)
        timing = Timing(waited_ms=waited_ms, recall_ms=_ms_since(started))
        return answer._replace(reply=answer.reply.model_copy(update={"timing": timing}))

    async def _memory(
        self,
        query: Query | Read | Picture | Recap | Trend | Explore | Habits | Recent,
        writer: HeldPartition,
        asked: _Asked,
    ) -> Callable[[], Memory]:
        """Find what is asked: called again, it gives the graph as it has become meanwhile, but the past stays."""
        state = writer.state
        if query.as_of is None:
            now = self._time_in(state.graph(query.graph), asked)
            return lambda: Memory(state.graph(query.graph), state.text_of, position_of(writer), now)
        position = position_of(writer)
        past = await self._past(query.graph, query.as_of, writer=writer, asked=asked)
        memory = Memory(past.graph, past.text_of, position) if past else Memory(None, state.text_of, position)
        return lambda: memory

    async def _past(self, graph_id: str, at: int, *, writer: HeldPartition, asked: _Asked) -> AsOf | None:
        """Rebuild a graph as it was at `at` (ms), of all that is folded by now; None if nothing had been said.

        What was forgotten since is in it only for those who may forget, or admin.
        """
        live, watermark = writer.state.graph(graph_id), writer.state.position.watermark
        if live is None:
            return None
        cache, where = self._context.as_of_cache, {"partition": asked.partition, "end": watermark + 1}
        hides = not sees_forgotten(asked.record, live)
        try:
            async with self._in_time(asked):
                return await cache.graph(graph_id, at, events=live.events, hides=hides, **where)
        except TimeoutError:
            read = f"the log is read up to offset {cache.read(graph_id)} of {watermark}"
            raise RefusedError("not-yet", f"the graph as of then is not rebuilt yet, {read}: ask again") from None
        except (TransportError, LogRewrittenError) as error:  # the present, which needs no reading, can still be asked
            raise RefusedError("internal", f"the past cannot be read: {error}") from None

    async def _answered(self, query: Query, memory: Callable[[], Memory], asked: _Asked) -> Answer:
        """Answer in one go; a long question lets others in, and begins again if what it needs is gone by then."""
        answer = self._context.answerer.answer
        if not is_long(query):
            async with self._turn(self._short, asked):
                await self._let_others_in()
                return in_one_go(answer(query, memory()))
        read: dict[int, TurnRecorded] = {}
        return await self._long_steps(lambda: answer(query, memory(), read), asked)

    async def _let_others_in(self) -> None:
        """Give turns, and questions that come, their share between two answers, and the answer before time to leave."""
        for _ in range(PASSES_TO_LEAVE if self._context.sender.unacknowledged else 1):
            await asyncio.sleep(0)

    async def _long_steps(self, begin: Callable[[], Steps[T]], asked: _Asked) -> T:
        """Take long steps, letting others in; begin again, in one go, if they changed what is needed."""
        async with self._turn(self._long, asked):
            try:
                return await _letting_others_in(begin())
            except GraphUnavailableError:
                raise
            except (GraphChangedError, StoreCorruptError):  # a text was forgotten meanwhile, or else it fails again
                return in_one_go(begin())

    @asynccontextmanager
    async def _turn(self, among: asyncio.Lock, asked: _Asked) -> AsyncIterator[None]:
        """Wait for a question's turn among the short, or the long, ones: no other of them is being answered then."""
        try:
            async with self._in_time(asked, PART_FOR_A_TURN):
                await among.acquire()
        except TimeoutError:
            raise RefusedError("overloaded", "other questions come first: ask again later, or for less") from None
        try:
            yield
        finally:
            among.release()

    async def _reinforce(self, asked: _Asked, answer: Answer) -> None:
        """Record what a question woke, but for one that may have been answered before: it must not count twice.

        Where a conversation goes on, asking is part of it: time goes on with it, and windows may end before it.
        Whatever fails here halts the partition or the worker: the log may hold what the state lacks.
        """
        if self._context.command is not None:
            await self._tell_writer(self._context.command, asked, answer)
            return
        graph_id, timer = answer.reply.graph, self._context.timers.get(asked.partition)
        if not answer.recalled or timer is None:  # it wakes nothing, or the partition was taken away meanwhile
            return
        if self._redelivery.may_be_again(asked.place, asked.record.offset):
            return
        try:
            async with timer.lock:
                if self._context.timers.get(asked.partition) is not timer:  # it halted, or was taken away
                    return
                with self._undisturbed():
                    at = self._time_of(graph_id, asked)
                    await timer.close_due(graph_id, at)
                    await timer.append(self._recorded(graph_id, answer, asked=asked, at=at))
                    timer.look_at(graph_id)
        except GraphUnavailableError as error:  # before anything was appended
            log.error("not reinforced", partition=asked.partition, graph=error.graph, why=str(error))  # noqa: TRY400 - the sentence says what to do, a trace would not
        except Exception as error:  # noqa: BLE001 - whatever it is, the partition or the worker halts with it
            self._context.fail(asked.partition, error)

    async def _tell_writer(
        self, command: Callable[[Reinforce], Awaitable[None]], asked: _Asked, answer: Answer
    ) -> None:
        """Have the writer record what a question woke.  Where that fails, the question stays without effect."""
        if not answer.recalled or self._redelivery.may_be_again(asked.place, asked.record.offset):
            return
        woken = Reinforce(
            kind="reinforce",
            id=f"query-{asked.place}-{asked.record.offset}",
            graph=answer.reply.graph,
            concepts=list(answer.recalled[: limits.TOP]),
            turns=list(answer.restored[: limits.TOP]),
            at=asked.record.timestamp,
        )
        try:
            await command(woken)
        except Exception as error:  # noqa: BLE001 - of whichever transport: the answer is sent, and nothing is half done
            log.warning("not reinforced", partition=asked.partition, error=str(error))

    def _time_of(self, graph_id: str, asked: _Asked) -> int:
        """Tell when a question is asked, in a graph's own time (ms): one that is not live is not told the present.

        Of an imported memory, all windows up to now would close, and nearly everything in it fade at once.
        """
        return self._time_in(self._context.writers[asked.partition].state.graph(graph_id), asked)

    def _time_in(self, graph: Graph | None, asked: _Asked) -> int:
        if graph is not None and not graph.live:
            return graph.clock
        if asked.record.by_broker:
            return asked.record.timestamp
        return min(asked.record.timestamp, self._context.now() + self._context.settings.skew_ms)

    def _recorded(self, graph_id: str, answer: Answer, *, asked: _Asked, at: int) -> list[RecallEvent]:
        """Make the events that record what a question woke, and brought back from the archive."""
        graph = self._context.writers[asked.partition].state.graph(graph_id)
        return recalled_events(graph_id, graph, concepts=answer.recalled, turns=answer.restored, at=at)

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


async def _letting_others_in(steps: Steps[T]) -> T:
    """Take steps, and let others in between them."""
    try:
        while True:
            next(steps)
            await asyncio.sleep(0)
    except StopIteration as end:
        result: T = end.value
        return result


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _granted(record: Record) -> int:
    """Find for how long (ms) after its timestamp an answer is wanted; a header that is no number counts as none."""
    given = as_mapping(record.headers).get(DEADLINE, b"")
    if not given.isdigit() or len(given) > 15:
        return PATIENCE_MS
    return min(int(given) - record.timestamp, LONGEST_MS)
