"""HttpConnection: the client's records over HTTP, to a gateway (`emgas serve`) that stands before the memory.

Each record is one request.  One that asks for an answer gets it as the response's body, which is handed to the reader
of answers as if it had come from the topic `replies`; so the client is the same over every transport.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import httpx2 as httpx
import orjson

from emgas.client.connection import Acknowledged, Incoming
from emgas.errors import InvalidMessageError, TransportError
from emgas.wire import CORRELATION_ID, DEADLINE, REPLY_TO, Headers, TopicNames, as_mapping

LATEST_SECONDS = 600.0
CONNECTIONS = 100  # calls of one client that may wait at once; further ones queue


class HttpConnection:
    """See emgas/client/connection.py."""

    def __init__(
        self, url: str, topics: TopicNames, *, key: str | None, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        """`key`: what the gateway's operator issued.  `transport`: another way to the gateway than a socket."""
        self.topics = topics
        self.reply_partition = 0  # answers come with the response: there is no topic to read
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._transport = transport
        self._answers: asyncio.Queue[Incoming] = asyncio.Queue()
        self._count = 0

    async def open(self) -> None:
        limits = httpx.Limits(max_connections=CONNECTIONS)
        self._http = httpx.AsyncClient(
            base_url=self._url,
            headers=self._headers,
            timeout=httpx.Timeout(LATEST_SECONDS, connect=10.0),
            limits=limits,
            transport=self._transport,
        )
        try:
            self._count = int((await self._checked(self._http.get("/v1/partitions"))).text)
        except BaseException:
            await self._http.aclose()
            raise

    async def close(self) -> None:
        await self._http.aclose()

    async def partitions(self) -> int:
        return self._count

    async def send(
        self, topic: str, key: bytes | None, value: bytes, headers: Headers, partition: int | None = None
    ) -> Acknowledged:
        asked = as_mapping(headers)
        name = {self.topics.turns: "turns", self.topics.queries: "queries"}.get(topic)
        if name is None:
            raise TransportError(f"{topic}: HTTP carries turns and queries only")
        wants_answer = REPLY_TO in asked
        params: dict[str, str | int | float] = {"answer": str(wants_answer).lower(), "seconds": _seconds(asked)}
        if key is not None:
            params["key"] = key.decode()
        if partition is not None:
            params["partition"] = partition
        sending = self._http.post(f"/v1/records/{name}", params=params, content=value)
        response = await self._checked(sending)
        if not wants_answer:
            numbers = (int(response.headers[f"Emgas-{what}"]) for what in ("Partition", "Offset", "Timestamp"))
            return Acknowledged(*numbers)
        told = ((CORRELATION_ID, asked[CORRELATION_ID]),)
        self._answers.put_nowait(Incoming(None, response.content, told))
        return Acknowledged(partition or 0, -1, 0)

    async def answers(self) -> AsyncIterator[Incoming]:
        while True:
            yield await self._answers.get()

    async def _checked(self, sending: object) -> httpx.Response:
        """Await a response.  Raises InvalidMessageError for what the gateway found invalid, else TransportError."""
        try:
            response: httpx.Response = await sending  # type: ignore[misc]
        except httpx.HTTPError as error:
            raise TransportError(
                f"{self._url} cannot be reached ({type(error).__name__}): is `emgas serve` running?"
            ) from error
        if response.is_success:
            return response
        raise _refusal(response)


def _seconds(asked: dict[str, bytes]) -> float:
    """Tell how long an answer is wanted for, from the deadline that the call put into its headers."""
    if DEADLINE not in asked:
        return 10.0
    return min(LATEST_SECONDS, max(0.1, int(asked[DEADLINE]) / 1000 - time.time()))


def _refusal(response: httpx.Response) -> InvalidMessageError | TransportError:
    try:
        detail = str(orjson.loads(response.content)["detail"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        detail = f"HTTP status {response.status_code}"
    kind = InvalidMessageError if response.status_code in (400, 413, 422) else TransportError
    return kind(detail)
