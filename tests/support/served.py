"""A gateway over a real socket, in the loop of the test: HTTP as others speak it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext

import uvicorn
from starlette.types import ASGIApp

from emgas import MemoryClient
from emgas.messages.requests import AnswerMessage
from emgas.wire import Headers, ProducerRecord
from gateway.app import gateway
from gateway.auth.keys import Keys
from gateway.doors.chat import ChatModel
from gateway.http.connections import Limits
from gateway.serve import configured, listen
from tests.support.clocks import PATIENCE, eventually
from tests.support.pipeline import Pipeline


@asynccontextmanager
async def serving(
    memory: MemoryClient, keys: Keys | None = None, model: ChatModel | None = None, *, all_tools: bool = False
) -> AsyncIterator[str]:
    """Serve an open memory on a free port of loopback; give the URL."""
    app = gateway(lambda: nullcontext(memory), keys or Keys(None), model, all_tools=all_tools)
    async with listening(app) as url:
        yield url


@asynccontextmanager
async def listening(app: ASGIApp, limits: Limits | None = None) -> AsyncIterator[str]:
    """Serve an application on a free port of loopback; give the URL."""
    with listen("127.0.0.1", 0) as opened:
        server = uvicorn.Server(configured(app, limits, log_level="error", timeout_graceful_shutdown=1))
        serving = asyncio.create_task(server.serve(sockets=[opened]))
        async with asyncio.timeout(PATIENCE):
            await eventually(lambda: server.started or serving.done())
        try:
            yield f"http://127.0.0.1:{opened.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving


class ServedPipeline(Pipeline):
    """The pipeline as it is behind a gateway: `memory` is a client over HTTP, the topics are looked at underneath."""

    async def start(self) -> None:
        await super().start()
        self._behind = self.memory
        async with AsyncExitStack() as starting:
            url = await starting.enter_async_context(serving(self._behind))
            client = MemoryClient(url, prefix=self.settings.prefix, timeout=PATIENCE, subject=lambda: self.subject)
            self.memory = await starting.enter_async_context(client)
            self._front = starting.pop_all()

    async def stop(self) -> None:
        await self._front.aclose()
        await super().stop()

    async def ask(
        self, topic: str, key: bytes | None, value: bytes, partition: int, headers: Headers = ()
    ) -> AnswerMessage:
        """Ask past the gateway, which lets nothing bad through."""
        return await self._behind.request_reply.ask(ProducerRecord(topic, key, value, headers, partition), PATIENCE)
