"""`emgas recent GRAPH` and `emgas end GRAPH SESSION`: what is in mind of a conversation, and that one is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emgas.errors import EmgasError
from emgas.limits import RING_TURNS
from emgas.times import format_utc
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session
from streams.cli.shared.times import METAVAR, time

if TYPE_CHECKING:
    from emgas.messages.sessions import InMind


def recent(
    graph: output.Graph,
    *,
    session: Annotated[str | None, typer.Option(help="Of this conversation, else of the latest one.")] = None,
    limit: Annotated[int, typer.Option(min=0, max=RING_TURNS, help="How many of its last turns.")] = 10,
    as_of: Annotated[
        int | None, typer.Option(parser=time, metavar=METAVAR, help="As the graph was then: 2023-05-08T14:00 (UTC).")
    ] = None,
    timeout: output.Timeout = 10.0,
    json: output.Json = False,
) -> None:
    """Tell what is in mind of a conversation: its last turns, its keywords, and what it inherits from the one before.

    Exits with 3 for an unknown graph.
    """
    told = output.run(_recent(graph, session, limit, as_of=as_of, timeout=timeout))
    if json:
        output.print_json(told.model_dump())
    elif told.found:
        _show(told)
    if not told.found:
        output.fail_unknown(graph, as_of)


def end(
    graph: output.Graph,
    session: Annotated[str, typer.Argument(help="Which conversation.")] = "main",
    *,
    timeout: output.Timeout = 10.0,
    json: output.Json = False,
) -> None:
    """Say that a conversation is over: it is summed up, and the next one inherits what it was about."""
    result = output.run(_end(graph, session, timeout))
    if result is None:
        output.fail_unknown(graph)
    if json:
        output.print_json(result)
        return
    told = result["summary"] or "nothing in it stands for it"
    output.out.print(f"{escape(session)} ended: {escape(told)}", highlight=False, soft_wrap=True)


async def _recent(graph: str, session: str | None, limit: int, *, as_of: int | None, timeout: float) -> InMind:
    async with connected_session(output.settings(), timeout, begins=False) as connected:
        return await connected.memory.recent(graph, session, limit=limit, as_of=as_of)


async def _end(graph: str, session: str, timeout: float) -> dict[str, Any] | None:
    """End a conversation; tell what it was about, None for an unknown graph.  Raises EmgasError when it is refused."""
    async with connected_session(output.settings(), timeout, begins=False) as connected:
        memory = connected.memory
        if not (await memory.describe(graph)).found:
            return None
        outcome = await memory.end_session(graph, session)
        if outcome.status == "rejected":
            raise EmgasError(outcome.reason or "refused")
        source = outcome.position.source
        told = (await memory.recap(graph, [session], words=0, after=source)).sessions[0].ended
    summary = {"summary": told.summary, "turns": told.turns, "by": told.by} if told else {}
    return {"graph": graph, "session": session, "status": "accepted", "source": source, **summary}


def _show(told: InMind) -> None:
    if told.paused:
        output.tell(f"recalling is paused in {told.graph}: `emgas resume {told.graph}`")
        return
    if told.inherited is not None:
        before = told.inherited
        head = f"[dim]before, in {escape(before.session)} ({format_utc(before.at)}):[/]"
        output.out.print(head, highlight=False, soft_wrap=True)
        for line in before.summary.splitlines():
            output.out.print(f"  [dim]{escape(line)}[/]", highlight=False, soft_wrap=True)
    output.out.print(f"[bold]{escape(told.session)}[/]  {told.state}", highlight=False, soft_wrap=True)
    for turn in told.turns:
        line = f"  [dim]{format_utc(turn.at)}[/] [cyan]{escape(turn.speaker)}[/] {escape(turn.text)}"
        output.out.print(line, highlight=False, soft_wrap=True)
    if told.keywords:
        output.tell(f"about {', '.join(told.keywords)}")
    output.tell(f"{len(told.turns)} of {told.total} turns in mind")
