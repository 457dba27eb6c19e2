"""The stored tables of graphs: whatever was flushed when, merged how far and killed where, they are the fold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state import partition as partitions
from state.graph.graph import Graph
from state.partition import Partition
from state.store import keys, segments, tables
from state.store.pages import GraphPages
from state.store.store import Store
from tests.support.graphs import assert_same_view
from tests.support.interrupted import interrupted
from tests.support.stores import opener
from tests.support.strategies import Step, steps, steps_taken_back, written
from tests.support.tables import tables_of

places = st.sets(st.integers(0, 40), max_size=30)


@pytest.fixture(params=[(2, 3, 1), (3, 2, 40), (2, 64, 1 << 20)], ids=["in crumbs", "in pieces", "at once"])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tables be stored with every flush, in small pages, and merged often, so much at a time."""
    fan, page, credit = request.param
    found = tuple(section._replace(page=page) for section in segments.SECTIONS)
    named = {section.name: section for section in found}
    for module in (segments, tables):
        monkeypatch.setattr(module, "SECTION", named)
    monkeypatch.setattr(segments, "SECTIONS", found)
    monkeypatch.setattr(tables, "FAN", fan)
    monkeypatch.setattr(tables, "LEAST_CREDIT", credit)
    monkeypatch.setattr(tables, "MOST_CREDIT", 1)
    monkeypatch.setattr(tables, "DELETED_AT_ONCE", 3)
    monkeypatch.setattr(partitions, "STORED_AFTER", 1)
    monkeypatch.setattr(partitions, "REBUILT_STORED_AFTER", 1)


def tables_alone(store: Store, name: str) -> Graph | None:
    """Build a graph from its tables, without a single row of its events."""
    return GraphPages(store).tables(name).graph()


def check_nothing_is_left_over(store: Store, name: str) -> None:
    """Check that every page belongs to a segment that is used, made, or on its way out."""
    found = tables_of(store, name)
    manifest = found._manifest  # noqa: SLF001 - nobody else needs to know
    for letter in (b"i", b"t"):
        prefix = keys.index_key(name, 0)[1:-4]
        for key, _ in store.scan(letter + prefix, letter + prefix):
            segment = int.from_bytes(key[len(prefix) + 1 :][:4], "big")
            assert segment in {*manifest.segments, *manifest.making, *manifest.trash}


def check_same(store: Store, fresh: Partition) -> None:
    again = Partition(store)
    assert again.digest() == fresh.digest()
    for graph in fresh.graphs():
        found, alone = again.graph(graph.graph_id), tables_alone(store, graph.graph_id)
        assert found is not None
        assert alone is not None
        assert alone.events == graph.events
        check_nothing_is_left_over(store, graph.graph_id)
        for each in (found, alone):
            assert each.pack() == graph.pack()
            assert_same_view(each, graph)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("kind", "examples"), [("memory", 60), ("rocksdb", 5)])
def test_a_graph_stored_in_any_increments_and_killed_anywhere_is_the_fold(kind: str, examples: int) -> None:
    @settings(max_examples=examples, deadline=None)
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
