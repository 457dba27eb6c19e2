"""`emgas replay rebuild|verify|digest` and `emgas admin snapshot …` on the embedded log, also beside a live worker."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from emgas.messages.operator import Checkpoint
from emgas.messages.requests import Failure
from state.partition import Partition
from state.store.rocksdb import RocksStore
from streams.cli.shared.live_state import graph_digests
from streams.settings import WorkerSettings
from streams.transport.embedded.log import EmbeddedLog
from tests.support.cli import ROOT, emgas, emgas_here
from tests.support.pipeline import Pipeline, a_turn, settings_for
from tests.support.transports import overwrite, sqlite_transport

CONVERSATION = ROOT / "streams" / "cli" / "memory" / "demo_data" / "conversation.jsonl"
TURNS = [json.loads(line) for line in CONVERSATION.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory that holds the demo's conversation."""
    data = tmp_path_factory.mktemp("memory")
    emgas(data, "publish", str(CONVERSATION), "--json", partitions="2")
    return data


@pytest.fixture
def copy(memory: Path, tmp_path: Path) -> Path:
    """Return a copy of it, to be spoilt."""
    shutil.copytree(memory, tmp_path / "copy")
    return tmp_path / "copy"


def home(data: Path) -> WorkerSettings:
    return WorkerSettings(data=data, broker=None)


def digests(data: Path, *options: str) -> Any:
    return emgas_here(data, "replay", "digest", "--json", *options).json["graphs"]


# digests and rebuilds


def test_the_live_digests_are_those_of_an_offline_fold(memory: Path) -> None:
    assert sorted(digests(memory)) == ["demo", "demo-zh"]
    assert digests(memory) == digests(memory, "--offline")


def test_a_rebuild_of_one_graph_has_its_digest(memory: Path) -> None:
    report = emgas_here(memory, "replay", "rebuild", "--graph", "demo", "--json").json
    assert report["digest"] == digests(memory)["demo"]
    assert set(report) == {"events", "seconds", "events_per_second", "digest", "unavailable"}


def test_a_rebuild_to_an_offset_or_a_time_leaves_out_what_came_later(memory: Path) -> None:
    turn = TURNS[len(TURNS) // 2]
    whole = emgas_here(memory, "replay", "rebuild", "--json").json
    shorter = emgas_here(memory, "replay", "rebuild", "--offset", "10", "--json").json
    earlier = emgas_here(memory, "replay", "rebuild", "--as-of", str(turn["at"]), "--json").json
    assert (shorter["events"], earlier["events"]) == (20, whole["events"])
    assert len({whole["digest"], shorter["digest"], earlier["digest"]}) == 3


def test_a_rebuild_that_is_asked_for_again_goes_on_and_tells_the_same(memory: Path, tmp_path: Path) -> None:
    reports = [
        emgas_here(memory, "replay", "rebuild", "--into", str(tmp_path / "into"), "--json").json["digest"]
        for _ in range(2)
    ]
    assert reports[0] == reports[1]
    other = emgas_here(memory, "replay", "rebuild", "--offset", "5", "--into", str(tmp_path / "into"), code=2)
    assert "holds another rebuild" in other.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--graph", "nobody"], 3, "there is no graph nobody before offset"),
        (["--graph", "nobody", "--as-of", "2023-05-08"], 3, "there was no graph nobody"),
        (["--graph", "tab\there"], 2, "graph: must be 1 to 128 printable"),
        (["--graph", "demo", "--snapshots", "bogus://x"], 2, "bogus://x is no directory and no URL that can be used"),
        (["--offset", "1", "--as-of", "2023-05-08"], 2, "not both"),
        (["--snapshots", "somewhere"], 2, "--snapshots needs --graph"),
    ],
)
def test_a_rebuild_that_cannot_be_is_explained(memory: Path, options: list[str], code: int, message: str) -> None:
    assert message in emgas_here(memory, "replay", "rebuild", *options, code=code).err


def test_replaying_where_no_worker_ever_ran_is_an_error_and_makes_nothing(tmp_path: Path) -> None:
    for words in (("replay", "rebuild"), ("replay", "verify"), ("replay", "digest")):
        assert "Start one with `emgas add` or `emgas import`" in emgas_here(tmp_path, *words, code=3).err
    assert list(tmp_path.iterdir()) == []


IN_PROCESSES = """
import json, os, signal, sys, pathlib
import streams.recovery.parallel_rebuild as rebuilding
from replay.rebuild.plan import Plan
from streams.settings import WorkerSettings

if __name__ == "__main__":
    rebuilding.SHORT = 0
    plan = Plan("emgas", tuple(json.loads(sys.argv[1]))).agreed(pathlib.Path(sys.argv[2]))

    def show(done):
        if done >= int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)

    rebuilt = rebuilding.rebuild_all(WorkerSettings(broker=None), plan, pathlib.Path(sys.argv[2]), 2, show)
    print(rebuilding.combined([each.digest for each in rebuilt]))
"""


def test_a_rebuild_in_processes_goes_on_after_its_parent_was_killed(memory: Path, tmp_path: Path) -> None:
    log = EmbeddedLog(home(memory).home)
    ends = [log.bounds("emgas.events", partition)[1] for partition in range(2)]
    log.close()
    (tmp_path / "rebuild.py").write_text(IN_PROCESSES)
    environment = {**os.environ, "EMGAS_DATA": str(memory), "PYTHONPATH": str(ROOT)}

    def run(kill_at: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, tmp_path / "rebuild.py", json.dumps(ends), tmp_path / "into", str(kill_at)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)

    assert run(kill_at=1).returncode == -signal.SIGKILL
    finished = run(kill_at=10**9)
    assert finished.stdout.split() == [emgas_here(memory, "replay", "rebuild", "--json").json["digest"]], finished


def test_a_rebuild_in_processes_ends_with_the_error_of_one_and_completes_the_others(copy: Path, tmp_path: Path) -> None:
    log = EmbeddedLog(home(copy).home)
    ends = [log.bounds("emgas.events", partition)[1] for partition in range(2)]
    log.close()
    overwrite(home(copy).home, ("emgas.events", 0), 3, b"no event")
    (tmp_path / "rebuild.py").write_text(IN_PROCESSES)
    environment = {**os.environ, "EMGAS_DATA": str(copy), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, tmp_path / "rebuild.py", json.dumps(ends), tmp_path / "into", "1000000"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert "UnreadableEventError: partition 0, offset 3 " in done.stderr
    assert folded_to(tmp_path / "into" / "1") == ends[1] - 1


def test_a_rebuild_in_one_process_completes_the_partitions_behind_one_that_fails(copy: Path, tmp_path: Path) -> None:
    log = EmbeddedLog(home(copy).home)
    end = log.bounds("emgas.events", 1)[1]
    log.close()
    overwrite(home(copy).home, ("emgas.events", 0), 3, b"no event")
    result = emgas_here(copy, "replay", "rebuild", "--jobs", "1", "--into", str(tmp_path / "into"), code=1)
    assert "partition 0, offset 3 " in result.err
    assert folded_to(tmp_path / "into" / "1") == end - 1


def folded_to(store: Path) -> int:
    """Read up to which offset a store is folded."""
    state = Partition(RocksStore(store))
    watermark = state.position.watermark
    state.close()
    return watermark


def test_what_nobody_has_folded_yet_is_not_called_equal(copy: Path, tmp_path: Path) -> None:
    backup, restored = str(tmp_path / "backup.ndjson"), tmp_path / "restored"
    emgas_here(copy, "export", "--out", backup)
    emgas_here(restored, "import", backup)
    result = emgas_here(restored, "replay", "verify", "--json", code=3)
    assert result.json["match"] is None
    assert [(each["match"], each["watermark"]) for each in result.json["partitions"]] == [(None, -1)] * 2
    assert "nothing to compare yet: no worker has folded the log there. `emgas doctor` runs one" in result.err
    table = emgas_here(restored, "replay", "verify", code=3).out
    assert (table.count("not compared"), "yes" in table) == (2, False)
    emgas_here(restored, "doctor")
    assert emgas_here(restored, "replay", "verify", "--json").json["match"] is True

    shutil.rmtree(home(restored).store_of(1))
    one = emgas_here(restored, "replay", "verify", "--json", code=3)
    assert [each["match"] for each in one.json["partitions"]] == [True, None]
    assert "not compared: partition 1: no worker has folded the log there" in one.err


def test_a_difference_is_told_before_what_was_not_compared(copy: Path) -> None:
    number, table = a_table(copy)
    table.write_bytes(b"no table")
    shutil.rmtree(home(copy).store_of(1 - number))
    report = emgas_here(copy, "replay", "verify", "--json", code=4).json
    assert report["match"] is False
    assert [each["match"] for each in report["partitions"]] == [False if n == number else None for n in range(2)]


def test_what_a_worker_has_not_folded_yet_is_told(copy: Path, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept")
    emgas_here(copy, "snapshot", "create", "--to", kept)
    ends = [each["log_end"] for each in emgas_here(copy, "replay", "verify", "--json").json["partitions"]]
    emgas_here(copy, "doctor")
    emgas_here(copy, "snapshot", "restore", "--from", kept)
    result = emgas_here(copy, "replay", "verify", "--json")
    assert [each["watermark"] for each in result.json["partitions"]] == [end - 1 for end in ends]
    assert all(each["log_end"] > end for each, end in zip(result.json["partitions"], ends, strict=True))
    assert f"partition 0: compared up to offset {ends[0] - 1}; what follows up to " in result.err


async def test_replay_reads_beside_a_live_worker(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, "emgas", None, snapshots=str(tmp_path / "kept"))
    async with sqlite_transport(settings.home) as transport, Pipeline(settings, transport) as pipeline:
        await pipeline.record("ada")
        live = pipeline.digests()
        verified = emgas(tmp_path, "replay", "verify", "--json").json
        assert verified["match"] is True
        assert sum(each["turns"] for each in verified["partitions"]) == 1
        assert emgas(tmp_path, "replay", "digest", "--json").json["graphs"] == live
        await pipeline.record("ada", id="t2")
        assert emgas(tmp_path, "replay", "digest", "--json").json["graphs"] == pipeline.digests() != live
        assert await graph_digests(pipeline.memory, pipeline.place("ada")) == pipeline.digests()
        emgas(tmp_path, "snapshot", "restore", "--from", str(tmp_path / "kept"), code=1)


# damage


def test_a_flipped_byte_in_a_table_is_named(copy: Path) -> None:
    number, table = a_table(copy)
    damaged = bytearray(table.read_bytes())
    damaged[len(damaged) // 3] ^= 1
    table.write_bytes(damaged)
    result = emgas_here(copy, "replay", "verify", "--json", code=4)
    partition = result.json["partitions"][number]
    assert partition["match"] is False
    assert str(table.parent) in partition["problem"]
    assert "is damaged" in result.err


def a_table(data: Path) -> tuple[int, Path]:
    """Return the largest table file of the stores, and its partition."""
    tables = home(data).home.glob("partitions/*/*.sst")
    table = max(tables, key=lambda path: path.stat().st_size)
    return int(table.parent.name), table


def test_a_flipped_byte_in_the_log_is_named_by_partition_and_offset(copy: Path) -> None:
    log = EmbeddedLog(home(copy).home)
    record = next(r for r in log.read("emgas.events", 1, 0) if b"TurnRecorded" in (r.value or b""))
    value = bytearray(record.value or b"")
    value[value.index(b'"text":"') + 10] ^= 1
    log.close()
    overwrite(home(copy).home, ("emgas.events", 1), record.offset, bytes(value))
    for words, code in ((("rebuild",), 1), (("verify",), 4)):
        result = emgas_here(copy, "replay", *words, code=code)
        assert "partition 1, offset " in result.err
        assert f"(the record before it lies at {record.offset})" in result.err


# snapshots


def test_snapshots_are_created_listed_and_restored(copy: Path, tmp_path: Path) -> None:
    before = digests(copy)
    kept = str(tmp_path / "kept")
    created = emgas_here(copy, "snapshot", "create", "--to", kept, "--json").json["snapshots"]
    listed = emgas_here(copy, "snapshot", "list", "--json", snapshots=kept).json["snapshots"]
    assert [each["partition"] for each in created] == [0, 1]
    assert [each["snapshot"] for each in listed] == [each["snapshot"] for each in created]
    assert sum(each["turns"] for each in listed) == len(TURNS)
    for partition in range(2):
        shutil.rmtree(home(copy).store_of(partition))
    restored = emgas_here(copy, "snapshot", "restore", "--json", snapshots=kept).json["restored"]
    assert [each["snapshot"] for each in restored] == [each["snapshot"] for each in created]
    assert digests(copy) == before
    assert emgas_here(copy, "replay", "verify", "--json").json["match"] is True
    graph = emgas_here(copy, "replay", "rebuild", "--graph", "demo", "--snapshots", kept, "--json").json
    assert graph["digest"] == before["demo"]


def test_a_damaged_snapshot_is_named_and_the_older_one_restored(copy: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    older = emgas_here(copy, "snapshot", "create", "--to", str(kept), "--json").json["snapshots"][1]
    newest = emgas_here(copy, "snapshot", "create", "--to", str(kept), "--json").json["snapshots"][1]
    table = next((kept / "emgas" / "1" / newest["snapshot"]).glob("*.sst"))
    table.write_bytes(table.read_bytes()[:-1] + b"x")
    result = emgas_here(copy, "snapshot", "restore", "--from", str(kept), "--json")
    assert result.json["restored"][1]["snapshot"] == older["snapshot"]
    assert f"snapshot {newest['snapshot']} of partition 1: its file {table.name} is damaged" in result.err


def test_without_a_place_or_a_snapshot_the_commands_say_what_to_do(copy: Path, tmp_path: Path) -> None:
    for command in ("create", "list", "restore"):
        assert "set EMGAS_SNAPSHOTS" in emgas_here(copy, "snapshot", command, code=2).err
    (tmp_path / "empty").mkdir()
    assert emgas_here(copy, "snapshot", "list", "--from", str(tmp_path / "empty"), "--json").json == {"snapshots": []}
    assert "there are no snapshots in" in emgas_here(copy, "snapshot", "list", "--from", str(tmp_path / "empty")).out
    for options in ([], ["--json"]):
        missing = emgas_here(copy, "snapshot", "list", "--from", str(tmp_path / "none"), *options, code=3)
        assert f"there is no directory {tmp_path / 'none'}" in missing.err
    nothing = emgas_here(copy, "snapshot", "restore", "--from", str(tmp_path / "none"), code=3)
    assert f"there is no snapshot of emgas at {tmp_path / 'none'}" in nothing.err
    assert nothing.out == ""
    refused = emgas_here(copy, "snapshot", "create", "--to", "x", code=2, broker="kafka://127.0.0.1:1")
    assert "EMGAS_SNAPSHOTS" in refused.err


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("bogus://x", "Protocol not known: bogus. A path needs no scheme; of URLs, s3:// needs the package s3fs"),
        ("memory://x", "is lost when this command ends: choose a directory"),
        ("", "or set EMGAS_SNAPSHOTS"),
        ("{tmp}/file/below", "Not a directory"),
    ],
)
def test_a_place_where_no_snapshots_can_be_is_a_wrong_call(
    memory: Path, tmp_path: Path, place: str, message: str
) -> None:
    (tmp_path / "file").write_text("where a directory should be")
    result = emgas_here(memory, "snapshot", "create", "--to", place.format(tmp=tmp_path), code=2)
    assert message in result.err
    assert "internal" not in result.err


def test_where_all_snapshots_are_damaged_none_is_restored_and_nothing_is_changed(copy: Path, tmp_path: Path) -> None:
    kept, before = tmp_path / "kept", digests(copy)
    emgas_here(copy, "snapshot", "create", "--to", str(kept))
    for manifest in kept.glob("*/*/*/manifest.json"):
        manifest.write_bytes(b"{}")
    result = emgas_here(copy, "snapshot", "restore", "--from", str(kept), code=1)
    assert "can be used; nothing was changed" in result.err
    assert digests(copy) == before


async def test_a_worker_without_stores_starts_from_the_newest_good_snapshot(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_for(tmp_path / "data", "emgas", None, partitions=1, snapshots=str(tmp_path / "kept"))
    async with sqlite_transport(settings.home) as transport, Pipeline(settings, transport) as pipeline:
        await pipeline.record("ada")
        older = await pipeline.memory.send(Checkpoint(), partition=0)
        await pipeline.record("ada", id="t2")
        newest = await pipeline.memory.send(Checkpoint(), partition=0)
        await pipeline.record("ada", id="t3")
        live = pipeline.digests()
        await pipeline.stop()
        manifest = tmp_path / "kept" / "emgas" / "0" / newest.snapshot / "manifest.json"
        manifest.write_bytes(manifest.read_bytes().replace(b'"keys": ', b'"keys": 1'))
        shutil.rmtree(settings.store_of(0))
        caplog.clear()
        caplog.set_level(logging.INFO, "emgas")
        await pipeline.start()
        logged = caplog.text
        assert pipeline.digests() == live
        assert all(each.match for each in await pipeline.verified())
    assert newest.position.watermark > older.position.watermark
    assert f"snapshot {newest.snapshot} of partition 0" in logged
    assert "snapshot refused" in logged
    assert f"snapshot={older.snapshot}" in logged.replace("'", "") or older.snapshot in logged


async def test_a_worker_that_keeps_no_snapshots_says_so(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, "emgas", None)
    async with sqlite_transport(settings.home) as transport, Pipeline(settings, transport) as pipeline:
        answer = await pipeline.ask(pipeline.topics.queries, None, b'{"kind":"checkpoint"}', 0)
        assert isinstance(answer, Failure)
        assert "EMGAS_SNAPSHOTS" in answer.message
        await pipeline.record("ada")


async def test_a_worker_whose_snapshots_cannot_be_reached_folds_the_log(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("where a directory should be")
    settings = settings_for(tmp_path, "emgas", None, snapshots=str(tmp_path / "file"))
    async with sqlite_transport(settings.home) as transport, Pipeline(settings, transport) as pipeline:
        await pipeline.record("ada")
        answer = await pipeline.ask(pipeline.topics.queries, None, b'{"kind":"checkpoint"}', 0)
        assert isinstance(answer, Failure)
        assert "cannot use the snapshots" in answer.message
        assert (await pipeline.memory.record(a_turn("ada", id="t2"))).status == "accepted"


def test_a_command_that_shows_the_past_closes_windows_of_installed_packages(tmp_path: Path) -> None:
    emgas_here(tmp_path, "configure", "ada", "--preset", "soulmem")
    emgas_here(tmp_path, "add", "ada", "The kettle broke.", "--at", "2025-01-01")
    emgas_here(tmp_path, "add", "ada", "Tea is sad.", "--at", "2025-03-01")
    changed = emgas(tmp_path, "replay", "diff", "ada", "--from", "2025-02-01", "--to", "2025-02-15", "--json").json
    assert len(changed["concepts"]["weaker"]) == 2
    drawn = ("export", "--graph", "ada", "--format", "gexf", "--out", str(tmp_path / "ada.gexf"))
    assert emgas(tmp_path, *drawn, "--as-of", "2025-02-15", "--json").json["nodes"] == 5
