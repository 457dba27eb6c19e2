"""When a partition stores the tables of a graph, and what it deletes with that: what nobody will read again."""

from __future__ import annotations

from state.partition import Partition
from state.store import keys
from state.store.store import Store
from tests.support.fakes import WatchedStore
from tests.support.logs import LogWriter, fold
from tests.support.stores import Opener


def stored_at(log: LogWriter) -> list[int]:
    """Return after how many events of "ada" its tables were stored, if every event is flushed."""
    store = WatchedStore()
    partition = Partition(store)
    for record in log.records:
        fold([record], partition).flush()
    counts = (batch.get(keys.count_key("ada")) for batch in store.batches if keys.manifest_key("ada") in batch)
    return [keys.of_u64(count or b"") for count in counts]


def test_tables_are_stored_when_what_they_lack_is_a_quarter_of_what_is_kept_but_no_more_than_a_few_hundred() -> None:
    log = LogWriter()
    for _ in range(1900):
        log.turn()
    assert stored_at(log) == [64, 128, 192, 256, 341, 454, 605, 806, 1062, 1318, 1574, 1830]


def test_a_graph_that_forgets_is_small_and_stored_as_often() -> None:
    log = LogWriter()
    for number in range(400):
        log.turn(id=f"turn {number}")
        log.forget(turns=[f"turn {number}"])
    assert stored_at(log) == [64 * n for n in range(1, 13)]


def events_in(store: Store, graph: str) -> list[int]:
    prefix = keys.event_prefix(graph)
    return [keys.of_u64(key[len(prefix) :]) for key, _ in store.scan(prefix, prefix)]


def test_with_the_tables_go_the_events_that_nobody_will_read_again(open_store: Opener) -> None:
    log, store = LogWriter(), open_store()
    log.configure(graph="ada", undo_events=0)
    for number in range(80):
        log.turn(id=f"turn {number}")
    log.recall(concepts="coffee")
    log.decay(turns=["turn 3", "turn 5"])
    log.turn(id="turn 7", text="the same id again")
    log.folded(store).flush()
    kept = [number + 1 for number in range(80) if number not in (3, 5)]
    assert events_in(store, "ada") == kept
    for number in range(64):
        log.turn(id=f"later {number}")
    partition = fold(log.records[-64:], Partition(store))
    partition.flush()
    assert events_in(store, "ada") == [*kept, *range(84, 148)]
    graph = partition.graph("ada")
    assert graph is not None
    assert [graph.passages.event[number] for number in range(78)] == kept
    assert [partition.text_of(graph, number).id for number in range(78)] == [f"turn {number - 1}" for number in kept]
    partition.close()
    again = Partition(open_store())
    assert again.digest() == log.folded().digest()
    again.close()
