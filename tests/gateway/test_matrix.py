"""The authorisation matrix: every route, MCP tool, resource and record kind, asked by every kind of caller.

    rows     generated from the application: a surface without a row in ROWS fails `test_every_surface_has_a_row`
    callers  no key, an unknown one, another graph's, each right alone, granted (all, or one right), not granted

A cell asserts on all bytes of the response, headers too: no name or text of a graph that the caller may not read.
`pytest -rP` prints the number of cells.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import httpx2 as httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from emgas import MemoryClient
from emgas.messages.rights import Grant
from emgas.messages.topics import COMMANDS, QUESTIONS
from gateway.app import application
from gateway.auth.keys import RIGHTS, Caller, Keys
from gateway.auth.new_keys import digest
from gateway.doors.chat import ChatModel
from tests.gateway.test_access import CALLS, HEADERS, Call, was_refused
from tests.support.served import listening, serving

# What is about no graph, or lists several: any key with `rights` opens it.
LISTS = [
    Call("GET", "/v1/graphs?limit=1", None, frozenset({"read"})),
    Call("GET", "/v1/graphs?after=a", None, frozenset({"read"})),
    Call("GET", "/v1/hooks?limit=1", None, frozenset({"read"})),
    Call("GET", "/v1/entities/", None, frozenset({"read"})),
    Call("GET", "/v1/entities/?page_size=1", None, frozenset({"read"})),
    *(
        Call("POST", f"/v1/records/queries?partition={place}", {"kind": "list", **page}, frozenset({"read"}))
        for place in range(8)
        for page in ({}, {"limit": 1}, {"limit": 1, "after": "m"})
    ),
]
FREE = [Call("GET", path, None, frozenset()) for path in ("/v1/ping/", "/v1/partitions", "/v1/models", "/metrics")]
PUBLIC = [
    Call("GET", path, None, frozenset(), route=route)
    for path, route in [
        ("/", None),
        ("/page/main.js", "/page/{name}"),
        *((path, None) for path in ("/docs", "/docs.css", "/icon.svg", "/openapi.json", "/healthz", "/readyz")),
    ]
]
LISTING = {"jsonrpc": "2.0", "id": 1, "params": {}}
PROMPT = {"name": "recollect", "arguments": {"question": "what?", "graph": "G"}}
FREE += [
    Call("POST", "/mcp", {**LISTING, "method": method}, frozenset())
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
]
FREE.append(Call("POST", "/mcp", {**LISTING, "method": "prompts/get", "params": PROMPT}, frozenset()))
ROWS = [*CALLS, *LISTS, *FREE, *PUBLIC]


@dataclass(frozen=True)
class Role:
    """A caller: `opens` says of which graph its key is, `grants` what that graph granted; None: it grants nothing."""

    name: str
    rights: frozenset[Any] = frozenset()
    opens: str = "own"  # own, another, or nothing: there is no key
    grants: frozenset[Any] | None = None

    @property
    def target(self) -> str:
        return f"g-{self.name}-{word(self.name, 'n')}"

    @property
    def other(self) -> str:
        return f"h-{self.name}-{word(self.name, 'o')}"

    def may(self, call: Call) -> bool:
        if call in PUBLIC:
            return True
        if self.opens == "nothing":
            return False
        is_free = call in FREE or call in LISTS or call.anywhere
        granted = self.grants is None or "admin" in self.rights or is_free or call.rights <= self.grants
        return call.rights <= self.rights and (is_free or (self.opens == "own" and not call.everywhere and granted))


def word(name: str, kind: str) -> str:
    """Make a word that stands in nothing else."""
    return f"q{kind}{digest(name + kind)[:12].translate(str.maketrans('0123456789', 'ghijklmnop'))}"


NOTHING_THERE = (b"there is no such turn", b"this graph does not exist")  # an earlier cell forgot it
RWF = frozenset(RIGHTS - {"admin"})
ROLES = [
    Role("nobody", opens="nothing"),
    Role("unknown", opens="nothing"),
    Role("stranger", frozenset(RIGHTS), opens="another"),
    *(Role(f"only-{right}", frozenset({right})) for right in sorted(RIGHTS)),
    Role("granted", RWF, grants=frozenset(RIGHTS)),
    *(Role(f"granted-{right}", RWF, grants=frozenset({right})) for right in sorted(RWF)),
    Role("ungranted", RWF, grants=frozenset()),
]
BYSTANDERS = [f"{letter}-{word(letter, 'b')}" for letter in "abcdefghijklmnopqrstuvwxyz"]


def texts_of(graph: str) -> list[str]:
    """Return words that are in the turns of a graph, and in nothing else."""
    return [word(graph, kind) for kind in ("text", "speaker", "session")]


def needles(name: str) -> list[bytes]:
    """Return how a name may stand in bytes: as it is, or in base64 at any of its three alignments."""
    coded = [b64encode(b" " * shift + name.encode())[4 if shift else 0 :].rstrip(b"=")[:-2] for shift in range(3)]
    return [name.lower().encode(), *(each.lower() for each in coded)]


@dataclass
class Matrix:
    """All cells, and what went wrong in them."""

    http: httpx.AsyncClient
    cells: int = 0
    succeeded: int = 0
    own_texts: int = 0  # cells in which a caller was shown texts of its own graph: the check can see what is there
    wrong: list[str] = field(default_factory=list)

    async def ask(self, role: Role, call: Call) -> None:
        path = call.path.replace("/G", f"/{role.target}").replace("=G", f"={role.target}")
        content = call.body_for(role.target)
        if content is not None:
            content = content.replace(b"//G/", f"//{role.target}/".encode())
        headers = HEADERS if role.name == "nobody" else {**HEADERS, "Authorization": f"Bearer {role.name}"}
        response = await self.http.request(call.method, path, content=content, headers=headers)
        self.cells += 1
        self._check(role, call, response)

    def _check(self, role: Role, call: Call, response: httpx.Response) -> None:
        cell = f"{role.name}: {call.method} {call.path} {call.kind} → {response.status_code}"
        plain = re.sub(
            rb"\\[n\"]|\s", lambda each: b'"' if each[0].endswith(b'"') else b"", response.content
        )  # JSON in text
        refused = response.status_code == 401 or b'"code":"forbidden"' in plain
        refused |= was_refused(response) and not any(each in response.content for each in NOTHING_THERE)
        if role.may(call) and (refused or response.status_code >= 500):
            self.wrong.append(f"{cell}: should be let in: {response.text[:200]}")
        if not role.may(call) and response.is_success and not (refused or b'"rejected"' in plain):
            self.wrong.append(f"{cell}: should be refused: {response.text[:200]}")
        raw = b"\n".join([*(b": ".join(pair) for pair in response.headers.raw), response.content]).lower()
        self.wrong += [f"{cell}: tells {leak!r}" for leak in self._leaks(role, raw)]
        self.succeeded += response.is_success and not refused
        self.own_texts += any(each.encode() in raw for each in texts_of(role.target))

    def _leaks(self, role: Role, raw: bytes) -> list[str]:
        """Find what of other graphs stands in a response: names and texts; of the one that is asked, its texts."""
        own = {role.target, role.other} if role.opens != "nothing" else {role.target}
        foreign = [*BYSTANDERS, *(graph for each in ROLES for graph in (each.target, each.other))]
        names = [name for name in foreign if name not in own and any(each in raw for each in needles(name))]
        reads = self._read_by(role)
        texts = [graph for graph in foreign if graph not in reads and any(t.encode() in raw for t in texts_of(graph))]
        return [*names, *(f"texts of {graph}" for graph in texts)]

    def _read_by(self, role: Role) -> set[str]:
        may_read = "read" in role.rights and (role.grants is None or "read" in role.grants)
        return {role.other if role.opens == "another" else role.target} if may_read else set()


async def seeded(memory: MemoryClient) -> None:
    """Write a turn into each graph, with words that stand nowhere else, and grant what roles were granted."""
    for graph in [*BYSTANDERS, *(graph for role in ROLES for graph in (role.target, role.other))]:
        text, speaker, session = texts_of(graph)
        utterance = f"The kettle broke near {text}."
        turn = {"graph": graph, "id": "t1", "speaker": speaker, "session": session, "text": utterance}
        assert (await memory.record(turn)).status == "accepted"
    for role in ROLES:
        if role.grants is not None:
            await memory.send(Grant(graph=role.target, subject="another-subject", rights=["read"]))
        if role.grants:
            await memory.send(Grant(graph=role.target, subject=role.name, rights=sorted(role.grants)))


def callers() -> list[Caller]:
    """Make the keys: each role's, for its graph."""
    return [
        Caller(
            name=role.name,
            sha256=digest(role.name),
            graphs=(role.target if role.opens == "own" else role.other,),
            rights=role.rights,
        )
        for role in ROLES
        if role.opens != "nothing"
    ]


async def echo(request: Request) -> Response:
    """Answer as a model that repeats what it was sent: so what was recalled for it is looked at as well."""
    shown = (await request.body()).decode()
    return JSONResponse({"choices": [{"message": {"role": "assistant", "content": shown}}]})


async def digests(memory: MemoryClient) -> dict[str, Any]:
    """Describe every graph: what a refused request did is seen by it."""
    named = [graph for role in ROLES for graph in (role.target, role.other)]
    return {graph: (await memory.describe(graph)).model_dump(exclude={"position"}) for graph in named}


async def test_no_cell_of_the_matrix_lets_in_whom_it_must_not_or_tells_of_another_graph(tmp_path: Path) -> None:
    routes = [Route(path, echo, methods=["GET", "POST"]) for path in ("/v1/models", "/v1/chat/completions")]
    async with (
        listening(Starlette(routes=routes)) as model,
        MemoryClient(f"embedded:{tmp_path}") as memory,
        serving(memory, Keys(callers()), ChatModel(f"{model}/v1"), all_tools=True) as url,
        httpx.AsyncClient(base_url=url, timeout=60) as http,
    ):
        await seeded(memory)
        matrix, before = Matrix(http), await digests(memory)
        for may in (False, True):  # first what must be refused: it must change nothing
            for role in ROLES:
                for call in ROWS:
                    if role.may(call) is may:
                        await matrix.ask(role, call)
            if not may:
                assert await digests(memory) == before, "a request that was refused changed a graph"
    print(f"authorisation matrix: {matrix.cells} cells, {matrix.succeeded} let in, {len(matrix.wrong)} wrong")
    assert not matrix.wrong, "\n".join(matrix.wrong[:40])
    assert matrix.cells == len(ROLES) * len(ROWS)
    assert matrix.own_texts > 20, "callers that may read are shown their own texts"


# a surface without a row


def surface(call: Call) -> str:
    """Name what a row asks: a tool, a resource, a prompt, a kind of record, or a route."""
    body = call.body if isinstance(call.body, dict) else {}
    if call.path == "/mcp":
        params = body["params"]
        if body["method"] == "resources/read":
            return f"resource {'turns' if '/turns/' in params['uri'] else 'themes'}"
        return f"{body['method'].partition('/')[0]} {params['name']}" if "name" in params else f"mcp {body['method']}"
    if call.path.startswith("/v1/records/") and not call.path.endswith("/batch"):
        return f"record {body.get('kind', 'turn')}"
    return f"{call.method} {call.route or call.path.partition('?')[0].replace('/G', '/{graph}')}"


async def surfaces() -> set[str]:
    """Name all that the application answers, from its own routes, tools, resources, prompts and messages."""
    app, mcp = application(lambda: MemoryClient("kafka://nowhere:1"), all_tools=True)
    kinds = {
        get_args(model.model_fields["kind"].annotation)[0] if "kind" in model.model_fields else "turn"
        for model in (*COMMANDS, *QUESTIONS)
    }
    results = {f"record {kind}" for kind in kinds}
    results |= {f"tools {tool.name}" for tool in await mcp.list_tools()}
    results |= {f"prompts {prompt.name}" for prompt in await mcp.list_prompts()}
    templates = await mcp.list_resource_templates()
    results |= {f"resource {each.uri_template.rpartition('}/')[2].partition('/')[0]}" for each in templates}
    return results | {f"{method} {path}" for method, path in routes_of(app)}


def routes_of(app: Any) -> set[tuple[str, str]]:
    """List methods and paths of all routes, but for that of records, which are told apart by their kinds."""
    documented = {(method.upper(), path) for path, methods in app.openapi()["paths"].items() for method in methods}
    plain = {(m, route.path) for route in app.routes for m in getattr(route, "methods", None) or () if m != "HEAD"}
    return {(method, path) for method, path in documented | plain if path != "/v1/records/{topic}"}


async def test_every_surface_has_a_row() -> None:
    rows = {surface(call) for call in ROWS}
    missing = sorted(await surfaces() - rows)
    assert not missing, f"add a row for each of these to CALLS in tests/gateway/test_access.py: {missing}"
