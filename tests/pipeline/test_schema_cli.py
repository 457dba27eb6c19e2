"""Every command on a log of an older schema, which it reads; and on one that it cannot read: it stops and says so."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from emgas.wire import ProducerRecord, Record, partition_of
from replay.backup import backup
from replay.backup.lines import Header
from state.events.upcasting import UPCASTERS, VERSION
from streams.settings import WorkerSettings
from streams.transport.embedded.log import EmbeddedLog
from tests.support.cli import emgas, emgas_here
from tests.support.fakes import ListReader
from tests.support.golden import TIMESTAMP, expected, golden
from tests.support.older import STEPS, older
from tests.support.transports import overwrite

NEWEST = golden(VERSION)
GRAPHS = expected(VERSION)["graphs"]
GRAPH = "demo"
PLACE = partition_of(GRAPH, len(NEWEST))
NEWER = b'{"v":%d,"kind":"TurnRecorded","graph":"demo","mood":"good"}' % (VERSION + 1)
UNKNOWN = b'{"v":%d,"kind":"GraphErased","graph":"demo"}' % VERSION
MESSAGES = {
    NEWER: f"an event of the log has schema version {VERSION + 1}, this EMGAS reads up to {VERSION}. It was written by "
    "a newer version of EMGAS. Run the version that wrote it; do not skip it.",
    UNKNOWN: "cannot read an event of the log (Invalid value 'GraphErased' - at `$.kind`). It was written by a newer "
    "version of EMGAS, or by a program that must not write to this topic. Run the version that wrote it; "
    "do not skip it.",
}


def backup_of(partitions: Sequence[Sequence[Record]], path: Path) -> str:
    """Write a backup of this log, and return its name."""
    bounds = tuple((0, len(records)) for records in partitions)
    with path.open("w+b") as file:
        asyncio.run(backup.write(ListReader(partitions), file, Header("emgas", None, bounds, "0", TIMESTAMP)))
    return str(path)


def with_one_more(value: bytes) -> list[list[Record]]:
    """Return the golden log, with a record at the end of the partition of "demo"."""
    log = [list(records) for records in NEWEST]
    log[PLACE].append(Record(len(log[PLACE]), TIMESTAMP, GRAPH.encode(), value))
    return log


# an older log


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for at, step in STEPS.items():
        monkeypatch.setitem(UPCASTERS, at, step)


@pytest.mark.usefixtures("steps")
def test_every_command_reads_an_older_log_and_leaves_its_bytes(tmp_path: Path) -> None:
    data, log = tmp_path / "data", [older(records) for records in NEWEST]
    file = backup_of(log, tmp_path / "backup")
    assert emgas_here(data, "import", file, "--json").json["appended"] == sum(map(len, log))
    assert emgas_here(data, "import", file, "--json").json["appended"] == 0
    assert emgas_here(data, "replay", "digest", "--json").json["graphs"] == GRAPHS
    assert emgas_here(data, "replay", "digest", "--offline", "--json").json["graphs"] == GRAPHS
    one = emgas_here(data, "replay", "rebuild", "--graph", GRAPH, "--json").json
    assert one["digest"] == GRAPHS[GRAPH]
    assert emgas_here(data, "query", GRAPH, "the cat", "--json").json["concepts"]
    assert emgas_here(data, "query", GRAPH, "the cat", "--as-of", "2025-02-20", "--json").json["concepts"]
    assert emgas_here(data, "replay", "verify", "--json").json["match"] is True
    emgas_here(data, "export", "--out", str(tmp_path / "again"), "--json")
    with (tmp_path / "again").open("rb") as again:
        values = [stored.record.value for stored in backup.records(again) if stored.partition == PLACE]
    assert values[: len(log[PLACE])] == [record.value for record in log[PLACE]]


# a log of a newer version, or with an event that nobody knows


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory that holds the golden log, folded."""
    data = tmp_path_factory.mktemp("good")
    emgas(data, "import", backup_of(NEWEST, tmp_path_factory.mktemp("file") / "backup"))
    emgas(data, "query", GRAPH, "the cat")
    return data


@pytest.fixture(params=MESSAGES, ids=["newer version", "unknown kind"])
def bad(request: pytest.FixtureRequest, good: Path, tmp_path: Path) -> tuple[Path, bytes]:
    """Return a copy of it, at whose end somebody wrote a record that this version cannot read; and that record."""
    shutil.copytree(good, tmp_path / "bad")
    log = EmbeddedLog(WorkerSettings(data=tmp_path / "bad", broker=None).home)
    log.append([ProducerRecord("emgas.events", GRAPH.encode(), request.param, (), PLACE, TIMESTAMP)])
    log.close()
    return tmp_path / "bad", request.param


def records(data: Path) -> list[bytes | None]:
    log = EmbeddedLog(WorkerSettings(data=data, broker=None).home)
    values = [record.value for record in log.read("emgas.events", PLACE, 0)]
    log.close()
    return values


def test_every_command_that_folds_stops_at_an_event_that_it_cannot_read(bad: tuple[Path, bytes]) -> None:
    data, value = bad
    before = records(data)
    for words in (
        "replay rebuild",
        "replay rebuild --graph demo",
        "replay rebuild --as-of 2025-02-20",
        "replay digest",
        "replay digest --offline",
        "replay diff demo --from 2025-02-20",
        "query demo cat",
        "query demo cat --as-of 2025-02-20",
        "forget demo --concept cat",
        "configure demo --preset default",
    ):
        assert MESSAGES[value] in emgas_here(data, *words.split(), code=1).err, words
    assert records(data) == before, "nothing was written behind it"
    assert emgas_here(data, "replay", "verify", "--json").json["match"] is True, "what was folded is right"


@pytest.mark.parametrize("value", MESSAGES, ids=["newer version", "unknown kind"])
def test_a_state_that_has_folded_what_this_version_cannot_read_is_not_verified(
    value: bytes, good: Path, tmp_path: Path
) -> None:
    """As after going back to an older EMGAS."""
    shutil.copytree(good, tmp_path / "bad")
    overwrite(WorkerSettings(data=tmp_path / "bad", broker=None).home, ("emgas.events", PLACE), 50, value)
    result = emgas_here(tmp_path / "bad", "replay", "verify", "--json", code=4)
    assert f"partition {PLACE}, offset 50 (the record before it lies at 49): {MESSAGES[value]}" in result.err
    assert result.json["match"] is False


def test_a_log_that_cannot_be_read_can_be_exported_and_is_complete(bad: tuple[Path, bytes], tmp_path: Path) -> None:
    data, value = bad
    emgas_here(data, "export", "--out", str(tmp_path / "backup"))
    with (tmp_path / "backup").open("rb") as file:
        assert value in [stored.record.value for stored in backup.records(file)]


@pytest.mark.parametrize("value", MESSAGES, ids=["newer version", "unknown kind"])
def test_a_backup_of_such_a_log_is_refused_before_anything_is_written(value: bytes, tmp_path: Path) -> None:
    file = backup_of(with_one_more(value), tmp_path / "backup")
    result = emgas_here(tmp_path / "data", "import", file, code=1)
    place = f"the backup's event at offset {len(NEWEST[PLACE])} of partition {PLACE} cannot be folded: "
    assert place + MESSAGES[value] in result.err
    assert records(tmp_path / "data") == []
