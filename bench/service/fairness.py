"""Measure who waits while others are busy: questions beside a flood of turns, and a flood of questions.

    EMGAS_BROKER=kafka://127.0.0.1:9092 python bench/service/fairness.py [--turns 30000] [--questions 10000] [--reader]
    python bench/service/fairness.py [--turns 30000]     embedded: only beside a flood; worker, flood and questions are
                                                         one process, with its extraction processes

One worker process, or a writer and a reader, topics with a prefix of their own.  Who floods is a process of its own: in
ours, what it does between two looks at the socket would be measured as the worker's.  With --rate it sends so many
turns a second: where the worker can take them, what is measured is the way of a question, not the contest for cores.
Questions and turns beside it come at seeded moments of their own: of two in the same instant, one waits for the other.
Reported, as one line of JSON, seen from the client:

    beside a flood    ms that questions to a graph of another partition took while one graph took TURNS turns at full
                      rate, and ms until a turn of that other partition was accounted for; and ms of questions to the
                      graph that is flooded
    processes         s that each ran meanwhile, and stood in line for a core; with what finds concepts for a writer
    many at once      of QUESTIONS short ones sent together by CLIENTS: how many were answered, told `overloaded`, told
                      something else, or got no answer
    load              of the machine, over the last minute: on a busy one, what is measured is the others
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from typing import Annotated, Any, NamedTuple

import typer

from bench.service.queuing import Queuing
from emgas import Turn
from emgas.client.client import MemoryClient
from emgas.errors import NoAnswerError, QueryFailedError
from emgas.wire import Receipt, partition_of
from streams.settings import WorkerSettings
from streams.transport import select

WORDS = [first + second for first in ["kettle", "garden", "museum", "violin", "harbour"] for second in "abcdefghij"]
BUSY = "busy"  # the graph that is flooded
EVERY_SECONDS = 0.1  # between two rounds of questions beside the flood, on average
TIMEOUT = 10.0  # seconds: what a client waits by default


def main(
    *,
    turns: Annotated[int, typer.Option(help="Turns of the flood.")] = 30_000,
    questions: Annotated[int, typer.Option(help="Questions sent at once.")] = 10_000,
    clients: Annotated[int, typer.Option(help="Who send them.")] = 1,
    reader: Annotated[bool, typer.Option("--reader", help="A writer and a reader instead.")] = False,
    rate: Annotated[int, typer.Option(help="Turns a second of the flood; 0: as fast as they can be sent.")] = 0,
    every: Annotated[float, typer.Option(help="Seconds between two rounds of questions beside it.")] = EVERY_SECONDS,
    flood: Annotated[str, typer.Option(hidden=True)] = "",
) -> None:
    """Measure and print one JSON object."""
    if flood:
        asyncio.run(_flood(WorkerSettings(), flood, turns, rate))
        return
    if WorkerSettings().is_embedded:
        print(json.dumps(asyncio.run(_in_one_process(turns, every))))
        return
    settings = WorkerSettings().model_copy(update={"prefix": f"bench-{os.getpid()}"})
    asyncio.run(select.create(settings))
    roles = ("writer", "reader") if reader else ("all",)
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as home, ExitStack() as workers:
        pids = {role: workers.enter_context(_worker(settings, f"{home}/{role}", role)) for role in roles}
        flooding = Flooding(turns, rate, every)
        print(json.dumps(asyncio.run(_measure(settings, pids, flooding, questions, clients)) | {"roles": roles}))


class Flooding(NamedTuple):
    """The flood: its number of turns, turns a second (0: all at once), and seconds between two rounds of questions."""

    turns: int
    rate: int
    every: float


@contextmanager
def _worker(settings: WorkerSettings, home: str, role: str) -> Iterator[int]:
    ours = {"EMGAS_PREFIX": settings.prefix, "EMGAS_DATA": home, "EMGAS_LOG_LEVEL": "ERROR", "EMGAS_ROLE": role}
    environment = {**os.environ, **ours}
    with subprocess.Popen([sys.executable, "-m", "streams.cli.main", "worker"], env=environment) as process:
        yield process.pid
        process.terminate()


async def _measure(
    settings: WorkerSettings, pids: dict[str, int], flooding: Flooding, questions: int, clients: int
) -> dict[str, Any]:
    async with MemoryClient(settings.broker, prefix=settings.prefix, timeout=60.0) as asker:
        for number in range(await asker.partitions()):
            await asker.inspect(number)  # answered once the worker owns it
        calm = _elsewhere(BUSY, await asker.partitions())
        await asker.record(_turn(calm, 0))
        queuing = Queuing(pids | {"asker": os.getpid()})
        beside = await _beside(settings, asker, flooding, calm=calm)
        beside["processes"] = queuing.summary()
        at_once = await _at_once(settings, calm, questions, clients)
        return {"beside a flood": beside, "many at once": at_once, "load": round(os.getloadavg()[0], 1)}


async def _in_one_process(turns: int, every: float) -> dict[str, Any]:
    """Measure beside a flood in an embedded memory."""
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as home:
        async with MemoryClient(f"embedded:{home}", timeout=60.0) as asker:
            calm, made = _elsewhere(BUSY, await asker.partitions()), [_turn(BUSY, n) for n in range(turns)]
            await asker.record(_turn(calm, 0))
            started = time.perf_counter()
            flood = asyncio.create_task(_drain(asker.publish_many(made)))
            latencies = await _query_until(flood, asker, calm, every)
            seconds = await flood - started
    return {"beside a flood": {"turns/s": round(turns / seconds), **latencies}, "load": round(os.getloadavg()[0], 1)}


async def _drain(outcomes: AsyncIterator[object]) -> float:
    """Take all; return the time of the last one."""
    async for _ in outcomes:
        pass
    return time.perf_counter()


async def _beside(settings: WorkerSettings, asker: MemoryClient, flooding: Flooding, *, calm: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--flood", BUSY, "--turns", str(flooding.turns), "--rate", str(flooding.rate)]
    environment = {**os.environ, "EMGAS_PREFIX": settings.prefix}
    started = time.perf_counter()
    flood = await asyncio.create_subprocess_exec(*command, env=environment, stdout=asyncio.subprocess.PIPE)
    assert flood.stdout
    await flood.stdout.readline()  # it begins
    ended = asyncio.create_task(_ended_at(flood))
    latencies = await _query_until(ended, asker, calm, flooding.every)
    seconds = await ended - started
    assert flood.returncode == 0
    return {"turns/s": round(flooding.turns / seconds), **latencies}


async def _ended_at(process: asyncio.subprocess.Process) -> float:
    await process.wait()
    return time.perf_counter()


async def _query_until(ended: asyncio.Task[float], asker: MemoryClient, calm: str, every: float) -> dict[str, Any]:
    """Ask, and tell, until the flood has ended: each at a moment of its own, so that none waits for another's."""
    queries: list[asyncio.Task[float]] = []
    busy: list[asyncio.Task[float]] = []
    finished: list[asyncio.Task[float]] = []
    begins: list[Callable[[], None]] = [
        lambda: queries.append(asyncio.create_task(_timed(asker.query(calm, "the kettle in the garden")))),
        lambda: busy.append(asyncio.create_task(_timed(asker.query(BUSY, "the kettle in the garden")))),
        lambda: finished.append(asyncio.create_task(_timed(asker.record(_turn(calm, len(finished) + 1))))),
    ]
    moments = random.Random(0)
    while not ended.done():
        for begin in begins:
            await asyncio.sleep(moments.uniform(0, 2 * every / len(begins)))
            begin()
    took, waited, beside = await asyncio.gather(*queries), await asyncio.gather(*finished), await asyncio.gather(*busy)
    return {"question": _spread(took), "question to the flooded": _spread(beside), "turn": _spread(waited)}


async def _flood(settings: WorkerSettings, graph: str, turns: int, rate: int) -> None:
    """Publish, and wait until all of it is accounted for."""
    end, waiting = 0, _paced([_turn(graph, n) for n in range(turns)], rate)
    async with MemoryClient(settings.broker, prefix=settings.prefix, timeout=60.0) as feeder:
        print("begins", flush=True)
        async for _, there in feeder.publish_many(waiting, window=2000, outcomes=False):
            end = there.offset if isinstance(there, Receipt) else end
        await feeder.query(graph, "kettle", after=end, timeout=600.0)


async def _paced(turns: Sequence[Turn], rate: int) -> AsyncIterator[Turn]:
    """Yield so many turns a second; 0: as they are taken."""
    started = time.perf_counter()
    for number, turn in enumerate(turns):
        if rate and (early := started + number / rate - time.perf_counter()) > 0:
            await asyncio.sleep(early)
        yield turn


async def _at_once(settings: WorkerSettings, graph: str, questions: int, clients: int) -> dict[str, Any]:
    async with AsyncExitStack() as open_clients:
        askers = [
            await open_clients.enter_async_context(MemoryClient(settings.broker, prefix=settings.prefix))
            for _ in range(clients)
        ]
        started = time.perf_counter()
        asking = [askers[n % clients].query(graph, "kettle", timeout=TIMEOUT) for n in range(questions)]
        ends = Counter(await asyncio.gather(*map(_ended, asking)))
        return {**ends, "seconds": round(time.perf_counter() - started, 1)}


async def _ended(question: Awaitable[object]) -> str:
    try:
        await question
    except QueryFailedError as failure:
        return failure.code
    except NoAnswerError:
        return "no answer"
    return "answered"


async def _timed(work: Awaitable[object]) -> float:
    started = time.perf_counter()
    await work
    return (time.perf_counter() - started) * 1000


def _spread(took: list[float]) -> dict[str, float]:
    took = sorted(took)
    return {
        "n": len(took),
        **{f"p{part}": round(took[len(took) * part // 100], 1) for part in (50, 90, 99)},
        "max": round(took[-1], 1),
    }


def _turn(graph: str, number: int) -> Turn:
    text = " ".join(random.Random(number).choices(WORDS, k=9))
    return Turn(id=f"t{number}", graph=graph, speaker="Ada", text=text, session=str(number // 15))


def _elsewhere(graph: str, partitions: int) -> str:
    names = (f"calm-{number}" for number in range(1000))
    return next(name for name in names if partition_of(name, partitions) != partition_of(graph, partitions))


if __name__ == "__main__":
    typer.run(main)
