"""What a partition tells of itself, however many graphs it holds."""

from __future__ import annotations

import weakref

import pytest

from emgas.messages.operator import Inspect
from processors.lifecycle.steps import in_one_go
from state.graph.graph import Graph
from state.partition import Partition
from state.store.store import MemoryStore
from streams.ingest.partition_writer import PartitionWriter
from streams.query.answers.inspection import inspection
from tests.support.fakes import MemoryLog
from tests.support.logs import LogWriter, fold


@pytest.mark.parametrize("after", [None, ""])
def test_graphs_are_counted_one_by_one_and_not_all_of_them_held_in_memory(
    monkeypatch: pytest.MonkeyPatch, after: str | None
) -> None:
    log, store = LogWriter(), MemoryStore()
    for number in range(20):
        log.turn(graph=f"g{number:02}", concepts="tea milk")
    fold(log.records, Partition(store)).flush()
    contents, most, compact = weakref.WeakSet[Graph](), 0, Graph.compact

    def counting(graph: Graph) -> None:
        nonlocal most
        contents.add(graph)
        most = max(most, len(contents))
        compact(graph)

    monkeypatch.setattr(Graph, "compact", counting)
    owner = PartitionWriter(0, Partition(store, memory=1), MemoryLog(), partitions=1, worker="me", timeout=60.0)
    answer = in_one_go(inspection(owner, Inspect(digest=False, graphs_after=after)))
    assert (answer.graphs, answer.concepts, answer.pairs) == (20, 40, 20)
    assert len(answer.digests) == (0 if after is None else 20)
    assert most <= 4
