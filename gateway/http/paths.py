"""Graph ids in paths: any printable character may be in one, a slash too, written as %2F.

A server unquotes a path before it is routed, and then a slash in a name looks like one between names.  So the path is
unquoted here, name by name, with SLASH in the place of a slash within a name; `PathGraph` puts it back.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote

from pydantic import BeforeValidator
from starlette.types import ASGIApp, Receive, Scope, Send

from emgas.messages.fields import GraphId

SLASH = "\x1f"  # is not printable, so it is in no name


def unslashed(name: str) -> str:
    """Restore the slashes in a name of a path."""
    return name.replace(SLASH, "/")


PathGraph = Annotated[GraphId, BeforeValidator(unslashed)]


class PathsByName:
    """Wrap an application so that a name in a path may hold a slash."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Unquote the path of a request, and pass it on."""
        raw = scope.get("raw_path") or b""
        if scope["type"] == "http" and b"%2f" in raw.lower():
            # in place, for the route is noted in it
            names = raw.decode("ascii", "replace").partition("?")[0].split("/")
            scope["path"] = "/".join(unquote(name).replace("/", SLASH) for name in names)
        await self._app(scope, receive, send)
