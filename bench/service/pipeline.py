"""Measure the whole pipeline: ingest, queries and memory, through a real worker process and a real Kafka.

    EMGAS_BROKER=kafka://127.0.0.1:9092 python bench/service/pipeline.py FILE

FILE is any file that `emgas import` reads (LoCoMo's JSON, say).  Topics get a prefix of their own.  Reported are, for
one worker: turns per second of wall clock and per second of the worker's own CPU time, its resident memory after the
ingest, and the latency of queries, seen from the client, against one graph of SIZE turns.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import psutil
import typer

from emgas import Turn
from emgas.client.client import MemoryClient
from emgas.importers.registry import read
from emgas.messages.operator import Inspect
from streams.settings import WorkerSettings
from streams.transport import select

QUESTIONS = (
    "What did we talk about last summer?",
    "Who has a dog?",
    "When did she start the new job?",
    "Which book did he recommend?",
    "What does the family do on weekends?",
    "Where was the photo taken?",
)


def main(
    file: Path,
    size: Annotated[int, typer.Option(help="Turns in the graph that is queried.")] = 6000,
    queries: Annotated[int, typer.Option(help="Queries to time.")] = 1000,
) -> None:
    """Measure and print one JSON object."""
    turns = [item for item in read(file.open("rb"), file.name) if isinstance(item, Turn)]
    settings = WorkerSettings().model_copy(update={"prefix": f"bench-{os.getpid()}"})
    asyncio.run(select.create(settings))
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as home, _worker(settings, home) as worker:
        print(json.dumps(asyncio.run(_measure(settings, worker, turns, size, queries)), indent=2))


@contextmanager
def _worker(settings: WorkerSettings, home: str) -> Iterator[psutil.Process]:
    environment = {**os.environ, "EMGAS_PREFIX": settings.prefix, "EMGAS_DATA": home, "EMGAS_LOG_LEVEL": "ERROR"}
    command = [sys.executable, "-m", "streams.cli.main", "worker"]
    with subprocess.Popen(command, env=environment) as process:
        yield psutil.Process(process.pid)
        process.terminate()


async def _measure(
    settings: WorkerSettings, worker: psutil.Process, turns: list[Turn], size: int, queries: int
) -> dict[str, Any]:
    async with MemoryClient(settings.broker, prefix=settings.prefix, timeout=60.0) as memory:
        for partition in range(await memory.partitions()):
            await memory.send(Inspect(), partition=partition)  # answered once the worker owns it
        ingest = await _ingest(memory, worker, turns)
        ingest["resident MB"] = round(worker.memory_info().rss / 1e6, 1)
        big = list(_one_graph(turns, size))
        filling = await _ingest(memory, worker, big)
        latencies = await _ask(memory, big[0].graph, queries)
        return {"ingest, graphs as in the file": ingest, f"ingest, one graph of {size}": filling, "queries": latencies}


async def _ingest(memory: MemoryClient, worker: psutil.Process, turns: list[Turn]) -> dict[str, Any]:
    started, busy = time.perf_counter(), _cpu(worker)
    async for _ in memory.publish_many(turns, window=1000):
        pass
    seconds, cpu = time.perf_counter() - started, _cpu(worker) - busy
    rates = {"turns per second": round(len(turns) / seconds), "turns per CPU second": round(len(turns) / cpu)}
    return {"turns": len(turns), **rates}


def _cpu(worker: psutil.Process) -> float:
    times = worker.cpu_times()
    return float(times.user + times.system)


def _one_graph(turns: list[Turn], size: int) -> Iterator[Turn]:
    """Yield `size` turns of one graph: the file's, in order, as often as needed, each copy with ids of its own."""
    for number in range(size):
        turn = turns[number % len(turns)]
        copy = number // len(turns)
        names = {"id": f"{turn.graph}/{turn.id}/{copy}", "session": f"{turn.graph}/{turn.session}/{copy}"}
        yield turn.model_copy(update={"graph": "bench", **names})


async def _ask(memory: MemoryClient, graph: str, queries: int) -> dict[str, Any]:
    await memory.query(graph, QUESTIONS[0])
    seen, inside = [], []
    for number in range(queries):
        started = time.perf_counter()
        reply = await memory.query(graph, QUESTIONS[number % len(QUESTIONS)])
        seen.append((time.perf_counter() - started) * 1000)
        inside.append(reply.timing.recall_ms)
    return {"queries": queries, "seen by the client, ms": _spread(seen), "recall in the worker, ms": _spread(inside)}


def _spread(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100)
    percentiles = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(values)}
    return {name: round(value, 2) for name, value in percentiles.items()}


if __name__ == "__main__":
    typer.run(main)
