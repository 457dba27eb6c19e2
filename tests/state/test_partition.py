"""A partition over both stores: wherever it is flushed, closed, killed or short of memory, it is its log's fold."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.events.events import decode
from state.log_position import Acceptance, LogPosition
from state.partition import Partition
from state.store.keys import COUNTS, POSITION
from state.store.rocksdb import RocksStore
from state.store.store import Batch, MemoryStore
from tests.support.fakes import WatchedStore
from tests.support.interrupted import interrupted
from tests.support.logs import LogWriter, fold, long_log
from tests.support.stores import Opener, opener
from tests.support.strategies import Step, steps, written
from tests.support.tables import ends_of


class UnreliableStore(MemoryStore):
    """Its disk is full once."""

    def __init__(self) -> None:
        super().__init__()
        self.full = True

    def write(self, batch: Batch) -> None:
        if self.full:
            self.full = False
            raise OSError("No space left on device")
        super().write(batch)


# The same fold, whatever happens in between


places = st.sets(st.integers(0, 25), max_size=4)


@pytest.mark.hypothesis
@pytest.mark.source("E34")
@pytest.mark.parametrize(("kind", "examples"), [("memory", 100), ("rocksdb", 12)])
def test_flushing_and_dying_at_any_point_gives_the_same_state(kind: str, examples: int) -> None:
    @settings(max_examples=examples)
    @given(steps(), places, places, st.integers(1, 3), st.booleans())
    def check(happened: list[Step], flushes: set[int], openings: set[int], cached: int, rebuilding: bool) -> None:
        log = written(happened)
        with opener(kind) as open_store:
            partition = interrupted(log, open_store, flushes, openings, cached, rebuilding)
            assert partition.digest() == log.folded().digest()
            partition.close()
            again = Partition(open_store())
            assert again.digest() == log.folded().digest()
            again.close()

    check()


def test_stored_tables_change_nothing(open_store: Opener) -> None:
    log, seeded = long_log(), random.Random(12)
    flushes, openings = ({*seeded.sample(range(len(log.records)), 60)} for _ in range(2))
    partition = interrupted(log, open_store, flushes, {*list(openings)[:8]}, cached=2)
    assert partition.digest() == log.folded().digest()
    partition.close()
    store = open_store()
    stored = [ends_of(store, name) for name in Partition(store).graph_ids()]
    assert [len(ends) > 0 for ends in stored] == [True, True, True]
    assert min(ends[0] for ends in stored) >= 64
    assert Partition(store).digest() == log.folded().digest()
    store.close()


def test_a_tiny_cache_gives_the_same_state(open_store: Opener) -> None:
    log = LogWriter()
    partition = Partition(open_store(), memory=1)
    fold(log.records, partition)
    for number in range(60):
        log.turn(graph=f"graph-{number % 7}", id=f"turn {number % 20}")
        partition.fold(*log.records[-1])
        if number % 5 == 0:
            partition.flush()
    assert partition.digest() == log.folded().digest()
    partition.close()


def test_what_was_not_flushed_is_never_dropped_from_memory() -> None:
    log = LogWriter()
    for number in range(5):
        log.turn(graph=f"graph-{number}")
    partition = fold(log.records, Partition(MemoryStore(), memory=1))
    assert [graph.graph_id for graph in partition.graphs()] == [f"graph-{number}" for number in range(5)]
    assert partition.digest() == log.folded().digest()


def test_a_flush_is_one_batch_that_holds_the_head() -> None:
    store, log = WatchedStore(), long_log()
    partition = Partition(store)
    for place in range(0, len(log.records), 100):
        fold(log.records[place : place + 100], partition).flush()
        assert LogPosition.of_bytes(store.batches[-1][POSITION]) == partition.position
    assert len(store.batches) == place // 100 + 1


def test_flushing_twice_writes_once() -> None:
    store = WatchedStore()
    partition = LogWriter().folded(store)
    partition.flush()
    partition.flush()
    assert len(store.batches) == 1


def test_opening_and_closing_an_empty_partition_writes_nothing() -> None:
    store = MemoryStore()
    Partition(store).close()
    assert list(store.scan(b"", b"")) == []


def test_a_failed_flush_may_be_tried_again() -> None:
    log, store = long_log(), UnreliableStore()
    partition = fold(log.records[:-50], Partition(store))
    with pytest.raises(OSError, match="No space left"):
        partition.flush()
    assert list(store.scan(b"", b"")) == []
    fold(log.records[-50:], partition).flush()
    assert Partition(store).digest() == log.folded().digest()


FOLDER = """
import sys, pathlib
from state.partition import Partition
from state.store.rocksdb import RocksStore
from tests.support.logs import long_log
partition = Partition(RocksStore(pathlib.Path(sys.argv[1])), memory=2)
for offset, value in long_log(3000).records:
    if offset > partition.position.watermark:
        partition.fold(offset, value)
        if offset % 3 == 0:
            partition.flush()
            print(offset, flush=True)
"""


def test_killing_the_folding_process_leaves_the_fold_of_what_it_acknowledged(tmp_path: Path) -> None:
    log = long_log(3000)
    for acks in (7, 150):
        command = [sys.executable, "-c", FOLDER, tmp_path]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            acked = [int(child.stdout.readline()) for _ in range(acks)][-1]
            child.kill()
        partition = Partition(RocksStore(tmp_path))
        assert partition.position.watermark >= acked
        assert partition.digest() == fold(log.records[: partition.position.watermark + 1]).digest()
        partition.close()


# Reading


def test_the_text_of_a_passage_is_found_before_and_after_a_flush(open_store: Opener) -> None:
    log, partition = LogWriter(), Partition(open_store())
    log.recall(graph="ada", concepts="")
    log.turn(text="I like coffee.")
    log.turn(id="t0", text="the same id again")
    log.turn(text="And tea.")
    fold(log.records, partition)
    for _ in range(2):
        graph = partition.graph("ada")
        assert graph is not None
        assert [partition.text_of(graph, number).text for number in range(2)] == ["I like coffee.", "And tea."]
        partition.flush()
    partition.close()


def test_an_unknown_graph_is_none_and_leaves_no_trace() -> None:
    partition = LogWriter().folded()
    before = partition.digest()
    assert partition.graph("nobody") is None
    assert (partition.graph_ids(), partition.digest()) == ([], before)


def test_graphs_come_by_name() -> None:
    log = LogWriter()
    for name in ("b", "a:2", "B", "a"):
        log.turn(graph=name)
    partition = log.folded()
    assert partition.graph_ids() == [graph.graph_id for graph in partition.graphs()] == ["B", "a", "a:2", "b"]


def test_the_names_of_graphs_are_read_from_the_store_once_until_a_graph_is_new() -> None:
    class CountingStore(MemoryStore):
        scans = 0

        def scan(self, prefix: bytes, start: bytes) -> Iterator[tuple[bytes, bytes]]:
            self.scans += prefix == COUNTS
            return super().scan(prefix, start)

    log, store = LogWriter(), CountingStore()
    for name in ("b", "a"):
        log.turn(graph=name)
    partition = log.folded(store)
    before = store.scans
    partition.graph_ids().append("the caller's own")
    assert partition.graph_ids() == ["a", "b"]
    assert store.scans == before + 1
    log.turn(graph="c")
    fold(log.records[-1:], partition)
    assert partition.graph_ids() == ["a", "b", "c"]
    assert store.scans == before + 2


def test_the_head_counts_graphs_and_turns_once() -> None:
    log = LogWriter()
    log.turn(id="a")
    log.turn(id="a")
    log.turn(id="a", graph="bob")
    log.recall(graph="cyd")
    log.reject()
    log.duplicate(id="a")
    log.forget(turns="a")
    log.turn(id="a")
    log.configure(graph="dan")
    log.configure(wished=True, graph="dan")
    position = log.folded().position
    assert (position.graphs, position.turns, position.seq, position.source) == (4, 2, 10, 7)


def test_fold_tells_what_became_of_a_record() -> None:
    log, partition = LogWriter(), Partition(MemoryStore())
    log.turn()
    folded = [partition.fold(offset, value) for offset, value in [*log.records, (9, log.records[1][1])]]
    assert [each.acceptance for each in folded] == [Acceptance.ACCEPTED, Acceptance.ACCEPTED, Acceptance.GAP]
    assert folded[1].event == decode(log.records[1][1])
