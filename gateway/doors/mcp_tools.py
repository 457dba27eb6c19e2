"""The memory for assistants: MCP tools, resources and a prompt.

    always                 remember, recall, profile, forget, recap, themes
    with --tools all       recent, explore, read, compare, configure, undo; and recall_several, unless pinned

Each tool names its graph, unless the server is pinned to one.  An answer is one text: that of recall is the context
alone, and what else was found is its structured content; those of other tools are JSON.  Definitions are as short as
programs need them, because a model reads them in every conversation: a test counts their tokens.  Every refusal is a
ToolError with the same sentence as over HTTP.  Over HTTP, the caller's key decides (gateway/auth/access.py); over
stdio, the user who started the process may do everything.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal, TypeVar
from uuid import uuid4

from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp_types import CallToolResult, InputRequiredResult, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel, Field, ValidationError

from emgas import __version__
from emgas.client.client import MemoryClient
from emgas.client.several import AskedGraph, distinct_graphs, query_all
from emgas.errors import EmgasError, InvalidMessageError, QueryFailedError
from emgas.limits import RECAPPED, RING_TURNS, SEVERAL_GRAPHS
from emgas.messages.contents import RecordedTurn
from emgas.messages.explanations import Why
from emgas.messages.fields import EntityKind, GraphId, Origin, Zone
from emgas.messages.forgetting import ForgetPreview, PreviewForget
from emgas.messages.people import Person, PersonChange
from emgas.messages.pictures import ChangedTheme, Compare
from emgas.messages.queries import MemoryKind, Reply, Theme
from emgas.messages.relations import KnownRelation, RelationType
from emgas.messages.requests import Outcome
from emgas.messages.sessions import Inherited, Recent
from emgas.messages.settings.modes import Guidance, How, Mode, Weighting
from emgas.messages.turns import Undo
from emgas.messages.views import Explore, Inferred, KnownConcept, Recap, SessionRecap
from emgas.times import milliseconds
from emgas.validation import build, describe
from gateway.auth.access import caller
from gateway.auth.keys import Right
from gateway.http.errors import GatewayError, NotAllowedError

A = TypeVar("A")
Opened = Callable[[], Awaitable[MemoryClient]]  # returns the client once it is open
Graph = Annotated[GraphId, Field(description="whose memory: a user, an agent, a room")]
LISTED, SHOWN_CHARACTERS = 20, 200  # turns that are listed before they are forgotten, and characters of each
CHANGED = ("born", "stronger", "weaker", "forgotten", "long_term")
INSTRUCTIONS = (
    "A long-term memory of conversations. Call recall before you answer a question about the past, about people or "
    "preferences; call remember for what is worth keeping. Nothing is deleted unless you ask."
)
RARE: dict[str, Any] = {  # arguments of recall that only --tools all has
    "kind": "all",
    "explain": False,
    "mode": "default",
    "min_likelihood": None,
    "weighting": None,
    "guidance": None,
}
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


class Remembered(BaseModel):
    """The outcome of a turn or a request."""

    status: Literal["accepted", "duplicate", "rejected"]
    id: str
    reason: str | None = None


class RecalledTurn(BaseModel):
    """An old turn that answers the question."""

    id: str
    speaker: str
    text: str
    at: int = Field(description="when it was said, ms since 1970, UTC")
    score: float
    likelihood: float | None = Field(None, description="how likely it holds the answer, 0 to 1")
    why: Why | None = Field(None, description="if `explain` was asked for")


class Recalled(BaseModel):
    """What an answer has beside its context."""

    found: bool = Field(description="whether this graph exists")
    note: str | None = Field(None, description="what to say if nothing in this memory answers, else null")
    known: float = Field(description="how likely this memory holds an answer, 0 to 1")
    passages: list[RecalledTurn]
    concepts: list[str]
    relations: list[KnownRelation] = Field(description="kind semantic: relations of the concepts in the question")
    how: How | None = Field(None, description="which mode answered, and how, if that or guidance was asked for")


class GraphTurn(RecalledTurn):
    """An old turn of one of several graphs."""

    graph: str


class RecalledOfSeveral(BaseModel):
    """The answers of several graphs, merged by rank."""

    context: str = Field(description="ready to be put into the prompt, each graph under its name")
    passages: list[GraphTurn]
    graphs: list[AskedGraph] = Field(description="each graph's result; `failure` says why it gave no answer")


class WorkingMemory(BaseModel):
    """The working memory of a conversation."""

    found: bool = Field(description="whether this graph exists")
    session: str
    state: str = Field(description="working, idle or ended")
    turns: list[RecordedTurn] = Field(description="the latest, in their order")
    keywords: list[str] = Field(description="the latest last")
    themes: list[str]
    inherited: Inherited | None = Field(description="the summary of the conversation before")


class Linked(BaseModel):
    """A concept that is linked with the requested one."""

    label: str
    times: int = Field(description="turns in which it occurs together with the one before it on the path")
    hops: int


class ConceptView(BaseModel):
    """What a memory knows of a concept, and its neighbours."""

    found: bool
    concept: KnownConcept | None
    neighbours: list[Linked] = Field(description="the strongest links first")
    relations: list[KnownRelation] = Field(description="its relations to other concepts")
    inferred: list[Inferred] = Field(description="what follows by the requested relation, nearest first")
    paths: list[list[str]] = Field(description="paths to the concept `to`, the strongest first, as ids")
    turns: list[str] = Field(description="ids of the latest turns that hold it")


class People(BaseModel):
    """What a memory knows of people."""

    found: bool = Field(description="whether this graph exists")
    people: list[Person] = Field(description="current: the values that hold; history: what held before; turn: evidence")
    changes: list[PersonChange] = Field(description="what has changed, the latest last")


class RecappedSessions(BaseModel):
    """What conversations were about."""

    found: bool = Field(description="whether this graph exists")
    sessions: list[SessionRecap] = Field(description="the latest first")


class Themes(BaseModel):
    """The themes of a memory."""

    turns: int
    themes: list[Theme]


class TurnPage(BaseModel):
    """A page of turns."""

    total: int = Field(description="how many turns match in all")
    turns: list[RecordedTurn]
    next: int | None = Field(description="cursor of the next page")


class ChangeSummary(BaseModel):
    """What changed between two times: labels of concepts, the largest changes first; turns by id."""

    born: list[str]
    stronger: list[str]
    weaker: list[str]
    forgotten: list[str]
    long_term: list[str]
    themes: list[ChangedTheme]
    added: list[str]
    archived: list[str]


class Confirmation(BaseModel):
    """A user's confirmation before something is forgotten, if the program can ask for it."""

    forget: bool = Field(description="really forget this?")


class ForgettableTurn(BaseModel):
    """A turn that would be forgotten."""

    id: str
    speaker: str
    text: str
    at: int = Field(description="when it was said, ms since 1970, UTC")


class Forgetting(BaseModel):
    """The outcome of a request to forget, or the list of what it would forget: the latest turns of `confirm` ones."""

    status: Literal["accepted", "duplicate", "rejected", "unconfirmed"]
    id: str
    reason: str | None = None
    confirm: int | None = Field(None, description="how many turns would be forgotten: pass it to confirm")
    turns: list[ForgettableTurn] = Field(default_factory=list)
    remains: str | None = Field(None, description="what remains in the memory")


About = Annotated[str, Field(description="a word or a name: it is forgotten with every turn that mentions it")]
Ids = Annotated[list[str], Field(description="by id; concepts also as written")]
Confirmed = Annotated[int | None, Field(ge=0, description="the number that the first call returned as `confirm`")]


class PlainServer(MCPServer[Any]):
    """Reports errors in our own sentences: the library's name its classes, and repeat the input."""

    async def list_tools(self) -> list[Tool]:
        """List the tools, as MCPServer does, with schemas that say nothing twice."""
        tools = await super().list_tools()
        return [tool.model_copy(update={"input_schema": _brief(tool.input_schema)}) for tool in tools]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool, as MCPServer does; report errors in our own sentences."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(describe(error.__cause__)) from None
            if isinstance(error.__cause__, ToolError):
                raise ToolError(str(error.__cause__)) from None
            raise


def _brief(schema: Any) -> Any:
    """Leave out of a schema what a model need not read: titles, and null beside what may be left out."""
    if isinstance(schema, list):
        return [_brief(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    fields = {name: value for name, value in schema.items() if name != "title" or isinstance(value, dict)}
    choices = [each for each in fields.get("anyOf", ()) if each != {"type": "null"}]
    if len(choices) == 1 and fields.get("default", 0) is None:
        fields = choices[0] | {name: value for name, value in fields.items() if name not in ("anyOf", "default")}
        fields.pop("title", None)
    return {name: _brief(value) for name, value in fields.items()}


def mcp_server(opened: Opened, *, graph_id: str | None = None, everything: bool = False) -> MCPServer[Any]:
    """Build the server.  `graph_id`: the graph of all its tools; without it, each call names one."""
    server = PlainServer("emgas", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING")
    bindings = {} if graph_id is None else {"graph": graph_id}
    recall = _recall if everything else _without(_recall, **RARE)
    tools: list[tuple[Callable[..., Any], ToolAnnotations]] = [
        (_remember, ADDS),
        (recall, READS),
        (_profile, READS),
        (_forget_tool(opened, **bindings), REMOVES),
        (_recap, READS),
        (_themes, READS),
    ]
    if everything:
        tools += [(_recent, READS), (_explore, READS), (_read, READS), (_compare, READS)]
        tools += [(_configure, ADDS), (_undo, REMOVES)]
        tools += [(_recall_several, READS)] if graph_id is None else []
    for function, hints in tools:
        bound = _without(function, memory=opened, **bindings)
        name = function.__name__.removeprefix("_")
        server.tool(name=name, annotations=hints, structured_output=False)(bound)
    _describe(server, opened, graph_id)
    return server


async def _remember(
    memory: Opened,
    text: Annotated[str, Field(description="what was said, word for word")],
    graph: Graph,
    speaker: Annotated[str, Field(description="who said it")] = "user",
    session: Annotated[str, Field(description="which conversation it belongs to")] = "main",
    at: Annotated[str | int | None, Field(description="when it was said: 2025-03-01T14:00, or ms; else now")] = None,
    timezone: Annotated[Zone | None, Field(description="where it was said, as Europe/Berlin: for `yesterday`")] = None,
    id: Annotated[str | None, Field(description="of the turn: the same id again has no effect")] = None,
    importance: Annotated[
        float | None, Field(ge=0, le=1, description="how much it matters; above 0.8 it never fades away")
    ] = None,
    origin: Annotated[
        Origin | None, Field(description="where the text comes from; web and tool are never injected into prompts")
    ] = None,
    expires_at: Annotated[
        str | int | None, Field(description="when to forget it: 2030-03-01T14:00, or ms; else never")
    ] = None,
) -> Remembered:
    """Remember something that was said, permanently or until `expires_at`."""
    name = id or uuid4().hex
    turn: dict[str, Any] = {"id": name, "graph": graph, "speaker": speaker, "text": text, "session": session}
    turn["at"] = _clock_time(at, timezone)
    turn["metadata"] = {} if timezone is None else {"timezone": timezone}
    turn |= {"importance": importance, "origin": origin, "expires_at": _clock_time(expires_at, timezone)}
    with _tool_errors("write", graph):
        return _outcome(await (await memory()).record(turn), name)


async def _recall(
    memory: Opened,
    question: Annotated[str, Field(description="a question, or what the conversation is about")],
    graph: Graph,
    as_of: Annotated[str | None, Field(description="answer as of this time: 2025-03-01, or with a time")] = None,
    budget: Annotated[int, Field(ge=0, le=32_000, description="tokens of context")] = 1000,
    since: Annotated[str | None, Field(description="only what was said from then on")] = None,
    until: Annotated[str | None, Field(description="only what was said before then")] = None,
    speakers: Annotated[list[str] | None, Field(description="only what these people said")] = None,
    entities: Annotated[list[EntityKind] | None, Field(description="only what names one of these kinds")] = None,
    statements: Annotated[
        list[str] | None, Field(description="only what states this of a person: home, job, likes, lives-in")
    ] = None,
    timezone: Annotated[
        Zone | None, Field(description="the asker's, as Europe/Berlin, for all times; else the graph's own")
    ] = None,
    *,
    kind: Annotated[
        MemoryKind,
        Field(description="working: this conversation; episodic: new first; semantic: relations; perceptual: photos"),
    ] = "all",
    asker: Annotated[str | None, Field(description="who asks: the person whom `my` and `I` mean")] = None,
    explain: Annotated[bool, Field(description="explain why each passage was found")] = False,
    mode: Annotated[Mode, Field(description="the retriever: keep the default unless you compare")] = "default",
    nearest: Annotated[
        bool, Field(description="if nothing answers, return what comes nearest; it may have nothing to do with it")
    ] = False,
    min_likelihood: Annotated[
        float | None, Field(ge=0, le=1, description="return nothing if an answer is less likely than this")
    ] = None,
    weighting: Annotated[Weighting | None, Field(description="of links; the mode's own by default")] = None,
    guidance: Annotated[
        Guidance | None, Field(description="how thoroughly to search, in which mood, for whom, if you know it")
    ] = None,
) -> CallToolResult:
    """Find old turns that answer a question."""
    filters: dict[str, Any] = {"since": since, "until": until, "speakers": speakers or None}
    filters |= {"entities": entities or None, "statements": statements or None}
    only = {name: value for name, value in filters.items() if value is not None}
    with _tool_errors("read", graph):
        options: dict[str, Any] = {"budget": budget, "timezone": timezone, "explain": explain, "mode": mode}
        options |= {"weighting": weighting, "guidance": guidance or Guidance(), "memory": kind, "asker": asker}
        options |= {"fallback": "nearest" if nearest else "none", "min_likelihood": min_likelihood}
        reply = await (await memory()).query(graph, question, as_of=as_of, only=only or None, **options)
    passages = [RecalledTurn(**_fields(RecalledTurn, each)) for each in reply.passages]
    concepts = [concept.label for concept in reply.concepts]
    others = {"found": reply.found, "relations": reply.relations, "how": reply.how, "known": reply.known}
    rest = Recalled(passages=passages, concepts=concepts, note=reply.note, **others).model_dump(mode="json")
    text = reply.context or reply.note or ""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=rest)


async def _recall_several(
    memory: Opened,
    question: Annotated[str, Field(description="a question, or what the conversation is about")],
    graphs: Annotated[list[GraphId], Field(min_length=1, max_length=SEVERAL_GRAPHS, description="whose memories")],
    budget: Annotated[int, Field(ge=0, le=32_000, description="tokens of context, shared equally")] = 1000,
    timezone: Annotated[
        Zone | None, Field(description="the asker's, as Europe/Berlin, for all times; else the graph's own")
    ] = None,
) -> RecalledOfSeveral:
    """Find old turns in several memories that answer a question."""

    async def ask(graph: str, share: int) -> Reply:
        if not caller().may_see(graph):
            raise QueryFailedError("forbidden", "this key does not belong to this graph")
        return await (await memory()).query(graph, question, budget=share, timezone=timezone)

    with _tool_errors("read", next(filter(caller().may_see, graphs), graphs[0])):
        merged = await query_all(distinct_graphs(graphs), ask, budget, None)
    passages = [GraphTurn(graph=each.graph, **_fields(RecalledTurn, each.passage)) for each in merged.passages]
    return RecalledOfSeveral(context=merged.context, passages=passages, graphs=merged.graphs)


async def _recent(
    memory: Opened,
    graph: Graph,
    session: Annotated[str | None, Field(description="of this conversation, else of the latest one")] = None,
    limit: Annotated[int, Field(ge=0, le=RING_TURNS, description="turns, at most")] = 10,
) -> WorkingMemory:
    """Return a conversation's latest turns and keywords, and the summary of the one before."""
    with _tool_errors("read", graph):
        view = await (await memory()).send(build(Recent, {"graph": graph, "session": session, "limit": limit}))
    return WorkingMemory(**_fields(WorkingMemory, view))


async def _explore(
    memory: Opened,
    graph: Graph,
    concept: Annotated[str, Field(description="a word or a name, as it was written")],
    to: Annotated[str | None, Field(description="another concept: find the paths to it")] = None,
    hops: Annotated[
        int | None,
        Field(ge=1, le=3, description="links from the concept, at most; by default 1, and 3 steps of a relation"),
    ] = None,
    limit: Annotated[int, Field(ge=0, le=100)] = 10,
    relation: Annotated[RelationType | None, Field(description="infer what follows by this relation")] = None,
) -> ConceptView:
    """Return what a memory knows of a concept: its links and its relations to other concepts."""
    with _tool_errors("read", graph):
        options: dict[str, Any] = {"to": to, "hops": hops, "limit": limit, "relation": relation}
        view = await (await memory()).send(build(Explore, {"graph": graph, "concept": concept, **options}))
    linked = [Linked(**_fields(Linked, each)) for each in view.neighbours]
    others = {name: getattr(view, name) for name in ("found", "concept", "relations", "inferred", "paths")}
    return ConceptView(neighbours=linked, turns=view.ids, **others)


async def _profile(
    memory: Opened,
    graph: Graph,
    name: Annotated[str | None, Field(description="whose, as Ada, or as Ada's sister; everybody by default")] = None,
    limit: Annotated[int, Field(ge=1, le=100, description="people, at most")] = 10,
) -> People:
    """Return what a memory knows of a person: where they live and work, who is who to them, and what has changed."""
    with _tool_errors("read", graph):
        view = await (await memory()).profile(graph, name, limit=limit)
    return People(**_fields(People, view))


async def _recap(
    memory: Opened,
    graph: Graph,
    limit: Annotated[int, Field(ge=1, le=RECAPPED, description="conversations, at most")] = 3,
) -> RecappedSessions:
    """Return what the latest conversations were about."""
    with _tool_errors("read", graph):
        view = await (await memory()).send(build(Recap, {"graph": graph, "limit": limit}))
    return RecappedSessions(**_fields(RecappedSessions, view))


async def _confirmed(
    ctx: Context[Any, Any],
    memory: Opened,
    graph: Graph,
    about: About,
    turns: Ids,
    concepts: Ids,
    sessions: Ids,
    confirm: Confirmed,
) -> Elicit[Confirmation] | Confirmation:
    """Ask the user whether to forget what is listed; a program that cannot ask confirms the number in a second call."""
    named = _named(about, turns, concepts, sessions)
    with _tool_errors("forget", graph):
        preview = await (await memory()).send(build(PreviewForget, {"graph": graph, **named, "limit": LISTED}))
    capabilities = ctx.client_capabilities
    can_ask = capabilities is not None and capabilities.elicitation is not None
    if can_ask and confirm is None and (preview.total or preview.concepts):
        listed = "".join(f"\n- {turn.speaker}: {turn.text[:SHOWN_CHARACTERS]}" for turn in preview.turns)
        return Elicit(f"Forget {preview.total} turns and keep {preview.remains}?{listed}", Confirmation)
    is_by_turn = named["turns"] and not (named["concepts"] or named["sessions"])  # then the ids say what is forgotten
    return Confirmation(forget=bool(confirm is not None or is_by_turn))


def _forget_tool(opened: Opened, **bindings: Any) -> Callable[..., Any]:
    """Build the tool `forget`: its confirmation needs the memory, too."""

    async def _forget(
        memory: Opened,
        sure: Any,
        graph: Graph,
        about: About = "",
        turns: Ids = [],  # noqa: B006 - read only
        concepts: Ids = [],  # noqa: B006
        sessions: Ids = [],  # noqa: B006
        confirm: Confirmed = None,
    ) -> Forgetting:
        """Forget what the user names: a subject with every turn that mentions it, turns by id, or conversations.

        The first call lists the turns: show them to the user.  A second call with `confirm` forgets them.
        """
        if not isinstance(sure, AcceptedElicitation):
            raise ToolError("not confirmed: nothing was forgotten")
        named, name = _named(about, turns, concepts, sessions), uuid4().hex
        with _tool_errors("forget", graph):
            client = await memory()
            if not sure.data.forget:
                return _listed(
                    await client.send(build(PreviewForget, {"graph": graph, **named, "limit": LISTED})), name
                )
            outcome = await client.forget(graph, **named, expected=confirm, id=name)
        return Forgetting(**_outcome(outcome, name).model_dump(), remains=outcome.remains)

    resolver = Resolve(_without(_confirmed, memory=opened, **bindings))
    _forget.__annotations__["sure"] = Annotated[ElicitationResult[Confirmation], resolver]
    return _forget


def _named(about: str, turns: list[str], concepts: list[str], sessions: list[str]) -> dict[str, Any]:
    return {"concepts": [*([about] if about else []), *concepts], "turns": turns, "sessions": sessions}


def _listed(preview: ForgetPreview, name: str) -> Forgetting:
    """List what would be forgotten, and say how to confirm it."""
    if not preview.found:
        raise ToolError("this graph does not exist")
    if not (preview.total or preview.concepts):
        raise ToolError("no turn mentions this: use another word, or the ids of turns that recall returns")
    what = "this turn" if preview.total == 1 else f"these {preview.total} turns"
    left = "1 turn" if preview.remains == 1 else f"{preview.remains or 'no'} turns"
    reason = (
        f"nothing is forgotten yet: ask the user whether to forget {what}, then call forget again "
        f"with the same arguments and confirm={preview.total}"
    )
    remains = f"{left} would be left in {preview.graph}"
    turns = [ForgettableTurn(**_fields(ForgettableTurn, turn)) for turn in preview.turns]
    return Forgetting(status="unconfirmed", id=name, reason=reason, confirm=preview.total, turns=turns, remains=remains)


async def _themes(memory: Opened, graph: Graph) -> Themes:
    """Return what a memory is about: its themes."""
    with _tool_errors("read", graph):
        description = await (await memory()).describe(graph)
    return Themes(turns=description.turns, themes=description.themes)


async def _read(
    memory: Opened,
    graph: Graph,
    ids: Annotated[list[str] | None, Field(description="ids of turns: only these")] = None,
    session: Annotated[str | None, Field(description="only of this conversation")] = None,
    concept: Annotated[str | None, Field(description="only turns with this word")] = None,
    cursor: Annotated[int | None, Field(ge=0, description="`next` of the page before")] = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> TurnPage:
    """Read turns as they were said, the latest first."""
    walk: dict[str, Any] = {"session": session, "concept": concept, "cursor": cursor, "limit": limit}
    with _tool_errors("read", graph):
        page = await (await memory()).turns(graph, ids=ids or [], newest=not ids, **walk)
    return TurnPage(total=page.total, turns=page.turns, next=page.next)


async def _compare(
    memory: Opened,
    graph: Graph,
    since: Annotated[str, Field(description="a time: 2025-03-01, or with a time of day")],
    until: Annotated[str | None, Field(description="a later one; else now")] = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> ChangeSummary:
    """Compare a memory at two times: which concepts are new, grew, faded or were forgotten."""
    with _tool_errors("read", graph):
        changes = await (await memory()).send(
            build(Compare, {"graph": graph, "since": since, "until": until, "limit": limit})
        )
    labels = {kind: [each.label for each in getattr(changes, kind)] for kind in CHANGED}
    return ChangeSummary(themes=changes.themes, added=changes.added, archived=changes.archived, **labels)


async def _configure(
    memory: Opened,
    graph: Graph,
    preset: Annotated[str, Field(description="name of the settings: default, forgetful, …")],
    timezone: Annotated[
        Zone | None,
        Field(description="the users', as Europe/Berlin, for `yesterday`; unchanged by default"),
    ] = None,
) -> Remembered:
    """Configure how a memory fades and consolidates, and its users' time zone."""
    name = uuid4().hex
    with _tool_errors("admin", graph):
        return _outcome(await (await memory()).configure(graph, preset, timezone=timezone, id=name), name)


async def _undo(
    memory: Opened,
    graph: Graph,
    first: Annotated[int, Field(ge=0, description="number of the first event to undo")],
    last: Annotated[int | None, Field(ge=0, description="number of the last one; the newest by default")] = None,
) -> Remembered:
    """Undo events of a memory, as if they had never happened.  The undo is an event that can be undone."""
    name = uuid4().hex
    with _tool_errors("forget", graph):
        return _outcome(
            await (await memory()).send(build(Undo, {"graph": graph, "first": first, "last": last, "id": name})), name
        )


def _describe(server: MCPServer[Any], opened: Opened, pinned: str | None) -> None:
    @server.resource("emgas://{graph}/themes", mime_type="application/json")
    async def themes_of(graph: str) -> str:
        """Return what a graph holds, and its themes."""
        description = await _of_graph(graph, lambda memory: memory.describe(graph))
        if not description.found:
            raise ResourceNotFoundError("this graph does not exist")
        return description.model_dump_json()

    @server.resource("emgas://{graph}/turns/{id}", mime_type="application/json")
    async def turn_of(graph: str, id: str) -> str:
        """Read one turn, as it was said."""
        page = await _of_graph(graph, lambda memory: memory.turns(graph, ids=[id]))
        if not page.turns:
            raise ResourceNotFoundError("there is no such turn")
        return page.turns[0].model_dump_json()

    async def _of_graph(graph: str, question: Callable[[MemoryClient], Awaitable[A]]) -> A:
        """Ask a graph that the caller may read.  Raises ResourceError."""
        try:
            if pinned not in (None, graph):
                raise NotAllowedError("this server serves one graph only, and not this one")
            caller().check("read", graph)
            return await question(await opened())
        except (EmgasError, GatewayError) as error:
            raise ResourceError(str(error)) from error

    @server.prompt()
    async def recollect(question: str, graph: str = "me") -> str:
        """Answer from memory."""
        return f"Call the tool recall on graph {graph} with this question, then answer from what it found: {question}"


@contextmanager
def _tool_errors(right: Right, graph_id: str) -> Iterator[None]:
    """Check the caller's right, and turn every refusal into a ToolError."""
    try:
        caller().check(right, graph_id)
        yield
    except (EmgasError, GatewayError) as error:
        raise ToolError(str(error)) from error


def _clock_time(at: str | int | None, timezone: str | None) -> str | int | None:
    """Parse a time in a zone; anything else is refused later, with the turn's other fields."""
    try:
        return milliseconds(at, timezone or "UTC") if isinstance(at, str) else at
    except InvalidMessageError:
        return at


def _fields(shown: type[BaseModel], answer: BaseModel) -> dict[str, Any]:
    """Return the fields of an answer that a tool shows."""
    return {name: getattr(answer, name) for name in shown.model_fields}


def _outcome(outcome: Outcome, name: str) -> Remembered:
    return Remembered(status=outcome.status, id=name, reason=outcome.reason)


def _without(function: Callable[..., Any], **bindings: Any) -> Callable[..., Any]:
    """Bind arguments by name, so that the tool's schema no longer shows them."""

    @functools.wraps(function)
    async def bound(**arguments: Any) -> Any:
        return await function(**bindings, **arguments)

    signature = inspect.signature(function, eval_str=True)
    kept = [parameter for name, parameter in signature.parameters.items() if name not in bindings]
    bound.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in kept]
    )
    bound.__annotations__ = {parameter.name: parameter.annotation for parameter in kept}
    bound.__annotations__["return"] = signature.return_annotation
    del bound.__wrapped__  # otherwise inspect would return the whole signature
    return bound
