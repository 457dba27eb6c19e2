"""Security headers for every response, set in one place: no route can forget them, no model can replace them."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.auth.access import OPEN, OPEN_FOLDER

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
NO_STORE = "no-store"  # what people said stays in no cache of a browser or a proxy


class SecurityHeaders:
    """Wrap an application so that each response has HEADERS, and only the page's own files may be cached."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                headers.update(HEADERS)
                is_public = scope["path"] in OPEN or scope["path"].startswith(OPEN_FOLDER)
                headers["Cache-Control"] = headers.get("Cache-Control", NO_STORE) if is_public else NO_STORE
            await send(message)

        await self._app(scope, receive, send_with_headers)
