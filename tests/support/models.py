"""A server that speaks OpenAI's API of chat completions over loopback, and says what a test wants it to say.

    async with a_model(says) as model:     model.url, model.requests

`says` is called with each request's items and system's message, and gives the content of the answer; or bytes, which
are sent as the whole body; or a Fault.  It is a real socket: what is slow, too long or broken off is that for whoever
asks.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Items = list[dict[str, Any]]


@dataclass(frozen=True)
class Fault:
    """How a server can fail.  hangs: it answers when the test is over; endless: it never stops; cut: it breaks off."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    hangs: bool = False
    endless: bool = False
    cut: bool = False


Says = Callable[[Items, str], "str | bytes | Fault"]


@dataclass
class ModelServer:
    """What was asked of it: each request's headers and body."""

    says: Says
    url: str = ""
    requests: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def items(self) -> list[Items]:
        """List the items of each request."""
        return [json.loads(body["messages"][1]["content"])["items"] for _, body in self.requests]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        self.requests.append((dict(request.headers), body))
        content = self.says(self.items[-1], body["messages"][0]["content"])
        if isinstance(content, Fault):
            return await self._fail(request, content)
        if isinstance(content, bytes):
            return web.Response(body=content, content_type="application/json")
        return web.json_response({"choices": [{"message": {"role": "assistant", "content": content}}]})

    async def _fail(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if fault.hangs:
            await self.over.wait()
        if not (fault.endless or fault.cut):
            return web.Response(status=fault.status, headers=fault.headers, body=fault.body)
        answer = web.StreamResponse(headers={"Content-Length": str(2**40)} if fault.cut else {})
        await answer.prepare(request)
        await answer.write(b'{"choices": [')
        if fault.cut:
            assert request.transport is not None
            request.transport.abort()
            return answer
        while not self.over.is_set():
            await answer.write(b" " * 65536)
        return answer


@asynccontextmanager
async def a_model(says: Says) -> AsyncIterator[ModelServer]:
    """Serve on a free port of loopback."""
    server = ModelServer(says)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        server.over.set()
        await runner.cleanup()


def answered(*answers: dict[str, Any]) -> str:
    """Write an answer to items 1, 2, …, as a model does."""
    return json.dumps({"answers": [{"n": number, **each} for number, each in enumerate(answers, start=1)]})


def each(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Says:
    """Answer each item by itself."""
    return lambda items, _: answered(*map(answer, items))
