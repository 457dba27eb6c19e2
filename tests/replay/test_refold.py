"""A rebuild is the fold of its log, however it is cut into reads, flushes, snapshots and settled windows, and dies."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.rebuild.rebuild import refold
from state.partition import Partition
from state.store.rocksdb import RocksStore
from state.store.store import MemoryStore, Store
from tests.support.logs import LogWriter, long_log, reader_of
from tests.support.strategies import Step, steps, written

few = st.sampled_from([1, 2, 5, 1 << 16])


@contextmanager
def bounded(flush: int, snapshot: int, pairs: int, waiting: int) -> Iterator[None]:
    """Let everything that waits until it is much wait until it is so many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("replay.rebuild.rebuild.FLUSH_EVERY", flush)
        patch.setattr("state.partition.REBUILT_STORED_AFTER", snapshot)
        patch.setattr("state.graph.counting.cooccurrence.QUEUED_PAIRS", 1)
        patch.setattr("state.graph.counting.cooccurrence.UNREAD_PAIRS", pairs)
        patch.setattr("state.graph.graph.WAITING", waiting)
        patch.setattr("state.graph.turn_counting.FEW", 2)
        yield


def rebuilt(log: LogWriter, store: Store, batch: int, end: int) -> Partition:
    return asyncio.run(refold(reader_of(log, batch=batch), 0, end, store))


@given(steps(40), st.integers(1, 9), st.integers(0, 40), few, few, few, few)
def test_any_split_into_batches_gives_the_same_state_as_a_fold_one_by_one(
    happened: list[Step], batch: int, died_at: int, flush: int, snapshot: int, pairs: int, waiting: int
) -> None:
    log, store = written(happened), MemoryStore()
    expected = log.folded()
    with bounded(flush, snapshot, pairs, waiting):
        rebuilt(log, store, batch, died_at)
        state = rebuilt(log, store, batch, log.next_offset)
        assert (state.position, state.digests()) == (expected.position, expected.digests())
        assert state.digest() == expected.digest()
        assert Partition(store).digest() == expected.digest()


@settings(max_examples=5)
@given(st.sampled_from([1, 100]), few)
def test_a_rebuilt_store_holds_what_a_live_one_does(snapshot: int, pairs: int) -> None:
    log = long_log()
    with bounded(50, snapshot, pairs, 1 << 12):
        store = MemoryStore()
        state = rebuilt(log, store, 7, log.next_offset)
    assert state.digest() == log.folded().digest()
    stored = len(list(store.scan(b"g", b"g")))
    assert stored == 3 if snapshot == 1 else 1 <= stored < 3


def test_a_store_that_was_rebuilt_is_one_that_a_worker_goes_on_with(tmp_path_factory: pytest.TempPathFactory) -> None:
    log, directory = long_log(), tmp_path_factory.mktemp("stores")
    rebuilt(log, RocksStore(directory / "0", bulk=True), 100, 300).close()
    state = Partition(RocksStore(directory / "0"))
    assert state.position.watermark == 299
    for offset, value in log.records[300:]:
        state.fold(offset, value)
    state.flush()
    assert state.digest() == log.folded().digest()
    state.close()
