"""The memory as an MCP server, by the official client: in this process, over stdio, and over HTTP with keys."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import orjson
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from emgas import MemoryClient
from gateway.auth.keys import Caller, Keys
from gateway.auth.new_keys import digest
from gateway.doors.mcp_tools import mcp_server
from tests.support.cli import COMMAND, environment
from tests.support.clocks import PATIENCE
from tests.support.served import serving

MODES = ["auto", "legacy"]
ARGUMENTS = {"text": "The vet prescribed ear drops.", "speaker": "Ada", "id": "t1"}


@asynccontextmanager
async def connected(data: Path, mode: str = "auto", **options: Any) -> AsyncIterator[Client]:
    async with MemoryClient(f"embedded:{data}", timeout=PATIENCE) as memory:

        async def opened() -> MemoryClient:
            return memory

        elicits = options.pop("elicitation_callback", None)
        server = mcp_server(opened, **options)
        async with Client(server, mode=mode, elicitation_callback=elicits) as client:  # type: ignore[arg-type]
            yield client


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool; return its result, or the sentence of its refusal.  Of `recall`, the text is the context."""
    result = await client.call_tool(tool, arguments)
    (block,) = result.content
    text: str = block.text  # type: ignore[union-attr]
    if result.is_error:
        return text
    return orjson.loads(text) if result.structured_content is None else {"context": text, **result.structured_content}


@pytest.mark.source("H15")
@pytest.mark.parametrize("mode", MODES)
async def test_what_was_remembered_is_recalled_described_and_forgotten(tmp_path: Path, mode: str) -> None:
    async with connected(tmp_path, mode) as client:
        assert (await call(client, "remember", graph="ada", **ARGUMENTS))["status"] == "accepted"
        assert (await call(client, "remember", graph="ada", **ARGUMENTS))["status"] == "duplicate"
        reply = await call(client, "recall", graph="ada", question="what did the vet prescribe?")
        assert reply["found"]
        assert [passage["id"] for passage in reply["passages"]] == ["t1"]
        assert "ear drops" in reply["context"]
        assert (await call(client, "themes", graph="ada"))["turns"] == 1
        assert (await call(client, "forget", graph="ada", turns=["t1"]))["status"] == "accepted"
        assert (await call(client, "recall", graph="ada", question="what did the vet prescribe?"))["passages"] == []


async def test_filters_and_times_reach_the_memory(tmp_path: Path) -> None:
    async with connected(tmp_path, everything=True) as client:
        for number, (speaker, what) in enumerate([("Ada", "drops"), ("Ben", "drops"), ("Ada", "pills")]):
            at = 1_683_500_000_000 + (number + 1) * 86_400_000
            turn = {"text": f"The vet prescribed {what}.", "speaker": speaker, "at": at, "id": f"t{number}"}
            await call(client, "remember", graph="ada", **turn)

        async def ids(**only: Any) -> set[str]:
            reply = await call(client, "recall", graph="ada", question="vet", **only)
            return {passage["id"] for passage in reply["passages"]}

        assert await ids(speakers=["Ada"]) == {"t0", "t2"}
        assert await ids(since="2023-05-09T12:00") == {"t1", "t2"}
        assert await ids(until="2023-05-09T12:00") == {"t0"}
        assert await ids(as_of="2023-05-10T12:00") == {"t0", "t1"}
        assert (await call(client, "recall", graph="ada", question="vet", budget=0))["context"] == ""
        there = {"text": "The vet is ill.", "at": "2023-05-12T01:00", "timezone": "Asia/Shanghai", "id": "t3"}
        await call(client, "remember", graph="ada", **there)
        reply = await call(client, "recall", graph="ada", question="vet ill", explain=True, until="2023-05-11T18:00")
        assert reply["passages"][0]["at"] == 1_683_824_400_000
        assert reply["passages"][0]["why"]["terms"]
        assert reply["how"]["mode"] == "default"
        extra: dict[str, Any] = {"mode": "ppr", "weighting": "npmi", "guidance": {"depth": 0.0}}
        how = (await call(client, "recall", graph="ada", question="vet", **extra))["how"]
        assert (how["mode"], how["weighting"], how["guidance"]["depth"]) == ("ppr", "npmi", 0.0)


async def test_tools_tell_what_they_do(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        hints = {name: tool.annotations for name, tool in tools.items()}
        assert set(tools) == USUAL
        assert all(hint is not None for hint in hints.values())
        assert {name for name, hint in hints.items() if hint and hint.read_only_hint} == READING
        assert {name for name, hint in hints.items() if hint and hint.destructive_hint} == {"forget"}
        assert all("graph" in tool.input_schema["required"] for tool in tools.values())
        assert all(tool.description and tool.output_schema is None for tool in tools.values())
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["recollect"]
        reply = await client.get_prompt("recollect", {"question": "what broke?", "graph": "ada"})
        assert "what broke?" in reply.messages[0].content.text  # type: ignore[union-attr]
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["emgas://{graph}/themes", "emgas://{graph}/turns/{id}"]


@pytest.mark.parametrize("mode", MODES)
async def test_the_usual_tools_take_no_more_than_1500_tokens_of_a_prompt(tmp_path: Path, mode: str) -> None:
    """Approximated as a quarter of the characters, as is usual for JSON in English."""
    async with connected(tmp_path, mode) as client:
        tools = (await client.list_tools()).model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]
        assert len(orjson.dumps(tools)) / 4 <= 1500


async def test_an_answer_says_nothing_twice(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        await call(client, "remember", graph="ada", **ARGUMENTS)
        result = await client.call_tool("recall", {"graph": "ada", "question": "what did the vet prescribe?"})
        assert "ear drops" in result.content[0].text  # type: ignore[union-attr]
        assert "context" not in (result.structured_content or {})
        for tool in ("profile", "themes", "recap"):
            result = await client.call_tool(tool, {"graph": "ada"})
            assert (len(result.content), result.structured_content) == (1, None)


@pytest.mark.parametrize("graph", ["ada", "nobody-yet"])
async def test_where_nothing_answers_one_sentence_says_so(tmp_path: Path, graph: str) -> None:
    async with connected(tmp_path) as client:
        await call(client, "remember", graph="ada", **ARGUMENTS)
        reply = await call(client, "recall", graph=graph, question="which guitar strings does the plumber prefer?")
        assert (reply["context"], reply["passages"]) == ("Nothing in this memory answers that.", [])


async def test_a_recap_tells_of_the_latest_conversations(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        for number in range(3):
            turn = {**ARGUMENTS, "id": f"r{number}", "session": f"s{number}"}
            await call(client, "remember", graph="ada", **turn)
        sessions = (await call(client, "recap", graph="ada", limit=2))["sessions"]
        assert len(sessions) == 2
        assert "ear drops" in sessions[0]["summary"][0]["text"]


READING = {"recall", "profile", "recap", "themes"}
USUAL = READING | {"remember", "forget"}
MORE = {"recent", "explore", "read", "compare", "configure", "undo"}


@pytest.mark.source("H15")
async def test_all_tools_look_around_as_well(tmp_path: Path) -> None:
    async with connected(tmp_path, everything=True) as client:
        tools = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
        assert set(tools) == USUAL | MORE | {"recall_several"}
        reads = {name for name, hint in tools.items() if hint and hint.read_only_hint}
        assert reads == READING | {"recall_several", "recent", "explore", "read", "compare"}
        assert {name for name, hint in tools.items() if hint and hint.destructive_hint} == {"forget", "undo"}
        await call(client, "remember", graph="ada", text="Tea is served with a lemon.", id="t0")
        await call(client, "remember", graph="ada", **ARGUMENTS, session="monday")
        await call(client, "remember", graph="ben", text="The vet is in Lisbon.", id="t2")
        mind = await call(client, "recent", graph="ada")
        assert (mind["session"], [turn["id"] for turn in mind["turns"]]) == ("monday", ["t1"])
        vet = await call(client, "explore", graph="ada", concept="vet", to="drops")
        assert vet["concept"]["label"] == "vet"
        assert {"ear", "drops", "prescribed"} <= {each["label"] for each in vet["neighbours"]}
        assert vet["turns"] == ["t1"]
        for name, text in (("b0", "I live in Lisbon."), ("b1", "Lisbon is part of Portugal.")):
            await call(client, "remember", graph="cyd", text=text, speaker="Cyd", id=name, importance=0.9)
        knowledge = await call(client, "recall", graph="cyd", question="Where do I live?", kind="semantic", asker="Cyd")
        assert [(each["type"], each["target_label"]) for each in knowledge["relations"]] == [("lives-in", "Lisbon")]
        infer = await call(client, "explore", graph="cyd", concept="Cyd", relation="lives-in", hops=3)
        assert [(each["label"], each["confidence"]) for each in infer["inferred"]] == [
            ("Lisbon", 1.0),
            ("Portugal", 0.5),
        ]
        reply = await call(client, "recall_several", graphs=["ada", "ben", "nobody"], question="what of the vet?")
        assert ("ada", "t1") in {(each["graph"], each["id"]) for each in reply["passages"]}
        assert [(each["graph"], each["found"]) for each in reply["graphs"]] == [
            *(("ada", True), ("ben", True), ("nobody", False))
        ]
        assert all(call in reply["context"] for call in ("# ada", "ear drops", "# ben", "Lisbon"))


async def test_a_pinned_server_asks_for_no_graph_and_knows_no_other(tmp_path: Path) -> None:
    async with connected(tmp_path, graph_id="ada", everything=True) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == USUAL | MORE
        assert not any("graph" in tool.input_schema["properties"] for tool in tools.values())
        await call(client, "remember", **ARGUMENTS)
        await call(client, "remember", graph="ben", **{**ARGUMENTS, "id": "t2"})  # what no schema names is not heard
        assert (await call(client, "themes"))["turns"] == 2
        with pytest.raises(MCPError, match="this server serves one graph only"):
            await client.read_resource("emgas://ben/themes")
        page = await call(client, "read", limit=1)
        assert (page["total"], [turn["id"] for turn in page["turns"]]) == (2, ["t2"])
        changed = await call(client, "compare", since="2020-01-01")
        assert changed["added"] == [ARGUMENTS["id"], "t2"]
        assert changed["born"]
        assert (await call(client, "configure", preset="forgetful"))["status"] == "accepted"
        assert (await call(client, "undo", first=1))["status"] == "accepted"


@pytest.mark.parametrize("tool", ["remember", "recall", "forget", "themes"])
async def test_a_graph_that_cannot_be_is_refused_with_our_sentence_and_not_repeated(tool: str, tmp_path: Path) -> None:
    needed = {"remember": {"text": "x"}, "recall": {"question": "x"}}.get(tool, {})
    async with connected(tmp_path) as client:
        for bad in ("../../etc/passwd", "a private remark ", ""):
            reply = await call(client, tool, graph=bad, **needed)
            assert "graph: must be 1 to 128 printable" in reply
            assert not bad or bad not in reply
            assert "pydantic" not in reply


async def test_a_refusal_is_told_in_the_words_of_the_memory(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        await call(client, "remember", graph="ada", **ARGUMENTS)
        again = await call(client, "remember", graph="ada", **{**ARGUMENTS, "text": "Another text."})
        assert (again["status"], "with another text: use a new id" in again["reason"]) == ("rejected", True)
        assert "write it as 2023-05-08" in await call(client, "recall", graph="ada", question="x", as_of="some day")
        secret = "a private remark"
        assert secret not in await call(client, "recall", graph="ada", question=[secret])
        assert secret not in await call(client, "remember", graph="ada", text="x", at=secret)


async def test_the_themes_of_a_graph_are_a_resource(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        await call(client, "remember", graph="ada", **ARGUMENTS)
        resource = await client.read_resource("emgas://ada/themes")
        assert '"turns":1' in resource.contents[0].text  # type: ignore[union-attr]
        turn = await client.read_resource("emgas://ada/turns/t1")
        assert '"text":"The vet prescribed ear drops."' in turn.contents[0].text  # type: ignore[union-attr]
        for bad in ("emgas://nobody/themes", "emgas://a%20b/themes", "emgas://ada/turns/t9", "emgas://nobody/turns/t1"):
            with pytest.raises(MCPError):
                await client.read_resource(bad)


YES, NO = {"forget": True}, {"forget": False}


@pytest.mark.parametrize(("action", "content", "left"), [("accept", YES, 0), ("accept", NO, 1), ("decline", None, 1)])
@pytest.mark.parametrize("mode", MODES)
async def test_where_a_person_can_be_asked_forgetting_is_confirmed(
    action: Any, content: dict[str, Any] | None, left: int, mode: str, tmp_path: Path
) -> None:
    extra: list[str] = []

    async def answer(_: Any, params: Any) -> ElicitResult:
        extra.append(params.message)
        return ElicitResult(action=action, content=content)

    async with connected(tmp_path, mode, elicitation_callback=answer) as client:
        await call(client, "remember", graph="ada", **ARGUMENTS)
        await call(client, "forget", graph="ada", turns=["t1"])
        assert extra == ["Forget 1 turns and keep 0?\n- Ada: The vet prescribed ear drops."]
        reply = await call(client, "recall", graph="ada", question="vet")
        assert len(reply["passages"]) == left


@pytest.mark.parametrize("mode", MODES)
async def test_a_program_that_cannot_ask_gets_a_list_and_confirms_its_number(mode: str, tmp_path: Path) -> None:
    async with connected(tmp_path, mode) as client:
        await call(client, "remember", graph="ada", **ARGUMENTS)
        await call(client, "remember", graph="ada", text="The kettle is blue.", id="t2")
        listed = await call(client, "forget", graph="ada", about="vet")
        assert (listed["status"], listed["confirm"]) == ("unconfirmed", 1)
        assert [turn["text"] for turn in listed["turns"]] == ["The vet prescribed ear drops."]
        assert (await call(client, "recall", graph="ada", question="vet"))["passages"], "nothing is forgotten yet"
        refused = await call(client, "forget", graph="ada", about="vet", confirm=2)
        assert refused["status"] == "rejected"
        done = await call(client, "forget", graph="ada", about="vet", confirm=1)
        assert done["status"] == "accepted"
        assert "1 turn left in ada" in done["remains"]
        assert not (await call(client, "recall", graph="ada", question="vet"))["passages"]
        assert "no turn mentions this" in await call(client, "forget", graph="ada", about="vet")


# other ways to it


async def test_a_child_over_stdio_keeps_a_memory(tmp_path: Path) -> None:
    program, *arguments = (*COMMAND, "mcp", "--graph", "ada")
    child = StdioServerParameters(command=program, args=arguments, env=environment(tmp_path, partitions="2"))
    for status in ("accepted", "duplicate"):  # two lives of the server, one memory
        async with Client(child) as client:
            assert (await call(client, "remember", **ARGUMENTS))["status"] == status
            assert "ear drops" in (await call(client, "recall", question="what did the vet prescribe?"))["context"]


async def test_a_child_whose_memory_cannot_be_opened_says_why(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE):
        program, *arguments = (*COMMAND, "mcp")
        child = StdioServerParameters(command=program, args=arguments, env=environment(tmp_path))
        async with Client(child) as client:
            reply = await call(client, "themes", graph="ada")
            assert "uses the data directory" in reply


async def test_over_http_a_key_opens_its_graphs_and_rights_and_no_more(tmp_path: Path) -> None:
    caller = Caller(name="app", sha256=digest("secret"), graphs=("ada",), rights=frozenset({"read", "write"}))
    async with (
        MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory,
        serving(memory, Keys([caller])) as url,
        httpx.AsyncClient(headers={"Authorization": "Bearer secret"}, timeout=PATIENCE) as http,
    ):
        async with Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client:
            assert (await call(client, "remember", graph="ada", **ARGUMENTS))["status"] == "accepted"
            assert "ear drops" in (await call(client, "recall", graph="ada", question="vet"))["context"]
            assert "does not belong to this graph" in await call(client, "recall", graph="ben", question="vet")
            assert "lacks the right to forget" in await call(client, "forget", graph="ada", turns=["t1"])
            with pytest.raises(MCPError, match="does not belong to this graph"):
                await client.read_resource("emgas://ben/themes")
        response = await httpx.AsyncClient().post(f"{url}/mcp", json={})
        assert response.status_code == 401


async def test_of_several_graphs_a_key_hears_its_own(tmp_path: Path) -> None:
    caller = Caller(name="app", sha256=digest("secret"), graphs=("ada",), rights=frozenset({"read", "write"}))
    async with (
        MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory,
        serving(memory, Keys([caller]), all_tools=True) as url,
        httpx.AsyncClient(headers={"Authorization": "Bearer secret"}, timeout=PATIENCE) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        for graph in ("ada", "ben"):
            await memory.record({"id": "t1", "graph": graph, "speaker": "Ada", "text": f"The vet saw {graph}."})
        reply = await call(client, "recall_several", graphs=["ben", "ada"], question="whom did the vet see?")
        assert [each["graph"] for each in reply["passages"]] == ["ada"]
        assert [each["failure"] and each["failure"]["code"] for each in reply["graphs"]] == ["forbidden", None]
        assert "does not belong" in await call(client, "recall_several", graphs=["ben"], question="whom did he see?")
        assert "does not belong" in await call(client, "recent", graph="ben")
        assert "does not belong" in await call(client, "explore", graph="ben", concept="vet")
