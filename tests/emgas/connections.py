"""A connection without a broker: a log per topic in memory, and the answers that a test gives by hand.

It keeps the whole contract of `Connection` (order per partition, answers for ever, TransportError), so that what the
tests show of the client is what it does on every connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import orjson

from emgas.errors import TransportError
from emgas.messages.fields import Position
from emgas.messages.queries import Reply, Timing
from emgas.messages.requests import Outcome
from emgas.messages.topics import ANSWER
from emgas.wire import CORRELATION_ID, ProducerRecord, Receipt, Record, TopicNames, as_mapping, partition_of
from tests.support.clocks import PATIENCE


@dataclass(frozen=True)
class Sent:
    """A record as the log has it."""

    topic: str
    key: bytes | None
    value: bytes
    headers: dict[str, bytes]
    partition: int
    offset: int


@dataclass
class MemoryConnection:
    """Four partitions.  `answer` is called for each record that asks for an answer; None leaves it unanswered."""

    answer: Callable[[Sent], bytes | None] = lambda sent: None
    topics: TopicNames = field(default_factory=TopicNames)
    log: list[Sent] = field(default_factory=list)
    grown: asyncio.Event = field(default_factory=asyncio.Event)
    is_open: bool = False
    hold: asyncio.Event | None = None  # until it is set, no send is acknowledged
    refusal: TransportError | None = None
    _inbox: asyncio.Queue[Record | Exception] = field(default_factory=asyncio.Queue)

    async def open(self) -> None:
        self.is_open = True

    async def close(self) -> None:
        self.is_open = False

    @property
    def reply_partition(self) -> int:
        return 3

    async def partitions(self) -> int:
        return 4

    async def send(self, record: ProducerRecord) -> Receipt:
        if self.refusal is not None:
            raise self.refusal
        topic, key, value, headers, partition, _ = record
        if partition is None:
            partition = partition_of(key or b"", 4)
        offset = sum(sent.topic == topic and sent.partition == partition for sent in self.log)
        sent = Sent(topic, key, value, as_mapping(headers), partition, offset)
        self.log.append(sent)
        self.grown.set()
        if self.hold is not None:
            await self.hold.wait()
        answer = self.answer(sent) if CORRELATION_ID in sent.headers else None
        if answer is not None:
            self.reply(sent.headers[CORRELATION_ID], answer)
        return Receipt(partition, offset, 0)

    def reply(self, correlation: bytes, value: bytes) -> None:
        """Put a record into the reply partition."""
        self._inbox.put_nowait(Record(0, 0, None, value, ((CORRELATION_ID, correlation),)))

    def fail(self, error: Exception) -> None:
        """Let reading fail from now on."""
        self._inbox.put_nowait(error)

    async def answers(self) -> AsyncIterator[Record]:
        while True:
            incoming = await self._inbox.get()
            if isinstance(incoming, Exception):
                raise incoming
            yield incoming


POSITION = Position(partition=0, watermark=7, source=3)


def outcome(turn: str, status: str = "accepted", **more: object) -> bytes:
    """Return an Outcome as the owner sends it."""
    return ANSWER.dump_json(Outcome.model_validate({"status": status, "turn": turn, "position": POSITION, **more}))


def reply(graph: str) -> bytes:
    """Return an empty Reply as the owner sends it."""
    timing = Timing(waited_ms=0.5, recall_ms=1.5)
    empty = Reply(
        graph=graph,
        found=False,
        seeds=[],
        concepts=[],
        passages=[],
        context="",
        tokens=0,
        position=POSITION,
        timing=timing,
    )
    return ANSWER.dump_json(empty)


def connect(url: str, topics: TopicNames) -> MemoryConnection:
    """Return a connection as a package does that registers a scheme in "emgas.connections"."""
    return MemoryConnection(topics=topics)


AT_ONCE = 0.0  # a timeout that has passed when the call begins to wait: no test waits for a clock


def accept(sent: Sent) -> bytes:
    return outcome(orjson.loads(sent.value)["id"])


async def sent_records(connection: MemoryConnection, count: int) -> list[Sent]:
    """Let the calls under test run until the log holds `count` records."""
    async with asyncio.timeout(PATIENCE):
        while len(connection.log) < count:
            connection.grown.clear()
            await connection.grown.wait()
    return connection.log
