"""What does a turn cost a worker, and how much of that is finding its concepts?  In one process, without a broker.

    turns_per_cpu_second   validate, extract, stamp, append to the embedded log, fold, flush: as a worker does it
    extraction_share       of that, the time that the extractor took
    turns_per_second       by the clock

The turns are those of the demo's form: sentences made of everyday words, so that the extractor has something to do.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.measuring import rounded, taken
from emgas.client.client import MemoryClient
from emgas.messages.turns import Turn
from processors.extraction.yake_extractor import YakeExtractor
from streams.cli.shared.client import session
from streams.settings import Settings

PATIENCE: Final = 120.0  # seconds
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


def ingested(count: int) -> dict[str, Any]:
    """Measure the ingest of so many turns."""
    turns, extractor = list(sentences(count)), YakeExtractor(language="en")
    extractor.of_turn(turns[0].text, speaker="Ada", at=BEGIN)  # dictionaries are read once, whatever is said
    _, extraction = taken(lambda: [extractor.of_turn(turn.text, speaker=turn.speaker, at=BEGIN) for turn in turns])

    async def run(home: Path) -> tuple[float, float]:
        settings = Settings().model_copy(update={"broker": None, "data": home, "embedder": None})
        async with session(settings, PATIENCE) as connected:
            await _published(connected.memory, list(sentences(20)))
            wall, cpu = time.perf_counter(), time.process_time()
            await _published(connected.memory, [turn.model_copy(update={"graph": "measured"}) for turn in turns])
            return time.perf_counter() - wall, time.process_time() - cpu

    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as directory:
        wall, cpu = asyncio.run(run(Path(directory)))
    return {
        "turns": count,
        "turns_per_cpu_second": round(count / cpu),
        "turns_per_second": round(count / wall),
        "extraction_share": rounded(extraction / 1000 / cpu),
        "extraction_ms": rounded(extraction / count),
        "turn_ms": rounded(cpu * 1000 / count),
    }
