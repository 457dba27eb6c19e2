"""Measure the memory of many small graphs, and how soon a cold one answers.

resident_mb            one partition that has folded and flushed graphs of 100 turns, as many of them in memory as
                       EMGAS_MEMORY lets a worker keep by default
served_mb              another process, once it opened that store and answered a question to each of a thousand graphs
open_ms                a graph read from the store, median
cold_answer_ms         the same, and a question to it answered, median and the slowest in a hundred (cold_p99_ms)
bytes_per_turn_in_ram  of the graphs that are in memory
"""

from __future__ import annotations

import gc
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from bench.speed import zipf
from bench.speed.growth import NOWHERE
from bench.speed.measuring import mid, resident_mb, rounded, taken
from emgas.messages.queries import Query
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from state.events.events import Claim, encode
from state.log_position import stamp
from state.memory_budget import DEFAULT_MEMORY
from state.partition import Partition
from state.store.rocksdb import RocksStore

GRAPHS: Final = 10_000
TURNS = 100
QUERIES = 1000  # graphs, at most


def _name(number: int) -> str:
    return f"graph-{number}"


def _filled(directory: Path, graphs: int) -> Partition:
    state = Partition(RocksStore(directory))
    state.fold(0, encode(Claim(writer="bench", partitions=1, nonce="")))
    turns, offset = list(zipf.turns(TURNS)), 1
    for number in range(graphs):
        for turn in turns:
            named = replace(turn, graph=_name(number), src=offset)
            state.fold(offset, encode(stamp(named, state.position)))
            offset += 1
        state.flush()
    return state


def _fill(directory: Path, graphs: int) -> tuple[float, int, float]:
    """Fill a partition; return what is resident then, how many graphs are in memory, and what a turn of those takes."""
    before = resident_mb()
    state = _filled(directory, graphs)
    gc.collect()
    memory_use, kept = resident_mb(), state.in_memory
    state.close()
    return memory_use, kept, rounded((memory_use - before) * 1e6 / (kept * TURNS))


def remembered(graphs: int) -> dict[str, Any]:
    """Measure a partition of so many graphs."""
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as directory:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as another:
            memory_use, kept, turn_bytes = another.submit(_fill, Path(directory), graphs).result()
        return {
            "graphs": graphs,
            "turns": graphs * TURNS,
            "in_memory": kept,
            "resident_mb": memory_use,
            "memory_mb": rounded(DEFAULT_MEMORY / 1e6),
            "bytes_per_turn_in_ram": turn_bytes,
            **_query_times(Path(directory), graphs),
        }


def _query_times(directory: Path, graphs: int) -> dict[str, float]:
    """Open the partition again, so that every graph is cold, and ask many of them, each once."""
    answerer = Answerer(YakeExtractor(language="en"))
    text = "what about " + " ".join(zipf.word(rank) for rank in (20, 40, 80, 160))
    answerer.extractor.of_query(text)
    state = Partition(RocksStore(directory))

    def answer(name: str) -> None:
        memory = QueriedGraph(state.graph(name), state.text_of, NOWHERE)
        in_one_go(answerer.answer(Query(graph=name, text=text), memory))

    opened = mid(taken(partial(state.graph, _name(number)))[1] for number in range(1, graphs, max(graphs // 60, 2)))
    cold = [taken(partial(answer, _name(number)))[1] for number in range(0, graphs, max(graphs // QUERIES, 1))]
    served = resident_mb()
    state.close()
    return {
        "served_mb": served,
        "open_ms": opened,
        "cold_answer_ms": mid(cold),
        "cold_p99_ms": rounded(sorted(cold)[len(cold) * 99 // 100]),
    }
