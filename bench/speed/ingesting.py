"""Measure the cost of a turn for a worker, and the share of extraction, without a broker and through one.

    turns_per_cpu_second   validate, extract, stamp, append to the embedded log, fold, flush: as a worker does it
    extraction_share       of that, the time that the extractor took
    turns_per_second       by the clock
    processes              the same with so many processes that find concepts (streams/plugins/extraction_pool.py), once
                           they run: CPU time a turn costs the worker itself and them, and what that leaves room for on
                           cores of their own: 1000 / max(worker_ms, extraction_ms / processes) turns a second
    pool                   that pool fed alone, as a worker feeds it, without the worker's own work: turns a second
                           by the clock with so many processes, and two over one: what a second core adds to extraction
    kafka                  where EMGAS_BROKER is set: the same through it (bench/speed/kafka_ingest.py)

The turns are those of the demo's form: sentences made of everyday words, so that the extractor has something to do.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

import psutil

from bench.speed.kafka_ingest import through_kafka
from bench.speed.measuring import rounded, taken
from emgas.client.client import MemoryClient
from emgas.messages.turns import Turn
from processors.extraction.extractor import Utterance
from processors.extraction.yake_extractor import YakeExtractor
from streams.cli.shared.client import session
from streams.ingest.turn_processor import PORTIONS_AHEAD
from streams.plugins.extraction_pool import ExtractionPool, Loading
from streams.settings import WorkerSettings
from streams.worker.embedded_connection import EmbeddedConnection

INGESTED: Final = 2_000  # turns
PATIENCE: Final = 120.0  # seconds
POOLS: Final = (1, 2)  # processes
YAKE: Final = "processors.extraction.yake_extractor.YakeExtractor"
BATCH: Final = 64  # turns, as EMGAS_BATCH_TURNS has it
FED: Final = 3  # times
BEGIN: Final = 1_704_067_200_000
PEOPLE: Final = ("Ada", "Ben")
SUBJECTS: Final = ("my sister", "the vet", "our neighbour", "a colleague", "the violin teacher", "grandmother")
DID: Final = ("bought", "repaired", "painted", "lost", "recommended", "borrowed", "baked", "photographed")
THINGS: Final = (
    "a kettle",
    "the garden fence",
    "two museum tickets",
    "an old bicycle",
    "a lemon cake",
    "the harbour map",
)
WHERE: Final = ("in Lisbon", "near the station", "last week", "after the concert", "for the children", "at the market")


def sentences(count: int) -> Iterator[Turn]:
    """Make up turns of one graph, the same in every run."""
    drawn = random.Random(1)
    for number in range(count):
        parts = [" ".join(map(drawn.choice, (SUBJECTS, DID, THINGS, WHERE))) for _ in range(2)]
        text = f"{parts[0].capitalize()}, and {parts[1]}."
        yield Turn(
            id=f"t{number}",
            graph="bench",
            speaker=PEOPLE[number % 2],
            session=f"s{number // 15}",
            text=text,
            at=BEGIN + number * 60_000,
        )


async def _published(memory: MemoryClient, turns: list[Turn]) -> None:
    async for _ in memory.publish_many(turns):
        pass


def _used(pids: list[int]) -> float:
    """Add up the CPU time of processes, s."""
    times = [psutil.Process(pid).cpu_times() for pid in pids]
    return float(sum(each.user + each.system for each in times))


async def _pooled(home: Path, turns: list[Turn], processes: int) -> dict[str, float]:
    """Measure the ingest with a pool of so many processes."""
    changes = {"broker": None, "data": home, "embedder": None, "extraction_processes": processes}
    settings = WorkerSettings().model_copy(update=changes)
    connection = EmbeddedConnection(settings)
    async with MemoryClient(connection, timeout=PATIENCE) as memory:
        pool = connection.app.pool
        assert pool is not None
        pool.start()
        while pool.ready < processes:  # noqa: ASYNC110  (what other processes do has no event here)
            await asyncio.sleep(0.1)
        pids = pool.pids
        wall, cpu, theirs = time.perf_counter(), time.process_time(), _used(pids)
        await _published(memory, [turn.model_copy(update={"graph": "measured"}) for turn in turns])
        wall, cpu, theirs = time.perf_counter() - wall, time.process_time() - cpu, _used(pids) - theirs
    worker_ms, extraction_ms = 1000 * cpu / len(turns), 1000 * theirs / len(turns)
    return {
        "turns_per_second": round(len(turns) / wall),
        "worker_ms": rounded(worker_ms),
        "extraction_ms": rounded(extraction_ms),
        "room_for_turns_per_second": round(1000 / max(worker_ms, extraction_ms / processes)),
    }


async def _fed(turns: list[Turn], processes: int) -> list[float]:
    """Feed a pool of so many processes and nothing else, several times; return the turns a second of each."""
    pool, extractions = ExtractionPool(processes, Loading(YAKE, "en", [], YakeExtractor(language="en").version)), []
    pool.start()
    try:
        while pool.ready < processes:  # noqa: ASYNC110  (as above)
            await asyncio.sleep(0.1)
        utterances = [Utterance(turn.text, turn.speaker, turn.at or BEGIN) for turn in turns]
        batches = [utterances[at : at + BATCH] for at in range(0, len(utterances), BATCH)]
        for _ in range(FED):
            ahead: deque[asyncio.Task[Any]] = deque()
            begun = time.perf_counter()
            for batch in batches:
                ahead.append(asyncio.create_task(pool.extract(batch)))
                if len(ahead) > PORTIONS_AHEAD:
                    await ahead.popleft()
            await asyncio.gather(*ahead)
            extractions.append(len(turns) / (time.perf_counter() - begun))
    finally:
        await pool.close()
    return extractions


def ingested(count: int) -> dict[str, Any]:
    """Measure the ingest of so many turns."""
    turns, extractor = list(sentences(count)), YakeExtractor(language="en")
    extractor.of_turn(turns[0].text, speaker="Ada", at=BEGIN)  # dictionaries are read once, whatever is said
    _, extraction = taken(lambda: [extractor.of_turn(turn.text, speaker=turn.speaker, at=BEGIN) for turn in turns])

    async def run(home: Path) -> tuple[float, float]:
        settings = WorkerSettings().model_copy(
            update={"broker": None, "data": home, "embedder": None, "extraction_processes": 0}
        )
        async with session(settings, PATIENCE) as connected:
            await _published(connected.memory, list(sentences(20)))
            wall, cpu = time.perf_counter(), time.process_time()
            await _published(connected.memory, [turn.model_copy(update={"graph": "measured"}) for turn in turns])
            return time.perf_counter() - wall, time.process_time() - cpu

    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as directory:
        wall, cpu = asyncio.run(run(Path(directory)))
        pooled = {number: asyncio.run(_pooled(Path(directory) / str(number), turns, number)) for number in POOLS}
    fed = {number: round(median(asyncio.run(_fed(turns, number)))) for number in POOLS}
    room = {number: each["room_for_turns_per_second"] for number, each in pooled.items()}
    return {
        "turns": count,
        "turns_per_cpu_second": round(count / cpu),
        "turns_per_second": round(count / wall),
        "extraction_share": rounded(extraction / 1000 / cpu),
        "extraction_ms": rounded(extraction / count),
        "turn_ms": rounded(cpu * 1000 / count),
        "processes": pooled,
        "pool": {**fed, "two_over_one": rounded(fed[2] / fed[1])},
        "two_processes_over_one": rounded(room[2] / room[1]),
        "two_processes_over_none": rounded(room[2] * cpu / count),
        "kafka": {} if WorkerSettings().is_embedded else through_kafka(turns),
    }
