"""`emgas admin topics repartition`: move all graphs to topics with another count of partitions, while they are in use.

Each partition is read once, sorted by graph, and read on as it grows.  A few graphs at a time are sent while they live
on; then they are fenced, the rest follows, and they are let go, as `emgas admin graph move` does with one.

If it is killed, run it again: graphs that live there are passed over, those that have left are opened there, and others
go on where they stood.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from emgas.errors import EmgasError, TransportError
from streams.cli.exchange.transfer import TIMEOUT, address_of, fence, is_same, opened, phase_of, send, target_of
from streams.cli.shared import output
from streams.cli.shared.client import session

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from replay.transfer import SortedPartition, Transferred
    from streams.settings import WorkerSettings

AT_ONCE = 16  # graphs that are fenced together


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
            await graphs.read_on()
            await _Moving(graphs, here.memory, there.memory, report).all(f"partition {partition}")
    report.seconds = round(monotonic() - started, 2)
    return report


class _Moving:
    """Moves the graphs of a partition."""

    def __init__(self, graphs: SortedPartition, here: MemoryClient, there: MemoryClient, report: Repartitioned) -> None:
        self._graphs, self._here, self._there, self._report = graphs, here, there, report
        self._fenced: dict[str, float] = {}  # graph → since when
        self._copied: dict[str, int] = {}  # graph → how many of its events were sent before it was fenced

    async def all(self, name: str) -> None:
        """Move all graphs, a few at a time."""
        await self._open_left()
        waiting = self._graphs.graphs()
        with output.progress() as shown:
            bar = shown.add_task(name, total=len(waiting))
            for batch in _batches(waiting):
                for step in (self._copy, self._fence):
                    await self._each(batch, step)
                await self._graphs.read_on()
                await self._each(batch, self._rest)
                shown.advance(bar, len(batch))

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
            for batch in _batches([graph for graph in left if graph not in living]):
                await self._each(batch, self._open)

    async def _open(self, graph: str) -> None:
        has_grown = self._graphs.survey(graph).has_grown  # what stayed was erased since: it must not open there
        what = await (self._send(graph, lives_on=False) if has_grown else self._going(graph))
        await opened(self._there, what)

    async def _going(self, graph: str) -> Transferred:
        from replay.transfer import Transferred, folded  # here: --help needs none of it

        exported = self._graphs.survey(graph)
        digest = await folded(self._graphs.restamped(exported), graph)
        return Transferred(graph, exported.origin, exported.events, digest, exported.is_encrypted, exported.hop)

    async def _copy(self, graph: str) -> None:
        self._copied[graph] = (await self._send(graph, lives_on=True)).total

    async def _send(self, graph: str, *, lives_on: bool) -> Transferred:
        what, records = await self._going(graph), self._graphs.restamped(self._graphs.survey(graph))
        await send(self._there, records, what, lives_on=lives_on, known=self._copied.pop(graph, 0))
        return what

    async def _fence(self, graph: str) -> None:
        self._fenced[graph] = monotonic()
        await self._phase(graph, "begin", await self._going(graph))

    async def _rest(self, graph: str) -> None:
        what = await self._send(graph, lives_on=False)
        await self._phase(graph, "finish", what)
        since = self._fenced.pop(graph)
        await opened(self._there, what)
        self._report.graphs += 1
        self._report.events += what.total
        pause = round(monotonic() - since, 2)
        self._report.longest_pause = max(self._report.longest_pause, pause)
        self._graphs.forget(graph)

    async def _stay(self, graph: str) -> None:
        """Let a refused graph live on here, if it was fenced."""
        if self._fenced.pop(graph, None) is not None:
            await self._phase(graph, "cancel")

    async def _phase(
        self, graph: str, phase: Literal["begin", "finish", "cancel"], what: Transferred | None = None
    ) -> None:
        await fence(self._here, phase_of(graph, self._report.moved_to, phase, what))


def _batches(graphs: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(graphs), AT_ONCE):
        yield graphs[start : start + AT_ONCE]


def _described(report: Repartitioned) -> str:
    refused = [f"{graph} stays: {why}" for graph, why in report.refused.items()]
    done = f"{report.graphs} graphs with {report.events} events moved to {report.moved_to} in {report.seconds:.1f} s"
    return "\n".join([f"{done}; none accepted no turn for longer than {report.longest_pause:.2f} s", *refused])
