"""Records over HTTP: the plain way that clients take, and the described one behind it, answer alike."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2 as httpx
import orjson
import pytest

from emgas import MemoryClient, TransportError
from emgas.messages.topics import ANSWER
from emgas.messages.turns import Turn
from gateway.auth.keys import Caller, Keys
from gateway.auth.new_keys import digest
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


def batch(*names: str) -> bytes:
    return orjson.dumps([{**TURN, "id": name} for name in names])


async def test_a_batch_is_appended_in_its_order_and_answered_line_by_line() -> None:
    connection = MemoryConnection(answered)
    async with MemoryClient(connection) as memory, serving(memory) as url, httpx.AsyncClient(base_url=url) as http:
        response = await http.post("/v1/records/turns/batch", content=batch("t1", "t2", "t3"), headers=JSON)
        receipts, *answers = response.content.splitlines()
        assert [offset for _, offset, _ in orjson.loads(receipts)] == [0, 1, 2]
        assert [orjson.loads(each)["turn"] for each in answers] == ["t1", "t2", "t3"]
        unanswered = await http.post("/v1/records/turns/batch?answer=false", content=batch("t4"), headers=JSON)
        assert len(unanswered.content.splitlines()) == 1
        assert [orjson.loads(sent.value)["id"] for sent in connection.log] == ["t1", "t2", "t3", "t4"]


@pytest.mark.parametrize(
    "body", [b"[]", b"{}", b"no JSON", batch("t1")[:-1] + b",1]", batch("t1")[:-1] + b',{"id": "t2"}]']
)
async def test_of_a_batch_with_an_invalid_record_nothing_is_appended(body: bytes) -> None:
    connection = MemoryConnection(answered)
    async with MemoryClient(connection) as memory, serving(memory) as url, httpx.AsyncClient(base_url=url) as http:
        response = await http.post("/v1/records/turns/batch", content=body, headers=JSON)
        assert (response.status_code in (400, 422), connection.log) == (True, [])


async def test_a_record_that_the_log_refuses_has_a_problem_in_place_of_its_receipt() -> None:
    connection = MemoryConnection(answered, refusal=TransportError("the disk is full"))
    async with MemoryClient(connection) as memory, serving(memory) as url, httpx.AsyncClient(base_url=url) as http:
        response = await http.post("/v1/records/turns/batch", content=batch("t1"), headers=JSON)
        assert orjson.loads(response.content.splitlines()[0])[0]["detail"] == "the disk is full"
        async with MemoryClient(url) as client:
            for outcomes in (True, False):
                with pytest.raises(TransportError, match="the disk is full"):
                    await anext(client.publish_many([{**TURN, "id": str(n)} for n in range(9)], outcomes=outcomes))


@pytest.mark.parametrize("outcomes", [True, False])
async def test_a_client_sends_turns_that_wait_together(outcomes: bool) -> None:
    connection = MemoryConnection(answered)
    turns = [Turn(id=str(n), graph=f"g{n % 3}", speaker="Ada", text=f"Line\u2028{n}.") for n in range(1200)]
    async with MemoryClient(connection) as memory, serving(memory) as url, MemoryClient(url) as client:
        sent = [turn.id async for turn, _ in client.publish_many(turns, outcomes=outcomes)]
        assert sent == [turn.id for turn in turns]
        assert [orjson.loads(each.value)["id"] for each in connection.log] == sent
        async with httpx.AsyncClient(base_url=url) as http:
            metrics = (await http.get("/metrics")).text.splitlines()
    counts = [line for line in metrics if "_count{" in line and 'method="POST"' in line]
    assert sum(float(line.rpartition(" ")[2]) for line in counts) < 300, "at most every fourth turn has its own request"


async def test_a_refused_record_does_not_refuse_those_that_were_sent_with_it() -> None:
    connection = MemoryConnection(answered)
    keys = Keys([Caller(name="k", sha256=digest("k"), graphs=("ada",), rights=frozenset({"write"}))])
    async with (
        MemoryClient(connection) as memory,
        serving(memory, keys) as url,
        MemoryClient(url, key="k") as client,
    ):
        graphs = ("ada", "ben", "ada")
        sending = [client.record({**TURN, "id": str(n), "graph": graph}) for n, graph in enumerate(graphs)]
        first, second, third = await asyncio.gather(*sending, return_exceptions=True)
        assert isinstance(second, TransportError)
        assert "does not belong" in str(second) or "graph" in str(second)
        assert [getattr(each, "status", each) for each in (first, third)] == ["accepted", "accepted"]
