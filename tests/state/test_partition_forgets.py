"""What a partition deletes: snapshots are due by what is kept, and take with them what nobody will read again."""

from __future__ import annotations

from state import store as layout
from state.partition import Partition
from state.store import MemoryStore, Store
from tests.support.logs import LogWriter, fold
from tests.support.stores import Opener, WatchedStore


def snapshots_taken(log: LogWriter) -> list[int]:
    """Return after how many events of "ada" a snapshot was taken, if every event is flushed."""
    store = WatchedStore()
    partition = Partition(store)
    for record in log.records:
        fold([record], partition).flush()
    key = layout.snapshot_key("ada")
    return [layout.of_number(batch[key] or b"") for batch in store.batches if key in batch]


def test_a_snapshot_is_taken_when_what_it_lacks_is_a_quarter_of_what_is_kept() -> None:
    log = LogWriter()
    for _ in range(600):
        log.turn()
    assert snapshots_taken(log) == [64, 128, 192, 256, 341, 454]


def test_a_graph_that_forgets_is_small_and_so_are_its_snapshots() -> None:
    log = LogWriter()
    for number in range(400):
        log.turn(id=f"turn {number}")
        log.forget(turns=[f"turn {number}"])
    assert snapshots_taken(log) == [64 * n for n in range(1, 13)]


def events_in(store: Store, graph: str) -> list[int]:
    prefix = layout.event_prefix(graph)
    return [layout.of_number(key[len(prefix) :]) for key, _ in store.scan(prefix, prefix)]


def test_a_snapshot_deletes_the_events_that_nobody_will_read_again(open_store: Opener) -> None:
    log = LogWriter()
    log.configure(graph="ada")
    for number in range(80):
        log.turn(id=f"turn {number}")
    log.recall(concepts="coffee")
    log.decay(turns=["turn 3", "turn 5"])
    log.turn(id="turn 7", text="the same id again")
    partition = log.folded(open_store())
    partition.flush()
    kept = [number for number in range(80) if number not in (3, 5)]
    assert events_in(partition._store, "ada") == [number + 1 for number in kept]
    graph = partition.graph("ada")
    assert graph is not None
    assert [partition.text_of(graph, n).id for n in range(78)] == [f"turn {number}" for number in kept]
    partition.close()
    again = Partition(open_store())
    assert again.digest() == log.folded().digest()
    again.close()


def test_what_is_forgotten_after_a_snapshot_stays_until_the_next(open_store: Opener) -> None:
    log, store = LogWriter(), open_store()
    for number in range(64):
        log.turn(id=f"turn {number}")
    log.folded(store).flush()
    log.forget(turns=["turn 3"])
    partition = fold(log.records[-1:], Partition(store))
    partition.flush()
    assert events_in(store, "ada") == [*range(65)]
    for _ in range(63):
        log.turn()
        log.forget(concepts="unheard-of")
    fold(log.records[-126:], Partition(store)).flush()
    assert events_in(store, "ada") == [*range(3), *range(4, 64), *range(65, 191, 2)]
    assert Partition(store).digest() == log.folded().digest()
    store.close()


def test_the_rows_of_a_graph_that_forgets_stay_few() -> None:
    store, log, most = MemoryStore(), LogWriter(), 0
    partition = Partition(store)
    for number in range(2000):
        log.turn(id=f"turn {number}")
        if number >= 20:
            log.forget(turns=[f"turn {number - 20}"])
        fold(log.records[partition.head.watermark + 1 :], partition).flush()
        most = max(most, len(events_in(store, "ada")))
    assert most <= 20 + 64 + 2
    assert Partition(store).digest() == log.folded().digest()
