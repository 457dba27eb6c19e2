"""`emgas forget GRAPH`: delete concepts, turns, sessions or everything from a graph; the log keeps the past."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from emgas.errors import EmgasError
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient

KEPT = (
    "The log keeps the past: a query as of an earlier time still finds it.  To delete the text permanently, use "
    "`emgas change erase`: see docs/erasure.md."
)
Named = dict[str, list[str]]  # "concepts", "turns", "sessions"


def forget(
    graph: output.Graph,
    *,
    concept: Annotated[
        list[str] | None, typer.Option(help="Concept to forget, by id or as written; repeatable.")
    ] = None,
    turn: Annotated[list[str] | None, typer.Option(help="Turn id to forget; repeatable.")] = None,
    session: Annotated[list[str] | None, typer.Option(help="Session id to forget; repeatable.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Forget everything in the graph.")] = False,
    yes: output.Yes = False,
    timeout: output.Timeout = 10.0,
    json: output.Json = False,
) -> None:
    """Delete concepts, turns, sessions or everything from a graph; queries no longer find them.

    Exits with 3 for an unknown graph, with 1 if the graph holds none of them.
    """
    named = {"concepts": concept or [], "turns": turn or [], "sessions": session or []}
    if any(named.values()) == everything:
        output.fail("nothing named to forget: give --concept, --turn or --session, or --all alone", output.USAGE)
    report = ", ".join(f"{kind.removesuffix('s')} {name}" for kind, names in named.items() for name in names)
    output.make_sure(f"{graph} will forget {report or 'everything it holds'}", yes=yes)
    result = output.run(_forget(graph, named, timeout, everything=everything))
    if result is None:
        output.fail_unknown(graph)
    if json:
        output.print_json(result)
        return
    report = f"{graph} forgot {_counted(result['concepts'], 'concept')} and {_counted(result['turns'], 'turn')}"
    output.out.print(report, highlight=False, soft_wrap=True)
    output.err.print(KEPT, style="dim", highlight=False)


async def _forget(graph: str, named: Named, timeout: float, *, everything: bool) -> dict[str, Any] | None:
    """Send the request and return how much was deleted; None for an unknown graph."""
    async with connected_session(output.settings(), timeout, begins=False) as connected:
        memory = connected.memory
        before = await memory.describe(graph)
        if not before.found:
            return None
        source = await _request(memory, graph, named, everything=everything)
        after = await memory.describe(graph, after=source)
    # Turns that come at the same time may bring new concepts: what is counted is the difference.
    counts = [described.concepts + described.archived_concepts for described in (before, after)]
    gone = {"concepts": max(0, counts[0] - counts[1]), "turns": after.forgotten - before.forgotten}
    return {"graph": graph, "status": "accepted", **gone, "source": source}


async def _request(memory: MemoryClient, graph: str, named: Named, *, everything: bool) -> int:
    """Send the request and return its offset in `turns`.  Raises EmgasError if it is refused."""
    outcome = await memory.forget(
        graph, named["concepts"], named["turns"], sessions=named["sessions"], everything=everything
    )
    if outcome.status == "rejected":
        raise EmgasError(outcome.reason or "forgetting was refused")
    return outcome.position.source


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
