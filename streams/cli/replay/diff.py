"""`emgas replay diff GRAPH --from TIME --to TIME`: show what changed in between, from the log without a worker."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emgas.times import format_utc
from emgas.wire import partition_of
from streams.cli.shared import output
from streams.cli.shared.times import METAVAR, time

if TYPE_CHECKING:
    from replay.diff import ConceptChange, Difference, PairGrowth, ThemeChange
    from state.graph.graph import Graph

NAMED = 5  # concepts that joined or left a theme
CONCEPTS = {  # field of Difference → what it is called
    "born": "born",
    "stronger": "strengthened",
    "weaker": "weakened",
    "forgotten": "forgotten",
    "long_term": "long-term now",
}


def diff(
    graph: output.Graph,
    since: Annotated[
        int, typer.Option("--from", parser=time, metavar=METAVAR, help="Start: 2023-05-08T14:00 (UTC), or ms.")
    ],
    *,
    until: Annotated[
        int | None, typer.Option("--to", parser=time, metavar=METAVAR, help="End; the end of the log by default.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Maximum number of lines of each kind; --json has all.")] = 10,
    json: output.Json = False,
) -> None:
    """Show what changed in a graph between two times.

    Exits with 3 if it did not exist at the later one.
    """
    from replay.diff import diff as compare  # here: --help needs none of it
    from state.graph.graph import Graph

    if until is not None and until < since:
        output.fail(f"--to {format_utc(until)} is before --from {format_utc(since)}: swap them", output.USAGE)
    before, after = output.run(_graphs(graph, since, until))
    if after is None:
        output.fail_unknown(graph, until)
    if until is None and since > after.clock:
        output.fail(
            f"--from {format_utc(since)} is after the last turn ({format_utc(after.clock)}): choose an earlier time",
            output.USAGE,
        )
    changed = compare(before or Graph(graph), after)
    if json:
        output.print_json({"from": since, "to": changed.clocks[1], **_described(changed)})
    else:
        _show(changed, since, top)


async def _graphs(graph: str, since: int, until: int | None) -> tuple[Graph | None, Graph | None]:
    from processors.lifecycle.policies import register
    from replay.as_of.graph_as_of import graph_as_of  # here: --help needs none of it
    from replay.as_of.history import history
    from streams.plugins.policies import load
    from streams.transport.select import readable

    register(load)  # the windows of a graph may be those of a package
    settings = output.settings()
    async with readable(settings) as log:
        partition = partition_of(graph, log.partitions)
        result = await history(log.reader(settings.topics.events), partition, graph)
    return graph_as_of(result, since), graph_as_of(result, until)


def _described(changed: Difference) -> dict[str, Any]:
    """Turn a difference into plain values: every name tuple by the names of its fields."""
    concepts = {kind: [_concept(each) for each in getattr(changed, kind)] for kind in CONCEPTS}
    return {
        "graph": changed.graph,
        "concepts": concepts,
        "themes": [theme._asdict() for theme in changed.themes],
        "turns": {
            "before": changed.turns[0],
            "after": changed.turns[1],
            "added": changed.added,
            "archived": changed.archived,
        },
        "pairs": [pair._asdict() for pair in changed.pairs],
    }


def _concept(change: ConceptChange) -> dict[str, str | float]:
    return {**change._asdict(), "by": change.by}


def _show(changed: Difference, since: int, top: int) -> None:
    until = changed.clocks[1]
    concepts = output.table(
        f"{changed.graph}: {format_utc(since)} to {format_utc(until)}",
        "concepts",
        "concept",
        "before#",
        "after#",
        "by#",
    )
    for kind, report in CONCEPTS.items():
        changes: list[ConceptChange] = getattr(changed, kind)
        for number, each in enumerate(changes[:top]):
            name = f"{report} ({len(changes)})" if number == 0 else ""
            concepts.add_row(name, escape(each.label), f"{each.before:.3f}", f"{each.after:.3f}", f"{each.by:+.3f}")
    output.out.print(concepts)
    _show_themes(changed.themes, top)
    _show_pairs(changed.pairs, top)
    before, after = changed.turns
    report = f"turns: {after - before} recorded, {len(changed.added)} of them held; {len(changed.archived)} archived"
    output.out.print(report, style="dim")


def _show_themes(themes: Sequence[ThemeChange], top: int) -> None:
    if not themes:
        return
    rows = output.table("themes", "what", "theme", "about", "with", "joined", "left")
    for theme in themes[:top]:
        joined, left = (escape(", ".join(islice(names, NAMED))) for names in (theme.joined, theme.left))
        rows.add_row(theme.change, theme.id, escape(theme.label), theme.other or "", joined, left)
    output.out.print(rows)


def _show_pairs(pairs: Sequence[PairGrowth], top: int) -> None:
    if not pairs:
        return
    rows = output.table("together more often", "concept", "concept", "before#", "after#")
    for pair in pairs[:top]:
        rows.add_row(escape(pair.one), escape(pair.other), str(pair.before), str(pair.after))
    output.out.print(rows)
