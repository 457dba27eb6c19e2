"""What stops a partition's fold: records that it cannot read, a log that is not its own, a store that lost rows."""

from __future__ import annotations

import pytest

from state.errors import LogRewrittenError, StoreCorruptError, UnreadableEventError, WrongLayoutError
from state.events.events import decode
from state.log_position import Acceptance, LogPosition
from state.partition import Partition
from state.store import keys
from state.store.keys import POSITION
from state.store.store import MemoryStore
from tests.support.logs import LogWriter, fold, long_log
from tests.support.tables import ends_of, of_another_version


def without(store: MemoryStore, *prefixes: bytes) -> MemoryStore:
    """Return a store that lost the rows whose keys begin so."""
    poorer = MemoryStore()
    poorer.write({key: value for key, value in store.scan(b"", b"") if not key.startswith(prefixes)})
    return poorer


def stored(log: LogWriter) -> MemoryStore:
    store = MemoryStore()
    log.folded(store).flush()
    return store


UNREADABLE = {
    "not JSON": b"{",
    "empty": b"",
    "not UTF-8": b'{"v":1,"kind":"Claim","writer":"\xff","partitions":4,"nonce":"n"}',
    "a list": b"[]",
    "no kind": b'{"v":1}',
    "an unknown kind": b'{"v":1,"kind":"TurnForgotten","epoch":0,"claim":"","seq":1,"chain":""}',
    "a newer version": b'{"v":4,"kind":"Claim","writer":"w","partitions":4,"nonce":"n"}',
    "an unknown field": b'{"v":1,"kind":"Claim","writer":"w","partitions":4,"nonce":"n","region":"eu"}',
    "a number as text": b'{"v":1,"kind":"Claim","writer":"w","partitions":"4","nonce":"n"}',
    "not a number": b'{"v":1,"kind":"Ticked","epoch":0,"claim":"","seq":1,"chain":"","graph":"a","at":NaN}',
    "a half-life of no time": b'{"v":1,"kind":"GraphConfigured","epoch":0,"claim":"","seq":1,"chain":"","graph":"a",'
    b'"preset":"","settings":{"half_life":0}}',
    "no partitions": b'{"v":1,"kind":"Claim","writer":"w","partitions":0,"nonce":"n"}',
    "a claim without a nonce": b'{"v":1,"kind":"Claim","writer":"w","partitions":4}',
    "an event that names no claim": b'{"v":1,"kind":"TurnRejected","epoch":0,"seq":1,"chain":"","src":0,"reason":""}',
    "nested too deeply": b"[" * 100_000,
}


def test_without_what_is_wrong_these_examples_could_be_read() -> None:
    assert decode(b'{"v":1,"kind":"Claim","writer":"w","partitions":4,"nonce":"n"}')
    assert decode(b'{"v":1,"kind":"TurnRejected","epoch":0,"claim":"","seq":1,"chain":"","src":0,"reason":""}')
    assert decode(b'{"v":1,"kind":"Ticked","epoch":0,"claim":"","seq":1,"chain":"","graph":"a","at":0}')
    assert decode(
        b'{"v":1,"kind":"GraphConfigured","epoch":0,"claim":"","seq":1,"chain":"","graph":"a","preset":"",'
        b'"settings":{"half_life":1}}'
    )


@pytest.mark.parametrize("value", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_an_unreadable_event_stops_the_fold_and_nothing_moves(value: bytes) -> None:
    log = LogWriter()
    log.turn()
    partition = log.folded()
    before, digest = partition.position, partition.digest()
    for _ in range(2):
        with pytest.raises(UnreadableEventError, match="do not skip it"):
            partition.fold(log.next_offset, value)
    assert (partition.position, partition.digest()) == (before, digest)
    log.turn()
    assert partition.fold(*log.records[-1]).acceptance is Acceptance.ACCEPTED, "a version that can read it goes on"


def test_a_tombstone_stops_the_fold() -> None:
    with pytest.raises(UnreadableEventError):
        Partition(MemoryStore()).fold(0, None)  # type: ignore[arg-type]  # what a client reads from a tombstone


def test_a_log_that_was_rewritten_stops_the_fold_and_nothing_moves() -> None:
    ours, theirs = LogWriter(), LogWriter()
    for log, word in ((ours, "coffee"), (theirs, "tea")):
        log.turn(concepts=word)
        log.turn(concepts="milk")
    partition = fold(ours.records[:2])
    before = partition.position
    with pytest.raises(LogRewrittenError):
        partition.fold(*theirs.records[2])
    with pytest.raises(LogRewrittenError, match="was folded before"):
        partition.fold(*ours.records[1])
    assert partition.position == before
    assert partition.fold(*ours.records[2]).acceptance is Acceptance.ACCEPTED


def test_another_number_of_partitions_stops_the_fold_also_after_reopening() -> None:
    store = stored(LogWriter(partitions=4))
    other = LogWriter(partitions=8, claimed=False)
    other.append(b"what lies at offset 0")
    other.claim()
    with pytest.raises(WrongLayoutError, match="had 4 partitions and now has 8"):
        Partition(store).fold(*other.records[1])


# A store that lost rows


def test_lost_events_are_noticed_when_the_graph_is_read() -> None:
    log = LogWriter()
    for _ in range(3):
        log.turn()
    for ordinal in range(3):
        partition = Partition(without(stored(log), keys.event_key("ada", ordinal)))
        with pytest.raises(StoreCorruptError, match="graph ada should have 3 events and has 2"):
            partition.graph("ada")


def test_a_lost_count_is_noticed_before_the_graph_is_begun_anew() -> None:
    log = LogWriter()
    log.turn()
    partition = Partition(without(stored(log), keys.count_key("ada")))
    log.turn()
    with pytest.raises(StoreCorruptError, match="graph ada should have 0 events and has 1"):
        partition.fold(*log.records[-1])
    with pytest.raises(StoreCorruptError, match="0 graphs found, 1 expected"):
        partition.digest()


def test_a_lost_head_is_noticed_before_the_log_is_folded_twice() -> None:
    log = LogWriter()
    log.turn()
    with pytest.raises(StoreCorruptError, match="Remove this partition's store"):
        Partition(without(stored(log), POSITION))


def test_a_graph_that_vanished_altogether_is_noticed_when_all_are_read() -> None:
    log = LogWriter()
    log.turn(graph="ada")
    log.turn(graph="bob")
    rows = (keys.count_key("bob"), keys.event_prefix("bob"))
    with pytest.raises(StoreCorruptError, match="1 graphs found, 2 expected"):
        Partition(without(stored(log), *rows)).graph_ids()


def turns_only() -> LogWriter:
    log = LogWriter()
    for _ in range(100):
        log.turn()
    return log


def test_where_nothing_was_forgotten_the_tables_are_only_a_shortcut() -> None:
    log = turns_only()
    for lost in (b"g", b"i", b"t", keys.page_key("ada", 1, 1, 0)):
        assert Partition(without(stored(log), lost)).digest() == log.folded().digest()


def short_of_events() -> MemoryStore:
    """Return a store that deleted the first event of "ada", which nobody can take back."""
    log, store = LogWriter(), MemoryStore()
    log.configure(undo_events=0)
    partition = log.folded(store)
    for _ in range(3):
        for _ in range(64):
            log.turn()
        fold(log.records[partition.position.watermark + 1 :], partition).flush()
    assert store.get(keys.event_key("ada", 0)) is None
    return store


def test_lost_tables_whose_events_were_deleted_is_noticed() -> None:
    with pytest.raises(StoreCorruptError, match="graph ada should have 193 events and has 192"):
        Partition(without(short_of_events(), b"g")).digest()


def test_a_lost_count_of_a_graph_whose_first_event_was_deleted_is_noticed() -> None:
    log = LogWriter()
    log.configure(graph="ada")
    for _ in range(64):
        log.turn()
    partition = Partition(without(stored(log), keys.count_key("ada")))
    with pytest.raises(StoreCorruptError, match="graph ada should have 0 events and has 65"):
        partition.graph("ada")


def test_tables_of_another_layout_whose_events_were_deleted_are_damage() -> None:
    store = short_of_events()
    of_another_version(store, "ada")
    with pytest.raises(StoreCorruptError, match="rebuilt from the log"):
        Partition(store).graph("ada")


def test_a_manifest_that_cannot_be_read_whose_events_were_deleted_is_damage() -> None:
    store = short_of_events()
    store.write({keys.manifest_key("ada"): b"{"})
    with pytest.raises(StoreCorruptError, match="rebuilt from the log"):
        Partition(store).graph("ada")


def test_tables_of_another_layout_are_passed_over_and_replaced_while_all_events_are_there() -> None:
    log, store = turns_only(), MemoryStore()
    log.folded(store).flush()
    of_another_version(store, "ada")
    partition = Partition(store)
    assert partition.digest() == log.folded().digest()
    for _ in range(64):
        log.turn(graph="ada")
    fold(log.records[-64:], partition).flush()
    assert ends_of(store, "ada") == [164]
    assert Partition(store).digest() == log.folded().digest()


def test_a_lost_text_is_noticed_when_it_is_asked_for() -> None:
    log = long_log()
    whole = log.folded().graph("ada")
    assert whole is not None
    partition = Partition(without(stored(log), keys.event_key("ada", whole.passages.event[2])))
    graph = partition.graph("ada")
    assert graph is not None, "the snapshot does not need it"
    with pytest.raises(StoreCorruptError, match="the text of passage 2 of ada is missing"):
        partition.text_of(graph, 2)


def test_a_head_of_another_version_stops_at_once() -> None:
    store = MemoryStore()
    store.write({POSITION: LogPosition().to_bytes().replace(b'"seq"', b'"sequence"')})
    with pytest.raises(WrongLayoutError):
        Partition(store)
