"""All graphs go to topics with another count of partitions, while turns arrive and questions are asked."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from emgas.client.client import MemoryClient
from emgas.errors import QueryFailedError
from emgas.wire import partition_of
from replay.transfer import folded, restamped, survey
from streams.settings import WorkerSettings
from streams.transport import select
from tests.support.cli import COMMAND, ROOT, environment
from tests.support.pipeline import two_memories

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
GRAPHS = int(os.environ.get("EMGAS_TEST_GRAPHS", "24"))
TURNS = 4  # of each graph beforehand
TALKERS = 3  # graphs that are written to and asked meanwhile
AGAIN_SECONDS = 0.2  # between two turns to one of them


class Talker:
    """Says one thing after another to a graph, wherever it is, and asks it each time."""

    def __init__(self, graph: str, source: MemoryClient, target: MemoryClient) -> None:
        self.graph, self.memory, self._target = graph, source, target
        self.said: list[str] = []
        self.answered: Counter[str] = Counter()

    async def talk(self, moved: asyncio.Event) -> None:
        while not moved.is_set() or self.memory is not self._target:
            id = f"said{len(self.said)}"
            turn = {"id": id, "graph": self.graph, "speaker": "Ada", "text": f"The lantern {id} is red."}
            outcome = await self.memory.record(turn, timeout=60.0)
            if outcome.status != "rejected":
                self.said.append(id)
            elif outcome.moved_to is not None:
                self.memory = self._target
            else:
                assert any(each in str(outcome.reason) for each in ("is being moved", "is incomplete"))
            await self._ask()
            await asyncio.sleep(AGAIN_SECONDS)

    async def _ask(self) -> None:
        try:
            await self.memory.query(self.graph, "which kettle?", timeout=60.0)
            self.answered["reply"] += 1
        except QueryFailedError as error:
            self.answered[error.code] += 1


async def repartitioned(source: WorkerSettings, target: WorkerSettings, data: Path) -> dict[str, Any]:
    """Run the command; return its report, and print it with the seconds of CPU that it took."""
    arguments = ("topics", "repartition", "--to", target.prefix, "--partitions", "16", "--json")
    variables = environment(data, broker=str(source.broker), prefix=source.prefix)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "admin", *arguments, env=variables, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report: dict[str, Any] = json.loads(out)
    print(report, "CPU seconds", round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2))
    return report


async def digests(settings: WorkerSettings, graphs: list[str]) -> dict[str, str]:
    """Fold what the log holds of graphs."""
    found = {}
    async with select.readable(settings) as topics:
        log = topics.reader(settings.topics.events)
        for graph in graphs:
            exported = await survey(log, partition_of(graph, settings.partitions), graph)
            found[graph] = await folded(restamped(log, exported), graph) if exported else ""
    return found


async def test_all_graphs_get_more_partitions_while_they_are_in_use(kafka_address: str, tmp_path: Path) -> None:
    graphs = [f"graph-{number}" for number in range(GRAPHS)]
    async with two_memories(kafka_address, tmp_path, 8, 16) as (here, there):
        source, target = here.settings, there.settings
        turns = [
            {"id": f"t{number}", "graph": graph, "speaker": "Ada", "text": f"The kettle number {number} is red."}
            for graph in graphs
            for number in range(TURNS)
        ]
        for start in range(0, len(turns), 200):
            await asyncio.gather(*(here.memory.record(turn, timeout=60.0) for turn in turns[start : start + 200]))
        moved = asyncio.Event()
        talkers = [Talker(graph, here.memory, there.memory) for graph in graphs[:TALKERS]]
        talking = [asyncio.create_task(each.talk(moved)) for each in talkers]
        report = await repartitioned(source, target, tmp_path)
        moved.set()
        await asyncio.gather(*talking)
        assert (report["graphs"], report["refused"]) == (GRAPHS, {})
        assert f"prefix {target.prefix}" in report["moved_to"]
        for each in talkers:
            ids = there.ids(each.graph)
            assert sorted(ids) == sorted([*(f"t{number}" for number in range(TURNS)), *each.said])
            assert each.answered.keys() <= {"reply", "moved", "unavailable"}, "or told where to ask, or when"
        quiet = graphs[TALKERS:]
        assert await digests(source, quiet[:8]) == await digests(target, quiet[:8])
        assert sorted(await there.memory.graphs(timeout=60.0)) == sorted(graphs)
        assert await here.memory.graphs(timeout=60.0) == []
        assert (await repartitioned(source, target, tmp_path))["graphs"] == 0
