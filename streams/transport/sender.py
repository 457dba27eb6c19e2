"""Send answers and dead letters of a worker.

An answer goes only to a topic on the allow-list and to a partition that exists: a message must not be able to make the
worker write elsewhere (confused deputy).  Answers to a topic are handed to the producer by a task of their own, because
that waits a minute for a topic that is gone; what has come to wait behind such a one is lost with it.  ANSWERS_AT_ONCE
of all are on their way at most.  Answers that wait for one partition are sent together, up to TOGETHER_BYTES: the
outcome of a turn is small, and sending it alone costs as much as reading the turn.  An answer that cannot be
delivered is counted and dropped: its asker times out and may ask again.  A dead letter must be acknowledged before the
event that mentions it is appended.

Headers of a dead letter, beside the original ones; key and value are the original bytes:

    emgas.errors.message    why                       emgas.errors.offset     where it lay, -1: refused before sending
    emgas.errors.topic      where it was meant for    emgas.errors.partition  -1: refused before sending

A record that was packed on its way may be larger than any that a topic takes.  Its dead letter is cut to CUT_BYTES of
the value, of the key and of all headers, each cut header whole or not at all, and says so:

    emgas.errors.bytes      of the whole value        emgas.errors.sha256     of the whole value, hex
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from emgas.limits import TRANSPORT_BYTES
from emgas.logs import logger
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

log = logger("transport")
ANSWERS_AT_ONCE: Final = 4096  # on their way to the log; more are dropped
TOGETHER_BYTES: Final = 64 * 1024  # of answers to one partition, that are handed over together
WAITED_SECONDS: Final = 1.0  # in which a producer takes a record, unless it waits for a topic
WHOLE_BYTES: Final = TRANSPORT_BYTES + 1024 * 1024  # of a dead letter's key, value and headers; more is cut
CUT_BYTES: Final = 1024 * 1024  # of each of them, once it is cut
HEADER_BYTES: Final = 16  # of lengths, beside name and value
HEADERS_BYTES: Final = 512  # of an answer, at most, but for its correlation id

# Takes a record; what it returns, awaited, gives what to await for the acknowledgement.
Send = Callable[[ProducerRecord], Awaitable[Awaitable[Any]]]
# The same of records of one partition, together no more than TOGETHER_BYTES, and of all their acknowledgements.
SendTogether = Callable[[Sequence[ProducerRecord]], Awaitable[Awaitable[Any]]]


def _nothing() -> None:
    """Do nothing once an answer is in the log."""


def error_headers(topic: str, partition: int, offset: int, reason: str) -> Headers:
    """Build the headers that explain why a record became a dead letter."""
    return (
        ("emgas.errors.message", reason.encode()),
        ("emgas.errors.topic", topic.encode()),
        ("emgas.errors.partition", str(partition).encode()),
        ("emgas.errors.offset", str(offset).encode()),
    )


class _Answer(NamedTuple):
    """An answer on its way; `done` is called once the log has it, or it is dropped."""

    to: ReplyAddress
    kind: str
    value: bytes
    done: Callable[[], object]

    @property
    def most_bytes(self) -> int:
        """Bound the size of its record: its correlation id is in it twice, the second time as text."""
        return len(self.value) + 4 * len(self.to.correlation_id) + HEADERS_BYTES


class MessageSender:
    """Sends answers and dead letters through `send`.  `destinations`: the allow-list, topic → its partition count.

    together  sends several answers at once; without it, each is sent alone
    """

    def __init__(
        self, dead_letters: str, destinations: Mapping[str, int], send: Send, together: SendTogether | None = None
    ) -> None:
        self._dead_letters = dead_letters
        self._destinations = destinations
        self._send = send
        self._together = together
        self._waiting: dict[str, deque[_Answer]] = {}  # by topic, while a task hands them over
        self._tasks: set[asyncio.Task[None]] = set()
        self.unacknowledged = 0  # answers that are on their way to the log
        self.dropped = 0  # answers that found no place, or that the log refused

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

    async def answer(
        self, to: ReplyAddress | None, kind: str, message: BaseModel, done: Callable[[], object] = _nothing
    ) -> None:
        """Begin to send `message` to `to`; when this returns the producer has it, unless that is to wait.

        Never raises: the client chose the size of the correlation id, and must not stop the worker by it.
        """
        self.start(to, kind, message, done)
        await asyncio.sleep(0)

    def start(
        self, to: ReplyAddress | None, kind: str, message: BaseModel, done: Callable[[], object] = _nothing
    ) -> None:
        """Send `message` to `to` as soon as the event loop comes to it; send nothing without an address.

        done  called once the log has it, or it is dropped: nothing more will come of it
        """
        if to is None:
            done()
            return
        if self.unacknowledged >= ANSWERS_AT_ONCE:
            self._drop("too many are on their way: is the topic there, and the broker?")
            done()
            return
        try:
            value = message.model_dump_json().encode()
        except Exception as error:  # noqa: BLE001 - whatever it is, this answer alone is lost
            self._drop(str(error))
            done()
            return
        self.unacknowledged += 1
        waiting = self._waiting.get(to.topic)
        if waiting is None:
            waiting = self._waiting[to.topic] = deque()
            task = asyncio.create_task(self._hand_over(to.topic, waiting))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        waiting.append(_Answer(to, kind, value, done))

    async def _hand_over(self, topic: str, waiting: deque[_Answer]) -> None:
        """Send what waits for a topic to the producer, until nothing waits."""
        now = asyncio.get_running_loop().time
        try:
            while waiting:
                answers, began = [waiting.popleft()], now()
                try:
                    sent = asyncio.ensure_future(await self._begin(answers, waiting))
                except Exception as error:  # noqa: BLE001 - whatever fails, answers alone are lost
                    if now() - began > WAITED_SECONDS:
                        answers += waiting
                        waiting.clear()
                    self._settle(answers, error)
                else:
                    sent.add_done_callback(partial(self._sent, answers))
        finally:
            del self._waiting[topic]

    async def _begin(self, answers: list[_Answer], waiting: deque[_Answer]) -> Awaitable[Any]:
        """Begin to send an answer, and what may go with it, which joins `answers`."""
        records, room = [_record(answers[0])], TOGETHER_BYTES - answers[0].most_bytes
        while self._together and waiting and waiting[0].to.partition == answers[0].to.partition:
            room -= waiting[0].most_bytes
            if room < 0:
                break
            answers.append(waiting.popleft())
            records.append(_record(answers[-1]))
        return await (self._together(records) if self._together and len(records) > 1 else self._send(records[0]))

    def _sent(self, answers: Sequence[_Answer], sent: asyncio.Future[Any]) -> None:
        self._settle(answers, None if sent.cancelled() else sent.exception())

    def _settle(self, answers: Sequence[_Answer], error: BaseException | None) -> None:
        for answer in answers:
            self.unacknowledged -= 1
            if error is not None:
                self._drop(str(error))
            answer.done()

    def _drop(self, why: str) -> None:
        self.dropped += 1
        if self.dropped & (self.dropped - 1) == 0:  # the 1st, 2nd, 4th, … : a flood of them is not logged one by one
            log.warning("answer lost", error=why, lost=self.dropped)

    async def dead_letter(self, record: Record, errors: Headers) -> None:
        """Keep a record that cannot be accepted.  Raises what the transport raises: it must not be lost."""
        kept = record if _size(record) <= WHOLE_BYTES else cut(record, CUT_BYTES)
        headers = (*kept.headers, *errors)
        await (await self._send(ProducerRecord(self._dead_letters, kept.key, kept.value, headers)))


def _record(answer: _Answer) -> ProducerRecord:
    to = answer.to
    identity = to.correlation_id.decode(errors="replace")
    headers = ((CORRELATION_ID, to.correlation_id), *cloud_event(answer.kind, identity, ""))
    return ProducerRecord(to.topic, None, answer.value, headers, to.partition)


def _size(record: Record) -> int:
    headers = sum(HEADER_BYTES + len(name.encode(errors="replace")) + len(text) for name, text in record.headers)
    return len(record.key or b"") + len(record.value) + headers


def cut(record: Record, most: int) -> Record:
    """Cut key, value and headers of a record to `most` bytes each, and name in headers what it was."""
    headers, room = [], most
    for name, text in record.headers:
        room -= HEADER_BYTES + len(name.encode(errors="replace")) + len(text)
        if room >= 0:
            headers.append((name, text))
    cut_headers = (
        ("emgas.errors.bytes", str(len(record.value)).encode()),
        ("emgas.errors.sha256", hashlib.sha256(record.value).hexdigest().encode()),
    )
    key = None if record.key is None else record.key[:most]
    return record._replace(key=key, value=record.value[:most], headers=(*headers, *cut_headers))
