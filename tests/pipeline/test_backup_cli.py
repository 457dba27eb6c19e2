"""`emgas export` and `emgas import`, as users run them: there and back, twice, and killed in between."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import networkx as nx
import pytest

from emgas.errors import TransportError
from emgas.wire import ProducerRecord, partition_of
from replay.as_of.graph_as_of import graph_at
from replay.rebuild.rebuild import refold
from state.store.store import MemoryStore
from streams.settings import WorkerSettings
from streams.transport import select, topic_plan
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.reader import EmbeddedReader, ReadOnlyLog
from tests.support.cli import COMMAND, PATIENCE, ROOT, CommandResult, emgas, emgas_here, environment
from tests.support.logs import LogWriter, long_log

LINES = b"\n".join(
    json.dumps(
        {"id": f"t{n}", "graph": graph, "speaker": "Ada", "text": f"The kettle number {n} is red.", "at": 10**12 + n}
    ).encode()
    for n in range(20)
    for graph in ("ada", "bob", "cyd")
)
TOPIC = "emgas.events"


def home(data: Path) -> Path:
    return WorkerSettings(data=data).home


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the data directory of a memory with some turns in two partitions."""
    data = tmp_path_factory.mktemp("memory")
    assert emgas(data, "publish", "-", "--json", stdin=LINES, partitions="2").json["accepted"] == 60
    return data


@pytest.fixture(scope="module")
def backup(memory: Path) -> Path:
    out = memory / "backup.ndjson"
    report = emgas(memory, "export", "--out", str(out), "--json").json
    assert (report["found"], report["restorable"]) == (0, True)
    return out


async def _digests(data: Path) -> dict[str, str]:
    """Return the digest of every graph that the log in `data` makes."""
    log = ReadOnlyLog(home(data))
    try:
        reader, result = EmbeddedReader(log, TOPIC), {}
        for partition in range(log.partitions(TOPIC)):
            state = await refold(reader, partition, log.bounds(TOPIC, partition)[1], MemoryStore())
            result |= state.digests()
        return result
    finally:
        log.close()


def digests(data: Path) -> dict[str, str]:
    return asyncio.run(_digests(data))


def records(data: Path, number: int) -> list[tuple[int, bytes | None, bytes | None]]:
    log = ReadOnlyLog(home(data))
    try:
        return [(r.timestamp, r.key, r.value) for r in log.read(TOPIC, number, 0, 10**6)]
    finally:
        log.close()


def test_what_was_exported_is_imported_byte_for_byte_and_lives_on(memory: Path, backup: Path, tmp_path: Path) -> None:
    report = emgas_here(tmp_path, "import", str(backup), "--json").json
    assert (report["found"], report["appended"]) == (0, sum(len(records(memory, partition)) for partition in (0, 1)))
    for partition in (0, 1):
        assert records(tmp_path, partition)[:-1] == records(memory, partition)
    assert digests(tmp_path) == digests(memory)
    again = emgas_here(tmp_path, "import", str(backup), "--json").json
    assert (again["appended"], again["found"]) == (0, report["appended"])

    assert emgas_here(tmp_path, "publish", "-", "--json", stdin=LINES).json["duplicates"] == 60, "known by their ids"
    assert digests(tmp_path) == digests(memory)
    new = b'{"id":"new","graph":"ada","speaker":"Ada","text":"The vet prescribed ear drops."}'
    assert emgas_here(tmp_path, "publish", "-", "--json", stdin=new).json["accepted"] == 1
    reply = emgas_here(tmp_path, "query", "ada", "what did the vet prescribe?", "--json").json
    assert reply["passages"][0]["id"] == "new"
    assert emgas_here(tmp_path, "replay", "verify", "--json").json["match"] is True
    assert emgas_here(tmp_path, "import", str(backup), "--json").json["appended"] == 0, (
        "the log goes on behind the backup"
    )


def test_an_export_whose_name_ends_in_zst_is_compressed_and_imported_like_any_other(
    memory: Path, backup: Path, tmp_path: Path
) -> None:
    out, ada = tmp_path / "backup.ndjson.zst", tmp_path / "ada.ndjson.zst"
    report = emgas_here(memory, "export", "--out", str(out), "--json").json
    assert report["bytes"] == out.stat().st_size < backup.stat().st_size / 3
    again = emgas_here(memory, "export", "--out", str(out), "--json").json
    assert (again["found"], again["bytes"]) == (again["events"], report["bytes"])
    assert "a whole backup" in emgas_here(tmp_path, "import", str(out), "--dry-run").out
    assert emgas_here(tmp_path / "there", "import", str(out), "--json").json["appended"] == report["events"]
    assert digests(tmp_path / "there") == digests(memory)
    assert emgas_here(tmp_path / "turns", "import", str(out), "--turns", "--json").json["accepted"] == 60
    assert emgas_here(tmp_path, "look", "scan", str(out), "--json").json["scanned"] == 60

    exact = emgas_here(memory, "export", "--graph", "ada", "--exact", "--out", str(ada), "--json").json
    there = emgas_here(tmp_path / "moved", "import", str(ada), "--json").json
    assert there["digest"] == exact["digest"]


def test_a_compressed_backup_that_is_cut_off_or_piped_is_refused_and_nothing_is_written(
    memory: Path, tmp_path: Path
) -> None:
    out, data = tmp_path / "backup.ndjson.zst", tmp_path / "there"
    emgas_here(memory, "export", "--out", str(out))
    piped = emgas(data, "import", "-", stdin=out.read_bytes(), code=2)
    assert "cannot be read from a pipe" in piped.err
    out.write_bytes(out.read_bytes()[:-9])
    told = emgas_here(data, "import", str(out), code=1)
    assert "frame 1 of the compressed file, at byte 0, is cut off: run the export again" in told.err
    assert not data.exists()


def test_the_memory_that_a_backup_came_from_needs_nothing_of_it(backup: Path, memory: Path) -> None:
    emgas_here(memory, "query", "ada", "kettle")  # a worker was there since: the log goes on behind the backup
    before = [records(memory, partition) for partition in (0, 1)]
    assert emgas_here(memory, "import", str(backup), "--json").json["appended"] == 0
    assert [records(memory, partition) for partition in (0, 1)] == before


def test_an_export_beside_a_live_process_works_and_an_import_is_refused(
    memory: Path, backup: Path, tmp_path: Path
) -> None:
    log = EmbeddedLog(home(memory))
    try:
        assert emgas(memory, "export", "--out", str(tmp_path / "beside"), "--json").json["restorable"] is True
        assert "uses the data directory" in emgas(memory, "import", str(backup), code=1).err
    finally:
        log.close()


def test_another_export_into_the_same_file_leaves_it_alone(memory: Path, backup: Path) -> None:
    before = backup.read_bytes()
    report = emgas_here(memory, "export", "--out", str(backup), "--json").json
    assert report["found"] == report["events"]
    assert backup.read_bytes() == before
    assert backup.stat().st_mode & 0o077 == 0, "what people said is nobody else's to read"


def test_a_flipped_byte_is_refused_and_named(backup: Path, tmp_path: Path) -> None:
    raw = backup.read_bytes()
    place = raw.index(b"kettle number 7 ")
    (tmp_path / "damaged").write_bytes(raw[:place] + b"b" + raw[place + 1 :])
    line = raw[:place].count(b"\n") + 1
    for more in ((), ("--turns",)):
        result = emgas_here(tmp_path, "import", str(tmp_path / "damaged"), *more, code=1)
        assert f"line {line} is not as it was written" in result.err


def test_another_partition_count_is_refused_and_the_turns_go_in(memory: Path, backup: Path, tmp_path: Path) -> None:
    three = {"partitions": "3"}
    emgas_here(tmp_path, "topics", "create", **three)
    refused = emgas_here(tmp_path, "import", str(backup), code=1, **three)
    assert "the backup has 2 partitions and the topic has 3" in refused.err
    assert "emgas import --turns FILE" in refused.err
    assert emgas_here(tmp_path, "import", str(backup), "--turns", "--json", **three).json["accepted"] == 60
    assert emgas_here(tmp_path, "import", str(backup), "--turns", "--json", **three).json["duplicates"] == 60
    log = ReadOnlyLog(home(tmp_path))
    graphs = [asyncio.run(graph_at(EmbeddedReader(log, TOPIC), number, "ada")) for number in range(3)]
    log.close()
    (graph,) = filter(None, graphs)
    assert (len(graph.passages), graph.clock) == (20, 10**12 + 19)


def test_a_memory_that_was_restored_only_in_part_says_so_when_it_opens(memory: Path, tmp_path: Path) -> None:
    log = EmbeddedLog(home(tmp_path))
    for plan in topic_plan.plan(WorkerSettings().topics, 2):
        log.create_topic(plan)
    for partition in (0, 1):
        part = records(memory, partition)[:8]
        log.append([ProducerRecord(TOPIC, key, value, (), partition, at) for at, key, value in part])
    log.close()
    error = emgas_here(tmp_path, "query", "ada", "kettle").err
    assert error.count("turns was created again") == error.count("copy all of it into an empty prefix") == 2


def test_one_graphs_backup_is_no_log_but_its_turns_go_in(memory: Path, tmp_path: Path) -> None:
    out = tmp_path / "ada.ndjson"
    emgas_here(memory, "export", "--graph", "ada", "--out", str(out))
    assert b'"bob"' not in out.read_bytes()
    assert "--turns" in emgas_here(tmp_path, "import", str(out), code=1).err
    assert emgas_here(tmp_path, "import", str(out), "--turns", "--json").json["accepted"] == 20


def test_a_chats_export_is_imported_as_it_is_published(tmp_path: Path) -> None:
    (tmp_path / "WhatsApp Chat with Eve.txt").write_text("5/8/23, 1:56 PM - Eve: We adopted a ginger cat.\n")
    arguments = ("import", str(tmp_path / "WhatsApp Chat with Eve.txt"), "--json")
    assert "--date-order dmy, mdy or ymd" in emgas_here(tmp_path, *arguments, code=2).err
    assert emgas_here(tmp_path, *arguments, "--date-order", "mdy").json["accepted"] == 1
    assert emgas_here(tmp_path, *arguments, "--date-order", "mdy").json["duplicates"] == 1
    assert (
        emgas_here(tmp_path, "query", "whatsapp-Eve", "cat?", "--json").json["passages"][0]["at"] == 1_683_554_160_000
    )


def test_a_graph_is_written_for_other_tools(memory: Path, tmp_path: Path) -> None:
    for format, read in (("graphml", nx.read_graphml), ("gexf", nx.read_gexf)):
        result = emgas_here(
            memory, "export", "--graph", "ada", "--format", format, "--out", str(tmp_path / format), "--json"
        )
        assert len(read(tmp_path / format)) == result.json["nodes"] > 0
    emgas_here(memory, "export", "--graph", "ada", "--format", "json", "--passages", "--out", str(tmp_path / "json"))
    made = nx.node_link_graph(json.loads((tmp_path / "json").read_bytes()), edges="edges")
    assert sum(kind == "passage" for _, kind in made.nodes(data="kind")) == 20
    as_of = ("--as-of", str(10**12 + 9), "--out", str(tmp_path / "then"))
    emgas_here(memory, "export", "--graph", "ada", "--format", "json", "--passages", *as_of)
    then = nx.node_link_graph(json.loads((tmp_path / "then").read_bytes()), edges="edges")
    assert sum(kind == "passage" for _, kind in then.nodes(data="kind")) == 10


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["export"], 2, "Missing option"),
        (["export", "--out", "x", "--format", "pdf"], 2, "choose one of cloudevents, graphml"),
        (["export", "--out", "x", "--format", "gexf"], 2, "name it with --graph"),
        (["export", "--out", "x", "--passages"], 2, "a backup holds all events"),
        (["export", "--out", "x", "--graph", "../x"], 2, "graph: must be 1 to 128 printable"),
        (["export", "--out", "/proc/no/such", "--graph", "ada"], 2, "cannot write /proc/no/such"),
        (["export", "--out", "{tmp}/x", "--graph", "nobody"], 3, "there is no graph nobody"),
        (["export", "--out", "{tmp}/x", "--graph", "nobody", "--format", "gexf"], 3, "there is no graph"),
        (["import", "no-such-file"], 2, "there is no file no-such-file"),
        (["import", "{tmp}"], 2, "holds no file: name a file, or the folder of an export"),
        (["import", "-", "--turns"], 2, "- is not a backup"),
        (["import", "{backup}", "--graph", "ada"], 2, "leave out --graph and --format"),
    ],
)
def test_a_wrong_call_is_told_what_to_do(
    memory: Path, backup: Path, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    filled = [argument.format(tmp=tmp_path, backup=backup) for argument in arguments]
    assert message in emgas_here(memory, *filled, code=code).err


def test_a_backup_that_is_imported_where_it_came_from_brings_nothing_back_that_was_undone(tmp_path: Path) -> None:
    data, out = tmp_path / "memory", str(tmp_path / "backup.ndjson")
    emgas_here(
        data, "publish", str(ROOT / "streams" / "cli" / "memory" / "demo_data" / "conversation.jsonl"), partitions="2"
    )
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"id": "wrong", "graph": "demo", "speaker": "Mei", "text": "Snake oil.", "at": 1760000000000}')
    emgas_here(data, "publish", str(wrong))
    emgas_here(data, "forget", "demo", "--concept", "kettle")
    emgas_here(data, "replay", "undo", "demo", "--last", "2")
    before = emgas_here(data, "replay", "digest", "--json").json
    emgas_here(data, "export", "--out", out)
    assert emgas_here(data, "import", out, "--json").json["appended"] == 0
    emgas_here(data, "query", "demo", "snake oil?")  # a worker lives, and reads what it has not read
    assert emgas_here(data, "replay", "digest", "--json").json == before


# killed in between

HERE = next(name for name in map(str, range(100)) if partition_of(name, 4) == 0)  # a graph of the partition of `large`


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the data directory of a log that takes a while to read."""
    data = tmp_path_factory.mktemp("large")
    fill(data, long_log(18_000))
    return data


def fill(data: Path, log: LogWriter) -> None:
    settings = WorkerSettings(data=data, partitions=4)  # as the claims of the log say
    asyncio.run(select.create(settings))
    opened = EmbeddedLog(settings.home)
    try:
        opened.append([ProducerRecord(TOPIC, None, value, (), 0, offset) for offset, value in log.records])
    finally:
        opened.close()


def killed(data: Path, *arguments: str, once: Callable[[], bool]) -> None:
    """Start a command, kill it -9 once something holds, and check that it was not done by then."""
    running = subprocess.Popen([*COMMAND, *arguments], env=environment(data), stdout=subprocess.DEVNULL)
    give_up = time.monotonic() + PATIENCE
    try:
        while not once():
            assert running.poll() is None, "it was done before it could be killed"
            assert time.monotonic() < give_up
            time.sleep(0.001)
    finally:
        running.kill()
    assert running.wait() == -signal.SIGKILL


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


@pytest.mark.slow
def test_an_export_that_is_killed_goes_on_and_is_as_if_it_had_not_been(large: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole", tmp_path / "killed"
    events = emgas_here(large, "export", "--out", str(whole), "--json").json["events"]
    for least in (1, 2_000_000, 4_000_000):  # of 12 MB
        killed(large, "export", "--out", str(out), once=lambda least=least: size(out) > least)  # type: ignore[misc]
        assert size(out) < size(whole)
    done: CommandResult = emgas_here(large, "export", "--out", str(out), "--json")
    assert done.json["events"] == events
    assert 0 < done.json["found"] < events
    target = tmp_path / "target"
    emgas_here(target, "import", str(out))
    assert digests(target) == digests(large)


@pytest.mark.slow
def test_an_import_that_is_killed_goes_on_and_makes_the_same_memory(large: Path, tmp_path: Path) -> None:
    out, target = tmp_path / "backup", tmp_path / "target"
    emgas_here(large, "export", "--out", str(out))
    for least in (1, 4_000):
        killed(target, "import", str(out), once=lambda least=least: appended(target) >= least)  # type: ignore[misc]
        assert appended(target) < appended(large)
    report = emgas_here(target, "import", str(out), "--json").json
    assert report["found"] > 0
    assert report["found"] + report["appended"] == appended(large) == appended(target) - 1, "a claim comes after"
    assert digests(target) == digests(large)
    assert emgas_here(target, "import", str(out), "--json").json["appended"] == 0


def test_no_worker_writes_behind_an_import_that_was_killed_and_it_can_be_completed(large: Path, tmp_path: Path) -> None:
    out, target = tmp_path / "backup", tmp_path / "target"
    emgas_here(large, "export", "--out", str(out))
    killed(target, "import", str(out), once=lambda: appended(target) >= 1)
    there = appended(target)
    assert 0 < there < appended(large)
    error = emgas_here(target, "query", HERE, "anything", code=1).err
    assert f"{there} events of a backup are there, {appended(large) - there} are not" in error
    assert "run `emgas import FILE` again" in error
    assert appended(target) == there
    emgas_here(target, "import", str(out))
    assert digests(target) == digests(large)
    turn = json.dumps({"id": "new", "graph": HERE, "speaker": "Ada", "text": "The kettle is red."}).encode()
    assert emgas_here(target, "publish", "-", "--json", stdin=turn).json["accepted"] == 1


def appended(data: Path) -> int:
    """Return how many records the log in `data` holds, 0 for one that is not there, or is being made."""
    try:
        with closing(ReadOnlyLog(home(data))) as log:
            return log.bounds(TOPIC, 0)[1]
    except TransportError:
        return 0
