"""Everything under /v1/graphs/{graph}: the wire's messages as HTTP.  The path names the graph, a body never does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel
from starlette.responses import JSONResponse

from emgas.client.client import MemoryClient
from emgas.messages import queries, turns
from emgas.messages.fields import GraphId, Name, Text
from emgas.validation import build
from gateway.access import caller, may
from gateway.bodies import FeedbackBody, ForgetBody, PinBody, QueryBody, SettingsBody, TurnBody, UndoBody
from gateway.errors import REFUSALS, UnknownGraphError, problem

router = APIRouter(prefix="/v1/graphs/{graph}", responses=REFUSALS)
LISTED = 100  # concepts that a live answer shows


def memory_of(request: Request) -> MemoryClient:
    """Hand a route the one client of this gateway."""
    client: MemoryClient = request.app.state.memory
    return client


Memory = Annotated[MemoryClient, Depends(memory_of)]
Graph = Annotated[GraphId, Path(description="whose memory: a user, an agent, a room")]
IdempotencyKey = Annotated[
    Name | None, Header(description="the id of a body that has none: the same again has no effect")
]


@router.post(
    "/turns",
    status_code=201,
    response_model=turns.Outcome,
    responses={200: {"model": turns.Outcome, "description": "known already"}},
)
async def record_turn(
    graph: Annotated[Graph, may("write")],
    body: TurnBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Record a turn; answers once its graph has folded it."""
    outcome = await memory.record(build(turns.Turn, _message(graph, body, idempotency_key)))
    return _told(outcome, 201)


@router.post("/query")
async def ask(graph: Annotated[Graph, may("read")], body: QueryBody, memory: Memory) -> queries.Reply:
    """Ask what was said.  With `reinforce` the right to write is needed too."""
    query = build(queries.Query, {**body.model_dump(exclude_unset=True), "graph": graph})
    if query.reinforce:
        caller().check("write", graph)
    return await memory.ask(query)


async def activated(
    graph: Annotated[Graph, may("read", "text")], memory: Memory, text: Annotated[Text, Query()]
) -> queries.Reply:
    """Answer before the response begins: what fails then is still a problem with a status."""
    return await memory.query(graph, text, explain=True, top_concepts=LISTED)


@router.get("/activation", response_class=EventSourceResponse)
async def watch_activation(reply: Annotated[queries.Reply, Depends(activated)]) -> AsyncIterator[ServerSentEvent]:
    """Stream an answer step by step: `round` events with the concepts that woke, then `passages`, then `context`."""
    for length in sorted({len(concept.path) for concept in reply.concepts}):
        woken = [concept.model_dump() for concept in reply.concepts if len(concept.path) == length]
        yield ServerSentEvent(event="round", id=str(length), data=woken)
    yield ServerSentEvent(event="passages", data=[passage.model_dump() for passage in reply.passages])
    yield ServerSentEvent(event="context", data={"context": reply.context, "tokens": reply.tokens})


@router.get("")
async def describe(graph: Annotated[Graph, may("read")], memory: Memory, response: Response) -> queries.Description:
    """Tell what a graph holds.  ETag: how far its log was folded."""
    described = await memory.describe(graph)
    if not described.found:
        raise UnknownGraphError("nobody ever wrote to this graph")
    position = described.position
    response.headers["ETag"] = f'"{position.partition}-{position.watermark}"'
    return described


@router.put("/settings", response_model=turns.Outcome)
async def configure(
    graph: Annotated[Graph, may("admin")],
    body: SettingsBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Say how the graph is to live from here on: a preset, and what differs from it."""
    wanted = build(turns.Configure, _message(graph, body, idempotency_key, kind="configure"))
    settings = wanted.settings.model_dump(exclude_none=True)
    return _told(await memory.configure(graph, wanted.preset, id=wanted.id, **settings), 200)


@router.post("/forget", response_model=turns.Outcome)
async def forget(
    graph: Annotated[Graph, may("forget")],
    body: ForgetBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Forget concepts, turns and sessions; the log keeps the past."""
    wanted = build(turns.Forget, _message(graph, body, idempotency_key, kind="forget"))
    outcome = await memory.forget(graph, wanted.concepts, wanted.turns, sessions=wanted.sessions, id=wanted.id)
    return _told(outcome, 200)


@router.post("/pin", response_model=turns.Outcome)
async def pin(
    graph: Annotated[Graph, may("write")],
    body: PinBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Keep concepts and turns in mind: they do not fade until they are unpinned."""
    wanted = build(turns.Pin, _message(graph, body, idempotency_key, kind="pin"))
    return _told(await memory.pin(graph, wanted.concepts, wanted.turns, id=wanted.id), 200)


@router.post("/unpin", response_model=turns.Outcome)
async def unpin(
    graph: Annotated[Graph, may("write")],
    body: PinBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Let concepts and turns that were pinned fade again."""
    wanted = build(turns.Unpin, _message(graph, body, idempotency_key, kind="unpin"))
    return _told(await memory.unpin(graph, wanted.concepts, wanted.turns, id=wanted.id), 200)


@router.post("/feedback", response_model=turns.Outcome)
async def feedback(
    graph: Annotated[Graph, may("write")],
    body: FeedbackBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Say of turns that came back whether they were right or wrong."""
    wanted = build(turns.Feedback, _message(graph, body, idempotency_key, kind="feedback"))
    outcome = await memory.feedback(graph, wanted.turns, wanted.value, query=wanted.query, id=wanted.id)
    return _told(outcome, 200)


@router.post("/undo", response_model=turns.Outcome)
async def undo(
    graph: Annotated[Graph, may("forget")],
    body: UndoBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Take back events of the graph; itself an event that can be taken back."""
    wanted = build(turns.Undo, _message(graph, body, idempotency_key, kind="undo"))
    return _told(await memory.undo(graph, wanted.first, wanted.last, id=wanted.id), 200)


def _message(graph_id: str, body: BaseModel, key: str | None, **more: str) -> dict[str, Any]:
    fields = {**body.model_dump(exclude_unset=True), **more, "graph": graph_id}
    if fields.get("id") is None:
        fields["id"] = key or uuid4().hex
    return fields


def _told(outcome: turns.Outcome, accepted: int) -> Response:
    if outcome.status == "rejected":
        reason = outcome.reason or "the memory refused it"
        return problem(409 if "another text" in reason else 422, "rejected", reason)
    return JSONResponse(outcome.model_dump(), accepted if outcome.status == "accepted" else 200)
