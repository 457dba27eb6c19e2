"""Schedule pending questions cooperatively on one event loop.

Short questions are answered one at a time, each in one go.  Long questions are answered one at a time too, in steps;
between two steps short questions and turns are served.  A question that waits too long for its turn is refused early
enough that its client still listens.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from emgas.wire import Record
from processors.lifecycle.steps import Steps, in_one_go
from processors.recall.answer.turn_facts import GraphChangedError
from state.errors import GraphUnavailableError, StoreCorruptError
from streams.errors import RefusedError
from streams.transport.sender import MessageSender

PART_TO_WAIT = 0.9  # of the time until the deadline: a refusal must arrive while its client still listens
PART_FOR_A_TURN = 0.7  # of the same, until its turn comes: where many wait so long, many have to be refused
PASSES_TO_LEAVE = 5  # of the event loop, until the producer has written what it was handed to its socket

T = TypeVar("T")


class PendingQuestion(NamedTuple):
    """A record of `queries` that is being answered.

    partition          the partition that it is about
    queries_partition  the partition of `queries` that it came from: that topic may have several times as many
    deadline           until when (monotonic, ms) its client waits for an answer
    done               to be called once the answer, or why there is none, is in the log
    """

    partition: int
    queries_partition: int
    record: Record
    deadline: float
    done: Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class AnswerSchedule:
    """The turns of the questions of one worker.

    short  held by the question that is answered in one go
    long   held by the long question that is answered in steps: several at once would hold up the short ones
    """

    sender: MessageSender
    monotonic: Callable[[], float]
    short: asyncio.Lock = field(default_factory=asyncio.Lock)
    long: asyncio.Lock = field(default_factory=asyncio.Lock)

    def time_limit(self, question: PendingQuestion, part: float = PART_TO_WAIT) -> asyncio.Timeout:
        """Return a time limit that ends so early before the deadline that a refusal arrives in time."""
        return asyncio.timeout(part * (question.deadline - self.monotonic()) / 1000)

    @asynccontextmanager
    async def turn(self, among: asyncio.Lock, question: PendingQuestion) -> AsyncIterator[None]:
        """Wait for a question's turn among the short, or the long, ones; no other of them is answered in the block."""
        try:
            async with self.time_limit(question, PART_FOR_A_TURN):
                await among.acquire()
        except TimeoutError:
            raise RefusedError("overloaded", "its turn did not come in time: ask again later, or for less") from None
        try:
            yield
        finally:
            among.release()

    @asynccontextmanager
    async def short_turn(self, question: PendingQuestion) -> AsyncIterator[None]:
        """Wait for a question's turn among the short ones, then serve what came before its work begins."""
        async with self.turn(self.short, question):
            await self._yield_to_turns()
            yield

    async def _yield_to_turns(self) -> None:
        """Serve turns and new questions between two answers, and leave time to send the previous answer."""
        for _ in range(PASSES_TO_LEAVE if self.sender.unacknowledged else 1):
            await asyncio.sleep(0)

    async def long_steps(self, begin: Callable[[], Steps[T]], question: PendingQuestion) -> T:
        """Take long steps cooperatively; begin again, in one go, if the graph changed what they need."""
        async with self.turn(self.long, question):
            try:
                return await run_cooperatively(begin())
            except GraphUnavailableError:
                raise
            except (GraphChangedError, StoreCorruptError):  # a text was forgotten meanwhile, or else it fails again
                return in_one_go(begin())


async def run_cooperatively(steps: Steps[T]) -> T:
    """Take steps, with a checkpoint of the event loop between any two."""
    try:
        while True:
            next(steps)
            await asyncio.sleep(0)
    except StopIteration as end:
        result: T = end.value
        return result
