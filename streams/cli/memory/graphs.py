"""`emgas graphs`: list the graphs of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emgas.times import format_utc
from streams.cli.shared import output
from streams.cli.shared.client import session

if TYPE_CHECKING:
    from emgas.messages.queries import Description


def graphs(
    *,
    long: Annotated[
        bool, typer.Option("--long", "-l", help="Also show what each graph holds; sends one query per graph.")
    ] = False,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """List the graphs that hold memories."""
    names, described = output.run(_listed(timeout, long=long))
    if json:
        report = [each.model_dump(include=set(SHOWN)) for each in described] if long else names
        output.print_json({"graphs": report})
    elif not names:
        output.tell("no graph holds a memory: store one with `emgas add` or `emgas import`")
    elif long:
        _show(described)
    else:
        for name in names:
            output.out.print(escape(name))


SHOWN = ("graph", "turns", "archived", "forgotten", "concepts", "archived_concepts", "clock")


async def _listed(timeout: float, *, long: bool) -> tuple[list[str], list[Description]]:
    async with session(output.settings(), timeout, begins=False) as connected:
        names = await connected.memory.graphs()
        return names, [await connected.memory.describe(name) for name in names] if long else []


def _show(described: list[Description]) -> None:
    title = output.counted(len(described), "graph")
    rows = output.table(title, "graph", "turns#", "archived#", "concepts#", "themes#", "its time")
    for each in described:
        counts = (each.turns, each.archived, each.concepts, len(each.themes))
        rows.add_row(escape(each.graph), *map(str, counts), format_utc(each.clock) if each.found else "–")
    output.out.print(rows)
