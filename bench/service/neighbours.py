"""Measure whether a graph that is flooded still slows its former neighbours once it has moved to another memory.

    python -m bench.service.neighbours [--rounds 5] [--seconds 6] [--rate 100] [--broker 127.0.0.1:9092]

Two memories on one broker, with a worker each.  In each round, neighbours of one partition are asked in five phases:

    calm        nothing else happens
    elsewhere   a graph that was never their neighbour takes turns, in the other memory
    flooded     a graph of their partition takes as many
    after       the same flood, where that graph is now
    calm again  nothing

After `flooded`, `emgas admin graph move` moves the graph, and at the end it comes back.  Rounds alternate because other
programs may use the machine as well.  Reported as one line of JSON: ms of the answers by phase, and how many times
those of the calm and of `elsewhere` their 99th percentile takes, in the round in the middle.  Where all of this shares
one machine, a flood anywhere takes its cores: what the move leaves behind is what `after` takes beside `elsewhere`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Any

from bench.service.transfers import Place
from bench.torture.processes import one_broker
from emgas.client.client import MemoryClient
from emgas.messages.turns import Turn
from emgas.wire import partition_of
from streams.transport import select

PARTITIONS = 4
BUSY, STRANGER = "busy", "stranger"
NEIGHBOURS = 3
TURNS = 60  # of each neighbour
QUESTIONS = 12.0  # a second
PHASES = ("calm", "elsewhere", "flooded", "after", "calm again")
WORDS = [first + second for first in ["kettle", "garden", "museum", "violin", "harbour"] for second in "abcdefghij"]


def neighbours() -> list[str]:
    """Name graphs of the partition that is flooded."""
    names = (f"graph-{number}" for number in count())
    beside = (name for name in names if partition_of(name, PARTITIONS) == partition_of(BUSY, PARTITIONS))
    return [next(beside) for _ in range(NEIGHBOURS)]


def _turns(graph: str) -> Iterator[Turn]:
    for number in count():
        text = " ".join(random.Random(number).choices(WORDS, k=9))
        yield Turn(id=f"t{number}", graph=graph, speaker="Ada", text=text, session=str(number // 15))


class FloodedPartition:
    """The two memories, the graph that is flooded, and those that are asked."""

    def __init__(self, here: Place, there: Place, seconds: float, rate: float) -> None:
        self._here, self._there = here, there
        self._seconds, self._rate = seconds, rate
        self._graphs = neighbours()
        self._floods = {graph: _turns(graph) for graph in (BUSY, STRANGER)}
        self._chance = random.Random(1)

    async def prepare(self) -> None:
        """Let all graphs live."""
        for graph in (*self._graphs, BUSY, STRANGER):
            memory = self._there.memory if graph == STRANGER else self._here.memory
            turns = self._floods.get(graph) or _turns(graph)
            for _ in range(TURNS):
                await memory.record(next(turns))

    async def round(self) -> dict[str, list[float]]:
        """Ask in each phase; return ms of the answers."""
        took = {"calm": await self._asked()}
        took["elsewhere"] = await self._asked(self._flooded(self._there.memory, STRANGER))
        took["flooded"] = await self._asked(self._flooded(self._here.memory, BUSY))
        await self._move(self._here, self._there)
        took["after"] = await self._asked(self._flooded(self._there.memory, BUSY))
        took["calm again"] = await self._asked()
        await self._move(self._there, self._here)
        return took

    async def _asked(self, flooding: Coroutine[Any, Any, None] | None = None) -> list[float]:
        """Ask the neighbours for as long as a phase takes, each at a moment of its own."""
        flood = asyncio.create_task(flooding) if flooding is not None else None
        until, asked = time.perf_counter() + self._seconds, list[asyncio.Task[float]]()
        while time.perf_counter() < until:
            asked.append(asyncio.create_task(self._took(self._chance.choice(self._graphs))))
            await asyncio.sleep(self._chance.expovariate(QUESTIONS))
        took = [await each for each in asked]
        if flood is not None:
            await flood
        return took

    async def _took(self, graph: str) -> float:
        started = time.perf_counter()
        await self._here.memory.query(graph, " ".join(self._chance.choices(WORDS, k=3)))
        return 1000 * (time.perf_counter() - started)

    async def _flooded(self, memory: MemoryClient, graph: str) -> None:
        """Send turns to a graph, so many a second, and wait for them."""
        started, sent = time.perf_counter(), list[asyncio.Task[Any]]()
        for number in range(round(self._rate * self._seconds)):
            await asyncio.sleep(started + number / self._rate - time.perf_counter())
            sent.append(asyncio.create_task(memory.record(next(self._floods[graph]))))
        for each in sent:
            if (outcome := await each).status != "accepted":
                raise RuntimeError(f"a turn of the flood was {outcome.status}: {outcome.reason}")

    async def _move(self, source: Place, target: Place) -> None:
        code, output = await source.emgas("admin", "graph", "move", BUSY, "--to", target.settings.prefix, "--json")
        if code:
            raise RuntimeError(f"the move exits with {code}: {output}")


def _p99(took: list[float]) -> float:
    return sorted(took)[len(took) * 99 // 100]


def described(rounds: list[dict[str, list[float]]]) -> dict[str, Any]:
    """Report the rounds."""
    report: dict[str, Any] = {"rounds": len(rounds), "load": round(os.getloadavg()[0], 1)}
    for phase in PHASES:
        took = [each for one in rounds for each in one[phase]]
        report[phase] = {
            "n": len(took),
            "p50": round(statistics.median(took), 1),
            "p99": round(statistics.median(_p99(one[phase]) for one in rounds), 1),
            "times_calm": _times(rounds, phase, "calm", "calm again"),
            "times_elsewhere": _times(rounds, phase, "elsewhere"),
        }
    return report


def _times(rounds: list[dict[str, list[float]]], phase: str, *others: str) -> float:
    """Return how many times the 99th percentile of others a phase takes, in the round in the middle."""
    beside = [_p99([each for other in others for each in one[other]]) for one in rounds]
    return round(statistics.median(_p99(one[phase]) / p99 for one, p99 in zip(rounds, beside, strict=True)), 2)


async def measured(broker: str, directory: Path, rounds: int, seconds: float, rate: float) -> dict[str, Any]:
    """Measure on this broker."""
    kek = directory / "kek"
    kek.write_text("ab" * 32)
    names = [f"{side}-{directory.name[-8:].lower().replace('_', '-')}" for side in ("beside", "apart")]
    here, there = (Place(broker, name, PARTITIONS, directory, kek) for name in names)
    async with AsyncExitStack() as running:
        for place in (here, there):
            running.push_async_callback(place.worker.end)
            await select.create(place.settings)
            await place.worker.up()
            await running.enter_async_context(place.memory)
        flooded = FloodedPartition(here, there, seconds, rate)
        await flooded.prepare()
        return described([await flooded.round() for _ in range(rounds)])


async def _measured_on(broker: str | None, rounds: int, seconds: float, rate: float, directory: Path) -> dict[str, Any]:
    async with one_broker("neighbours", broker) as address:
        return await measured(address, directory, rounds, seconds, rate)


def main() -> int:
    """Measure, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each phase")
    parser.add_argument("--rate", type=float, default=100.0, help="turns a second of the flood")
    parser.add_argument("--broker", help="host:port; by default, scripts/kafka starts one")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        options = (chosen.rounds, chosen.seconds, chosen.rate)
        report = asyncio.run(_measured_on(chosen.broker, *options, Path(directory)))
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
