"""The folds that a worker keeps: checked against the log, closed when taken away, fed by Faust's recovery."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from faust.types import TP
from structlog.testing import capture_logs

from emgas.errors import DataDirectoryInUseError, TransportError
from replay.rebuild.rebuild import refold
from state.errors import LogRewrittenError, UnreadableEventError
from state.partition import Partition
from state.store.rocksdb import RocksStore
from state.store.store import MemoryStore
from streams.ingest.partition_writer import PartitionWriter
from streams.recovery.event_table import FoldStore, Partitions
from streams.settings import Settings
from tests.support.fakes import MemoryLog
from tests.support.logs import LogWriter

PARTITIONS = 3


def a_log(turns: int = 3) -> tuple[MemoryLog, LogWriter]:
    """Return a log whose partition 0 holds a claim and `turns` turns."""
    writer, log = LogWriter(partitions=PARTITIONS), MemoryLog(PARTITIONS)
    for number in range(turns):
        writer.turn(id=f"t{number}")
    for _, value in writer.records:
        log.put(value)
    return log, writer


def partitions(tmp_path: Path, log: MemoryLog) -> Partitions:
    return Partitions(Settings(data=tmp_path, broker=None), log)


def records(log: MemoryLog, start: int = 0) -> list[tuple[int, int, bytes]]:
    return [(0, offset, value) for offset, value in log.values() if offset >= start]


async def test_what_recovery_hands_over_is_folded_and_kept(tmp_path: Path) -> None:
    log, writer = a_log()
    held = partitions(tmp_path, log)
    await held.hold({0, 1})
    held.fold(records(log))
    assert held.open[0].digest() == writer.folded().digest()
    held.close()
    await held.hold({0})
    assert held.open[0].digest() == writer.folded().digest()
    held.close()


async def test_a_record_that_is_read_once_more_is_passed_over(tmp_path: Path) -> None:
    log, writer = a_log()
    held = partitions(tmp_path, log)
    await held.hold({0})
    for start in (0, 3, 1):
        held.fold(records(log, start))
    assert held.open[0].digest() == writer.folded().digest()
    held.close()


async def test_what_lies_beyond_a_hole_in_what_recovery_hands_over_is_not_folded(tmp_path: Path) -> None:
    log, writer = a_log(turns=6)
    held = partitions(tmp_path, log)
    await held.hold({0})
    held.fold(records(log)[:2])
    with capture_logs() as said:
        held.fold(records(log, start=4))
        held.fold(records(log, start=5))
    assert held.open[0].position.watermark == 1
    assert [(line["event"], line["delivered"]) for line in said] == [("recovery left records out", 4)]
    held.fold(records(log, start=1))
    assert held.open[0].digest() == writer.folded().digest(), "the hole was filled"
    held.close()


async def test_the_owner_of_a_partition_reads_from_the_log_what_recovery_left_out(tmp_path: Path) -> None:
    log, writer = a_log(turns=6)
    held = partitions(tmp_path, log)
    await held.hold({0})
    held.fold([record for record in records(log) if record[1] != 3])
    await PartitionWriter(0, held.open[0], log, partitions=PARTITIONS, worker="me", timeout=1.0).claim()
    assert held.open[0].position.seq == writer.seq
    assert held.open[0].digest() == (await refold(log, 0, len(log.values()), MemoryStore())).digest()
    held.close()


async def test_what_comes_late_of_a_partition_that_was_taken_away_is_left_to_its_owner(tmp_path: Path) -> None:
    log, _ = a_log()
    held = partitions(tmp_path, log)
    await held.hold({0, 1})
    await held.hold({1})
    held.fold(records(log))
    assert set(held.open) == {1}
    held.close()


async def test_a_partition_that_stays_keeps_its_fold_and_one_that_goes_is_closed(tmp_path: Path) -> None:
    log, _ = a_log()
    held, other = partitions(tmp_path, log), partitions(tmp_path, log)
    await held.hold({0, 1})
    stays = held.open[0]
    await held.hold({0, 2})
    assert held.open[0] is stays
    await other.hold({1})
    with pytest.raises(DataDirectoryInUseError):
        await other.hold({0})
    held.close()
    other.close()


async def test_an_event_that_cannot_be_folded_is_an_error_and_nothing_after_it_is_folded(tmp_path: Path) -> None:
    log, _ = a_log()
    bad = log.put(b'{"v": 9, "kind": "Unheard"}')
    log.put(log.records[0][1].value)
    held = partitions(tmp_path, log)
    await held.hold({0})
    with pytest.raises(UnreadableEventError):
        held.fold(records(log))
    assert held.open[0].position.watermark == bad - 1
    held.close()


async def test_a_store_ahead_of_the_log_is_set_aside_and_folded_anew(tmp_path: Path) -> None:
    log, writer = a_log()
    held = partitions(tmp_path, log)
    await held.hold({0})
    held.fold(records(log))
    held.close()
    del log.records[0][2:]
    await held.hold({0})
    assert held.open[0].position.watermark == -1
    held.close()
    store = Settings(data=tmp_path, broker=None).store_of(0)
    aside = RocksStore(store.with_name("0.set-aside"))
    assert Partition(aside).digest() == writer.folded().digest(), "it may be the last copy"
    aside.close()


async def test_a_store_of_another_log_is_folded_anew(tmp_path: Path) -> None:
    log, _ = a_log()
    held = partitions(tmp_path, log)
    await held.hold({0})
    held.fold(records(log))
    held.close()
    last = log.records[0][-1]
    log.records[0][-1] = last._replace(value=last.value.replace(b"t2", b"x2"))
    await held.hold({0})
    assert held.open[0].position.watermark == -1
    held.close()


async def test_a_log_without_its_beginning_is_an_error_and_the_store_is_closed_again(tmp_path: Path) -> None:
    log, _ = a_log()
    del log.records[0][:2]
    held = partitions(tmp_path, log)
    with pytest.raises(LogRewrittenError, match="begins at offset 2, but the state ends at -1: events are missing"):
        await held.hold({0})
    held.close()
    RocksStore(Settings(data=tmp_path, broker=None).store_of(0)).close()


async def test_a_log_without_its_beginning_is_no_matter_for_a_store_that_reaches_further(tmp_path: Path) -> None:
    log, writer = a_log()
    held = partitions(tmp_path, log)
    await held.hold({0})
    held.fold(records(log))
    held.close()
    del log.records[0][:2]
    await held.hold({0})
    assert held.open[0].digest() == writer.folded().digest()
    held.close()


async def test_a_log_that_cannot_be_asked_is_an_error_and_the_store_is_closed_again(tmp_path: Path) -> None:
    class Gone(MemoryLog):
        async def bounds(self, partition: int) -> tuple[int, int]:
            raise TransportError("the broker is gone")

    held = partitions(tmp_path, Gone(PARTITIONS))
    with pytest.raises(TransportError):
        await held.hold({0})
    held.close()
    RocksStore(Settings(data=tmp_path, broker=None).store_of(0)).close()


async def test_an_empty_fold_stands_before_the_first_record_whatever_recovery_knew_before(tmp_path: Path) -> None:
    log, _ = a_log()
    held = partitions(tmp_path, log)
    await held.hold({0})
    store = FoldStore(SimpleNamespace(conf=None), SimpleNamespace(name="memory"), held, lambda error: None)  # type: ignore[arg-type]
    assert store.persisted_offset(TP("events", 0)) == -1
    assert store.persisted_offset(TP("events", 1)) is None
    held.fold(records(log))
    assert store.persisted_offset(TP("events", 0)) == 3
    held.close()
