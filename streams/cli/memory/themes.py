"""`emgas look themes GRAPH`: the topics of a graph.  They are called themes here because topics are Kafka's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from emgas.times import format_utc
from streams.cli.shared import output
from streams.cli.shared.client import session

if TYPE_CHECKING:
    from emgas.messages.queries import Description, Theme

SHOWN = 12  # concepts per theme; --json has all


def themes(
    graph: output.Graph,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Show the topics of a graph: groups of related concepts.

    Exits with 3 for an unknown graph.
    """
    described = output.run(_describe(graph, timeout))
    if json:
        listed = [theme.model_dump() for theme in described.themes]
        output.print_json({"graph": graph, "found": described.found, "themes": listed})
    elif described.found:
        _show(described)
    if not described.found:
        output.fail_unknown(graph)


async def _describe(graph: str, timeout: float) -> Description:
    async with session(output.settings(), timeout, begins=False) as connected:
        return await connected.memory.describe(graph)


def _show(described: Description) -> None:
    title = f"{described.graph}: {output.counted(len(described.themes), 'theme')}"
    rows = output.table(title, "theme", "concepts", "since")
    for theme in described.themes:
        name = theme.label if theme.name is None else f"{theme.name} ({theme.label})"
        rows.add_row(escape(name), escape(_listed(theme)), format_utc(theme.born))
    output.out.print(rows)
    kept = f"{described.turns} turns, {described.concepts} concepts, {described.long_term} of them long-term"
    archive = f"in the archive: {described.archived} turns, {described.archived_concepts} concepts"
    report = f"{kept}; {archive}; its time is {format_utc(described.clock)}"
    output.out.print(report, style="dim", highlight=False, soft_wrap=True)


def _listed(theme: Theme) -> str:
    more = len(theme.concepts) - SHOWN
    return ", ".join(theme.concepts[:SHOWN]) + (f", and {more} more" if more > 0 else "")
