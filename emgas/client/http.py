"""HttpConnection: the client's records over HTTP, to a gateway (`emgas serve`) that stands before the memory.

A question is one request.  Its response begins once the log has the record (the receipt is in the headers), and
continues with the answer, if requested.  The reader of answers gets it as if it came from the topic `replies`, so the
client is the same over every transport.  The next record waits for that beginning, but not for an answer: so the
log has the order of the calls.  Turns that wait meanwhile are sent as one batch, because a request costs more than a
turn.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2 as httpx
import orjson

from emgas.errors import EmgasError, InvalidMessageError, NoAnswerError, TransportError
from emgas.wire import (
    CORRELATION_ID,
    DEADLINE,
    REPLY_TO,
    RIGHTS,
    SUBJECT,
    ProducerRecord,
    Receipt,
    Record,
    TopicNames,
    as_mapping,
    partition_of,
)

LONGEST_SECONDS = 600.0  # that the gateway waits for an answer
CONNECTIONS = 1000  # calls of one client that may wait at once; further ones queue
REPLY_PARTITION = 0  # answers come with the response: there is no topic to read
BATCH_RECORDS = 500
BATCH_BYTES = 1024 * 1024  # after which a batch takes no further record


@dataclass(frozen=True)
class PendingTurn:
    """A record of `turns` that waits for its request."""

    record: ProducerRecord
    headers: dict[str, bytes]
    receipt: asyncio.Future[Receipt]

    def sender(self) -> tuple[bytes | None, ...]:
        """Return what all records of a batch share: on whose behalf they come, and whether an answer is awaited."""
        return self.headers.get(SUBJECT), self.headers.get(RIGHTS), b"1" if REPLY_TO in self.headers else None


class HttpConnection:
    """See emgas/client/connection.py."""

    def __init__(
        self,
        url: str,
        topics: TopicNames,
        *,
        key: str | None = None,
        timeout: float = 10.0,
    ) -> None:
        """Remember where the gateway is.

        key        what the gateway's operator issued
        timeout    seconds until a gateway must have answered when the connection opens; later, each call has its own
        """
        self.topics = topics
        self.reply_partition = REPLY_PARTITION
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._timeout = timeout
        self._answers: asyncio.Queue[Record] = asyncio.Queue()
        self._turn_of: defaultdict[tuple[str, int], asyncio.Lock] = defaultdict(asyncio.Lock)  # by topic and partition
        self._reading: set[asyncio.Task[None]] = set()
        self._turns: deque[PendingTurn] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._partitions = 0

    async def open(self) -> None:
        """Connect within the timeout.  Raises TransportError; nothing stays open then."""
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers=self._headers,
            timeout=httpx.Timeout(LONGEST_SECONDS, connect=10.0),
            limits=httpx.Limits(max_connections=CONNECTIONS),
            verify=self._verify(),
        )
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._begun(self._http.build_request("GET", "/v1/partitions"))
                self._partitions = int(await response.aread())
        except TimeoutError:  # a process that is stopped (SIGSTOP) still has its connections accepted, by the kernel
            await self._http.aclose()
            raise TransportError(
                f"{self.url} did not answer within {self._timeout:g} s: is `emgas serve` there stopped or overloaded?  "
                "Let it go on or restart it, or wait longer"
            ) from None
        except BaseException:
            await self._http.aclose()
            raise

    def _verify(self) -> ssl.SSLContext | bool:
        """Return whom to trust: without TLS, no one: reading the certificates takes long."""
        return self.url.startswith("https:") or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    async def close(self) -> None:
        tasks = self._reading if self._sending is None else {*self._reading, self._sending}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._http.aclose()

    async def partitions(self) -> int:
        return self._partitions

    async def send(self, record: ProducerRecord) -> Receipt:
        headers = as_mapping(record.headers)
        if record.topic != self.topics.turns or record.partition is not None:
            return await self._send_alone(record, headers)
        turn = PendingTurn(record, headers, asyncio.get_running_loop().create_future())
        self._turns.append(turn)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_turns())
        return await turn.receipt

    async def _send_turns(self) -> None:
        """Send the turns that wait, as many at once as a batch takes, until none is left."""
        batch = list[PendingTurn]()
        try:
            while self._turns:
                batch = self._next_batch()
                await self._resolve_all(batch)
        finally:  # cancelled where the connection closes
            for turn in (*batch, *self._turns):
                _resolve(turn, TransportError("the connection was closed before the log had this turn"))

    async def _resolve_all(self, batch: Sequence[PendingTurn]) -> None:
        try:
            receipts = await self._send_batch(batch) if len(batch) > 1 else None
        except EmgasError as error:
            receipts = [error] * len(batch)
        for number, turn in enumerate(batch):
            _resolve(turn, await self._alone_or_error(turn) if receipts is None else receipts[number])

    def _next_batch(self) -> list[PendingTurn]:
        batch, size = list[PendingTurn](), 0
        while self._turns and len(batch) < BATCH_RECORDS and size < BATCH_BYTES:
            if batch and self._turns[0].sender() != batch[0].sender():
                break
            batch.append(self._turns.popleft())
            size += len(batch[-1].record.value or b"")
        return [turn for turn in batch if not turn.receipt.done()]

    async def _alone_or_error(self, turn: PendingTurn) -> Receipt | EmgasError:
        try:
            return await self._send_alone(turn.record, turn.headers)
        except EmgasError as error:
            return error

    async def _send_batch(self, batch: Sequence[PendingTurn]) -> list[Receipt | EmgasError] | None:
        """Send several turns in one request; return their receipts, or None where each has to be sent alone.

        A gateway refuses a whole batch because of one record; alone, each gets its own refusal.
        """
        content = b"[" + b",".join(turn.record.value or b"null" for turn in batch) + b"]"
        seconds = min(_seconds(turn.headers) for turn in batch)
        params: dict[str, str | float] = {"seconds": seconds, **_answer(batch[0].headers)}
        headers = _http_headers(batch[0].headers)
        request = self._http.build_request(
            "POST", "/v1/records/turns/batch", params=params, content=content, headers=headers
        )
        response = await self._started(request)
        if not response.is_success:
            return None
        lines = _lines(response)
        receipts = [_receipt(each) for each in orjson.loads(await self._first(lines))]
        self._read_in_background(self._read_batch(response, lines, batch))
        return receipts

    async def _first(self, lines: AsyncIterator[bytes]) -> bytes:
        try:
            async for line in lines:
                return line
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        raise NoAnswerError(f"{self.url} broke off before the log had these turns: send them again")

    async def _read_batch(
        self, response: httpx.Response, lines: AsyncIterator[bytes], batch: Sequence[PendingTurn]
    ) -> None:
        """Queue the answers of a batch, as they come."""
        turns = iter(batch)
        try:
            async for line in lines:
                turn = next(turns)
                if line:
                    self._queue(line, turn.headers)
        except httpx.HTTPError:  # a call without its answer ends by its timeout
            return
        finally:
            await response.aclose()

    async def _send_alone(self, record: ProducerRecord, headers: dict[str, bytes]) -> Receipt:
        request = self._request(record, headers)
        placed = record.partition if record.partition is not None else self._place(record.key)
        async with self._turn_of[record.topic, placed]:
            response = await self._begun(request)
        numbers = (int(response.headers[f"Emgas-{what}"]) for what in ("Partition", "Offset", "Timestamp"))
        self._read_in_background(self._read(response, headers))
        return Receipt(*numbers)

    def _read_in_background(self, reading: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(reading)
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def answers(self) -> AsyncIterator[Record]:
        while True:
            yield await self._answers.get()

    def _place(self, key: bytes | None) -> int:
        return 0 if key is None else partition_of(key, self._partitions)

    def _request(self, record: ProducerRecord, fields: dict[str, bytes]) -> httpx.Request:
        """Build the request for a record.  Raises TransportError for a topic that a gateway does not carry."""
        name = {self.topics.turns: "turns", self.topics.queries: "queries"}.get(record.topic)
        if name is None:
            raise TransportError(f"{record.topic}: HTTP carries turns and queries only")
        params: dict[str, str | int | float] = {**_answer(fields), "seconds": _seconds(fields)}
        if record.key is not None:
            params["key"] = record.key.decode()
        if record.partition is not None:
            params["partition"] = record.partition
        content, headers = record.value or b"", _http_headers(fields)
        return self._http.build_request("POST", f"/v1/records/{name}", params=params, content=content, headers=headers)

    async def _begun(self, request: httpx.Request) -> httpx.Response:
        """Send a request; return the response once it begins.  Raises what the gateway refused, else TransportError."""
        response = await self._started(request)
        if response.is_success:
            return response
        raise _refusal(response)

    async def _started(self, request: httpx.Request) -> httpx.Response:
        """Send a request; return the response once it begins, and a refusal once it is read.  Raises TransportError."""
        try:
            response = await self._http.send(request, stream=True)
            if not response.is_success:
                await response.aread()
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        return response

    def _unreachable(self, error: httpx.HTTPError) -> TransportError:
        return TransportError(f"{self.url} cannot be reached ({type(error).__name__}): is `emgas serve` running?")

    async def _read(self, response: httpx.Response, headers: dict[str, bytes]) -> None:
        """Queue the answer in a response's body; if the response breaks off, the call times out."""
        try:
            answer = await response.aread()
        except httpx.HTTPError:  # a call without its answer ends by its timeout
            return
        finally:
            await response.aclose()
        if answer:
            self._queue(answer, headers)

    def _queue(self, answer: bytes, headers: dict[str, bytes]) -> None:
        correlation = headers.get(CORRELATION_ID, b"")
        self._answers.put_nowait(Record(-1, 0, None, answer, ((CORRELATION_ID, correlation),)))


def _resolve(turn: PendingTurn, receipt: Receipt | EmgasError) -> None:
    if turn.receipt.done():  # the call was cancelled, or has its answer
        return
    if isinstance(receipt, EmgasError):
        turn.receipt.set_exception(receipt)
    else:
        turn.receipt.set_result(receipt)


async def _lines(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the lines of a body.  httpx would also split at characters that JSON may hold, such as U+2028."""
    rest = b""
    async for piece in response.aiter_bytes():
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line


def _receipt(value: list[int] | dict[str, Any]) -> Receipt | EmgasError:
    """Read a receipt of a batch, or the problem in its place."""
    if isinstance(value, list):
        return Receipt(*value)
    kind = NoAnswerError if value.get("status") == 504 else TransportError
    return kind(str(value.get("detail")))


def _answer(fields: dict[str, bytes]) -> dict[str, str]:
    return {"answer": str(REPLY_TO in fields).lower()}


def _http_headers(fields: dict[str, bytes]) -> dict[str, str]:
    headers = {"Content-Type": "application/json"}
    if SUBJECT in fields:
        headers["Emgas-Subject"] = quote(fields[SUBJECT])
    if RIGHTS in fields:
        headers["Emgas-Rights"] = fields[RIGHTS].decode()
    return headers


def _seconds(options: dict[str, bytes]) -> float:
    """Return how many seconds are left until the deadline in a record's headers."""
    if DEADLINE not in options:
        return 10.0
    return min(LONGEST_SECONDS, max(0.1, int(options[DEADLINE]) / 1000 - time.time()))


def _refusal(response: httpx.Response) -> InvalidMessageError | NoAnswerError | TransportError:
    try:
        detail = str(orjson.loads(response.content)["detail"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        detail = f"HTTP status {response.status_code}"
    if response.status_code in (400, 413, 415, 422):
        return InvalidMessageError(detail)
    return NoAnswerError(detail) if response.status_code == 504 else TransportError(detail)
