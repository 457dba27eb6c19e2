"""`emgas export`: the whole log as a backup, one graph's events, or a graph as a file for other tools."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from emgas.wire import partition_of
from streams.cli.shared import output
from streams.cli.shared.times import METAVAR, time

if TYPE_CHECKING:
    from replay.backup.backup import BackupSummary
    from replay.backup.compressed import Resumable
    from replay.backup.lines import Header
    from replay.log import LogReader

OF_A_GRAPH = ("graphml", "gexf", "json")  # the keys of replay.graph_export.WRITERS, whose libraries --help needs not
FORMATS = ("cloudevents", *OF_A_GRAPH)


def export(
    out: Annotated[Path, typer.Option(help="File to write (.zst: compressed); an interrupted export continues in it.")],
    *,
    graph: Annotated[
        str | None,
        typer.Option(help="Export only this graph; to import it again, add --exact.", callback=output.graph_id),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Export all of a graph, in clear: it is the same in any memory.")
    ] = False,
    format: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}; all but the first need --graph.")] = (
        "cloudevents"
    ),
    passages: Annotated[bool, typer.Option("--passages", help="Include the turns, not only the concepts.")] = False,
    as_of: Annotated[
        int | None,
        typer.Option(parser=time, metavar=METAVAR, help="Export the graph as of this time: 2023-05-08T14:00 (UTC)."),
    ] = None,
    json: output.Json = False,
) -> None:
    """Back up the whole memory for `emgas import`, or export a graph as GraphML, GEXF or JSON."""
    _check(graph, format, exact=exact, passages=passages, as_of=as_of)
    if exact:
        result = output.run(_exact(out, graph or ""))
    elif format == "cloudevents":
        result = output.run(_backup(out, graph))
    else:
        result = output.run(_graph_file(out, graph or "", format, passages=passages, as_of=as_of))
    if json:
        output.print_json(result)
    else:
        _show(result)


def _check(graph: str | None, format: str, *, exact: bool, passages: bool, as_of: int | None) -> None:
    """Exit if the options contradict each other."""
    if format not in FORMATS:
        output.fail(f"there is no format {format!r}: choose one of {', '.join(FORMATS)}", output.USAGE)
    if format == "cloudevents" and (passages or as_of is not None):
        output.fail(f"--passages and --as-of go with {', '.join(OF_A_GRAPH)}: a backup holds all events", output.USAGE)
    if exact and (graph is None or format != "cloudevents"):
        output.fail("--exact exports one graph as cloudevents: name it with --graph", output.USAGE)
    if format != "cloudevents" and graph is None:
        output.fail(f"{format} holds one graph: name it with --graph", output.USAGE)


async def _exact(out: Path, graph: str) -> dict[str, Any]:
    """Write a graph's own events; return what `export` reports of them."""
    from replay.backup.lines import Header  # here: --help needs none of it
    from replay.transfer import GraphLog
    from streams.cli.exchange.transfer import outgoing
    from streams.transport.event_topic import reading

    settings = output.settings()
    async with reading(settings) as log:
        exported, what = await outgoing(log, graph)
        own = GraphLog(log, exported)
        now = clock.time_ns() // 1_000_000
        header = Header(settings.prefix, graph, (await own.bounds(0),), version("emgas"), now, what)
        written = await _write(own, out, header)
    # the file begins with a claim, which is no event of the graph
    return {**_report(out, written), "events": what.total, "digest": what.digest}


async def _backup(out: Path, graph: str | None) -> dict[str, Any]:
    from replay.backup.lines import Header  # here: --help needs none of it
    from streams.transport.event_topic import reading

    settings = output.settings()
    async with reading(settings) as log:
        bounds = tuple([await log.bounds(partition) for partition in range(await log.partitions())])
        if graph is not None:
            await _check_graph(log, graph, len(bounds))
        header = Header(settings.prefix, graph, bounds, version("emgas"), clock.time_ns() // 1_000_000)
        written = await _write(log, out, header)
    if not written.whole and graph is None:
        output.err.print("[yellow]the log has gaps[/]: import this backup with --turns")
    return _report(out, written)


async def _write(log: LogReader, out: Path, header: Header) -> BackupSummary:
    """Write a backup into a file, or go on with the one that is there."""
    from replay.backup.backup import write  # here: --help needs none of it
    from replay.errors import NoBackupError

    with _opened(out) as file, progress(sum(end - first for first, end in header.bounds)) as advance:
        try:
            written = await write(log, file, header, advance)
        except NoBackupError as error:
            output.fail(f"cannot write a backup to {out}: {error}", output.USAGE)
    return written


def _report(out: Path, written: BackupSummary) -> dict[str, Any]:
    return {
        "file": str(out),
        "events": written.records,
        "found": written.found,
        "restorable": written.whole,
        "bytes": out.stat().st_size,
    }


async def _check_graph(log: LogReader, graph: str, partitions: int) -> None:
    """Exit if `graph` does not exist."""
    from replay.as_of.graph_as_of import graph_at  # here: --help needs none of it

    if await graph_at(log, partition_of(graph, partitions), graph) is None:
        output.fail_unknown(graph)


@contextmanager
def _opened(out: Path) -> Iterator[Resumable]:
    """Open a file for reading and writing without truncating it; create it if it is missing."""
    from replay.backup.compressed import resumable  # here: --help needs none of it

    if str(out) == "-" or (out.exists() and not (out.is_file() or out.is_dir())):
        output.fail(
            f"cannot write a backup to {out}: a backup is read again while it is written, so name a regular file",
            output.USAGE,
        )
    try:
        descriptor = os.open(out, os.O_RDWR | os.O_CREAT, 0o600)  # what people said: for its owner alone
    except OSError as error:
        output.fail_path("write", out, error)
    with os.fdopen(descriptor, "r+b", buffering=1024 * 1024) as file:
        try:
            with resumable(file, compress=out.suffix == ".zst") as resumed:
                yield resumed
            os.fsync(file.fileno())
        except OSError as error:
            output.fail(f"cannot write {out}: {error.strerror}; free some space and export again to continue")


@contextmanager
def progress(total: int) -> Iterator[Callable[[], None]]:
    """Show how many of `total` events are done; yield the function that counts one."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with output.progress(*columns) as progress:
        bar = progress.add_task("events", total=total)
        yield lambda: progress.advance(bar)


async def _graph_file(out: Path, graph: str, format: str, *, passages: bool, as_of: int | None) -> dict[str, Any]:
    from processors.lifecycle.policies import register
    from replay.as_of.graph_as_of import graph_at  # here: --help needs none of it
    from replay.graph_export import WRITERS, to_networkx
    from streams.plugins.policies import load
    from streams.transport.event_topic import reading

    register(load)  # the windows of a graph may be those of a package
    async with reading(output.settings()) as log:
        partition = partition_of(graph, await log.partitions())
        rebuilt = await graph_at(log, partition, graph, as_of=as_of)
    if rebuilt is None:
        output.fail_unknown(graph, as_of)
    made, drawn = to_networkx(rebuilt, passages=passages), BytesIO()
    WRITERS[format](made, drawn)  # before a file that may be there is opened
    try:
        out.write_bytes(drawn.getvalue())
    except OSError as error:
        output.fail_path("write", out, error)
    return {"file": str(out), "nodes": len(made), "edges": made.number_of_edges(), "bytes": len(drawn.getvalue())}


def _show(result: dict[str, Any]) -> None:
    if "events" in result:
        existing = f", {result['found']} of them were there" if result["found"] else ""
        report = f"{result['events']} events in {result['file']} ({result['bytes']} bytes){existing}"
        report += f"\ndigest {result['digest']}" if "digest" in result else ""
    else:
        report = f"{result['nodes']} nodes and {result['edges']} edges in {result['file']}"
    output.out.print(report, markup=False)
