"""Decide who the caller of a request is, once, in plain ASGI, for HTTP routes and MCP tools alike.

The caller is in a context variable, because MCP's tools see no request.  (Starlette's BaseHTTPMiddleware would lose
it.)  Without keys, every user of this machine may do everything.  A page of another site, in a browser here, may not:
its requests are recognised by headers that browsers add: Host (of a rebound name), Origin and Content-Type.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Annotated, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from emgas.errors import InvalidMessageError
from emgas.limits import BATCH_BYTES, RECORD_BYTES
from emgas.validation import printable
from gateway.auth.keys import ANYBODY, Caller, Keys, Right
from gateway.http.errors import (
    GatewayError,
    NotAllowedError,
    TooLargeError,
    WrongContentTypeError,
    WrongMethodError,
    refused,
)
from gateway.http.methods import Methods
from gateway.http.paths import PathGraph

# These need no key: they show nothing of any memory.
OPEN = ("/", "/healthz", "/readyz", "/openapi.json", "/docs", "/docs.css", "/icon.svg")
OPEN_FOLDER = "/page/"
BODY_BYTES = RECORD_BYTES + 4096  # a record, and room for what a body may have around it
CHAT_BYTES = 16 * 1024 * 1024  # a conversation, with pictures in it
CHAT = "/v1/chat/completions"
IMPORT_BYTES = 64 * 1024 * 1024  # a chat's export
BATCH = re.compile(r"/v1/(graphs/.+|records)/turns/batch")
IMPORT = re.compile(r"/v1/graphs/.+/import")
FILES = ("application/octet-stream", "application/zip", "application/x-ndjson", "application/json")
API = ("/v1/", "/v2/", "/v3/")  # what takes JSON; the last two are mem0's


class Delegation(NamedTuple):
    """The subject that a request claims to act for, and its most rights; None: not in the request."""

    subject: str | None = None
    rights: frozenset[str] | None = None


NO_DELEGATION = Delegation()
_caller: ContextVar[Caller] = ContextVar("caller", default=ANYBODY)
_delegated: ContextVar[Delegation] = ContextVar("delegation", default=NO_DELEGATION)
_bearer = HTTPBearer(auto_error=False, description="the key; without a file of keys, none is needed")


class Access:
    """Admits a request with its caller and a body within bounds, or responds with a problem."""

    def __init__(self, app: ASGIApp, keys: Keys, methods: Methods) -> None:
        self._app, self._keys, self._methods = app, keys, methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            token = _caller.set(await self._let_in(scope["path"], headers))
            delegation = _delegated.set(_delegation(headers))
            self._check_body(scope, headers)
        except GatewayError as error:
            await refused(error)(scope, receive, send)
            return
        try:
            await self._app(scope, bounded(receive, most_bytes(scope["path"])), send)
        finally:
            _caller.reset(token)
            _delegated.reset(delegation)

    def _check_body(self, scope: Scope, headers: Headers) -> None:
        """Raise GatewayError for a body that need not be read; a wrong method is refused before a wrong type."""
        try:
            _check_body(scope, headers)
        except WrongContentTypeError:
            methods = self._methods(scope)
            if methods and scope["method"] not in methods:
                raise WrongMethodError(methods) from None
            raise

    async def _let_in(self, path: str, headers: Headers) -> Caller:
        if path in OPEN or path.startswith(OPEN_FOLDER):
            return NOBODY
        if not self._keys.are_required:
            check_local(headers)
        return await self._keys.caller(headers.get("authorization"))


NOBODY = Caller(name="nobody")


def check_local(headers: Headers) -> None:
    """Raise NotAllowedError for a request that a page of another site made a browser send."""
    host = headers.get("host", "")
    if not is_loopback(hostname(f"//{host}")):
        raise NotAllowedError("without keys, only http://localhost and loopback addresses are served")
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        raise NotAllowedError("without keys, no other site's page is served")


def hostname(url: str) -> str:
    """Return a URL's host; "" if there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """Check whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_body(scope: Scope, headers: Headers) -> None:
    """Raise TooLargeError, WrongContentTypeError for a body that need not be read."""
    length, most = headers.get("content-length", "0"), most_bytes(scope["path"])
    if length.isdecimal() and int(length) > most:
        raise TooLargeError(f"the body has more than {most} bytes")
    if scope["method"] in ("POST", "PUT", "PATCH") and scope["path"].startswith(API):
        media = headers.get("content-type", "").partition(";")[0].strip().lower()
        allowed = FILES if IMPORT.fullmatch(scope["path"]) else FILES[-1:]
        if media not in allowed:
            raise WrongContentTypeError(f"send the header Content-Type: {allowed[0]}")


def most_bytes(path: str) -> int:
    """Return the largest size of a body."""
    if IMPORT.fullmatch(path):
        return IMPORT_BYTES
    if BATCH.fullmatch(path):
        return BATCH_BYTES
    return CHAT_BYTES if path == CHAT else BODY_BYTES


def bounded(receive: Receive, most: int) -> Receive:
    """Wrap `receive` so that it reads at most `most` bytes of a body without Content-Length."""
    read = 0

    async def bounded_receive() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise HTTPException(413, f"the body has more than {most} bytes")
        return message

    return bounded_receive


def caller() -> Caller:
    """Return who sent the current request."""
    return _caller.get()


def subject() -> str | None:
    """Return on whose behalf the request comes, for graphs that grant rights (emgas/messages/rights.py).

    A key's subject is its name.  A caller with the right to admin, or without need of a key, is the operator, and can
    name another subject in the header Emgas-Subject.
    """
    who = caller()
    return _delegated.get().subject if "admin" in who.rights else who.name


def rights() -> frozenset[str] | None:
    """Return the most rights that the subject has, for decisions of the memory, such as what it may undo or see.

    None for the operator, whose other gateways can pass on the rights of their own keys in the header Emgas-Rights.
    """
    who = caller()
    return _delegated.get().rights if "admin" in who.rights else frozenset(who.rights)


def _delegation(headers: Headers) -> Delegation:
    name, at_most = headers.get("emgas-subject"), headers.get("emgas-rights")
    return Delegation(unquote(name) if name else None, None if at_most is None else frozenset(at_most.split(",")))


def may(right: Right, *parameters: str) -> Any:
    """Build the dependency that requires `right` in the path's graph.

    parameters    all valid names in the query: a misspelt one would otherwise be ignored silently
    """

    async def check(graph: PathGraph, request: Request, _: Annotated[Any, Depends(_bearer)]) -> str:  # no thread
        _refuse_unknown(request, parameters)
        caller().check(right, graph)
        return graph

    return Depends(check)


def any_key(*parameters: str) -> Any:
    """Build the dependency of a route that is open to any key.  `parameters`: as those of `may`."""

    async def check(request: Request, _: Annotated[Any, Depends(_bearer)]) -> None:
        _refuse_unknown(request, parameters)

    return Depends(check)


def _refuse_unknown(request: Request, parameters: Collection[str]) -> None:
    """Raise InvalidMessageError for a parameter that the route does not know, with the one that may be meant."""
    unknown = next((name for name in request.query_params if name not in parameters), None)
    if unknown is None:
        return
    near = get_close_matches(unknown, parameters, n=1)
    advice = f"did you mean {near[0]}?" if near else "remove it"
    known = ", ".join(parameters) or "none"
    raise InvalidMessageError(f"query: {printable(unknown)} is not a known parameter (known: {known}): {advice}")
