"""Questions come at least once: each is acknowledged when it was answered or told why not, or it comes again.

Who takes a partition up reads its questions from where the group committed.  So a question counts as read once its
outcome is in the log, not when it arrives: what its owner died over, or let go of when it gave the partition up, comes
to the next owner, who answers it, or tells that it is too late.  Acknowledged is in the order of the log, as Faust
0.15.3 commits over a gap of one (transport/consumer.py:1139).

So an answer may come twice, and its asker takes the first.  What a question wakes must not count twice: one that lay in
the log when the partition was taken up may have been answered before, and reinforces nothing.
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
class _Held:
    """A question that was handed over, and what acknowledges it."""

    acknowledge: Callable[[], object]
    is_told: bool = False


class Redelivery:
    """Acknowledges the questions of a worker's partitions.  `end`: partition → the offset behind its last question."""

    def __init__(self, end: Callable[[int], Awaitable[int]]) -> None:
        self._end = end
        self._held: dict[int, deque[_Held]] = {}
        self._ends: dict[int, int] = {}  # behind the last question there was when the partition was taken up

    async def claimed(self, partition: int) -> None:
        """Learn which questions of a partition that was just claimed may have been answered by its owner before.

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
        self._held.pop(partition, None)  # what came to nobody meanwhile will come again

    def may_be_again(self, partition: int, offset: int) -> bool:
        """Tell whether a question may have been answered before."""
        return offset < self._ends.get(partition, 0)

    def hold(self, partition: int, acknowledge: Callable[[], object]) -> Callable[[], None]:
        """Give what to call once a question is told; it is acknowledged when all before it are."""
        queue, held = self._held.setdefault(partition, deque()), _Held(acknowledge)
        queue.append(held)

        def told() -> None:
            held.is_told = True
            while queue and queue[0].is_told:
                queue.popleft().acknowledge()

        return told

    def forget(self, is_left: Callable[[int], bool] = lambda partition: True) -> None:
        """Acknowledge nothing more of what was handed over: these partitions are given up, and it comes again."""
        for partition in filter(is_left, list(self._held)):
            self._held.pop(partition).clear()
        self._ends = {partition: end for partition, end in self._ends.items() if not is_left(partition)}
