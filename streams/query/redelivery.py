"""Questions are delivered at least once: each is acknowledged when it was answered or refused, or it comes again.

A new owner of a partition reads its questions from where the group committed.  So a question counts as read once its
outcome is in the log, not when it arrives: if its owner dies, or gives the partition up, the next owner answers it, or
refuses it as too late.  Questions are acknowledged in the order of the log, as Faust 0.15.3 commits over a gap of one
(transport/consumer.py:1139).

So an answer may come twice, and its client takes the first.  But a question must not reinforce twice: one that was in
the log when the partition was taken up may have been answered before, so it reinforces nothing.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from emgas.errors import TransportError
from emgas.logs import logger

log = logger("query")
PATIENCE_SECONDS = 5.0  # for the end of the questions: a partition is taken up without it
UNKNOWN = sys.maxsize


@dataclass(slots=True)
class _HandedOver:
    """A question that was handed over, and what acknowledges it."""

    acknowledge: Callable[[], object]
    is_done: bool = False


class Redelivery:
    """Acknowledges the questions of a worker's partitions.  `end`: partition → the offset behind its last question."""

    def __init__(self, end: Callable[[int], Awaitable[int]]) -> None:
        self._end = end
        self._handed_over: dict[int, deque[_HandedOver]] = {}
        self._ends: dict[int, int] = {}  # behind the last question there was when the partition was taken up

    async def claimed(self, partition: int) -> None:
        """Note which questions of a partition that was just claimed may have been answered by its owner before.

        Claimed again, as it had failed, it has that owner still, and no question comes again.
        """
        if partition in self._ends:
            return
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                self._ends[partition] = await self._end(partition)
        except (TransportError, TimeoutError) as error:
            log.warning("cannot tell where the questions end: none reinforces", partition=partition, error=repr(error))
            self._ends[partition] = UNKNOWN
        self._handed_over.pop(partition, None)  # what arrived meanwhile was not answered: it comes again

    def may_be_again(self, partition: int, offset: int) -> bool:
        """Return whether a question may have been answered before."""
        return offset < self._ends.get(partition, 0)

    def hold(self, partition: int, acknowledge: Callable[[], object]) -> Callable[[], None]:
        """Return what to call once a question is done; it is acknowledged when all before it are."""
        queue, question = self._handed_over.setdefault(partition, deque()), _HandedOver(acknowledge)
        queue.append(question)

        def done() -> None:
            question.is_done = True
            while queue and queue[0].is_done:
                queue.popleft().acknowledge()

        return done

    def forget(self, is_left: Callable[[int], bool] = lambda partition: True) -> None:
        """Acknowledge nothing more of what was handed over: these partitions are given up, and it comes again."""
        for partition in filter(is_left, list(self._handed_over)):
            self._handed_over.pop(partition).clear()
        self._ends = {partition: end for partition, end in self._ends.items() if not is_left(partition)}
