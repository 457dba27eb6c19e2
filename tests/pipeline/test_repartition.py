"""Graphs leave for topics with other partitions, in this process: with what is said right before they leave."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from emgas.messages.transfer import Move
from replay.transfer import SortedPartition
from streams.cli.exchange.repartition import LONG_PAUSE, MOST_AT_ONCE, Repartitioned, _Moving, next_size
from tests.support.pipeline import Pipeline, a_turn, settings_for
from tests.support.transports import sqlite_transport

GRAPHS = [f"graph-{number}" for number in range(6)]


@asynccontextmanager
async def two(home: Path) -> AsyncIterator[tuple[Pipeline, Pipeline]]:
    async with AsyncExitStack() as running:
        started = []
        for name, partitions in (("here", 1), ("there", 4)):
            transport = await running.enter_async_context(sqlite_transport(home / name))
            settings = settings_for(home / name, "emgas", None, partitions=partitions)
            started.append(await running.enter_async_context(Pipeline(settings, transport)))
        yield started[0], started[1]


class Busy:
    """A client of the memory that graphs leave: right before the last word on a talkative graph, it gets a turn."""

    def __init__(self, here: Pipeline, talkative: str) -> None:
        self.phases: dict[str, list[str]] = {name: [] for name in GRAPHS}
        self._here, self._talkative = here, talkative

    async def send(self, message: Move, **options: Any) -> Any:
        phases = self.phases[message.graph]
        phases.append(message.phase)
        if message.graph == self._talkative and phases == ["finish"]:
            await self._here.record(message.graph, id="late", text="The lantern hangs in the orchard.")
        return await self._here.memory.send(message, **options)


async def test_only_a_graph_that_went_on_is_fenced_before_it_leaves_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    async with two(tmp_path) as (here, there):
        for graph in GRAPHS:
            await here.memory.record(a_turn(graph))
        before = here.digests()
        busy, report = Busy(here, "graph-3"), Repartitioned("there")
        graphs = SortedPartition(here.opening_reader(), 0)
        await _Moving(graphs, busy, there.memory, report).all("partition 0")  # type: ignore[arg-type]
        assert (report.graphs, report.refused) == (len(GRAPHS), {})
        assert busy.phases == {
            name: ["finish", "begin", "finish"] if name == "graph-3" else ["finish"] for name in GRAPHS
        }
        assert there.ids("graph-3") == ["t1", "late"]
        after = there.digests()
        assert {name: after[name] for name in GRAPHS if name != "graph-3"} == {
            name: digest for name, digest in before.items() if name != "graph-3"
        }
        assert await here.memory.graphs() == []
        await there.lives()


def test_fewer_graphs_leave_together_once_their_pause_is_long() -> None:
    assert [next_size(16, pause) for pause in (LONG_PAUSE + 0.1, LONG_PAUSE * 0.75, 0.0)] == [8, 16, 32]
    assert (next_size(1, 9.0), next_size(MOST_AT_ONCE, 0.0)) == (1, MOST_AT_ONCE)
