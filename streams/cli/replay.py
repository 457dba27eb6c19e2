"""`emgas replay rebuild|verify`: fold the log again, and compare with what is live."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from emgas.messages import Inspection
from replay.log import LogReader
from replay.rebuild import refold, store_into
from replay.verify import Audit, Verification, verify_partition
from state.errors import LogRewritten
from streams.carriers import found
from streams.cli import output
from streams.cli.client import session

app = typer.Typer(no_args_is_help=True, help="Fold the log again.")
DIGEST_TIMEOUT = 120.0  # a digest reads every graph of the partition


@app.command()
def rebuild(
    into: Annotated[
        Path | None, typer.Option(help="Directory for the rebuilt stores; without it, they are thrown away.")
    ] = None,
    json: output.Json = False,
) -> None:
    """Fold every partition from its beginning into fresh stores, and print the digest."""
    if into is not None and into.is_dir() and any(into.iterdir()):
        output.fail(f"{into} is not empty: give a new directory, so that no other store is mixed in", output.USAGE)
    with _directory(into) as directory:
        result = output.run(_rebuild(directory))
    if json:
        output.print_json(result)
        return
    told = f"{result['events']} events in {result['seconds']:.1f} s ({result['events_per_second']:.0f}/s)"
    output.out.print(f"{told}, digest {result['digest']}", highlight=False)


@contextmanager
def _directory(into: Path | None) -> Iterator[Path]:
    if into is not None:
        yield into
        return
    with tempfile.TemporaryDirectory(prefix="emgas-rebuild-") as directory:
        yield Path(directory)


async def _rebuild(directory: Path) -> dict[str, Any]:
    settings = output.settings()
    started, events, digests = time.perf_counter(), 0, []
    async with found(settings) as carrier:
        log = carrier.reader(settings.topics.events)
        for number in range(carrier.partitions):
            start, end = await log.bounds(number)
            with _progress(f"partition {number}", end - start) as advance:
                state = await refold(log, number, end, store_into(directory, number), lambda _: advance())
            digests.append(state.digest())
            state.close()
            events += end - start
    seconds = time.perf_counter() - started
    rate = events / seconds if seconds else 0.0
    return {
        "events": events,
        "seconds": round(seconds, 3),
        "events_per_second": round(rate, 1),
        "digest": combined(digests),
    }


@contextmanager
def _progress(what: str, total: int) -> Iterator[Any]:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=output.err, transient=True) as progress:
        bar = progress.add_task(what, total=total)
        yield lambda: progress.advance(bar)


def combined(digests: list[str]) -> str:
    """Return one digest over the partitions' digests, in order of partition."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


@app.command()
def verify(json: output.Json = False) -> None:
    """Compare every live partition with an offline fold of the log.  Exits with 4 when one differs."""
    verified = output.run(_verify())
    match = all(each.match for each in verified)
    if json:
        output.print_json({"match": match, "partitions": [_described(each) for each in verified]})
    else:
        _show(verified)
    if not match:
        raise typer.Exit(output.MISMATCH)


async def _verify() -> list[Verification]:
    settings = output.settings()
    verified = []
    async with session(settings, DIGEST_TIMEOUT) as connected, found(settings) as carrier:
        log = carrier.reader(settings.topics.events)
        for number in range(carrier.partitions):
            live = await connected.memory.inspect(number)
            verified.append(await _compared(log, number, live))
    return verified


async def _compared(log: LogReader, number: int, live: Inspection) -> Verification:
    """Compare one partition; a log that cannot be the one folded here is a difference as well, and told on stderr."""
    watermark, digest = live.position.watermark, live.digest or ""
    try:
        return await verify_partition(log, number, watermark, digest)
    except LogRewritten as error:
        output.err.print(f"[bold red]partition {number}:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        return Verification(number, watermark, digest, "", 0, Audit())


def _described(each: Verification) -> dict[str, Any]:
    return {
        "partition": each.partition,
        "watermark": each.watermark,
        "digest_live": each.digest_live,
        "digest_replayed": each.digest_replayed,
        "match": each.match,
        "turns": each.turns,
        "each_once": each.audit.each_once,
        "duplicates": each.audit.duplicates,
        "rejected": each.audit.rejected,
        "ignored": each.audit.ignored,
    }


def _show(verified: list[Verification]) -> None:
    rows = output.table("live state against an offline fold of the log", "partition#", "at#", "turns#", "once", "equal")
    for each in verified:
        once, equal = each.audit.each_once, each.digest_live == each.digest_replayed
        rows.add_row(str(each.partition), str(each.watermark), str(each.turns), _mark(once), _mark(equal))
    output.out.print(rows)


def _mark(good: bool) -> str:
    return "[green]yes[/]" if good else "[bold red]NO[/]"
