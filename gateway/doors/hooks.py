"""Hooks of agent programs: what a host says at an event is stored, and what is known of a prompt is added to it.

    POST /v1/hooks/{host}?event=&graph=&at=&late=    body: the host's own JSON (emgas/hooks/hosts.py)
    GET  /v1/hooks                                   what agents got: injections.py

a prompt      is stored, and gets what its project's graph and the person's hold of it, in mode `inject`: often nothing
an answer     is stored         a session that begins   gets a card: whose memory this is, and of what
late          it was said before, when no server ran: it is only stored

The response is what the hook prints; `{}` means nothing.
"""

from __future__ import annotations

import asyncio
import time
from math import ceil
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Path, Query, Request

from emgas.client.client import MemoryClient
from emgas.client.several import TOKENS_PER_WORD, Merged, distinct_graphs, query_all
from emgas.errors import EmgasError, InvalidMessageError
from emgas.hooks.hosts import HOSTS, HookInput, Host, read_input
from emgas.hooks.projects import PERSON, graph_of
from emgas.hooks.prose import MEMORY_TAG, only_asks, prose, turn_id
from emgas.integrations.remembering import HEADING
from emgas.limits import EXCLUDED, TEXT_BYTES
from emgas.messages import queries
from emgas.messages.fields import GraphId, Milliseconds
from emgas.messages.filters import Filter
from emgas.pieces import fitted, in_pieces, pieces
from gateway.auth.access import any_key, caller
from gateway.doors.injections import Injected, Injection, Injections, ListedInjections
from gateway.http.errors import REFUSALS, RequestRejectedError
from gateway.routes.dependencies import Memory

router = APIRouter(prefix="/v1/hooks", responses=REFUSALS, tags=["hooks"])
BUDGET: Final = 600  # tokens that a prompt gets, at most
LISTED: Final = 1000
AGAIN: Final = 3  # times that turns are left out of an answer, at most
LEAST: Final = 0.2  # of the best turn's likelihood
CARD_TOPICS: Final = 6
ROLES: Final = {"prompt": "user", "answer": "assistant"}
HostName = Annotated[str, Path(description="one of " + ", ".join(HOSTS))]


@router.post("/{host}", dependencies=[any_key("event", "graph", "at", "late")])
async def run_hook(
    host: HostName,
    payload: Annotated[dict[str, Any], Body(description="the JSON that the host passes to its hooks")],
    memory: Memory,
    request: Request,
    *,
    event: Annotated[str, Query(description="if the body does not name it")] = "",
    graph: Annotated[GraphId | None, Query(description="by default, the folder's of the body")] = None,
    at: Annotated[Milliseconds | None, Query(description="when it was said; by default now")] = None,
    late: Annotated[bool, Query(description="only store it")] = False,
) -> dict[str, Any]:
    """Store what a host says at an event, and return what its hook prints: usually `{}`."""
    if host not in HOSTS:
        raise InvalidMessageError(f"host: there is no {host!r}: use one of {', '.join(HOSTS)}")
    received = read_input(HOSTS[host], payload, event)
    graph = graph or graph_of(received.folder, local=not request.app.state.wants_keys)
    caller().check("write", graph)
    storing = asyncio.ensure_future(_store(memory, host, received, graph, at))
    try:
        injection = None if late else await _injection(memory, HOSTS[host], received, graph, injections_of(request))
    finally:
        await storing
    if injection is None or await request.is_disconnected():  # the hook gave up: the agent goes on without
        return {}
    injections_of(request).add(injection.record)
    return HOSTS[host].output(received.event, injection.text)


@router.get("", dependencies=[any_key("limit", "session")])
async def list_injections(
    request: Request,
    *,
    limit: Annotated[int, Query(ge=1, le=LISTED)] = 20,
    session: Annotated[str | None, Query(description="only of this session")] = None,
) -> ListedInjections:
    """List what agents got from hooks, the latest first.  It names turns; `GET …/turns?id=` has their texts."""
    caller().check_right("read")
    visible = (each for each in injections_of(request).latest() if all(map(caller().may_see, each.graphs)))
    chosen = [each for each in visible if session in (None, each.session)]
    return ListedInjections(injections=chosen[:limit], more=len(chosen) > limit)


def injections_of(request: Request) -> Injections:
    """Return the injections of this gateway."""
    kept: Injections = request.app.state.injections
    return kept


async def _store(memory: MemoryClient, host: str, received: HookInput, graph: str, at: int | None) -> None:
    """Record a prompt or an answer; nothing for other events, or where a program wrote it."""
    role, text = ROLES.get(received.about), prose(received.text)
    if role is None or not text:
        return
    session = fitted(received.session or "main")
    common = {"graph": graph, "session": session, "speaker": role, "role": role, "metadata": {"origin": f"hook:{host}"}}
    whole = {**common, "id": turn_id(session, role, text), "text": text, **({} if at is None else {"at": at})}
    for piece in in_pieces(whole):
        outcome = await memory.record(piece)
        if outcome.status == "rejected":
            raise RequestRejectedError(outcome.reason)


async def _injection(
    memory: MemoryClient, host: Host, received: HookInput, graph: str, injections: Injections
) -> Injected | None:
    """Find what to add to a prompt or a session; None for nothing, or where the host shows it to no model."""
    if received.event not in host.injects:
        return None
    graphs = [each for each in distinct_graphs([graph, PERSON]) if caller().may_see(each)]
    if "read" not in caller().rights or not graphs:
        return None
    if received.about == "start":
        return await _card(memory, host, received, graphs)
    return await injection_for_prompt(memory, host, received, graphs=graphs, injections=injections)


async def injection_for_prompt(
    memory: MemoryClient, host: Host, received: HookInput, *, graphs: list[str], injections: Injections
) -> Injected | None:
    """Ask the graphs what they hold of a prompt, without what this session said or was given before.

    Returns None for nothing.  `python -m evaluation` measures what prompts get by this function, too.
    """
    text = prose(received.text)
    if not text:
        return None
    session = fitted(received.session or "main")
    query = queries.Query(
        graph=graphs[0],
        text=pieces(text, TEXT_BYTES)[0],
        mode="inject",
        session=session,
        only=Filter(exclude=injections.turns_of(session)),
    )
    merged = await _merged(memory, query, graphs)
    for _ in range(AGAIN):
        useless = _useless(merged)
        if not useless:
            break
        query = query.model_copy(update={"only": Filter(exclude=[*useless, *query.only.exclude][:EXCLUDED])})
        merged = await _merged(memory, query, graphs)
    if not merged.context:
        return None
    matched = [each.graph for each in merged.graphs if each.matched]
    turns = [(each.graph, each.passage.id) for each in merged.passages if each.passage.in_context]
    return _injected(host, received, merged.context, graphs=matched, turns=turns, tokens=merged.tokens)


def _useless(merged: Merged) -> list[str]:
    """List the turns that are not worth a prompt: earlier questions, and what is much less likely than the best."""
    best: dict[str, float] = {}
    for each in merged.passages:
        best[each.graph] = max(best.get(each.graph, 0.0), each.passage.likelihood or 0.0)
    return [
        each.passage.id
        for each in merged.passages
        if only_asks(each.passage.text) or (each.passage.likelihood or 0.0) < LEAST * best[each.graph]
    ]


async def _merged(memory: MemoryClient, query: queries.Query, graphs: list[str]) -> Merged:
    """Ask each graph for the whole budget, since usually one of them answers; if both exceed it, for a share."""

    async def ask(graph: str, budget: int) -> queries.Reply:
        return await memory.send(query.model_copy(update={"graph": graph, "budget": budget}))

    merged = await query_all(graphs, ask, BUDGET * len(graphs), None)
    return merged if merged.tokens <= BUDGET else await query_all(graphs, ask, BUDGET, None)


async def _card(memory: MemoryClient, host: Host, received: HookInput, graphs: list[str]) -> Injected | None:
    """Describe the graphs that hold anything, in a line each."""
    described = await asyncio.gather(*(memory.describe(graph) for graph in graphs), return_exceptions=True)
    lines, shown = list[str](), list[str]()
    for each in described:
        if isinstance(each, EmgasError):
            continue
        if isinstance(each, BaseException):
            raise each
        if each.found and each.turns:
            topics = ", ".join((theme.name or theme.label) for theme in each.themes[:CARD_TOPICS])
            lines.append(f"# {each.graph}\n{each.turns} turns{f', about: {topics}' if topics else ''}")
            shown.append(each.graph)
    if not lines:
        return None
    text = "\n".join(lines) + "\nWhat fits a prompt is added to it. The tool `recall` searches for more."
    return _injected(host, received, text, graphs=shown, turns=[], tokens=ceil(TOKENS_PER_WORD * len(text.split())))


def _injected(
    host: Host, received: HookInput, context: str, *, graphs: list[str], turns: list[tuple[str, str]], tokens: int
) -> Injected:
    quoted = context.replace(f"</{MEMORY_TAG}", f"< /{MEMORY_TAG}")
    session = fitted(received.session or "main")
    record = Injection(
        at=time.time_ns() // 1_000_000,
        host=host.name,
        event=received.event,
        session=session,
        prompt=turn_id(session, "user", prose(received.text)) if received.about == "prompt" else None,
        graphs=graphs,
        turns=turns,
        tokens=tokens,
    )
    return Injected(record, f"<{MEMORY_TAG}>\n{HEADING}\n{quoted}\n</{MEMORY_TAG}>")
