"""What a browser is told besides the page itself: what it may load, and where the page is, if it is not built."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2 as httpx
import pytest

from emgas import MemoryClient
from gateway.auth.keys import Keys
from gateway.routes import page
from tests.emgas.connections import MemoryConnection
from tests.support.served import serving


async def got(path: str, keys: Keys | None = None) -> httpx.Response:
    async with MemoryClient(MemoryConnection()) as memory, serving(memory, keys) as url, httpx.AsyncClient() as http:
        return await http.get(url + path)


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a page that is built."""
    (tmp_path / "static" / "page").mkdir(parents=True)
    (tmp_path / "static" / "index.html").write_text("<!doctype html>")
    (tmp_path / "static" / "page" / "main-1a2b.js").write_text("1")
    (tmp_path / "secret.js").write_text("2")
    monkeypatch.setattr(page, "STATIC", tmp_path / "static")
    return tmp_path


@pytest.mark.parametrize("path", ["/", "/page/main-1a2b.js", "/docs"])
async def test_what_is_shown_needs_no_key_and_loads_nothing_from_elsewhere(path: str, built: Path) -> None:
    response = await got(path, Keys([]))
    assert response.status_code == 200
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    sources = {source for rule in policy.split("; ") for source in rule.split()[1:]}
    assert sources == {"'none'", "'self'"}
    assert response.headers["x-content-type-options"] == "nosniff"
    assert ("immutable" in response.headers["cache-control"]) == path.startswith("/page/")


@pytest.mark.parametrize("path", ["/page/other.js", "/page/..%2f..%2fsecret.js", "/page/%2e%2e/secret.js", "/page/"])
async def test_no_other_file_is_served(path: str, built: Path) -> None:
    response = await got(path)
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"


async def test_a_page_that_is_built_again_is_served_by_the_server_that_runs(built: Path) -> None:
    async with MemoryClient(MemoryConnection()) as memory, serving(memory, None) as url, httpx.AsyncClient() as http:
        assert (await http.get(f"{url}/page/main-3c4d.js")).status_code == 404
        (built / "static" / "page" / "main-1a2b.js").rename(built / "static" / "page" / "main-3c4d.js")
        assert (await http.get(f"{url}/page/main-3c4d.js")).text == "1"


async def test_a_page_that_is_not_built_says_how_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "STATIC", tmp_path / "static")
    response = await got("/")
    assert (response.status_code, "./scripts/page" in response.text) == (404, True)


async def test_the_reference_tells_of_every_route_and_shape() -> None:
    message, document = (await got("/docs")).text, (await got("/openapi.json")).json()
    assert "<script" not in message
    assert set(re.findall(r"\w+://[\w.]+", message)) == {"http://127.0.0.1"}, "only calls of this server"
    for path, methods in document["paths"].items():
        assert path in message
        for operation in methods.values():
            assert all(each["name"] in message for each in operation.get("parameters", ()))
    assert all(f'id="{name}"' in message for name in document["components"]["schemas"])
