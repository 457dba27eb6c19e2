"""Garbage in the log halts its partition and is named by the doctor; `emgas events skip` is an operator's decision."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from emgas.wire import ProducerRecord, partition_of
from state.events.upcasting import VERSION
from streams.settings import WorkerSettings
from streams.transport.embedded.log import EmbeddedLog
from tests.support.cli import emgas_here

TWO = {"partitions": "2"}
HERE = partition_of("ada", 2)


def put(data: Path, value: bytes) -> int:
    """Append a record to ada's partition of the log; return its offset."""
    with closing(EmbeddedLog(WorkerSettings(data=data, broker=None).home)) as log:
        (offset,) = log.append([ProducerRecord("emgas.events", None, value, (), HERE, 1_750_000_000_000)])
    return offset


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "said.jsonl"
    file.write_text('{"id": "t1", "graph": "ada", "speaker": "Ada", "text": "The kettle broke."}\n')
    emgas_here(tmp_path, "publish", str(file), **TWO)
    return tmp_path


def test_garbage_halts_its_partition_until_it_is_skipped_and_then_every_reader_agrees(data: Path) -> None:
    offset = put(data, b"\xff garbage")
    report = emgas_here(data, "doctor", "--json", code=1).json
    (halted,) = [check for check in report["checks"] if check["name"] == f"partition {HERE} answers"]
    assert (halted["ok"], f"offset {offset}" in halted["detail"]) == (False, True)
    assert f"emgas admin events skip {HERE}:{offset}" in halted["detail"]
    for is_new in (True, False):
        done = emgas_here(data, "events", "skip", f"{HERE}:{offset}", "--reason", "a slip", "--json").json
        assert done == {"partition": HERE, "offset": offset, "bytes": 9, "new": is_new}
    assert emgas_here(data, "doctor", "--json").json["ok"] is True
    assert emgas_here(data, "query", "ada", "kettle", "--json").json["passages"][0]["id"] == "t1"
    assert emgas_here(data, "replay", "verify", "--json").json["match"] is True
    live, folded = (emgas_here(data, "replay", "digest", "--json", *how).json for how in ((), ("--offline",)))
    assert live == folded


def test_a_backup_of_a_mended_log_can_be_restored(data: Path, tmp_path: Path) -> None:
    offset = put(data, b"\xff garbage")
    emgas_here(data, "events", "skip", f"{HERE}:{offset}", "--reason", "a slip")
    emgas_here(data, "export", "--out", str(tmp_path / "backup.ndjson"))
    emgas_here(tmp_path / "other", "import", str(tmp_path / "backup.ndjson"), **TWO)
    assert emgas_here(tmp_path / "other", "query", "ada", "kettle", "--json").json["passages"][0]["id"] == "t1"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "is readable, a Claim"),
        (b'{"v":%d,"kind":"Unheard"}' % (VERSION + 1), "was written by a newer version"),
    ],
)
def test_what_can_be_read_now_or_by_a_newer_version_is_not_skipped(
    data: Path, value: bytes | None, message: str
) -> None:
    offset = 0 if value is None else put(data, value)
    result = emgas_here(data, "events", "skip", f"{HERE}:{offset}", "--reason", "no", code=1)
    assert message in result.err


def test_a_record_that_is_not_there_is_not_skipped(data: Path) -> None:
    emgas_here(data, "events", "skip", f"{HERE}:999", "--reason", "no", code=3)
    emgas_here(data, "events", "skip", "9:0", "--reason", "no", code=3)
    emgas_here(data, "events", "skip", "zero", "--reason", "no", code=2)


def test_the_doctor_tells_that_the_head_of_the_log_is_gone_while_the_store_lives(data: Path) -> None:
    with closing(EmbeddedLog(WorkerSettings(data=data, broker=None).home)) as log:
        row = log._partition("emgas.events", HERE).row  # noqa: SLF001 - only from inside can this be told
        log._db.execute(f"delete from records_{row} where offset < 1")  # noqa: S608, SLF001 - noqa: S608
        log._db.execute("update partition set start=1 where r=?", (row,))  # noqa: SLF001 - only from inside can this be told
    report = emgas_here(data, "doctor", "--json", code=1).json
    (whole,) = [check for check in report["checks"] if check["name"] == "the log is whole"]
    assert (whole["ok"], f"partition {HERE} begins at offset 1" in whole["detail"]) == (False, True)
    assert emgas_here(data, "query", "ada", "kettle", "--json").json["passages"][0]["id"] == "t1", "the store lives"
