"""Who waits while others are busy?  Questions beside a flood of turns, and a flood of questions, on a real Kafka.

    EMGAS_BROKER=kafka://127.0.0.1:9092 python bench/fairness.py [--turns 30000] [--questions 10000]

One worker process, topics with a prefix of their own.  Reported, as one line of JSON, seen from the client:

    beside a flood    ms that questions to a graph of another partition took while one graph took TURNS turns at full
                      rate, and ms until a turn of that other partition was accounted for
    many at once      of QUESTIONS short ones sent together: how many were answered, told `overloaded`, told something
                      else, or got no answer
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
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from emgas import Turn
from emgas.client.client import MemoryClient
from emgas.errors import NoAnswerError, QueryFailedError
from emgas.wire import Receipt, partition_of
from streams.settings import Settings
from streams.transport import select

WORDS = [first + second for first in ["kettle", "garden", "museum", "violin", "harbour"] for second in "abcdefghij"]
EVERY_SECONDS = 0.1  # between two questions beside the flood
TIMEOUT = 10.0  # seconds: what a client waits by default


def main(
    turns: Annotated[int, typer.Option(help="Turns of the flood.")] = 30_000,
    questions: Annotated[int, typer.Option(help="Questions sent at once.")] = 10_000,
) -> None:
    """Measure and print one JSON object."""
    settings = Settings().model_copy(update={"prefix": f"bench-{os.getpid()}"})
    asyncio.run(select.create(settings))
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as home, _worker(settings, home):
        print(json.dumps(asyncio.run(_measure(settings, turns, questions))))


@contextmanager
def _worker(settings: Settings, home: str) -> Iterator[None]:
    environment = {**os.environ, "EMGAS_PREFIX": settings.prefix, "EMGAS_DATA": home, "EMGAS_LOG_LEVEL": "ERROR"}
    with subprocess.Popen([sys.executable, "-m", "streams.cli.main", "worker"], env=environment) as process:
        yield
        process.terminate()


async def _measure(settings: Settings, turns: int, questions: int) -> dict[str, Any]:
    async with (
        MemoryClient(settings.broker, prefix=settings.prefix, timeout=60.0) as feeder,
        MemoryClient(settings.broker, prefix=settings.prefix, timeout=60.0) as asker,
    ):
        for number in range(await asker.partitions()):
            await asker.inspect(number)  # answered once the worker owns it
        busy, calm = "busy", _elsewhere("busy", await asker.partitions())
        await asker.record(_turn(calm, 0))
        beside = await _beside(feeder, asker, turns=turns, busy=busy, calm=calm)
        return {"beside a flood": beside, "many at once": await _at_once(asker, calm, questions)}


async def _beside(feeder: MemoryClient, asker: MemoryClient, *, turns: int, busy: str, calm: str) -> dict[str, Any]:
    started = time.perf_counter()
    flood = asyncio.create_task(_flood(feeder, busy, turns))
    asked: list[asyncio.Task[float]] = []
    told: list[asyncio.Task[float]] = []
    while not flood.done():
        asked.append(asyncio.create_task(_timed(asker.query(calm, "the kettle in the garden"))))
        told.append(asyncio.create_task(_timed(asker.record(_turn(calm, len(told) + 1)))))
        await asyncio.sleep(EVERY_SECONDS)
    await flood
    seconds = time.perf_counter() - started
    took, waited = await asyncio.gather(*asked), await asyncio.gather(*told)
    return {"turns/s": round(turns / seconds), "question": _spread(took), "turn": _spread(waited)}


async def _flood(feeder: MemoryClient, graph: str, turns: int) -> None:
    end = 0
    async for _, there in feeder.publish_many((_turn(graph, n) for n in range(turns)), window=2000, outcomes=False):
        end = there.offset if isinstance(there, Receipt) else end
    await feeder.query(graph, "kettle", after=end, timeout=600.0)


async def _at_once(asker: MemoryClient, graph: str, questions: int) -> dict[str, Any]:
    started = time.perf_counter()
    ends = Counter(
        await asyncio.gather(*(_ended(asker.query(graph, "kettle", timeout=TIMEOUT)) for _ in range(questions)))
    )
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
