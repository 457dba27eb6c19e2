"""An outbox whose transport is a list, and a reader's view of what was sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from typing import Any, NamedTuple

from emgas.wire import Headers, ReplyAddress
from streams.ingest.command_handler import Arrival
from streams.transport.sender import MessageSender

REPLIES, DEAD_LETTERS = "emgas.replies", "emgas.dead-letters"


class Sent(NamedTuple):
    topic: str
    partition: int | None
    key: bytes | None
    value: bytes
    headers: Headers

    @property
    def message(self) -> Any:
        return json.loads(self.value)


class SentRecords:
    """`send` for an MessageSender.  `refusal`: raised at once; `loss`: raised instead of the ack."""

    def __init__(self) -> None:
        self.all: list[Sent] = []
        self.refusal: Exception | None = None
        self.loss: Exception | None = None

    async def send(
        self, topic: str, partition: int | None, key: bytes | None, value: bytes, headers: Headers
    ) -> Awaitable[object]:
        if self.refusal:
            raise self.refusal
        acknowledged: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        if self.loss:
            acknowledged.set_exception(self.loss)
        else:
            self.all.append(Sent(topic, partition, key, value, headers))
            acknowledged.set_result(None)
        return acknowledged

    def to(self, topic: str) -> list[Sent]:
        return [each for each in self.all if each.topic == topic]

    def outbox(self) -> MessageSender:
        return MessageSender(DEAD_LETTERS, {REPLIES: 4}, self.send)


def arrival(
    value: bytes, offset: int = 0, key: bytes | None = b"ada", timestamp: int = 1_000, asks: bool = False, **more: bytes
) -> Arrival:
    """Return a record that came in; with `asks`, one that wants an answer."""
    headers = dict(ReplyAddress(REPLIES, 1, b"%d" % offset).headers(timestamp + 60_000)) if asks else {}
    return Arrival(offset, timestamp, key, value, {**headers, **{k.replace("_", "-"): v for k, v in more.items()}})
