"""The part of mem0's HTTP API that its clients speak: what was written for mem0 keeps its memory here.

    mem0.MemoryClient(api_key="emgas_…", host="http://127.0.0.1:8088")

whose      `user_id` is the graph.  Without a user the graph is agent:ID, app:ID or run:ID; beside one, `agent_id` and
           `app_id` are metadata of a turn, and `run_id` is its session
a memory   is a turn, word for word as it was said: no model infers anything, so what would instruct one is passed over
its id     graph~turn, a ~ or % of the graph as %7E, %25

What mem0 has and this has not is refused, never passed over: `expiration_date`, updates (what was said stays as it was
said: delete it, and add what holds now), filters over several users.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Iterator
from datetime import UTC
from typing import Annotated, Any, cast
from uuid import uuid4

from fastapi import APIRouter, Depends, Header, Query
from pydantic import BeforeValidator

from emgas.client.client import MemoryClient
from emgas.errors import QueryFailedError
from emgas.integrations.remembering import fitted, pieces
from emgas.limits import READ_TURNS, TOP
from emgas.messages.contents import RecordedTurn
from emgas.messages.fields import Name
from emgas.messages.queries import RecalledPassage
from emgas.messages.turns import Outcome
from emgas.times import datetime_of
from emgas.validation import checked_graph
from gateway.auth.access import caller, known
from gateway.doors.mem0.shapes import (
    AddBody,
    Added,
    Change,
    Entities,
    Entity,
    Event,
    Found,
    Kept,
    ListBody,
    Listed,
    Pinged,
    Said,
    SearchBody,
    Told,
    Whose,
)
from gateway.doors.mem0.wanted import KINDS, OWNERS, Wanted, graph_of, kind_and_name, wanted_of
from gateway.http.errors import REFUSALS, RejectedError, UnknownGraphError
from gateway.http.paths import unslashed
from gateway.routes.graphs import memory_of

router = APIRouter(responses=REFUSALS, tags=["mem0"])
Memory = Annotated[MemoryClient, Depends(memory_of)]
SAID_BY = {"user", "assistant"}  # no system prompts, no calls of tools
PAGE = 100  # memories, or entities, of one page
MemoryId = Annotated[str, BeforeValidator(unslashed)]
IdempotencyKey = Annotated[Name | None, Header(description="the same again has no effect")]
Page = Annotated[int, Query(ge=1, le=1_000_000)]
PageSize = Annotated[int, Query(ge=1, le=PAGE)]


@router.get("/v1/ping/", dependencies=[known("org_id", "project_id")])
async def ping() -> Pinged:
    """Tell that somebody listens, and the key is known."""
    return Pinged()


@router.post("/v3/memories/add/", dependencies=[known()])
async def add(body: AddBody, memory: Memory, idempotency_key: IdempotencyKey = None) -> Added:
    """Record what was said; answers once it can be found."""
    wanted = wanted_of(body)
    caller().check("write", wanted.graph)
    at = None if body.timestamp is None else round(body.timestamp * 1000)
    common = {
        "graph": wanted.graph,
        "session": fitted(wanted.session or "main"),
        "metadata": {**(body.metadata or {}), **wanted.metadata},
        "at": at,
    }
    added = list[Event]()
    for identity, said, text in _pieces(body.messages, idempotency_key or uuid4().hex):
        turn = {**common, "id": identity, "text": text, "speaker": _speaker(said, body), "role": said.role}
        outcome = await memory.record(turn)
        if outcome.status == "rejected":
            raise RejectedError(outcome.reason or "the memory refused it")
        event = "ADD" if outcome.status == "accepted" else "NOOP"
        added.append(Event(id=_identity(wanted.graph, identity), memory=text, event=event))
    return Added(results=added)


@router.post("/v3/memories/search/", dependencies=[known()])
async def search(body: SearchBody, memory: Memory) -> Found:
    """Find the turns that answer a question, best first."""
    wanted = wanted_of(body, body.metadata)
    caller().check("read", wanted.graph)
    only = wanted.only() or None
    reply = await memory.query(wanted.graph, body.query, top_passages=body.top_k, budget=0, only=only)
    good = [each for each in reply.passages if body.threshold is None or each.score >= body.threshold]
    if not good or not reply.matched:
        return Found(results=[])
    turns = {turn.id: turn for turn in (await memory.turns(wanted.graph, ids=[each.id for each in good])).turns}
    return Found(results=[_kept(wanted.graph, turns.get(each.id, each), each.score) for each in good])


@router.post("/v3/memories/", dependencies=[known("page", "page_size")])
async def get_all(body: ListBody, memory: Memory, page: Page = 1, page_size: PageSize = PAGE) -> Listed:
    """List memories, the newest first."""
    wanted = wanted_of(body, since=body.start_date, until=body.end_date)
    caller().check("read", wanted.graph)
    first, count, results = (page - 1) * page_size, 0, list[Kept]()
    async for turn, total in _walk(memory, wanted):
        if first <= count < first + page_size:
            results.append(_kept(wanted.graph, turn))
        count += 1
        if wanted.is_whole and count >= first + page_size:
            count = total
            break
    return Listed(count=count, results=results, **_around("/v3/memories/", page, page_size, count))


@router.get("/v1/memories/{memory_id}/", dependencies=[known()])
async def get(memory_id: MemoryId, memory: Memory) -> Kept:
    """Get one memory."""
    graph_id, turn = await _turn(memory, memory_id)
    return _kept(graph_id, turn)


@router.get("/v1/memories/{memory_id}/history/", dependencies=[known()])
async def history(memory_id: MemoryId, memory: Memory) -> list[Change]:
    """Tell what happened to a memory: what was said stays as it was said."""
    graph_id, turn = await _turn(memory, memory_id)
    at, identity = _time(turn.at), _identity(graph_id, turn.id)
    return [Change(id=identity, memory_id=identity, new_memory=turn.text, created_at=at, updated_at=at)]


@router.delete("/v1/memories/{memory_id}/", dependencies=[known("delete_linked")])
async def delete(memory_id: MemoryId, memory: Memory) -> Told:
    """Forget one memory; the log keeps the past."""
    graph_id, turn_id = _parts(memory_id)
    caller().check("forget", graph_id)
    if (await memory.forget(graph_id, turns=[turn_id])).status == "rejected":
        raise UnknownGraphError("there is no such memory")
    return _told("Memory deleted successfully!", graph_id, turn_id)


@router.delete("/v1/memories/", dependencies=[known(*OWNERS)])
async def delete_all(
    memory: Memory,
    user_id: str | None = None,
    agent_id: str | None = None,
    app_id: str | None = None,
    run_id: str | None = None,
) -> Told:
    """Forget all memories of somebody, or those of one agent, app or run."""
    wanted = wanted_of(Whose(user_id=user_id, agent_id=agent_id, app_id=app_id, run_id=run_id))
    caller().check("forget", wanted.graph)
    if wanted.metadata:
        names = [turn.id async for turn, _ in _walk(memory, wanted)]
        for start in range(0, len(names), TOP):
            _done(await memory.forget(wanted.graph, turns=names[start : start + TOP]))
    elif wanted.session is not None:
        _done(await memory.forget(wanted.graph, sessions=[fitted(wanted.session)]))
    else:
        _done(await memory.forget(wanted.graph, everything=True))
    is_part = wanted.metadata or wanted.session is not None
    return _told("Memories deleted successfully!", wanted.graph, "ID" if is_part else None)


@router.get("/v1/entities/", dependencies=[known("page", "page_size")])
async def entities(memory: Memory, page: Page = 1, page_size: PageSize = PAGE) -> Entities:
    """List the entities whose memories the caller's key may read."""
    caller().check_right("read")
    names = await memory.graphs(patterns=caller().patterns)
    shown = names[(page - 1) * page_size : page * page_size]
    told = await asyncio.gather(*(_entity(memory, name) for name in shown))
    results = [entity for entity in told if entity is not None]
    count = len(names) - (len(shown) - len(results))
    return Entities(count=count, results=results, **_around("/v1/entities/", page, page_size, len(names)))


@router.delete("/v2/entities/{kind}/{name}/", dependencies=[known()])
async def delete_entity(kind: MemoryId, name: MemoryId, memory: Memory) -> Told:
    """Forget all that is known of a user, an agent, an app or a run."""
    if kind not in ("user", *KINDS):
        raise UnknownGraphError("there are users, agents, apps and runs")
    graph_id = graph_of(kind, name)
    caller().check("forget", graph_id)
    if (await memory.forget(graph_id, everything=True)).status == "rejected":
        raise UnknownGraphError("there is no such entity")
    return _told("Entity deleted successfully!", graph_id)


def _told(message: str, graph_id: str, turn_id: str | None = None) -> Told:
    """Say that something is forgotten, what is kept of it, and how the operator erases it; `turn_id`: of each turn."""
    which = [] if turn_id is None else ["--turn", turn_id]
    command = shlex.join(["emgas", "erase", graph_id, *which])
    kept = (
        "No question finds it any more. The log keeps what was said, and as of an earlier time a key with the right to "
        f"forget or to admin still sees it. To erase it from an encrypted memory: {command}"
    )
    return Told(message=message, kept=kept)


def _done(outcome: Outcome) -> None:
    """Raise RejectedError unless the memory did what it was asked for: a graph may not have granted it."""
    if outcome.status == "rejected":
        raise RejectedError(outcome.reason)


def _pieces(messages: list[Said], identity: str) -> Iterator[tuple[str, Said, str]]:
    """Cut what was said into turns, each with its id."""
    cut = [(said, text) for said in messages if said.role in SAID_BY for text in pieces(said.text)]
    for number, (said, text) in enumerate(cut):
        yield (fitted(identity) if number == 0 else f"{fitted(identity)}/{number}"), said, text


def _speaker(said: Said, body: Whose) -> str:
    other = body.user_id if said.role == "user" else body.agent_id
    return fitted(said.name or other or said.role)


async def _walk(memory: MemoryClient, wanted: Wanted) -> AsyncIterator[tuple[RecordedTurn, int]]:
    """Go through the turns that are wanted, the newest first; each with how many the graph, or the session, has."""
    walk: dict[str, Any] = {"newest": True, "limit": READ_TURNS}
    if wanted.session is not None:
        walk["session"] = fitted(wanted.session)
    page = await memory.turns(wanted.graph, **walk)
    while True:
        for turn in page.turns:
            if wanted.lets_through(turn):
                yield turn, page.total
        if page.next is None:
            return
        page = await memory.turns(wanted.graph, cursor=page.next, **walk)


async def _turn(memory: MemoryClient, memory_id: str) -> tuple[str, RecordedTurn]:
    """Read the turn that an id names.  Raises UnknownGraphError."""
    graph_id, turn_id = _parts(memory_id)
    caller().check("read", graph_id)
    found = (await memory.turns(graph_id, ids=[turn_id])).turns
    if not found:
        raise UnknownGraphError("there is no such memory")
    return graph_id, found[0]


def _identity(graph_id: str, turn_id: str) -> str:
    return f"{graph_id.replace('%', '%25').replace('~', '%7E')}~{turn_id}"


def _parts(memory_id: str) -> tuple[str, str]:
    """Undo `_identity`.  Raises UnknownGraphError for what is no id."""
    graph_id, tilde, turn_id = memory_id.partition("~")
    if not (graph_id and tilde and turn_id):
        raise UnknownGraphError("there is no such memory: an id is graph~turn")
    return checked_graph(graph_id.replace("%7E", "~").replace("%25", "%")), turn_id


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
        score=score,
        **{name: str(owner) for name, owner in owners.items()},
    )


async def _entity(memory: MemoryClient, graph_id: str) -> Entity | None:
    """Describe a graph; None if, since it was listed, it became unavailable or was revoked."""
    kind, name = kind_and_name(graph_id)
    try:
        told = await memory.describe(graph_id)
    except QueryFailedError as error:
        if error.code in ("unavailable", "forbidden"):
            return None
        raise
    count = told.turns + told.archived
    return Entity(id=graph_id, name=name, type=kind, total_memories=count, updated_at=_time(told.clock))


def _time(at: int) -> str:
    return datetime_of(at).astimezone(UTC).isoformat(timespec="milliseconds")


def _around(path: str, page: int, page_size: int, count: int) -> dict[str, str | None]:
    """Name the pages before and after one."""
    link = f"{path}?page_size={page_size}&page="
    is_last = page * page_size >= count
    return {"next": None if is_last else f"{link}{page + 1}", "previous": f"{link}{page - 1}" if page > 1 else None}
