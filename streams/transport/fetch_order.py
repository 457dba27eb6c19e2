"""The order in which a consumer reads partitions: questions before turns, without starving any partition.

A log hands out what it has of one partition after the other, so a question would wait behind every turn that was
fetched before it (on Kafka up to 1,000, seconds of work), and so would the turns of other partitions.  Hence one fetch
asks

    questions available   only for them, at once; then for the available rest: a share of all partitions of turns
                          together and, while that is used up, another of those that had nothing of it; and of
                          changelogs together
    no questions          for that rest; only if there is none, for everything, waiting until something comes
    recovery, no sources  for changelogs alone, in large portions: no client waits for an answer yet

To take a record is cheap (what it asks for is done elsewhere, and turns are not fetched while their queue is full), so
shares are what goes through the loop in one go.  Both transports' consumers read by this order.  Faust then takes the
topics of one fetch in turn, the first one first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

from faust.transport.consumer import RecordMap
from faust.types import TP

SHARE = 64  # records of each partition of turns, and of changelogs, that one fetch hands out while sources are read
QUESTIONS = 512  # and of all questions together: in a flood, most are only told that there are too many

# (partitions, never none; seconds to wait for something; records at most) → what there is to read of them
Read = Callable[[set[TP], float, int], Awaitable[RecordMap]]


class FetchOrder:
    """The order of one consumer.  `comes_first` tells partitions of questions, `is_changelog` those of events."""

    def __init__(self, comes_first: Callable[[TP], bool], is_changelog: Callable[[TP], bool]) -> None:
        self._comes_first = comes_first
        self._is_changelog = is_changelog
        self._failed: set[TP] = set()  # beside others: they fail again, and it is then told, when they are read alone

    async def fetch(self, read: Read, active: set[TP], seconds: float, portion: int) -> RecordMap:
        """Read of `active` by the order above; `portion` bounds what recovery takes at once.

        Raises what `read` raises.
        """
        first = {tp for tp in active if self._comes_first(tp)}
        rest = active - first
        failed, self._failed = self._failed & rest, set()
        if failed:
            return await read(failed, 0.0, SHARE)
        fetched = await read(first, 0.0, QUESTIONS) if first else {}
        if self._sources(rest):
            fetched = await self._beside(fetched, read, rest)
        most = portion if all(map(self._is_changelog, active)) else SHARE
        return fetched or (await read(active, seconds, most) if active else {})

    def _sources(self, partitions: set[TP]) -> list[TP]:
        return sorted(tp for tp in partitions if not self._is_changelog(tp))

    async def _beside(self, fetched: RecordMap, read: Read, rest: set[TP]) -> RecordMap:
        """Add the available records of `rest` to `fetched`, which must not be lost if one of them fails."""
        sources = set(self._sources(rest))
        fetched, left = await _together(fetched, read, sources)
        for share in [*({tp} for tp in sorted(left)), rest - sources]:
            try:
                fetched = {**fetched, **(await read(share, 0.0, SHARE) if share else {})}
            except Exception:  # of any class: raised by the next fetch
                if not fetched:
                    raise
                self._failed |= share
        return fetched


async def _together(fetched: RecordMap, read: Read, sources: set[TP]) -> tuple[RecordMap, set[TP]]:
    """Add to `fetched` a share of all sources together, and while it is used up, of those that had nothing of it.

    To read each alone takes as long as to process its turns.  The second result must be read alone: one of them fails.
    """
    with suppress(Exception):  # of any class: it is raised where the partition is read alone
        while len(sources) > 1:
            more = await read(sources, 0.0, SHARE)
            fetched = {**fetched, **more}
            sources = sources - more.keys() if sum(map(len, more.values())) >= SHARE else set()
    return fetched, sources
