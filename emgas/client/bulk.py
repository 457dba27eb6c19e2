"""Publish many turns: a bounded window in flight, in order, and turns without an answer are sent again.

    turns ──▶ [ t1 … tw ] ──▶ (turn, result), in their order
                 each one: send; on NoAnswerError send again, `tries` times in all

Turns are first sent in their order, so each graph's turns are in the log as they were said.  A turn that had to be
sent again may come after later ones.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable

from emgas.errors import NoAnswerError
from emgas.messages.requests import Outcome
from emgas.messages.turns import Turn
from emgas.wire import Receipt

Turns = Iterable[Turn] | AsyncIterable[Turn]
Result = Outcome | Receipt
Send = Callable[[Turn], Awaitable[Result]]


async def publish_all(turns: Turns, send: Send, window: int, *, tries: int) -> AsyncIterator[tuple[Turn, Result]]:
    """Yield every turn with what `send` returned for it.  Raises what `send` raises; what is in flight is then left."""
    waiting: deque[tuple[Turn, asyncio.Task[Result]]] = deque()
    try:
        async for turn in _each(turns):
            # Tasks start in the order of their creation, and `send` hands its record over before it first waits:
            # that is what keeps the order.
            waiting.append((turn, asyncio.create_task(_until_answered(turn, send, tries))))
            if len(waiting) >= window:
                yield await _oldest(waiting)
        while waiting:
            yield await _oldest(waiting)
    finally:
        tasks = [task for _, task in waiting]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _oldest(waiting: deque[tuple[Turn, asyncio.Task[Result]]]) -> tuple[Turn, Result]:
    turn, task = waiting[0]
    result = await task
    waiting.popleft()
    return turn, result


async def _until_answered(turn: Turn, send: Send, tries: int) -> Result:
    for attempt in range(1, tries + 1):
        try:
            result = await send(turn)
        except NoAnswerError:
            if attempt >= tries:
                raise
        else:
            return _accepted_before(result) if attempt > 1 else result
    raise ValueError("tries must be at least 1")


def _accepted_before(result: Result) -> Result:
    """Correct the outcome of a turn that was sent more than once."""
    # `duplicate` after a resend means that the first try did arrive and only its answer was lost: to the caller, whose
    # turn it is, that is acceptance.  (A turn that was accepted before this call looks the same here, but its text is
    # in the graph either way.)
    if isinstance(result, Outcome) and result.status == "duplicate":
        return result.model_copy(update={"status": "accepted"})
    return result


async def _each(turns: Turns) -> AsyncIterator[Turn]:
    if isinstance(turns, AsyncIterable):
        async for turn in turns:
            yield turn
    else:
        for turn in turns:
            yield turn
