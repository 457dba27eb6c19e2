"""Closes windows: decides what a window that has ended does, appends it as an event, tells other programs.

One keeper per owned partition.  Whatever moves a graph's time (a turn, a reinforcing question, a tick) first closes the
windows that end before it, one after the other: `lock` is held from the decision to the fold, because a decision counts
only for the state it was made on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice

from processors.lifecycle.closing import close
from processors.lifecycle.windows import Due, next_alarm, next_due
from state.graph.decay import NEVER
from streams.errors import WindowStuckError
from streams.ingest.change_feed import ChangeFeed
from streams.ingest.command_handler import Draft
from streams.ingest.partition_writer import PartitionWriter

LOOKED_AT = 50  # graphs that one tick looks at for the first time: a large partition is not loaded at once


class WindowTimer:
    """Moves time in the graphs of one partition.  All but `tick` and `catch_up` want `lock` to be held."""

    def __init__(self, owner: PartitionWriter, changes: ChangeFeed) -> None:
        self.lock = asyncio.Lock()
        self._owner = owner
        self._changes = changes
        self._unseen = iter(owner.state.names())
        self._alarms: dict[str, int] = {}  # live graph → stream time (ms) before which no window of it ends

    async def append(self, drafts: Sequence[Draft]) -> None:
        """Append and fold events."""
        await self._changes.tell(await self._owner.append(drafts))

    async def close_due(self, name: str, now: int) -> None:
        """Close all windows of a graph that have ended at `now` (ms), or by its own clock if that is ahead."""
        last: Due | None = None
        while (due := self._due(name, now)) is not None:
            if due == last:
                raise WindowStuckError(f"{due} of graph {name} is due again after it was closed: this is a bug of ours")
            last = due
            await self._close(name, due)
        self.look_at(name)

    def _due(self, name: str, now: int) -> Due | None:
        graph = self._owner.state.graph(name)
        return None if graph is None else next_due(graph, max(now, graph.clock))

    async def _close(self, name: str, due: Due) -> None:
        graph = self._owner.state.graph(name)
        facts = None if graph is None else close(graph, due)
        if facts is not None:
            await self.append([facts.event])

    def look_at(self, name: str) -> None:
        """Note when a tick could matter to a graph: to a live one only, else it would age while it is imported."""
        graph = self._owner.state.graph(name)
        if graph is not None and graph.live:
            self._alarms[name] = next_alarm(graph)
        else:
            self._alarms.pop(name, None)

    async def tick(self, now: int) -> None:
        """Close the windows that have ended at `now` (ms) in live graphs that have fallen silent.

        What has to be forgotten or consolidated is an event, and moves the graph's clock.  Else nothing is written:
        that time went on in a graph in which nothing happens can be seen by nobody.
        """
        for name in islice(self._unseen, LOOKED_AT):
            self.look_at(name)
        for name in [name for name, alarm in self._alarms.items() if alarm <= now]:
            async with self.lock:
                if self._alarms.get(name, NEVER) <= now:  # else a turn came first while we waited
                    await self.close_due(name, now)

    async def catch_up(self) -> None:
        """Send the changes that an owner before may not have sent, and all of ours until then."""
        await self._changes.catch_up(lambda: self._owner.state.head.watermark)
