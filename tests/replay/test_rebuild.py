"""Rebuilding: what a plan folds, that it goes on after kill -9, and that it says where a log is damaged."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from emgas.wire import ProducerRecord
from replay.as_of.graph_as_of import graph_as_of
from replay.as_of.history import histories
from replay.rebuild.plan import NotThisRebuildError, Plan, planned
from replay.rebuild.rebuild import ObservedLog, rebuild, refold, refused_from
from state.errors import LogRewrittenError, UnreadableEventError
from state.partition import Partition
from state.store.rocksdb import RocksStore
from state.store.store import MemoryStore
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.topic_plan import FOR_EVER, TopicPlan
from tests.support.cli import ROOT
from tests.support.clocks import NOON
from tests.support.logs import LogWriter, long_log, reader_of

TOPIC = "emgas.events"


def whole(log: LogWriter, **changes: object) -> Plan:
    return replace(Plan("emgas", (log.next_offset,)), **changes)  # type: ignore[arg-type]


# what is folded


async def test_a_rebuild_to_the_end_is_the_fold() -> None:
    log = long_log()
    rebuilt = await rebuild(reader_of(log), 0, whole(log), MemoryStore())
    assert rebuilt.digest == log.folded().digest()


async def test_a_rebuild_to_an_offset_is_the_fold_of_what_lies_before_it() -> None:
    log = long_log()
    plan = await planned(reader_of(log), "emgas", 1, None, at=None, offset=100)
    shorter = LogWriter(claimed=False)
    shorter.records = log.records[:100]
    assert plan.ends == (100,)
    assert (await rebuild(reader_of(log), 0, plan, MemoryStore())).digest == shorter.folded().digest()


async def test_a_rebuild_of_one_graph_holds_that_graph_and_its_texts() -> None:
    log, store = long_log(), MemoryStore()
    rebuilt = await rebuild(reader_of(log), 0, whole(log, graph="bob"), store)
    full = log.folded()
    assert rebuilt.graphs == {"bob": full.digests()["bob"]}
    check_texts(store, full)


@pytest.mark.parametrize("graph", [None, "ada"])
async def test_a_rebuild_as_of_a_time_holds_the_graphs_as_they_were(graph: str | None) -> None:
    log, at, store = long_log(), NOON + 200 * 10**7, MemoryStore()
    rebuilt = await rebuild(reader_of(log), 0, whole(log, at=at, graph=graph), store)
    histories_read = await histories(reader_of(log), 0)
    expected = {name: graph_as_of(history, at) for name, history in histories_read.items() if graph in (None, name)}
    assert rebuilt.graphs == {
        name: expected_graph.digest() for name, expected_graph in expected.items() if expected_graph is not None
    }
    check_texts(store, log.folded())


async def test_a_rebuild_as_of_a_time_before_everything_holds_nothing() -> None:
    log = long_log()
    assert (await rebuild(reader_of(log), 0, whole(log, at=NOON - 10**10), MemoryStore())).graphs == {}


async def test_a_rebuilt_partial_store_is_not_folded_twice() -> None:
    log, store = long_log(), MemoryStore()
    first = await rebuild(reader_of(log), 0, whole(log, graph="bob"), store)
    assert await rebuild(reader_of(LogWriter()), 0, whole(log, graph="bob"), store) == first


def check_texts(store: MemoryStore, full: Partition) -> None:
    """Every turn of a partial store has the text that it has in the whole."""
    partial = Partition(store)
    for graph in partial.graphs():
        other = full.graph(graph.graph_id)
        assert other is not None
        for turn, passage in graph.passages.numbers.items():
            assert partial.text_of(graph, passage) == full.text_of(other, other.passages.numbers[turn])


async def test_who_reads_is_told_how_far(tmp_path: Path) -> None:
    log, offsets = long_log(), list[int]()
    await refold(ObservedLog(reader_of(log), offsets.append), 0, log.next_offset, MemoryStore())
    assert offsets == sorted(offsets)
    assert (offsets[0], offsets[-1]) == (0, log.next_offset)


# the plan


def test_a_directory_goes_on_with_the_plan_that_was_begun_there(tmp_path: Path) -> None:
    begun = Plan("emgas", (10, 20), None, NOON)
    assert begun.agreed(tmp_path / "new") == begun
    assert replace(begun, ends=(15, 25)).agreed(tmp_path / "new") == begun


@pytest.mark.parametrize(
    "other",
    [
        Plan("other", (10, 20)), Plan("emgas", (10, 20, 0)), Plan("emgas", (10, 20), "ada"), Plan("emgas", (10, 19)),
        Plan("emgas", (10, 20), None, NOON),
    ],
)  # fmt: skip
def test_a_directory_of_another_rebuild_is_refused(tmp_path: Path, other: Plan) -> None:
    Plan("emgas", (10, 20)).agreed(tmp_path)
    with pytest.raises(NotThisRebuildError, match="give a new directory"):
        other.agreed(tmp_path)


def test_a_directory_with_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ada")
    with pytest.raises(NotThisRebuildError, match="not empty"):
        Plan("emgas", (10,)).agreed(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_a_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Ada")
    with pytest.raises(NotThisRebuildError, match="cannot be made"):
        Plan("emgas", (10,)).agreed(tmp_path / "letter.txt" / "rebuilt")


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"format":2}', b'{"format":1,"ends":[1],"more":1}'])
def test_a_plan_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "plan.json").write_bytes(content)
    with pytest.raises(NotThisRebuildError, match="no plan"):
        Plan("emgas", (10,)).agreed(tmp_path)


# damage


@pytest.mark.parametrize("at", [3, 40, 77])
async def test_a_changed_byte_in_the_log_is_named_by_partition_and_offset(at: int) -> None:
    log = long_log(100)
    offset, value = log.records[at]
    log.records[at] = (offset, value.replace(b'",0.5,1]', b'",0.4,1]', 1))
    assert log.records[at][1] != value
    with pytest.raises(LogRewrittenError, match=rf"partition 0, offset {at + 1} \(the record before it lies at {at}\)"):
        await rebuild(reader_of(log), 0, whole(log), MemoryStore())


@pytest.mark.parametrize("at", [40, 99])
async def test_a_value_out_of_bounds_is_named_though_the_head_does_not_look_at_it(at: int) -> None:
    log, store = long_log(100), MemoryStore()
    offset, value = log.records[at]
    log.records[at] = (offset, value.replace(b'",0.5,1]', b'",7.5,1]', 1))
    assert log.records[at][1] != value
    with pytest.raises(
        UnreadableEventError, match=rf"partition 0, offset {at} \(the record before it lies at {at - 1}\)"
    ):
        await rebuild(reader_of(log), 0, whole(log), store)
    assert not store.count(), "what was folded before it is not written without what it belongs to"


async def test_a_refused_event_that_nobody_can_read_is_not_passed_over() -> None:
    log = long_log(100)
    offset, value = log.records[40]
    log.records[40] = (offset, value.replace(b'"seq":40', b'"seq":41').replace(b'",0.5,1]', b'",7.5,1]', 1))
    with pytest.raises(UnreadableEventError, match="partition 0, offset 40 "):
        await rebuild(reader_of(log), 0, whole(log), MemoryStore())


async def test_a_changed_byte_that_hides_what_follows_is_named_too() -> None:
    """In `seq`, it makes all that follows a gap, which a fold cannot tell from a writer's failure."""
    log = long_log(100)
    offset, value = log.records[40]
    log.records[40] = (offset, value.replace(b'"seq":40', b'"seq":41'))
    log.claim("another worker")
    log.turn(concepts="tea", id="late")
    assert (await rebuild(reader_of(log), 0, whole(log), MemoryStore())).refused_from == 40
    assert await refused_from(reader_of(log), 0, 60) == 40
    assert await refused_from(reader_of(log), 0, 40) is None


async def test_of_an_honest_log_nothing_is_refused_at_the_end() -> None:
    log = long_log(100)
    log.claim("another worker")
    assert (await rebuild(reader_of(log), 0, whole(log), MemoryStore())).refused_from is None


async def test_a_record_that_is_no_event_any_more_is_named(tmp_path: Path) -> None:
    log = long_log(100)
    offset, value = log.records[50]
    log.records[50] = (offset, value[:20] + b"\xff" + value[21:])
    with pytest.raises(UnreadableEventError, match="partition 0, offset 50 "):
        await rebuild(reader_of(log), 0, whole(log), MemoryStore())


async def test_a_store_of_another_log_is_not_gone_on_with() -> None:
    log, other, store = long_log(100), LogWriter(), MemoryStore()
    for number in range(150):
        other.turn(concepts="tea", id=f"other{number}")
    await refold(reader_of(log), 0, 60, store)
    with pytest.raises(LogRewrittenError, match="another record at offset 59"):
        await refold(reader_of(other), 0, 100, store)


# kill -9

KILLED = """
import asyncio, os, signal, sys, pathlib
from replay.rebuild import rebuild
from replay.rebuild.plan import planned
from state.partition import Partition
from state.store.rocksdb import RocksStore
from streams.transport.embedded.reader import EmbeddedReader, ReadOnlyLog
data, into, left = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
rebuild.FLUSH_EVERY = 50
log = EmbeddedReader(ReadOnlyLog(data), "emgas.events", batch=50)
plan = asyncio.run(planned(log, "emgas", 2, None, at=None, offset=None)).agreed(into)

def counted(events):
    global left
    for event in events:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        yield event

def killed(state, head, name, events, fold=Partition._fold_graph):
    return fold(state, head, name, counted(events))

Partition._fold_graph = killed
for number, end in enumerate(plan.ends):
    store = RocksStore(into / str(number))
    state = asyncio.run(rebuild.refold(log, number, end, store))
    print(state.digest(), flush=True)
    store.close()
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of an embedded log of two partitions."""
    directory = tmp_path_factory.mktemp("data")
    log = EmbeddedLog(directory)
    log.create_topic(TopicPlan(TOPIC, 2, FOR_EVER, 1_000_000))
    for partition, written in enumerate(written_logs()):
        log.append([ProducerRecord(TOPIC, None, value, (), partition, NOON) for _, value in written.records])
    log.close()
    return directory


def written_logs() -> Iterator[LogWriter]:
    yield long_log(1500)
    yield long_log(700)


@pytest.mark.slow
def test_a_rebuild_that_is_killed_8_times_ends_with_the_same_digests(data: Path, tmp_path: Path) -> None:
    seeded, reached = random.Random(6), list[int]()
    for _ in range(8):
        killed = run(data, tmp_path / "into", seeded.randrange(1, 250))
        assert killed.returncode == -9, killed.stderr
        reached.append(watermark(tmp_path / "into" / "0"))
    assert reached == sorted(reached)
    assert reached[-1] > reached[0], "a killed rebuild goes on where it was"
    finished = run(data, tmp_path / "into", 10**9)
    assert finished.stdout.split() == [log.folded().digest() for log in written_logs()], finished.stderr


def run(data: Path, into: Path, left: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", KILLED, str(data), str(into), str(left)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def watermark(path: Path) -> int:
    """Return how far a killed rebuild's store is; the copy is opened, so that the store stays as it was left."""
    copy = path.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(path, copy)
    store = RocksStore(copy)
    state = Partition(store)
    store.close()
    shutil.rmtree(copy)
    return state.position.watermark
