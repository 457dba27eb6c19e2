"""`emgas change pin GRAPH` and `emgas change unpin GRAPH`: stop concepts and turns from fading, or let them fade."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from emgas.errors import EmgasError
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session

Concepts = Annotated[list[str] | None, typer.Option("--concept", help="Concept, by id or as written; repeatable.")]
Turns = Annotated[list[str] | None, typer.Option("--turn", help="Turn id; repeatable.")]
Verb = Literal["pin", "unpin"]


def pin(
    graph: output.Graph,
    *,
    concept: Concepts = None,
    turn: Turns = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Pin concepts and turns, so that they never fade; archived ones become active again."""
    _run("pin", graph, {"concepts": concept or [], "turns": turn or []}, timeout=timeout, json=json)


def unpin(
    graph: output.Graph,
    *,
    concept: Concepts = None,
    turn: Turns = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Unpin concepts and turns, so that they can fade again."""
    _run("unpin", graph, {"concepts": concept or [], "turns": turn or []}, timeout=timeout, json=json)


def _run(verb: Verb, graph: str, named: dict[str, list[str]], *, timeout: float, json: bool) -> None:
    if not any(named.values()):
        output.fail(f"nothing to {verb}: give --concept or --turn", output.USAGE)
    result = output.run(_done(verb, graph, named, timeout))
    if result is None:
        output.fail_unknown(graph)
    if json:
        output.print_json(result)
        return
    turns, concepts = output.counted(result["pinned"], "turn"), output.counted(result["pinned_concepts"], "concept")
    output.out.print(f"{graph} has {turns} and {concepts} pinned", highlight=False, soft_wrap=True)


async def _done(verb: Verb, graph: str, named: dict[str, list[str]], timeout: float) -> dict[str, Any] | None:
    """Pin or unpin, and return how much is pinned afterwards; None for an unknown graph."""
    async with connected_session(output.settings(), timeout, begins=False) as connected:
        from emgas.messages.turns import Pin, Unpin  # here: --help needs none of it
        from emgas.validation import build

        memory = connected.memory
        if not (await memory.describe(graph)).found:
            return None
        kind = Pin if verb == "pin" else Unpin
        outcome = await memory.send(build(kind, {"graph": graph, **named}))
        if outcome.status == "rejected":
            raise EmgasError(outcome.reason or f"the {verb} was refused")
        source = outcome.position.source
        after = await memory.describe(graph, after=source)
    counted = {"pinned": after.pinned, "pinned_concepts": after.pinned_concepts}
    return {"graph": graph, "status": "accepted", **counted, "source": source}
