"""The folds that a worker keeps: checked against the log, closed when taken away, fed by Faust's recovery."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from faust.types import TP
from msgspec.structs import replace

from emgas.errors import DataDirectoryInUseError, TransportError
from emgas.wire import Record
from replay.rebuild.rebuild import refold
from state.errors import DiskFullError, LogRewrittenError, StoreCorruptError, UnreadableEventError
from state.events.events import Claim, encode
from state.log_position import stamp
from state.partition import Partition
from state.store.keys import LAYOUT, LAYOUT_KEY, u64
from state.store.rocksdb import RocksStore
from state.store.store import MemoryStore
from streams.ingest.partition_writer import PartitionWriter
from streams.recovery.event_table import FoldStore
from streams.recovery.partition_folds import Partitions
from streams.settings import WorkerSettings
from tests.support.builders import turn_rejected
from tests.support.clocks import PATIENCE
from tests.support.fakes import MemoryLog
from tests.support.logged import capture_logs
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


Opening = Callable[[MemoryLog], Partitions]


@pytest.fixture
def partitions(tmp_path: Path) -> Iterator[Opening]:
    """Yield what makes the folds of a log, all in one directory; they are closed behind the test."""
    with ExitStack() as stack:

        def opening(log: MemoryLog) -> Partitions:
            contents = Partitions(WorkerSettings(data=tmp_path, broker=None), log)
            stack.callback(contents.close)
            return contents

        yield opening


async def following(contents: Partitions, log: MemoryLog, *held: int) -> Partitions:
    """Let `contents` hold partition 0, or those of `held`, and fold the whole log."""
    await contents.hold(set(held or (0,)))
    contents.fold(records(log))
    return contents


async def claimed(log: MemoryLog, worker: str = "another") -> PartitionWriter:
    """Claim the partition for a worker that folded what the log holds."""
    state = Partition(MemoryStore())
    state.fold_all((record.offset, record.value) for record in log.records[0])
    writer = PartitionWriter(0, state, log, partitions=PARTITIONS, worker=worker, timeout=60.0)
    await writer.claim()
    return writer


def store_in(directory: Path) -> Path:
    return WorkerSettings(data=directory, broker=None).store_of(0)


def records(log: MemoryLog, start: int = 0) -> list[tuple[int, int, bytes]]:
    return [(0, offset, value) for offset, value in log.values() if offset >= start]


async def test_what_recovery_hands_over_is_folded_and_kept(partitions: Opening) -> None:
    log, writer = a_log()
    contents = await following(partitions(log), log, 0, 1)
    assert contents.open[0].digest() == writer.folded().digest()
    contents.close()
    await contents.hold({0})
    assert contents.open[0].digest() == writer.folded().digest()


class SlowLog(MemoryLog):
    """Tells the bounds of a partition once those of all are asked for."""

    def __init__(self) -> None:
        super().__init__(PARTITIONS)
        self._requested: set[int] = set()
        self._all_requested = asyncio.Event()

    async def bounds(self, partition: int) -> tuple[int, int]:
        self._requested.add(partition)
        if len(self._requested) == PARTITIONS:
            self._all_requested.set()
        await self._all_requested.wait()
        return await super().bounds(partition)


async def test_partitions_are_opened_side_by_side_as_the_group_waits_for_all_of_them(partitions: Opening) -> None:
    contents = partitions(SlowLog())
    async with asyncio.timeout(PATIENCE):  # one after the other would never end
        await contents.hold(set(range(PARTITIONS)))
    assert set(contents.open) == set(range(PARTITIONS))


async def test_a_record_that_is_read_once_more_is_passed_over(partitions: Opening) -> None:
    log, writer = a_log()
    contents = partitions(log)
    await contents.hold({0})
    for start in (0, 3, 1):
        contents.fold(records(log, start))
    assert contents.open[0].digest() == writer.folded().digest()


async def test_what_lies_beyond_a_hole_in_what_recovery_hands_over_is_not_folded(partitions: Opening) -> None:
    log, writer = a_log(turns=6)
    contents = partitions(log)
    await contents.hold({0})
    contents.fold(records(log)[:2])
    with capture_logs() as logs:
        contents.fold(records(log, start=4))
        contents.fold(records(log, start=5))
    assert contents.open[0].position.watermark == 1
    assert [(line["event"], line["delivered"]) for line in logs] == [("recovery left records out", 4)]
    contents.fold(records(log, start=1))
    assert contents.open[0].digest() == writer.folded().digest(), "the hole was filled"


async def test_the_owner_of_a_partition_reads_from_the_log_what_recovery_left_out(partitions: Opening) -> None:
    log, writer = a_log(turns=6)
    contents = partitions(log)
    await contents.hold({0})
    contents.fold([record for record in records(log) if record[1] != 3])
    await PartitionWriter(0, contents.open[0], log, partitions=PARTITIONS, worker="me", timeout=60.0).claim()
    assert contents.open[0].position.seq == writer.seq
    assert contents.open[0].digest() == (await refold(log, 0, len(log.values()), MemoryStore())).digest()


async def test_what_comes_late_of_a_partition_that_was_taken_away_is_left_to_its_owner(partitions: Opening) -> None:
    log, _ = a_log()
    contents = partitions(log)
    await contents.hold({0, 1})
    await contents.hold({1})
    contents.fold(records(log))
    assert set(contents.open) == {1}


async def test_a_partition_that_stays_keeps_its_fold_and_one_that_goes_is_closed(partitions: Opening) -> None:
    log, _ = a_log()
    contents, other = partitions(log), partitions(log)
    await contents.hold({0, 1})
    stays = contents.open[0]
    await contents.hold({0, 2})
    assert contents.open[0] is stays
    await other.hold({1})
    with pytest.raises(DataDirectoryInUseError):
        await other.hold({0})
    contents.close()


async def test_an_event_that_cannot_be_folded_breaks_its_partition_alone_and_nothing_after_it_is_folded(
    partitions: Opening,
) -> None:
    log, _ = a_log()
    bad = log.put(b'{"v": 9, "kind": "Unheard"}')
    log.put(log.records[0][1].value)
    contents = partitions(log)
    log.records[1] = log.records[0][:bad]
    await contents.hold({0, 1})
    contents.fold([*records(log), *((1, offset, value) for _, offset, value in records(log)[:bad])])
    assert isinstance(contents.broken[0], UnreadableEventError)
    assert (0 in contents.open, contents.folded_to(0), contents.open[1].position.watermark) == (False, bad - 1, bad - 1)
    with pytest.raises(UnreadableEventError):
        await contents.reopen(0)
    assert (set(contents.broken), set(contents.open)) == ({0}, {1})


async def test_what_an_owner_folded_behind_the_claim_of_another_is_set_aside(
    tmp_path: Path, partitions: Opening
) -> None:
    """The log lost its end while the owner was frozen, and grew again by as much: its next event fits there."""
    log, _ = a_log()
    contents = await following(partitions(log), log)
    writer = PartitionWriter(0, contents.open[0], log, partitions=PARTITIONS, worker="frozen", timeout=60.0)
    await writer.claim()
    await writer.append([turn_rejected(src=3)])
    log.records[0].pop()
    log.put(encode(Claim(writer="another", partitions=PARTITIONS, nonce="its own")))
    await writer.append([turn_rejected(src=4)])
    await contents.hold({0})
    assert store_in(tmp_path).with_name("0.set-aside").is_dir()
    assert contents.open[0].position.watermark == -1


def lose_end(log: MemoryLog, kept: int, *, and_grow: bool) -> None:
    """Let the log lose what lies from offset `kept` on, and another worker claim the partition there."""
    lost = len(log.records[0]) - kept
    del log.records[0][kept:]
    for number in range(lost if and_grow else 0):
        log.put(encode(Claim(writer="another", partitions=PARTITIONS, nonce=f"its {number}.")))


async def fold_of(log: MemoryLog) -> str:
    return (await refold(log, 0, len(log.values()), MemoryStore())).digest()


@pytest.mark.parametrize("and_grow", [False, True], ids=["shorter", "grown again"])
async def test_a_standby_notices_that_its_log_lost_what_it_folded_and_folds_it_again(
    tmp_path: Path, partitions: Opening, *, and_grow: bool
) -> None:
    log, _ = a_log(turns=6)
    contents = await following(partitions(log), log, 0, 1)
    beside = contents.open[1]
    lose_end(log, 3, and_grow=and_grow)
    for _ in range(2):
        await contents.mend({0, 1})
    assert contents.open[0].digest() == await fold_of(log)
    assert store_in(tmp_path).with_name("0.set-aside").is_dir()
    assert contents.open[1] is beside, "it lost nothing"
    log.put(encode(Claim(writer="another", partitions=PARTITIONS, nonce="the next")))
    contents.fold(records(log))
    assert contents.open[0].digest() == await fold_of(log), "it goes on from there"


async def test_a_standby_that_folded_on_behind_what_its_log_lost_is_folded_again(partitions: Opening) -> None:
    log, _ = a_log(turns=6)
    contents = await following(partitions(log), log)
    await contents.mend({0})
    lose_end(log, 3, and_grow=True)
    writer = await claimed(log)
    await writer.append([turn_rejected(src=6)])
    contents.fold(records(log))
    for _ in range(2):
        await contents.mend({0})
    assert contents.open[0].digest() == await fold_of(log)


async def test_a_standby_that_folded_much_behind_what_its_log_lost_is_folded_again(partitions: Opening) -> None:
    """Seed 1334 of the simulation: a hundred records later, the claim that was not folded lay too far back."""
    log, _ = a_log(turns=6)
    contents = await following(partitions(log), log)
    del log.records[0][4:]
    writer = await claimed(log)
    for source in range(10, 210):
        await writer.append([turn_rejected(src=source)])
    contents.fold(records(log))
    for _ in range(2):
        await contents.mend({0})
    assert contents.open[0].digest() == await fold_of(log)


async def test_a_writer_whose_claim_the_log_lost_condemns_no_standby(partitions: Opening) -> None:
    log, _ = a_log(turns=6)
    contents = partitions(log)
    await contents.hold({0})
    zombie = await claimed(log, "lost")
    late = encode(stamp(turn_rejected(src=10), zombie.state.position))
    del log.records[0][-2:]
    writer = await claimed(log)
    await writer.append([turn_rejected(src=6)])
    await contents.reopen(0)
    stays = contents.open[0]
    log.put(late)
    contents.fold(records(log))
    assert stays.is_doubtful, "so its log is read again"
    for _ in range(2):
        await contents.mend({0})
    assert contents.open[0] is stays


async def test_a_store_that_went_on_behind_what_its_log_lost_is_folded_again_when_it_is_opened(
    tmp_path: Path, partitions: Opening
) -> None:
    """Seed 256 of the simulation: a reader had kept a claim behind the lost record, so the log looked like its own."""
    log, _ = a_log(turns=6)
    log.put(encode(Claim(writer="another", partitions=PARTITIONS, nonce="lost")))
    contents = await following(partitions(log), log)
    lost = contents.open[0].position.watermark
    lose_end(log, lost, and_grow=True)
    writer = await claimed(log)
    contents.fold(records(log, lost + 1))
    await writer.append([turn_rejected(src=6)])
    await contents.reopen(0)
    assert contents.open[0].digest() == await fold_of(log)
    assert store_in(tmp_path).with_name("0.set-aside").is_dir()


async def test_a_log_that_nobody_can_fold_is_tried_from_its_beginning_once(tmp_path: Path, partitions: Opening) -> None:
    log, writer = a_log(turns=6)
    contents = await following(partitions(log), log)
    log.put(encode(replace(writer.turn(id="t9"), chain=a_log(turns=1)[1].link["chain"])))
    for _ in range(3):
        with pytest.raises(LogRewrittenError, match="follows another history"):
            await contents.reopen(0)
    assert len(list(tmp_path.rglob("0.set-aside*"))) == 1, "else each try would fold all of the log again"


async def test_an_end_that_is_reported_too_early_once_sets_nothing_aside(partitions: Opening) -> None:
    """A new leader may report an old end for a moment (KIP-207)."""
    log, _ = a_log(turns=6)
    contents = await following(partitions(log), log)
    stays, whole = contents.open[0], list(log.records[0])
    for _ in range(2):
        del log.records[0][3:]
        await contents.mend({0})
        log.records[0][:] = whole
        await contents.mend({0})
    assert contents.open[0] is stays


async def test_an_assignment_does_not_wait_until_a_standby_is_folded_again(partitions: Opening) -> None:
    class Hanging(MemoryLog):
        hangs = False
        reading = asyncio.Event()

        async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
            if self.hangs and start == 0 and end > 1:
                self.reading.set()
                await asyncio.Event().wait()
            async for batch in super().read(partition, start, end):
                yield batch

    whole, _ = a_log(turns=200)
    log = Hanging(PARTITIONS)
    log.records = whole.records
    contents = await following(partitions(log), log)
    lose_end(log, 150, and_grow=False)
    await contents.mend({0})
    log.hangs = True
    mending = asyncio.create_task(contents.mend({0}))
    async with asyncio.timeout(PATIENCE):
        await log.reading.wait()
        await contents.hold({0, 1})
        await mending
    log.hangs = False
    contents.fold(records(log))
    assert contents.open[0].digest() == await fold_of(log)


async def test_a_store_ahead_of_the_log_is_set_aside_and_folded_anew(tmp_path: Path, partitions: Opening) -> None:
    log, writer = a_log()
    contents = await following(partitions(log), log)
    contents.close()
    del log.records[0][2:]
    await contents.hold({0})
    assert contents.open[0].position.watermark == -1
    contents.close()
    store = store_in(tmp_path)
    aside = RocksStore(store.with_name("0.set-aside"))
    assert Partition(aside).digest() == writer.folded().digest(), "it may be the last copy"
    aside.close()


async def test_a_store_of_another_log_is_folded_anew(partitions: Opening) -> None:
    log, _ = a_log()
    contents = await following(partitions(log), log)
    contents.close()
    last = log.records[0][-1]
    log.records[0][-1] = last._replace(value=last.value.replace(b"t2", b"x2"))
    await contents.hold({0})
    assert contents.open[0].position.watermark == -1


async def test_a_fold_that_stays_open_is_folded_anew_once_the_log_lost_its_end_and_grew_again(
    partitions: Opening,
) -> None:
    """Found by the simulation: who claimed with the old fold left a log that nobody else could fold any more."""
    log, _ = a_log()
    contents = await following(partitions(log), log)
    del log.records[0][2:]
    for value in ("another leader", "took these", "instead"):
        log.put(value.encode())
    await contents.hold({0})
    assert contents.open[0].position.watermark == -1


async def test_a_log_without_its_beginning_is_an_error_and_the_store_is_closed_again(
    tmp_path: Path, partitions: Opening
) -> None:
    log, _ = a_log()
    del log.records[0][:2]
    contents = partitions(log)
    await contents.hold({0, 1})
    assert isinstance(contents.broken[0], LogRewrittenError)
    assert "begins at offset 2, but the state ends at -1: events are missing" in str(contents.broken[0])
    assert set(contents.open) == {1}
    RocksStore(store_in(tmp_path)).close()


async def test_a_log_without_its_beginning_is_no_matter_for_a_store_that_reaches_further(partitions: Opening) -> None:
    log, writer = a_log()
    contents = await following(partitions(log), log)
    contents.close()
    del log.records[0][:2]
    await contents.hold({0})
    assert contents.open[0].digest() == writer.folded().digest()


async def test_a_log_that_cannot_be_asked_is_an_error_and_the_store_is_closed_again(
    tmp_path: Path, partitions: Opening
) -> None:
    class Gone(MemoryLog):
        async def bounds(self, partition: int) -> tuple[int, int]:
            raise TransportError("the broker is gone")

    contents = partitions(Gone(PARTITIONS))
    with pytest.raises(TransportError):
        await contents.hold({0})
    contents.close()
    RocksStore(store_in(tmp_path)).close()


async def test_an_empty_fold_stands_before_the_first_record_whatever_recovery_knew_before(partitions: Opening) -> None:
    log, _ = a_log()
    contents = partitions(log)
    await contents.hold({0})
    store = FoldStore(SimpleNamespace(conf=None), SimpleNamespace(name="memory"), contents, lambda error: None)  # type: ignore[arg-type]
    assert store.persisted_offset(TP("events", 0)) == -1
    assert store.persisted_offset(TP("events", 1)) is None
    contents.fold(records(log))
    assert store.persisted_offset(TP("events", 0)) == 3


def damaged(store: Path, what: str) -> None:
    """Damage the file of a closed store that `what` names: its bytes, or all of it."""
    if what == "table":
        for file in store.glob("*.sst"):
            content = bytearray(file.read_bytes())
            content[len(content) // 2] ^= 0xFF
            file.write_bytes(content)
        return
    (file,) = store.glob({"CURRENT": "CURRENT", "manifest": "MANIFEST-*", "no manifest": "MANIFEST-*"}[what])
    if what == "no manifest":
        file.unlink()
    else:
        file.write_bytes(b"damaged")


@pytest.mark.parametrize("what", ["table", "CURRENT", "manifest", "no manifest"])
async def test_a_damaged_store_is_set_aside_and_its_partition_folded_anew(
    tmp_path: Path, partitions: Opening, what: str
) -> None:
    log, writer = a_log()
    contents = await following(partitions(log), log, 0, 1)
    contents.close()
    store = store_in(tmp_path)
    damaged(store, what)
    await contents.hold({0, 1})
    assert (contents.broken, contents.open[0].position.watermark) == ({}, -1)
    await contents.reopen(0)
    assert contents.open[0].digest() == writer.folded().digest()
    assert store.with_name("0.damaged").is_dir()


async def test_a_store_of_an_older_layout_is_set_aside_and_its_partition_folded_anew(
    tmp_path: Path, partitions: Opening
) -> None:
    log, writer = a_log()
    contents = await following(partitions(log), log)
    contents.close()
    path = store_in(tmp_path)
    store = RocksStore(path)
    store.write({LAYOUT_KEY: u64(LAYOUT - 1)})
    store.close()
    await contents.hold({0})
    assert (contents.broken, contents.open[0].position.watermark) == ({}, -1)
    await contents.reopen(0)
    assert contents.open[0].digest() == writer.folded().digest()
    assert path.with_name("0.old-layout").is_dir()


async def test_a_store_that_turns_out_to_be_damaged_is_set_aside_and_folded_to_the_end_of_the_log(
    tmp_path: Path,
    partitions: Opening,
) -> None:
    log, writer = a_log()
    contents = await following(partitions(log), log)
    contents.condemn(0, StoreCorruptError("a block is damaged"))
    await contents.reopen(0)
    assert (contents.broken, contents.open[0].digest()) == ({}, writer.folded().digest())
    assert store_in(tmp_path).with_name("0.damaged").is_dir()


async def test_what_was_folded_of_a_condemned_partition_and_not_flushed_is_not_kept(partitions: Opening) -> None:
    log, writer = a_log()
    contents = partitions(log)
    await contents.hold({0})
    contents.fold(records(log)[:2])
    contents.open[0].fold(2, log.values()[2][1])
    contents.condemn(0, LogRewrittenError("half-way through"))
    contents.close()
    await contents.hold({0})
    assert contents.open[0].position.watermark == 1
    await contents.reopen(0)
    assert contents.open[0].digest() == writer.folded().digest()


async def test_on_a_full_disk_all_stores_are_closed_and_one_sentence_says_so(
    partitions: Opening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = partitions(a_log()[0])
    await contents.hold({0, 1, 2})

    def refuse(_: Partition) -> None:
        raise DiskFullError("the disk is full")

    monkeypatch.setattr(Partition, "flush", refuse)
    with capture_logs() as logs:
        contents.close()
    assert [line["error"] for line in logs] == ["the disk is full"]
    for partition in range(PARTITIONS):
        RocksStore(WorkerSettings(data=tmp_path, broker=None).store_of(partition)).close()
