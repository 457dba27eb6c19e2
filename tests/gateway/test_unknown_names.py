"""An answer names what the gateway or a memory does not know, and says what to do; it reveals no other name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2 as httpx
import pytest
import pytest_asyncio

from emgas import MemoryClient
from gateway.auth.keys import RIGHTS, Caller, Keys
from gateway.auth.new_keys import digest
from gateway.routes.examples import TURN
from tests.support.clocks import PATIENCE
from tests.support.served import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")
QUESTION = {"text": "what did the vet prescribe?"}
KEYS = {"all": ("*",), "team": ("team-*",)}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    """Serve a memory with the graph `ada`, to a key for all graphs and one for others."""
    callers = [Caller(name=key, sha256=digest(key), graphs=graphs, rights=RIGHTS) for key, graphs in KEYS.items()]
    data = tmp_path_factory.mktemp("memory")
    async with (
        MemoryClient(f"embedded:{data}", timeout=PATIENCE) as memory,
        serving(memory, Keys(callers)) as url,
        httpx.AsyncClient(base_url=url, headers={"Authorization": "Bearer all"}, timeout=PATIENCE) as http,
    ):
        await memory.record({**TURN, "graph": "ada"})
        yield http


def problem(response: httpx.Response) -> tuple[int, str, str]:
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    return response.status_code, body["code"], body["detail"]


@pytest.mark.parametrize(
    ("path", "named", "advice"),
    [
        ("/v1/graphs?limti=4", "limti", "(known: after, limit): did you mean limit?"),
        ("/v1/graphs?limit=4&zzzz=4", "zzzz", "(known: after, limit): remove it"),
        ("/v1/graphs?%1b%5b31m=4", "\\u001b[31m", "(known: after, limit): remove it"),
        (f"/v1/graphs?{'x' * 99}=4", f"{'x' * 40}…", "(known: after, limit): remove it"),
        ("/v1/graphs/ada/people/Ada?as_off=4", "as_off", "(known: as_of, limit): did you mean as_of?"),
        ("/v1/graphs/ada/people/Ada?name=Ben", "name", "(known: as_of, limit): remove it"),  # it is in the path
        ("/v1/partitions?limit=4", "limit", "(known: none): remove it"),
    ],
)
async def test_an_unknown_parameter_is_named_with_the_one_that_may_be_meant(
    path: str, named: str, advice: str, http: httpx.AsyncClient
) -> None:
    status, code, message = problem(await http.get(path))
    assert (status, code) == (422, "invalid")
    assert message.startswith(f"query: {named} is not a known parameter {advice}")


async def test_an_unknown_concept_is_not_taken_for_an_unknown_graph(http: httpx.AsyncClient) -> None:
    status, code, message = problem(await http.get("/v1/graphs/ada/concept?name=submarine"))
    assert (status, code) == (404, "unknown-concept")
    assert message.startswith("this graph has no such concept")
    assert "GET …/picture" in message, "it says what to do"
    assert "submarine" not in message, "no problem repeats what was sent"
    known = (await http.get("/v1/graphs/ada/picture")).json()["concepts"]["labels"][0]
    assert (await http.get("/v1/graphs/ada/concept", params={"name": known})).is_success


@pytest.mark.parametrize("path", ["concept?name=vet", "turns", "picture", "people", "trend"])
async def test_an_unknown_graph_is_a_404_that_says_what_to_do(path: str, http: httpx.AsyncClient) -> None:
    status, code, message = problem(await http.get(f"/v1/graphs/zoe/{path}"))
    assert (status, code) == (404, "unknown-graph")
    assert "GET /v1/graphs" in message


async def test_a_query_of_an_unknown_graph_says_that_there_is_none(http: httpx.AsyncClient) -> None:
    replies: list[dict[str, Any]] = []
    for graph, text in [("zoe", QUESTION["text"]), ("ada", "who won the cup?"), ("ada", QUESTION["text"])]:
        response = await http.post(f"/v1/graphs/{graph}/query", json={"text": text})
        assert response.status_code == 200
        replies.append(response.json())
    unknown, unanswered, answered = replies
    assert (unknown["found"], unknown["matched"], unknown["passages"]) == (False, False, [])
    assert unknown["note"].startswith("There is no such graph")
    assert (unanswered["found"], unanswered["note"]) == (True, "Nothing in this memory answers that.")
    assert "note" not in answered


async def test_a_live_answer_of_an_unknown_graph_says_that_there_is_none(http: httpx.AsyncClient) -> None:
    response = await http.get("/v1/graphs/zoe/activation?text=vet")
    assert response.status_code == 200
    assert '"note": "There is no such graph' in response.text
    assert "note" not in (await http.get("/v1/graphs/ada/activation?text=vet")).text


async def test_a_key_cannot_tell_an_unknown_graph_from_one_of_others(http: httpx.AsyncClient) -> None:
    key = {"Authorization": "Bearer team"}
    answers = [await http.post(f"/v1/graphs/{graph}/query", json=QUESTION, headers=key) for graph in ("ada", "zoe")]
    assert [each.status_code for each in answers] == [403, 403]
    assert answers[0].content == answers[1].content
