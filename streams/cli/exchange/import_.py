"""`emgas import FILE`: restore a backup into an empty memory, or publish a file of turns or a chat export.

The modules that read a backup are imported only for one: publishing a chat needs no log.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from emgas.importers.registry import NAMES
from streams.cli.exchange.add import now_ms
from streams.cli.exchange.follow import follow_sessions
from streams.cli.exchange.publish import DateOrder, DryRun, Sending, Timezone, Wait, publish_file, publish_items
from streams.cli.shared import output
from streams.cli.shared.lasting import ExpiresAt, ExpiresIn, Origin, lasting
from streams.cli.shared.setting_options import PresetOfNew

if TYPE_CHECKING:
    from replay.transfer import Transferred

HEAD_BYTES = 4096  # enough of a backup's header to know it


def import_(
    file: Annotated[str, typer.Argument(help="A backup, a file of turns or a chat export; - for stdin.")],
    *,
    turns: Annotated[
        bool, typer.Option("--turns", help="Publish a backup's turns into any memory, instead of restoring it.")
    ] = False,
    graph: Annotated[str | None, typer.Option(help="Graph to import into, for formats that name none.")] = None,
    format: Annotated[str | None, typer.Option(help=f"One of {NAMES}; recognised by default.")] = None,
    date_order: DateOrder = None,
    timezone: Timezone = "UTC",
    preset: PresetOfNew = None,
    origin: Origin = None,
    expires_in: ExpiresIn = None,
    expires_at: ExpiresAt = None,
    wait: Wait = True,
    dry_run: DryRun = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for what coding agents add to their sessions, until Ctrl-C.")
    ] = False,
    json: output.Json = False,
) -> None:
    """Restore a backup or a graph, or import a chat export from ChatGPT, Slack, WhatsApp and others; safe to repeat."""
    from emgas.importers.registry import Options  # here: --help needs none of it
    from replay.backup.compressed import is_compressed
    from replay.backup.lines import is_backup

    marked = lasting(origin, expires_in, expires_at, now_ms)
    sending = Sending(preset=preset, wait=wait, dry_run=dry_run, marked=marked)
    options = Options(date_order, timezone, local=True)
    if follow:
        follow_sessions(Path(file), graph, format, options=options, preset=preset)
        return
    if file == "-" and (is_backup(ahead := _ahead()) or is_compressed(ahead)):
        output.fail(
            "a backup is checked before it is restored, so it cannot be read from a pipe: name the file", output.USAGE
        )
    if file == "-" or not _holds_backup(Path(file)):
        if turns:
            output.fail(f"{file} is not a backup: use --turns only with a backup", output.USAGE)
        publish_file(file, graph, format, options=options, sending=sending, json=json)
    elif (exact := _exact_header(Path(file))) is not None and not (turns or format):
        _receive(Path(file), exact, graph, dry_run=dry_run, json=json)
    elif graph or format:
        output.fail("a backup already names its graphs: leave out --graph and --format", output.USAGE)
    elif turns:
        from replay.backup.compressed import decompressed
        from replay.backup.restore import turns as turns_of

        publish_items(file, lambda stream: turns_of(decompressed(stream)), sending, json=json)
    else:
        _restore(Path(file), dry_run=dry_run, json=json)


def _ahead() -> bytes:
    """Return the first bytes of stdin without consuming them."""
    stream = sys.stdin.buffer
    return stream.peek(HEAD_BYTES) if isinstance(stream, BufferedReader) else b""


def _holds_backup(path: Path) -> bool:
    if not os.path.isfile(path):  # noqa: PTH113 - as pathlib's, but False of a name that cannot be looked at
        return False
    from replay.backup.lines import is_backup

    try:
        with output.explained(), _opened(path) as stream:
            return is_backup(stream.read(HEAD_BYTES))
    except OSError as error:
        output.fail_path("read", path, error)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a backup, compressed or not."""
    from replay.backup.compressed import decompressed  # here: a chat export needs none of it

    with path.open("rb") as stream:
        yield decompressed(stream)


def _exact_header(path: Path) -> Transferred | None:
    """Read what an exact export of a graph says of itself; None for another backup."""
    from replay.backup.lines import LINE_BYTES, header_of

    with output.explained(), _opened(path) as stream:
        return header_of(stream.readline(LINE_BYTES)).exact


def _receive(file: Path, what: Transferred, name: str | None, *, dry_run: bool, json: bool) -> None:
    """Import a graph from a file, once the whole file is checked."""
    from streams.cli.exchange.transfer import received, show

    with _opened(file) as stream:
        show(output.run(received(stream, what, name or what.graph, dry_run=dry_run)), json=json)


def _restore(file: Path, *, dry_run: bool, json: bool) -> None:
    if dry_run:
        _check(file, json=json)
        return
    result = output.run(_restored(file))
    if json:
        output.print_json(result)
        return
    report = f"{result['appended']} events restored in {result['seconds']:.1f} s, {result['found']} were there"
    output.out.print(report)


def _check(file: Path, *, json: bool) -> None:
    """Check a backup and print what it holds."""
    from replay.backup.restore import whole

    with output.explained(), _opened(file) as stream:
        bounds = whole(stream).bounds
    report = {"events": sum(end for _, end in bounds), "partitions": len(bounds)}
    if json:
        output.print_json(report)
    else:
        output.out.print(f"a whole backup of {report['events']} events; nothing written")


async def _restored(file: Path) -> dict[str, Any]:
    from replay.backup.restore import restorable, restore, whole
    from streams.cli.exchange.export import progress
    from streams.transport.event_topic import writing
    from streams.transport.select import is_born

    started, settings = time.perf_counter(), output.settings()
    with _opened(file) as stream:
        read = restorable if is_born(settings) else whole  # a damaged backup begins no memory
        bounds = read(stream).bounds
        stream.seek(0)
        async with writing(settings, len(bounds)) as log:
            with progress(2 * sum(end for _, end in bounds)) as advance:
                restored = await restore(stream, log, time.time_ns() // 1_000_000, lambda: uuid4().hex, advance)
    return {**restored._asdict(), "seconds": round(time.perf_counter() - started, 3)}
