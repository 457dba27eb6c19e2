"""What a store knows of a graph's past: as of every moment that it reaches, just what the whole log says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emgas.wire import Record
from replay.as_of.graph_as_of import AsOf, reaches
from replay.as_of.history import UNKNOWN, History
from replay.as_of.store_history import StoreHistory, store_history
from state import partition as partitions
from state.partition import Partition
from state.store import keys
from state.store.keys import POSITION
from state.store.rocksdb import RocksStore
from state.store.store import MemoryStore, Store
from tests.support.builders import graph_configured
from tests.support.clocks import DAY, NOON
from tests.support.fakes import ListReader
from tests.support.interrupted import interrupted
from tests.support.lives import long_life
from tests.support.living import live
from tests.support.logs import LogWriter
from tests.support.strategies import GRAPHS, Step, steps_taken_back, written
from tests.support.tables import of_another_version


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a store keep tables of every few events, so that bases come soon."""
    monkeypatch.setattr(partitions, "STORED_AFTER", 2)


class BehindReader(ListReader):
    """Remembers from where on it was read."""

    def __init__(self, log: LogWriter) -> None:
        super().__init__([[Record(offset, 0, None, value) for offset, value in log.records]])
        self.starts: list[int] = []

    def read(self, partition: int, start: int, end: int):  # type: ignore[no-untyped-def]
        self.starts.append(start)
        return super().read(partition, start, end)


def stored(log: LogWriter, store: Store, end: int, every: int = 3) -> Store:
    """Let a worker fold the first `end` records into `store`, flushing now and then."""
    partition = Partition(store)
    for number, record in enumerate(log.records[:end]):
        partition.fold(*record)
        if number % every == 0:
            partition.flush()
    partition.flush()
    return store


async def whole(log: LogWriter, name: str) -> History:
    result = History(name)
    await result.read_on(BehindReader(log), 0)
    return result


def digest(as_of: AsOf) -> str:
    graph = as_of.finished()
    return "nothing" if graph is None else graph.digest()


def texts(as_of: AsOf) -> dict[str, str]:
    """Return of each turn in the graph the id of the event that its text is taken from."""
    graph = as_of.graph
    graph.compact()
    return {turn: as_of.text_of(graph, number).id for turn, number in graph.passages.numbers.items()}


def check(result: StoreHistory, full: History, at: int) -> bool:
    """Check that what is kept tells what the log does, from wherever one starts; return whether it reaches there."""
    if not reaches(result.history, at):
        return False
    expected = AsOf(full, at)
    report = digest(expected)
    begun = [AsOf(result.history, at)]
    begun += [AsOf(result.history, at, each) for each in result.folds if each[0] <= begun[0].counted.prefix]
    for as_of in begun:
        assert digest(as_of) == report
        assert texts(as_of) == texts(expected) == {turn: turn for turn in as_of.graph.passages.numbers}
    return True


places = st.sets(st.integers(0, 40), max_size=20)


@settings(max_examples=200)
@given(steps_taken_back(), places, st.integers(0, 40), st.lists(st.integers(-450, 450), max_size=4))
async def test_as_of_whatever_moment_it_reaches_a_store_tells_what_the_log_does(
    happened: list[Step], flushes: set[int], left: int, days: list[int]
) -> None:
    log, store = written(happened), MemoryStore()
    behind = LogWriter(claimed=False)
    behind.records = log.records[: len(log.records) - left]
    interrupted(behind, lambda: store, flushes, set(), 2).flush()
    for name in GRAPHS:
        full, result = await whole(log, name), store_history(store, name)
        if result is not None:
            reader = BehindReader(log)
            await result.history.read_on(reader, 0)
            assert result.history.read == len(full.every)
            fresh = [] if result.history.takebacks else result.folds
            for day in days:
                check(StoreHistory(result.history, fresh), full, NOON + day * DAY)


@pytest.mark.parametrize("seed", range(4))
async def test_of_a_long_life_the_last_moments_are_told_by_the_store_alone(seed: int, tmp_path: Path) -> None:
    _, happened = long_life(seed)
    events = live(happened, [graph_configured(preset="forgetful", undo_events=20)]).events
    log = LogWriter()
    for event in events:
        log.keep(event)
    store = RocksStore(tmp_path / "store")
    stored(log, store, len(log.records))
    result, full = store_history(store, "ada"), await whole(log, "ada")
    store.close()
    assert result is not None
    assert result.history.base is not None
    assert result.folds
    times = [event.at for event in events if hasattr(event, "at")]
    latest = max(times)
    assert check(result, full, latest)
    assert not check(result, full, min(times)), "that lies in the base"
    seeded = random.Random(seed)
    report = [check(result, full, seeded.randint(result.history.base.clock, latest + 90 * DAY)) for _ in range(12)]
    assert any(report)


async def test_the_log_is_read_only_behind_the_store() -> None:
    log = LogWriter()
    for number in range(9):
        log.turn(at=NOON + number)
    result, reader = store_history(stored(log, MemoryStore(), 6), "ada"), BehindReader(log)
    assert result is not None
    await result.history.read_on(reader, 0)
    assert reader.starts == [6]
    assert (result.history.read, result.history.watermark) == (9, 9)
    assert result.history.offsets.tolist() == [UNKNOWN] * 5 + [6, 7, 8, 9]


def damaged() -> Iterator[tuple[str, dict[bytes, bytes | None]]]:
    key = keys.event_key("ada", 18)
    yield "no head", {POSITION: None}
    yield "no such graph", {keys.count_key("ada"): None}
    yield "a row is missing", {key: None}
    yield "a base that is not there", {keys.index_key("ada", 1): None}
    yield "no tables", {keys.manifest_key("ada"): None}


@pytest.mark.parametrize("changes", [changes for _, changes in damaged()], ids=[name for name, _ in damaged()])
def test_what_a_store_does_not_tell_is_for_the_log(changes: dict[bytes, bytes | None]) -> None:
    log = LogWriter()
    log.configure(undo_events=3)
    for number in range(20):
        log.turn(at=NOON + number)
    store = stored(log, MemoryStore(), 22)
    assert store_history(store, "ada") is not None
    store.write(changes)
    assert store_history(store, "ada") is None


def test_tables_of_another_version_are_passed_over() -> None:
    log = LogWriter()
    for number in range(20):
        log.turn(at=NOON + number)
    store = stored(log, MemoryStore(), 22)
    of_another_version(store, "ada", last=1)
    result = store_history(store, "ada")
    assert result is not None
    assert result.folds == []


async def test_after_an_undo_no_snapshot_is_started_from() -> None:
    log = LogWriter()
    for number in range(20):
        log.turn(at=NOON + number)
    log.undo(first=18, last=18)
    log.turn(id="after", at=NOON + 30)
    result = store_history(stored(log, MemoryStore(), 23), "ada")
    assert result is not None
    assert result.folds == []
    assert check(result, await whole(log, "ada"), NOON + DAY)
