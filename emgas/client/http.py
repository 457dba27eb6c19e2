"""HttpConnection: the client's records over HTTP, to a gateway (`emgas serve`) that stands before the memory.

Each record is one request.  Its response begins once the log has the record (the receipt is in the headers), and goes
on with the answer, if one was asked for: handed to the reader of answers as if it had come from the topic `replies`, so
the client is the same over every transport.  A partition's next record waits for that beginning, never for an answer:
so records come to lie in the order of the calls.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from urllib.parse import quote

import httpx2 as httpx
import orjson

from emgas.errors import InvalidMessageError, NoAnswerError, TransportError
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


class HttpConnection:
    """See emgas/client/connection.py."""

    def __init__(
        self,
        url: str,
        topics: TopicNames,
        *,
        key: str | None = None,
        timeout: float = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Remember where the gateway is.

        key        what the gateway's operator issued
        timeout    seconds until a gateway must have answered when the connection opens; later, each call has its own
        transport  another way to the gateway than a socket
        """
        self.topics = topics
        self.reply_partition = REPLY_PARTITION
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._timeout = timeout
        self._transport = transport
        self._answers: asyncio.Queue[Record] = asyncio.Queue()
        self._turn_of: defaultdict[tuple[str, int], asyncio.Lock] = defaultdict(asyncio.Lock)  # by topic and partition
        self._reading: set[asyncio.Task[None]] = set()
        self._partitions = 0

    async def open(self) -> None:
        """Connect within the timeout.  Raises TransportError; nothing stays open then."""
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers=self._headers,
            timeout=httpx.Timeout(LONGEST_SECONDS, connect=10.0),
            limits=httpx.Limits(max_connections=CONNECTIONS),
            transport=self._transport,
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

    async def close(self) -> None:
        for task in self._reading:
            task.cancel()
        if self._reading:
            await asyncio.wait(self._reading)
        await self._http.aclose()

    async def partitions(self) -> int:
        return self._partitions

    async def send(self, record: ProducerRecord) -> Receipt:
        headers = as_mapping(record.headers)
        request = self._request(record, headers)
        placed = record.partition if record.partition is not None else self._place(record.key)
        async with self._turn_of[record.topic, placed]:
            response = await self._begun(request)
        numbers = (int(response.headers[f"Emgas-{what}"]) for what in ("Partition", "Offset", "Timestamp"))
        reading = asyncio.create_task(self._read(response, headers.get(CORRELATION_ID, b"")))
        self._reading.add(reading)
        reading.add_done_callback(self._reading.discard)
        return Receipt(*numbers)

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
        params: dict[str, str | int | float] = {
            "answer": str(REPLY_TO in fields).lower(),
            "seconds": _seconds(fields),
        }
        if record.key is not None:
            params["key"] = record.key.decode()
        if record.partition is not None:
            params["partition"] = record.partition
        headers = {"Content-Type": "application/json"}
        if SUBJECT in fields:
            headers["Emgas-Subject"] = quote(fields[SUBJECT])
        if RIGHTS in fields:
            headers["Emgas-Rights"] = fields[RIGHTS].decode()
        content = record.value or b""
        return self._http.build_request("POST", f"/v1/records/{name}", params=params, content=content, headers=headers)

    async def _begun(self, request: httpx.Request) -> httpx.Response:
        """Send a request; return the response once it begins.  Raises what the gateway refused, else TransportError."""
        try:
            response = await self._http.send(request, stream=True)
            if not response.is_success:
                await response.aread()
        except httpx.HTTPError as error:
            raise TransportError(
                f"{self.url} cannot be reached ({type(error).__name__}): is `emgas serve` running?"
            ) from error
        if response.is_success:
            return response
        raise _refusal(response)

    async def _read(self, response: httpx.Response, correlation: bytes) -> None:
        """Queue the answer in a response's body; if the response breaks off, the call times out."""
        try:
            answer = await response.aread()
        except httpx.HTTPError:
            return
        finally:
            await response.aclose()
        if answer:
            self._answers.put_nowait(Record(-1, 0, None, answer, ((CORRELATION_ID, correlation),)))


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
