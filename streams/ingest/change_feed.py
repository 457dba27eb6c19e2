"""The topic `changes`: window events for other programs, keyed by graph, in the bytes that they have in the log.

Events of an encrypted graph are sealed there too: without the keys, a program sees only that a decision was made.

Events are sent at least once, with stable ids: `ce_id` is partition-offset of the event.  No cursor is kept: a new
owner goes on from the header `emgas.event-offset` of the last record in the partition.

An event that a new owner appends while it still catches up is sent when catching up reaches it.  If it were sent
sooner, the next owner would not notice that earlier events are missing.

Only events that the fold accepts are sent, by the rules of state/log_position.py, which are resumed at the event that
was sent last.  Windows of a worker that no longer owned the partition never happened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from emgas.logs import logger
from emgas.wire import ProducerRecord, Record, as_mapping, cloud_event
from replay.accepted_events import decoded
from replay.log import LogReader, keys_of
from state.errors import KeysError
from state.events.events import AnyEvent, GraphEvent, Sealed, WindowEvent
from state.log_position import UNKNOWN_CHAIN, Acceptance, LogPosition
from state.sealing.keyring import opened
from streams.ingest.partition_writer import AppendedEvent
from streams.transport.sender import Send

log = logger("ingest")
EVENT_OFFSET = "emgas.event-offset"
LONGEST_OFFSET = len(str(2**63))  # digits
LOOKED_BACK = 100  # records of `changes` in which the last of ours is looked for: others may write there too


class ChangeFeed:
    """The outbound changes of one partition.

    topic  `changes`, sent to by `send`, read by `sent`      events  reads the topic `events`
    """

    def __init__(self, partition: int, *, topic: str, send: Send, sent: LogReader, events: LogReader) -> None:
        self._partition = partition
        self._topic = topic
        self._send = send
        self._sent = sent
        self._events = events
        self._up_to = -1  # offset in `events` of the last event that was looked at
        self.caught_up = False
        self._dark: set[str] = set()  # graphs with events that cannot be decrypted

    async def publish(self, appended: Sequence[AppendedEvent]) -> None:
        """Send the window events among accepted ones; return once all are acknowledged.

        Until it has caught up, it leaves them to `catch_up`.
        """
        if self.caught_up:
            await self._publish(each for each in appended if each.offset > self._up_to)

    async def _publish(self, accepted: Iterable[tuple[int, AnyEvent, bytes]]) -> None:
        changes = [(offset, event.graph, value) for offset, event, value in accepted if isinstance(event, WindowEvent)]
        for acknowledged in [await self._start(*change) for change in changes]:
            await acknowledged

    async def _start(self, offset: int, graph_id: str, value: bytes) -> Awaitable[object]:
        headers = (
            (EVENT_OFFSET, str(offset).encode()),
            *cloud_event("change", f"{self._partition}-{offset}", graph_id),
        )
        return await self._send(ProducerRecord(self._topic, graph_id.encode(), value, headers, self._partition))

    async def catch_up(self, watermark: Callable[[], int]) -> None:
        """Send what was accepted and not sent, up to the offset `watermark()` of the last event that is folded."""
        position = await self._resumed()
        while (end := watermark() + 1) > self._up_to + 1:
            async for batch in self._events.read(self._partition, self._up_to + 1, end):
                position, accepted = await self._accepted(position, batch)
                await self._publish(accepted)
            self._up_to = end - 1
        self.caught_up = True  # no other task ran since the last look at the watermark

    async def _resumed(self) -> LogPosition:
        """Return the position behind the last event that was sent; before all events if none was."""
        last = await self._last_sent()
        if last >= 0:
            async for batch in self._events.read(self._partition, last, last + 1):
                for record in batch:
                    _, event = await decoded(self._events, self._partition, record)
                    event = self._opened(event, record.offset)
                    if isinstance(event, WindowEvent | Sealed):  # else `changes` belongs to another log
                        self._up_to = record.offset
                        return LogPosition.behind(record.offset, event)
        return LogPosition(chain=UNKNOWN_CHAIN)  # that the log is whole is for the fold to check

    async def _last_sent(self) -> int:
        """Return the offset in `events` of the event that was sent last; -1 for none.

        Other programs may write to `changes` too: a header that is no offset is skipped.
        """
        _, end = await self._sent.bounds(self._partition)
        last = -1
        async for batch in self._sent.read(self._partition, max(0, end - LOOKED_BACK), end):
            offsets = (_offset(as_mapping(record.headers).get(EVENT_OFFSET, b"")) for record in batch)
            last = max([last, *offsets])
        return last

    async def _accepted(
        self, position: LogPosition, batch: Iterable[Record]
    ) -> tuple[LogPosition, list[tuple[int, AnyEvent, bytes]]]:
        """Judge the records that follow `position`; return the position behind them, and the accepted ones."""
        accepted = []
        for each in batch:
            record, event = await decoded(self._events, self._partition, each)
            position, acceptance = position.after(record.offset, event, record.value, is_last=False)
            if acceptance is Acceptance.ACCEPTED:
                accepted.append((record.offset, self._opened(event, record.offset), record.value))
        return position, accepted

    def _opened(self, event: AnyEvent, offset: int) -> AnyEvent:
        """Open an event; without its key it is unknown whether a window decided it, so it is not sent."""
        try:
            return opened(event, keys_of(self._events))
        except KeysError as error:
            if isinstance(event, GraphEvent) and event.graph not in self._dark:
                self._dark.add(event.graph)
                log.warning("changes may not be told", graph=event.graph, offset=offset, why=str(error))
            return event


def _offset(header: bytes) -> int:
    """Read an offset, -1 for what is none."""
    return int(header) if header.isdigit() and len(header) <= LONGEST_OFFSET else -1
