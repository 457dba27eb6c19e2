"""Who asks: found once for each request, by plain ASGI, for the routes of HTTP and the tools of MCP alike.

A context variable hands the caller on, because MCP's tools see no request.  (Starlette's BaseHTTPMiddleware would
lose it.)
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Annotated, Any

from fastapi import Depends
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from emgas.messages.fields import GraphId
from gateway.errors import GatewayError, refused
from gateway.keys import ANYBODY, Caller, Keys, Right

OPEN = ("/healthz", "/readyz", "/openapi.json", "/docs")  # what needs no key: it tells nothing of any memory

_caller: ContextVar[Caller] = ContextVar("caller", default=ANYBODY)
_bearer = HTTPBearer(auto_error=False, description="the key; without a file of keys, none is needed")


class Authentication:
    """Let a request in with its caller, or answer why not."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app, self._keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        try:
            caller = self._keys.caller(Headers(scope=scope).get("authorization"))
        except GatewayError as error:
            await refused(error)(scope, receive, send)
            return
        token = _caller.set(caller)
        try:
            await self._app(scope, receive, send)
        finally:
            _caller.reset(token)


def caller() -> Caller:
    """Name who sent the request that is being answered."""
    return _caller.get()


def may(right: Right) -> Any:
    """Make the dependency that lets a route go on only if the caller has `right` in the path's graph."""

    def check(graph: GraphId, _: Annotated[Any, Depends(_bearer)]) -> str:
        caller().check(right, graph)
        return graph

    return Depends(check)


def may_everywhere(right: Right) -> Any:
    """Make the dependency for routes that belong to no one graph."""

    def check(_: Annotated[Any, Depends(_bearer)]) -> None:
        caller().check(right, None)

    return Depends(check)
