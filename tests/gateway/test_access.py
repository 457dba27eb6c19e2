"""No graph is reached with another's key, and no right exceeded: over all routes of HTTP and all tools of MCP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx2 as httpx
import orjson
import pytest
import pytest_asyncio
from hypothesis import example, given
from hypothesis import strategies as some

from emgas import MemoryClient
from emgas.messages.contents import Graphs, List, RecordedTurn, Turns
from emgas.messages.extracts import Extracted
from emgas.messages.forgetting import ForgetPreview
from emgas.messages.operator import Inspection
from emgas.messages.people import Profiled
from emgas.messages.pictures import Compared, Pictured
from emgas.messages.queries import Description
from emgas.messages.sessions import InMind
from emgas.messages.topics import ANSWER
from emgas.messages.views import Explored, Recapped, Recurring, Trended
from emgas.wire import SUBJECT
from gateway.app import application
from gateway.auth.access import CHAT
from gateway.auth.keys import RIGHTS, Caller, Keys, Rates, Right
from gateway.auth.new_keys import digest
from gateway.doors.chat import ChatModel
from gateway.doors.mcp_tools import mcp_server
from gateway.http.errors import TooOftenError
from tests.emgas.connections import POSITION, MemoryConnection, Sent, outcome, reply
from tests.support.clocks import PATIENCE
from tests.support.served import serving
from tests.verbs import READ_TURNS, VERBS, Verb

pytestmark = pytest.mark.asyncio(loop_scope="module")

TURN = {"id": "t1", "speaker": "Ada", "text": "The kettle broke."}


@dataclass(frozen=True)
class Call:
    """A request about the graph `G`; `rights` are those that it needs, there, in all graphs or in any (`anywhere`)."""

    method: str
    path: str
    body: Any
    rights: frozenset[Right]
    everywhere: bool = False
    anywhere: bool = False
    route: str | None = None  # as the document names it, where it is not the path
    done: tuple[int, ...] = (200, 201, 202)

    @property
    def kind(self) -> str:
        return str(self.body.get("kind", "")) if isinstance(self.body, dict) else ""

    def body_for(self, graph_id: str) -> bytes | None:
        return None if self.body is None else orjson.dumps(self.body).replace(b'"G"', orjson.dumps(graph_id))


def call(method: str, path: str, body: dict[str, Any] | None, *rights: Right) -> Call:
    return Call(method, path, body, frozenset(rights))


def tool(tool_name: str, right: Right, **arguments: Any) -> Call:
    params = {"name": tool_name, "arguments": {"graph": "G", **arguments}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return Call("POST", "/mcp", body, frozenset({right}))


def record(topic: str, message: dict[str, Any], *rights: Right) -> Call:
    return Call("POST", f"/v1/records/{topic}?key=G", {"graph": "G", **message}, frozenset(rights))


def calls_of(verb: Verb) -> Iterator[Call]:
    """Yield a message's record, and its request over the route that it declares."""
    if verb.message is List:  # a test of its own looks at what it lists
        return
    if verb.is_of_partition:
        path, is_of_operator = "/v1/records/queries?partition=0", verb.right == "admin"
        where = {"everywhere": is_of_operator, "anywhere": not is_of_operator}
        yield Call("POST", path, verb.value(), frozenset({verb.right}), **where)
        return
    yield record(verb.topic, verb.value(), verb.right)
    if verb.message.route is not None:
        method, path = verb.message.route.split(" ")
        body = None if method == "GET" else {"id": "i1", **verb.fields}
        parameters = f"?{verb.parameters}" if verb.parameters else ""
        stem, _, part = path.partition("/{")
        yield call(method, f"/v1/graphs/G{stem}{parameters}", body, verb.right)
        if part:  # its last part is a parameter, which may be left out
            route = f"/v1/graphs/{{graph}}{path}"
            yield Call(method, f"/v1/graphs/G{stem}/Ada", body, frozenset({verb.right}), route=route)


def mem0(method: str, path: str, right: Right, route: str | None = None, **body: Any) -> Call:
    return Call(method, path, body or None, frozenset({right}), route=route or path.partition("?")[0])


MESSAGES = [{"role": "user", "content": "The kettle broke."}]
TURN_OF_G = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "emgas://G/turns/t1"}}
THEMES = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "emgas://G/themes"}}
HOOKED = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "The kettle broke."}
QUERY = {"text": "what broke?", "after": 3, "only": {"sessions": ["s1"]}}
CALLS = [
    call("POST", "/v1/graphs/G/turns", TURN, "write"),
    call("POST", "/v1/graphs/G/turns/batch", {"turns": [TURN]}, "write"),
    Call("POST", "/v1/records/turns/batch", [{"graph": "G", **TURN}], frozenset({"write"})),
    call("POST", "/v1/graphs/G/import", {**TURN, "graph": "another"}, "write"),
    call("POST", "/v1/graphs/G/query", QUERY, "read"),
    call("POST", "/v1/graphs/G/query", {**QUERY, "reinforce": True}, "read", "write"),
    call("GET", "/v1/graphs/G/activation?text=kettle", None, "read"),
    call("POST", "/v1/query", {"graphs": ["G"], "text": "what broke?"}, "read"),
    Call("POST", "/v1/hooks/codex?graph=G", HOOKED, frozenset({"write"}), route="/v1/hooks/{host}"),
    Call("POST", "/v1/extract", READ_TURNS, frozenset({"read"}), anywhere=True),
    *(each for verb in VERBS for each in calls_of(verb)),
    record("queries", {"kind": "query", **QUERY, "reinforce": True}, "read", "write"),
    tool("remember", "write", text="The kettle broke."),
    tool("recall", "read", question="what broke?"),
    tool("profile", "read", name="Ada"),
    tool("forget", "forget", turns=["t1"]),
    tool("themes", "read"),
    tool("recap", "read"),
    tool("recent", "read"),
    tool("explore", "read", concept="kettle"),
    tool("read", "read"),
    tool("compare", "read", since="2025-01-01"),
    tool("configure", "admin", preset="forgetful"),
    tool("undo", "forget", first=1),
    tool("recall_several", "read", graphs=["G"], question="what broke?"),
    Call("POST", "/mcp", THEMES, frozenset({"read"})),
    Call("POST", "/mcp", TURN_OF_G, frozenset({"read"})),
    *(
        Call("DELETE", f"/v1/graphs/G{path}", None, frozenset({"forget"}), route=f"/v1/graphs/{{graph}}{route}")
        for path, route in [("/turns/t9", "/turns/{turn}"), ("/sessions/s9", "/sessions/{session}"), ("", "")]
    ),
    mem0("POST", "/v3/memories/add/", "write", messages=MESSAGES, user_id="G"),
    mem0("POST", "/v3/memories/add/", "write", messages=MESSAGES, filters={"AND": [{"user_id": "G"}, {"run_id": "r"}]}),
    mem0("POST", "/v3/memories/search/", "read", query="what broke?", filters={"user_id": "G"}),
    mem0("POST", "/v3/memories/", "read", filters={"user_id": "G", "agent_id": "a"}),
    mem0("GET", "/v1/memories/G~t1/", "read", "/v1/memories/{memory_id}/"),
    mem0("GET", "/v1/memories/G~t1/history/", "read", "/v1/memories/{memory_id}/history/"),
    mem0("DELETE", "/v1/memories/G~t1/", "forget", "/v1/memories/{memory_id}/"),
    mem0("DELETE", "/v1/memories/?user_id=G", "forget"),
    mem0("DELETE", "/v1/memories/?user_id=G&run_id=r", "forget"),
    mem0("DELETE", "/v2/entities/user/G/", "forget", "/v2/entities/{kind}/{name}/"),
    Call("POST", CHAT, {"messages": MESSAGES, "user": "G"}, frozenset({"read", "write"}), done=(502,)),
]
NOWHERE = ChatModel("http://127.0.0.1:1/v1")
IDS = [f"{each.method} {each.path} {each.kind}" for each in CALLS]
NAMES = ["ada", "ada2", "adam", "ben", "team-a", "team-b", "a", "Ada"]
PATTERNS = [*NAMES, "team-*", "a*", "ada*", "*", "z*"]
RECORDED = RecordedTurn(id="t1", session="main", speaker="Ada", role=None, text="The kettle broke.", at=0)
VIEWS: dict[str, Any] = {
    "read": Turns,
    "picture": Pictured,
    "compare": Compared,
    "recap": Recapped,
    "trend": Trended,
    "explore": Explored,
    "habits": Recurring,
    "recent": InMind,
    "profile": Profiled,
    "previewforget": ForgetPreview,
}
COUNTED = dict.fromkeys(("graphs", "turns", "concepts", "pairs", "topics", "forgotten"), 0)
OF_PARTITION = {
    "extract": Extracted(turns=[], card={}, changes=[], extractor="e"),
    **dict.fromkeys(("inspect", "checkpoint"), Inspection(position=POSITION, digest=None, **COUNTED)),
}
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-06-18",
}


def answered(sent: Sent) -> bytes:
    """Answer as a memory does that knows every graph."""
    message = orjson.loads(sent.value)
    match message.get("kind", "turn"):
        case "query":
            return reply(message["graph"])
        case "describe":
            return ANSWER.dump_json(Description(graph=message["graph"], found=True, position=POSITION))
        case kind if kind in VIEWS:
            more = {"turns": [RECORDED]} if message.get("ids") else {}
            return ANSWER.dump_json(VIEWS[kind](graph=message["graph"], found=True, position=POSITION, **more))
        case "list":
            listed = filter(List.model_validate(message).wants, sorted(NAMES[sent.partition :: 4]))
            return ANSWER.dump_json(Graphs(graphs=list(listed), position=POSITION))
        case "extract" | "inspect" | "checkpoint" as kind:
            return ANSWER.dump_json(OF_PARTITION[kind])
        case _:
            return outcome(message["id"])


@dataclass
class Door:
    """A gateway with keys, and the log behind it."""

    http: httpx.AsyncClient
    keys: Keys
    log: list[Sent]

    async def try_out(self, call: Call, graph_id: str, caller: Caller | None) -> tuple[httpx.Response, list[Sent]]:
        """Send a request with a new key of this caller's; return what came back, and what reached the log."""
        key = uuid4().hex
        if caller is not None:
            self.keys.add(caller.model_copy(update={"sha256": digest(key)}))
        self.log.clear()
        path = call.path.replace("/G", f"/{graph_id}").replace("=G", f"={graph_id}")
        content = call.body_for(graph_id)
        if content is not None:
            content = content.replace(b"//G/", f"//{graph_id}/".encode())
        headers = {**HEADERS, "Authorization": f"Bearer {key}"}
        response = await self.http.request(call.method, path, content=content, headers=headers)
        return response, list(self.log)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def door() -> AsyncIterator[Door]:
    connection, keys = MemoryConnection(answered), Keys([])
    async with (
        MemoryClient(connection) as memory,
        serving(memory, keys, NOWHERE, all_tools=True) as url,
        httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http,
    ):
        yield Door(http, keys, connection.log)


def is_allowed(caller: Caller, call: Call, graph_id: str) -> bool:
    """Say it again, in other words than the gateway's."""
    prefixes = [each[:-1] for each in caller.graphs if each[-1] == "*"]
    fits = graph_id in caller.graphs or any(graph_id.find(prefix) == 0 for prefix in prefixes)
    return call.rights <= caller.rights and (call.anywhere or ("*" in caller.graphs if call.everywhere else fits))


def was_refused(response: httpx.Response) -> bool:
    if response.status_code != 200 or "jsonrpc" not in response.text:
        return response.status_code == 403
    detail = response.json()
    return "error" in detail or bool(detail["result"].get("isError"))


@given(
    some.sampled_from(CALLS),
    some.sampled_from(NAMES),
    some.sets(some.sampled_from(PATTERNS), max_size=3),
    some.sets(some.sampled_from(sorted(RIGHTS))),
)
@example(CALLS[3], "ada", {"ada"}, {"read"})
@example(next(each for each in CALLS if each.everywhere), "ada", {"ada", "a*", "z*"}, {"admin"})
async def test_what_reaches_the_log_is_within_the_graphs_and_rights_of_the_key(
    door: Door, call: Call, graph_id: str, graphs: set[str], rights: set[Right]
) -> None:
    caller = Caller(name="somebody", graphs=tuple(graphs), rights=frozenset(rights))
    response, sent = await door.try_out(call, graph_id, caller)
    if is_allowed(caller, call, graph_id):
        assert response.status_code in call.done, response.text
        assert not was_refused(response), response.text
        assert len(sent) == 1
        assert call.everywhere or call.anywhere or orjson.loads(sent[0].value)["graph"] == graph_id
    else:
        assert was_refused(response), response.text
        assert sent == []


@pytest.mark.source("P44")
@pytest.mark.parametrize("call", CALLS, ids=IDS)
@pytest.mark.parametrize("claimed", [None, "böb"])
async def test_a_request_comes_on_behalf_of_its_key_unless_that_may_admin(
    door: Door, call: Call, claimed: str | None
) -> None:
    door.http.headers["Emgas-Subject"] = quote(claimed or "")
    door.http.headers["Emgas-Rights"] = "read"
    for rights, subject, at_most in ((RIGHTS - {"admin"}, "planner", "forget,read,write"), (RIGHTS, claimed, "read")):
        _, sent = await door.try_out(call, "ada", Caller(name="planner", graphs=("*",), rights=rights))
        assert [each.headers.get(SUBJECT, b"").decode() or None for each in sent] == [subject] * len(sent)
        assert [each.headers.get("rights", b"").decode() for each in sent] == [at_most] * len(sent)
        assert sent or "admin" in call.rights
    del door.http.headers["Emgas-Subject"], door.http.headers["Emgas-Rights"]


@pytest.mark.parametrize("call", CALLS, ids=IDS)
async def test_without_a_key_nothing_is_reached(door: Door, call: Call) -> None:
    response, sent = await door.try_out(call, "ada", None)
    assert (response.status_code, response.headers["www-authenticate"], sent) == (401, "Bearer", [])


PLAIN = [each for each in CALLS if each.path.startswith(("/v1/records/turns?", "/v1/records/queries?"))]


@pytest.mark.parametrize("call", PLAIN, ids=lambda call: str(call.body))
@pytest.mark.parametrize("key", ["ben", None])
async def test_a_record_goes_to_no_other_graph_than_it_names(door: Door, call: Call, key: str | None) -> None:
    if call.everywhere or call.anywhere:
        return
    both = Caller(name="both", graphs=("ada", "ben"), rights=RIGHTS)
    path = call.path.replace("?key=G", "" if key is None else f"?key={key}")
    response, sent = await door.try_out(Call("POST", path, call.body, call.rights), "ada", both)
    assert (response.status_code, sent) == (422, [])
    assert response.json()["detail"] == "key: must be the graph that the record names"


async def test_every_route_is_tried_here() -> None:
    app, _ = application(lambda: MemoryClient("kafka://nowhere:1"))
    tried = {
        (each.method.lower(), each.route or each.path.partition("?")[0].replace("/G", "/{graph}")) for each in CALLS
    }
    tried |= {("post", "/v1/records/{topic}"), ("get", "/v1/partitions")}  # the second tells a number, to any key
    # what these list, tests of their own look at
    tried |= {("get", "/v1/graphs"), ("get", "/v1/entities/"), ("get", "/v1/hooks")}
    tried |= {("get", "/v1/ping/"), ("get", "/v1/models")}  # these are about no graph
    routes = {(method, path) for path, methods in app.openapi()["paths"].items() for method in methods}
    assert routes <= tried


async def test_every_tool_is_tried_here() -> None:
    async def never() -> MemoryClient:
        raise AssertionError

    called = [each.body["params"] for each in CALLS if each.path == "/mcp" and each.body]
    tools = {each.name for each in await mcp_server(never, everything=True).list_tools()}
    assert tools == {each["name"] for each in called if "name" in each}


# a list of graphs


@given(some.sets(some.sampled_from(PATTERNS), max_size=3), some.sets(some.sampled_from(sorted(RIGHTS))))
async def test_a_key_sees_the_names_of_its_own_graphs_alone(door: Door, graphs: set[str], rights: set[Right]) -> None:
    caller = Caller(name="somebody", graphs=tuple(graphs), rights=frozenset(rights))
    own = sorted(name for name in NAMES if is_allowed(caller, call("GET", "", None), name))
    entities, _ = await door.try_out(Call("GET", "/v1/entities/", None, frozenset({"read"})), "ada", caller)
    assert [each["name"] for each in entities.json().get("results", [])] == (own if "read" in rights else [])
    listing = [Call("GET", "/v1/graphs", None, frozenset({"read"}))]
    pages = [f"/v1/records/queries?partition={partition}" for partition in range(4)]
    listing += [Call("POST", page, {"kind": "list"}, frozenset({"read"})) for page in pages]
    names = list[list[str]]()
    for each in listing:
        response, sent = await door.try_out(each, "ada", caller)
        assert (response.status_code, bool(sent)) == ((200, True) if "read" in rights else (403, False))
        names.append(response.json().get("graphs", []))
    if "read" in rights:
        assert names[0] == own
        assert sorted(name for page in names[1:] for name in page) == own


async def test_a_list_comes_in_pages(door: Door) -> None:
    caller = Caller(name="somebody", graphs=("*",), rights=RIGHTS)
    names, after = list[str](), ""
    while True:
        page, _ = await door.try_out(Call("GET", f"/v1/graphs?limit=3{after}", None, frozenset()), "ada", caller)
        names += page.json()["graphs"]
        if page.json()["next"] is None:
            break
        after = f"&after={page.json()['next']}"
    assert names == sorted(NAMES)


# a page of another site, in a browser on this machine


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 201),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:8088", "Origin": "http://evil.example:8088"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "Application/JSON; charset=utf-8"}, 201),
    ],
)
async def test_without_keys_no_page_of_another_site_is_served(headers: dict[str, str], status: int) -> None:
    connection = MemoryConnection(answered)
    async with MemoryClient(connection) as memory, serving(memory) as url, httpx.AsyncClient(base_url=url) as http:
        content, sent = orjson.dumps(TURN), {"Content-Type": "application/json", **headers}
        response = await http.post("/v1/graphs/ada/turns", content=content, headers=sent)
        assert (response.status_code, len(connection.log)) == (status, int(status == 201))
        page = await http.post("/v1/graphs/ada/turns", content=content, headers={**sent, "Origin": url})
        assert "Origin" in headers or page.status_code == status


# rates


async def test_a_key_may_ask_as_often_as_its_entry_says() -> None:
    now = 1000.0
    rates = Rates(lambda: now)
    often = Caller(name="often", per_minute=60)
    for _ in range(60):
        rates.count(often)
    with pytest.raises(TooOftenError, match="again in 1 s") as detail:
        rates.count(often)
    assert detail.value.headers == {"Retry-After": "1"}
    rates.count(Caller(name="another", per_minute=1))
    now += 1.0
    rates.count(often)
    with pytest.raises(TooOftenError):
        rates.count(often)
    now += 60.0
    for _ in range(60):
        rates.count(often)


async def test_a_key_that_is_used_up_waits_until_its_next_request_fits() -> None:
    now = 0.0
    rates = Rates(lambda: now)
    rare = Caller(name="rare", per_minute=2)
    for _ in range(2):
        rates.count(rare)
    with pytest.raises(TooOftenError, match="again in 30 s"):
        rates.count(rare)
    now += 30.0
    rates.count(rare)


async def test_too_many_requests_are_told_to_come_back(door: Door) -> None:
    key = uuid4().hex
    door.keys.add(Caller(name="slow", sha256=digest(key), graphs=("*",), rights=RIGHTS, per_minute=1))
    headers = {"Authorization": f"Bearer {key}"}
    assert (await door.http.get("/v1/graphs/ada", headers=headers)).status_code == 200
    response = await door.http.get("/v1/graphs/ada", headers=headers)
    assert (response.status_code, response.json()["code"]) == (429, "too-often")
    assert 1 <= int(response.headers["Retry-After"]) <= 60


@pytest.mark.parametrize("name", ["auth0|5f7c", "张伟", "Zoë", "team a/room 7", "100%2F?#&=+", "🐈"])
async def test_a_graph_of_any_name_has_its_path_and_keys_are_bound_to_it(name: str, tmp_path: Path) -> None:
    one = Keys([Caller(name="one", sha256=digest("one"), graphs=(name,), rights=RIGHTS)])
    key = {"Authorization": "Bearer one"}
    async with (
        MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory,
        serving(memory, one) as url,
        httpx.AsyncClient(base_url=url, headers=key) as http,
    ):
        path = f"/v1/graphs/{quote(name, safe='')}"
        turn = {"id": "t1", "speaker": "Ada", "text": "The red kettle whistles.", "at": "2023-05-08T14:00"}
        assert (await http.post(f"{path}/turns", json=turn)).status_code == 201
        reply = (await http.post(f"{path}/query", json={"text": "kettle"})).json()
        assert (reply["graph"], reply["passages"][0]["at"]) == (name, 1_683_554_400_000)
        assert (await http.get(path)).json()["graph"] == name
        assert (await http.get(f"{path}x")).status_code == 403
