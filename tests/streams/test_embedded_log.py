"""The embedded log keeps the log contract, survives kill -9, and belongs to one process at a time."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emgas.errors import DataDirectoryInUseError, TransportError
from emgas.times import HOUR_MS
from emgas.wire import ProducerRecord
from streams.transport.embedded import layout
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.reader import ReadOnlyLog
from streams.transport.topic_plan import FOR_EVER, TopicPlan
from tests.contracts.log_contract import LogContract
from tests.support.transports import SqliteTransport, leave_room, sqlite_transport

NOW = 1_700_000_000_000
PARTITIONS = 3

HOLDER = """
import sys
from pathlib import Path
from streams.transport.embedded.log import EmbeddedLog
log = EmbeddedLog(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""

WRITER = """
import random, sys, zlib
from pathlib import Path
from emgas.wire import ProducerRecord
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.topic_plan import FOR_EVER, TopicPlan
log, dice = EmbeddedLog(Path(sys.argv[1])), random.Random(int(sys.argv[2]))
log.create_topic(TopicPlan("events", 3, FOR_EVER, 1_000_000))
while True:
    batch = [ProducerRecord("events", b"k", dice.randbytes(dice.choice([10, 5000])), (), dice.randrange(3), 1)
             for _ in range(dice.randint(1, 20))]
    offsets = log.append(batch)
    log.commit("group", {("events", batch[-1].partition): offsets[-1] + 1})
    for record, offset in zip(batch, offsets):
        print(record.partition, offset, zlib.crc32(record.value))  # short, so that it is killed while it appends
    print("acked", flush=True)
"""


class TestEmbeddedLog(LogContract):
    @pytest.fixture
    async def transport(self, tmp_path: Path) -> AsyncIterator[SqliteTransport]:
        async with sqlite_transport(tmp_path) as transport:
            yield transport


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    log = EmbeddedLog(tmp_path / "log")
    log.create_topic(TopicPlan("events", PARTITIONS, FOR_EVER, 1_000_000))
    log.create_topic(TopicPlan("queries", PARTITIONS, HOUR_MS, 1_000_000))
    yield log
    log.close()


def record(topic: str = "events", partition: int = 0, value: bytes = b"v", timestamp: int = NOW) -> ProducerRecord:
    return ProducerRecord(topic, b"k", value, (), partition, timestamp)


def reopened(log: EmbeddedLog) -> EmbeddedLog:
    log.close()
    return EmbeddedLog(log.directory)


def child(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


# one process


def test_a_second_process_is_told_who_has_the_directory_and_what_to_do(tmp_path: Path) -> None:
    with child(HOLDER, str(tmp_path)) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(DataDirectoryInUseError, match=rf"process {holder.pid} uses .*{tmp_path}.*EMGAS_DATA"):
            EmbeddedLog(tmp_path)
        holder.communicate()
    EmbeddedLog(tmp_path).close()


def test_a_killed_process_lets_go_of_the_directory(tmp_path: Path) -> None:
    with child(HOLDER, str(tmp_path)) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        holder.kill()
    EmbeddedLog(tmp_path).close()


def test_a_log_has_one_owner_even_in_one_process(tmp_path: Path) -> None:
    first = EmbeddedLog(tmp_path)
    with pytest.raises(DataDirectoryInUseError, match=f"process {os.getpid()} uses"):
        EmbeddedLog(tmp_path / "sub" / "..")
    first.create_topic(TopicPlan("events", 1, FOR_EVER, 1000))
    first.close()
    with pytest.raises(TransportError):
        first.append([record()])
    EmbeddedLog(tmp_path).close()


def test_closing_twice_takes_the_directory_from_nobody(tmp_path: Path) -> None:
    first = EmbeddedLog(tmp_path)
    first.close()
    second = EmbeddedLog(tmp_path)
    first.close()
    with pytest.raises(DataDirectoryInUseError):
        EmbeddedLog(tmp_path)
    second.close()


def test_two_directories_are_two_logs(tmp_path: Path) -> None:
    one, two = EmbeddedLog(tmp_path / "1"), EmbeddedLog(tmp_path / "2")
    one.create_topic(TopicPlan("events", 1, FOR_EVER, 1000))
    assert (one.topics(), two.topics()) == (("events",), ())
    one.close()
    two.close()


def test_a_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TransportError, match="cannot use the data directory"):
        EmbeddedLog(tmp_path / "file" / "log")


def test_a_log_of_a_newer_version_is_left_alone_and_the_directory_is_free_again(tmp_path: Path) -> None:
    EmbeddedLog(tmp_path).close()
    with closing(layout.connect(tmp_path / layout.FILE, read_only=False)) as file:
        file.execute(f"pragma user_version={layout.LAYOUT + 1}")
    for _ in range(2):
        with pytest.raises(TransportError, match="run a newer EMGAS"):
            EmbeddedLog(tmp_path)


def test_a_damaged_file_is_told_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / layout.FILE).write_bytes(b"this is no database" * 100)
    with pytest.raises(TransportError, match="cannot open"):
        EmbeddedLog(tmp_path)
    assert (tmp_path / layout.FILE).read_bytes().startswith(b"this is no database")


# durability


@pytest.mark.parametrize("seed", range(3))
def test_everything_acknowledged_survives_kill_9_and_offsets_stay_dense(tmp_path: Path, seed: int) -> None:
    with child(WRITER, str(tmp_path), str(seed)) as writer:
        acked = acknowledged_by(writer, batches=60)
        writer.kill()
    log = EmbeddedLog(tmp_path)
    for partition in range(PARTITIONS):
        start, end = log.bounds("events", partition)
        kept = log.read("events", partition, 0, limit=10**6)
        assert (start, [r.offset for r in kept]) == (0, list(range(end)))
        values = {r.offset: zlib.crc32(r.value or b"") for r in kept}
        assert {offset: values.get(offset) for p, offset, _ in acked if p == partition} == {
            offset: value for p, offset, value in acked if p == partition
        }
        assert log.committed("group").get(("events", partition), 0) <= end
    log.close()


def acknowledged_by(writer: subprocess.Popen[str], batches: int) -> list[tuple[int, int, int]]:
    acked: list[tuple[int, int, int]] = []
    batch: list[tuple[int, int, int]] = []
    assert writer.stdout is not None
    while batches:
        line = writer.stdout.readline().split()
        if line == ["acked"]:
            acked, batch, batches = acked + batch, [], batches - 1
        else:
            batch.append((int(line[0]), int(line[1]), int(line[2])))
    return acked


def test_everything_is_there_after_reopening(log: EmbeddedLog) -> None:
    log.append([record(partition=p, value=b"%d" % n) for n in range(10) for p in range(2)])
    log.commit("group", {("events", 1): 7})
    log = reopened(log)
    assert [log.bounds("events", p) for p in range(PARTITIONS)] == [(0, 10), (0, 10), (0, 0)]
    assert [r.value for r in log.read("events", 1, 0)] == [b"%d" % n for n in range(10)]
    assert log.committed("group") == {("events", 1): 7}
    assert log.append([record()]) == [10]


def test_a_full_disk_fails_the_batch_as_a_whole_and_costs_no_offset(log: EmbeddedLog) -> None:
    log.append([record(value=b"kept")])
    leave_room(log, pages=0)
    with pytest.raises(TransportError, match=r"nothing of it was written.*the disk is full. Make room on it"):
        log.append([record(), record(value=b"x" * 500_000), record(partition=1)])
    assert [log.bounds("events", p) for p in range(PARTITIONS)] == [(0, 1), (0, 0), (0, 0)]
    leave_room(log, pages=10_000)
    assert log.append([record(), record(partition=1)]) == [1, 0]
    log = reopened(log)
    assert [r.value for r in log.read("events", 0, 0)] == [b"kept", b"v"]


def test_one_bad_record_keeps_the_whole_batch_out(log: EmbeddedLog) -> None:
    for bad in (record("unknown"), record(partition=PARTITIONS), record(partition=-1), record(value=b"x" * 1_000_001)):
        with pytest.raises(TransportError):
            log.append([record(), bad])
    assert log.bounds("events", 0) == (0, 0)


@given(batches=st.lists(st.lists(st.tuples(st.integers(0, 2), st.binary(max_size=20)), max_size=5), max_size=8))
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_it_is_a_list_per_partition(tmp_path: Path, batches: list[list[tuple[int, bytes]]]) -> None:
    log = EmbeddedLog(tmp_path)
    topic = f"t{len(log.topics())}"
    log.create_topic(TopicPlan(topic, 3, FOR_EVER, 1000))
    model: list[list[bytes]] = [[], [], []]
    for batch in batches:
        expected = []
        for partition, value in batch:
            expected.append(len(model[partition]))
            model[partition].append(value)
        assert log.append([record(topic, p, value) for p, value in batch]) == expected
    log = reopened(log)
    assert [[r.value for r in log.read(topic, p, 0)] for p in range(3)] == model
    log.close()


# reading


def test_a_read_returns_at_least_one_record_and_then_minds_its_memory(
    log: EmbeddedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "READ_BYTES", 1000)
    log.append([record(value=b"x" * size) for size in (5000, 400, 400, 400, 400)])
    assert [len(log.read("events", 0, start)) for start in (0, 1, 4)] == [1, 3, 1]


def test_a_reader_in_another_connection_sees_what_is_committed_while_the_owner_appends(log: EmbeddedLog) -> None:
    log.append([record(value=b"1")])
    beside = ReadOnlyLog(log.directory)
    assert beside.bounds("events", 0) == (0, 1)
    log.append([record(value=b"2")])
    assert [r.value for r in beside.read("events", 0, 0)] == [b"1", b"2"]
    beside.close()


def test_a_directory_without_a_log_is_told_to_its_reader(tmp_path: Path) -> None:
    with pytest.raises(TransportError, match="there is no memory at"):
        ReadOnlyLog(tmp_path)


def test_waiters_are_called_after_the_commit_until_they_give_up(log: EmbeddedLog) -> None:
    ends: list[int] = []
    forget = log.on_append(lambda: ends.append(log.bounds("events", 0)[1]))
    log.append([record(), record()])
    log.append([record()])
    forget()
    log.append([record()])
    assert ends == [2, 3]


# retention


def test_old_records_go_and_offsets_stay(log: EmbeddedLog) -> None:
    ages = (3 * HOUR_MS, 2 * HOUR_MS, HOUR_MS - 1, 0)
    log.append([record("queries", timestamp=NOW - age) for age in ages])
    assert log.expire(NOW) == 2
    assert log.bounds("queries", 0) == (2, 4)
    assert [r.offset for r in log.read("queries", 0, 0)] == [2, 3]
    assert log.expire(NOW + 9 * HOUR_MS) == 2
    log = reopened(log)
    assert log.bounds("queries", 0) == (4, 4)
    assert log.append([record("queries")]) == [4]


def test_events_never_go(log: EmbeddedLog) -> None:
    log.append([record(timestamp=0)])
    assert log.expire(NOW * 2) == 0
    assert log.bounds("events", 0) == (0, 1)


def test_what_a_group_has_not_read_is_kept_however_old_it_is(log: EmbeddedLog) -> None:
    log.append([record("queries", timestamp=0)] * 5)
    log.commit("fast", {("queries", 0): 5})
    log.commit("slow", {("queries", 0): 2})
    assert log.expire(NOW) == 2
    assert log.bounds("queries", 0) == (2, 5)


def test_a_topic_has_an_identity_that_outlives_the_process_but_not_the_topic(log: EmbeddedLog, tmp_path: Path) -> None:
    born = log.describe("events")
    assert (born.partitions, born.replication, born.bounds) == (PARTITIONS, 1, ((0, 0),) * PARTITIONS)
    assert (born.config["retention.ms"], born.config["cleanup.policy"]) == ("-1", "delete")
    log = reopened(log)
    assert log.describe("events").topic_id == born.topic_id
    other = EmbeddedLog(tmp_path / "other")
    other.create_topic(TopicPlan("events", PARTITIONS, FOR_EVER, 1_000_000))
    assert other.describe("events").topic_id != born.topic_id
    other.close()
