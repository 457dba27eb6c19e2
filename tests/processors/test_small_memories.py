"""What a small graph takes: as much as is estimated, and nothing any more once it is let go of."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable

import pytest

from bench.speed import zipf
from bench.speed.kernels import ask, closed
from state.graph.graph import Graph
from state.partition import Partition
from state.store.store import MemoryStore

OFF = 1.25  # times, at most, in either direction
MANY = 4  # graphs, all alike


def opened(turns: int) -> Callable[[], Partition]:
    """Prepare to open a graph of so many turns, again and again."""
    store = MemoryStore()
    store.write(closed(turns))
    return lambda: Partition(store)


def opened_graph(state: Partition) -> Graph:
    graph = state.graph(zipf.GRAPH)
    assert graph is not None
    return graph


@pytest.mark.parametrize("turns", [100, 400])
@pytest.mark.parametrize("is_queried", [False, True], ids=["opened", "asked"])
def test_what_is_estimated_is_what_is_taken(turns: int, is_queried: bool) -> None:
    again = opened(turns)

    def used() -> Partition:
        state = again()
        graph = opened_graph(state)
        if is_queried:
            ask(graph)
        return state

    used()  # what is made once for all
    gc.collect()
    tracemalloc.start()
    try:
        kept = [used() for _ in range(MANY)]
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] / MANY
    finally:
        tracemalloc.stop()
    estimated = sum(opened_graph(state).size for state in kept) / MANY
    assert taken / OFF < estimated < taken * OFF


def test_a_graph_that_was_asked_is_estimated_to_take_more() -> None:
    graph = opened_graph(opened(100)())
    before = graph.size
    ask(graph)
    assert graph.size > before
    seen, view = graph.size, graph.view()
    assert len(view.strength) + len(view.posting_passage)
    assert graph.size == seen + view.strength.nbytes + view.posting_passage.nbytes


def test_a_graph_that_is_let_go_of_goes_at_once_though_it_was_asked() -> None:
    state = opened(100)()
    reference = weakref.ref(opened_graph(state))
    gc.collect()
    gc.disable()  # it must not have to come by
    try:
        ask(opened_graph(state))
        assert state.drop(zipf.GRAPH)
        assert reference() is None
    finally:
        gc.enable()
