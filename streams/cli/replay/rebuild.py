"""`emgas replay rebuild`: fold the log again into fresh stores, in parallel, while workers keep running."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from emgas.wire import partition_of
from streams.cli.shared import output
from streams.cli.shared.times import METAVAR
from streams.cli.shared.times import time as read_time

if TYPE_CHECKING:
    from replay.backup.snapshots import Snapshots
    from replay.rebuild.plan import Plan
    from replay.rebuild.rebuild import Rebuilt
    from streams.settings import WorkerSettings


def rebuild(
    *,
    graph: Annotated[
        str | None, typer.Option(help="Rebuild only this graph, and print its digest.", callback=output.graph_id)
    ] = None,
    as_of: Annotated[
        int | None,
        typer.Option(
            parser=read_time, metavar=METAVAR, help="Rebuild the graphs as of this time: 2023-05-08T14:00 (UTC)."
        ),
    ] = None,
    offset: Annotated[int | None, typer.Option(min=0, help="Stop before this offset in each partition.")] = None,
    into: Annotated[
        Path | None,
        typer.Option(help="Directory for the stores, where an interrupted rebuild continues; temporary by default."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes; one per core by default.")] = None,
    snapshots: Annotated[
        str | None, typer.Option(help="Start from the newest snapshot in this directory or URL; needs --graph.")
    ] = None,
    json: output.Json = False,
) -> None:
    """Rebuild the memory from the log into fresh stores, and print the digest."""
    from streams.cli.operate.snapshot import opened  # here: --help needs none of it

    if as_of is not None and offset is not None:
        output.fail("give --as-of or --offset, not both", output.USAGE)
    if snapshots is not None and (graph is None or as_of is not None or into is not None):
        output.fail("--snapshots needs --graph, and cannot be combined with --as-of or --into", output.USAGE)
    settings = output.settings()
    plan = output.run(_planned(settings, graph, as_of, offset=offset))
    started = time.perf_counter()
    unavailable: dict[str, str] = {}
    if snapshots is not None and graph is not None:
        events, digest = output.run(_from_snapshot(settings, plan, graph, kept=opened(snapshots, settings.prefix)))
    else:
        with _directory(into) as directory:
            plan = _agreed(plan, directory)
            events = _records(plan)
            rebuilt = _rebuilt(settings, plan, directory, jobs=jobs or os.cpu_count() or 1)
            digest = _digest(plan, rebuilt)
            unavailable = {graph: why for each in rebuilt for graph, why in each.unavailable.items()}
    report = _report(events, digest, time.perf_counter() - started) | {"unavailable": unavailable}
    if json:
        output.print_json(report)
    else:
        rate = f"{report['events']} events in {report['seconds']:.1f} s ({report['events_per_second']:.0f}/s)"
        output.out.print(f"{rate}, digest {report['digest']}")
    output.fail_without(unavailable, "run the same command again once their keys are restored")


async def _planned(settings: WorkerSettings, graph: str | None, at: int | None, *, offset: int | None) -> Plan:
    from replay.rebuild.plan import planned  # here: --help needs none of it
    from streams.transport.select import readable

    async with readable(settings) as topics:
        log = topics.reader(settings.topics.events)
        return await planned(log, settings.prefix, topics.partitions, graph, at=at, offset=offset)


@contextmanager
def _directory(into: Path | None) -> Iterator[Path]:
    if into is not None:
        yield into
        return
    with tempfile.TemporaryDirectory(prefix="emgas-rebuild-") as directory:
        yield Path(directory)


def _agreed(plan: Plan, directory: Path) -> Plan:
    from replay.errors import NotThisRebuildError  # here: --help needs none of it

    try:
        return plan.agreed(directory)
    except NotThisRebuildError as error:
        output.fail(str(error), output.USAGE)


def _rebuilt(settings: WorkerSettings, plan: Plan, directory: Path, *, jobs: int) -> list[Rebuilt]:
    from streams.recovery.parallel_rebuild import rebuild_all  # here: --help needs none of it

    with output.explained(), _progress(_records(plan)) as show:
        rebuilt = rebuild_all(settings, plan, directory, jobs, show)
    for partition, each in enumerate(rebuilt):
        if each.refused_from is not None:
            output.warn(
                f"partition {partition}, all events from offset {each.refused_from} on: their writer had lost the "
                "partition, or the record there is damaged. Compare with the live state: `emgas replay verify`"
            )
    return rebuilt


def _records(plan: Plan) -> int:
    """Count the records that are read: of one graph, those of its partition."""
    return sum(plan.ends) if plan.graph is None else plan.ends[partition_of(plan.graph, len(plan.ends))]


def _digest(plan: Plan, rebuilt: list[Rebuilt]) -> str:
    from streams.recovery.parallel_rebuild import combined  # here: --help needs none of it

    if plan.graph is None:
        return combined([each.digest for each in rebuilt])
    digests = [each.graphs[plan.graph] for each in rebuilt if plan.graph in each.graphs]
    return digests[0] if digests else _fail_missing(plan.graph, plan)


def _fail_missing(graph: str, plan: Plan) -> NoReturn:
    if plan.at is not None:
        output.fail_unknown(graph, plan.at)
    end = plan.ends[partition_of(graph, len(plan.ends))]
    output.fail(f"there is no graph {graph} before offset {end} of its partition", output.MISSING)


async def _from_snapshot(settings: WorkerSettings, plan: Plan, graph: str, *, kept: Snapshots) -> tuple[int, str]:
    """Fold a graph from a snapshot to the end; return the number of records read, and its digest."""
    from replay.backup.snapshots import graph_of  # here: --help needs none of it
    from streams.transport.select import readable

    partition = partition_of(graph, len(plan.ends))
    async with readable(settings) as topics:
        log = topics.reader(settings.topics.events)
        loaded = await graph_of(kept, partition, log, graph, end=plan.ends[partition], refused=output.warn)
    if loaded.graph is None:
        _fail_missing(graph, plan)
    return plan.ends[partition] - loaded.start, loaded.graph.digest()


def _report(events: int, digest: str, seconds: float) -> dict[str, Any]:
    rate = round(events / seconds, 1) if seconds else 0.0
    return {"events": events, "seconds": round(seconds, 3), "events_per_second": rate, "digest": digest}


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed or 0:,.0f}/s")


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn()
    with output.progress(*columns) as progress:
        bar = progress.add_task("events", total=total)
        yield lambda done: progress.update(bar, completed=done)
