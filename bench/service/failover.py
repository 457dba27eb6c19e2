"""Measure the outage of a partition when its worker is killed: two workers on a real Kafka, each other's standby.

    EMGAS_BROKER=kafka://127.0.0.1:9092 python -m bench.service.failover [--turns 20000] [--rounds 3] [--readers]

One graph is filled; then its owner, the last that claimed its partition, is killed with SIGKILL, and from that moment
are measured, as a client sees it:

    first_turn_s     until a turn of that graph, sent right after the kill, is accounted for
    first_answer_s   until a question to that graph, repeated every 250 ms, is answered
    claimed_s        until the log has the claim of the next owner, by the clocks of both: what the group took

Of that, EMGAS_SESSION_TIMEOUT seconds (10 unless it is set) pass before the group misses the dead.  The killed one is
started again before the next round.  With --readers, two readers answer and the writer is killed: answers go on.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from statistics import median
from typing import Annotated, Any

import typer

from bench.speed.ingesting import sentences
from emgas.client.client import MemoryClient
from emgas.errors import EmgasError
from emgas.messages.operator import Inspect
from emgas.messages.turns import Turn
from emgas.wire import partition_of
from state.events.events import Claim, decode
from streams.settings import WorkerSettings
from streams.transport import select
from streams.transport.kafka.reader import KafkaReader

GRAPH = "failover"
AGAIN_SECONDS = 0.25
SETTLED_SECONDS = 5.0  # for standbys to have read what there is
PATIENCE = 180.0


class Workers:
    """Processes by their role and number."""

    def __init__(self, settings: WorkerSettings, home: str) -> None:
        self._settings = settings
        self._home = home
        self.running: dict[tuple[str, int], subprocess.Popen[bytes]] = {}

    def start(self, role: str, number: int) -> None:
        """Start a worker; its directory is kept from one life to the next."""
        ours = {"EMGAS_PREFIX": self._settings.prefix, "EMGAS_DATA": f"{self._home}/{role}-{number}"}
        environment = {**os.environ, **ours, "EMGAS_LOG_LEVEL": "ERROR", "EMGAS_ROLE": role}
        command = [sys.executable, "-m", "streams.cli.main", "worker"]
        self.running[role, number] = subprocess.Popen(command, env=environment)

    def kill(self, pid: int) -> tuple[str, int]:
        """Kill the worker with that process id, and return its key in `running`."""
        for which, process in self.running.items():
            if process.pid == pid:
                process.send_signal(signal.SIGKILL)
                process.wait()
                return which
        raise ValueError(f"no worker of ours has the process id {pid}")

    def stop(self) -> None:
        """Stop all."""
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            process.wait()


@contextmanager
def _workers(settings: WorkerSettings, home: str) -> Iterator[Workers]:
    workers = Workers(settings, home)
    with ExitStack() as ending:
        ending.callback(workers.stop)
        yield workers


async def _claims(settings: WorkerSettings, partition: int) -> list[tuple[int, int]]:
    """List (process id, ms since the epoch) of all claims of a partition."""
    log = KafkaReader(settings.bootstrap, settings.topics.events)
    start, end = await log.bounds(partition)
    claims = []
    async for batch in log.read(partition, start, end):
        for record in batch:
            event = decode(record.value)
            if isinstance(event, Claim):
                claims.append((int(event.writer.rpartition("/")[2]), record.timestamp))
    return claims


async def _until(attempt: Callable[[], Awaitable[object]]) -> float:
    """Try again and again until it succeeds; return the time of success (s)."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(EmgasError):
                await attempt()
                return time.perf_counter()
            await asyncio.sleep(AGAIN_SECONDS)


async def _round(settings: WorkerSettings, workers: Workers, memory: MemoryClient, turn: Turn) -> dict[str, float]:
    partition = partition_of(GRAPH, await memory.partitions())
    owner, _ = (await _claims(settings, partition))[-1]
    killed = workers.kill(owner)
    began, at = time.perf_counter(), time.time()
    recording = asyncio.create_task(_until(lambda: memory.record(turn, timeout=PATIENCE)))
    answered = asyncio.create_task(_until(lambda: memory.query(GRAPH, "the violin teacher", timeout=1.0)))
    taken, question_time = await recording, await answered
    _, claimed = (await _claims(settings, partition))[-1]
    workers.start(*killed)
    for number in range(await memory.partitions()):
        await _until(lambda number=number: memory.send(Inspect(digest=False), partition=number, timeout=5.0))  # type: ignore[misc]  # bound at once
    await asyncio.sleep(SETTLED_SECONDS)
    return {"first_turn_s": taken - began, "first_answer_s": question_time - began, "claimed_s": claimed / 1000 - at}


async def _measure(
    settings: WorkerSettings, workers: Workers, turns: int, rounds: int, *, readers: bool
) -> dict[str, Any]:
    for number in range(2):
        workers.start("writer" if readers else "all", number)
        if readers:
            workers.start("reader", number)
    filling = [turn.model_copy(update={"graph": GRAPH}) for turn in sentences(turns + rounds)]
    async with MemoryClient(settings.broker, prefix=settings.prefix, timeout=PATIENCE) as memory:
        async for _ in memory.publish_many(filling[:turns], window=1000):
            pass
        await asyncio.sleep(SETTLED_SECONDS + settings.session_timeout)
        result = [await _round(settings, workers, memory, turn) for turn in filling[turns:]]
    figures = {name: [round(each[name], 2) for each in result] for name in result[0]}
    return {
        "turns": turns,
        "session_timeout_s": settings.session_timeout,
        **figures,
        **{f"{name}_median": round(median(values), 2) for name, values in figures.items()},
        "load": round(os.getloadavg()[0], 1),
    }


def main(
    turns: Annotated[int, typer.Option(help="Of the graph whose worker is killed.")] = 20_000,
    rounds: Annotated[int, typer.Option(help="Kills.")] = 3,
    readers: Annotated[bool, typer.Option("--readers", help="Two writers and two readers.")] = False,  # noqa: FBT002 - Typer makes an option of it
) -> None:
    """Measure and print one JSON object."""
    changes = {"prefix": f"bench-{os.getpid()}", "readers_per_partition": 2 if readers else 1}
    settings = WorkerSettings().model_copy(update=changes)
    asyncio.run(select.create(settings))
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as home, _workers(settings, home) as workers:
        print(json.dumps(asyncio.run(_measure(settings, workers, turns, rounds, readers=readers))))


if __name__ == "__main__":
    typer.run(main)
