"""What windows decided, for other programs: the topic `changes`, keyed by graph, window events as they are in the log.

At least once, with stable ids: `ce_id` is partition-offset of the event.  The header `emgas.event-offset` of the last
record in a partition tells how far it was sent; a new owner sends again from there on, so no cursor is kept.

What a new owner appends while it still catches up is sent by the catching up, which reads on until it has reached it:
sent sooner, it would hide from the next owner that what lies before it is missing.  So nobody has to wait meanwhile.

Only what the fold accepts is sent: windows of a worker that no longer owned the partition never happened.  The rule is
that of state/log_position.py, and can be taken up at the event that was sent last, as that one was accepted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from emgas.wire import Headers, ProducerRecord, Record, as_mapping, cloud_event
from replay.log import LogReader
from state.events.events import Claim, WindowEvent, decode
from state.log_position import fingerprint
from streams.transport.sender import Send

EVENT_OFFSET = "emgas.event-offset"
LOOKED_BACK = 100  # records of `changes` in which the last of ours is looked for: others may write there too


class ChangeFeed:
    """The outbound changes of one partition.  `sent` and `events` read the topics `changes` and `events`."""

    def __init__(self, topic: str, partition: int, send: Send, sent: LogReader, events: LogReader) -> None:
        self._topic = topic
        self._partition = partition
        self._send = send
        self._sent = sent
        self._events = events
        self._up_to = -1  # offset in `events` of the last event that needs not be looked at any more
        self._caught_up = False

    async def tell(self, appended: Sequence[tuple[int, bytes]]) -> None:
        """Send the window events among accepted records (offset, value); return once all are acknowledged.

        Until it has caught up, it leaves them to `catch_up`.
        """
        if self._caught_up:
            await self._tell([(offset, value) for offset, value in appended if offset > self._up_to])

    async def _tell(self, accepted: Iterable[tuple[int, bytes]]) -> None:
        pending = [await self._start(offset, value) for offset, value in accepted if _is_change(value)]
        for acknowledged in pending:
            await acknowledged

    async def _start(self, offset: int, value: bytes) -> Awaitable[object]:
        graph = getattr(decode(value), "graph", "")
        headers = self._headers(offset, graph)
        return await self._send(ProducerRecord(self._topic, graph.encode(), value, headers, self._partition))

    def _headers(self, offset: int, graph: str) -> Headers:
        identity = f"{self._partition}-{offset}"
        return ((EVENT_OFFSET, str(offset).encode()), *cloud_event("change", identity, graph))

    async def catch_up(self, watermark: Callable[[], int]) -> None:
        """Send what was accepted and not sent, up to the offset `watermark()` of the last event that is folded."""
        judge = await self._resumed()
        while (end := watermark() + 1) > self._up_to + 1:
            async for batch in self._events.read(self._partition, self._up_to + 1, end):
                accepted = [(record.offset, record.value) for record in batch if judge.accepts(record)]
                await self._tell(accepted)
            self._up_to = end - 1
        self._caught_up = True  # no other task ran since the last look at the watermark

    async def _resumed(self) -> _Judge:
        """Return what judges the events behind the last one that was sent; all events if none was."""
        last = await self._last_sent()
        if last < 0:
            return _Judge()
        async for batch in self._events.read(self._partition, last, last + 1):
            for record in batch:
                event = decode(record.value)
                if isinstance(event, WindowEvent):  # else `changes` tells of another log
                    self._up_to = record.offset
                    return _Judge(event.epoch, event.claim, event.seq)
        return _Judge()

    async def _last_sent(self) -> int:
        """Return the offset in `events` of what was sent last, -1 for nothing."""
        _, end = await self._sent.bounds(self._partition)
        last = -1
        async for batch in self._sent.read(self._partition, max(0, end - LOOKED_BACK), end):
            told = (as_mapping(record.headers).get(EVENT_OFFSET, b"") for record in batch)
            last = max([last, *(int(offset) for offset in told if offset.isdigit())])
        return last


@dataclass
class _Judge:
    """Which events the fold accepts, as LogPosition.after says, but for what needs the log's beginning: chain and source."""

    epoch: int = -1
    claim: str = ""
    seq: int = 0

    def accepts(self, record: Record) -> bool:
        """Return whether the fold accepts the next record of the log as one of data."""
        event = decode(record.value)
        if isinstance(event, Claim):
            self.epoch, self.claim = record.offset, fingerprint(record.value)
            return False
        accepted = (event.epoch, event.claim, event.seq) == (self.epoch, self.claim, self.seq + 1)
        self.seq += accepted
        return accepted


def _is_change(value: bytes) -> bool:
    return b'WindowClosed"' in value and isinstance(decode(value), WindowEvent)  # most records need not be decoded
