"""What windows decided, for other programs: the topic `changes`, keyed by graph, window events as they are in the log.

At least once, with stable ids: `ce_id` is partition-offset of the event.  The header `emgas.event-offset` of the last
record in a partition tells how far it was sent; a new owner sends again from there on, so no cursor is kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from emgas.wire import Headers, as_mapping, cloud_event
from replay.log import LogReader
from state.events import ConsolidationWindowClosed, DecayWindowClosed, decode
from streams.outbox import Send

EVENT_OFFSET = "emgas.event-offset"


class Changes:
    """The outbound changes of one partition.  `sent` and `events` read the topics `changes` and `events`."""

    def __init__(self, topic: str, partition: int, send: Send, sent: LogReader, events: LogReader) -> None:
        self._topic = topic
        self._partition = partition
        self._send = send
        self._sent = sent
        self._events = events

    async def tell(self, appended: Sequence[tuple[int, bytes]]) -> None:
        """Send the window events among records (offset, value) of the log; return once all are acknowledged."""
        pending = [await self._tell(offset, value) for offset, value in appended if _is_change(value)]
        for acknowledged in pending:
            await acknowledged

    async def _tell(self, offset: int, value: bytes) -> Awaitable[object]:
        event = decode(value)
        graph = getattr(event, "graph", "")
        return await self._send(self._topic, self._partition, graph.encode(), value, self._headers(offset, graph))

    def _headers(self, offset: int, graph: str) -> Headers:
        identity = f"{self._partition}-{offset}"
        return ((EVENT_OFFSET, str(offset).encode()), *cloud_event("change", identity, graph))

    async def catch_up(self, watermark: int) -> None:
        """Send what an owner before may have appended without sending it, up to and including offset `watermark`."""
        start = await self._sent_up_to() + 1
        async for batch in self._events.read(self._partition, start, watermark + 1):
            await self.tell([(record.offset, record.value) for record in batch])

    async def _sent_up_to(self) -> int:
        _, end = await self._sent.bounds(self._partition)
        async for batch in self._sent.read(self._partition, max(0, end - 1), end):
            for record in batch:
                return int(as_mapping(record.headers).get(EVENT_OFFSET, b"-1"))
        return -1


def _is_change(value: bytes) -> bool:
    return isinstance(decode(value), DecayWindowClosed | ConsolidationWindowClosed)
