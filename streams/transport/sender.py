"""What leaves a worker besides events: answers and dead letters.

An answer goes only to a topic on the allow-list and to a partition that exists: a message must not be able to make the
worker write elsewhere (confused deputy).  An answer that cannot be delivered is logged and dropped: its asker times out
and may ask again.  A dead letter must be acknowledged before the event that mentions it is appended.

Headers of a dead letter, beside the original ones; key and value are the original bytes:

    emgas.errors.message    why                       emgas.errors.offset     where it lay, -1: refused before sending
    emgas.errors.topic      where it was meant for    emgas.errors.partition  -1: refused before sending
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from pydantic import BaseModel

from emgas.wire import (
    CORRELATION_ID,
    REPLY_PARTITION,
    REPLY_TO,
    Headers,
    ProducerRecord,
    Record,
    ReplyAddress,
    as_mapping,
    cloud_event,
)

log = structlog.get_logger()

# Takes a record; what it returns, awaited, gives what to await for the acknowledgement.
Send = Callable[[ProducerRecord], Awaitable[Awaitable[Any]]]


def error_headers(topic: str, partition: int, offset: int, reason: str) -> Headers:
    """Name in headers why a record became a dead letter."""
    return (
        ("emgas.errors.message", reason.encode()),
        ("emgas.errors.topic", topic.encode()),
        ("emgas.errors.partition", str(partition).encode()),
        ("emgas.errors.offset", str(offset).encode()),
    )


class MessageSender:
    """Sends answers and dead letters through `send`.  `destinations`: the allow-list, topic → its partition count."""

    def __init__(self, dead_letters: str, destinations: Mapping[str, int], send: Send) -> None:
        self._dead_letters = dead_letters
        self._destinations = destinations
        self._send = send
        self._unacknowledged: set[asyncio.Future[object]] = set()

    @property
    def unacknowledged(self) -> int:
        """Count the answers that are on their way to the log."""
        return len(self._unacknowledged)

    def address(self, record: Record) -> ReplyAddress | None:
        """Read where the sender of `record` wants its answer; None if it wants none, or where none may go."""
        headers = as_mapping(record.headers)
        topic = headers.get(REPLY_TO, b"").decode(errors="replace")
        if not topic:
            return None
        place = headers.get(REPLY_PARTITION, b"0")
        partition = int(place) if place.isdigit() and len(place) < 6 else -1
        if not 0 <= partition < self._destinations.get(topic, 0):
            log.warning("answer refused: not an allowed destination", topic=topic[:100], partition=partition)
            return None
        return ReplyAddress(topic, partition, headers.get(CORRELATION_ID, b""))

    async def answer(self, to: ReplyAddress | None, kind: str, message: BaseModel) -> None:
        """Send `message` to `to`, without waiting for the ack; do nothing without an address.

        Never raises: whoever asked chose the size of the correlation id, and must not stop the worker by it.
        """
        if to is not None:
            try:
                await self._answer(to, kind, message)
            except Exception as error:  # noqa: BLE001 - as promised above
                log.warning("answer lost", error=str(error))

    async def _answer(self, to: ReplyAddress, kind: str, message: BaseModel) -> None:
        identity = to.correlation_id.decode(errors="replace")
        headers = ((CORRELATION_ID, to.correlation_id), *cloud_event(kind, identity, ""))
        value = message.model_dump_json().encode()
        sent = await self._send(ProducerRecord(to.topic, None, value, headers, to.partition))
        acknowledged = asyncio.ensure_future(sent)
        self._unacknowledged.add(acknowledged)
        acknowledged.add_done_callback(self._acknowledged)

    def _acknowledged(self, sent: asyncio.Future[object]) -> None:
        self._unacknowledged.discard(sent)
        if not sent.cancelled() and sent.exception() is not None:
            log.warning("answer lost", error=str(sent.exception()))

    async def dead_letter(self, record: Record, errors: Headers) -> None:
        """Keep a record that cannot be accepted.  Raises what the transport raises: it must not be lost."""
        headers = (*record.headers, *errors)
        await (await self._send(ProducerRecord(self._dead_letters, record.key, record.value, headers)))
