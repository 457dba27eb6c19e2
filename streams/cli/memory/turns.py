"""`emgas turns GRAPH`: list the turns of a graph, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emgas.limits import READ_TURNS
from emgas.times import format_utc
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session
from streams.cli.shared.times import METAVAR, time

if TYPE_CHECKING:
    from emgas.messages.advice import Advised
    from emgas.messages.contents import RecordedTurn, Turns


def turns(
    graph: output.Graph,
    *,
    id: Annotated[list[str] | None, typer.Option(help="Turn id; repeatable.")] = None,
    session: Annotated[str | None, typer.Option(help="Only turns of this session.")] = None,
    concept: Annotated[
        str | None, typer.Option(help="Only turns that mention this concept, by id or as written.")
    ] = None,
    oldest: Annotated[bool, typer.Option("--oldest", help="Oldest turns first.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of turns.")] = 20,
    advised: Annotated[bool, typer.Option("--advised", help="Also show what advisors wrote about each turn.")] = False,
    as_of: Annotated[
        int | None,
        typer.Option(parser=time, metavar=METAVAR, help="Show the graph as of this time: 2023-05-08T14:00 (UTC)."),
    ] = None,
    timeout: output.Timeout = 10.0,
    json: output.Json = False,
) -> None:
    """List the recorded turns of a graph, the latest by default.  Exits with 3 for an unknown graph."""
    wanted = {"session": session, "concept": concept, "newest": not oldest and not id, "as_of": as_of, "ids": id or []}
    wanted |= {"advised": True} if advised else {}
    found, total, read = output.run(_read(graph, wanted, limit, timeout))
    if json:
        output.print_json(
            {"graph": graph, "found": found, "total": total, "turns": [each.model_dump() for each in read]}
        )
    elif found:
        _show(read, total)
    if not found:
        output.fail_unknown(graph, as_of)


async def _read(graph: str, wanted: dict[str, Any], limit: int, timeout: float) -> tuple[bool, int, list[RecordedTurn]]:
    """Read pages until there are enough turns; return them in the order of recording."""
    read: list[RecordedTurn] = []
    async with connected_session(output.settings(), timeout, begins=False) as connected:
        page: Turns | None = None
        while page is None or (page.next is not None and len(read) < limit):
            left = min(limit - len(read), READ_TURNS)
            cursor = None if page is None else page.next
            page = await connected.memory.turns(graph, **wanted, limit=left, cursor=cursor)
            read += page.turns
    return page.found, page.total, read[::-1] if wanted["newest"] else read


def _show(read: list[RecordedTurn], total: int) -> None:
    for turn in read:
        marks = [name for name in ("archived", "pinned") if getattr(turn, name)]
        report = ", ".join([*marks, *([f"kept: {turn.anchor}"] if turn.anchor else []), *_gated(turn)])
        mark = f"  [dim]({report})[/]" if report else ""
        report = f"[dim]{format_utc(turn.at)}  {escape(turn.session)}  {escape(turn.id)}[/]{mark}"
        output.out.print(report, highlight=False, soft_wrap=True)
        output.out.print(f"  [cyan]{escape(turn.speaker)}[/] {escape(turn.text)}", highlight=False, soft_wrap=True)
        if turn.advised is not None:
            _show_advice(turn.text, turn.advised)
    output.tell(f"{len(read)} of {total} turns")


def _gated(turn: RecordedTurn) -> list[str]:
    """Return what gates noted about a turn."""
    score = [] if turn.novelty is None else [f"novelty {turn.novelty:.2f}"]
    return [*score, *([f"not counted: {turn.uncounted}"] if turn.uncounted else [])]


def _show_advice(text: str, said: Advised) -> None:
    lines = []
    if said.rewritten is not None:
        role = f" as {said.role}" if said.role else ""
        lines.append(f"in other words{role}: {said.rewritten} ({said.rewritten_by})")
    if said.parts:
        lines.append(f"parts: {' | '.join(text[part.start : part.end] for part in said.parts)} ({said.split_by})")
    if said.worth is not None:
        lines.append(f"worth {said.worth:g}: {', '.join(said.keywords)} ({said.judged_by})")
    for line in lines:
        output.out.print(f"    [dim]{escape(line)}[/]", highlight=False, soft_wrap=True)
