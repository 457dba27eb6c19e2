"""Publish the turns of a file, wait until each is folded, and count the outcomes: what `emgas import FILE|-` does."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BufferedReader, BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer
from rich.markup import escape
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

from emgas import limits
from emgas.errors import EmgasError
from emgas.times import DAY_MS, format_utc
from emgas.wire import ProducerRecord
from streams.cli.shared import output
from streams.cli.shared.client import Session, has_writer, session

if TYPE_CHECKING:
    from emgas import MemoryClient, Turn
    from emgas.client.request_reply import RequestReply
    from emgas.importers.registry import BadLine, Item, Options
    from emgas.messages.requests import Outcome

DateOrder = Annotated[str | None, typer.Option(help="Order of ambiguous WhatsApp dates: dmy, mdy or ymd.")]
Timezone = Annotated[str, typer.Option(help="Time zone of times that name none, as Europe/Berlin.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until every turn can be queried.")]
RESULTS = {"accepted": "accepted", "duplicate": "duplicates", "rejected": "rejected"}


DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be published, and publish nothing.")]
SECONDS = 30.0  # timeout of an acknowledgement and of an outcome
REPORT_SECONDS = 10.0  # between two lines of progress
OLD_DAYS = 180  # after which what was said before has faded for good part: half-lives are weeks to months
ALL_SHOWN = 10  # graphs that are listed by name


@dataclass(frozen=True, kw_only=True)
class Sending:
    """The options of sending turns.

    preset   settings of new graphs, if any      wait     wait for the outcome of each turn
    dry_run  send nothing                            marked   give a turn its origin and its end
    """

    preset: str | None
    wait: bool
    marked: Callable[[Turn], Turn]
    dry_run: bool = False


@dataclass
class Tally:
    """Counts of outcomes, and of turns per graph."""

    counts: Counter[str] = field(default_factory=Counter)
    graphs: Counter[str] = field(default_factory=Counter)

    def add(self, turn: Turn) -> None:
        """Count a turn that was sent."""
        self.counts["published"] += 1
        self.graphs[turn.graph] += 1

    def reject(self) -> None:
        """Count a line that is not a valid turn."""
        self.counts["published"] += 1
        self.counts["rejected"] += 1

    def totals(self) -> dict[str, Any]:
        """Return the counts as the fields of --json."""
        return {name: self.counts[name] for name in ("published", *RESULTS.values())} | {"graphs": dict(self.graphs)}


def publish_file(
    file: str, graph: str | None, format: str | None, *, options: Options, sending: Sending, json: bool
) -> None:
    """Publish a file or a folder (- for stdin), and print the outcomes of its turns."""
    from emgas.importers.registry import read, read_folder  # here: --help needs none of it

    if os.path.isdir(file):  # noqa: PTH112 - as pathlib's, but of a name that cannot be looked at it is False, and opening tells why
        publish_items(
            file, lambda _: read_folder(Path(file), graph, format=format, options=options), sending, json=json
        )
    else:
        publish_items(
            file, lambda stream: read(stream, file, graph, format=format, options=options), sending, json=json
        )


def publish_items(file: str, reading: Callable[[BinaryIO], Iterator[Item]], sending: Sending, *, json: bool) -> None:
    """Publish the items that `reading` yields from `file`, and print their outcomes."""
    with output.explained():
        report = output.run(_publish(file, reading, sending))
    if json:
        output.print_json(report)
    else:
        _show(report, dry_run=sending.dry_run)
    if 0 < report["published"] == report["rejected"]:
        output.fail(f"every turn of {file} was rejected, for the reasons above")


async def _publish(file: str, reading: Callable[[BinaryIO], Iterator[Item]], sending: Sending) -> dict[str, Any]:
    started, tally = time.perf_counter(), Tally()
    with _opened(file) as stream:
        items = _marked(_begun(file, reading, stream), sending.marked)
        if sending.dry_run:
            _look(items, tally)
        else:
            settings = output.settings()
            async with session(settings, timeout=SECONDS) as connected:
                if sending.wait and not await has_writer(settings, SECONDS):
                    sending = replace(sending, wait=False, preset=None)
                    output.doubt(
                        "no worker is running: the turns are stored, and can be queried once you start `emgas worker`"
                    )
                await _send(connected, items, stream, tally=tally, sending=sending)
    return {**tally.totals(), "waited": sending.wait, "seconds": round(time.perf_counter() - started, 3)}


def _marked(items: Iterator[Item], marked: Callable[[Turn], Turn]) -> Iterator[Item]:
    """Yield the items, each turn with the options of the call; one that they do not fit is rejected."""
    from emgas.errors import InvalidMessageError  # here: --help needs none of it
    from emgas.importers.registry import BadLine

    for number, item in enumerate(items, start=1):
        if isinstance(item, BadLine):
            yield item
            continue
        try:
            yield marked(item)
        except InvalidMessageError as error:
            yield BadLine(number, item.model_dump_json().encode(), str(error), "turn")


def _look(items: Iterator[Item], tally: Tally) -> None:
    """Count what would be sent, and print what would be rejected."""
    from emgas.importers.registry import BadLine  # here: --help needs none of it

    for item in items:
        if isinstance(item, BadLine):
            tally.reject()
            _print_rejected(item.description)
        else:
            tally.add(item)


async def _send(connected: Session, items: Iterator[Item], stream: BinaryIO, *, tally: Tally, sending: Sending) -> None:
    from emgas.messages.requests import Outcome  # here: --help needs none of it

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with output.progress(*columns) as progress:
        reading, pace = Reading(stream), Pace()
        bar = progress.add_task("publishing", total=reading.size)
        turns = reading.noted(_good(connected, items, tally))
        turns = _prepared(connected.memory, turns, sending.preset) if sending.wait or sending.preset else turns
        async for turn, result in connected.memory.publish_many(turns, outcomes=sending.wait):
            tally.add(turn)
            read = reading.next()
            if isinstance(result, Outcome):
                tally.counts[RESULTS[result.status]] += 1
                _print_rejection(result)
            if tally.counts["published"] % 50 == 0:
                done = pace.describe(tally.counts["published"], read, reading.size)
                progress.update(bar, completed=read, total=reading.size, description=done)
                if progress.disable and pace.is_due():
                    output.tell(done)


class Pace:
    """The rate of publishing and the time that remains; without a terminal, a line of it is due each 10 s."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = self._reported = clock()

    def describe(self, turns: int, read: int, size: int | None) -> str:
        """Describe the progress; `read` and `size`: bytes of the file, if they are known."""
        seconds = max(self._clock() - self._started, 0.001)
        rate = f"{turns} turns, {turns / seconds:.0f}/s"
        if not read or size is None:
            return rate
        return f"{rate}, about {_duration(seconds * (size - read) / read)} left"

    def is_due(self) -> bool:
        """Check whether a line is due, at most every 10 s."""
        if self._clock() - self._reported < REPORT_SECONDS:
            return False
        self._reported = self._clock()
        return True


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


class Reading:
    """Position in the file of each turn in flight: the progress bar shows what is folded, not what is read ahead."""

    def __init__(self, stream: BinaryIO) -> None:
        is_file = isinstance(stream, BufferedReader) and stream is not sys.stdin.buffer
        self.size = Path(stream.name).stat().st_size if is_file else None
        self._stream = stream
        self._places: deque[int] = deque()

    async def noted(self, turns: AsyncIterator[Turn]) -> AsyncIterator[Turn]:
        """Yield the turns, and note the position of the file at each."""
        async for turn in turns:
            place = 0 if self.size is None else self._stream.tell()
            if place == self.size and not self._places:
                self.size = None  # a document is read whole before its first turn: there is no telling how far it is
            self._places.append(place)
            yield turn

    def next(self) -> int:
        """Return the position of the oldest turn in flight, which has arrived."""
        return self._places.popleft()


def _begun(file: str, reading: Callable[[BinaryIO], Iterator[Item]], stream: BinaryIO) -> Iterator[Item]:
    """Read the first item before anything is sent, so that an unreadable file creates no memory."""
    try:
        with output.naming(file):
            items = reading(stream)
            first = list(islice(items, 1))
    except OSError as error:
        output.fail_path("read", file, error)
    return chain(first, _read_on(file, items))


def _read_on(file: str, items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items.  Raises EmgasError if reading the file fails."""
    try:
        with output.naming(file):
            yield from items
    except OSError as error:
        raise EmgasError(f"reading {file} failed: {error.strerror or error}; publish it again to continue") from error


async def _good(connected: Session, items: Iterator[Item], tally: Tally) -> AsyncIterator[Turn]:
    """Yield the turns; report invalid lines, and keep them as dead letters where this process has the log."""
    from emgas.importers.registry import BadLine  # here: --help needs none of it

    for item in items:
        if isinstance(item, BadLine):
            tally.reject()
            _print_rejected(item.description)
            if not connected.is_served:
                await _send_dead_letter(connected.memory.request_reply, item)
        else:
            yield item


async def _prepared(memory: MemoryClient, turns: AsyncIterator[Turn], preset: str | None) -> AsyncIterator[Turn]:
    """Yield the turns; before a graph's first one, configure a new graph, or warn of a leap in time of an old one."""
    seen: set[str] = set()
    async for turn in turns:
        if turn.graph not in seen:
            described = await memory.describe(turn.graph)
            if described.found and (described.turns or described.archived):  # else it was merely configured
                _warn_of_leap(turn, described.clock)
            elif preset is not None and not described.found:
                await _configure(memory, turn.graph, preset)
        seen.add(turn.graph)
        yield turn


async def _configure(memory: MemoryClient, graph: str, preset: str) -> None:
    outcome = await memory.configure(graph, preset, id=f"preset-{preset}")
    if outcome.status == "rejected":
        raise EmgasError(f"graph {graph}: {outcome.reason}")


def _warn_of_leap(turn: Turn, clock: int) -> None:
    """Warn that a turn moves its graph's time so far that older turns fade."""
    at = time.time_ns() // 1_000_000 if turn.at is None else turn.at
    days = (at - clock) // DAY_MS
    if days > OLD_DAYS:
        output.doubt(
            f"turn {turn.id} is dated {format_utc(at)[:10]}, but the latest turn of graph {turn.graph} is of "
            f"{format_utc(clock)[:10]}: older turns fade by {days} days at once.  If the date is wrong, take it back "
            "with `emgas replay undo`"
        )


async def _send_dead_letter(records: RequestReply, line: BadLine) -> None:
    from streams.transport.sender import error_headers  # here: --help needs none of it

    topics = records.connection.topics
    headers = error_headers(topics.turns, -1, -1, line.description)
    if len(line.raw) > limits.TRANSPORT_BYTES:
        headers += (("emgas.errors.original-bytes", str(len(line.raw)).encode()),)
    value = line.raw[: limits.TRANSPORT_BYTES]
    await records.append(ProducerRecord(topics.dead_letters, None, value, headers), SECONDS)


def _print_rejection(outcome: Outcome) -> None:
    if outcome.status == "rejected":
        _print_rejected(f"turn {outcome.turn}: {outcome.reason}")


def _print_rejected(reason: str) -> None:
    output.err.print(f"[yellow]rejected[/] {escape(reason)}")


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


def _show(report: dict[str, Any], *, dry_run: bool) -> None:
    results = ", ".join(f"{report[name]} {name}" for name in ("accepted", "duplicates", "rejected"))
    results = results if report["waited"] else f"stored, not waited for; {report['rejected']} rejected"
    results = f"nothing sent; {report['rejected']} would be rejected" if dry_run else results
    rate, turns = report["published"] / (report["seconds"] or 1), output.counted(report["published"], "turn")
    output.out.print(f"{turns} in {report['seconds']:.1f} s ({rate:.0f}/s): {results}")
    if report["graphs"]:
        output.out.print(_graphs(report["graphs"]), markup=False)


def _graphs(graphs: dict[str, int]) -> str:
    """Return the graphs with their number of turns, largest first."""
    most = sorted(graphs.items(), key=lambda graph: (-graph[1], graph[0]))
    more = f" and {len(most) - ALL_SHOWN} more" if len(most) > ALL_SHOWN else ""
    return "graphs: " + ", ".join(f"{name} ({count})" for name, count in most[:ALL_SHOWN]) + more
