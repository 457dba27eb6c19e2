"""`emgas turns GRAPH`: list the turns of a graph, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emgas.limits import READ_TURNS
from emgas.times import format_utc
from streams.cli.memory.views import AsOf
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session

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
    as_of: AsOf = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """List the recorded turns of a graph, the latest by default.

    Exits with 3 for an unknown graph.
    """
    filters = {"session": session, "concept": concept, "newest": not oldest and not id, "as_of": as_of, "ids": id or []}
    filters |= {"advised": True} if advised else {}
    exists, total, read = output.run(_read(graph, filters, limit, timeout))
    if json:
        output.print_json(
            {"graph": graph, "found": exists, "total": total, "turns": [each.model_dump() for each in read]}
        )
    elif exists:
        _show(read, total)
    if not exists:
        output.fail_unknown(graph, as_of)


async def _read(
    graph: str, filters: dict[str, Any], limit: int, timeout: float
) -> tuple[bool, int, list[RecordedTurn]]:
    """Read pages until there are enough turns; return them in the order of recording."""
    read: list[RecordedTurn] = []
    async with connected_session(output.settings(), timeout, begins=False) as connected:
        page: Turns | None = None
        while page is None or (page.next is not None and len(read) < limit):
            left = min(limit - len(read), READ_TURNS)
            cursor = None if page is None else page.next
            page = await connected.memory.turns(graph, **filters, limit=left, cursor=cursor)
            read += page.turns
    return page.found, page.total, read[::-1] if filters["newest"] else read


def _show(read: list[RecordedTurn], total: int) -> None:
    for turn in read:
        marks = [name for name in ("archived", "pinned") if getattr(turn, name)]
        marks += [f"from {turn.origin}"] if turn.origin else []
        marks += [f"until {format_utc(turn.expires_at)}"] if turn.expires_at is not None else []
        report = ", ".join([*marks, *([f"kept: {turn.anchor}"] if turn.anchor else []), *_gated(turn)])
        mark = f"  [dim]({report})[/]" if report else ""
        report = f"[dim]{format_utc(turn.at)}  {escape(turn.session)}  {escape(turn.id)}[/]{mark}"
        output.out.print(report)
        output.out.print(f"  [cyan]{escape(turn.speaker)}[/] {escape(turn.text)}")
        if turn.advised is not None:
            _show_advice(turn.text, turn.advised)
    output.tell(f"{len(read)} of {total} turns")


def _gated(turn: RecordedTurn) -> list[str]:
    """Return what gates noted about a turn."""
    score = [] if turn.novelty is None else [f"novelty {turn.novelty:.2f}"]
    return [*score, *([f"set aside: {turn.uncounted}"] if turn.uncounted else [])]


def _show_advice(text: str, advised: Advised) -> None:
    lines = []
    if advised.rewritten is not None:
        role = f" as {advised.role}" if advised.role else ""
        lines.append(f"in other words{role}: {advised.rewritten} ({advised.rewritten_by})")
    if advised.parts:
        lines.append(f"parts: {' | '.join(text[part.start : part.end] for part in advised.parts)} ({advised.split_by})")
    if advised.worth is not None:
        lines.append(f"worth {advised.worth:g}: {', '.join(advised.keywords)} ({advised.judged_by})")
    for line in lines:
        output.out.print(f"    [dim]{escape(line)}[/]")
