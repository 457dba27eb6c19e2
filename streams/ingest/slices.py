"""How long turns may hold the event loop: until a slice of it is used up, which all busy partitions share.

Between two slices whoever else is ready has a turn: answers, questions that come in, acknowledgements.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SLICE_SECONDS = 0.010  # of all partitions together, in one pass of the event loop
READER_SECONDS = 0.002  # the same of a reader: nobody waits for what it folds, and an answer takes several passes


class Slices:
    """The slices of one event loop, of so many seconds together.  `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float], seconds: float = SLICE_SECONDS) -> None:
        self.clock = clock
        self.seconds = seconds
        self.busy = 0

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
            await asyncio.sleep(0)
            self._began = self._slices.clock()
