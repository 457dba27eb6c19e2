"""Measure the cost of encryption: writing and folding a turn with and without it, and an erasure.

python -m bench.speed.encryption                 20,000 turns of 20 graphs
python -m bench.speed.encryption --turns 5000 --json

write    stamp, encode, seal, fold and flush batches of 64 events, µs a turn: what a writer does beside extraction
rebuild  fold the same log again from its records, µs a turn
bytes    of the log, a turn
erase    one turn of one graph: decide, fold again without it, destroy its secret; ms
key      bytes of the graph's keys afterwards, and after every tenth turn was erased as well
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from processors.lifecycle.decay.erasing import erasures
from state.events.events import UNSTAMPED, Claim, GraphEvent, SubjectErased, TurnRecorded, encode
from state.events.extraction_types import Concept
from state.log_position import stamp
from state.partition import Partition
from state.sealing.keyring import read_as
from state.store.rocksdb import RocksStore
from state.store.store import MemoryStore
from streams.ingest.sealing import Sealer
from streams.transport.keys.file_keys import FileKeys
from streams.transport.keys.key_store import KeyStore, MemoryKeys
from streams.transport.keys.wrapping import Wrapping

BATCH = 64
WORDS = 3000
TEXT = "The kettle number {} stands beside the teapot in the kitchen, and somebody should fill it again before noon."


def turns(count: int, graphs: int) -> list[TurnRecorded]:
    """Make up turns of some graphs, of ten concepts each."""
    chance = random.Random(1)
    return [_turn(number, f"graph-{number % graphs}", chance) for number in range(count)]


def _turn(number: int, graph: str, chance: random.Random) -> TurnRecorded:
    words = dict.fromkeys(f"word{int(chance.paretovariate(0.7)) % WORDS}" for _ in range(10))
    return TurnRecorded(
        src=number,
        graph=graph,
        id=f"t{number}",
        session="main",
        speaker="Ada",
        role="user",
        text=TEXT.format(number),
        metadata={},
        at=1_700_000_000_000 + number * 60_000,
        clamped=False,
        live=False,
        question=False,
        tokens=20,
        concepts=[Concept(word, word, 0.5, 1) for word in words],
        times=[],
        extractor="bench 1",
        **UNSTAMPED,
    )


async def written(state: Partition, recorded: list[TurnRecorded], sealer: Sealer) -> list[bytes]:
    """Write and fold turns, as a partition's writer does, but for the log; return the record values."""
    claim = encode(Claim(writer="bench", partitions=1, nonce="bench"))
    state.fold(0, claim)
    values = [claim]
    for start in range(0, len(recorded), BATCH):
        batch = recorded[start : start + BATCH]
        await sealer.prepare(state, batch)
        for event in batch:
            value, _ = sealer.values(state)(stamp(event, state.position), None)
            state.fold(state.position.watermark + 1, value)
            values.append(value)
        state.flush()
    return values


async def measured(recorded: list[TurnRecorded], home: Path, keys: KeyStore | None) -> dict[str, Any]:
    """Write, and rebuild."""
    sealer = Sealer(keys, is_on=keys is not None)
    state = Partition(RocksStore(home), graph_keys=sealer.keys)
    started = time.process_time()
    values = await written(state, recorded, sealer)
    writing = time.process_time() - started
    started = time.process_time()
    again = Partition(MemoryStore(), rebuilding=True, graph_keys=sealer.keys)
    again.fold_all(enumerate(values))
    rebuilding = time.process_time() - started
    if again.digest() != state.digest():
        raise AssertionError("the rebuilt state is another one")
    figures: dict[str, Any] = {
        "write, µs": round(writing / len(recorded) * 1e6, 1),
        "rebuild, µs": round(rebuilding / len(recorded) * 1e6, 1),
        "log, bytes": round(sum(map(len, values)) / len(recorded)),
    }
    if keys is not None:
        figures |= await _erasures(state, sealer, recorded)
    state.close()
    return figures


async def _erasures(state: Partition, sealer: Sealer, recorded: list[TurnRecorded]) -> dict[str, Any]:
    graph = recorded[0].graph
    mine = [turn.id for turn in recorded if turn.graph == graph]
    started = time.perf_counter()
    await _erase(state, sealer, graph, {mine[len(mine) // 2]})
    figures: dict[str, Any] = {"erase, ms": round((time.perf_counter() - started) * 1000, 1)}
    figures["key, bytes"] = _size(sealer, graph)
    await _erase(state, sealer, graph, set(mine[::10]))
    figures["key with every tenth turn erased, bytes"] = _size(sealer, graph)
    figures["turns of that graph"] = len(mine)
    return figures


def _size(sealer: Sealer, graph: str) -> int:
    return sum(len(key.to_bytes()) for key in sealer.keys.of(graph).values())


async def _erase(state: Partition, sealer: Sealer, graph: str, ids: set[str]) -> None:
    events = [read_as(GraphEvent, value, sealer.keys) for value in state.rows_of(graph)]
    for part in erasures(events, lambda turn: turn.id in ids):
        names = list(sealer.keys.of(graph))
        event = SubjectErased(graph=graph, whole=False, keys=names, **part._asdict(), **UNSTAMPED)
        value, _ = sealer.values(state)(stamp(event, state.position), None)
        state.fold(state.position.watermark + 1, value)
    state.flush()
    await sealer.finish_erasures(state)


async def compared(count: int, graphs: int) -> dict[str, dict[str, Any]]:
    """Measure without keys, with keys in memory, and with keys in files."""
    recorded = turns(count, graphs)
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as directory:
        home = Path(directory)
        return {
            "in clear": await measured(recorded, home / "clear", None),
            "encrypted, keys in memory": await measured(recorded, home / "memory", MemoryKeys()),
            "encrypted, keys in files": await measured(recorded, home / "files", FileKeys(home / "keys", Wrapping())),
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    report = asyncio.run(compared(chosen.turns, chosen.graphs))
    if chosen.json:
        print(json.dumps(report))
        return
    for name, values in report.items():
        print(name)
        for what, value in values.items():
            print(f"  {what:45} {value}")


if __name__ == "__main__":
    main()
