"""Questions to this worker's partitions: parse, wait until the state has seen enough, answer.

    not readable, or a key of another partition  Failure `invalid` / `wrong-partition`; unreadable ones are dead letters
    deadline passed before it was read           Failure `expired`
    too many at once, long ones before it        Failure `overloaded`, with how many wait
    it lay in the log for long                   the same, unless few questions wait: then it is answered in time
    `after` not folded shortly before it         Failure `not-yet`
    `as_of` not rebuilt shortly before it        Failure `not-yet`; what was read of the log is kept (as_of_cache.py)
    answering fails unexpectedly                 Failure `internal`: that answer is lost, the worker goes on
    the state is broken (HaltedError)            Failure `internal`, and the partition halts
    the partition has halted                     Failure `internal`, with what an operator can do
    its subject may not ask that graph           Failure `forbidden`
    the graph was moved; is incomplete           Failure `moved`, with the place; `unavailable`
    the graph's key or rows are damaged          Failure `unavailable`; the partition's other graphs are not affected
    it halts meanwhile                           Failure `internal`: ask again
    the partition is taken away meanwhile        no answer here: the next owner reads the question (redelivery.py)
    else                                         Reply; a graph that was never written to gives an empty one

A question changes nothing, unless it reinforces (reinforcement.py).  Which function answers which kind of question:
answers/registry.py.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from pydantic import ValidationError

from emgas.errors import HaltedError
from emgas.logs import logger
from emgas.messages.requests import AnswerMessage, Failure, FailureCode, GraphQuestion, Question
from emgas.messages.topics import REQUEST
from emgas.wire import Record, ReplyAddress, partition_of
from processors.lifecycle.policies import UnknownPolicyError
from processors.recall.answer.answer import Answer
from state.errors import GraphUnavailableError, KeysError, StoreCorruptError, TooMuchAskedError
from state.standing.placement import Placement
from streams.errors import RefusedError, RejectedError
from streams.ingest.verbs.refusals import check_size, explained, incomplete, moved
from streams.ingest.verbs.rights import check_question
from streams.query.admission import PART_IN_QUEUE, AdmissionControl, AdmissionSlot, LogClock, time_allowed
from streams.query.answers import (  # noqa: F401 - they fill ANSWERS
    contents,
    inspection,
    recall,
    reports,
)
from streams.query.answers.context import AnswerContext, QueryablePartition, QueryContext
from streams.query.answers.registry import ANSWERS
from streams.query.redelivery import Redelivery
from streams.query.reinforcement import Reinforcement
from streams.query.scheduling import AnswerSchedule, PendingQuestion
from streams.query.waiting import StateWaiter
from streams.transport.sender import error_headers

log = logger("query")
MENDED = "the partition failed and is mended: ask again"


def check_answers(graph_id: str, placement: Placement | None) -> None:
    """Raise RefusedError for a question to a graph that is not all here, or that was moved."""
    if placement is None or placement.answers:
        return
    if (place := placement.went_to) is not None:
        raise RefusedError("moved", moved(graph_id, place, returns=placement.comes_from is not None), place)
    raise RefusedError("unavailable", incomplete(graph_id))


def _nothing() -> None:
    """Acknowledge nothing: the record did not come through Faust."""


class QueryHandler:
    """Answers for the partitions in `context.writers`."""

    def __init__(self, context: QueryContext) -> None:
        self._context = context
        self._clock = LogClock(context.worker.monotonic_ms)
        self._admission = AdmissionControl(context.settings.queries_at_once)
        self._partitions: dict[asyncio.Task[None], int] = {}  # each with the partition that it asks
        self._schedule = AnswerSchedule(sender=context.sender, monotonic=context.worker.monotonic_ms)
        self._waiter = StateWaiter(self._schedule, context.worker.end_of_turns)
        self._redelivery = Redelivery(context.worker.end_of_queries)
        self._reinforcement = Reinforcement(context, self._redelivery)
        self.claimed = self._redelivery.claimed  # to be called when a partition was taken up
        self.come_again = self._redelivery.forget  # to be called when what was handed over comes again

    @property
    def answering(self) -> int:
        """Return the number of questions that wait for an answer, or for the append of their activated concepts."""
        return len(self._admission.tasks)

    async def take(self, queries_partition: int, record: Record, acknowledge: Callable[[], object] = _nothing) -> None:
        """Start answering a record of `queries`, or refuse it at once.

        How much of its time is left is measured by the log's clock, as is its deadline: a worker's wall clock may be
        wrong.

        queries_partition  the partition of `queries` that it came from
        acknowledge        called when it need not be read again (redelivery.py)
        """
        self._context.worker.yield_to_queries()
        done = self._redelivery.hold(queries_partition, acknowledge)
        slot = AdmissionSlot(self._context.sender.address(record), record.key, done)
        allowed, age = time_allowed(record), self._age(record)
        if age >= allowed:
            self._refuse(
                slot, "expired", "the deadline has passed before a worker saw it: ask again, or check your clock"
            )
        elif age > PART_IN_QUEUE * allowed and not self._admission.has_room_for_late:
            late = f"before one that lay in the log for {age / 1000:.1f} s of its {allowed / 1000:.1f} s"
            self._refuse(slot, "overloaded", f"{self._admission.crowd(late=True)} {late}: ask again later")
        else:
            partition = queries_partition % self._context.partitions
            deadline = self._context.worker.monotonic_ms() + allowed - age
            self._start(PendingQuestion(partition, queries_partition, record, deadline, done), slot)

    def _age(self, record: Record) -> float:
        """Compute for how long (ms) a record waited in the log; unknown, and 0, if its sender wrote the timestamp."""
        if not record.by_broker:
            return 0.0
        self._clock.see(record.timestamp)
        return self._clock.age(record.timestamp)

    def _start(self, question: PendingQuestion, slot: AdmissionSlot) -> None:
        """Admit the question and answer it in a task of its own, or refuse it."""
        crowd = self._admission.crowd()
        is_admitted, displaced = self._admission.admit(slot)
        if displaced is not None:
            why = f"{crowd}; others ask, too, and most of these are yours: ask again later"
            self._refuse(displaced, "overloaded", why)
        if is_admitted:
            task = asyncio.create_task(self._answer(question, slot.to))
            self._admission.occupy(task, slot)
            self._partitions[task] = question.partition
            task.add_done_callback(lambda ended: self._partitions.pop(ended, None))
        else:
            self._refuse(slot, "overloaded", f"{crowd} at once: ask again later")

    def _refuse(self, slot: AdmissionSlot, code: FailureCode, message: str) -> None:
        failure = Failure(code=code, message=message)
        self._context.sender.start(slot.to, failure.kind, failure, slot.done)

    async def drop(self, *, halted: bool = False, partition: int | None = None, given_up: bool = False) -> None:
        """Stop answering all questions, or those about `partition`.

        Clients are notified only if we keep the partition, not if it is `given_up`: its next owner reads the questions.
        Appends in progress are finished, unless we `halted`: see Reinforcement.appending.
        """
        myself = asyncio.current_task()
        tasks = [task for task in self._admission.tasks if partition in (None, self._partitions.get(task))]
        dropped = [task for task in tasks if task is not myself]
        if partition is None:
            self._redelivery.forget()
        elif given_up:
            self._redelivery.forget(lambda place: place % self._context.partitions == partition)
        else:  # it stays ours, so these records are not read again
            for slot in self._admission.unanswered(dropped):
                self._refuse(slot, "internal", MENDED)
        for task in dropped:
            if halted or task not in self._reinforcement.appending:
                task.cancel()
        await asyncio.gather(*dropped, return_exceptions=True)
        self._context.as_of_cache.forget()

    async def _answer(self, question: PendingQuestion, to: ReplyAddress | None) -> None:
        """Answer one question.  An error ends this answer alone, unless the state is broken."""
        answer: Answer | AnswerMessage | None
        try:
            answer = await self._answer_to(question)
        except RefusedError as refusal:
            answer = refusal.failure
        except (TooMuchAskedError, UnknownPolicyError) as error:
            answer = Failure(code="invalid", message=str(error))
        except GraphUnavailableError as error:
            log.error("graph unavailable", partition=question.partition, graph=error.graph, why=str(error))  # noqa: TRY400 - the sentence says what to do, a trace would not
            answer = Failure(code="unavailable", message=error.client_message)
        except HaltedError as error:
            await self._send(to, Failure(code="internal", message=MENDED), question.done)
            self._context.worker.fail_partition(question.partition, error)
            return
        except Exception:
            log.exception("answer failed", partition=question.partition, offset=question.record.offset)
            answer = Failure(code="internal", message="this answer failed, and no other: the worker's log says how")
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - there is one wherever something is awaited
        self._admission.settle(task)
        if isinstance(answer, Answer):
            await self._send(to, answer.reply, question.done)
            await self._reinforcement.reinforce(question, answer)
        elif answer is not None:
            await self._send(to, answer, question.done)

    async def _send(self, to: ReplyAddress | None, message: AnswerMessage, done: Callable[[], None]) -> None:
        self._context.worker.yield_to_queries()
        await self._context.sender.answer(to, message.kind, message, done)

    async def _request(self, question: PendingQuestion) -> Question:
        """Parse a record.  Raises RefusedError for one that is no question, once it is a dead letter."""
        record = question.record
        try:
            check_size(record.value)
            return REQUEST.validate_json(record.value)
        except (RejectedError, ValidationError) as error:
            reason = explained(error) if isinstance(error, ValidationError) else str(error)
            topic = self._context.settings.topics.queries
            errors = error_headers(topic, question.queries_partition, record.offset, reason)
            await self._context.sender.dead_letter(record, errors)
            raise RefusedError("invalid", reason) from None

    async def _answer_to(self, question: PendingQuestion) -> Answer | AnswerMessage | None:
        """Compute the answer to a record of `queries`; None if the partition was taken away meanwhile."""
        request = await self._request(question)
        partition = self._context.writers.get(question.partition)
        if partition is None and (why := self._context.halted.get(question.partition)):
            raise RefusedError("internal", f"partition {question.partition} has halted: {why}")
        if partition is None:
            return None
        if not isinstance(request, GraphQuestion):
            return await ANSWERS[type(request)].function(request, self._answer_context(question, partition))
        self._check_partition(request.graph, question)
        try:
            return await self._answer_of_graph(request, partition, question)
        except GraphUnavailableError:
            raise
        except (KeysError, StoreCorruptError) as error:  # found while answering: it concerns that graph alone
            partition.state.set_aside(request.graph, error)
            partition.state.graph(request.graph)
            raise

    async def _answer_of_graph(
        self, request: GraphQuestion, partition: QueryablePartition, question: PendingQuestion
    ) -> Answer | AnswerMessage:
        """Wait until the state has seen enough, check the rights as they are then, and answer."""
        context = self._answer_context(question, partition)
        await self._waiter.until_folded(request.after, partition, question)
        await self._waiter.until_arrived(request.graph, partition, question)
        check_answers(request.graph, partition.state.placement(request.graph))
        try:
            check_question(request, question.record, partition.state.graph(request.graph))
        except RejectedError as why:
            raise RefusedError("forbidden", str(why)) from None
        function, reads_pairs = ANSWERS[type(request)]
        if reads_pairs:
            await self._waiter.until_pairs_loaded(request.graph, partition, question)
        return await function(request, context)

    def _answer_context(self, question: PendingQuestion, partition: QueryablePartition) -> AnswerContext:
        return AnswerContext(
            question=question,
            partition=partition,
            worker=self._context,
            schedule=self._schedule,
            started=time.perf_counter(),
        )

    def _check_partition(self, graph_id: str, question: PendingQuestion) -> None:
        partition = partition_of(graph_id, self._context.partitions)
        if partition != question.partition:
            raise RefusedError(
                "wrong-partition",
                f"graph {graph_id!r} belongs to partition {partition}, the question came to {question.partition}: the "
                "key must be the graph id, placed by murmur2 (librdkafka: partitioner=murmur2_random)",
            )
