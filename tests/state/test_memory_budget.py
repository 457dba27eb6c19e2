"""How much memory graphs may take: who goes when it is too much, and that what is told of a graph does not change."""

from __future__ import annotations

from state.memory_budget import MIB, MemoryBudget
from state.partition import Partition
from state.store.store import MemoryStore
from tests.support.logs import LogWriter, fold


def log_with(graphs: int) -> LogWriter:
    """Return a log of so many graphs of some turns each, told one after the other."""
    log = LogWriter()
    for number in range(graphs):
        for _ in range(5):
            log.turn(graph=f"graph {number}")
    return log


def filled(log: LogWriter, memory: MemoryBudget | int) -> Partition:
    partition = Partition(MemoryStore(), memory)
    for record in log.records:
        fold([record], partition).flush()
    return partition


def test_graphs_go_when_they_take_too_much_and_are_what_they_were_when_they_come_back() -> None:
    log = log_with(30)
    few, all_of_them = filled(log, 300_000), filled(log, 100 * MIB)
    assert all_of_them.in_memory == 30
    assert 5 < few.in_memory < 30
    assert few.digest() == all_of_them.digest()
    assert few.in_memory < 30


def test_what_was_used_longest_ago_goes_first() -> None:
    partition = filled(log_with(3), 100 * MIB)
    one = partition.graph("graph 0")
    assert one is not None
    budget = MemoryBudget(3 * one.size)
    partition = filled(log_with(3), budget)
    first = partition.graph("graph 0")
    partition.graph("graph 3")
    log = log_with(4)
    fold(log.records[partition.position.watermark + 1 :], partition).flush()
    assert partition.graph("graph 0") is first, "it was asked for since"
    assert partition.in_memory == 3


def test_what_waits_to_be_flushed_stays() -> None:
    partition = Partition(MemoryStore(), 1)
    fold(log_with(9).records, partition)
    assert partition.in_memory == 9
    partition.flush()
    assert partition.in_memory == 1


def test_partitions_share_a_budget_and_give_back_what_they_held() -> None:
    budget = MemoryBudget(300_000)
    one, other = filled(log_with(30), budget), filled(log_with(30), budget)
    assert one.in_memory < 30
    assert other.in_memory > 5
    other.close()
    assert not budget.is_exceeded
    before = one.in_memory
    for number in range(30):
        one.graph(f"graph {number}")
    assert one.in_memory > before


def test_what_graphs_take_more_once_they_were_asked_is_counted() -> None:
    store = MemoryStore()
    log = log_with(30)
    fold(log.records, Partition(store)).close()
    opened = [graph.size for graph in Partition(store).graphs()]
    partition = Partition(store, sum(opened))
    for number in range(30):
        partition.graph(f"graph {number}")
    assert partition.in_memory == 30
    for number in range(30):
        graph = partition.graph(f"graph {number}")
        assert graph is not None
        graph.view()
    assert partition.in_memory < 30


def test_a_graph_that_grows_takes_more() -> None:
    log = LogWriter()
    partition, sizes = log.folded(), []
    for number in range(3000):
        log.turn(concepts=f"word{number} tea")
        fold(log.records[-1:], partition)
        if number % 1000 == 999:
            graph = partition.graph("ada")
            assert graph is not None
            graph.view()
            sizes.append(graph.size)
    assert sizes == sorted(sizes)
    assert sizes[-1] > 2 * sizes[0]
