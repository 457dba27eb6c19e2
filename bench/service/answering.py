"""Measure how fast a worker answers, and how long a question delays all others: one graph, one process, no broker.

    python -m bench.service.answering FILE                 6,000 turns of its conversations in a row, no fading
    python -m bench.service.answering FILE --turns 1000    quickly

FILE is any file that `emgas import` reads and whose turns have times (LoCoMo's JSON, say).  Every second turn is
recalled, so that there are about 1.6 events a turn.  All times are CPU: what the thread or the process used, anyone who
else used the machine.

    extraction   what the extractor takes for a turn of the file
    answers      parse, recall, encode: of a plain question, and with explanations
    as of        rebuilding the graph as of other times: the first near its end, the first in its middle, and any
    held up      the longest time for which the event loop served no one else, by kind of question
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Any

from msgspec.structs import replace

from bench.service.pipeline import QUESTIONS
from bench.speed.measuring import recorded
from emgas.importers.registry import read
from emgas.messages.queries import Query
from emgas.messages.topics import REQUEST
from emgas.messages.turns import Turn
from emgas.times import DAY_MS as DAY
from emgas.wire import ProducerRecord
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.lifecycle.windows import due_events
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from state.events.events import (
    UNSTAMPED,
    AnyEvent,
    Claim,
    ConceptsRecalled,
    GraphConfigured,
    GraphEvent,
    TurnRecorded,
    encode,
)
from state.events.memory_settings import PRESETS
from state.graph.graph import Graph
from state.log_position import LogPosition, stamp
from state.partition import Partition
from state.store.rocksdb import RocksStore
from streams.ingest.partition_writer import PartitionWriter
from streams.query.answers.as_of_cache import AsOfCache
from streams.query.answers.context import position_of
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.reader import EmbeddedReader
from streams.transport.topic_plan import FOR_EVER, TopicPlan

TOPIC, GRAPH = "emgas.events", "bench"
LIVES = PRESETS["elephant"].model_copy(update={"duplicate_above": 2.0})  # repeated turns stay, too
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "metadata that no turn has": {"only": {"metadata": {"none": 1}}},
    "8,000 tokens": {"budget": 8000},
    "the largest": {"budget": 32_000, "top_passages": 100, "top_concepts": 100, "explain": True},
}


class Writer:
    """The log of one graph, written as a worker would: in order, each event behind the windows that end before it."""

    def __init__(self) -> None:
        self.records: list[bytes] = []
        self.times: list[int] = []
        self._head, self._graph = LogPosition(), Graph(GRAPH)
        self._put(Claim(writer="bench", partitions=1, nonce=""))
        self.append(GraphConfigured(graph=GRAPH, preset="elephant", settings=LIVES, **UNSTAMPED))

    def append(self, event: GraphEvent) -> None:
        """Append an event, and what windows say before it."""
        if (at := getattr(event, "at", None)) is not None:
            for window in due_events(self._graph, at):
                self._fold(window)
            self.times.append(at)
        if isinstance(event, TurnRecorded):
            event = replace(event, src=self._head.source + 1)
        self._fold(event)

    def _fold(self, event: GraphEvent) -> None:
        self._put(stamp(event, self._head))
        self._graph.fold(event)

    def _put(self, event: AnyEvent) -> None:
        value = encode(event)
        self._head, _ = self._head.after(len(self.records), event, value)
        self.records.append(value)


def log_of(file: Path, turns: int) -> Writer:
    """Write the log of so many turns of a file's conversations, one behind the other as often as needed."""
    turns_read = [item for item in read(file.open("rb"), file.name) if isinstance(item, Turn)]
    writer, extractor, seeded = Writer(), YakeExtractor(language="en"), random.Random(1)
    for turn in in_order(turns_read, turns):
        event = recorded(turn, extractor)
        writer.append(event)
        if seeded.random() < 0.6:
            concepts = [concept.id for concept in event.concepts[:6]]
            writer.append(ConceptsRecalled(graph=GRAPH, at=event.at, concepts=concepts, **UNSTAMPED))
    return writer


def in_order(items: list[Turn], turns: int) -> Iterator[Turn]:
    """Yield `turns` turns of one graph whose time never goes back."""
    last = shift = 0
    for number in range(turns):
        turn, copy = items[number % len(items)], number // len(items)
        assert turn.at is not None
        shift = max(shift, last + DAY - turn.at) if turn.at + shift < last else shift
        last = turn.at + shift
        names = {"id": f"{turn.id}/{copy}", "session": f"{turn.graph}/{turn.session}/{copy}"}
        yield turn.model_copy(update={"graph": GRAPH, "at": last, **names})


def spread(milliseconds: list[float]) -> dict[str, float]:
    """Sum up times in ms: the median and the tail."""
    cuts = quantiles(milliseconds, n=100)
    return {"p50": round(cuts[49], 1), "p99": round(cuts[98], 1), "max": round(max(milliseconds), 1)}


def extraction(file: Path, extractor: YakeExtractor) -> dict[str, float]:
    """Measure what a turn of a file takes `extractor`, ms."""
    took = []
    for turn in (item for item in read(file.open("rb"), file.name) if isinstance(item, Turn)):
        started = time.process_time()
        extractor.of_turn(turn.text, speaker=turn.speaker, at=turn.at or 0)
        took.append((time.process_time() - started) * 1000)
    return spread(took)


def answers(writer: PartitionWriter, answerer: Answerer, **fields: Any) -> dict[str, float]:
    """Measure what answering costs, from the bytes of the question to those of the reply, ms."""
    took = []
    for number in range(300):
        value = json.dumps({"kind": "query", "graph": GRAPH, "text": QUESTIONS[number % 6], **fields}).encode()
        started, query = time.process_time(), REQUEST.validate_json(value)
        assert isinstance(query, Query)
        memory = QueriedGraph(writer.state.graph(GRAPH), writer.state.text_of, position_of(writer))
        in_one_go(answerer.answer(query, memory)).reply.model_dump_json().encode()
        took.append((time.process_time() - started) * 1000)
    return spread(took)


async def timed(do: Callable[[], Awaitable[object]]) -> float:
    """Measure what awaiting costs the process, ms."""
    started = time.process_time()
    await do()
    return (time.process_time() - started) * 1000


async def measure_delay(do: Callable[[], Awaitable[object]]) -> float:
    """Measure the longest time for which the loop served no one else meanwhile, ms."""
    longest = 0.0

    async def others() -> None:
        nonlocal longest
        last = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            longest, last = max(longest, now - last), now

    task = asyncio.create_task(others())
    await asyncio.sleep(0)
    await do()
    await asyncio.sleep(0)
    task.cancel()
    return round(longest * 1000, 1)


async def measured(written: Writer, directory: Path) -> dict[str, Any]:
    """Fold the log, then measure."""
    state = Partition(RocksStore(directory / "store"))
    for offset, value in enumerate(written.records):
        state.fold(offset, value)
        if offset % 64 == 0:
            state.flush()
    state.flush()
    log = EmbeddedLog(directory)
    log.create_topic(TopicPlan(TOPIC, 1, FOR_EVER, 1 << 20))
    log.append([ProducerRecord(TOPIC, None, value, (), 0, 0) for value in written.records])
    answerer = Answerer(YakeExtractor(language="en"))
    appends_nothing: Any = None
    writer = PartitionWriter(0, state, appends_nothing, partitions=1, worker="bench", timeout=60.0)
    past = AsOfCache(EmbeddedReader(log, TOPIC), lambda _: closing(RocksStore(directory / "store", read_only=True)))
    events, end = len(written.records) - 1, len(written.records)
    first, last = written.times[0], max(written.times)

    async def as_of(at: int) -> None:
        await past.graph(GRAPH, at, partition=0, events=events, end=end, hides=False)

    async def ask(kind: str, text: str) -> None:
        memory = QueriedGraph(state.graph(GRAPH), state.text_of, position_of(writer))
        for _ in answerer.answer(Query(graph=GRAPH, text=text, **KINDS[kind]), memory):
            await asyncio.sleep(0)

    gc.collect()
    gc.freeze()  # as a worker does
    seeded = random.Random(3)
    report: dict[str, Any] = {"events": events, "answers, ms": answers(writer, answerer)}
    report["with explanations, ms"] = answers(writer, answerer, explain=True)
    report["as of, first, near the end, ms"] = round(await timed(partial(as_of, last)), 1)
    report["as of, first, in the middle, ms"] = round(await timed(partial(as_of, (first + last) // 2)), 1)
    await as_of(last - 1)
    others = [seeded.randint(first, last) for _ in range(100)]
    report["as of, any other time, ms"] = spread([await timed(partial(as_of, at)) for at in others])
    report["held up by as of, ms"] = max([await measure_delay(partial(as_of, at)) for at in others[:30]])
    for kind in KINDS:
        delays = [await measure_delay(partial(ask, kind, text)) for text in QUESTIONS]
        report[f"held up by {kind}, ms"] = max(delays)
    state.close()
    log.close()
    return report


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--turns", type=int, default=6000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as directory:
        report = asyncio.run(measured(log_of(chosen.file, chosen.turns), Path(directory)))
    report["extraction of a turn, ms"] = extraction(chosen.file, YakeExtractor(language="en"))
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
