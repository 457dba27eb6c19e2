"""The gateway as one ASGI application: routes, keys, and every failure as a problem."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from mcp.server.mcpserver import MCPServer
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from emgas import __version__
from emgas.client.client import MemoryClient
from emgas.errors import EmgasError
from emgas.limits import RECORD_BYTES
from gateway import graphs, records
from gateway.access import Authentication
from gateway.errors import GatewayError, failed, problem, refused
from gateway.keys import Keys
from gateway.mcp_tools import Opened, mcp_server

log = structlog.get_logger()
BODY_BYTES = RECORD_BYTES + 4096  # a record, and room for what a body may have around it


def gateway(client: Callable[[], MemoryClient], keys: Keys) -> ASGIApp:
    """Make the application.  `client` gives the client that it opens when it starts, and closes when it ends."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with client() as memory:
            app.state.memory, app.state.exchange = memory, memory.request_reply
            async with mcp.session_manager.run():
                yield

    app = FastAPI(
        title="EMGAS",
        version=__version__,
        summary="Associative long-term memory for conversational AI.",
        lifespan=lifespan,
        redoc_url=None,
        redirect_slashes=False,
        max_body_size=BODY_BYTES,
        telemetry={"logs": False, "auto_configure": False},
    )
    mcp = mcp_server(_opened(app))
    app.router.routes.extend(_mcp_routes(mcp))
    app.include_router(graphs.router)
    app.include_router(records.router)
    _health(app)
    _problems(app)
    return Measured(Authentication(app, keys), app)


def _opened(app: FastAPI) -> Opened:
    async def opened() -> MemoryClient:
        memory: MemoryClient = app.state.memory
        return memory

    return opened


def _mcp_routes(mcp: MCPServer[Any]) -> list[BaseRoute]:
    """Serve MCP at /mcp, stateless: any of several gateways may answer the next call."""
    return mcp.streamable_http_app(streamable_http_path="/mcp", stateless_http=True, json_response=True).routes


class Measured:
    """Counts requests and their seconds, by route and status: no label names a graph."""

    def __init__(self, inner: ASGIApp, app: FastAPI) -> None:
        self._inner, self.app = inner, app
        self.registry = CollectorRegistry()
        names = ["method", "route", "status"]
        self._seconds = Histogram("emgas_http_request_seconds", "Time to answer", names, registry=self.registry)
        app.state.registry = self.registry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._inner(scope, receive, noted)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self._seconds.labels(scope["method"], route, status).observe(time.perf_counter() - started)


def _health(app: FastAPI) -> None:
    @app.get("/healthz", include_in_schema=False)
    async def live() -> PlainTextResponse:
        return PlainTextResponse("ok")

    @app.get("/readyz", include_in_schema=False)
    async def ready(request: Request) -> PlainTextResponse:
        try:
            await request.app.state.memory.partitions()
        except (EmgasError, AttributeError):
            return PlainTextResponse("the memory is out of reach", 503)
        return PlainTextResponse("ready")

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        return Response(generate_latest(request.app.state.registry), media_type=CONTENT_TYPE_LATEST)


def _problems(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        found = list(error.errors())
        if any(each["type"] == "json_invalid" for each in found):
            return problem(400, "not-json", "send one JSON object in UTF-8")
        where = "; ".join(dict.fromkeys(_sentence(each) for each in found))
        return problem(422, "invalid", where)

    @app.exception_handler(EmgasError)
    async def of_memory(_: Request, error: EmgasError) -> Response:
        return failed(error)

    @app.exception_handler(GatewayError)
    async def of_gateway(_: Request, error: GatewayError) -> Response:
        return refused(error)

    @app.exception_handler(graphs.UnknownGraphError)
    async def unknown(_: Request, __: graphs.UnknownGraphError) -> Response:
        return problem(404, "unknown-graph", "nobody ever wrote to this graph")

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> Response:
        return problem(error.status_code, _word(error.status_code), str(error.detail), error.headers)

    @app.exception_handler(RecursionError)
    async def deep(_: Request, __: RecursionError) -> Response:
        return problem(400, "not-json", "the JSON is nested too deeply")

    @app.exception_handler(Exception)
    async def bug(_: Request, error: Exception) -> Response:
        log.error("the gateway failed", error=type(error).__name__, exc_info=error)
        return problem(500, "internal", "the gateway failed: this is a bug of ours, its log has the place")


def _word(status: int) -> str:
    return {404: "not-found", 405: "method", 413: "too-large", 415: "not-json"}.get(status, "refused")


def _sentence(found: dict[str, Any]) -> str:
    """Say what is wrong where, and never with what was sent."""
    place = ".".join(str(part) for part in found["loc"][1:]) or str(found["loc"][0])
    return f"{place}: {found['msg']}"
