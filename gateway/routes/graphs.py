"""Routes for turns and queries, and the list of graphs.  Most routes of a graph are declared: declared.py."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import chain, islice
from typing import Annotated, Any, cast
from uuid import uuid4

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BeforeValidator, Field

from emgas.client.client import MemoryClient
from emgas.client.several import Merged, distinct_graphs, query_all
from emgas.errors import InvalidMessageError, QueryFailedError
from emgas.limits import LISTED_GRAPHS, SEVERAL_GRAPHS
from emgas.messages import queries
from emgas.messages.extracts import Extract, Extracted
from emgas.messages.fields import GraphId, Message, Name, Text
from emgas.messages.forgetting import Forget
from emgas.messages.requests import Outcome
from emgas.messages.turns import Turn
from emgas.pieces import in_pieces_if_long
from emgas.validation import build
from gateway.auth.access import any_key, caller, may
from gateway.http.errors import REFUSALS
from gateway.http.paths import unslashed
from gateway.routes.bodies import ExtractBody, QueryBody, TurnBody, TurnsBody
from gateway.routes.declared import command_fields, outcome_response
from gateway.routes.dependencies import Graph, IdempotencyKey, Memory

listing = APIRouter(prefix="/v1/graphs", responses=REFUSALS, tags=["views"])
router = APIRouter(prefix="/v1/graphs/{graph}", responses=REFUSALS)
several = APIRouter(prefix="/v1", responses=REFUSALS, tags=["queries"])
PathName = Annotated[Name, BeforeValidator(unslashed), Path()]
LISTED = 100  # concepts that a live answer shows
EXTRACT_SECONDS = 10.0  # that an extraction may take, as any question ...
EXTRACT_SECONDS_A_TURN = 0.1  # ... and for each turn: it takes 1.5 ms, but 30 times as long where many share a core
NO_GRAPH_NOTE = "There is no such graph, or there was none at that time. GET /v1/graphs lists those that you may read."
WATCHED = 2  # live answers of one key that are found at once


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
    tags=["turns"],
    status_code=201,
    response_model=Outcome,
    responses={200: {"model": Outcome, "description": "recorded before"}},
)
async def record_turn(
    graph: Annotated[Graph, may("write")],
    body: TurnBody,
    memory: Memory,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Record a turn, a long one in pieces; respond once it is in the graph."""
    outcome = await memory.record(command_fields(graph, body, idempotency_key))
    return outcome_response(outcome, 201)


class Outcomes(Message):
    """The outcome of each turn of a batch, in their order."""

    outcomes: list[Outcome]


@router.post("/turns/batch", tags=["turns"])
async def record_turns(graph: Annotated[Graph, may("write")], body: TurnsBody, memory: Memory) -> Outcomes:
    """Record up to 1,000 turns in their order; respond once all are in the graph.

    A rejected turn does not keep the others out.  Sending the same turns again is harmless, because ids are permanent.
    """
    wholes = [{**turn, "graph": graph} for turn in body.model_dump(exclude_unset=True)["turns"]]
    turns = [[build(Turn, piece) for piece in in_pieces_if_long(whole)] for whole in wholes]
    published = memory.publish_many(chain.from_iterable(turns))
    outcomes = iter([cast("Outcome", outcome) async for _, outcome in published])
    return Outcomes(outcomes=[Outcome.of_pieces(pieces[0].id, list(islice(outcomes, len(pieces)))) for pieces in turns])


async def _forgotten(memory: MemoryClient, graph: str, **what: Any) -> Response:
    return outcome_response(await memory.send(Forget(graph=graph, id=uuid4().hex, **what)), 200)


@router.delete("", tags=["changes"], response_model=Outcome)
async def forget_graph(graph: Annotated[Graph, may("forget")], memory: Memory) -> Response:
    """Forget everything that a graph holds.  An undo can restore it."""
    return await _forgotten(memory, graph, everything=True)


@router.delete("/turns/{turn}", tags=["changes"], response_model=Outcome)
async def forget_turn(graph: Annotated[Graph, may("forget")], turn: PathName, memory: Memory) -> Response:
    """Forget one turn."""
    return await _forgotten(memory, graph, turns=[turn])


@router.delete("/sessions/{session}", tags=["changes"], response_model=Outcome)
async def forget_session(graph: Annotated[Graph, may("forget")], session: PathName, memory: Memory) -> Response:
    """Forget a conversation with all its turns."""
    return await _forgotten(memory, graph, sessions=[session])


@router.post("/query", tags=["queries"])
async def query(graph: Annotated[Graph, may("read")], body: QueryBody, memory: Memory) -> queries.Reply:
    """Ask a question; return the turns that answer it and a prompt's context.  `reinforce` needs the right to write.

    A graph that does not exist is no failure, because a memory can be asked before its first turn: `found` is false.
    """
    query = build(queries.Query, {**body.model_dump(exclude_unset=True), "graph": graph})
    if query.reinforce:
        caller().check("write", graph)
    return _noted(await memory.send(query))


def _noted(reply: queries.Reply) -> queries.Reply:
    """Say in an answer that there is no graph: without passages, it looks like one in which nothing answers."""
    return reply if reply.found else reply.model_copy(update={"note": NO_GRAPH_NOTE})


class SeveralBody(QueryBody):
    """A question to several graphs: as to one, with their names and without `after`."""

    graphs: Annotated[list[GraphId], Field(min_length=1, max_length=SEVERAL_GRAPHS)]


@several.post("/query", dependencies=[any_key()])
async def query_several(body: SeveralBody, memory: Memory) -> Merged:
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
        return await memory.send(query.model_copy(update={"graph": graph, "budget": budget}))

    return await query_all(distinct_graphs(body.graphs), ask_one, query.budget, query.top_passages)


@several.post("/extract", dependencies=[any_key()])
async def extract(body: ExtractBody, memory: Memory) -> Extracted:
    """Return what the memory would understand of these turns, read as one session.  Nothing is stored."""
    caller().check_right("read")
    seconds = EXTRACT_SECONDS + EXTRACT_SECONDS_A_TURN * len(body.turns)
    return await memory.send(Extract(turns=body.turns), timeout=seconds)


async def activated(
    graph: Annotated[Graph, may("read", "text")], memory: Memory, request: Request, text: Annotated[Text, Query()]
) -> queries.Reply:
    """Query before the response begins, so that a failure still gets a status."""
    async with request.app.state.watched.of(caller().name):  # else a key's many hold up all that it asks besides
        return _noted(await memory.query(graph, text, explain=True, top_concepts=LISTED))


@router.get("/activation", tags=["queries"], response_class=EventSourceResponse)
async def watch_activation(reply: Annotated[queries.Reply, Depends(activated)]) -> AsyncIterator[ServerSentEvent]:
    """Stream an answer step by step: `round` events with the activated concepts, then `passages`, then `context`."""
    for length in sorted({len(concept.path) for concept in reply.concepts}):
        woken = [concept.model_dump() for concept in reply.concepts if len(concept.path) == length]
        yield ServerSentEvent(event="round", id=str(length), data=woken)
    yield ServerSentEvent(event="passages", data=[passage.model_dump() for passage in reply.passages])
    note = {} if reply.note is None else {"note": reply.note}
    yield ServerSentEvent(event="context", data={"context": reply.context, "tokens": reply.tokens, **note})
