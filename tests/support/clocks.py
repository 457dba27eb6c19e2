"""When tests play, and how long they wait: fixed times, the time of day, and waiting for a condition."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from emgas.times import DAY_MS

DAY = DAY_MS
NOON = 1_683_547_200_000  # 2023-05-08T12:00:00Z, ms: when events happen unless told otherwise
NOW = 1_700_000_000_000  # ms: the time of day of a handler's clock
PATIENCE = 120.0  # seconds; only a hanging test ever waits that long


class Clock:
    """A clock that a test moves, in seconds."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def now() -> int:
    return time.time_ns() // 1_000_000


async def eventually(condition: Callable[[], object]) -> None:
    """Return once `condition` holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  (what is waited for has no event of its own)
            await asyncio.sleep(0.005)
