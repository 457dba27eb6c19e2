"""Compare the cost of a turn for a worker on a real Kafka with extraction alone.  EMGAS_BROKER names the broker.

    worker_ms            CPU time of a turn: of the worker's process        extraction_ms   of those that find concepts
    over_extraction      both together, beside finding concepts alone, which is measured before and after each
    turns_per_second     by the clock, from the first turn to the last acknowledgement
    idle_ms              CPU time of a second in which nothing comes, which is in worker_ms as well

Medians of REPEATED times the same turns, each time of another graph.  Who publishes is a process of its own (ours), and
so is the broker: neither is in these times.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import psutil

from bench.speed.measuring import mid, taken
from emgas.client.client import MemoryClient
from emgas.messages.operator import Inspect
from emgas.messages.turns import Turn
from processors.extraction.yake_extractor import YakeExtractor
from streams.settings import WorkerSettings
from streams.transport import select

POOLS: Final = (0, 1, 2)  # processes
WARMING: Final = 300  # turns, before it is measured: the processes start with them
REPEATED: Final = 3
PATIENCE: Final = 120.0  # seconds
LOADING_SECONDS: Final = 2.0  # in which a process that loads takes some CPU time, on however busy a machine


@contextmanager
def _worker(settings: WorkerSettings, home: str, processes: int) -> Iterator[psutil.Process]:
    ours = {
        "EMGAS_PREFIX": settings.prefix,
        "EMGAS_DATA": home,
        "EMGAS_LOG_LEVEL": "ERROR",
        "EMGAS_EXTRACTION_PROCESSES": str(processes),
    }
    command = [sys.executable, "-m", "streams.cli.main", "worker"]
    with subprocess.Popen(command, env={**os.environ, **ours}) as process:
        yield psutil.Process(process.pid)
        process.terminate()


def _used(processes: Sequence[psutil.Process]) -> float:
    """Add up the CPU time of processes, s."""
    times = [process.cpu_times() for process in processes]
    return float(sum(each.user + each.system for each in times))


async def _measured(
    settings: WorkerSettings, worker: psutil.Process, turns: Sequence[Turn], pool: int, alone: Callable[[], float]
) -> list[dict[str, float]]:
    async with MemoryClient(settings.broker, prefix=settings.prefix, timeout=PATIENCE) as memory:
        for partition in range(await memory.partitions()):
            await memory.send(Inspect(), partition=partition)  # answered once the worker owns it
        warming, again = [turn.model_copy(update={"graph": "warm"}) for turn in turns[:WARMING]], 0
        while not again or len(worker.children()) < pool:
            await _publish(memory, [turn.model_copy(update={"id": f"{turn.id}/{again}"}) for turn in warming])
            again += 1
        pids = worker.children()
        await _settled(pids)
        idle = _used([worker])
        await asyncio.sleep(LOADING_SECONDS)
        idle_ms = 1000 * (_used([worker]) - idle) / LOADING_SECONDS
        figures = []
        for number in range(REPEATED):
            each, before = [turn.model_copy(update={"graph": f"measured-{number}"}) for turn in turns], alone()
            spent = await _spent(memory, each, worker, pids)
            alone_ms = (before + alone()) / 2 / len(turns)
            ratio = (spent["worker_ms"] + spent["extraction_ms"]) / alone_ms
            figures.append({**spent, "idle_ms": idle_ms, "alone_ms": alone_ms, "over_extraction": ratio})
    return figures


async def _spent(
    memory: MemoryClient, turns: Sequence[Turn], worker: psutil.Process, pids: Sequence[psutil.Process]
) -> dict[str, float]:
    """Publish turns, and return what one of them took."""
    wall, own, theirs = time.perf_counter(), _used([worker]), _used(pids)
    await _publish(memory, turns)
    wall, own, theirs = time.perf_counter() - wall, _used([worker]) - own, _used(pids) - theirs
    ms = 1000 / len(turns)
    return {"turns_per_second": len(turns) / wall, "worker_ms": own * ms, "extraction_ms": theirs * ms}


async def _settled(processes: Sequence[psutil.Process]) -> None:
    """Wait until all have done what they had to do: a process that starts takes a second of CPU time to load."""
    used = -1.0
    while used < (used := _used(processes)):  # noqa: ASYNC110  (what other processes do has no event here)
        await asyncio.sleep(LOADING_SECONDS)


async def _publish(memory: MemoryClient, turns: Sequence[Turn]) -> None:
    async for _ in memory.publish_many(turns, window=1000):
        pass


def through_kafka(turns: Sequence[Turn]) -> dict[int, dict[str, float]]:
    """Measure the ingest of turns with each number of processes, beside finding their concepts alone."""
    extractor = YakeExtractor(language="en")

    def alone() -> float:
        return taken(lambda: [extractor.of_turn(turn.text, speaker=turn.speaker, at=turn.at or 0) for turn in turns])[1]

    alone()  # dictionaries are read once
    figures = {}
    for pool in POOLS:
        settings = WorkerSettings().model_copy(update={"prefix": f"bench-{os.getpid()}-{pool}"})
        asyncio.run(select.create(settings))
        with tempfile.TemporaryDirectory(prefix="emgas-bench-") as home, _worker(settings, home, pool) as worker:
            each = asyncio.run(_measured(settings, worker, turns, pool, alone))
        figures[pool] = {name: mid(one[name] for one in each) for name in each[0]}
    return figures
