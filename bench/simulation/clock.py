"""Time that passes only where nothing else is to be done: an event loop whose clock jumps to its next timer.

Nothing here waits, so minutes take milliseconds; and nothing depends on how fast the machine is, so a run is the same
each time.  What would go to a thread is done at once.  Computing takes time, too: `work` lets some pass.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from random import Random
from typing import Any

LONGEST_WORK = 0.004  # seconds between two looks at the clock
MOST_PASSES = 60_000  # of the loop in one run: more than any that ends


class StuckError(Exception):
    """Nothing will ever happen again, or too much does."""


class _Jumping(selectors.DefaultSelector):  # type: ignore[misc,valid-type]  # which one it is, the system decides
    """Waits for nothing, and nothing comes: tells the loop how long it would have waited."""

    jump: Callable[[float | None], None]

    def select(self, timeout: float | None = None) -> Any:
        self.jump(timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with a time of its own, s from 0."""

    def __init__(self, chance: Random) -> None:
        self._now = 0.0
        self._chance = chance
        self._passes = 0
        selector = _Jumping()
        selector.jump = self._jump
        super().__init__(selector)

    def time(self) -> float:
        return self._now

    def work(self) -> float:
        """Advance the clock by a random computing time, and return it in seconds."""
        self._now += self._chance.random() * LONGEST_WORK
        return self._now

    def _jump(self, timeout: float | None) -> None:
        self._passes += 1
        if timeout is None or self._passes > MOST_PASSES:
            raise StuckError("nothing will ever happen again" if timeout is None else "it never comes to an end")
        self._now += max(0.0, timeout)

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        """Run the function at once: a thread would end at a random time."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - the waiting task gets the error
            done.set_exception(error)
        return done
