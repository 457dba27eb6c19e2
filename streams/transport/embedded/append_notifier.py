"""Waiting for the log to grow, from an event loop, without polling."""

from __future__ import annotations

import asyncio

from streams.transport.embedded.log import EmbeddedLog


class AppendNotifier:
    """Rings in the loop it was made in whenever the log grows, whichever thread appended.

    Clear first, then look at the log, then wait: what is appended in between still rings.  Several things may share
    one event: `rung` is the caller's, or its own.
    """

    def __init__(self, log: EmbeddedLog, rung: asyncio.Event | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._rung = rung or asyncio.Event()
        self._forget = log.on_append(self._ring_from_any_thread)

    def _ring_from_any_thread(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._rung.set)

    def ring(self) -> None:
        """Wake the waiter for another reason; only from its own loop."""
        self._rung.set()

    def clear(self) -> None:
        """Forget what was rung: from here on, growth is news."""
        self._rung.clear()

    async def wait(self, seconds: float) -> bool:
        """Wait until it rings; return False if it did not within `seconds`."""
        try:
            async with asyncio.timeout(seconds):  # not `wait_for`: it may swallow that we are cancelled (Python 3.11)
                await self._rung.wait()
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        """Ring no more."""
        self._forget()
