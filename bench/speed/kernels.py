"""The hot kernels that bench/speed/instructions.py runs under a tool that counts instructions.

    python -m bench.speed.kernels [NAME …]      each: set up, run once to warm up, mark, run, mark

    decode, encode   the event of a turn, from and to the bytes of the log
    extract          the concepts of a turn's text
    fold             a turn into a partition: decode, chain, tables, counting
    refold           a turn, as a rebuild folds it: many records at once
    store            64 turns of a graph into its tables
    open             a graph of 100 turns from its tables
    first_recall     a question to a graph of 100 turns that was just opened
    recall           a question to the same, again
    recall_pruned    a question to a graph of 9,000 turns that reads only some of them
    answer           a whole answer of a graph of 100 turns: the question's words, recall, turns that are read, context

Between the two marks nothing else runs: no garbage collector, no other thread.  The count depends only on the code, so
two runs count the same; a kernel's input is made before the first mark.  All kernels run in one process, because
imports take 20 s under such a tool.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from bench.speed import zipf
from emgas.messages.fields import Position
from emgas.messages.queries import Query
from processors.extraction.extractor import Extraction
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.retrieval.recall import RecallOptions, recall
from state.events.events import Claim, TurnRecorded, decode, encode
from state.events.extraction_types import Concept
from state.graph.graph import Graph
from state.log_position import stamp
from state.partition import Partition
from state.store.store import Batch, MemoryStore

SMALL, LARGE, STORED, REFOLDED = 100, 9_000, 64, 512  # turns
RANKS: Final = ((20, 40, 80, 160), (25, 50, 100, 200), (30, 60, 120, 240))  # of the words of a question
NOWHERE: Final = Position(partition=0, watermark=-1, source=-1)
TEXT: Final = "We took the cat to the shelter near the old harbour on Monday, and Ben fed her tuna again."


class Kernel(NamedTuple):
    """A measured kernel: `run` runs it many times; `warm` runs before, so that caches are filled."""

    times: int
    warm: Callable[[], object]
    run: Callable[[], object]


def mark() -> None:
    """Make a call that can be found in a profile: nothing else here asks for the parent's id."""
    os.getppid()


def _claimed(store: MemoryStore) -> Partition:
    state = Partition(store)
    state.fold(0, encode(Claim(writer="bench", partitions=1, nonce="")))
    return state


def _folded(state: Partition, turns: list[TurnRecorded]) -> list[tuple[int, bytes]]:
    """Fold turns into a partition that is claimed; return their records."""
    records = []
    for offset, turn in enumerate(turns, state.position.watermark + 1):
        records.append((offset, encode(stamp(replace(turn, src=offset), state.position))))
        state.fold(*records[-1])
    return records


def _decode() -> Kernel:
    values = [encode(turn) for turn in zipf.turns(SMALL)]
    return Kernel(SMALL, lambda: decode(values[0]), lambda: [decode(value) for value in values])


def _encode() -> Kernel:
    turns = list(zipf.turns(SMALL))
    return Kernel(SMALL, lambda: encode(turns[0]), lambda: [encode(turn) for turn in turns])


def _extract() -> Kernel:
    extractor = YakeExtractor(language="en")

    def extract() -> None:
        extractor.of_turn(TEXT, speaker="Ada", at=zipf.BEGIN)

    return Kernel(4, extract, lambda: [extract() for _ in range(4)])


def _fold() -> Kernel:
    turns = list(zipf.turns(SMALL))
    records = _folded(_claimed(MemoryStore()), turns)  # which warms it up, too
    state = _claimed(MemoryStore())

    def fold() -> None:
        for record in records:
            state.fold(*record)
        graph = state.graph(zipf.GRAPH)
        assert graph is not None
        graph.settle()

    return Kernel(SMALL, lambda: None, fold)


def _refold() -> Kernel:
    records = _folded(_claimed(MemoryStore()), list(zipf.turns(REFOLDED)))
    first, other = _claimed(MemoryStore()), _claimed(MemoryStore())
    return Kernel(REFOLDED, lambda: first.fold_all(records), lambda: other.fold_all(records))


def _store() -> Kernel:
    first, other = _claimed(MemoryStore()), _claimed(MemoryStore())
    for state in (first, other):
        _folded(state, list(zipf.turns(STORED)))
    return Kernel(1, first.flush, other.flush)


def closed(turns: int) -> Batch:
    """Return the stored rows of a graph of `turns` turns, most of them in its tables."""
    store = MemoryStore()
    state = _claimed(store)
    _folded(state, list(zipf.turns(turns)))
    state.flush()
    return dict(store.scan(b"", b""))


def opened(rows: Batch) -> Graph:
    """Open the graph with these stored rows."""
    store = MemoryStore()
    store.write(rows)
    graph = Partition(store).graph(zipf.GRAPH)
    assert graph is not None
    return graph


def _open() -> Kernel:
    rows = closed(SMALL)
    return Kernel(3, lambda: opened(rows), lambda: [opened(rows) for _ in range(3)])


def ask(graph: Graph) -> None:
    """Ask a graph some questions."""
    for ranks in RANKS:
        words = [zipf.word(rank) for rank in ranks]
        question = Extraction(tuple(Concept(word, word, 0.5, 1) for word in words), question=True, tokens=6)
        result = recall(graph.view(), question, "what about " + " ".join(words), RecallOptions(passages=100))
        assert result.passages


def _first_recall() -> Kernel:
    rows = closed(SMALL)
    first, other = opened(rows), opened(rows)
    return Kernel(1, lambda: ask(first), lambda: ask(other))


def _recall() -> Kernel:
    graph = opened(closed(SMALL))
    return Kernel(len(RANKS), lambda: ask(graph), lambda: ask(graph))


def _recall_pruned() -> Kernel:
    graph = Graph.unpack(sys.stdin.buffer.read())
    return Kernel(len(RANKS), lambda: ask(graph), lambda: ask(graph))


def _answer() -> Kernel:
    state, answerer = _claimed(MemoryStore()), Answerer(YakeExtractor(language="en"))
    _folded(state, list(zipf.turns(SMALL)))

    def answer() -> None:
        for ranks in RANKS:
            text = "what about " + " ".join(zipf.word(rank) for rank in ranks)
            memory = QueriedGraph(state.graph(zipf.GRAPH), state.text_of, NOWHERE)
            assert in_one_go(answerer.answer(Query(graph=zipf.GRAPH, text=text), memory)).reply.context

    return Kernel(len(RANKS), answer, answer)


def large() -> bytes:
    """Pack the graph that `recall_pruned` reads from its standard input: to make it there would take minutes."""
    graph = Graph(zipf.GRAPH)
    for turn in zipf.turns(LARGE):
        graph.fold(turn)
    return graph.pack()


KERNELS: Final[dict[str, Callable[[], Kernel]]] = {
    "decode": _decode,
    "encode": _encode,
    "extract": _extract,
    "fold": _fold,
    "refold": _refold,
    "store": _store,
    "open": _open,
    "first_recall": _first_recall,
    "recall": _recall,
    "recall_pruned": _recall_pruned,
    "answer": _answer,
}


def run(kernel: Kernel) -> None:
    """Run one kernel between two marks."""
    kernel.warm()
    gc.collect()
    gc.disable()
    mark()
    kernel.run()
    mark()
    gc.enable()


def main() -> None:
    """Run kernels, and print for each how many times it ran."""
    for name in sys.argv[1:] or KERNELS:
        kernel = KERNELS[name]()
        run(kernel)
        print(name, kernel.times, flush=True)
    os._exit(0)  # skip the cleanup: it is not measured


if __name__ == "__main__":
    main()
