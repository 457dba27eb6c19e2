"""The part of mem0's HTTP API that its clients use, so that programs written for mem0 can use this memory.

    mem0.MemoryClient(api_key="emgas_…", host="http://127.0.0.1:8088")

whose      `user_id` is the graph.  Without a user the graph is agent:ID, app:ID or run:ID; beside one, `agent_id` and
           `app_id` are metadata of a turn, and `run_id` is its session
a memory   is a turn, word for word as it was said: no model infers anything, so fields that instruct one are ignored
its id     graph~turn, a ~ or % of the graph as %7E, %25

Features of mem0 that are missing here are refused, never ignored: updates (turns are immutable:
delete one and add another), filters over several users.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Iterator
from datetime import UTC
from typing import Annotated, Any, cast
from uuid import uuid4

from fastapi import APIRouter, Header, Query
from pydantic import BeforeValidator

from emgas.client.client import MemoryClient
from emgas.errors import QueryFailedError
from emgas.limits import READ_TURNS, TOP
from emgas.messages.contents import RecordedTurn
from emgas.messages.fields import Name
from emgas.messages.queries import RecalledPassage
from emgas.messages.requests import Outcome
from emgas.pieces import fitted, pieces
from emgas.times import DAY_MS, datetime_of, milliseconds
from emgas.validation import checked_graph
from gateway.auth.access import any_key, caller
from gateway.doors.mem0.scope import KINDS, OWNERS, MemoryScope, graph_of, kind_and_name, scope_of
from gateway.doors.mem0.shapes import (
    AddBody,
    Added,
    AddedMemory,
    Change,
    Deleted,
    Entities,
    Entity,
    Kept,
    ListBody,
    Listed,
    Mem0Message,
    Pinged,
    SearchBody,
    SearchResults,
    Whose,
)
from gateway.http.errors import REFUSALS, RequestRejectedError, UnknownGraphError
from gateway.http.paths import unslashed
from gateway.routes.dependencies import Memory

router = APIRouter(responses=REFUSALS, tags=["mem0"])
SPEAKING_ROLES = {"user", "assistant"}  # no system prompts, no calls of tools
NO_MEMORY = "there is no such memory: list those of a user with POST /v3/memories/"
PAGE = 100  # memories, or entities, of one page
MemoryId = Annotated[str, BeforeValidator(unslashed)]
IdempotencyKey = Annotated[Name | None, Header(description="the same key again has no effect")]
Page = Annotated[int, Query(ge=1, le=1_000_000)]
PageSize = Annotated[int, Query(ge=1, le=PAGE)]


@router.get("/v1/ping/", dependencies=[any_key("org_id", "project_id")])
async def ping() -> Pinged:
    """Check that the server runs and the key is valid."""
    return Pinged()


@router.post("/v3/memories/add/", dependencies=[any_key()])
async def add(body: AddBody, memory: Memory, idempotency_key: IdempotencyKey = None) -> Added:
    """Record messages; respond once a search can find them."""
    scope = scope_of(body)
    caller().check("write", scope.graph)
    at = None if body.timestamp is None else round(body.timestamp * 1000)
    common = {
        "graph": scope.graph,
        "session": fitted(scope.session or "main"),
        "metadata": {**(body.metadata or {}), **scope.metadata},
        "at": at,
        "expires_at": _end_of(body.expiration_date),
    }
    added = list[AddedMemory]()
    for identity, message, text in _pieces(body.messages, idempotency_key or uuid4().hex):
        turn = {**common, "id": identity, "text": text, "speaker": _speaker(message, body), "role": message.role}
        outcome = await memory.record(turn)
        if outcome.status == "rejected":
            raise RequestRejectedError(outcome.reason or "the memory refused it")
        event = "ADD" if outcome.status == "accepted" else "NOOP"
        added.append(AddedMemory(id=_identity(scope.graph, identity), memory=text, event=event))
    return Added(results=added)


@router.post("/v3/memories/search/", dependencies=[any_key()])
async def search(body: SearchBody, memory: Memory) -> SearchResults:
    """Find the turns that answer a question, best first."""
    scope = scope_of(body, body.metadata)
    caller().check("read", scope.graph)
    only = scope.only() or None
    reply = await memory.query(scope.graph, body.query, top_passages=body.top_k, budget=0, only=only)
    good = [each for each in reply.passages if body.threshold is None or each.score >= body.threshold]
    if not good or not reply.matched:
        return SearchResults(results=[])
    turns = {turn.id: turn for turn in (await memory.turns(scope.graph, ids=[each.id for each in good])).turns}
    return SearchResults(results=[_kept(scope.graph, turns.get(each.id, each), each.score) for each in good])


@router.post("/v3/memories/", dependencies=[any_key("page", "page_size")])
async def get_all(body: ListBody, memory: Memory, page: Page = 1, page_size: PageSize = PAGE) -> Listed:
    """List memories, the newest first."""
    scope = scope_of(body, since=body.start_date, until=body.end_date)
    caller().check("read", scope.graph)
    first, count, results = (page - 1) * page_size, 0, list[Kept]()
    async for turn, total in _walk(memory, scope):
        if first <= count < first + page_size:
            results.append(_kept(scope.graph, turn))
        count += 1
        if scope.is_whole and count >= first + page_size:
            count = total
            break
    return Listed(count=count, results=results, **_around("/v3/memories/", page, page_size, count))


@router.get("/v1/memories/{memory_id}/", dependencies=[any_key()])
async def get(memory_id: MemoryId, memory: Memory) -> Kept:
    """Read one memory."""
    graph_id, turn = await _turn(memory, memory_id)
    return _kept(graph_id, turn)


@router.get("/v1/memories/{memory_id}/history/", dependencies=[any_key()])
async def history(memory_id: MemoryId, memory: Memory) -> list[Change]:
    """List the changes of a memory: only its addition, because turns are immutable."""
    graph_id, turn = await _turn(memory, memory_id)
    at, identity = _time(turn.at), _identity(graph_id, turn.id)
    return [Change(id=identity, memory_id=identity, new_memory=turn.text, created_at=at, updated_at=at)]


@router.delete("/v1/memories/{memory_id}/", dependencies=[any_key("delete_linked")])
async def delete(memory_id: MemoryId, memory: Memory) -> Deleted:
    """Forget one memory.  The log still holds it."""
    graph_id, turn_id = _parts(memory_id)
    caller().check("forget", graph_id)
    if (await memory.forget(graph_id, turns=[turn_id])).status == "rejected":
        raise UnknownGraphError(NO_MEMORY)
    return _deleted("Memory deleted successfully!", graph_id, turn_id)


@router.delete("/v1/memories/", dependencies=[any_key(*OWNERS)])
async def delete_all(
    memory: Memory,
    user_id: str | None = None,
    agent_id: str | None = None,
    app_id: str | None = None,
    run_id: str | None = None,
) -> Deleted:
    """Forget all memories of a user, or those of one agent, app or run."""
    scope = scope_of(Whose(user_id=user_id, agent_id=agent_id, app_id=app_id, run_id=run_id))
    caller().check("forget", scope.graph)
    if scope.metadata:
        names = [turn.id async for turn, _ in _walk(memory, scope)]
        for start in range(0, len(names), TOP):
            _done(await memory.forget(scope.graph, turns=names[start : start + TOP]))
    elif scope.session is not None:
        _done(await memory.forget(scope.graph, sessions=[fitted(scope.session)]))
    else:
        _done(await memory.forget(scope.graph, everything=True))
    is_part = scope.metadata or scope.session is not None
    return _deleted("Memories deleted successfully!", scope.graph, "ID" if is_part else None)


@router.get("/v1/entities/", dependencies=[any_key("page", "page_size")])
async def entities(memory: Memory, page: Page = 1, page_size: PageSize = PAGE) -> Entities:
    """List the entities whose memories the caller's key may read."""
    caller().check_right("read")
    names = await memory.graphs(patterns=caller().patterns)
    shown = names[(page - 1) * page_size : page * page_size]
    described = await asyncio.gather(*(_entity(memory, name) for name in shown))
    results = [entity for entity in described if entity is not None]
    count = len(names) - (len(shown) - len(results))
    return Entities(count=count, results=results, **_around("/v1/entities/", page, page_size, len(names)))


@router.delete("/v2/entities/{kind}/{name}/", dependencies=[any_key()])
async def delete_entity(kind: MemoryId, name: MemoryId, memory: Memory) -> Deleted:
    """Forget all memories of a user, an agent, an app or a run."""
    if kind not in ("user", *KINDS):
        raise UnknownGraphError("there is no such kind of entity: use user, agent, app or run")
    graph_id = graph_of(kind, name)
    caller().check("forget", graph_id)
    if (await memory.forget(graph_id, everything=True)).status == "rejected":
        raise UnknownGraphError("there is no such entity: list them with GET /v1/entities/")
    return _deleted("Entity deleted successfully!", graph_id)


def _deleted(message: str, graph_id: str, turn_id: str | None = None) -> Deleted:
    """Confirm a deletion, with what the log keeps and how the operator can erase it; `turn_id`: of each turn."""
    which = [] if turn_id is None else ["--turn", turn_id]
    command = shlex.join(["emgas", "change", "erase", graph_id, *which])
    kept = (
        "Searches no longer find it. The log still holds it: a key with the right to forget or to admin can read it "
        f"as of an earlier time. To erase it from an encrypted or an embedded memory: {command}"
    )
    return Deleted(message=message, kept=kept)


def _done(outcome: Outcome) -> None:
    """Raise RequestRejectedError if the memory rejected a request, as a graph without a grant does."""
    if outcome.status == "rejected":
        raise RequestRejectedError(outcome.reason)


def _pieces(messages: list[Mem0Message], identity: str) -> Iterator[tuple[str, Mem0Message, str]]:
    """Split messages into turns, each with its id."""
    cut = [(message, text) for message in messages if message.role in SPEAKING_ROLES for text in pieces(message.text)]
    for number, (message, text) in enumerate(cut):
        yield (fitted(identity) if number == 0 else f"{fitted(identity)}/{number}"), message, text


def _speaker(message: Mem0Message, body: Whose) -> str:
    other = body.user_id if message.role == "user" else body.agent_id
    return fitted(message.name or other or message.role)


async def _walk(memory: MemoryClient, scope: MemoryScope) -> AsyncIterator[tuple[RecordedTurn, int]]:
    """Yield the turns in the scope, the newest first, each with the total of the graph or session."""
    walk: dict[str, Any] = {"newest": True, "limit": READ_TURNS}
    if scope.session is not None:
        walk["session"] = fitted(scope.session)
    page = await memory.turns(scope.graph, **walk)
    while True:
        for turn in page.turns:
            if scope.lets_through(turn):
                yield turn, page.total
        if page.next is None:
            return
        page = await memory.turns(scope.graph, cursor=page.next, **walk)


async def _turn(memory: MemoryClient, memory_id: str) -> tuple[str, RecordedTurn]:
    """Read the turn that an id names.  Raises UnknownGraphError."""
    graph_id, turn_id = _parts(memory_id)
    caller().check("read", graph_id)
    turns = (await memory.turns(graph_id, ids=[turn_id])).turns
    if not turns:
        raise UnknownGraphError(NO_MEMORY)
    return graph_id, turns[0]


def _identity(graph_id: str, turn_id: str) -> str:
    return f"{graph_id.replace('%', '%25').replace('~', '%7E')}~{turn_id}"


def _parts(memory_id: str) -> tuple[str, str]:
    """Split an id into graph and turn.  Raises UnknownGraphError for an invalid id."""
    graph_id, tilde, turn_id = memory_id.partition("~")
    if not (graph_id and tilde and turn_id):
        raise UnknownGraphError(f"{NO_MEMORY}; an id is graph~turn")
    return checked_graph(graph_id.replace("%7E", "~").replace("%25", "%")), turn_id


def _end_of(day: str | None) -> int | None:
    """Return when a day of UTC is over, ms.  Raises InvalidMessageError."""
    return None if day is None else milliseconds(day) + DAY_MS


def _kept(graph_id: str, turn: RecordedTurn | RecalledPassage, score: float | None = None) -> Kept:
    metadata = dict(turn.metadata) if isinstance(turn, RecordedTurn) else {}
    owners = {name: cast(str, metadata.pop(name)) for name in ("agent_id", "app_id") if metadata.get(name)}
    kind, name = kind_and_name(graph_id)
    owners[f"{kind}_id"] = name
    if kind != "run" and turn.session != "main":
        owners["run_id"] = turn.session
    at = _time(turn.at)
    return Kept(
        id=_identity(graph_id, turn.id),
        memory=turn.text,
        metadata=metadata,
        created_at=at,
        updated_at=at,
        expiration_date=None if turn.expires_at is None else _time(turn.expires_at - DAY_MS)[:10],
        score=score,
        **{name: str(owner) for name, owner in owners.items()},
    )


async def _entity(memory: MemoryClient, graph_id: str) -> Entity | None:
    """Describe a graph; None if, since it was listed, it became unavailable or was revoked."""
    kind, name = kind_and_name(graph_id)
    try:
        description = await memory.describe(graph_id)
    except QueryFailedError as error:
        if error.code in ("unavailable", "forbidden"):
            return None
        raise
    count = description.turns + description.archived
    return Entity(id=graph_id, name=name, type=kind, total_memories=count, updated_at=_time(description.clock))


def _time(at: int) -> str:
    return datetime_of(at).astimezone(UTC).isoformat(timespec="milliseconds")


def _around(path: str, page: int, page_size: int, count: int) -> dict[str, str | None]:
    """Return the links to the pages before and after one."""
    link = f"{path}?page_size={page_size}&page="
    is_last = page * page_size >= count
    return {"next": None if is_last else f"{link}{page + 1}", "previous": f"{link}{page - 1}" if page > 1 else None}
