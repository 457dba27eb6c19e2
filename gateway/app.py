"""The gateway as one ASGI application: routes, MCP, keys, and every failure as a problem."""

from __future__ import annotations

import time
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from emgas import __version__
from emgas.client.client import MemoryClient
from emgas.client.connection import MeasuredConnection
from emgas.client.shares import Shares
from emgas.errors import EmgasError
from emgas.logs import logger
from emgas.validation import describe_all
from gateway.auth.access import BODY_BYTES, Access, caller, rights, subject
from gateway.auth.keys import Keys
from gateway.doors import chat, hooks
from gateway.doors.injections import Injections
from gateway.doors.mcp_tools import Opened, mcp_server
from gateway.doors.mem0 import routes as mem0
from gateway.http.errors import (
    PROBLEM_JSON,
    GatewayError,
    NotJsonError,
    WrongMethodError,
    failed,
    problem,
    refused,
)
from gateway.http.methods import methods_of
from gateway.http.paths import PathsByName
from gateway.routes import declared, graphs, imports, page, records
from gateway.routes.examples import add_examples
from gateway.routes.security_headers import SecurityHeaders

log = logger("gateway")
Opening = Callable[[], AbstractAsyncContextManager[MemoryClient]]
TAGS = {
    "turns": "Record turns, read them, and import files",
    "queries": "Ask a memory",
    "views": "Look at a memory: people, habits, conversations, themes, changes",
    "changes": "Change a memory: pin, forget, configure, share",
    "hooks": "What coding agents call at each prompt, and what they got",
    "records": "The transport of `MemoryClient`: records as docs/wire.md has them",
    "mem0": "What clients of mem0 use",
    "OpenAI": "Chat completions with memory",
}
NO_JSON = "send one JSON object in UTF-8"
NO_ROUTE = "there is no such route: see /docs or /openapi.json"
CODES = {404: "not-found", 405: "method", 413: "too-large", 415: "not-json"}


def gateway(
    memory: Opening,
    keys: Keys,
    model: chat.ChatModel | None = None,
    *,
    all_tools: bool = False,
    folder: Path | None = None,
) -> ASGIApp:
    """Build the application.

    memory     returns the client, opened when the application starts
    model      answers chat completions; None: there are none
    all_tools  of MCP, not only the usual ones
    folder     where to keep what agents got from hooks; None: in memory
    """
    app, mcp = application(memory, all_tools=all_tools, folder=folder)
    app.state.model, app.state.wants_keys = model, keys.are_required
    app.router.routes.insert(0, records.PlainRecords())
    app.router.routes.extend(_mcp_routes(mcp))
    measured = RequestMetrics(chat.ErrorsAsOpenAI(Access(PathsByName(app), keys, methods_of(app.router.routes))))
    app.state.registry = measured.registry
    return SecurityHeaders(measured)


def application(
    memory: Opening, *, all_tools: bool = False, folder: Path | None = None
) -> tuple[FastAPI, MCPServer[Any]]:
    """Build the routes that OpenAPI describes, and the MCP server that shares their memory."""
    # FastAPI names each body, and pydantic warns of that name on the terminal; no code reads it.
    warnings.filterwarnings("ignore", "The 'alias' attribute with value 'body'", UnsupportedFieldAttributeWarning)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with memory() as app.state.memory, mcp.session_manager.run(), chat.client() as app.state.models:
            app.state.memory.on_behalf_of(subject, rights, lambda: caller().name)
            yield

    app = FastAPI(
        title="EMGAS",
        version=__version__,
        summary="Associative long-term memory for conversational AI.",
        openapi_tags=[{"name": name, "description": text} for name, text in TAGS.items()],
        generate_unique_id_function=operation_name,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        lifespan=lifespan,
        docs_url=None,  # FastAPI's own loads its scripts from elsewhere: gateway/routes/page.py has one that loads none
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"logs": False, "auto_configure": False},
    )
    app.state.wants_keys = False
    app.state.imports = imports.Imports()
    app.state.watched = Shares(graphs.WATCHED)
    app.state.injections = Injections(folder)
    mcp = mcp_server(_opened(app), everything=all_tools)
    app.include_router(graphs.listing)
    app.include_router(graphs.router)
    app.include_router(declared.router)
    app.include_router(graphs.several)
    app.include_router(imports.router)
    app.include_router(records.router)
    app.include_router(mem0.router)
    app.include_router(chat.router)
    app.include_router(hooks.router)
    page.add(app)
    _health(app)
    _problems(app)
    _document(app)
    return app, mcp


def _opened(app: FastAPI) -> Opened:
    async def opened() -> MemoryClient:
        memory: MemoryClient = app.state.memory
        return memory

    return opened


def _mcp_routes(mcp: MCPServer[Any]) -> list[BaseRoute]:
    """Serve MCP at /mcp, stateless: any of several gateways may answer the next call.  Access looks after its Host."""
    return mcp.streamable_http_app(
        streamable_http_path="/mcp",
        stateless_http=True,
        json_response=True,
        max_request_body_size=BODY_BYTES,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    ).routes


class RequestMetrics:
    """Counts requests and their seconds, by route and status: no label names a graph."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner
        self.registry = CollectorRegistry()
        names = ["method", "route", "status"]
        self._seconds = Histogram("emgas_http_request_seconds", "Time to answer", names, registry=self.registry)

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
            method = scope["method"] if scope["method"] in ("GET", "POST", "PUT", "DELETE") else "other"
            seconds = time.perf_counter() - started
            self._seconds.labels(method, _route(scope), status).observe(seconds)


def _route(scope: Scope) -> str:
    """Return the route of a request, as it is declared: /v1/graphs/{graph}/turns."""
    route = getattr(scope.get("route"), "path", None)
    return route if isinstance(route, str) else "none"


def _health(app: FastAPI) -> None:
    @app.get("/healthz", include_in_schema=False)
    async def live() -> PlainTextResponse:
        return PlainTextResponse("ok")

    @app.get("/readyz", include_in_schema=False)
    async def ready(request: Request) -> PlainTextResponse:
        try:
            await request.app.state.memory.partitions()
        except EmgasError:
            return PlainTextResponse("the memory is out of reach", 503)
        return PlainTextResponse("ready")

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        text, connection = (
            generate_latest(request.app.state.registry),
            request.app.state.memory.request_reply.connection,
        )
        text += await connection.metrics() if isinstance(connection, MeasuredConnection) else b""
        return Response(text, media_type=CONTENT_TYPE_LATEST)


def _problems(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        problems = list(error.errors())
        if any(each["type"] == "json_invalid" for each in problems):
            return refused(NotJsonError(NO_JSON))
        return problem(
            422, "invalid", describe_all(problems, skip=1)
        )  # a location begins with body, path, query, header

    @app.exception_handler(EmgasError)
    async def of_memory(_: Request, error: EmgasError) -> Response:
        return failed(error)

    @app.exception_handler(GatewayError)
    async def of_gateway(_: Request, error: GatewayError) -> Response:
        return refused(error)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        if error.status_code == 405 and (methods := methods_of(app.router.routes)(request.scope)):
            return refused(WrongMethodError(methods))
        if error.status_code == 400:  # FastAPI cannot decode the body, and says no more than that
            return refused(NotJsonError(NO_JSON))
        detail = NO_ROUTE if error.detail == HTTPStatus(error.status_code).phrase else str(error.detail)
        return problem(error.status_code, CODES.get(error.status_code, "refused"), detail, error.headers)

    @app.exception_handler(ClientDisconnect)
    async def gone(_: Request, __: ClientDisconnect) -> Response:
        return Response(status_code=499)  # reaches the metrics alone: the client hung up while it sent its request

    @app.exception_handler(Exception)
    async def bug(_: Request, error: Exception) -> Response:
        log.error("the gateway failed", error=type(error).__name__, exc_info=error)
        return problem(500, "internal", "internal error: this is a bug in EMGAS; see the gateway's log")


def operation_name(route: APIRoute) -> str:
    """Return the operationId of a route: its function's name; of the doors of others, with their name before it."""
    tag = route.tags[0] if route.tags else ""
    return f"{str(tag).lower()}_{route.name}" if tag in ("mem0", "OpenAI") else route.name


def _document(app: FastAPI) -> None:
    """Describe problems in the OpenAPI document: FastAPI knows only JSON, and its own form of a 422.  Add examples."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        document = made()
        for path in document["paths"].values():
            for operation in path.values():
                add_examples(operation)
                for status, response in operation["responses"].items():
                    if int(status) >= 400:
                        response["content"] = {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        for unused in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(unused, None)
        return document

    app.openapi = openapi  # type: ignore[method-assign]
