"""Taking snapshots beside the work: one that is given up half-way spoils none that comes after it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from emgas.wire import Record
from replay.backup.manifest import Manifest
from replay.backup.snapshots import Snapshots
from state.partition import Partition
from state.store.rocksdb import RocksStore
from streams.query.answers.snapshot_taker import SnapshotTaker
from streams.settings import WorkerSettings
from tests.support.clocks import NOON, PATIENCE
from tests.support.fakes import ListReader
from tests.support.logs import LogWriter, fold


class Folds:
    """One partition, and where checkpoints of it were wanted."""

    def __init__(self, path: Path, log: LogWriter) -> None:
        self.store = RocksStore(path)
        self.reader = ListReader([[Record(offset, 0, None, value) for offset, value in log.records]])
        self.places: list[Path] = []
        fold(log.records, Partition(self.store)).flush()

    def checkpoint(self, partition: int, path: Path) -> None:
        self.places.append(path)
        self.store.checkpoint(path)


@pytest.fixture
async def taking(tmp_path: Path) -> AsyncIterator[tuple[SnapshotTaker, Folds, Snapshots]]:
    log = LogWriter(partitions=1)
    log.turn(at=NOON)
    folds = Folds(tmp_path / "store", log)
    yield a_taker(tmp_path, folds), folds, Snapshots(str(tmp_path / "snapshots"), "emgas")
    folds.store.close()


def a_taker(home: Path, folds: Folds) -> SnapshotTaker:
    """Make what a worker takes snapshots with, as one that has just started."""
    settings = WorkerSettings(data=home, broker=None, snapshots=str(home / "snapshots"))
    return SnapshotTaker(settings, folds, folds.reader, lambda: NOON)


async def test_a_snapshot_that_is_given_up_half_way_leaves_the_next_one_alone(
    taking: tuple[SnapshotTaker, Folds, Snapshots], monkeypatch: pytest.MonkeyPatch
) -> None:
    taker, folds, snapshots = taking
    write, begun, go_on, ended = Snapshots.write, asyncio.Event(), threading.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(self: Snapshots, manifest: Manifest, checkpoint: Path) -> None:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(PATIENCE)
        try:
            write(self, manifest, checkpoint)
        finally:
            ended.set()

    monkeypatch.setattr(Snapshots, "write", slow)
    given_up = asyncio.create_task(taker.take(0))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    given_up.cancel()
    monkeypatch.setattr(Snapshots, "write", write)
    taken = await taker.take(0)
    go_on.set()
    assert await asyncio.to_thread(ended.wait, PATIENCE)
    assert snapshots.names(0) == [taken.name]
    snapshots.fetch(snapshots.manifest(0, taken.name), folds.places[0].parent.parent / "fetched")
    assert len(set(folds.places)) == 2
    assert not any(place.exists() for place in folds.places)


async def test_what_a_killed_worker_left_is_removed(
    taking: tuple[SnapshotTaker, Folds, Snapshots], tmp_path: Path
) -> None:
    taker, folds, _ = taking
    await taker.take(0)
    left = folds.places[0].parent.parent / "left"
    left.mkdir()
    await taker.take(0)
    assert left.exists(), "only the first one looks"
    await a_taker(tmp_path, folds).take(0)
    assert not left.exists()
