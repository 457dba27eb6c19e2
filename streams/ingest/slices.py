"""How long turns may hold the event loop: until a slice of it is used up, which all busy partitions share.

Between two slices whoever else is ready has a turn: answers, questions that come in, acknowledgements.  A question goes
through the loop in many passes, from the fetch that brought it to its answer's way out, and a slice could come in each:
so turns give way for a moment after each of its steps, but never for long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SLICE_SECONDS = 0.010  # of all partitions together, in one pass of the event loop
READER_SECONDS = 0.002  # the same of a reader: nobody waits for what it folds, and an answer takes several passes
WAY_SECONDS = 0.003  # after a step of a question, in which its next one comes, unless that has to wait
MOST_WAYS = 3  # between two slices: for a question, and for its answer to leave; however many ask, folding goes on


class Slices:
    """The slices of one event loop, of so many seconds together.  `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float], seconds: float = SLICE_SECONDS) -> None:
        self.clock = clock
        self.seconds = seconds
        self.busy = 0
        self._way_until = clock()

    def give_way(self) -> None:
        """Have turns wait a moment: a question, or its answer, is on its way through the loop."""
        self._way_until = self.clock() + WAY_SECONDS

    @property
    def way_seconds(self) -> float:
        """How long turns are to give way yet, s; none if not above 0."""
        return self._way_until - self.clock()

    @contextmanager
    def work(self) -> Iterator[Slice]:
        """Count as busy for as long as the block lasts."""
        self.busy += 1
        try:
            yield Slice(self)
        finally:
            self.busy -= 1


class Slice:
    """What one busy partition has of the loop."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices
        self._began = slices.clock()

    async def breathe(self) -> None:
        """Let others in, if this slice is used up."""
        if self._slices.clock() - self._began >= self._slices.seconds / max(1, self._slices.busy):
            await self.give_way()

    async def give_way(self) -> None:
        """Let others in, and wait as long as questions are on their way, up to MOST_WAYS; a new slice begins."""
        await asyncio.sleep(0)
        for _ in range(MOST_WAYS):
            if (seconds := self._slices.way_seconds) <= 0:
                break
            await asyncio.sleep(seconds)
        self._began = self._slices.clock()
