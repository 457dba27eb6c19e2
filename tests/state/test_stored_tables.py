"""The stored tables of graphs: whatever was flushed when, merged how far and killed where, they are the fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from state import partition as partitions
from state.graph.counting import cooccurrence, stored_pairs
from state.graph.counting.cooccurrence import PairCounts
from state.graph.graph import Graph
from state.graph.graph_tables import Window
from state.lsm import compaction, table, tree
from state.lsm.graph_pages import GraphPages
from state.lsm.inspection import PairCount, StoredGraph
from state.partition import Partition
from state.store import keys
from state.store.store import MemoryStore, Store
from tests.support.builders import concept
from tests.support.clocks import NOON
from tests.support.fakes import WatchedStore
from tests.support.golden import VERSIONS, golden
from tests.support.graphs import assert_same_view, pair_counts
from tests.support.interrupted import interrupted
from tests.support.logs import LogWriter
from tests.support.stores import opener
from tests.support.strategies import Step, steps, steps_taken_back, written
from tests.support.tables import tree_of

places = st.sets(st.integers(0, 40), max_size=30)


@pytest.fixture(params=[(2, 3, 1), (3, 2, 40), (2, 64, 1 << 20)], ids=["in crumbs", "in pieces", "at once"])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tables be stored with every flush, in small pages, and merged often, so much at a time."""
    fan, page, credit = request.param
    sections = tuple(section._replace(page=page) for section in table.SECTIONS)
    named = {section.name: section for section in sections}
    for module in (table, tree):
        monkeypatch.setattr(module, "SECTION", named)
    for module in (table, compaction):
        monkeypatch.setattr(module, "SECTIONS", sections)
    monkeypatch.setattr(tree, "FAN", fan)
    monkeypatch.setattr(tree, "LEAST_CREDIT", credit)
    monkeypatch.setattr(tree, "MOST_CREDIT", 1)
    monkeypatch.setattr(tree, "DELETED_AT_ONCE", 3)
    monkeypatch.setattr(partitions, "STORED_AFTER", 1)
    monkeypatch.setattr(partitions, "MOST_UNSTORED", 1)
    monkeypatch.setattr(partitions, "REBUILT_STORED_AFTER", 1)


def tables_alone(store: Store, name: str) -> Graph | None:
    """Build a graph from its tables, without a single row of its events."""
    return GraphPages(store).tree(name).graph()


def check_nothing_is_left_over(store: Store, name: str) -> None:
    """Check that every page belongs to a table that is used, made, or on its way out."""
    stored_tree = tree_of(store, name)
    manifest = stored_tree._manifest  # noqa: SLF001 - nobody else needs to know
    for letter in (b"i", b"t"):
        prefix = keys.index_key(name, 0)[1:-4]
        for key, _ in store.scan(letter + prefix, letter + prefix):
            table = int.from_bytes(key[len(prefix) + 1 :][:4], "big")
            assert table in {*manifest.tables, *manifest.unfinished, *manifest.trash}


def check_same(store: Store, fresh: Partition) -> None:
    again = Partition(store)
    assert again.digest() == fresh.digest()
    for graph in fresh.graphs():
        reopened, alone = again.graph(graph.graph_id), tables_alone(store, graph.graph_id)
        assert reopened is not None
        if alone is None:  # all of it is erased, and this store never saw a key of it: its rows alone are kept
            assert not fresh._may_store(graph.graph_id)  # noqa: SLF001 - the same decision, not another one
        else:
            assert alone.events == graph.events
        check_nothing_is_left_over(store, graph.graph_id)
        for each in filter(None, (reopened, alone)):
            assert each.pack() == graph.pack()
            assert_same_view(each, graph)


@pytest.mark.usefixtures("small")
@pytest.mark.hypothesis
@pytest.mark.parametrize(("kind", "examples"), [("memory", 60), ("rocksdb", 5)])
def test_a_graph_stored_in_any_increments_and_killed_anywhere_is_the_fold(kind: str, examples: int) -> None:
    @settings(max_examples=examples)
    @given(steps(40) | steps_taken_back(), places, places, st.integers(1, 3), st.booleans())
    def check(happened: list[Step], flushes: set[int], openings: set[int], cached: int, rebuilding: bool) -> None:
        log = written(happened)
        with opener(kind) as open_store:
            partition = interrupted(log, open_store, flushes, openings, cached, rebuilding)
            partition.flush()
            partition.store.close()
            store = open_store()
            check_same(store, log.folded())
            store.close()

    check()


@pytest.fixture(params=[(2, 1, 1), (64, 512, 1 << 15)], ids=["page by page", "at once"])
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, small: None) -> None:
    """Let a few pairs be many, and be read in pieces of so many, with so many pages kept and pairs looked up."""
    piece, pages, looked_up = request.param
    monkeypatch.setattr(stored_pairs, "PIECE", piece)
    monkeypatch.setattr(stored_pairs, "FEW", looked_up)
    monkeypatch.setattr(table, "CACHED_PAGES", pages)
    monkeypatch.setattr(cooccurrence, "LOOKED_UP", looked_up)
    monkeypatch.setattr(cooccurrence, "MERGED_AT_ONCE", looked_up)
    monkeypatch.setattr(cooccurrence, "MANY", 1)
    monkeypatch.setattr(cooccurrence, "SPILL_ABOVE", 1)
    monkeypatch.setattr(partitions, "COMPACTED_AT_ONCE", 1)
    monkeypatch.setattr(partitions, "PREPARED_AT_ONCE", 1)


def check_same_links(graph: Graph, fresh: Graph) -> None:
    """Check what recall reads of pairs, one concept at a time: nothing of that needs all of them."""
    graph.compact()
    fresh.compact()
    for window in ("exchange", "turn", "recall"):
        for each in range(len(fresh.concepts)):
            one = np.array([each])
            here, there = graph.pairs[window].neighbours(one), fresh.pairs[window].neighbours(one)
            assert [column.tolist() for column in here] == [column.tolist() for column in there]
    concepts = len(fresh.concepts)
    assert graph.pairs["exchange"].fan(concepts).tolist() == fresh.pairs["exchange"].fan(concepts).tolist()
    assert len(graph.pairs["exchange"]) == len(fresh.pairs["exchange"])


# the only pair is still in the queue when the graph is stored for the last time
PAIR_BY_CLOSING: list[Step] = [
    ("recall", {"graph": "ada", "at": NOON, "concepts": []}),
    ("turn", {"graph": "ada", "at": NOON, "concepts": [concept("coffee"), concept("tea")], "session": "main"}),
]


@pytest.mark.usefixtures("many")
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(steps(40) | steps_taken_back(), places, places, places, places)
@example(PAIR_BY_CLOSING, set(), {1}, set(), set())
def test_a_graph_whose_pairs_stay_in_the_store_is_the_fold_whatever_happens_to_it(
    happened: list[Step], flushes: set[int], closings: set[int], queried: set[int], compactions: set[int]
) -> None:
    log, store = written(happened), MemoryStore()
    fresh, partition = Partition(MemoryStore()), Partition(store)
    for number, record in enumerate(log.records):
        partition.fold(*record)
        fresh.fold(*record)
        if number in queried:
            for graph in fresh.graphs():
                reopened = partition.graph(graph.graph_id)
                assert reopened is not None
                check_same_links(reopened, graph)
        if number in flushes:
            partition.flush()
        if number in compactions:
            partition.compact_step()
        if number in closings:
            partition.close()
            partition = Partition(store)
    partition.close()
    for graph in fresh.graphs():
        reopened = Partition(store).graph(graph.graph_id)
        assert reopened is not None
        assert reopened.reads_stored_pairs == bool(reopened.pairs["exchange"])
        check_same_links(reopened, graph)
        assert reopened.reads_stored_pairs == bool(reopened.pairs["exchange"]), "answering reads no more than it needs"
        assert reopened.digest() == graph.digest()
        assert_same_view(reopened, graph)
        check_nothing_is_left_over(store, graph.graph_id)
    check_same(store, fresh)


def rests(graph: Graph) -> bool:
    """Tell whether all pairs of what was said that are flushed are in the store alone."""
    return all(pairs.stored is not None and pairs.stored.grows for pairs in pair_counts_of(graph))


def pair_counts_of(graph: Graph) -> list[PairCounts]:
    return [graph.pairs["exchange"], graph.pairs["turn"]]


@pytest.mark.usefixtures("many")
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(steps(40) | steps_taken_back(), places, places, places, places, places)
def test_a_graph_whose_pairs_rest_in_the_store_until_somebody_reads_them_is_the_fold(
    happened: list[Step],
    flushes: set[int],
    hashed: set[int],
    queried: set[int],
    compactions: set[int],
    prepared: set[int],
) -> None:
    log, store = written(happened), MemoryStore()
    fresh, partition, first_query = Partition(MemoryStore()), Partition(store), min(queried, default=1000)
    for number, record in enumerate(log.records):
        partition.fold(*record)
        fresh.fold(*record)
        if number in flushes:
            partition.flush()
        if number in compactions:
            partition.compact_step()
        if number in prepared:
            for name in partition.graph_ids():
                partition.prepare(name)
        if number in hashed:
            assert partition.digests() == fresh.digests(), "nothing is loaded for that"
        if number >= first_query and number in queried:
            for graph in fresh.graphs():
                reopened = partition.graph(graph.graph_id)
                assert reopened is not None
                check_same_links(reopened, graph)
    partition.flush()
    for graph in fresh.graphs():
        reopened = partition.graph(graph.graph_id)
        assert reopened is not None
        assert_same_view(reopened, graph)
        check_same_links(reopened, graph)
        check_nothing_is_left_over(store, graph.graph_id)
    check_same(store, fresh)


@pytest.mark.usefixtures("many")
def test_a_graph_that_is_not_asked_holds_no_pair_that_is_flushed() -> None:
    log, store = LogWriter(), MemoryStore()
    partition = log.folded(store)
    for number in range(64 * 8):
        log.turn(session=str(number // 15), concepts=f"word{number % 70} thing{number * 7 % 90} coffee")
        partition.fold(*log.records[-1])
        if number % 64 == 63:
            partition.flush()
            while partition.compact_step():
                pass
            graph = partition.graph("ada")
            assert graph is not None
            assert rests(graph)
            assert [pairs.size for pairs in pair_counts_of(graph)] == [0, 0]
    assert partition.digest() == log.folded().digest()
    graph, fresh = partition.graph("ada"), log.folded().graph("ada")
    assert graph is not None
    assert fresh is not None
    assert rests(graph), "a digest loads nothing"
    check_same_links(graph, fresh)
    assert not any(pairs.stored for pairs in pair_counts_of(graph)), "who reads loads, once"
    log.turn(concepts="tea coffee")
    fresh.fold(partition.fold(*log.records[-1]).event)  # type: ignore[arg-type]  # the event of a graph
    partition.flush()
    check_same_links(graph, fresh)
    check_same(store, log.folded())


def publish(partition: Partition, log: LogWriter, turns: int) -> None:
    """Tell so many turns, in which many words come together, and flush now and then."""
    for number in range(turns):
        log.turn(session=str(number // 15), concepts=f"word{number % 70} thing{number * 7 % 90} coffee")
        partition.fold(*log.records[-1])
        if number % 64 == 63:
            partition.flush()


@pytest.mark.slow
@pytest.mark.usefixtures("many")
def test_what_a_first_question_needs_is_read_piece_by_piece_while_turns_come() -> None:
    log = LogWriter()
    partition = log.folded(MemoryStore())
    publish(partition, log, 256)
    pieces = 0
    while partition.prepare("ada"):
        pieces += 1
        if pieces % 3 == 0:
            publish(partition, log, 1)
            partition.flush()
            partition.compact_step()
    graph, fresh = partition.graph("ada"), log.folded().graph("ada")
    assert graph is not None
    assert fresh is not None
    runs = graph.pairs["exchange"].stored
    assert runs is None, "all is read"
    check_same_links(graph, fresh)
    assert partition.digest() == log.folded().digest()
    assert not partition.prepare("ada")


@pytest.mark.usefixtures("many")
def test_many_pairs_of_a_graph_that_was_never_closed_are_read_when_somebody_asks() -> None:
    log, store = LogWriter(), MemoryStore()
    publish(log.folded(store), log, 256)
    again = Partition(store)
    graph, fresh = again.graph("ada"), log.folded().graph("ada")
    assert graph is not None
    assert fresh is not None
    stored = graph.pairs["exchange"].stored
    assert stored is not None
    assert stored.size == 0, "none was read to open it"
    while again.prepare("ada"):
        pass
    check_same_links(graph, fresh)
    assert again.digest() == log.folded().digest()


@pytest.mark.slow
@pytest.mark.usefixtures("many")
def test_everything_that_a_graph_ever_held_is_answered_from_the_store() -> None:
    for records in golden(VERSIONS[-1]):  # older events are upcast before anything of them is stored
        partition, fresh = Partition(store := MemoryStore(), memory=1), Partition(MemoryStore())
        for number, record in enumerate(records):
            partition.fold(record.offset, record.value)
            fresh.fold(record.offset, record.value)
            if number % 8 == 0:
                partition.flush()
            if number % 24 == 0:
                partition.compact_step()
            if number % 96 == 0:
                partition.close()
                partition = Partition(store, memory=1)
        partition.close()
        partition = Partition(store)
        for graph in fresh.graphs():
            reopened = partition.graph(graph.graph_id)
            assert reopened is not None
            check_same_links(reopened, graph)
        check_same(store, fresh)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("version", VERSIONS)
def test_everything_that_a_graph_ever_held_is_stored(version: int) -> None:
    for records in golden(version):
        partition, fresh = Partition(store := MemoryStore(), memory=1), Partition(MemoryStore())
        for number, record in enumerate(records):
            partition.fold(record.offset, record.value)
            fresh.fold(record.offset, record.value)
            if number % 8 == 0:
                partition.flush()
            if number % 96 == 0:
                partition = Partition(store, memory=1)
        partition.flush()
        check_same(store, fresh)


def pairs_of(graph: Graph) -> dict[tuple[str, str], list[int]]:
    """Count how often every two concepts of a graph were together: in turns, exchanges, recalls."""
    windows: list[Window] = ["turn", "exchange", "recall"]
    counted = [pair_counts(graph, window) for window in windows]
    names = {tuple(pair.split()) for counts in counted for pair in counts}
    return {(one, other): [counts.get(f"{one} {other}", 0) for counts in counted] for one, other in names}


@given(steps(40) | steps_taken_back(), places, st.integers(1, 40))
def test_with_every_flush_the_store_tells_how_often_two_concepts_were_together(
    happened: list[Step], flushes: set[int], stored_after: int
) -> None:
    log, store = written(happened), MemoryStore()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions, "STORED_AFTER", stored_after)
        patch.setattr(tree, "FAN", 2)
        partition = Partition(store)
        for number, record in enumerate(log.records):
            partition.fold(*record)
            if number in flushes or number == len(log.records) - 1:
                partition.flush()
                for graph in Partition(store).graphs():
                    stored = StoredGraph(store, graph.graph_id)
                    for (one, other), counts in pairs_of(graph).items():
                        assert list(stored.pair(one, other)) == list(stored.pair(other, one)) == counts


@pytest.mark.source("S27")
@pytest.mark.parametrize("resting", [1, 1 << 20], ids=["resting", "in memory"])
def test_a_link_that_was_cut_is_cut_in_the_store_and_counts_from_then_on(
    monkeypatch: pytest.MonkeyPatch, resting: int
) -> None:
    log, store = LogWriter(), MemoryStore()
    monkeypatch.setattr(cooccurrence, "SPILL_ABOVE", resting)
    partition = log.folded(store)

    def happens(method: str, **changes: Any) -> None:
        getattr(log, method)(**changes)
        partition.fold(*log.records[-1])
        partition.flush()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions, "STORED_AFTER", 1)
        for number in range(3):
            happens("turn", session=str(number), concepts="coffee tea milk")
        happens("recall", concepts="coffee tea")
        happens("archive", links=[["tea", "coffee"]])
        assert StoredGraph(store, "ada").pair("tea", "coffee") == PairCount(0, 0, 0)
        happens("turn", session="later", concepts="coffee tea")
        assert StoredGraph(store, "ada").pair("tea", "coffee") == PairCount(1, 1, 0)
        assert StoredGraph(store, "ada").pair("tea", "milk") == PairCount(3, 3, 0)
        assert Partition(store).digest() == partition.digest() == log.folded().digest()


def test_a_pair_that_was_together_more_often_than_a_record_can_count_is_counted() -> None:
    log, store = LogWriter(), MemoryStore()
    partition = log.folded(store)
    for number in range(1100):
        log.turn(session=str(number), concepts="coffee tea")
        partition.fold(*log.records[-1])
        if number % 100 == 0:
            partition.flush()
    partition.flush()
    assert StoredGraph(store, "ada").pair("tea", "coffee") == PairCount(turns=1100, exchanges=1100, recalls=0)


def test_a_graph_is_as_many_segments_as_its_size_needs_and_no_page_is_left_over() -> None:
    log, store = LogWriter(), MemoryStore()
    partition = log.folded(store)
    for number in range(64 * 150):
        log.turn(concepts=f"word{number % 700} thing{number * 7 % 900} coffee")
        partition.fold(*log.records[-1])
        if number % 64 == 63:
            partition.flush()
            while partition.compact_step():
                pass
    levels = [each.level for each in StoredGraph(store, "ada").tables()]
    assert levels == sorted(levels, reverse=True), "what is older was merged more often"
    assert len(levels) < 3 * tree.FAN
    check_nothing_is_left_over(store, "ada")
    assert Partition(store).digest() == partition.digest()


def test_nothing_is_compacted_while_something_waits_to_be_flushed() -> None:
    log, store = LogWriter(), WatchedStore()
    partition = log.folded(store)
    for _ in range(64 * 20):
        log.turn()
        partition.fold(*log.records[-1])
        if log.next_offset % 64 == 0:
            partition.flush()
    log.turn()
    partition.fold(*log.records[-1])
    written_before = len(store.batches)
    assert not partition.compact_step()
    assert len(store.batches) == written_before
