"""What a model's server answers is handed on only as JSON or as an event stream, and only so much of it."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx2 as httpx
import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from emgas import MemoryClient
from gateway.doors import chat
from gateway.doors.chat import ChatModel
from tests.emgas.connections import MemoryConnection
from tests.gateway.test_access import answered
from tests.support.served import listening, serving

JSON = "application/json"
PIECE = b"data: {}\n\n" + b" " * 65_526
pytestmark = pytest.mark.asyncio(loop_scope="module")
HTML = "<script>fetch('/v1/graphs')</script>"
CHAT = {"messages": [{"role": "user", "content": "What broke?"}], "user": "ada"}


@dataclass
class AModel:
    """A model's server: it answers each request with `response`, or with as many pieces as are taken from it."""

    response: Response | None = None
    media: str = JSON
    taken: int = 0
    accepted: list[str | None] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        await request.body()
        self.accepted.append(request.headers.get("accept-encoding"))
        return self.response or StreamingResponse(self._pieces(), media_type=self.media)

    async def _pieces(self) -> AsyncIterator[bytes]:
        for _ in range(10 * chat.WHOLE_BYTES // len(PIECE)):
            self.taken += len(PIECE)
            yield PIECE


@dataclass
class Door:
    """A gateway, and the model behind it."""

    http: httpx.AsyncClient
    model: AModel

    async def ask(self, response: Response | None = None, *, stream: bool | None = None, media: str = JSON) -> Any:
        """Ask the model through the gateway: for its list of models, or (`stream`) for a completion."""
        self.model.response, self.model.media, self.model.taken = response, media, 0
        if stream is None:
            return await self.http.get("/v1/models")
        headers = {"Emgas-Remember": "all" if stream else "none"}
        return await self.http.post("/v1/chat/completions", json={**CHAT, "stream": stream}, headers=headers)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def door() -> AsyncIterator[Door]:
    model = AModel()
    routes = [Route(path, model.answer, methods=["GET", "POST"]) for path in ("/v1/models", "/v1/chat/completions")]
    async with (
        listening(Starlette(routes=routes)) as behind,
        MemoryClient(MemoryConnection(answered)) as memory,
        serving(memory, model=ChatModel(f"{behind}/v1")) as url,
        httpx.AsyncClient(base_url=url, timeout=60) as http,
    ):
        yield Door(http, model)


@pytest.mark.parametrize("stream", [None, False, True])
@pytest.mark.parametrize("status", [200, 403])
@pytest.mark.parametrize("media", ["text/html", "image/svg+xml", "application/json, text/html", "text/javascript"])
async def test_only_json_and_event_streams_are_handed_on(
    door: Door, stream: bool | None, status: int, media: str
) -> None:
    response = await door.ask(Response(HTML, status, media_type=media), stream=stream)
    assert (response.status_code, response.headers["content-type"]) == (502, "application/problem+json")
    assert HTML not in response.text


@pytest.mark.parametrize("stream", [None, False])
async def test_of_an_answer_without_end_only_so_much_is_read(door: Door, stream: bool | None) -> None:
    response = await door.ask(stream=stream)
    assert response.status_code == 502
    assert "more than 16777216 bytes" in response.json()["detail"]
    assert door.model.taken < 3 * chat.WHOLE_BYTES, "the rest stays with the model: buffers of sockets hold a few MB"


async def test_a_stream_without_end_ends_with_an_error_that_clients_of_openai_read(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat, "STREAM_BYTES", 4 * len(PIECE))
    response = await door.ask(media="text/event-stream", stream=True)
    assert response.status_code == 200
    assert len(response.content) < 6 * len(PIECE)
    assert response.text.strip().splitlines()[-1].startswith('data: {"error":')


async def test_a_compressed_answer_is_not_asked_for_and_not_unpacked(door: Door) -> None:
    bomb = gzip.compress(bytes(10**7))
    response = await door.ask(Response(bomb, headers={"Content-Encoding": "gzip"}, media_type=JSON))
    assert (response.status_code, door.model.accepted[-1]) == (502, "identity")


@pytest.mark.parametrize(
    "path", ["/v1/graphs/ada", "/v1/nothing", "/v1/models", "/healthz", "/metrics", "/v1/partitions"]
)
async def test_every_response_has_the_security_headers(door: Door, path: str) -> None:
    door.model.response = Response("{}", media_type=JSON)
    for response in (await door.http.get(path), await door.http.get(path, headers={"Host": "evil.example"})):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["content-security-policy"].startswith("default-src 'none'")
        assert response.headers["cache-control"] == "no-store"
