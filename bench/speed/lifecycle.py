"""Measure a memory over a year: its growth, what stays, and the cost of windows.  No worker, no broker.

    python -m bench.speed.lifecycle                  synthetic: 200,000 turns of 1,000 graphs, forgetful and elephant
    python -m bench.speed.lifecycle --plot FILE.svg  the same, drawn
    python -m bench.speed.lifecycle DATA             conversations in LoCoMo's format, stretched over a year, with one
                                                     sentence every week: what is left of them under forgetful?
    python -m bench.speed.lifecycle DATA --costs     the same conversations at their own times: the cost of a turn
                                                     under each preset: folding, windows, extraction

Synthetic: a graph has conversations of 8 to 22 turns, a minute apart, at random times of the year.  Each turn holds
about 8 words of the 5,000 that its graph knows, drawn by Zipf's law without its stopwords (p ~ 1 / (rank + 10)), and a
mark of its speaker.  Turns go through chain, encode, decode, fold and RocksDB; windows are closed as a worker closes
them.  Bytes are those of the live table files after a flush, old versions and tombstones included.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import Any

from msgspec import structs

from bench.speed.measuring import recorded
from emgas.importers import locomo
from emgas.messages.turns import Turn
from emgas.times import DAY_MS as DAY
from emgas.times import MINUTE_MS as MINUTE
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.windows import due_events
from state.events.events import (
    UNSTAMPED,
    Claim,
    DataEvent,
    GraphConfigured,
    MemoryArchived,
    TurnRecorded,
    WindowEvent,
    encode,
)
from state.events.extraction_types import Concept
from state.events.memory_settings import PRESETS
from state.graph.graph import Graph
from state.log_position import stamp
from state.partition import Partition
from state.store.rocksdb import RocksStore
from state.store.store import MemoryStore, Store
from streams.cli.shared.line_chart import Series, line_chart

BEGIN = 1_704_067_200_000  # 2024-01-01T00:00:00Z
YEAR = 366 * DAY
FLUSH_EVERY = 64  # events
WORDS = 5000
POINTS = 24
COUNTED = ("nodes", "archived nodes", "long-term", "passages", "archived passages")
WEEKLY = "My piano lesson with Odile went well, we practised the mazurka."


class LifecycleWorker:
    """One partition, written and folded as a worker would; `seconds` says what took how long."""

    def __init__(self, store: Store) -> None:
        self.state = Partition(store, memory=1 << 40)
        self.seconds: Counter[str] = Counter()
        self.folded: Counter[str] = Counter()
        self.rows: dict[str, str] = {}  # by kind of key, at the end
        self._fold(encode(Claim(writer="bench", partitions=1, nonce="")), "claim")

    def tell(self, event: TurnRecorded) -> None:
        """Fold a turn, behind the windows that end before it."""
        self.tick(event.graph, event.at)
        self._append(event, "turns")
        with self._timed("turns"):  # counting belongs to folding, though the fold defers it to the first read
            self.graph(event.graph).settle()

    def tick(self, graph: str, at: int) -> None:
        """Close the windows of a graph that end before `at` (ms), as a worker's timer does."""
        windows = due_events(self.graph(graph), at)
        while (event := self._decided(windows)) is not None:
            self._append(event, "decay, folding" if isinstance(event, MemoryArchived) else "consolidation, folding")

    def _decided(self, windows: Iterator[WindowEvent]) -> WindowEvent | None:
        with self._timed("windows, deciding"):
            return next(windows, None)

    def configure(self, graph: str, preset: str) -> None:
        """Create a graph with a preset."""
        self._append(GraphConfigured(graph=graph, preset=preset, settings=PRESETS[preset], **UNSTAMPED), "settings")

    def _append(self, event: DataEvent, what: str) -> None:
        self._fold(encode(stamp(event, self.state.position)), what)

    def _fold(self, value: bytes, what: str) -> None:
        with self._timed(what):
            self.state.fold(self.state.position.watermark + 1, value)
        self.folded[what] += 1
        if self.folded.total() % FLUSH_EVERY == 0:
            self.flush()

    def flush(self) -> None:
        """Write what was folded."""
        with self._timed("flush"):
            self.state.flush()

    def share(self) -> float:
        """Compute what windows took, as a part of what folding the turns took (CPU time of this thread)."""
        windows = [seconds for what, seconds in self.seconds.items() if "," in what]
        return sum(windows) / self.seconds["turns"]

    def graph(self, name: str) -> Graph:
        """Return a graph, which must exist."""
        graph = self.state.graph(name)
        assert graph is not None
        return graph

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        began = time.thread_time()
        yield
        self.seconds[what] += time.thread_time() - began


# Synthetic growth


def conversations(turns: int, graphs: int, seed: int) -> list[tuple[int, int, str, int]]:
    """Draw (time ms, graph, session, minute) of every turn, by time."""
    seeded, listed = random.Random(seed), []
    while len(listed) < turns:
        start, graph = BEGIN + seeded.randrange(YEAR), seeded.randrange(graphs)
        session = f"{graph}/{start}"
        listed += [(start + minute * MINUTE, graph, session, minute) for minute in range(seeded.randint(8, 22))]
    return sorted(listed[:turns])


def recorded_turns(turns: int, graphs: int, seed: int) -> Iterator[TurnRecorded]:
    """Yield the event of every turn, unstamped."""
    seeded = random.Random(seed)
    cumulated = list(accumulate(1 / (rank + 10) for rank in range(WORDS)))
    for number, (at, graph, session, minute) in enumerate(conversations(turns, graphs, seed)):
        ranks = dict.fromkeys(seeded.choices(range(WORDS), cum_weights=cumulated, k=seeded.randint(4, 12)))
        result = [Concept(f"word{rank}", f"word{rank}", round(seeded.uniform(0.4, 0.95), 6), 1) for rank in ranks]
        speaker = "Ada" if minute % 2 else "Bot"
        text = " ".join(concept.label for concept in result) * 2
        facts = {"id": f"t{number}", "session": session, "speaker": speaker, "text": text, "at": at, "src": number}
        plain = {"role": None, "metadata": {}, "times": [], "clamped": False, "live": False, "question": False}
        concepts = [*result, Concept(f"@speaker:{speaker.lower()}", speaker, 0.5, 1)]
        extraction = {"tokens": 2 * len(result), "concepts": concepts, "extractor": "bench 1"}
        yield TurnRecorded(**facts, **plain, **extraction, graph=f"graph-{graph}", **UNSTAMPED)


def measure(preset: str, turns: int, graphs: int, seed: int) -> tuple[list[dict[str, int]], LifecycleWorker]:
    """Fold a year; return the partition's contents at POINTS times of it, and the worker that folded it."""
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as home:
        store = RocksStore(Path(home) / "store")
        worker = LifecycleWorker(store)
        for number in range(graphs):
            worker.configure(f"graph-{number}", preset)
        points = []
        for event in recorded_turns(turns, graphs, seed):
            while event.at >= BEGIN + YEAR * (len(points) + 1) // POINTS:
                points.append(count_contents(worker, store, BEGIN + YEAR * (len(points) + 1) // POINTS, graphs))
            worker.tell(event)
        if len(points) < POINTS:
            points.append(count_contents(worker, store, BEGIN + YEAR, graphs))
        store._database.compact_range(None, None)  # noqa: SLF001 - as RocksDB does in its own time
        points.append({**points[-1], "bytes": table_bytes(store)})
        worker.rows = {kind: stored(store, kind.encode()) for kind in "ecs"}
        store.close()
    return points, worker


def table_bytes(store: RocksStore) -> int:
    """Sum the sizes of a store's table files."""
    return sum(file["size"] for file in store._database.live_files())  # noqa: SLF001 - only measured


def stored(store: RocksStore, kind: bytes) -> str:
    """Count the rows of a kind (state/store/store.py), and their bytes before compression."""
    rows = [len(key) + len(value) for key, value in store.scan(kind, kind)]
    return f"{len(rows)} rows, {sum(rows) / 1e6:.1f} MB"


def count_contents(worker: LifecycleWorker, store: RocksStore, at: int, graphs: int) -> dict[str, int]:
    """Tick all graphs at time `at` (ms), flush, and count nodes, links and turns."""
    for number in range(graphs):
        worker.tick(f"graph-{number}", at)
    worker.flush()
    store._database.flush()  # noqa: SLF001 - as a closing store does
    memory = [worker.state.graph(f"graph-{number}") for number in range(graphs)]
    return {
        "at": at,
        "nodes": sum(int(graph.concepts.is_active().sum()) for graph in memory if graph),
        "archived nodes": sum(sum(graph.concepts.archived) for graph in memory if graph),
        "long-term": sum(sum(graph.concepts.long_term) for graph in memory if graph),
        "passages": sum(int(graph.passages.is_active().sum()) for graph in memory if graph),
        "archived passages": sum(sum(graph.passages.archived) for graph in memory if graph),
        "bytes": table_bytes(store),
    }


def report_growth(options: argparse.Namespace) -> None:
    """Print, and draw, how much there is under each preset, and what it cost."""
    grown = {}
    for preset in options.presets.split(","):
        grown[preset], worker = measure(preset, options.turns, options.graphs, options.seed)
        print(f"\n{preset}\n{'':12}" + "".join(f"{name:>19}" for name in COUNTED) + f"{'RocksDB MB':>12}")
        for point in grown[preset]:
            day = (point["at"] - BEGIN) // DAY
            print(f"day {day:<8}" + "".join(f"{point[name]:>19}" for name in COUNTED), end="")
            print(f"{point['bytes'] / 1e6:>12.1f}{'  compacted' if point is grown[preset][-1] else ''}")
        print(f"rows before compression: {worker.rows}")
        for what, seconds in worker.seconds.most_common():
            times = worker.folded.get(what)
            each = f"{1e6 * seconds / times:8.1f} µs each of {times}" if times else ""
            print(f"{what:28}{seconds:8.2f} s  {each}")
        print(f"windows: {100 * worker.share():.0f} % of folding the turns")
    if options.plot:
        options.plot.write_text(drawn(grown, options.turns, options.graphs))


def drawn(grown: dict[str, list[dict[str, int]]], turns: int, graphs: int) -> str:
    """Draw a chart of nodes, passages and bytes under each preset."""
    times = [BEGIN, *(point["at"] for point in next(iter(grown.values()))[:POINTS])]
    units = {"nodes": ("thousand nodes", 1e3), "passages": ("thousand turns", 1e3), "bytes": ("RocksDB, MB", 1e6)}
    series = [
        Series(f"{preset}: {label}", [0.0, *(point[what] / unit for point in points[:POINTS])])
        for preset, points in grown.items()
        for what, (label, unit) in units.items()
    ]
    return line_chart(f"A year, {turns:,} turns, {graphs:,} graphs: what is held", times, series)


# What becomes long-term


def stretched(turns: Sequence[Turn]) -> list[Turn]:
    """Spread the times of `turns` over the year, with WEEKLY said once a week; by time."""
    times = [turn.at or 0 for turn in turns]
    first, span = min(times), max(1, max(times) - min(times))
    moved = [BEGIN + (at - first) * (YEAR - 1) // span for at in times]
    spread = [turn.model_copy(update={"at": at}) for turn, at in zip(turns, moved, strict=True)]
    fields = {"graph": turns[0].graph, "speaker": "Odile's pupil", "text": WEEKLY}
    weekly = [Turn(id=f"weekly-{week}", at=BEGIN + week * 7 * DAY, **fields) for week in range(YEAR // (7 * DAY) + 1)]
    return sorted([*spread, *weekly], key=lambda turn: turn.at or 0)


def lived(turns: Sequence[Turn], preset: str, extractor: YakeExtractor) -> Graph:
    """Fold a year's turns into their graph as it is when the year is over."""
    worker, name = LifecycleWorker(MemoryStore()), turns[0].graph
    worker.configure(name, preset)
    for number, turn in enumerate(turns):
        worker.tell(structs.replace(recorded(turn, extractor), src=number))
    worker.tick(name, BEGIN + YEAR + 30 * DAY)
    graph = worker.graph(name)
    graph.compact()
    return graph


def report_memory(options: argparse.Namespace) -> None:
    """Print what is left of each conversation."""
    extractor = YakeExtractor()
    for talk in _conversations(options.data):
        turns = stretched(talk)
        mentions = Counter(concept.id for turn in turns for concept in recorded(turn, extractor).concepts)
        graph = lived(turns, options.presets.split(",")[0], extractor)
        active = graph.concepts.is_active()
        words = [
            number for number in range(len(graph.concepts)) if active[number] and not graph.concepts.is_mark[number]
        ]
        kept = [graph.concepts.ids[number] for number in words]
        long_term = [graph.concepts.ids[number] for number in words if graph.concepts.long_term[number]]
        weekly = {concept.id for concept in extractor.of_turn(WEEKLY, speaker="", at=BEGIN).concepts}
        once = [name for name, count in mentions.items() if count == 1 and name[0] != "@"]
        print(f"\n{turns[0].graph}: {len(turns)} turns, {sum(name[0] != '@' for name in mentions)} words")
        left = f"{len(kept)} words, {int(graph.passages.is_active().sum())} turns, {len(graph.themes.themes)} topics"
        print(f"  active                {left}")
        print(f"  mentioned once      {len(set(once) & set(kept))} of {len(once)} active")
        print(f"  long-term           {len(long_term)}: {', '.join(long_term[:12])}")
        print(
            f"  weekly              {sorted(weekly & set(long_term))} long-term, {sorted(weekly - set(kept))} archived"
        )


# What a turn of a real conversation costs


def report_costs(options: argparse.Namespace) -> None:
    """Print what a turn costs, ms of CPU time, as a row for each preset."""
    extractor = YakeExtractor()
    talks = _conversations(options.data)
    began = time.thread_time()
    report = [[recorded(turn, extractor) for turn in talk] for talk in talks]
    count = sum(map(len, report))
    extraction = (time.thread_time() - began) / count
    for preset in options.presets.split(","):
        worker = LifecycleWorker(MemoryStore())
        for talk in report:
            live_through(worker, talk, preset)
        folding = worker.seconds["turns"] / count
        windows = sum(seconds for what, seconds in worker.seconds.items() if "," in what) / count
        shown = " | ".join(f"{1000 * seconds:.2f} ms" for seconds in (folding, windows, extraction))
        print(f"| {len(talks)} conversations, `{preset}`, {count} turns, each turn | {shown} |")
        print(f"  folded: {dict(worker.folded)}")


def live_through(worker: LifecycleWorker, talk: Sequence[TurnRecorded], preset: str) -> None:
    """Create the graph of a conversation and record all its turns, until its last session has ended."""
    worker.configure(talk[0].graph, preset)
    for event in talk:
        worker.tell(structs.replace(event, src=worker.state.position.source + 1))
    worker.tick(talk[0].graph, talk[-1].at + DAY)


def _conversations(data: Path) -> list[list[Turn]]:
    """Read the turns of each conversation of a file, by time."""
    samples = json.loads(data.read_text())
    read = (locomo.read(BytesIO(json.dumps([sample]).encode())) for sample in samples)
    return [sorted((turn for turn in talk if isinstance(turn, Turn)), key=lambda turn: turn.at or 0) for talk in read]


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path, nargs="?", help="conversations in LoCoMo's format")
    arguments.add_argument("--presets", default="forgetful,elephant")
    arguments.add_argument("--turns", type=int, default=200_000)
    arguments.add_argument("--graphs", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=7)
    arguments.add_argument("--plot", type=Path, help="an SVG file to draw the growth into")
    arguments.add_argument("--costs", action="store_true", help="of the conversations: what a turn of them costs")
    options: Any = arguments.parse_args()
    if options.data:
        (report_costs if options.costs else report_memory)(options)
    else:
        report_growth(options)


if __name__ == "__main__":
    main()
