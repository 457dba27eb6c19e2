"""Record the concepts that a question activated, after it is answered: a recall makes concepts stronger.

A worker that owns the partition appends an event.  A reader, which appends nothing, sends a command to the writer.
A question that may have been answered before (redelivery.py) reinforces nothing: it must not count twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from emgas import limits
from emgas.logs import logger
from emgas.messages.turns import Reinforce
from processors.recall.answer.answer import Answer
from state.errors import GraphUnavailableError
from streams.ingest.verbs.reinforce import RecallEvent, recalled_events
from streams.query.answers.context import QueryContext
from streams.query.redelivery import Redelivery
from streams.query.scheduling import PendingQuestion

log = logger("query")


class Reinforcement:
    """Reinforces for one query handler.

    appending  tasks that must not be cancelled: the state would lack an event that the log has, and what is appended
               next would not follow it
    """

    def __init__(self, context: QueryContext, redelivery: Redelivery) -> None:
        self._context = context
        self._redelivery = redelivery
        self.appending: set[asyncio.Task[None]] = set()

    async def reinforce(self, question: PendingQuestion, answer: Answer) -> None:
        """Record what a question woke, unless it may have been answered before.

        A question is part of a conversation that goes on: its time goes on with it, and windows may end before it.
        An error here halts the partition or the worker: the log may hold what the state lacks.
        """
        if not answer.recalled or self._redelivery.may_be_again(question.queries_partition, question.record.offset):
            return
        if not self._context.worker.is_writer:
            await self._command_writer(question, answer)
            return
        try:
            await self._append(question, answer)
        except GraphUnavailableError as error:  # before anything was appended
            log.error("not reinforced", partition=question.partition, graph=error.graph, why=str(error))  # noqa: TRY400 - the sentence says what to do, a trace would not
        except Exception as error:  # noqa: BLE001 - whatever it is, the partition or the worker halts with it
            self._context.worker.fail_partition(question.partition, error)

    async def _append(self, question: PendingQuestion, answer: Answer) -> None:
        """Close the windows that end before the question, then append what it woke; not if the partition is gone."""
        timers, graph_id = self._context.timers, answer.reply.graph
        timer = timers.get(question.partition)
        if timer is None:
            return
        async with timer.lock:
            if timers.get(question.partition) is not timer:  # it halted, or was taken away, while we waited
                return
            if not timer.runs(graph_id):
                return
            with self._uncancelled():
                at = self._time_of(graph_id, question)
                await timer.close_due(graph_id, at)
                await timer.append(self._events(graph_id, answer, question=question, at=at))
                timer.look_at(graph_id)

    async def _command_writer(self, question: PendingQuestion, answer: Answer) -> None:
        """Send the concepts that a question activated to the writer.  If that fails, the question has no effect."""
        woken = Reinforce(
            kind="reinforce",
            id=f"query-{question.queries_partition}-{question.record.offset}",
            graph=answer.reply.graph,
            concepts=list(answer.recalled[: limits.TOP]),
            turns=list(answer.restored[: limits.TOP]),
            at=question.record.timestamp,
        )
        try:
            await self._context.worker.send_reinforcement(woken)
        except Exception as error:  # noqa: BLE001 - of any transport: the answer is sent, and nothing is half done
            log.warning("not reinforced", partition=question.partition, error=str(error))

    def _time_of(self, graph_id: str, question: PendingQuestion) -> int:
        """Return when a question was asked, in its graph's own time (ms)."""
        graph = self._context.writers[question.partition].state.graph(graph_id)
        return self._context.time_in(graph, question.record)

    def _events(self, graph_id: str, answer: Answer, *, question: PendingQuestion, at: int) -> list[RecallEvent]:
        """Build the events that record what a question woke, and brought back from the archive."""
        graph = self._context.writers[question.partition].state.graph(graph_id)
        return recalled_events(graph_id, graph, concepts=answer.recalled, turns=answer.restored, at=at)

    @contextmanager
    def _uncancelled(self) -> Iterator[None]:
        """Keep `QueryHandler.drop` from cancelling the task for as long as the block lasts."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - there is one wherever something is awaited
        self.appending.add(task)
        try:
            yield
        finally:
            self.appending.discard(task)
