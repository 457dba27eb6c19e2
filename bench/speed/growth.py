"""Measure the cost of a growing memory: graphs of 6,000, 60,000 and 300,000 made-up turns, each in its own process.

fold_us               CPU µs a turn: decode, chain, fold and counting, the mean over the whole growth
recall_warm_ms        a whole answer (extraction, recall, reading turns, context), median over the questions
recall_after_turn_ms  one more turn, and a whole answer
recall_only_ms        recall alone, warm
same_postings_ms      a whole answer to questions whose words stand in as many turns, however large the memory
flush_pause_ms        the longest time for which a flush, or a piece of tidying behind it, held up everything else; a
                      flush every 256 turns
flush_us              CPU µs a turn of both
flush_asked_ms        the longest such time of a graph that was opened and asked, and grows on: pairs are read, merged
                      and counted on then
first_answer_ms       the graph opened from its store, and the first answer
resident_mb           of the process once the graph has grown and answered
giving_back_ms        the longest look for free memory that goes back to the system (streams/worker/free_memory.py)
reopened_mb           of the same process once it let go of the graph, opened it again and answered: what it needs, and
                      what the allocator kept
igraph_ppr_ms         a peer: personalised PageRank of igraph (prpack) on the same pairs, from the same words
bm25s_ms              another: the best hundred turns of bm25s, a library, whose index holds the same words of all turns
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench.speed import zipf
from bench.speed.measuring import mid, pause, resident_mb, rounded, taken
from bench.speed.peers import Bm25, pagerank
from emgas.messages.fields import Position
from emgas.messages.queries import Query
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.retrieval.recall import RecallOptions, recall
from state.events.events import UNSTAMPED, Claim, GraphConfigured, TurnRecorded, encode
from state.events.memory_settings import PRESETS
from state.graph.graph import Graph
from state.log_position import stamp
from state.partition import Partition
from state.store.rocksdb import RocksStore
from state.store.store import MemoryStore
from streams.worker.free_memory import FreeMemory

SIZES: Final = (6_000, 60_000, 300_000)
FLUSH_EVERY: Final = 256  # turns
FLUSHED_QUERIES: Final = 64  # times
AFTER: Final = 40  # turns that are added, each before a question
NOWHERE: Final = Position(partition=0, watermark=-1, source=-1)


@dataclass
class Growing:
    """A memory that grows in a store, as a worker lets it, and what that costs."""

    state: Partition
    offset: int = 0
    fold_ms: float = 0.0
    pauses: list[float] = field(default_factory=list)
    memory: FreeMemory = field(default_factory=FreeMemory)
    looks: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, directory: Path, graphs: Sequence[str] = (zipf.GRAPH,)) -> Growing:
        """Begin a log with its claim and the birth of graphs."""
        growing = cls(Partition(RocksStore(directory)))
        growing.put(encode(Claim(writer="bench", partitions=1, nonce="")))
        for graph in graphs:
            born = GraphConfigured(graph=graph, preset="elephant", settings=PRESETS["elephant"], **UNSTAMPED)
            growing.put(encode(stamp(born, growing.state.position)))
        return growing

    def put(self, value: bytes) -> None:
        """Fold a record."""
        started = time.process_time()
        self.state.fold(self.offset, value)
        self.fold_ms += (time.process_time() - started) * 1000
        self.offset += 1

    def tell(self, turn: TurnRecorded) -> None:
        """Fold a turn, and flush now and then."""
        self.put(encode(stamp(turn, self.state.position)))
        if self.offset % FLUSH_EVERY == 0:
            self.pauses.append(pause(self.state.flush))
            more = True
            while more:
                started = time.thread_time()
                more = self.state.compact_step()
                self.pauses.append((time.thread_time() - started) * 1000)
            self.look()

    def look(self) -> None:
        """Return free memory to the system if there is much, as a worker does every few seconds."""
        self.looks.append(pause(self.memory.look))

    @property
    def graph(self) -> Graph:
        """The graph that grows."""
        graph = self.state.graph(zipf.GRAPH)
        assert graph is not None
        return graph


def answered(answerer: Answerer, state: Partition, text: str) -> None:
    """Answer a question whole."""
    memory = QueriedGraph(state.graph(zipf.GRAPH), state.text_of, NOWHERE)
    reply = in_one_go(answerer.answer(Query(graph=zipf.GRAPH, text=text), memory)).reply
    assert reply.passages, text


def answered_after(growing: Growing, answerer: Answerer, turn: TurnRecorded, text: str) -> float:
    """Measure one more turn and an answer, ms."""
    value = encode(stamp(turn, growing.state.position))
    return taken(lambda: (growing.put(value), answered(answerer, growing.state, text)))[1]


def recalled(graph: Graph, extractor: YakeExtractor, text: str) -> float:
    """Measure recall alone, ms."""
    question = extractor.of_query(text)
    assert len(question.concepts) == 4, text  # the words that were drawn, and nothing else
    options = RecallOptions(passages=250)
    return taken(lambda: recall(graph.view(), question, text, options))[1]


def grow(turns: int, queries: int, home: Path) -> tuple[Growing, dict[str, Any]]:
    """Fill a memory with `turns` turns, and measure the time and memory that it needs."""
    growing = Growing.of(home / "store")
    gc.collect()
    gc.freeze()  # as a worker does: else a collection of all that was imported is the longest pause
    for turn in zipf.turns(turns):
        growing.tell(turn)
    settling = taken(growing.graph.settle)[1]
    answerer, texts = Answerer(YakeExtractor(language="en")), zipf.questions(queries)
    gc.collect()
    gc.freeze()
    for text in texts[:3]:
        answered(answerer, growing.state, text)
    figures: dict[str, Any] = {
        "fold_us": rounded((growing.fold_ms + settling) / turns * 1000),
        "flush_pause_ms": rounded(max(growing.pauses)),
        "flush_us": rounded(sum(growing.pauses) / turns * 1000),
        "recall_warm_ms": mid(taken(partial(answered, answerer, growing.state, text))[1] for text in texts),
        "recall_only_ms": mid(recalled(growing.graph, answerer.extractor, text) for text in texts),
    }
    texts_of_same = zipf.planted_questions(queries)
    figures["same_postings_ms"] = mid(
        taken(partial(answered, answerer, growing.state, text))[1] for text in texts_of_same
    )
    coming = zip(zipf.turns(AFTER, first=turns, of=turns), texts, strict=False)
    figures["recall_after_turn_ms"] = mid(answered_after(growing, answerer, turn, text) for turn, text in coming)
    growing.look()
    figures["resident_mb"], figures["giving_back_ms"] = resident_mb(), rounded(max(growing.looks))
    return growing, figures


def flushed_on(growing: Growing, turns: int) -> float:
    """Measure the longest pause of a memory that was asked and grows on, ms."""
    growing.pauses = []
    for turn in zipf.turns(FLUSHED_QUERIES * FLUSH_EVERY, first=turns + AFTER, of=turns):
        growing.tell(turn)
    return rounded(max(growing.pauses))


def first_answer(growing: Growing, home: Path, text: str) -> float:
    """Close the memory, open it again, and measure the first answer, ms."""
    growing.state.close()
    growing.state = Partition(MemoryStore())  # nothing holds the graph any more
    gc.unfreeze()
    gc.collect()
    answerer = Answerer(YakeExtractor(language="en"))
    answerer.extractor.of_query(text)  # dictionaries are read once, whatever is asked

    def opened() -> Partition:
        state = Partition(RocksStore(home / "store"))
        answered(answerer, state, text)
        return state

    state, took = taken(opened)
    growing.state = state
    return rounded(took)


def _seeds_of(graph: Graph, texts: Sequence[str]) -> list[list[int]]:
    """Find the concepts that questions name: those of them that were ever said."""
    numbers = graph.concepts.numbers
    return [[numbers[word] for word in text.split()[2:] if word in numbers] for text in texts]


def _turn_concepts(graph: Graph) -> list[Sequence[int]]:
    """List the concepts of each turn."""
    return [graph.passages.concepts_of(number) for number in range(len(graph.passages))]


def measured(turns: int, *, queries: int = 60) -> dict[str, Any]:
    """Measure one size."""
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as directory:
        growing, figures = grow(turns, queries, Path(directory))
        texts = zipf.questions(queries)
        figures["concepts"], figures["pairs"] = len(growing.graph.concepts), len(growing.graph.pairs["exchange"])
        seeds = _seeds_of(growing.graph, texts)
        figures["igraph_ppr_ms"] = pagerank(growing.graph, seeds[:3])
        index = Bm25.of(_turn_concepts(growing.graph), len(growing.graph.concepts))
        figures["bm25s_ms"] = index and index.query_time(seeds)
        figures["first_answer_ms"] = first_answer(growing, Path(directory), texts[0])
        figures["reopened_mb"] = resident_mb()
        figures["flush_asked_ms"] = flushed_on(growing, turns)
        growing.state.close()
    return {"turns": turns, **figures}
