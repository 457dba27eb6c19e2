"""A sender whose transport is a list, a reader's view of what was sent, and records as they come in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from typing import Any

from emgas.wire import ProducerRecord, Record, ReplyAddress
from streams.transport.sender import MessageSender

REPLIES, DEAD_LETTERS = "emgas.replies", "emgas.dead-letters"


class Sent(ProducerRecord):
    """A record as it was sent, and what it says."""

    @property
    def message(self) -> Any:
        return json.loads(self.value or b"")


class SentRecords:
    """`send` for a MessageSender.  `refusal`: raised at once; `loss`: raised instead of the ack.

    silent  answers are taken for ever, as a producer takes those to a topic that is not there
    """

    def __init__(self) -> None:
        self.all: list[Sent] = []
        self.refusal: Exception | None = None
        self.loss: Exception | None = None
        self.silent = False

    async def send(self, record: ProducerRecord) -> Awaitable[object]:
        if self.refusal:
            raise self.refusal
        if self.silent and record.topic == REPLIES:
            await asyncio.Event().wait()
        acknowledged: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        if self.loss:
            acknowledged.set_exception(self.loss)
        else:
            self.all.append(Sent(*record))
            acknowledged.set_result(None)
        return acknowledged

    def to(self, topic: str) -> list[Sent]:
        return [each for each in self.all if each.topic == topic]

    def sender(self) -> MessageSender:
        return MessageSender(DEAD_LETTERS, {REPLIES: 4}, self.send)


def arrival(
    value: bytes,
    offset: int = 0,
    key: bytes | None = b"ada",
    timestamp: int = 1_000,
    asks: bool = False,
    *,
    client: int = 1,
    by_broker: bool = False,
    **more: bytes,
) -> Record:
    """Make a record that came in; with `asks`, one that wants an answer in the partition `client`."""
    headers = ReplyAddress(REPLIES, client, b"%d" % offset).headers(timestamp + 60_000) if asks else ()
    headers = (*headers, *((k.replace("_", "-"), v) for k, v in more.items()))
    return Record(offset, timestamp, key, value, headers, by_broker)
