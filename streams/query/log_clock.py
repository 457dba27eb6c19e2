"""What time it is for the log, told by the timestamps that it gives: no worker's wall clock is asked.

A record arrives late or in time, never early, so

    the log's now  ≥  its timestamp + what has passed here since it arrived       (by the monotonic clock)

and of all records that arrived lately the one that gives most is nearest.  Lately: a broker's clock that jumped ahead
and came back must not be believed for ever.
"""

from __future__ import annotations

from collections.abc import Callable

REMEMBERED_MS = 60_000  # for so long, and at most three times as long, a record's testimony counts


class LogClock:
    """`monotonic` counts ms since whenever."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._began = monotonic()
        self._ahead: float | None = None  # of the monotonic clock, by records of this minute
        self._ahead_before: float | None = None  # and of the one before

    def see(self, timestamp: int) -> None:
        """Learn from a record that arrives now."""
        now = self._monotonic()
        if now - self._began > REMEMBERED_MS:
            is_next = now - self._began <= 2 * REMEMBERED_MS
            self._ahead_before, self._ahead, self._began = self._ahead if is_next else None, None, now
        ahead = timestamp - now
        self._ahead = ahead if self._ahead is None else max(self._ahead, ahead)

    def age(self, timestamp: int) -> float:
        """Tell for how long (ms) a record has been in the log, once one was seen."""
        known = [ahead for ahead in (self._ahead, self._ahead_before) if ahead is not None]
        return max(0.0, self._monotonic() + max(known) - timestamp) if known else 0.0
