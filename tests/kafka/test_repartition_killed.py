"""A repartition that dies at each of its steps, on Kafka: it is run again each time, and the last run finishes it."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from bench.torture.moved import Home, MovedGraph
from emgas.wire import partition_of
from streams.settings import WorkerSettings
from streams.transport.failpoints import VARIABLE, MoveStep
from tests.support.cli import COMMAND, ROOT, environment
from tests.support.clocks import PATIENCE
from tests.support.pipeline import two_memories

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
PARTITIONS = 2
EACH = 4  # graphs of each partition: they go together, so that at the fifth passage of a step one of them is behind it
LARGE = 500  # turns of one of them
DEATHS = [  # graphs pass each step twice, COPY for each message: at the fifth passage, one of a partition is through
    f"{MoveStep.COPY}:1",
    f"{MoveStep.COPY}:2",
    f"{MoveStep.VERIFY}:1",
    f"{MoveStep.VERIFY}:5",
    f"{MoveStep.FENCE}:1",
    f"{MoveStep.FENCE}:5",
    f"{MoveStep.OPEN}:1",
    f"{MoveStep.FENCE}:5",  # of the other partition
    f"{MoveStep.OPEN}:1",
    f"{MoveStep.OPEN}:5",
]


def names() -> list[str]:
    """Name as many graphs for each partition."""
    found: dict[int, list[str]] = {partition: [] for partition in range(PARTITIONS)}
    for number in range(100):
        found[partition_of(f"graph-{number}", PARTITIONS)].append(f"graph-{number}")
    return [name for each in found.values() for name in each[:EACH]]


async def repartition(source: WorkerSettings, target: WorkerSettings, data: Path, dies_at: str = "") -> Any:
    """Run the command; return its report, or None after a death that was to come."""
    options = ("--to", target.prefix, "--partitions", str(target.partitions), "--json")
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, "admin", "topics", "repartition", *options),
        env=environment(data, broker=str(source.broker), prefix=source.prefix) | {VARIABLE: dies_at},
        cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, error = await process.communicate()
    assert process.returncode == (-signal.SIGKILL if dies_at else 0), f"{dies_at}: {error.decode()}"
    return None if dies_at else json.loads(out)


async def offered(graphs: list[MovedGraph]) -> None:
    """Send a turn to each graph; until it is sent again, one that comes amid a move is refused."""
    turns = [graph.new_turn() for graph in graphs]
    await asyncio.gather(*(graph.offer(turn) for graph, turn in zip(graphs, turns, strict=True)))


async def test_a_repartition_that_is_killed_at_each_step_is_run_again_and_nothing_is_lost_or_twice(
    kafka_address: str, tmp_path: Path
) -> None:
    async with two_memories(kafka_address, tmp_path, PARTITIONS, 3) as (here, there):
        source, target = here.settings, there.settings
        graphs = [MovedGraph((Home(source, here.memory, name), Home(target, there.memory, name))) for name in names()]
        for _ in range(2):
            await asyncio.gather(*(graph.speak(PATIENCE) for graph in graphs))
        await asyncio.gather(*(graphs[0].speak(PATIENCE) for _ in range(LARGE)))
        for dies_at in DEATHS:
            await repartition(source, target, tmp_path, dies_at)
            await offered(graphs)
        report = await repartition(source, target, tmp_path)
        assert report["refused"] == {}
        assert (await repartition(source, target, tmp_path))["graphs"] == 0
        for graph in graphs:
            assert await graph.complaints() == []
            assert (graph.at, graph.broken) == (1, [])
        await asyncio.gather(*(graph.speak(PATIENCE) for graph in graphs))
        for graph in graphs:
            recorded = there.ids(graph.home.graph)
            assert sorted(recorded) == sorted(set(recorded))
            assert graph.taken <= set(recorded)
        assert sum(len(graph.taken) for graph in graphs) > 3 * len(graphs) + LARGE, "some were taken on the way"
        assert await here.memory.graphs(timeout=PATIENCE) == []
        assert sorted(await there.memory.graphs(timeout=PATIENCE)) == sorted(names())
