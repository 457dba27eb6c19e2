"""Measure a memory over HTTP with `python -m bench.service.gateway`: one server process, and clients in this one.

Publish and query one after the other (p50, p99, ms; of a query also what recall itself took), then many clients at
once (requests a second, how many failed).  Of each also the CPU time, ms, that the server and this process spend on a
call: that holds on a busy machine too.  Both sides share the machine's cores: on two, a client's own work is about
half of what is measured.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psutil

from emgas import MemoryClient
from emgas.errors import EmgasError

TURNS = 500  # in the graph that is asked
CALLS = 500  # one after the other
CLIENTS = 50
SECONDS = 10.0  # of many clients
WORDS = [
    *("kettle", "harbour", "violin", "dentist", "passport", "meadow"),
    *("lantern", "yeast", "orchard", "compass", "ticket", "blanket"),
]


def text(number: int) -> str:
    """Make a turn's text of three words that recur."""
    one, two, three = (WORDS[number // 12**power % 12] for power in range(3))
    return f"The {one} stood beside the {two} until somebody found the {three} of number {number}."


async def timed(calls: int, call: Callable[[int], Awaitable[Any]]) -> list[float]:
    """Make calls one after the other; return each one's time, ms, sorted."""
    taken = []
    for number in range(calls):
        started = time.perf_counter()
        await call(number)
        taken.append((time.perf_counter() - started) * 1000)
    return sorted(taken)


async def measured(url: str, server: psutil.Process) -> dict[str, float]:
    """Measure the server at `url`."""
    recalled: list[float] = []
    spent = dict[str, float]()
    async with MemoryClient(url) as memory:

        async def publish(number: int) -> None:
            await memory.publish({"id": f"p{number}", "graph": "bench", "speaker": "Ada", "text": text(number)})

        async def query(number: int) -> None:
            reply = await memory.query("bench", f"where was the {WORDS[number % 12]}?")
            recalled.append(reply.timing.recall_ms)

        with counted("publish", TURNS, server, spent):
            published = await timed(TURNS, publish)
            await memory.record({"id": "last", "graph": "bench", "speaker": "Ada", "text": "That was all."})
        with counted("query", CALLS, server, spent):
            query_times = await timed(CALLS, query)
    return {
        **spent,
        **summarise("publish", published),
        **summarise("query", query_times),
        **summarise("recall", sorted(recalled)),
        **await crowd(url, server),
    }


@contextmanager
def counted(name: str, calls: int, server: psutil.Process, spent: dict[str, float]) -> Iterator[None]:
    """Count the CPU time that both sides spend on each of the calls within, ms."""
    sides = {"server": server, "client": psutil.Process()}
    before = {side: sum(process.cpu_times()[:2]) for side, process in sides.items()}
    yield
    for side, process in sides.items():
        spent[f"{name}_{side}_cpu_ms"] = (sum(process.cpu_times()[:2]) - before[side]) * 1000 / calls


def summarise(name: str, taken: list[float]) -> dict[str, float]:
    """Return the median and the 99th percentile of sorted durations, ms."""
    return {f"{name}_p50_ms": taken[len(taken) // 2], f"{name}_p99_ms": taken[len(taken) * 99 // 100]}


async def crowd(url: str, server: psutil.Process) -> dict[str, float]:
    """Run CLIENTS that publish and query in turn, each in its own graph, for SECONDS; return rates and costs."""
    done, failed, begun = 0, 0, asyncio.Barrier(CLIENTS)
    before = begin = 0.0

    async def one(client: int) -> None:
        nonlocal done, failed, before, begin
        number = 0
        async with MemoryClient(url, timeout=60.0) as memory:
            await begun.wait()
            before, begin = sum(server.cpu_times()[:2]), time.perf_counter()
            while time.perf_counter() < begin + SECONDS:
                number += 1
                turn = {"id": f"c{number}", "graph": f"crowd-{client}", "speaker": "Ada", "text": text(number)}
                try:
                    await (memory.query(turn["graph"], text(number)) if number % 2 else memory.publish(turn))
                    done += 1
                except EmgasError:
                    failed += 1

    await asyncio.gather(*map(one, range(CLIENTS)))
    lasted = time.perf_counter() - begin
    spent = (sum(server.cpu_times()[:2]) - before) * 1000 / max(1, done)
    rate = done / lasted
    return {"clients": CLIENTS, "requests_per_second": rate, "failed": failed, "server_cpu_ms": spent}


def main() -> None:
    """Start a server on a new memory, measure, and print one line of JSON."""
    with tempfile.TemporaryDirectory() as data:
        serve = [sys.executable, "-m", "streams.cli.main", "serve", "--port", "0", "--url", f"embedded:{data}"]
        server = subprocess.Popen(serve, stderr=subprocess.PIPE, text=True)
        assert server.stderr is not None
        url = server.stderr.readline().split()[2]
        try:
            report = asyncio.run(measured(url, psutil.Process(server.pid)))
            print(json.dumps({name: round(value, 2) for name, value in report.items()}))
        finally:
            server.terminate()
            server.communicate()


if __name__ == "__main__":
    main()
