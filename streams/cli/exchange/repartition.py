"""`emgas admin topics repartition`: move all graphs to topics with another count of partitions, while they are in use.

Each partition is read once, sorted by graph, and read on as it grows.  Graphs are sent and checked while they live on.
One that has no more events by then leaves at once; another one is fenced, its rest follows, and it leaves, as `emgas
admin graph move` does with one.  Meanwhile the next ones are sent.

If it is killed, run it again: graphs that live there are passed over, those that have left are opened there, and others
go on where they stood.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, cast

import typer

from emgas.errors import EmgasError, TransportError
from streams.cli.exchange.transfer import TIMEOUT, address_of, fence, is_same, opened, phase_of, send, target_of
from streams.cli.shared import output
from streams.cli.shared.client import session

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from emgas.wire import Record
    from replay.transfer import SortedPartition, Transferred
    from streams.settings import WorkerSettings

FIRST_AT_ONCE, MOST_AT_ONCE = 16, 32  # graphs that leave together
LONG_PAUSE = 0.6  # seconds without turns, behind which fewer leave together
FOLDED_AT_ONCE = 4  # graphs between which answers are read


@dataclass
class Repartitioned:
    """The result.  refused: graph → why it stays here; longest_pause: seconds for which a graph accepted no turn."""

    moved_to: str
    graphs: int = 0
    events: int = 0
    seconds: float = 0.0
    longest_pause: float = 0.0
    refused: dict[str, str] = field(default_factory=dict)


def repartition(
    *,
    to: Annotated[str, typer.Option(metavar="PREFIX", help="Prefix of the new topics.", show_default=False)],
    partitions: Annotated[int, typer.Option(min=1, help="Partitions of the new topics.", show_default=False)],
    json: output.Json = False,
) -> None:
    """Move all graphs to new topics with another count of partitions, while they are in use; safe to repeat.

    The topics are created if they are missing. Start workers with that prefix first. Clients find the new place in
    `moved_to`; run this again once none uses the old prefix: graphs may begin there meanwhile.
    """
    source = output.settings()
    target = target_of(source, to).model_copy(update={"partitions": partitions})
    if is_same(source, target) or target.is_embedded:
        output.fail("give another prefix on this broker (--to)", output.USAGE)
    report = output.run(_repartitioned(source, target))
    if json:
        output.print_json(asdict(report))
    else:
        output.out.print(_described(report))
    if report.refused:
        raise typer.Exit(1)


async def _repartitioned(source: WorkerSettings, target: WorkerSettings) -> Repartitioned:
    from replay.transfer import SortedPartition  # here: --help needs none of it
    from streams.transport import select
    from streams.transport.event_topic import reading

    report, started = Repartitioned(address_of(target)), monotonic()
    await select.create(target)
    async with (
        reading(source) as log,
        session(source, TIMEOUT, begins=False) as here,
        session(target, TIMEOUT, begins=False) as there,
    ):
        for partition in range(await log.partitions()):
            graphs = SortedPartition(log, partition)
            await _Moving(graphs, here.memory, there.memory, report).all(f"partition {partition}")
    report.seconds = round(monotonic() - started, 2)
    return report


class _Outgoing(NamedTuple):
    """A graph as it goes, at a version: what its receiver must know, and its events as a log of their own."""

    version: tuple[object, ...]
    what: Transferred
    records: list[Record]


class _Moving:
    """Moves the graphs of a partition: while some leave, the next ones are copied."""

    def __init__(self, graphs: SortedPartition, here: MemoryClient, there: MemoryClient, report: Repartitioned) -> None:
        self._graphs, self._here, self._there, self._report = graphs, here, there, report
        self._reading, self._folding = asyncio.Lock(), asyncio.Semaphore(FOLDED_AT_ONCE)
        self._fenced: dict[str, float] = {}  # graph → since when
        self._outgoing: dict[str, _Outgoing] = {}  # of the graphs that are on their way
        self._copied: dict[str, int] = {}  # graph → how many of its events the receiver has

    async def all(self, name: str) -> None:
        """Move all graphs, a few at a time."""
        await self._read_on()
        await self._open_left()
        waiting = self._graphs.graphs()
        with output.progress() as shown:
            bar = shown.add_task(name, total=len(waiting))
            size, copied = FIRST_AT_ONCE, list[str]()
            while waiting or copied:
                batch, waiting = waiting[:size], waiting[size:]
                pause = await _both(self._leave(copied), self._copy_all(batch))
                shown.advance(bar, len(copied))
                size, copied = next_size(size, pause), batch

    async def _read_on(self) -> None:
        async with self._reading:
            await self._graphs.read_on()

    async def _each(self, batch: list[str], step: Callable[[str], object]) -> None:
        """Do a step with all graphs that were not refused.  Raises TransportError."""
        graphs = [graph for graph in batch if graph not in self._report.refused]
        results = await asyncio.gather(*map(step, graphs), return_exceptions=True)  # type: ignore[call-overload]
        for graph, result in zip(graphs, results, strict=True):
            if isinstance(result, EmgasError) and not isinstance(result, TransportError):
                self._report.refused[graph] = str(result)
                await self._stay(graph)
            elif isinstance(result, BaseException):
                raise result

    async def _open_left(self) -> None:
        """Open the graphs that a run before this one let go, and did not come to open."""
        if left := self._graphs.left_to(self._report.moved_to):
            living = set(await self._there.graphs(timeout=TIMEOUT))
            closed = [graph for graph in left if graph not in living]
            for start in range(0, len(closed), MOST_AT_ONCE):
                await self._each(closed[start : start + MOST_AT_ONCE], self._open)

    async def _open(self, graph: str) -> None:
        has_grown = self._graphs.survey(graph).has_grown  # what stayed was erased since: it must not open there
        what = await (self._send(graph) if has_grown else self._going(graph))
        await opened(self._there, what)
        self._outgoing.pop(graph)

    async def _going(self, graph: str) -> Transferred:
        return (await self._made(graph)).what

    async def _made(self, graph: str) -> _Outgoing:
        """Build what goes of a graph, or return what was built, if nothing happened to the graph since."""
        async with self._folding:
            version = self._graphs.version(graph)
            if graph not in self._outgoing or self._outgoing[graph].version != version:
                self._outgoing[graph] = _Outgoing(version, *await self._graphs.outgoing(graph))
            return self._outgoing[graph]

    async def _copy_all(self, batch: list[str]) -> None:
        """Send graphs while they live on, and have them checked."""
        if batch:
            await self._read_on()
            await self._each(batch, self._copy)

    async def _copy(self, graph: str) -> None:
        self._copied[graph] = (await self._send(graph, lives_on=True)).total

    async def _send(self, graph: str, *, lives_on: bool = False) -> Transferred:
        from replay.transfer import each_of  # here: --help needs none of it

        _, what, records = await self._made(graph)
        known = self._copied.pop(graph, 0)
        await send(self._there, each_of(records), what, lives_on=lives_on, known=known)
        return what

    async def _leave(self, batch: list[str]) -> float:
        """Let graphs leave that were copied, and open them there; return the longest time without turns."""
        before, self._report.longest_pause = self._report.longest_pause, 0.0
        await self._each(batch, self._leave_unchanged)
        grown = [graph for graph in batch if graph in self._copied]
        if grown:
            await self._each(grown, self._fence)
            await self._read_on()
            await self._each(grown, self._rest)
        pause = self._report.longest_pause
        self._report.longest_pause = max(before, pause)
        return pause

    async def _leave_unchanged(self, graph: str) -> None:
        """Let a graph leave at once if it has no more events than were sent; else it is fenced first."""
        what, since = self._outgoing[graph].what, monotonic()
        if await self._has_left(graph, what):
            await self._arrive(graph, what, since)

    async def _has_left(self, graph: str, what: Transferred) -> bool:
        try:
            await self._phase(graph, "finish", what)
        except TransportError:
            raise
        except EmgasError:  # it has more events, or may not go at all: the fence tells
            return False
        return True

    async def _fence(self, graph: str) -> None:
        self._fenced[graph] = monotonic()
        await self._phase(graph, "begin", await self._going(graph))

    async def _rest(self, graph: str) -> None:
        what = await self._send(graph)
        await self._phase(graph, "finish", what)
        await self._arrive(graph, what, self._fenced.pop(graph))

    async def _arrive(self, graph: str, what: Transferred, since: float) -> None:
        """Open a graph that has left, and has taken no turns since then."""
        await opened(self._there, what)
        self._report.graphs += 1
        self._report.events += what.total
        self._report.longest_pause = max(self._report.longest_pause, round(monotonic() - since, 2))
        self._copied.pop(graph, None)
        self._outgoing.pop(graph)
        self._graphs.forget(graph)

    async def _stay(self, graph: str) -> None:
        """Let a refused graph live on here, if it was fenced."""
        if self._fenced.pop(graph, None) is not None:
            await self._phase(graph, "cancel")

    async def _phase(
        self, graph: str, phase: Literal["begin", "finish", "cancel"], what: Transferred | None = None
    ) -> None:
        await fence(self._here, phase_of(graph, self._report.moved_to, phase, what))


async def _both(leaving: Awaitable[float], copying: Awaitable[None]) -> float:
    """Do both to their end; return the pause.  Raises what one of them raised."""
    pause, copied = await asyncio.gather(leaving, copying, return_exceptions=True)
    for result in (pause, copied):
        if isinstance(result, BaseException):
            raise result
    return cast(float, pause)


def next_size(size: int, pause: float) -> int:
    """Return how many graphs leave together, after so many had a pause (s): it must not grow long on a busy machine."""
    if pause > LONG_PAUSE:
        return max(1, size // 2)
    return min(MOST_AT_ONCE, 2 * size) if pause < LONG_PAUSE / 2 else size


def _described(report: Repartitioned) -> str:
    refused = [f"{graph} stays: {why}" for graph, why in report.refused.items()]
    done = f"{report.graphs} graphs with {report.events} events moved to {report.moved_to} in {report.seconds:.1f} s"
    return "\n".join([f"{done}; none accepted no turn for longer than {report.longest_pause:.2f} s", *refused])
