"""Compare the cost of building a memory with libraries that do one part of it, for all turns at once.

    built_us        CPU µs a turn: decode, fold, count and flush into RocksDB, turn by turn, as a worker does it
    scipy_us        the peer of counting: sparse windows times themselves, which gives the same pairs
    bm25s_us        the peer of indexing: the library's index of the same words
    decoded_us      the floor: the turns decoded, and nothing else
    ratios          built_us over each

The pairs that are counted are compared: both sides found as many.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.speed import zipf
from bench.speed.growth import Growing
from bench.speed.measuring import rounded, taken
from bench.speed.peers import Bm25, cooccurrences
from state.events.events import TurnRecorded, decode, encode
from state.log_position import stamp


def windows(turns: Iterable[list[int]]) -> Iterator[list[int]]:
    """Yield what is counted as said together: each turn's words, with those of the turn before it in its session."""
    numbered = list(turns)
    for number, (before, concepts) in enumerate(pairwise([[], *numbered])):
        yield list(dict.fromkeys([*(before if number % zipf.SESSION_TURNS else []), *concepts]))


def constructed(count: int) -> dict[str, Any]:
    """Measure the construction of a memory of so many turns."""
    turns = list(zipf.turns(count))
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as directory:
        growing = Growing.of(Path(directory) / "store")
        values = [encode(stamp(turn, growing.state.position)) for turn in turns]
        _, decoded = taken(lambda: [decode(value) for value in values])
        for turn in turns:
            growing.tell(turn)
        settling = taken(growing.graph.settle)[1]
        built = growing.fold_ms + settling + sum(growing.pauses)
        numbers, pairs = growing.graph.concepts.numbers, len(growing.graph.pairs["exchange"])
        turn_numbers = [_numbered(turn, numbers) for turn in turns]
        growing.state.close()
    peers = {"decoded": decoded}
    if counted := cooccurrences(list(windows(turn_numbers))):
        assert counted[0] == pairs, f"scipy counts {counted[0]} pairs where we have {pairs}"
        peers["scipy"] = counted[1]
    if index := Bm25.of(turn_numbers, len(numbers)):
        peers["bm25s"] = index.built_ms
    each = {f"{name}_us": rounded(took / count * 1000) for name, took in {"built": built, **peers}.items()}
    ratios = {name: rounded(built / took) for name, took in peers.items()}
    return {"turns": count, "concepts": len(numbers), "pairs": pairs, **each, "ratios": ratios}


def _numbered(turn: TurnRecorded, numbers: Mapping[str, int]) -> list[int]:
    return [numbers[concept.id] for concept in turn.concepts]
