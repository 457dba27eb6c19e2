"""`emgas publish FILE|-`: send a file's turns, wait until each is folded, count what became of them."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.markup import escape
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

from emgas import MemoryClient, Turn, limits
from emgas.client.connection import Connection
from emgas.errors import EmgasError
from emgas.importers.registry import NAMES, BadLine, Item, Options, read, read_folder
from emgas.messages.turns import Outcome
from emgas.wire import ProducerRecord
from streams.cli.shared import output
from streams.cli.shared.client import Session, session
from streams.cli.shared.setting_options import PresetOfNew
from streams.transport.sender import error_headers

DateOrder = Annotated[str | None, typer.Option(help="Of WhatsApp's dates, where they do not tell: dmy, mdy or ymd.")]
Timezone = Annotated[str, typer.Option(help="Of times that come without one, as Europe/Berlin.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until all is folded, not only logged.")]
RESULTS = {"accepted": "accepted", "duplicate": "duplicates", "rejected": "rejected"}


@dataclass(frozen=True)
class Sending:
    """How turns are sent: which preset graphs get that are new, if any, and whether outcomes are waited for."""

    preset: str | None
    wait: bool


def publish(
    file: Annotated[str, typer.Argument(help="A file of turns, or - for stdin.")],
    *,
    graph: Annotated[str | None, typer.Option(help="The graph, for formats that do not name one.")] = None,
    format: Annotated[str | None, typer.Option(help=f"One of {NAMES}; else it is recognised.")] = None,
    date_order: DateOrder = None,
    timezone: Timezone = "UTC",
    preset: PresetOfNew = None,
    wait: Wait = True,
    json: output.Json = False,
) -> None:
    """Publish turns: our own JSONL, or what another program exported.  Publishing again changes nothing."""
    publish_file(file, graph, format, options=Options(date_order, timezone), sending=Sending(preset, wait), json=json)


def publish_file(
    file: str, graph: str | None, format: str | None, *, options: Options, sending: Sending, json: bool
) -> None:
    """Publish a file or a folder (- for stdin), and say what became of its turns."""
    if os.path.isdir(file):  # noqa: PTH112 - as pathlib's, but of a name that cannot be looked at it is False, and opening tells why
        publish_items(
            file, lambda _: read_folder(Path(file), graph, format=format, options=options), sending, json=json
        )
    else:
        publish_items(
            file, lambda stream: read(stream, file, graph, format=format, options=options), sending, json=json
        )


def publish_items(file: str, reading: Callable[[BinaryIO], Iterator[Item]], sending: Sending, *, json: bool) -> None:
    """Publish what `reading` makes of `file`, and say what became of it."""
    with output.explained():
        counts = output.run(_publish(file, reading, sending))
    if json:
        output.print_json(counts)
    else:
        _show(counts, waited=sending.wait)
    if 0 < counts["published"] == counts["rejected"]:
        output.fail(f"nothing of {file} could be accepted: `emgas dead-letters list` has it, with the reasons")


async def _publish(file: str, reading: Callable[[BinaryIO], Iterator[Item]], sending: Sending) -> dict[str, float]:
    started = time.perf_counter()
    counts: Counter[str] = Counter()
    with _opened(file) as stream:
        items = _begun(file, reading, stream)
        async with session(output.settings(), timeout=30.0) as connected:
            await _send(connected, items, stream, counts=counts, sending=sending)
    result: dict[str, float] = {name: counts[name] for name in ("published", *RESULTS.values())}
    return {**result, "seconds": round(time.perf_counter() - started, 3)}


async def _send(
    connected: Session, items: Iterator[Item], stream: BinaryIO, *, counts: Counter[str], sending: Sending
) -> None:
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with output.progress(*columns) as progress:
        known = isinstance(stream, BufferedReader) and stream is not sys.stdin.buffer
        size = Path(stream.name).stat().st_size if known else None
        bar = progress.add_task("publishing", total=size)
        turns = _good(connected.connection, items, counts)
        turns = turns if sending.preset is None else _configured(connected.memory, turns, sending.preset)
        async for _, result in connected.memory.publish_many(turns, outcomes=sending.wait):
            counts["published"] += 1
            if isinstance(result, Outcome):
                counts[RESULTS[result.status]] += 1
                _tell_rejection(result)
            if size is not None and counts["published"] % 50 == 0:
                progress.update(bar, completed=stream.tell(), description=f"{counts['published']} turns")


def _begun(file: str, reading: Callable[[BinaryIO], Iterator[Item]], stream: BinaryIO) -> Iterator[Item]:
    """Begin to read the items: a file of which nothing can be read begins no memory."""
    try:
        items = reading(stream)
        first = list(islice(items, 1))
    except OSError as error:
        output.fail_path("read", file, error)
    return chain(first, _read_on(file, items))


def _read_on(file: str, items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items.  Raises EmgasError when the file cannot be read any further."""
    try:
        yield from items
    except OSError as error:
        raise EmgasError(f"cannot read on in {file}: {error.strerror or error}; publish it again to go on") from error


async def _good(connection: Connection, items: Iterator[Item], counts: Counter[str]) -> AsyncIterator[Turn]:
    """Yield the turns; bury the lines that cannot be one, so that nothing of the file is lost."""
    for item in items:
        if isinstance(item, BadLine):
            counts["published"] += 1
            counts["rejected"] += 1
            await _bury(connection, item)
        else:
            yield item


async def _configured(memory: MemoryClient, turns: AsyncIterator[Turn], preset: str) -> AsyncIterator[Turn]:
    """Yield the turns; before the first one of a graph that the memory does not know, say how it is to live."""
    seen: set[str] = set()
    async for turn in turns:
        if turn.graph not in seen and not (await memory.describe(turn.graph)).found:
            outcome = await memory.configure(turn.graph, preset, id=f"preset-{preset}")
            if outcome.status == "rejected":
                raise EmgasError(f"graph {turn.graph}: {outcome.reason}")
        seen.add(turn.graph)
        yield turn


async def _bury(connection: Connection, line: BadLine) -> None:
    reason = line.told
    output.err.print(f"[yellow]rejected[/] {escape(reason)}", highlight=False, soft_wrap=True)
    headers = error_headers(connection.topics.turns, -1, -1, reason)
    if len(line.raw) > limits.TRANSPORT_BYTES:
        headers += (("emgas.errors.original-bytes", str(len(line.raw)).encode()),)
    value = line.raw[: limits.TRANSPORT_BYTES]
    await connection.send(ProducerRecord(connection.topics.dead_letters, None, value, headers))


def _tell_rejection(outcome: Outcome) -> None:
    if outcome.status == "rejected":
        told = escape(f"turn {outcome.turn}: {outcome.reason}")
        output.err.print(f"[yellow]rejected[/] {told}", highlight=False, soft_wrap=True)


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    if os.path.isdir(file):  # noqa: PTH112 - as above
        yield BytesIO()
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 - closed below: only opening it may fail like this
    except FileNotFoundError:
        output.fail(f"there is no file {file}", output.USAGE)
    except OSError as error:
        output.fail_path("read", file, error)
    with stream:
        yield stream


def _show(counts: dict[str, float], *, waited: bool) -> None:
    told = ", ".join(f"{int(counts[name])} {name}" for name in ("accepted", "duplicates", "rejected"))
    told = told if waited else f"logged, not waited for; {int(counts['rejected'])} rejected"
    rate = counts["published"] / counts["seconds"] if counts["seconds"] else 0
    output.out.print(f"{int(counts['published'])} turns in {counts['seconds']:.1f} s ({rate:.0f}/s): {told}")
    if counts["rejected"]:
        output.out.print("see what was rejected: emgas dead-letters list")
