"""Questions out, answers back: records over a connection, and the task that matches answers by correlation id.

A waiting call is a future in `_waiting`.  The reader resolves it, and skips answers to other clients that share the
reply partition.  If the reader fails, every waiting call and every later question fails, too, because no answer can be
read any more.  Appending needs no reader and goes on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from contextlib import nullcontext
from uuid import uuid4

import orjson

from emgas.client.connection import Connection
from emgas.client.shares import SHARE, WAITING, Shares
from emgas.errors import NoAnswerError, TransportError
from emgas.messages.requests import AnswerMessage, Failure, Outcome
from emgas.validation import encode
from emgas.wire import CORRELATION_ID, RIGHTS, SUBJECT, ProducerRecord, Receipt, Record, ReplyAddress, as_mapping

QUESTIONS_AT_ONCE = 512  # with all else that waits: answered in 0.1 s each, that is more than one client can send


class RequestReply:
    """Appends records and awaits their answers.  `open` starts the reader, `close` ends it and every waiting call."""

    def __init__(self, connection: Connection, subject: str | Callable[[], str | None] | None = None) -> None:
        """`subject`: on whose behalf records are sent, or a function that returns it; None: the operator."""
        self.connection = connection
        self.subject = subject
        self.rights: Callable[[], Collection[str] | None] = lambda: None  # no more than these; None: all
        self.asker: Callable[[], str | None] = lambda: None  # whose share a question takes; None: there is one asker
        self._shares = Shares()
        self._reader: asyncio.Task[None] | None = None
        self._waiting: dict[bytes, asyncio.Future[bytes]] = {}
        self._failure: TransportError | None = None

    async def open(self) -> None:
        """Open the connection, and begin to read answers."""
        await self.connection.open()
        self._reader = asyncio.create_task(self._read(), name="emgas-replies")

    async def close(self) -> None:
        """Stop reading, fail what still waits, and close the connection."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.wait([self._reader])
        self._fail(TransportError("the client was closed while this call waited"))
        await self.connection.close()

    async def ended(self) -> None:
        """Wait until no answer can be read any more."""
        if self._reader is not None:
            await asyncio.wait([self._reader])

    async def append(self, record: ProducerRecord, seconds: float) -> Receipt:
        """Append a record; return once the log has it.  Raises NoAnswerError after `seconds`, TransportError."""
        try:
            async with asyncio.timeout(seconds):
                return await self.connection.send(self._on_behalf(record))
        except TimeoutError:
            raise NoAnswerError(
                f"{record.topic} did not acknowledge within {seconds:g} s: is the broker running?  Send the record "
                "again; a turn's id keeps it from counting twice"
            ) from None

    async def ask(
        self, record: ProducerRecord, seconds: float, expected: type[AnswerMessage] = Outcome
    ) -> AnswerMessage:
        """Append a record that asks for an answer; return the answer.  Raises NoAnswerError, TransportError.

        A question fails with `overloaded` at once if QUESTIONS_AT_ONCE calls wait already: it would time out.
        """
        return _read(await self.ask_unread(record, seconds), expected)

    async def ask_unread(
        self, record: ProducerRecord, seconds: float, appended: Callable[[Receipt], None] = lambda _: None
    ) -> bytes:
        """Ask as `ask` does; return the answer's bytes, for a program that passes on what it need not read."""
        asker = self.asker() if record.topic == self.connection.topics.queries else None
        if asker is not None and self._shares.is_full(asker):
            return _overloaded(f"{SHARE + WAITING} of your questions wait for an answer already: ask again later")
        deadline = int((time.time() + seconds) * 1000)
        try:
            async with asyncio.timeout(seconds), nullcontext() if asker is None else self._shares.of(asker):
                return await self._send(record, deadline, appended)
        except TimeoutError:
            raise NoAnswerError(
                f"no answer came within {seconds:g} s: do the broker and a worker run, and has it caught up?  "
                "Ask again; a turn's id keeps it from counting twice"
            ) from None

    async def _send(self, record: ProducerRecord, deadline: int, appended: Callable[[Receipt], None]) -> bytes:
        """Send a record, and wait for its answer.  `deadline`: ms, when the call gives up."""
        if self._failure is not None:
            raise self._failure
        if record.topic == self.connection.topics.queries and len(self._waiting) >= QUESTIONS_AT_ONCE:
            waiting = f"{len(self._waiting)} calls of this client wait"
            return _overloaded(f"{waiting}, and at most {QUESTIONS_AT_ONCE} may: ask again later")
        correlation = uuid4().hex.encode()
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[correlation] = future
        try:
            appended(await self.connection.send(self._addressed(self._on_behalf(record), correlation, deadline)))
            return await future
        finally:
            del self._waiting[correlation]
            if future.done() and not future.cancelled():
                future.exception()  # seen: a call that ended while it was sending never awaited it

    def _on_behalf(self, record: ProducerRecord) -> ProducerRecord:
        """Add headers with the subject of a record, and with the most that the subject may do."""
        subject, rights = self.subject() if callable(self.subject) else self.subject, self.rights()
        values = {SUBJECT: subject, RIGHTS: None if rights is None else ",".join(sorted(rights))}
        added = tuple((name, value.encode()) for name, value in values.items() if value is not None)
        return record._replace(headers=(*record.headers, *added)) if added else record

    def _addressed(self, record: ProducerRecord, correlation: bytes, deadline: int) -> ProducerRecord:
        """Add to `record` the headers that ask for an answer here, until the moment this call gives up."""
        address = ReplyAddress(self.connection.topics.replies, self.connection.reply_partition, correlation)
        return record._replace(headers=(*address.headers(deadline), *record.headers))

    async def _read(self) -> None:
        try:
            async for incoming in self.connection.answers():
                self._resolve(incoming)
            self._fail(TransportError("the connection ended: open a new client"))
        except TransportError as error:
            self._fail(error)
        except Exception as error:  # a bug in a connection must not leave the callers waiting in silence
            self._fail(TransportError(f"answers can no longer be read ({error!r}): open a new client"))
            raise

    def _resolve(self, incoming: Record) -> None:
        future = self._waiting.get(as_mapping(incoming.headers).get(CORRELATION_ID, b""))
        if future is not None and not future.done():
            future.set_result(incoming.value)

    def _fail(self, failure: TransportError) -> None:
        self._failure = self._failure or failure
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(failure)


def _overloaded(message: str) -> bytes:
    return encode(Failure(code="overloaded", message=message))


def _read(answer: bytes, expected: type[AnswerMessage]) -> AnswerMessage:
    try:
        fields = orjson.loads(answer)
        kind = fields.get("kind") if isinstance(fields, dict) else None
        for usual in (expected, Failure):
            if usual.model_fields["kind"].default == kind:
                return usual.model_validate_json(answer)
        from emgas.messages.topics import ANSWER  # here: it imports every message

        return ANSWER.validate_json(answer)
    except ValueError:  # pydantic's is one
        raise TransportError(
            "the worker answered in a form that is unknown here: use the client of its version"
        ) from None
