"""What was forgotten, asked of a moment before it through every door: only a key that may forget or admin sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import pytest_asyncio

from emgas import MemoryClient
from emgas.messages.sessions import EndSession
from gateway.auth.keys import Caller, Keys, Right
from gateway.auth.new_keys import digest
from tests.support.clocks import DAY, NOON
from tests.support.served import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")
THEN, SINCE = NOON + 2 * DAY, NOON
RIGHTS: dict[str, frozenset[Right]] = {
    "reads": frozenset({"read"}),
    "writes": frozenset({"read", "write"}),
    "forgets": frozenset({"read", "forget"}),
    "runs": frozenset({"read", "admin"}),
    "does all": frozenset({"read", "write", "forget", "admin"}),
}
SECRETS = (b"zanzibar", b"ithaca")


@dataclass
class Door:
    http: httpx.AsyncClient

    async def seen(self, key: str, method: str, path: str, body: Any = None) -> bytes:
        """Ask with a key; give the bytes that came back, and the headers."""
        headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
        content = None if body is None else orjson.dumps(body)
        headers |= {} if body is None else {"Content-Type": "application/json"}
        response = await self.http.request(method, path, content=content, headers=headers)
        assert response.status_code == 200, response.text
        return (response.text + str(response.headers)).lower().encode()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def door(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    directory: Path = tmp_path_factory.mktemp("memory")
    keys = Keys(
        [
            Caller(name=name, sha256=digest(name), graphs=("ada", "bo", "cy"), rights=rights)
            for name, rights in RIGHTS.items()
        ]
    )
    async with MemoryClient(f"embedded:{directory}") as memory:
        for graph in ("ada", "bo", "cy"):
            await a_life(memory, graph)
        assert (await memory.forget("ada", sessions=["Ithaca"])).status == "accepted"
        await memory.record(turn("ada", "last", NOON + 4 * DAY, "Goodbye, kettle."))
        await memory.record(turn("bo", "last", NOON + 4 * DAY, "Goodbye, kettle."))
        async with (
            serving(memory, keys, all_tools=True) as url,
            httpx.AsyncClient(base_url=url, timeout=60) as http,
        ):
            yield Door(http)


async def a_life(memory: MemoryClient, graph: str) -> None:
    texts = ["The kettle met Zanzibar.", "The kettle sang in Zanzibar.", "The kettle is blue.", "A kettle again."]
    for n, text in enumerate(texts):
        await memory.record(turn(graph, f"t{n}", NOON + n * DAY, text, "Ithaca" if n < 2 else "main"))
    await memory.send(EndSession(graph=graph, session="Ithaca"))


def turn(graph: str, id: str, at: int, text: str, session: str = "main") -> dict[str, Any]:
    return {"graph": graph, "id": id, "at": at, "text": text, "session": session, "speaker": "Ada"}


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def record(**message: Any) -> tuple[str, str, Any]:
    return "POST", "/v1/records/queries?key=G", {"graph": "G", **message}


VIEWS = (
    "turns?x",
    "picture?passages=50",
    "sessions?x",
    "recent?x",
    "trend?moods=true",
    "habits?x",
    "concept?name=kettle",
)
DOORS: dict[str, tuple[str, str, Any]] = {
    **{view: ("GET", f"/v1/graphs/G/{view.removesuffix('?x')}", None) for view in VIEWS},
    "changes": ("GET", f"/v1/graphs/G/changes?since={SINCE}", None),
    "changes until then": ("GET", f"/v1/graphs/G/changes?since={SINCE}&until={THEN}", None),
    "query": ("POST", "/v1/graphs/G/query", {"text": "the kettle", "as_of": THEN, "explain": True}),
    "several": ("POST", "/v1/query", {"graphs": ["G"], "text": "the kettle", "as_of": THEN}),
    "recall": ("POST", "/mcp", tool("recall", graph="G", question="the kettle", as_of=str(THEN))),
    "compare": ("POST", "/mcp", tool("compare", graph="G", since=str(SINCE))),
    "record query": record(kind="query", text="the kettle", as_of=THEN),
    "record read": record(kind="read", as_of=THEN),
    "record compare": record(kind="compare", since=SINCE),
}
SHOWN = ("turns?x", "picture?passages=50", "sessions?x", "changes", "query", "several", "recall", "compare")


def of(graph: str, name: str) -> tuple[str, str, Any]:
    """Write a request about a graph, and about then."""
    method, path, body = DOORS[name]
    if name in VIEWS:
        path += f"{'&' if '?' in path else '?'}as_of={THEN}"
    filled = orjson.dumps(body).replace(b'"G"', f'"{graph}"'.encode())
    return method, path.replace("/G/", f"/{graph}/").replace("=G", f"={graph}"), orjson.loads(filled)


@pytest.mark.parametrize("name", DOORS)
async def test_a_key_that_only_reads_or_writes_gets_nothing_back_that_was_forgotten(door: Door, name: str) -> None:
    for key in ("reads", "writes", "forgets", "reads"):  # one after the other: none is shown what is kept of another
        seen = await door.seen(key, *of("ada", name))
        shows = any(secret in seen for secret in SECRETS)
        assert shows <= (key == "forgets"), (key, seen)
        assert b'"found":true' in seen.replace(b"\\", b"").replace(b" ", b"") or name in (
            "several",
            "compare",
            "recall",
        )
    for key in ("forgets", "runs"):
        seen = await door.seen(key, *of("ada", name))
        assert name not in SHOWN or b"zanzibar" in seen


async def test_after_delete_all_of_mem0_nothing_is_left_to_a_key_that_reads(door: Door) -> None:
    answer = await door.seen("forgets", "DELETE", "/v1/memories/?user_id=bo")
    assert b'"message":"memories deleted successfully!"' in answer
    assert b'"kept":' in answer, "what is kept, and how to erase it"
    assert b"emgas change erase bo" in answer
    for name in DOORS:
        method, path, body = of("bo", name)
        headers = {"Authorization": "Bearer reads", "Accept": "application/json, text/event-stream"}
        headers |= {} if body is None else {"Content-Type": "application/json"}
        content = None if body is None else orjson.dumps(body)
        seen = (await door.http.request(method, path, content=content, headers=headers)).text.lower()
        assert "zanzibar" not in seen, name
        assert "blue" not in seen, name
    assert b"zanzibar" in await door.seen("forgets", *of("bo", "query"))


async def test_a_key_that_may_forget_and_not_admin_undoes_no_settings(door: Door) -> None:
    answers = []
    for key in ("forgets", "does all"):
        headers = {"Authorization": f"Bearer {key}"}
        response = await door.http.post("/v1/graphs/cy/undo", json={"first": 0, "last": 0}, headers=headers)
        answers.append((response.status_code, "right to admin" in response.text))
    assert answers == [(422, True), (200, False)]
