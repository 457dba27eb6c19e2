"""What is forgotten is in no answer, view, export or picture, however it was said and whichever way it is forgotten."""

from __future__ import annotations

import io
import shutil
from collections.abc import AsyncIterator
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
from replay.graph_export import to_networkx
from state.partition import Partition
from state.store.rocksdb import RocksStore
from tests.support.clocks import DAY, NOON
from tests.support.served import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")
SECRET = b"penicillin"
TEXTS = (
    "I am allergic to penicillin, so no antibiotics of that kind.",
    "The doctor found a penicillin-free cream for the rash.",
    "My sister Rosa lives in Porto.",
    "Rosa says Penicillin was found by Fleming.",
    "Penicillin! Again!",
    "Rosa brings the kettle from Porto.",
)
HABIT = tuple(f"Rosa takes penicillin and drinks a latte in Porto, week {week}." for week in range(8))
WAYS: dict[str, dict[str, Any]] = {
    "the word": {"concepts": ["penicillin"]},
    "as it was written": {"concepts": ["Penicillin"]},
    "a conversation": {"sessions": ["clinic"]},
}
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
    "trend?moods=true",
    "trend?text=Rosa",
    "habits",
    "concept?name=Rosa&hops=3",
    "",
)


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


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def memory(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[MemoryClient, httpx.AsyncClient, Path]]:
    directory = tmp_path_factory.mktemp("memory")
    async with MemoryClient(f"embedded:{directory}") as opened, serving(opened, all_tools=True) as url:
        for graph in map(str, range(len(WAYS))):
            turns = [turn(graph, number, text, "clinic") for number, text in enumerate((*TEXTS, *HABIT))]
            turns += [turn(graph, number, f"The kettle is blue, says Rosa, {number}.", "main") for number in range(30)]
            for each in sorted(turns, key=lambda each: each["at"]):
                await opened.record(each)
            await opened.send(EndSession(graph=graph, session="clinic"))
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
    headers = {"Accept": "application/json, text/event-stream"}
    for call in (tool("themes", graph=graph), tool("read", graph=graph, limit=100), tool("recent", graph=graph)):
        yield f"MCP {call['params']['name']}", (await http.post("/mcp", json=call, headers=headers)).content


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


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_forgotten_is_shown_nowhere(
    way: str, memory: tuple[MemoryClient, httpx.AsyncClient, Path], tmp_path: Path
) -> None:
    _, http, directory = memory
    graph, request = str(list(WAYS).index(way)), WAYS[way]
    before = [path async for path, answer in shown(http, graph) if SECRET in answer.lower()]
    assert {"turns?limit=100", "picture?passages=50", "MCP read"} <= set(before), "else the test shows nothing"
    preview = (await http.post(f"/v1/graphs/{graph}/forget?dry_run=true", json=request)).json()
    assert preview["total"] + preview["remains"] == len(TEXTS) + len(HABIT) + 30
    done = (await http.post(f"/v1/graphs/{graph}/forget", json={**request, "expected": preview["total"]})).json()
    assert done["status"] == "accepted"
    assert f"{preview['remains']} turns left" in done["remains"]
    for path, answer in [each async for each in shown(http, graph)]:
        assert SECRET not in answer.lower(), path
    async for path, answer in in_files(directory, graph, tmp_path):
        assert SECRET not in answer.lower(), path


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
