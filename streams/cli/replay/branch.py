"""`emgas replay branch`: build a second memory from the same turns, beside this one.

    branch.json   {"source": "<broker or directory> <prefix>", "done": {"<partition>": <sequence number>},
                   "left_out": ["<graph>", …]}   whose keys were missing: the branch has nothing of them, and never will

The progress is written after every request and every few turns, never before they are folded.  After a crash some are
sent again, in the same order: known turns change nothing, and neither does a request that comes twice in a row.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from emgas import Turn
from emgas.errors import EmgasError, InvalidMessageError
from streams.cli.shared import output
from streams.cli.shared.client import Session, session
from streams.cli.shared.setting_options import Preset, assignment

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from emgas.messages.requests import Command
    from replay.branch import BranchMessage, BranchSettings
    from state.events.events import GraphEvent
    from streams.settings import WorkerSettings


SAVED_EVERY = 200  # events


class Cursor:
    """The file `path` of a branch of `source`.  Raises InvalidMessageError if it is a branch of another memory."""

    def __init__(self, path: Path, source: str) -> None:
        self._path = path
        self._source = source
        self.is_there = path.exists()  # else nothing was ever sent, or little
        kept: dict[str, Any] = orjson.loads(path.read_bytes()) if self.is_there else {"source": source, "done": {}}
        if kept["source"] != source:
            raise InvalidMessageError(
                f"{path.parent} is a branch of {kept['source']}, not of {source}: choose another place for this one"
            )
        self._done: dict[str, int] = kept["done"]
        self.left_out: set[str] = set(kept.get("left_out", ()))
        self._unsaved = 0

    def done(self, partition: int) -> int:
        """Return the sequence number of the last processed event, 0 if there is none."""
        return self._done.get(str(partition), 0)

    def move(self, partition: int, seq: int, *, at_once: bool) -> None:
        """Note that the events up to `seq` are dealt with.  at_once: write that before this returns."""
        self._done[str(partition)] = seq
        self._unsaved += 1
        if at_once or self._unsaved >= SAVED_EVERY:
            self.save()

    def save(self) -> None:
        """Write the file, whole or not at all."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        kept = {"source": self._source, "done": self._done, "left_out": sorted(self.left_out)}
        new.write_bytes(orjson.dumps(kept))
        new.replace(self._path)
        self._unsaved = 0


TIMEOUT = 60.0
COUNTED = {"accepted": "accepted", "duplicate": "duplicates", "rejected": "rejected"}

Into = Annotated[Path | None, typer.Option(help="Directory of the branch, an embedded memory.", file_okay=False)]
Prefix = Annotated[str | None, typer.Option(help="Topic prefix of the branch on the same broker.")]


def branch(
    *,
    into: Into = None,
    to_prefix: Prefix = None,
    preset: Preset = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Setting of the branch's graphs, as half-life=7d; repeatable."
        ),
    ] = None,
    extractor: Annotated[
        str | None, typer.Option(help="Extractor of the branch, package.module.name; only with --into.")
    ] = None,
    without: Annotated[list[str] | None, typer.Option(help="Graph to leave out; repeatable.")] = None,
    json: output.Json = False,
) -> None:
    """Copy a memory with other settings or another extractor, to try them out and compare.

    Run it again to update the branch.  Without --preset and --set, its graphs have the same settings as here.
    """
    source = output.settings()
    target = target_of(source, into, to_prefix, extractor=extractor)
    life = _life(preset, set_ or []) if preset or set_ else None
    counts, unavailable = output.run(send_branch(source, target, life, frozenset(without or [])))
    report = {name: counts[name] for name in ("turns", *COUNTED.values(), "requests")}
    if json:
        output.print_json(report | {"unavailable": unavailable})
    else:
        output.out.print(", ".join(f"{count} {name}" for name, count in report.items()))
    output.fail_without(unavailable, "once their keys are restored, make another branch, or leave them out (--without)")


def target_of(
    source: WorkerSettings, into: Path | None, prefix: str | None, *, extractor: str | None = None
) -> WorkerSettings:
    """Build the settings of the branch's memory, or exit."""
    from pydantic import ValidationError  # here: --help needs none of it

    from emgas.validation import describe_value
    from streams.settings import WorkerSettings

    if (into is None) == (prefix is None):
        output.fail("the branch needs a place: give --into DIRECTORY or --to-prefix NAME", output.USAGE)
    if extractor and into is None:
        output.fail("--extractor needs --into; on Kafka, start the branch's workers with EMGAS_EXTRACTOR", output.USAGE)
    changed: dict[str, Any] = {"broker": None, "data": into, "graph_keys": None} if into else {"prefix": prefix}
    if extractor:
        changed["extractor"] = extractor
    try:
        target = WorkerSettings(**{**source.model_dump(), **changed})
    except ValidationError as error:
        output.fail(f"--to-prefix: {describe_value(error)}", output.USAGE)
    if (target.home, target.broker) == (source.home, source.broker):
        output.fail("this is the memory's own place: choose another one for the branch", output.USAGE)
    return target


def _life(preset: str | None, changes: list[str]) -> BranchSettings:
    """Build the branch's settings from the options, or exit."""
    from emgas.messages.settings.memory_settings import Settings as Changes  # here: --help needs none of it
    from emgas.validation import build
    from replay.branch import BranchSettings

    with output.explained():
        return BranchSettings(preset or "default", build(Changes, dict(map(assignment, changes))))


async def send_branch(
    source: WorkerSettings,
    target: WorkerSettings,
    life: BranchSettings | None,
    without: frozenset[str],
    keeps: Callable[[GraphEvent], bool] = lambda _: True,
) -> tuple[Counter[str], dict[str, str]]:
    """Send all that is kept; count it, and report the graphs that are missing because they cannot be read.

    without  graphs to leave out      keeps  returns whether an event of another graph is sent
    """
    from replay.as_of.history import counting_events  # here: --help needs none of it
    from replay.branch import messages
    from streams.transport import select

    counts: Counter[str] = Counter()
    unavailable: dict[str, str] = {}
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    name = f"{source.broker or source.home.resolve()} {source.prefix}"
    cursor = Cursor(target.home / "branch.json", name)
    again = dict.fromkeys(cursor.left_out - without, "its key was missing when this branch was begun")
    async with select.readable(source) as readable, _made(target, name, is_branch=cursor.is_there) as there:
        log = readable.reader(source.topics.events)
        with output.progress(*columns) as progress:
            bar = progress.add_task("branching")
            for partition in range(readable.partitions):
                locked: dict[str, str] = {}
                kept = _kept(counting_events(log, partition, locked=locked), without | again.keys(), keeps)
                queue = messages(kept, life, cursor.done(partition))
                async for dealt in _sent(there.memory, queue, counts):
                    cursor.left_out |= locked.keys() - without  # before what follows of them is passed over
                    # At once behind a request: sent again later, it would forget what was said since.
                    cursor.move(partition, dealt.seq, at_once=not isinstance(dealt.message, Turn))
                    progress.update(bar, description=f"partition {partition}: {counts['turns']} turns")
                unavailable |= {graph: why for graph, why in locked.items() if graph not in without}
                cursor.left_out |= unavailable.keys()  # of a partition with nothing else to send, too
                cursor.save()
    return counts, again | unavailable


async def _kept(
    events: AsyncIterator[GraphEvent], without: frozenset[str], keeps: Callable[[GraphEvent], bool]
) -> AsyncIterator[GraphEvent]:
    async for event in events:
        if event.graph not in without and keeps(event):
            yield event


@asynccontextmanager
async def _made(target: WorkerSettings, name: str, *, is_branch: bool) -> AsyncIterator[Session]:
    """Connect to the branch; make it where it is not there yet, which is only once there is something to branch.

    It is marked as unfinished until the block ends.
    """
    from streams.transport import select  # here: --help needs none of it
    from streams.transport.embedded.unfinished import is_unfinished

    if not (is_branch or is_unfinished(target.home)) and target.is_embedded and select.is_born(target):
        output.fail(
            f"{target.home} holds a memory that is not a branch: choose another place for the branch", output.USAGE
        )
    try:
        target.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        output.fail_path("write", target.home, error)
    async with select.filling(target, name), session(target, TIMEOUT, fills=True) as there:
        yield there


async def _sent(
    memory: MemoryClient, queue: AsyncIterator[BranchMessage], counts: Counter[str]
) -> AsyncIterator[BranchMessage]:
    """Send turns as a stream; a request once all turns before it are folded, before any that follow.

    Yields each message that is dealt with.
    """
    from emgas.messages.requests import Outcome  # here: --help needs none of it

    requests: list[BranchMessage] = []
    sent: deque[BranchMessage] = deque()
    while True:
        async for _, outcome in memory.publish_many(_turns(queue, sent, requests)):
            counts["turns"] += 1
            if isinstance(outcome, Outcome):
                counts[COUNTED[outcome.status]] += 1
            yield sent.popleft()
        if not requests:
            return
        due = requests.pop()
        await _request(memory, due.message)
        counts["requests"] += 1
        yield due


async def _turns(
    queue: AsyncIterator[BranchMessage], sent: deque[BranchMessage], requests: list[BranchMessage]
) -> AsyncIterator[Turn]:
    """Yield the turns up to the next request, and leave that in `requests`; note what is yielded in `sent`."""
    async for due in queue:
        if not isinstance(due.message, Turn):
            requests.append(due)
            return
        sent.append(due)
        yield due.message


async def _request(memory: MemoryClient, request: Command) -> None:
    """Send a request to the branch.  It may refuse one about content that it has forgotten, but no settings."""
    outcome = await memory.send(request)
    if outcome.status == "rejected" and request.tag() == "configure":
        raise EmgasError(f"the branch refuses the settings of graph {request.graph}: {outcome.reason}")
