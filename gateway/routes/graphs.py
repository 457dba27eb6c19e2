"""Everything under /v1/graphs: the wire's messages as HTTP.  The path names the graph, a body never does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

from emgas.client.client import MemoryClient
from emgas.client.several import distinct_graphs, query_all
from emgas.errors import InvalidMessageError, QueryFailedError
from emgas.limits import (
    CHANGES,
    LISTED_GRAPHS,
    PICTURED_CONCEPTS,
    PICTURED_LINKS,
    PICTURED_PASSAGES,
    READ_TURNS,
    RECAPPED,
    RING_TURNS,
    SEVERAL_GRAPHS,
    TOP,
)
from emgas.messages import contents, pictures, queries, rights, sessions, turns, views
from emgas.messages.fields import GraphId, Message, Name, Position, Text
from emgas.messages.relations import RelationType
from emgas.messages.several import Merged
from emgas.validation import build
from gateway.auth.access import any_key, caller, may
from gateway.http.errors import REFUSALS, RequestRejectedError, UnknownGraphError
from gateway.http.paths import PathGraph
from gateway.routes.bodies import (
    EndBody,
    FeedbackBody,
    ForgetBody,
    PinBody,
    QueryBody,
    RightsBody,
    SettingsBody,
    TurnBody,
    UndoBody,
)

listing = APIRouter(prefix="/v1/graphs", responses=REFUSALS)
router = APIRouter(prefix="/v1/graphs/{graph}", responses=REFUSALS)
several = APIRouter(prefix="/v1", responses=REFUSALS)
LISTED = 100  # concepts that a live answer shows
WATCHED = 2  # live answers of one key that are found at once


async def memory_of(request: Request) -> MemoryClient:
    """Return the client of this gateway.  A coroutine, because the framework runs plain functions in a thread."""
    client: MemoryClient = request.app.state.memory
    return client


Memory = Annotated[MemoryClient, Depends(memory_of)]
Graph = Annotated[PathGraph, Path(description="whose memory: a user, an agent, a room")]
IdempotencyKey = Annotated[
    Name | None, Header(description="the id of a body without one: the same id again has no effect")
]
Moment = Annotated[
    str | None, Query(description="as the graph was then: 2023-05-08T14:00 (UTC without a zone), or ms since 1970")
]


class GraphNames(Message):
    """Names of graphs, ascending.  `next`: `after` of the next page, null on the last."""

    graphs: list[str]
    next: str | None


@listing.get("", dependencies=[any_key("after", "limit")])
async def list_graphs(
    memory: Memory,
    *,
    after: Annotated[str | None, Query(description="the names after this one")] = None,
    limit: Annotated[int, Query(ge=1, le=LISTED_GRAPHS)] = LISTED_GRAPHS,
) -> GraphNames:
    """List the graphs that the caller's key may read."""
    caller().check_right("read")
    readable = await memory.graphs(patterns=caller().patterns)
    names = [name for name in readable if after is None or name > after]
    return GraphNames(graphs=names[:limit], next=names[limit - 1] if len(names) > limit else None)


@router.post(
    "/turns",
    status_code=201,
    response_model=turns.Outcome,
    responses={200: {"model": turns.Outcome, "description": "recorded before"}},
)
async def record_turn(
    graph: Annotated[Graph, may("write")],
    body: TurnBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Record a turn; respond once it is in the graph."""
    outcome = await memory.record(build(turns.Turn, _message(graph, body, idempotency_key)))
    return _response(outcome, 201)


@router.post("/query")
async def ask(graph: Annotated[Graph, may("read")], body: QueryBody, memory: Memory) -> queries.Reply:
    """Ask a question; return the turns that answer it and a prompt's context.  `reinforce` needs the right to write."""
    query = build(queries.Query, {**body.model_dump(exclude_unset=True), "graph": graph})
    if query.reinforce:
        caller().check("write", graph)
    return await memory.ask(query)


class SeveralBody(QueryBody):
    """A question to several graphs: as to one, with their names and without `after`."""

    graphs: Annotated[list[GraphId], Field(min_length=1, max_length=SEVERAL_GRAPHS)]


@several.post("/query", dependencies=[any_key()])
async def ask_several(body: SeveralBody, memory: Memory) -> Merged:
    """Ask several graphs one question and merge their answers by rank; each passage names its graph.

    A graph that the key or its subject may not read is reported as a failure; the others answer.
    """
    if not any(map(caller().may_see, body.graphs)):
        caller().check("read", body.graphs[0])
    caller().check_right("read")
    query = build(queries.Query, {**body.model_dump(exclude_unset=True, exclude={"graphs"}), "graph": body.graphs[0]})
    if query.reinforce or query.after is not None:
        raise InvalidMessageError("query: `reinforce` and `after` apply to one graph: ask it alone")

    async def ask_one(graph: str, budget: int) -> queries.Reply:
        if not caller().may_see(graph):
            raise QueryFailedError("forbidden", "this key does not belong to this graph")
        return await memory.ask(query.model_copy(update={"graph": graph, "budget": budget}))

    return await query_all(distinct_graphs(body.graphs), ask_one, query.budget, query.top_passages)


async def activated(
    graph: Annotated[Graph, may("read", "text")], memory: Memory, request: Request, text: Annotated[Text, Query()]
) -> queries.Reply:
    """Query before the response begins, so that a failure still gets a status."""
    async with request.app.state.watched.of(caller().name):  # else a key's many hold up all that it asks besides
        return await memory.query(graph, text, explain=True, top_concepts=LISTED)


@router.get("/activation", response_class=EventSourceResponse)
async def watch_activation(reply: Annotated[queries.Reply, Depends(activated)]) -> AsyncIterator[ServerSentEvent]:
    """Stream an answer step by step: `round` events with the activated concepts, then `passages`, then `context`."""
    for length in sorted({len(concept.path) for concept in reply.concepts}):
        woken = [concept.model_dump() for concept in reply.concepts if len(concept.path) == length]
        yield ServerSentEvent(event="round", id=str(length), data=woken)
    yield ServerSentEvent(event="passages", data=[passage.model_dump() for passage in reply.passages])
    yield ServerSentEvent(event="context", data={"context": reply.context, "tokens": reply.tokens})


@router.get("")
async def describe(
    graph: Annotated[Graph, may("read")],
    memory: Memory,
    response: Response,
    measures: bool = False,  # noqa: FBT001, FBT002 - a parameter of the address
) -> queries.Description:
    """Return what a graph holds; with `measures`, how well it is connected.  ETag: the position in its log."""
    described = await memory.describe(graph, measures=measures)
    _set_etag(response, described.position, found=described.found)
    return described


@router.get("/turns")
async def read(
    graph: Annotated[Graph, may("read", "id", "session", "concept", "newest", "cursor", "limit", "as_of")],
    memory: Memory,
    response: Response,
    *,
    id: Annotated[list[Name], Query(max_length=READ_TURNS, description="these alone")] = [],  # noqa: B006 - read only
    session: Annotated[Name | None, Query(description="only of this session")] = None,
    concept: Annotated[Name | None, Query(description="only those that hold it")] = None,
    newest: Annotated[bool, Query(description="the last one first")] = False,
    cursor: Annotated[int | None, Query(ge=0, lt=2**63, description="`next` of the page before")] = None,
    limit: Annotated[int, Query(ge=1, le=READ_TURNS)] = 20,
    as_of: Moment = None,
) -> contents.Turns:
    """Read one page of turns, as they were said.  ETag: the position in the graph's log."""
    walk: dict[str, Any] = {"session": session, "concept": concept, "newest": newest, "cursor": cursor, "limit": limit}
    page = await memory.turns(graph, ids=id, as_of=as_of, **walk)
    _set_etag(response, page.position, found=page.found)
    return page


@router.get("/picture")
async def picture(
    graph: Annotated[Graph, may("read", "around", "hops", "nodes", "links", "passages", "as_of")],
    memory: Memory,
    response: Response,
    *,
    around: Annotated[list[Name], Query(max_length=TOP, description="concepts that it grows from")] = [],  # noqa: B006
    hops: Annotated[int, Query(ge=0, le=5)] = 2,
    nodes: Annotated[int, Query(ge=0, le=PICTURED_CONCEPTS)] = 300,
    links: Annotated[int, Query(ge=0, le=PICTURED_LINKS)] = 3000,
    passages: Annotated[int, Query(ge=0, le=PICTURED_PASSAGES)] = 0,
    as_of: Moment = None,
) -> pictures.Pictured:
    """Return the graph for a drawing, now or at a time: concepts, links, turns and themes, as columns."""
    options: dict[str, Any] = {"around": around, "hops": hops, "nodes": nodes, "links": links, "passages": passages}
    drawn = await memory.picture(graph, as_of=as_of, **options)
    _set_etag(response, drawn.position, found=drawn.found)
    return drawn


@router.get("/changes")
async def compare(
    graph: Annotated[Graph, may("read", "since", "until", "limit")],
    memory: Memory,
    response: Response,
    since: Annotated[str, Query(description="a time, as `as_of`")],
    *,
    until: Annotated[str | None, Query(description="a later one; else now")] = None,
    limit: Annotated[int, Query(ge=1, le=CHANGES)] = 100,
) -> pictures.Compared:
    """Compare the graph at two times: which concepts are new, grew, faded or were archived."""
    changed = await memory.compare(graph, since, until, limit=limit)
    _set_etag(response, changed.position, found=changed.found)
    return changed


def _set_etag(response: Response, position: Position, *, found: bool) -> None:
    """Set the ETag to the position of the graph.  Raises UnknownGraphError if there is no graph."""
    if not found:
        raise UnknownGraphError("this graph does not exist, or did not exist at that time")
    response.headers["ETag"] = f'"{position.partition}-{position.watermark}"'


@router.get("/sessions")
async def recap(
    graph: Annotated[Graph, may("read", "session", "limit", "words", "as_of")],
    memory: Memory,
    response: Response,
    *,
    session: Annotated[list[Name], Query(max_length=RECAPPED, description="these alone")] = [],  # noqa: B006 - read only
    limit: Annotated[int, Query(ge=1, le=RECAPPED)] = 5,
    words: Annotated[int, Query(ge=0, le=400, description="of each summary, at most")] = 60,
    as_of: Moment = None,
) -> views.Recapped:
    """Return what conversations were about, the latest first."""
    view = await memory.recap(graph, session, limit=limit, words=words, as_of=as_of)
    _set_etag(response, view.position, found=view.found)
    return view


@router.get("/recent")
async def recent(
    graph: Annotated[Graph, may("read", "session", "limit", "as_of")],
    memory: Memory,
    response: Response,
    *,
    session: Annotated[Name | None, Query(description="of this conversation, else of the latest one")] = None,
    limit: Annotated[int, Query(ge=0, le=RING_TURNS)] = 10,
    as_of: Moment = None,
) -> sessions.InMind:
    """Return a conversation's latest turns and keywords, and the summary of the one before it."""
    view = await memory.recent(graph, session, limit=limit, as_of=as_of)
    _set_etag(response, view.position, found=view.found)
    return view


@router.get("/trend")
async def trend(
    graph: Annotated[Graph, may("read", "text", "speaker", "session", "by", "offset", "moods", "as_of")],
    memory: Memory,
    response: Response,
    text: Annotated[Text | None, Query(description="a question, or words; without it, all turns")] = None,
    *,
    speaker: Annotated[list[Name] | None, Query(description="only what these said")] = None,
    session: Annotated[list[Name] | None, Query(description="only of these sessions")] = None,
    by: views.Period = "day",
    offset: Annotated[int, Query(ge=-1080, le=1080, description="of the asker's clock from UTC, minutes")] = 0,
    moods: Annotated[bool, Query(description="also how those felt who said it")] = False,
    as_of: Moment = None,
) -> views.Trended:
    """Count how often something is mentioned over time, at which hours, and when not."""
    only = {"speakers": speaker or [], "sessions": session or []}
    view = await memory.trend(graph, text, only=only, by=by, offset=offset, moods=moods, as_of=as_of)
    _set_etag(response, view.position, found=view.found)
    return view


@router.get("/habits")
async def habits(
    graph: Annotated[Graph, may("read", "text", "speaker", "limit", "as_of")],
    memory: Memory,
    response: Response,
    *,
    text: Annotated[Text | None, Query(description="a question, or words; without it, all of them")] = None,
    speaker: Annotated[Name | None, Query(description="whose")] = None,
    limit: Annotated[int, Query(ge=1, le=TOP)] = 20,
    as_of: Moment = None,
) -> views.Recurring:
    """Return what recurs, how often, since when, and when not."""
    view = await memory.habits(graph, text, speaker=speaker, limit=limit, as_of=as_of)
    _set_etag(response, view.position, found=view.found)
    return view


@router.get("/concept")
async def explore(
    graph: Annotated[Graph, may("read", "name", "to", "hops", "relation", "limit", "as_of")],
    memory: Memory,
    response: Response,
    name: Annotated[Name, Query(description="of the concept, by id or as it was written")],
    *,
    to: Annotated[Name | None, Query(description="another one: by which ways does the first lead to it?")] = None,
    hops: Annotated[int, Query(ge=1, le=3)] = 1,
    relation: Annotated[RelationType | None, Query(description="what follows about it by this relation?")] = None,
    limit: Annotated[int, Query(ge=0, le=TOP)] = 10,
    as_of: Moment = None,
) -> views.Explored:
    """Return what the graph knows of a concept: its relations, and the concepts linked with it."""
    view = await memory.explore(graph, name, to=to, hops=hops, relation=relation, limit=limit, as_of=as_of)
    _set_etag(response, view.position, found=view.found)
    return view


@router.put("/settings", response_model=turns.Outcome)
async def configure(
    graph: Annotated[Graph, may("admin")],
    body: SettingsBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Configure the graph: a preset, and the settings that differ from it, replacing all earlier ones."""
    request = build(turns.Configure, _message(graph, body, idempotency_key, kind="configure"))
    settings = request.settings.model_dump(exclude_none=True)
    made = await memory.configure(
        graph,
        request.preset,
        weights=request.weights,
        mode=request.mode,
        rerank=request.rerank,
        timezone=request.timezone,
        id=request.id,
        **settings,
    )
    return _response(made, 200)


@router.post("/forget", response_model=turns.Outcome)
async def forget(
    graph: Annotated[Graph, may("forget")],
    body: ForgetBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Forget concepts, turns and sessions.  The log still holds them, so an undo can restore them."""
    request = build(turns.Forget, _message(graph, body, idempotency_key, kind="forget"))
    outcome = await memory.forget(
        graph,
        request.concepts,
        request.turns,
        sessions=request.sessions,
        everything=request.everything,
        id=request.id,
    )
    return _response(outcome, 200)


@router.post("/pin", response_model=turns.Outcome)
async def pin(
    graph: Annotated[Graph, may("write")],
    body: PinBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Pin concepts and turns: they do not fade until they are unpinned."""
    request = build(turns.Pin, _message(graph, body, idempotency_key, kind="pin"))
    return _response(await memory.pin(graph, request.concepts, request.turns, id=request.id), 200)


@router.post("/unpin", response_model=turns.Outcome)
async def unpin(
    graph: Annotated[Graph, may("write")],
    body: PinBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Unpin concepts and turns, so that they fade again."""
    request = build(turns.Unpin, _message(graph, body, idempotency_key, kind="unpin"))
    return _response(await memory.unpin(graph, request.concepts, request.turns, id=request.id), 200)


@router.post("/feedback", response_model=turns.Outcome)
async def feedback(
    graph: Annotated[Graph, may("write")],
    body: FeedbackBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Rate turns that came back: 1 for right, −1 for wrong, or any number between."""
    request = build(turns.Feedback, _message(graph, body, idempotency_key, kind="feedback"))
    outcome = await memory.feedback(graph, request.turns, request.value, query=request.query, id=request.id)
    return _response(outcome, 200)


@router.post("/sessions/end", response_model=turns.Outcome)
async def end_session(
    graph: Annotated[Graph, may("write")],
    body: EndBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """End a conversation.  It is summarised, and the next one starts with the summary."""
    request = build(sessions.EndSession, _message(graph, body, idempotency_key, kind="endsession"))
    return _response(await memory.end_session(graph, request.session, id=request.id), 200)


@router.post("/grant", response_model=turns.Outcome)
async def grant(
    graph: Annotated[Graph, may("admin")],
    body: RightsBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Grant a subject, such as a key's name, rights in the graph.  The first grant closes it to all others."""
    request = build(rights.Grant, _message(graph, body, idempotency_key, kind="grant"))
    return _response(await memory.grant(graph, request.subject, request.rights, id=request.id), 200)


@router.post("/revoke", response_model=turns.Outcome)
async def revoke(
    graph: Annotated[Graph, may("admin")],
    body: RightsBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Revoke rights of a subject in the graph."""
    request = build(rights.Revoke, _message(graph, body, idempotency_key, kind="revoke"))
    return _response(await memory.revoke(graph, request.subject, request.rights, id=request.id), 200)


@router.post("/undo", response_model=turns.Outcome)
async def undo(
    graph: Annotated[Graph, may("forget")],
    body: UndoBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Undo events of the graph.  The undo is an event, too, that can be undone."""
    request = build(turns.Undo, _message(graph, body, idempotency_key, kind="undo"))
    return _response(await memory.undo(graph, request.first, request.last, id=request.id), 200)


def _message(graph_id: str, body: BaseModel, key: str | None, **more: str) -> dict[str, Any]:
    fields = {**body.model_dump(exclude_unset=True), **more, "graph": graph_id}
    if fields.get("id") is None:
        fields["id"] = key or uuid4().hex
    return fields


def _response(outcome: turns.Outcome, accepted: int) -> Response:
    if outcome.status == "rejected":
        raise RequestRejectedError(outcome.reason)
    return JSONResponse(outcome.model_dump(), accepted if outcome.status == "accepted" else 200)
