"""`emgas look timeline GRAPH`: the strength of concepts over event time, computed from the log without a worker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.text import Text

from emgas.times import format_utc
from emgas.wire import partition_of
from streams.cli.shared import output

if TYPE_CHECKING:
    from replay.as_of.timeline import Line, Timeline

BARS = "▁▂▃▄▅▆▇█"
BESIDE = 38  # columns of the terminal that the rest of the table needs
LABEL = 16  # columns


def timeline(
    graph: output.Graph,
    *,
    concept: Annotated[
        list[str] | None, typer.Option(help="Concept, by id or as written; repeatable; the strongest by default.")
    ] = None,
    points: Annotated[
        int, typer.Option(min=2, max=2000, help="Number of samples from the first event to the last.")
    ] = 60,
    svg: Annotated[Path | None, typer.Option(help="Also write the chart to this SVG file.", dir_okay=False)] = None,
    json: output.Json = False,
) -> None:
    """Chart the strength of concepts over time.

    Exits with 3 for an unknown graph or concept.
    """
    traced = output.run(_trace(graph, concept or [], points))
    if traced is None:
        output.fail_unknown(graph)
    if traced.unknown:
        output.fail(f"graph {graph} has never contained {', '.join(traced.unknown)}", output.MISSING)
    if svg is not None:
        _draw(traced, svg)
    if json:
        lines = [{"id": line.id, "label": line.label, "strength": line.strengths} for line in traced.lines]
        output.print_json({"graph": graph, "times": traced.times, "concepts": lines})
    else:
        _show(traced)


async def _trace(graph: str, named: Sequence[str], points: int) -> Timeline | None:
    from replay.as_of.timeline import timeline as trace  # here: --help needs none of it
    from streams.transport.select import readable

    settings = output.settings()
    async with readable(settings) as log:
        partition = partition_of(graph, log.partitions)
        return await trace(log.reader(settings.topics.events), partition, graph, points=points, named=named)


def _draw(traced: Timeline, file: Path) -> None:
    from streams.cli.shared.line_chart import Series, line_chart  # here: --help needs none of it

    series = [Series(line.label, line.strengths) for line in traced.lines]
    drawn = line_chart(f"{traced.graph}: strength of concepts", traced.times, series)
    try:
        file.write_text(drawn, encoding="utf-8")
    except OSError as error:
        output.fail_path("write", file, error)
    output.err.print(f"chart written to {escape(str(file))}")


def _show(traced: Timeline) -> None:
    width = min(len(traced.times), max(8, output.out.width - BESIDE))
    rows = output.table(
        f"{traced.graph}: strength of concepts", "concept", _axis(traced.times, width), "peak#", "last#"
    )
    rows.columns[1].no_wrap = True
    top = max((line.peak for line in traced.lines), default=0.0)
    for line in traced.lines:
        rows.add_row(_cut(line.label), _bars(line, width, top), f"{line.peak:.2f}", _last(line))
    output.out.print(rows)
    output.out.print(f"full height is {top:.2f}; blank: not in the graph", style="dim")


def _axis(times: Sequence[int], width: int) -> str:
    """Write the first and the last day, at the two ends of `width` characters."""
    first, last = format_utc(times[0])[:10], format_utc(times[-1])[:10]
    return first + last.rjust(width - len(first)) if width > len(first + last) else f"{first}…{last}"


def _bars(line: Line, width: int, top: float) -> str:
    """Draw one character for each of `width` equal parts of the line: the strongest sample there."""
    count = len(line.strengths)
    parts = (line.strengths[count * part // width : count * (part + 1) // width] for part in range(width))
    return "".join(_bar([strength for strength in part if strength is not None], top) for part in parts)


def _bar(strengths: Sequence[float], top: float) -> str:
    if not strengths:
        return " "
    return BARS[min(len(BARS) - 1, int(max(strengths) / top * len(BARS)))] if top else BARS[0]


def _last(line: Line) -> str:
    return "–" if line.strengths[-1] is None else f"{line.strengths[-1]:.2f}"


def _cut(label: str) -> Text:
    """Cut a label to at most LABEL columns; one Chinese character takes two."""
    text = Text(label)
    text.truncate(LABEL, overflow="ellipsis")
    return text
