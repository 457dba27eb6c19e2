"""Which partitions a consumer reads first: questions before turns, and neither may starve the other.

A log hands out what it has of one partition after the other, so a question would wait behind every turn that was
fetched before it (on Kafka up to 1,000, seconds of work).  Hence one fetch asks

    questions at hand     only for them, at once; then for as many of the rest as are at hand.  Each has a share of its
                          own, so a flood of either leaves the other as much as it takes
    no questions          for everything, waiting; whatever comes first ends the wait
    recovery, no sources  for changelogs alone, in large portions: nobody waits for an answer yet

Both transports' consumers read by this order.  Faust then takes the topics of one fetch in turn, the first one first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from faust.transport.consumer import RecordMap
from faust.types import TP

SHARE = 32  # records of questions, and as many of the rest, that one fetch hands out while sources are read

# (partitions, never none; seconds to wait for something; records at most) → what there is to read of them
Read = Callable[[set[TP], float, int], Awaitable[RecordMap]]


class FetchOrder:
    """The order of one consumer.  `comes_first` tells partitions of questions, `is_changelog` those of events."""

    def __init__(self, comes_first: Callable[[TP], bool], is_changelog: Callable[[TP], bool]) -> None:
        self._comes_first = comes_first
        self._is_changelog = is_changelog
        self._rest_failed = False  # beside questions: it fails again, and is then told, when it is read alone

    async def fetch(self, read: Read, active: set[TP], seconds: float, portion: int) -> RecordMap:
        """Read of `active` by the order above; `portion` bounds what recovery takes at once.

        Raises what `read` raises.
        """
        first = {tp for tp in active if self._comes_first(tp)}
        rest = active - first
        if self._rest_failed and rest:
            self._rest_failed = False
            return await read(rest, 0.0, SHARE)
        questions = await read(first, 0.0, SHARE) if first else {}
        if questions:
            return {**questions, **await self._beside(read, rest)}
        most = portion if all(map(self._is_changelog, active)) else SHARE
        return await read(active, seconds, most) if active else {}

    async def _beside(self, read: Read, rest: set[TP]) -> RecordMap:
        """Read what is at hand of `rest`; the questions already read must not be lost with a failure of theirs."""
        try:
            return await read(rest, 0.0, SHARE) if rest else {}
        except Exception:  # noqa: BLE001 - of whatever kind: told by the next fetch
            self._rest_failed = True
            return {}
