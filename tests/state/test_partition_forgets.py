"""What a partition deletes: snapshots are due by what is kept, and take with them what nobody will read again."""

from __future__ import annotations

from state.partition import Partition
from state.store import keys
from state.store.store import Store
from tests.support.logs import LogWriter, fold
from tests.support.fakes import WatchedStore
from tests.support.stores import Opener


def snapshots_taken(log: LogWriter) -> list[int]:
    """Return after how many events of "ada" a snapshot was taken, if every event is flushed."""
    store = WatchedStore()
    partition = Partition(store)
    for record in log.records:
        fold([record], partition).flush()
    key = keys.snapshot_key("ada")
    return [keys.of_u64(batch[key] or b"") for batch in store.batches if key in batch]


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
    prefix = keys.event_prefix(graph)
    return [keys.of_u64(key[len(prefix) :]) for key, _ in store.scan(prefix, prefix)]


def test_a_snapshot_deletes_the_events_that_nobody_will_read_again_once_another_follows(open_store: Opener) -> None:
    log, store = LogWriter(), open_store()
    log.configure(graph="ada", undo_events=0)
    for number in range(80):
        log.turn(id=f"turn {number}")
    log.recall(concepts="coffee")
    log.decay(turns=["turn 3", "turn 5"])
    log.turn(id="turn 7", text="the same id again")
    log.folded(store).flush()
    assert events_in(store, "ada") == [*range(84)]
    for number in range(64):
        log.turn(id=f"later {number}")
    partition = fold(log.records[-64:], Partition(store))
    partition.flush()
    kept = [number + 1 for number in range(80) if number not in (3, 5)]
    assert events_in(store, "ada") == [*kept, *range(84, 148)]
    graph = partition.graph("ada")
    assert graph is not None
    assert [graph.passages.event[number] for number in range(78)] == kept
    assert [partition.text_of(graph, number).id for number in range(78)] == [f"turn {number - 1}" for number in kept]
    partition.close()
    again = Partition(open_store())
    assert again.digest() == log.folded().digest()
    again.close()
