"""Cooperative scheduling of turns: they hold the event loop for one time slice, which all busy partitions share.

Between two slices, other tasks run: answers, incoming questions, acknowledgements.  A question passes through the loop
many times, from its fetch to the sending of its answer, and could wait for a slice each time.  So turns yield for a
moment after each of its steps, but never for long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SLICE_SECONDS = 0.010  # of all partitions together, in one pass of the event loop
READER_SECONDS = 0.002  # the same of a reader: no sender waits for what it folds, and an answer takes several passes
YIELD_SECONDS = 0.003  # after a step of a question, in which its next one comes, unless that has to wait
MOST_YIELDS = 3  # between two slices: for a question, and for its answer to leave; however many ask, folding goes on


class Slices:
    """The time slices of one event loop, `seconds` long together.  `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float], seconds: float = SLICE_SECONDS) -> None:
        self.clock = clock
        self.seconds = seconds
        self.busy = 0
        self._yield_until = clock()

    def yield_to_queries(self) -> None:
        """Make turns wait a moment: a question, or its answer, is on its way through the loop."""
        self._yield_until = self.clock() + YIELD_SECONDS

    @property
    def yield_seconds(self) -> float:
        """Return the seconds that turns still yield; 0 or less means not at all."""
        return self._yield_until - self.clock()

    @contextmanager
    def work(self) -> Iterator[Slice]:
        """Count as busy for as long as the block lasts."""
        self.busy += 1
        try:
            yield Slice(self)
        finally:
            self.busy -= 1


class Slice:
    """The share of one busy partition in the event loop."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices
        self._began = slices.clock()

    async def checkpoint(self) -> None:
        """Yield to other tasks if this slice is used up."""
        if self._slices.clock() - self._began >= self._slices.seconds / max(1, self._slices.busy):
            await self.yield_slice()

    async def yield_slice(self) -> None:
        """Yield to other tasks, while questions are on their way up to MOST_YIELDS times; begin a new slice."""
        await asyncio.sleep(0)
        for _ in range(MOST_YIELDS):
            if (seconds := self._slices.yield_seconds) <= 0:
                break
            await asyncio.sleep(seconds)
        self._began = self._slices.clock()
