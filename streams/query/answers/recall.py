"""Queries: recall from a graph, as it is or as it was."""

from __future__ import annotations

import time
from collections.abc import Callable

from emgas.messages.queries import Query, Timing
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answer, is_long
from processors.recall.answer.prepared_query import QueriedGraph
from state.events.events import TurnRecorded
from streams.query.answers.context import AnswerContext
from streams.query.answers.registry import answers


@answers(Query, reads_pairs=True)
async def recall(query: Query, context: AnswerContext) -> Answer:
    """Answer a query, and measure how long it waited and how long its recall took."""
    with context.worker.answerer.stage("wait"):
        memory = await context.memory(query)
    waited_ms, started = _ms_since(context.started), time.perf_counter()
    answer = await _answered(query, memory, context)
    timing = Timing(waited_ms=waited_ms, recall_ms=_ms_since(started))
    return answer._replace(reply=answer.reply.model_copy(update={"timing": timing}))


async def _answered(query: Query, memory: Callable[[], QueriedGraph], context: AnswerContext) -> Answer:
    """Answer a short query in one go, and a long one in steps."""
    answer = context.worker.answerer.answer
    if not is_long(query):
        async with context.schedule.short_turn(context.question):
            return in_one_go(answer(query, memory()))
    read: dict[int, TurnRecorded] = {}  # outlives a second beginning: no turn is read twice
    return await context.schedule.long_steps(lambda: answer(query, memory(), read), context.question)


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
