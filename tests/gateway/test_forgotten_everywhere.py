"""What is forgotten is in no answer, view, export or picture, however it was said and through whichever door.

doors   POST …/forget and DELETE (HTTP; the page sends the first, turn by turn), MCP forget(about=…), emgas forget
views   every GET of a graph that the OpenAPI document has, queries, MCP, every command that reads a graph, files
"""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import networkx as nx  # type: ignore[import-untyped]
import orjson
import pytest
import pytest_asyncio

from emgas import MemoryClient
from emgas.messages.forgetting import PreviewForget
from emgas.messages.sessions import EndSession
from emgas.messages.views import Explore
from gateway.openapi import FILE
from replay.graph_export import to_networkx
from state.partition import Partition
from state.store.rocksdb import RocksStore
from tests.support.clocks import DAY, NOON
from tests.support.served import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")
SECRET = b"penicillin"
MCP = {"Accept": "application/json, text/event-stream"}
TEXTS = (
    "I am allergic to penicillin, so no antibiotics of that kind.",
    "The doctor found a penicillin-free cream for the rash.",
    "My sister Rosa lives in Porto.",
    "Rosa says Penicillin was found by Fleming.",
    "Penicillin! Again!",
    "Rosa brings the kettle from Porto.",
)
HABIT = tuple(f"Rosa takes penicillin and drinks a latte in Porto, week {week}." for week in range(8))
QUESTIONS = ("what am I allergic to?", "penicillin", "Rosa", "cream for the rash", "what does Rosa take?", "latte")
GETS = (
    "turns?limit=100",
    "turns?concept=penicillin",
    "picture?passages=50",
    "picture?around=Rosa&passages=50",
    "sessions",
    "sessions?limit=20",
    "recent",
    "recent?session=clinic",
    "activation?session=clinic",
    "trend?moods=true",
    "trend?text=Rosa",
    "habits",
    "people",
    "people/Ada",
    "people/Rosa",
    "concept?name=Rosa&hops=3",
    "",
)
ELSEWHERE = {"changes"}  # what was forgotten is a change: test_forgotten_past.py says who sees it


def turn(graph: str, number: int, text: str, session: str) -> dict[str, Any]:
    more = {"metadata": {"note": "about penicillin"}} if number == 2 and session == "clinic" else {}
    at = NOON + (7 * number + (0 if session == "clinic" else 1)) * DAY
    return {
        "graph": graph,
        "id": f"{session}{number}",
        "speaker": "Ada",
        "text": text,
        "session": session,
        "at": at,
        **more,
    }


def a_talk(graph: str) -> list[dict[str, Any]]:
    turns = [turn(graph, number, text, "clinic") for number, text in enumerate((*TEXTS, *HABIT))]
    turns += [turn(graph, number, f"The kettle is blue, says Rosa, {number}.", "main") for number in range(30)]
    return sorted(turns, key=lambda each: each["at"])


async def a_life(memory: MemoryClient, graph: str) -> None:
    for each in a_talk(graph):
        await memory.record(each)
    await memory.send(EndSession(graph=graph, session="clinic"))


def mentioned() -> list[str]:
    """List the ids of the turns that tell it, in their text or beside it."""
    return [each["id"] for each in a_talk("") if SECRET in orjson.dumps(each).lower()]


async def posted(http: httpx.AsyncClient, graph: str, **request: Any) -> str:
    """Forget by HTTP as the preview says; return what remains, as the answer tells."""
    preview = (await http.post(f"/v1/graphs/{graph}/forget?dry_run=true", json=request)).json()
    assert preview["total"] + preview["remains"] == len(a_talk(graph))
    done = (await http.post(f"/v1/graphs/{graph}/forget", json={**request, "expected": preview["total"]})).json()
    assert done["status"] == "accepted"
    assert f"{preview['remains']} turns left" in done["remains"]
    return str(done["remains"])


async def by_the_word(http: httpx.AsyncClient, graph: str) -> str:
    return await posted(http, graph, concepts=["penicillin"])


async def as_it_was_written(http: httpx.AsyncClient, graph: str) -> str:
    return await posted(http, graph, concepts=["Penicillin"])


async def by_its_conversation(http: httpx.AsyncClient, graph: str) -> str:
    return await posted(http, graph, sessions=["clinic"])


async def turn_by_turn_as_on_the_page(http: httpx.AsyncClient, graph: str) -> str:
    answers = [await http.post(f"/v1/graphs/{graph}/forget", json={"turns": [each]}) for each in mentioned()]
    assert all(answer.status_code == 200 for answer in answers)
    return str(answers[-1].json()["remains"])


async def by_deleting_turns(http: httpx.AsyncClient, graph: str) -> str:
    answers = [await http.delete(f"/v1/graphs/{graph}/turns/{each}") for each in mentioned()]
    assert all(answer.status_code == 200 for answer in answers)
    return str(answers[-1].json()["remains"])


async def by_deleting_its_conversation(http: httpx.AsyncClient, graph: str) -> str:
    return str((await http.delete(f"/v1/graphs/{graph}/sessions/clinic")).json()["remains"])


async def by_an_assistant(http: httpx.AsyncClient, graph: str) -> str:
    async def called(**arguments: Any) -> dict[str, Any]:
        answer = await http.post("/mcp", json=tool("forget", graph=graph, about="penicillin", **arguments), headers=MCP)
        told: dict[str, Any] = orjson.loads(answer.json()["result"]["content"][0]["text"])
        return told

    listed = await called()
    assert (listed["status"], listed["confirm"]) == ("unconfirmed", len(mentioned()))
    done = await called(confirm=listed["confirm"])
    assert done["status"] == "accepted"
    return str(done["remains"])


DOORS = (
    by_the_word,
    as_it_was_written,
    by_its_conversation,
    turn_by_turn_as_on_the_page,
    by_deleting_turns,
    by_deleting_its_conversation,
    by_an_assistant,
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def memory(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[MemoryClient, httpx.AsyncClient, Path]]:
    directory = tmp_path_factory.mktemp("memory")
    async with MemoryClient(f"embedded:{directory}") as opened, serving(opened, all_tools=True) as url:
        for graph in map(str, range(len(DOORS))):
            await a_life(opened, graph)
        async with httpx.AsyncClient(base_url=url, timeout=60) as http:
            yield opened, http, directory


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


async def shown(http: httpx.AsyncClient, graph: str) -> AsyncIterator[tuple[str, bytes]]:
    """Ask for everything that the gateway shows of a graph, but for the question itself."""
    for path in GETS:
        answer = await http.get(f"/v1/graphs/{graph}/{path}".rstrip("/"))
        if answer.status_code != 404:
            yield path, answer.content
    for text in QUESTIONS:
        for options in ({}, {"memory": "semantic"}, {"explain": True, "budget": 4000}):
            answer = await http.post(f"/v1/graphs/{graph}/query", json={"text": text, **options})
            yield f"query {text}", orjson.dumps({k: v for k, v in answer.json().items() if k != "query"})
    for call in (tool("themes", graph=graph), tool("read", graph=graph, limit=100), tool("recent", graph=graph)):
        yield f"MCP {call['params']['name']}", (await http.post("/mcp", json=call, headers=MCP)).content


async def in_files(directory: Path, graph: str, tmp_path: Path) -> AsyncIterator[tuple[str, bytes]]:
    """Export the graph as it is stored, as `emgas export` does."""
    for store in sorted((directory / "embedded").glob("*/partitions/*")):
        copy = tmp_path / store.name
        shutil.copytree(store, copy)
        found = Partition(RocksStore(copy)).graph(graph)
        if found is not None:
            file = io.BytesIO()
            nx.write_graphml(to_networkx(found, passages=True), file)
            yield "export", file.getvalue()


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
async def test_what_is_forgotten_is_shown_nowhere(
    door: Callable[[httpx.AsyncClient, str], Awaitable[str]],
    memory: tuple[MemoryClient, httpx.AsyncClient, Path],
    tmp_path: Path,
) -> None:
    _, http, directory = memory
    graph = str(DOORS.index(door))
    before = [path async for path, answer in shown(http, graph) if SECRET in answer.lower()]
    assert {"turns?limit=100", "picture?passages=50", "people/Ada", "MCP read"} <= set(before), "else nothing is tested"
    remains = await door(http, graph)
    left = (await http.get(f"/v1/graphs/{graph}")).json()["turns"]
    assert f"{left} turns left" in remains
    for path, answer in [each async for each in shown(http, graph)]:
        assert SECRET not in answer.lower(), path
    async for path, answer in in_files(directory, graph, tmp_path):
        assert SECRET not in answer.lower(), path


async def test_every_view_of_a_graph_is_looked_at() -> None:
    views = {
        path.removeprefix("/v1/graphs/{graph}").removeprefix("/").split("/")[0]
        for path, methods in orjson.loads(FILE.read_bytes())["paths"].items()
        if "get" in methods and path.startswith("/v1/graphs/{graph}")
    }
    assert views - ELSEWHERE == {re.split(r"[/?]", path)[0] for path in GETS}


async def test_a_graph_that_forgot_everything_leaves_the_list_until_it_is_written_to(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}") as memory:
        await memory.record(turn("ada", 0, "The kettle is blue.", "main"))
        await memory.record(turn("ben", 0, "The kettle is red.", "main"))
        await memory.forget("ada", everything=True)
        assert await memory.graphs() == ["ben"]
        assert (await memory.describe("ada")).found
    async with MemoryClient(f"embedded:{tmp_path}") as memory:
        assert await memory.graphs() == ["ben"]
        await memory.record(turn("ada", 1, "The kettle is green.", "main"))
        assert await memory.graphs() == ["ada", "ben"]


async def test_the_word_alone_is_forgotten_and_turns_that_say_more_stay(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}") as memory:
        await memory.record(turn("ada", 0, "The kettle is blue.", "main"))
        preview = await memory.send(PreviewForget(graph="ada", concepts=["kettle"], word_only=True))
        assert (preview.total, preview.concepts, preview.remains) == (0, 1, 1)
        outcome = await memory.forget("ada", ["kettle"], word_only=True)
        assert "0 turns forgotten, 1 turn left" in (outcome.remains or "")
        assert [each.id for each in (await memory.turns("ada")).turns] == ["main0"]
        assert not (await memory.send(Explore(graph="ada", concept="kettle"))).concept


async def test_several_words_forget_the_turns_that_mention_them_all(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}") as memory:
        for number, text in enumerate(("The blue kettle sings.", "The kettle is old.", "A blue door.")):
            await memory.record(turn("ada", number, text, "main"))
        preview = await memory.send(PreviewForget(graph="ada", concepts=["blue kettle"]))
        assert [each.id for each in preview.turns] == ["main0"]
        assert (await memory.forget("ada", ["blue kettle"], expected=2)).status == "rejected"
        assert (await memory.forget("ada", ["blue kettle"], expected=1)).status == "accepted"
        assert [each.id for each in (await memory.turns("ada")).turns] == ["main1", "main2"]
