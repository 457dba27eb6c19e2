"""What is taken back from a partition: the same fold wherever it is flushed or killed, in a store that stays small."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state import partition as partitions
from state.errors import RetractedTooFarError
from state.events.events import Retracted
from state.graph.graph import Graph
from state.partition import Partition
from state.retraction import surviving
from state.store import keys
from state.store.store import MemoryStore
from tests.support.builders import refolded, retracted
from tests.support.interrupted import interrupted
from tests.support.logs import LogWriter, events_of, fold
from tests.support.stores import Opener, opener
from tests.support.strategies import Step, steps_taken_back, written

places = st.sets(st.integers(0, 40), max_size=8)


def alone(log: LogWriter, name: str) -> str:
    """Return the digest of a graph of nothing but the events that count."""
    events = events_of(log, name)
    counted = [event for event, counts in zip(events, surviving(events), strict=True) if counts]
    return refolded((event for event in counted if not isinstance(event, Retracted)), Graph(name)).digest()


@pytest.mark.hypothesis
@pytest.mark.parametrize(("kind", "examples"), [("memory", 300), ("rocksdb", 12)])
def test_whatever_is_taken_back_the_state_is_the_fold(
    kind: str, examples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "STORED_AFTER", 2)

    @settings(max_examples=examples)
    @given(steps_taken_back(), places, places, st.integers(1, 3))
    def check(happened: list[Step], flushes: set[int], openings: set[int], cached: int) -> None:
        log = written(happened)
        fresh = log.folded()
        with opener(kind) as open_store:
            partition = interrupted(log, open_store, flushes, openings, cached)
            assert partition.digest() == fresh.digest()
            partition.close()
            again = Partition(open_store())
            assert again.digest() == fresh.digest()
            assert again.digests() == {name: alone(log, name) for name in again.graph_ids()}
            assert again.position.turns == sum(graph.passages.accepted for graph in again.graphs())
            for graph, other in zip(again.graphs(), fresh.graphs(), strict=True):
                assert graph.pack() == other.pack()
                for passage in range(len(graph.passages)):
                    assert again.text_of(graph, passage).id == graph.passages.ids[passage]
            again.close()

    check()


def graph_of(partition: Partition) -> Graph:
    graph = partition.graph("ada")
    assert graph is not None
    return graph


def taken_back(partition: Partition, log: LogWriter, first: int, last: int) -> str:
    """Take back events of "ada"; return its digest."""
    log.undo(first=first, last=last)
    fold(log.records[partition.position.watermark + 1 :], partition).flush()
    return graph_of(partition).digest()


def test_events_behind_many_snapshots_are_taken_back_and_given_back(open_store: Opener) -> None:
    log, partition = LogWriter(), Partition(open_store())
    digests = []
    for number in range(300):
        log.turn(id=f"turn {number}", concepts=f"word{number % 7} coffee")
        fold(log.records[partition.position.watermark + 1 :], partition).flush()
        digests.append(graph_of(partition).digest())
    assert taken_back(partition, log, 10, 299) == digests[9]
    assert partition.position.turns == 10
    assert taken_back(partition, log, 300, 300) == digests[299]
    assert partition.position.turns == 300
    assert taken_back(partition, log, 301, 301) == digests[9]
    partition.close()
    again = Partition(open_store())
    assert again.digest() == log.folded().digest()
    again.close()


def test_a_retraction_further_back_than_anybody_may_stops_the_fold() -> None:
    log = LogWriter()
    log.configure(undo_events=5)
    for _ in range(20):
        log.turn()
    log.undo(first=16, last=16)
    log.undo(first=16, last=16)
    with pytest.raises(
        RetractedTooFarError, match="event 22 of graph ada takes back event 16, but only those from 17 on"
    ):
        log.folded()


def test_what_an_undo_turns_is_found_among_events_that_are_flushed_or_not() -> None:
    log, store = LogWriter(), MemoryStore()
    for _ in range(10):
        log.turn()
    log.undo(first=4, last=6)
    partition = log.folded(store)
    for _ in range(2):
        for first, last, turned in ((3, 7, "t3 t7"), (4, 6, ""), (4, 10, "t7 t8 t9 undo"), (10, 10, "t4 t5 t6 undo")):
            assert turned_by(partition, first, last) == turned.split()
        partition.flush()


def turned_by(partition: Partition, first: int, last: int) -> list[str]:
    return [getattr(event, "id", "undo") for event in partition.turned(retracted(first=first, last=last))]


def test_an_undo_turns_what_counts_otherwise_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "STORED_AFTER", 2)

    @settings(max_examples=150)
    @given(steps_taken_back(), places, st.data())
    def check(happened: list[Step], flushes: set[int], data: st.DataObject) -> None:
        log = written(happened)
        with opener("memory") as open_store:
            partition = interrupted(log, open_store, flushes, set(), 1)
            for graph in partition.graphs():
                check_one(partition, log, graph, data)

    def check_one(partition: Partition, log: LogWriter, graph: Graph, data: st.DataObject) -> None:
        newest = graph.events - 1
        if graph.undoable_from > newest:
            return
        first = data.draw(st.integers(graph.undoable_from, newest))
        undo = retracted(graph=graph.graph_id, first=first, last=data.draw(st.integers(first, newest)))
        events = events_of(log, graph.graph_id)
        before, after = surviving(events), surviving([*events, undo])
        expected = [event for event, was, counts in zip(events, before, after, strict=False) if was != counts]
        assert partition.turned(undo) == expected

    check()


def rows_in(store: MemoryStore) -> list[int]:
    prefix = keys.event_prefix("ada")
    return [keys.of_u64(key[len(prefix) :]) for key, _ in store.scan(prefix, prefix)]


def test_the_rows_of_a_graph_that_forgets_stay_few_and_enough() -> None:
    store, log, most = MemoryStore(), LogWriter(), 0
    partition = Partition(store)
    log.configure(undo_events=100)
    for number in range(2000):
        log.turn(id=f"turn {number}")
        if number >= 20:
            log.forget(turns=[f"turn {number - 20}"])
        if number % 97 == 96:
            log.undo(first=log_length(partition) - 60, last=log_length(partition) - 50)
        fold(log.records[partition.position.watermark + 1 :], partition).flush()
        most = max(most, len(rows_in(store)))
        graph = graph_of(partition)
        assert set(range(graph.undoable_from, graph.events)) <= set(rows_in(store))
    assert most <= 600, "100 that can be taken back, as many again until the base moves, some snapshots' distance"
    assert Partition(store).digest() == log.folded().digest()


def log_length(partition: Partition) -> int:
    return graph_of(partition).events


def test_without_undo_the_base_follows_the_snapshots() -> None:
    store, log = MemoryStore(), LogWriter()
    partition = Partition(store)
    log.configure(undo_events=0)
    for number in range(400):
        log.turn(id=f"turn {number}")
        log.forget(turns=[f"turn {number}"])
        fold(log.records[partition.position.watermark + 1 :], partition).flush()
    assert len(rows_in(store)) <= 200
    assert Partition(store).digest() == log.folded().digest()
