"""Records over HTTP: the plain way that clients take, and the described one behind it, answer alike."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2 as httpx
import orjson
import pytest

from emgas import MemoryClient
from emgas.messages.topics import ANSWER
from tests.emgas.connections import MemoryConnection, Sent, outcome, reply
from tests.support.clocks import PATIENCE, eventually
from tests.support.served import serving

TURN = {"id": "t1", "graph": "ada", "speaker": "Ada", "text": "The kettle broke."}
QUERY = {"kind": "query", "graph": "ada", "text": "what broke?"}
JSON = {"Content-Type": "application/json"}


def answered(sent: Sent) -> bytes:
    message = orjson.loads(sent.value)
    return reply(message["graph"]) if "kind" in message else outcome(message["id"])


def detail(response: httpx.Response) -> tuple[Any, ...]:
    """Give what a caller sees of a response, but for where its record came to lie."""
    named = {name for name in response.headers if name not in ("date", "content-length", "transfer-encoding")}
    return response.status_code, response.headers["content-type"], sorted(named), response.content


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("turns?key=ada", TURN),
        ("queries?key=ada&seconds=5", QUERY),
        ("queries?key=ben", QUERY),
        ("queries", QUERY),
        ("turns?key=ada", {**TURN, "text": 1}),
        ("queries?key=ada", {**QUERY, "kind": "nothing"}),
        ("turns?key=ada", "no object"),
    ],
)
async def test_a_request_is_answered_alike_however_its_query_is_written(path: str, body: Any) -> None:
    connection = MemoryConnection(answered)
    async with MemoryClient(connection) as memory, serving(memory) as url, httpx.AsyncClient(base_url=url) as http:
        both = "&" if "?" in path else "?"
        plain = await http.post(f"/v1/records/{path}{both}answer=true", content=orjson.dumps(body), headers=JSON)
        other = await http.post(f"/v1/records/{path}{both}answer=1", content=orjson.dumps(body), headers=JSON)
        assert detail(plain) == detail(other)
        assert len(connection.log) == (2 if plain.is_success else 0)


@pytest.mark.parametrize("query", ["key=ada&seconds=0", "key=ada&seconds=601", "key=ada&answer=perhaps", "kye=ada"])
async def test_what_the_document_does_not_allow_is_refused_as_it_says(query: str) -> None:
    connection = MemoryConnection(answered)
    async with MemoryClient(connection) as memory, serving(memory) as url, httpx.AsyncClient(base_url=url) as http:
        response = await http.post(f"/v1/records/queries?{query}", content=orjson.dumps(QUERY), headers=JSON)
        assert (response.status_code, connection.log) == (422, [])


async def test_an_answer_of_a_later_version_is_passed_on_as_it_came() -> None:
    later = ANSWER.dump_json(ANSWER.validate_json(reply("ada")))[:-1] + b',"news":[1]}'
    async with (
        MemoryClient(MemoryConnection(lambda _: later)) as memory,
        serving(memory) as url,
        httpx.AsyncClient(base_url=url) as http,
    ):
        response = await http.post("/v1/records/queries?key=ada", content=orjson.dumps(QUERY), headers=JSON)
        assert response.content == later


async def test_who_hangs_up_is_waited_for_no_longer() -> None:
    connection = MemoryConnection(lambda _: None)
    async with MemoryClient(connection) as memory, serving(memory) as url:
        waiting = memory.request_reply._waiting  # noqa: SLF001 - the calls that wait, which nothing else tells
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
            path = "/v1/records/queries?key=ada&seconds=600"
            async with http.stream("POST", path, content=orjson.dumps(QUERY), headers=JSON) as response:
                assert response.headers["Emgas-Offset"] == "0"
                assert len(waiting) == 1
        async with asyncio.timeout(PATIENCE):
            await eventually(lambda: not waiting)
