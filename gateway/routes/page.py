"""What a browser is shown: the explorer, built from page/ into static/ (scripts/page), and the reference of the routes.

Everything comes from here, and a browser is told to load nothing from anywhere else, nor to run what stands in a page
itself (gateway/routes/security_headers.py).  These files tell nothing of any memory, so they need no key; what the
explorer asks of /v1 does.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from gateway.routes.reference import reference

STATIC = Path(__file__).with_name("static")
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
}
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}  # a name holds the hash of its content
ANEW = {"Cache-Control": "no-cache"}
NOT_BUILT = (
    "The page is not built here.  In a clone, run ./scripts/page once (Node.js comes from PyPI where there is none), "
    "then start `emgas serve` again.  All else works without it: /docs has the routes.\n"
)


def is_built() -> bool:
    """Tell whether there is a page to be served."""
    return (STATIC / "index.html").is_file()


def add(app: FastAPI) -> None:
    """Serve the explorer at /, its files below /page, the reference at /docs."""
    built = {each.name: each for each in (STATIC / "page").iterdir()} if is_built() else {}

    @app.get("/", include_in_schema=False)
    async def explorer() -> Response:
        if not is_built():
            return PlainTextResponse(NOT_BUILT, 404)
        return _file(STATIC / "index.html", ANEW)

    @app.get("/page/{name}", include_in_schema=False)
    async def part(name: str) -> Response:
        if name not in built:
            raise HTTPException(404, "the page has no such file: load it anew")
        return _file(built[name], FOREVER)

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return HTMLResponse(reference(request.app.openapi()), headers=ANEW)

    @app.get("/docs.css", include_in_schema=False)
    async def style() -> Response:
        return _file(STATIC.with_name("docs.css"), ANEW)

    @app.get("/icon.svg", include_in_schema=False)
    async def icon() -> Response:
        return _file(STATIC.with_name("icon.svg"), ANEW)


def _file(file: Path, cached: dict[str, str]) -> Response:
    return Response(file.read_bytes(), headers=cached, media_type=TYPES[file.suffix])
