"""Closing windows that have ended: their events are appended, and published to other programs.

One timer per owned partition.  Everything that moves a graph's time (a turn, a reinforcing question, a tick) first
closes the windows that end before it, one after the other.  `lock` is held from the decision to the fold, because a
decision is valid only for the state that it was made on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import islice

from emgas.logs import logger
from processors.lifecycle.windows import due_windows, next_alarm
from state.errors import GraphUnavailableError
from state.events.events import DataEvent
from state.graph.graph import Graph
from state.graph.tables.decay import NEVER
from state.log_position import Draft
from streams.ingest.change_feed import ChangeFeed
from streams.ingest.partition_writer import AppendedEvent, PartitionWriter
from streams.ingest.slices import Slice
from streams.ingest.verbs.end_session import with_summaries
from streams.transport.failpoints import Step, passing

log = logger("ingest")
LOOKED_AT = 50  # graphs that one tick looks at for the first time: a large partition is not loaded at once


class WindowTimer:
    """Moves time in the graphs of one partition.  Hold `lock` for all calls but `tick` and `catch_up`."""

    def __init__(
        self,
        writer: PartitionWriter,
        feed: ChangeFeed,
        on_appended: Callable[[Sequence[AppendedEvent]], object] = lambda appended: None,
    ) -> None:
        """Move time in the graphs of `writer`.  on_appended: called with events that were appended and folded."""
        self._on_appended = on_appended
        self.lock = asyncio.Lock()
        self._writer = writer
        self._state = writer.state
        self.feed = feed
        self._unseen = iter(writer.state.graph_ids())
        self._alarms: dict[str, int] = {}  # id of a live graph → stream time (ms) before which no window of it ends

    async def append(self, events: Sequence[DataEvent], drafts: Sequence[Draft | None] = ()) -> None:
        """Append and fold events, and publish what windows decided; `drafts` as PartitionWriter's."""
        appended = await self._writer.append(events, drafts)
        self._on_appended(appended)
        await self.feed.publish(appended)

    async def close_due(self, graph_id: str, now: int) -> None:
        """Close all windows of a graph that have ended at `now` (ms), or by its own clock if that is ahead.

        Raises WindowStuckError, and as `append`.
        """
        graph = self._state.graph(graph_id)
        while graph is not None:
            graph = await self._close_due(graph, now)
        self.look_at(graph_id)

    async def _close_due(self, graph: Graph, now: int) -> Graph | None:
        """Close the windows of `graph` while it is the object in memory; else return the object to go on with."""
        share = Slice(self._writer.slices)
        for events in due_windows(graph, now):
            if not events:
                await share.checkpoint()  # a window may be long, and those in which nothing happens many
                continue
            passing(Step.WINDOW)
            # all parts at once: else the graph could be evicted between them
            await self.append(with_summaries(events, graph, self._state.text_of))
            current = self._state.graph(graph.graph_id)
            if current is not graph:  # evicted while we waited for acks: what was folded since is in another object
                return current
        return None

    def runs(self, graph_id: str) -> bool:
        """Return whether time passes in a graph here: not while it is on its way, nor after."""
        placement = self._state.placement(graph_id)
        return placement is None or placement.accepts

    def look_at(self, graph_id: str) -> None:
        """Set the alarm of a graph: only if it is live, because it must not age while it is imported.

        In a graph that cannot be read, time stands still until it is taken back.
        """
        try:
            graph = self._state.graph(graph_id)
        except GraphUnavailableError as error:
            log.error("graph unavailable", graph=graph_id, why=str(error))  # noqa: TRY400 - the sentence says what to do
            graph = None
        if graph is not None and graph.live and self.runs(graph_id):
            self._alarms[graph_id] = next_alarm(graph)
        else:
            self._alarms.pop(graph_id, None)

    async def tick(self, now: int) -> None:
        """Close the windows that have ended at `now` (ms) in live graphs that have fallen silent.

        Forgetting or consolidating something is an event, and moves the graph's clock.  Otherwise nothing is written,
        because nothing in a silent graph depends on the passed time.
        """
        for graph_id in islice(self._unseen, LOOKED_AT):
            self.look_at(graph_id)
        for graph_id in [graph_id for graph_id, alarm in self._alarms.items() if alarm <= now]:
            async with self.lock:
                if self._alarms.get(graph_id, NEVER) <= now and self.runs(
                    graph_id
                ):  # else a turn came first while we waited
                    await self._close_alone(graph_id, now)

    async def take_back(self) -> None:
        """Take back the graphs that were set aside and can be read by now, and look when their windows end."""
        for graph_id in await self._writer.take_back():
            log.warning("graph is available again", graph=graph_id)
            self.look_at(graph_id)

    async def _close_alone(self, graph_id: str, now: int) -> None:
        """Close what is due in a graph; one that cannot be read does not stop the others."""
        try:
            await self.close_due(graph_id, now)
        except GraphUnavailableError:
            self.look_at(graph_id)

    async def catch_up(self) -> None:
        """Send the changes that an owner before may not have sent, and all of ours until then."""
        await self.feed.catch_up(lambda: self._state.position.watermark)
