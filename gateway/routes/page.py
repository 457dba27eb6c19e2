"""Pages for a browser: the explorer, built from page/ into static/ (scripts/page), and the reference of the routes.

Browsers may load nothing from elsewhere, and run no inline scripts (gateway/routes/security_headers.py).  These files
show nothing of any memory, so they need no key; the explorer's requests to /v1 do.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from gateway.routes.reference import reference

STATIC = Path(__file__).parents[1] / "static"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
}
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}  # a name holds the hash of its content
REVALIDATE = {"Cache-Control": "no-cache"}
NOT_BUILT = (
    "The page is not built here.  In a clone, run ./scripts/page once (Node.js comes from PyPI where there is none), "
    "then reload this page.  All else works without it: /docs has the routes.\n"
)


def is_built() -> bool:
    """Check whether the page is built."""
    return (STATIC / "index.html").is_file()


def add(app: FastAPI) -> None:
    """Serve the explorer at /, its files below /page, the reference at /docs."""

    @app.get("/", include_in_schema=False)
    async def explorer() -> Response:
        if not is_built():
            return PlainTextResponse(NOT_BUILT, 404)
        return _file(STATIC / "index.html", REVALIDATE)

    @app.get("/page/{name}", include_in_schema=False)
    async def part(name: str) -> Response:
        built = {each.name: each for each in (STATIC / "page").glob("*")}  # at each request: it may be built again
        if name not in built:
            raise HTTPException(404, "the page has no such file: reload the page")
        return _file(built[name], FOREVER)

    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        return HTMLResponse(reference(request.app.openapi(), str(request.base_url).rstrip("/")), headers=REVALIDATE)

    @app.get("/docs.css", include_in_schema=False)
    async def style() -> Response:
        return _file(STATIC.with_name("docs.css"), REVALIDATE)

    @app.get("/icon.svg", include_in_schema=False)
    async def icon() -> Response:
        return _file(STATIC.with_name("icon.svg"), REVALIDATE)


def _file(file: Path, cached: dict[str, str]) -> Response:
    return Response(file.read_bytes(), headers=cached, media_type=TYPES[file.suffix])
