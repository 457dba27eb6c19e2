"""Limit the questions of each asker that the memory works on at once, so that no asker can crowd out others.

Further questions wait here in their order, and delay only their own asker.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

SHARE = 32  # questions of one asker: enough to keep a worker busy, and an eighth of what it takes (queries_at_once)
WAITING = 512  # more of one asker are refused


class Shares:
    """The number of questions under way, by the asker's name."""

    def __init__(self, most: int = SHARE) -> None:
        self._most = most
        self._limits: dict[str, asyncio.Semaphore] = {}
        self._requests = Counter[str]()  # those that wait here among them

    def is_full(self, asker: str) -> bool:
        """Return whether an asker's queue is full, so that a new request must be refused."""
        return self._requests[asker] >= self._most + WAITING

    @asynccontextmanager
    async def of(self, asker: str) -> AsyncIterator[None]:
        """Hold one place of the asker's share while the block runs; wait for it first."""
        self._requests[asker] += 1
        try:
            async with self._limits.setdefault(asker, asyncio.Semaphore(self._most)):
                yield
        finally:
            self._requests[asker] -= 1
            if not self._requests[asker]:
                del self._requests[asker], self._limits[asker]
