"""`emgas look recent GRAPH` and `emgas change end GRAPH SESSION`: show what is in mind, and end a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emgas.errors import EmgasError
from emgas.limits import RING_TURNS
from emgas.messages.sessions import EndSession, Recent
from emgas.messages.views import Recap
from emgas.times import format_utc
from emgas.validation import build
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session
from streams.cli.shared.times import METAVAR, time

if TYPE_CHECKING:
    from emgas.messages.sessions import InMind


def recent(
    graph: output.Graph,
    *,
    session: Annotated[str | None, typer.Option(help="Session to show; the latest by default.")] = None,
    limit: Annotated[int, typer.Option(min=0, max=RING_TURNS, help="Number of last turns to show.")] = 10,
    as_of: Annotated[
        int | None,
        typer.Option(parser=time, metavar=METAVAR, help="Show the graph as of this time: 2023-05-08T14:00 (UTC)."),
    ] = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Show the working memory of a session: its last turns, its keywords, and the summary of the session before.

    Exits with 3 for an unknown graph.
    """
    reply = output.run(_recent(graph, session, limit, as_of=as_of, timeout=timeout))
    if json:
        output.print_json(reply.model_dump())
    elif reply.found:
        _show(reply)
    if not reply.found:
        output.fail_unknown(graph, as_of)


def end(
    graph: output.Graph,
    session: Annotated[str, typer.Argument(help="Session to end.")] = "main",
    *,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Mark a conversation as finished and summarise it; the next session inherits the summary."""
    result = output.run(_end(graph, session, timeout))
    if result is None:
        output.fail_unknown(graph)
    if json:
        output.print_json(result)
        return
    reply = result["summary"] or "no summary: nothing in it stands out"
    output.out.print(f"{escape(session)} ended: {escape(reply)}", highlight=False, soft_wrap=True)


async def _recent(graph: str, session: str | None, limit: int, *, as_of: int | None, timeout: float) -> InMind:
    async with connected_session(output.settings(), timeout, begins=False) as connected:
        return await connected.memory.send(
            build(Recent, {"graph": graph, "session": session, "limit": limit, "as_of": as_of})
        )


async def _end(graph: str, session: str, timeout: float) -> dict[str, Any] | None:
    """End a session and return its summary; None for an unknown graph.  Raises EmgasError if it is refused."""
    async with connected_session(output.settings(), timeout, begins=False) as connected:
        memory = connected.memory
        if not (await memory.describe(graph)).found:
            return None
        outcome = await memory.send(build(EndSession, {"graph": graph, "session": session}))
        if outcome.status == "rejected":
            raise EmgasError(outcome.reason or "ending the session was refused")
        source = outcome.position.source
        reply = (
            (await memory.send(build(Recap, {"graph": graph, "sessions": [session], "words": 0}), after=source))
            .sessions[0]
            .ended
        )
    summary = {"summary": reply.summary, "turns": reply.turns, "by": reply.by} if reply else {}
    return {"graph": graph, "session": session, "status": "accepted", "source": source, **summary}


def _show(reply: InMind) -> None:
    if reply.paused:
        output.tell(f"recalling is paused in {reply.graph}: `emgas change resume {reply.graph}`")
        return
    if reply.inherited is not None:
        before = reply.inherited
        head = f"[dim]before, in {escape(before.session)} ({format_utc(before.at)}):[/]"
        output.out.print(head, highlight=False, soft_wrap=True)
        for line in before.summary.splitlines():
            output.out.print(f"  [dim]{escape(line)}[/]", highlight=False, soft_wrap=True)
    output.out.print(f"[bold]{escape(reply.session)}[/]  {reply.state}", highlight=False, soft_wrap=True)
    for turn in reply.turns:
        line = f"  [dim]{format_utc(turn.at)}[/] [cyan]{escape(turn.speaker)}[/] {escape(turn.text)}"
        output.out.print(line, highlight=False, soft_wrap=True)
    if reply.keywords:
        output.tell(f"about {', '.join(reply.keywords)}")
    output.tell(f"{len(reply.turns)} of {reply.total} turns in mind")
