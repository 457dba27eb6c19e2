"""`emgas` on the embedded log, as its users meet it: what it prints, what it exits with, what it says went wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from emgas import Turn
from emgas.importers.registry import read
from emgas.wire import ProducerRecord, partition_of
from state.events.events import GraphEvent, TurnRecorded, decode, encode
from state.graph.graph import Graph
from state.partition import Partition
from state.store import keys
from state.store.rocksdb import RocksStore
from streams.cli.exchange.publish import Reading
from streams.settings import WorkerSettings
from streams.transport.embedded.log import EmbeddedLog
from tests.streams.test_model_store import published, weights
from tests.support.cli import ROOT, CommandResult, emgas, emgas_here
from tests.support.graphs import pair_counts
from tests.support.tables import stored_as
from tests.support.transports import overwrite

CONVERSATION = ROOT / "streams" / "cli" / "memory" / "demo_data" / "conversation.jsonl"
TURNS = len(CONVERSATION.read_bytes().splitlines())
LIFE = len(CONVERSATION.with_name("life.jsonl").read_bytes().splitlines())
GRAPH = "demo"
DEMO_DIGEST = "1c7d0ef2fa895a28490d2ed84eff7db9986473df9679682b0e77fc17f3790708"
FEBRUARY, MARCH_NOON = 1_738_368_000_000, 1_740_830_400_000  # 2025-02-01, 2025-03-01T12:00


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory that holds the demo's conversation; it is published by the command itself."""
    data = tmp_path_factory.mktemp("memory")
    result = emgas(data, "publish", str(CONVERSATION), "--json", partitions="2")
    assert numbers(result) == counts(published=TURNS, accepted=TURNS)
    assert result.json["seconds"] > 0
    assert len(result.out.splitlines()) == 1, "progress belongs on stderr"
    return data


@pytest.fixture
def copy(memory: Path, tmp_path: Path) -> Path:
    """Return a copy of it, to be spoilt."""
    shutil.copytree(memory, tmp_path / "copy")
    return tmp_path / "copy"


def counts(**expected: int) -> dict[str, float]:
    return {"published": 0, "accepted": 0, "duplicates": 0, "rejected": 0, "seconds": 0, **expected}


def numbers(result: CommandResult) -> dict[str, float]:
    """Return what `publish --json` counted, without what is no count."""
    return {name: value for name, value in result.json.items() if name not in ("graphs", "waited")} | {"seconds": 0}


def home(data: Path) -> WorkerSettings:
    return WorkerSettings(data=data, broker=None)


def a_line(**changes: Any) -> bytes:
    turn = {"id": "t1", "graph": "ada", "speaker": "Ada", "text": "The kettle broke.", **changes}
    return json.dumps(turn).encode()


# what a user does


def test_the_demo_shows_a_context_an_association_and_how_to_go_on_and_keeps_its_memory_if_asked(tmp_path: Path) -> None:
    result = emgas(tmp_path, "demo", "--keep", str(tmp_path / "kept"))
    assert "context, ready for a prompt" in result.out
    assert "latte: 15 times on 15 days since 2025-09-02" in result.out
    assert "without a lift. [history: changed 2025-09-27]" in result.out
    assert "pinned, so that it never fades: The code of the bicycle lock is 4471." in result.out
    assert "it shares no word with the question, by sister → lark:\nI read in the local paper" in result.out
    commands = re.findall(r"^  (?:emgas|python -m streams\.cli\.main) (.*?)(?:   #.*)?$", result.out, re.MULTILINE)
    assert [command.split()[2] for command in commands if command.startswith("--data")] == [
        "query",
        "look",
        "serve",
    ]
    assert (
        "shuts for good on 31"
        in emgas_here(tmp_path, "--data", str(tmp_path / "kept"), "query", "demo", "studio shuts").out
    )
    assert "already holds a memory" in emgas_here(tmp_path, "demo", "--keep", str(tmp_path / "kept"), code=2).err


def test_the_demo_shows_an_association_a_silence_and_that_what_was_forgotten_is_gone(tmp_path: Path) -> None:
    shown = emgas(tmp_path, "demo").out
    associated, _, rest = shown.partition(" Can I go on with the violin? ")[2].partition(" Who wrote Hamlet? ")
    table, _, context = associated.partition("context, ready for a prompt")
    assert "Mr. Brandt is moving to Vienna" in table, "the answer stands in the table"
    assert "Jonas: Mr. Brandt is moving to Vienna" in context
    assert "it shares no word with the question, by violin → brandt:\nMr. Brandt is moving" in context
    silence, _, forgotten = rest.partition(" Can I go on with the violin? ")
    for part in (silence, forgotten):
        assert "Nothing in this memory answers that." in part
        assert "context, ready" not in part
    assert "Brandt" in shown
    assert "Brandt" not in forgotten


def test_the_demo_ends_with_the_same_digest(tmp_path: Path) -> None:
    result = emgas(tmp_path, "demo", "--json")
    report = result.json
    assert set(report) == {
        "turns", "graphs", "concepts", "pairs", "digest_live", "digest_replayed", "match", "seconds",
    }  # fmt: skip
    assert report["match"] is True
    assert report["digest_live"] == report["digest_replayed"]
    assert (report["turns"], report["graphs"]) == (TURNS + LIFE, 3)
    assert min(report["concepts"], report["pairs"]) > 0
    assert list(tmp_path.iterdir()) == [], "the demo leaves nothing behind"
    assert result.json["digest_live"] == DEMO_DIGEST, "it is the same on every machine"


@pytest.mark.source("P48")
def test_publishing_a_file_again_changes_nothing(memory: Path) -> None:
    before = emgas_here(memory, "replay", "verify", "--json").json["partitions"]
    result = emgas_here(memory, "publish", str(CONVERSATION))
    assert f"{TURNS} turns" in result.out
    assert f"0 accepted, {TURNS} duplicates, 0 rejected" in result.out
    after = emgas_here(memory, "replay", "verify", "--json").json["partitions"]
    assert [each["turns"] for each in before] == [each["turns"] for each in after]


@pytest.mark.source("P48")
@pytest.mark.parametrize("order", [("phone", "laptop"), ("laptop", "phone", "laptop")])
def test_what_two_devices_were_told_offline_comes_together_in_any_order_each_turn_once(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    report = {
        "phone": [a_line(id="t1"), a_line(id="t2", text="The kettle is mended.")],
        "laptop": [a_line(id="t1"), a_line(id="t3", text="A tin of tea stands in the attic.")],
    }
    for device, lines in report.items():
        emgas_here(tmp_path / device, "publish", "-", stdin=b"\n".join(lines))
        emgas_here(tmp_path / device, "export", "--out", str(tmp_path / f"{device}.ndjson"))
    shared = tmp_path / "shared"
    for device in order:
        emgas_here(shared, "import", "--turns", str(tmp_path / f"{device}.ndjson"))
    read = emgas_here(shared, "turns", "ada", "--json").json
    assert sorted(turn["id"] for turn in read["turns"]) == ["t1", "t2", "t3"]
    passages = emgas_here(shared, "query", "ada", "where is the tea?", "--json").json["passages"]
    assert "t3" in {passage["id"] for passage in passages}


def test_a_query_finds_what_was_said(memory: Path) -> None:
    reply = emgas(memory, "query", GRAPH, "who adopted the ginger cat?", "--json").json
    assert (reply["kind"], reply["graph"], reply["found"]) == ("reply", GRAPH, True)
    assert "demo-003" in {passage["id"] for passage in reply["passages"]}
    assert reply["context"]
    result = emgas_here(memory, "query", GRAPH, "who adopted the ginger cat?", "--top", "3", "--mode", "literal")
    assert "passages" in result.out


@pytest.mark.source("S6", "S7")
def test_a_query_in_another_mode_says_how_it_was_answered(memory: Path) -> None:
    question = ("query", GRAPH, "who adopted the ginger cat?", "--mode", "staged", "--explain")
    guided = ("--guide", "mood=in a hurry", "--guide", "semantic=2", "--guide", "role=cat")
    shown = emgas_here(memory, *question, *guided).out
    phrases = ("mode staged (SoulMem (Soul-Retr))", "direct: ", "mass ", "coverage ", "guided: depth 0.00: 3 passages")
    for part in phrases:
        assert part in shown
    walk = ("--mode", "ppr", "--weighting", "npmi", "--spreading", "propagation_decay=0.85", "--rerank", "mofox")
    how = emgas_here(memory, *question[:3], *walk, "--explain", "--json").json["how"]
    assert (how["mode"], how["weighting"], how["constants"]["propagation_decay"]) == ("ppr", "npmi", 0.85)
    assert [stage["name"] for stage in how["stages"]] == ["walk", "rerank mofox"]


@pytest.mark.parametrize(
    ("options", "passes"),
    [
        (["--session", "2025-01-18"], lambda result: result["session"] == "2025-01-18"),
        (["--speaker", "Mei", "--speaker", "Kit"], lambda result: result["speaker"] in ("Mei", "Kit")),
        (
            ["--since", "2025-02-01", "--until", "2025-03-01T12:00"],
            lambda result: FEBRUARY <= result["at"] < MARCH_NOON,
        ),
        (["--concept", "cat", "--exclude", "demo-003"], lambda result: result["id"] != "demo-003"),
        (["--meta", "app=chat"], lambda result: False),
        (["--speaker", "nobody"], lambda result: False),
    ],
)
def test_a_query_can_be_narrowed(memory: Path, options: list[str], passes: Callable[[dict[str, Any]], bool]) -> None:
    query = ("query", GRAPH, "who adopted the ginger cat?", "--top", "100", "--json")
    whole = emgas_here(memory, *query).json["passages"]
    narrowed = emgas_here(memory, *query, *options).json["passages"]
    assert len(narrowed) < len(whole)
    assert all(map(passes, narrowed))
    if "--concept" not in options:
        likely = {"likelihood": 0, "in_context": None, "score": 0}  # which depend on all that a query lets through
        assert [each | likely for each in narrowed] == [each | likely for each in whole if passes(each)]


def test_metadata_on_the_command_line_is_json_where_it_can_be(tmp_path: Path) -> None:
    also = {"n": "1", "app": "x=y"}
    lines = [a_line(id="t1", metadata={"n": 1, "app": "x=y"}), a_line(id="t2", metadata=also, text="A kettle again.")]
    emgas_here(tmp_path, "publish", "-", stdin=b"\n".join(lines))
    for values, expected in {
        ("n=1",): {"t1"},
        ('n="1"',): {"t2"},
        ("app=x=y",): {"t1", "t2"},
        ("app=x=y", "n=2"): set(),
    }.items():
        options = [part for each in values for part in ("--meta", each)]
        result = emgas_here(tmp_path, "query", "ada", "the kettle", *options, "--json").json
        assert {passage["id"] for passage in result["passages"]} == expected


def test_a_query_explains_itself(memory: Path) -> None:
    result = emgas_here(memory, "query", GRAPH, "who adopted the ginger cat?", "--explain", "--json").json
    best = result["passages"][0]
    assert sum(best["why"]["terms"].values()) == pytest.approx(best["score"])
    shown = emgas_here(memory, "query", GRAPH, "who adopted the ginger cat?", "--explain").out
    assert f"{best['id']} 2025-" in shown
    for part in ("score: ", "here: ", "associations: ", " before (demo-"):
        assert part in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--meta", "app"], "write KEY=VALUE"),
        (["--since", "soon"], "is no time"),
        (["--since", "2025-02-01", "--until", "2025-01-01"], "`until` must be later than `since`"),
        (["--kind", "working", "--mode", "literal"], "kinds of memory need the default mode"),
        (["--mode", "sideways"], "--mode sideways: choose one of default, inject, literal, ppr"),
        (["--weighting", "gold"], "--weighting gold: choose one of fan, ppmi, npmi"),
        (["--guide", "haste=1"], "--guide haste=1: choose one of depth, by_complexity"),
        (["--spreading", "window"], "--spreading window: write KEY=VALUE"),
    ],
)
def test_a_wrong_filter_is_a_wrong_call(memory: Path, options: list[str], message: str) -> None:
    result = emgas_here(memory, "query", GRAPH, "who?", *options, code=2)
    assert message in " ".join(result.err.replace("│", " ").split())


def test_a_query_to_an_unknown_graph_exits_with_3(memory: Path) -> None:
    result = emgas_here(memory, "query", "nobody", "who?", "--json", code=3)
    assert (result.json["found"], result.json["passages"]) == (False, [])
    printed = emgas_here(memory, "query", "nobody", "who?", code=3)
    assert (printed.out, printed.err) == ("", "error: there is no graph nobody: list the graphs with `emgas graphs`\n")


def test_bad_lines_among_good_ones_become_dead_letters_that_can_be_listed_and_read(tmp_path: Path) -> None:
    bad = [b'{"id": "t2", "graph":', a_line(id="t3", speaker="x" * 5_000_000), a_line(id="t4", mood="good")]
    file = tmp_path / "chat.jsonl"
    file.write_bytes(b"\n".join([a_line(), *bad, a_line(id="t5"), a_line(id="t5", text="Another text.")]))
    result = emgas_here(tmp_path, "publish", str(file), "--json")
    assert numbers(result) == counts(published=6, accepted=2, rejected=4)
    for reason in ("line 2: ", "line 3: ", "line 4: mood", "turn t5: turn id 't5' is known"):
        assert f"rejected {reason}" in result.err

    letters = emgas_here(tmp_path, "dead-letters", "list", "--json").json["dead_letters"]
    reasons = sorted(letter["reason"] for letter in letters)
    assert [reason[:7] for reason in reasons] == ["line 2:", "line 3:", "line 4:", "turn id"]
    assert "is not valid JSON" in reasons[0]
    assert "speaker: must have at most 256 characters" in reasons[1]
    assert "mood: is not a known field" in reasons[2]
    listed = emgas_here(tmp_path, "dead-letters", "list").out
    assert all(letter["id"] in listed for letter in letters)

    by_reason = {letter["reason"]: letter for letter in letters}
    for line, reason in zip(bad, reasons, strict=False):
        letter = by_reason[reason]
        shown = emgas_here(tmp_path, "dead-letters", "show", letter["id"])
        assert shown.out == f"{line.decode()}\n", "the bytes are untouched"
        assert reason in shown.err
        assert letter["bytes"] == len(line)
    report = emgas_here(tmp_path, "dead-letters", "show", by_reason[reasons[3]]["id"], "--json").json
    assert json.loads(report["value"])["text"] == "Another text."
    assert report["origin"].startswith("emgas.turns/")
    missing = emgas_here(tmp_path, "dead-letters", "show", "0:99", code=3)
    assert "see `emgas admin dead-letters list`" in missing.err


def test_turns_from_stdin_need_not_be_waited_for_and_are_found_later(tmp_path: Path) -> None:
    lines = b"\n".join(a_line(id=f"t{n}", text=f"Kettle number {n} broke.") for n in range(30))
    result = emgas_here(tmp_path, "publish", "-", "--no-wait", "--json", stdin=lines, partitions="2")
    assert numbers(result) == counts(published=30)
    reply = emgas_here(tmp_path, "query", "ada", "kettle number 29", "--after", "29", "--top", "30", "--json")
    assert "t29" in {passage["id"] for passage in reply.json["passages"]}


# the fold


def test_verify_finds_the_live_state_equal_to_the_fold_of_the_log(memory: Path) -> None:
    report = emgas_here(memory, "replay", "verify", "--json").json
    assert report["match"] is True
    assert [each["partition"] for each in report["partitions"]] == [0, 1]
    for each in report["partitions"]:
        assert {"partition", "watermark", "digest_live", "digest_replayed", "turns"} <= set(each)
        assert each["digest_live"] == each["digest_replayed"]
        assert each["each_once"] is True
    assert sum(each["turns"] for each in report["partitions"]) == TURNS


def test_rebuild_keeps_the_stores_it_is_asked_to_keep(memory: Path, tmp_path: Path) -> None:
    report = emgas_here(memory, "replay", "rebuild", "--json").json
    assert set(report) == {"events", "seconds", "events_per_second", "digest", "unavailable"}
    assert report["unavailable"] == {}
    again = emgas_here(memory, "replay", "rebuild", "--into", str(tmp_path / "kept"), "--json").json
    assert (again["events"], again["digest"]) == (report["events"], report["digest"])
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["0", "1", "plan.json"]
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "letter.txt").write_text("Dear Ada")
    refused = emgas_here(memory, "replay", "rebuild", "--into", str(tmp_path / "foreign"), code=2)
    assert "is not empty" in refused.err


def test_verify_exits_with_4_when_a_store_was_tampered_with(copy: Path) -> None:
    """Somebody edits one stored text: the graph still loads, and its count is right."""
    number, graph = partition_with(copy, GRAPH)
    log = EmbeddedLog(home(copy).home)
    events = [decode(record.value or b"") for record in log.read("emgas.events", number, 0)]
    log.close()
    lived = [event for event in events if isinstance(event, GraphEvent) and event.graph == graph]
    spoken = next(ordinal for ordinal, event in enumerate(lived) if isinstance(event, TurnRecorded))
    first_spoken = lived[spoken]
    assert isinstance(first_spoken, TurnRecorded)
    changes = {"text": "We adopted a dog.", "concepts": first_spoken.concepts[:1]}
    lived[spoken] = forged = msgspec.structs.replace(first_spoken, **changes)
    fresh = Graph(graph)
    for event in lived:
        fresh.fold(event)
    store = RocksStore(home(copy).store_of(number))
    assert store.get(keys.count_key(graph)) == keys.counts(fresh.events, fresh.turns)
    store.write({keys.event_key(graph, spoken): encode(forged), **stored_as(fresh, graph)})
    store.close()
    result = emgas_here(copy, "replay", "verify", "--json", code=4)
    assert result.json["match"] is False
    assert [each["match"] for each in result.json["partitions"]] == [each != number for each in (0, 1)]


def test_inspect_reads_a_pair_from_the_store_as_the_fold_has_it(memory: Path) -> None:
    number, name = partition_with(memory, GRAPH)
    store = RocksStore(home(memory).store_of(number))
    graph = Partition(store).graph(name)
    assert graph is not None
    counted = {window: pair_counts(graph, window) for window in ("turn", "exchange", "recall")}
    store.close()
    one, other = max(counted["turn"], key=lambda pair: counted["turn"][pair]).split(" ")[:2]
    report = emgas_here(memory, "inspect", name, "--pair", other, one, "--json").json
    exchanges, recalls = (counted[window].get(f"{one} {other}", 0) for window in ("exchange", "recall"))
    turns = counted["turn"][f"{one} {other}"]
    assert turns > 1
    assert report == {"graph": name, "pair": [other, one], "turns": turns, "exchanges": exchanges, "recalls": recalls}
    assert emgas_here(memory, "inspect", name, "--json").json["events"] == graph.events
    assert "has no concept unheard" in emgas_here(memory, "inspect", name, "--pair", one, "unheard", code=3).err
    assert "there is no graph" in emgas_here(memory, "inspect", "nobody", code=3).err


def test_verify_exits_with_4_when_the_log_was_changed(copy: Path) -> None:
    """Somebody edits one turn in the log, as a privacy request may tempt one to."""
    number, _ = partition_with(copy, GRAPH)
    log = EmbeddedLog(home(copy).home)
    record = next(r for r in log.read("emgas.events", number, 0) if b"ginger tom" in (r.value or b""))
    log.close()
    forged = record.value.replace(b"ginger tom", b"black tom ")
    overwrite(home(copy).home, ("emgas.events", number), record.offset, forged)
    result = emgas_here(copy, "replay", "verify", "--json", code=4)
    assert [each["match"] for each in result.json["partitions"]] == [each != number for each in (0, 1)]
    assert "follows another history" in result.err
    assert "follows another history" in emgas_here(copy, "replay", "rebuild", code=1).err


def partition_with(data: Path, graph: str) -> tuple[int, str]:
    """Return the number of the partition whose store holds `graph`, and the graph."""
    for partition in range(2):
        store = RocksStore(home(data).store_of(partition))
        value = store.get(keys.count_key(graph))
        store.close()
        if value:
            return partition, graph
    raise AssertionError(f"no store holds {graph}")


def test_where_every_graph_forgot_everything_the_list_says_so(tmp_path: Path) -> None:
    emgas_here(tmp_path, "add", "ada", "The kettle broke.")
    emgas_here(tmp_path, "forget", "ada", "--all")
    for options in ([], ["--long"]):
        result = emgas_here(tmp_path, "graphs", *options)
        assert (result.out, "no graph holds a memory" in result.err) == ("", True)
    assert emgas_here(tmp_path, "graphs", "--json").json == {"graphs": []}


# operating


def test_the_doctor_tells_what_is_there(memory: Path) -> None:
    report = emgas_here(memory, "doctor", "--json").json
    assert {"ok", "transport", "graphs", "turns", "concepts", "pairs", "checks"} <= set(report)
    assert (report["ok"], report["transport"], report["graphs"], report["turns"]) == (True, "embedded", 2, TURNS)
    assert all(check["ok"] for check in report["checks"])
    assert "EMGAS on embedded" in emgas_here(memory, "doctor").out


def test_the_doctor_names_the_extractor_that_the_worker_would_use(memory: Path) -> None:
    for path, ok, message in (
        ("processors.extraction.yake_extractor.YakeExtractor", True, "yake "),
        ("tests.pipeline.test_branch_cli.Lone", True, "lone 1"),
        ("nothing.here", False, "EMGAS_EXTRACTOR=nothing.here names no extractor"),
    ):
        report = emgas_here(memory, "doctor", "--json", code=not ok, extractor=path).json
        (check,) = (check for check in report["checks"] if check["name"] == "extractor")
        assert (check["ok"], check["detail"].startswith(message)) == (ok, True)
        assert report["ok"] == ok


def test_the_doctor_names_the_model_of_text_embeddings(memory: Path, tmp_path: Path) -> None:
    model = tmp_path / "tiny.npz"
    np.savez(model, words=np.array(["cat"]), vectors=np.ones((1, 3)))
    for path, ok, message in (
        (None, True, "none"),
        (model, True, "tiny "),
        (tmp_path / "no", False, "EMGAS_EMBEDDER: "),
    ):
        settings = {} if path is None else {"embedder": str(path)}
        report = emgas_here(memory, "doctor", "--json", code=not ok, **settings).json
        (check,) = (check for check in report["checks"] if check["name"] == "embedder")
        assert (check["ok"], check["detail"].startswith(message)) == (ok, True)
        assert report["ok"] == ok


def test_a_model_that_was_added_is_found_by_its_name(memory: Path, tmp_path: Path) -> None:
    source = published(tmp_path / "tiny", weights(positions=64))
    report = emgas_here(memory, "model", "add", str(source), "--json").json
    assert (report["name"], report["numbers"]) == ("tiny", 8)
    assert emgas_here(memory, "model", "list", "--json").json == {"models": ["tiny"]}
    (check,) = (
        check
        for check in emgas_here(memory, "doctor", "--json", embedder="tiny").json["checks"]
        if check["name"] == "embedder"
    )
    assert check["detail"] == report["model"]
    assert "there is a model tiny" in emgas_here(memory, "model", "add", str(source), code=2).err


def test_the_topics_are_described_and_their_partition_count_stays(memory: Path) -> None:
    by_name = {topic["name"]: topic for topic in emgas_here(memory, "topics", "describe", "--json").json["topics"]}
    assert set(by_name) == {
        f"emgas.{name}" for name in ("turns", "events", "queries", "replies", "changes", "dead-letters")
    }
    assert by_name["emgas.events"]["config"]["retention.ms"] == "-1"
    assert by_name["emgas.turns"]["partitions"] == 2
    assert emgas_here(memory, "topics", "create", "--partitions", "2").code == 0
    by_name = emgas_here(memory, "topics", "create", "--without", "retention.mss", code=2).err
    assert "no topic has the setting retention.mss: --without takes cleanup.policy, compression.type, " in by_name
    refused = emgas_here(memory, "topics", "create", "--partitions", "3", code=1)
    assert "set the partition count back to 2" in refused.err


def test_a_second_process_on_one_directory_is_told_who_has_it(memory: Path) -> None:
    log = EmbeddedLog(home(memory).home)
    try:
        result = emgas(memory, "query", GRAPH, "who?", code=1)
        assert f"process {os.getpid()} uses the data directory" in result.err
        assert "set EMGAS_DATA to another directory" in result.err
    finally:
        log.close()


def test_a_log_with_an_unknown_event_is_refused_in_words_and_the_process_ends(copy: Path) -> None:
    log = EmbeddedLog(home(copy).home)
    log.append(
        [ProducerRecord("emgas.events", None, b'{"v": 2, "kind": "GraphErased"}', (), partition_of(GRAPH, 2), 0)]
    )
    log.close()
    result = emgas_here(copy, "query", GRAPH, "who?", code=1)
    assert "Run the version that wrote it; do not skip it" in " ".join(result.err.split())


def test_a_broker_that_is_not_there_is_a_failure_in_words(tmp_path: Path) -> None:
    for arguments in (["query", "ada", "who?"], ["topics", "describe"], ["worker"]):
        result = emgas_here(tmp_path, *arguments, code=1, broker="kafka://127.0.0.1:1")
        assert "127.0.0.1:1" in result.err


def test_who_publishes_is_told_which_graphs_it_went_to(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes(b"\n".join([a_line(), a_line(id="t2"), a_line(graph="张伟")]))
    result = emgas_here(tmp_path / "data", "publish", str(file))
    assert "graphs: ada (2), 张伟 (1)" in result.out
    assert emgas_here(tmp_path / "data", "publish", str(file), "--json").json["graphs"] == {"ada": 2, "张伟": 1}


@pytest.mark.parametrize("command", ["publish", "import"])
def test_a_dry_run_tells_what_would_be_sent_and_makes_no_memory(tmp_path: Path, command: str) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes(b"\n".join([a_line(), b"{", a_line(id="t2")]))
    result = emgas_here(tmp_path / "data", command, str(file), "--dry-run", "--json")
    assert numbers(result) == counts(published=3, rejected=1)
    assert result.json["graphs"] == {"ada": 2}
    assert "rejected line 2" in result.err
    assert not (tmp_path / "data").exists()


def test_a_turn_that_moves_an_old_graph_far_ahead_is_doubted_once(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes(a_line(at="2023-05-08T14:00"))
    assert "older turns fade" not in emgas_here(tmp_path / "data", "publish", str(file)).err
    file.write_bytes(b"\n".join([a_line(id="t2", at="2025-05-08"), a_line(id="t3", at="2025-05-08")]))
    warning = emgas_here(tmp_path / "data", "publish", str(file)).err
    assert warning.count("older turns fade") == 1
    assert "turn t2 is dated 2025-05-08, but the latest turn of graph ada is of 2023-05-08" in warning
    assert "fade by 730 days at once" in warning


def test_the_first_turn_of_a_graph_that_was_configured_before_is_no_leap(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes(a_line(at="2023-05-08T14:00"))
    emgas_here(tmp_path / "data", "configure", "ada", "--preset", "maibot")
    assert "older turns fade" not in emgas_here(tmp_path / "data", "publish", str(file)).err


async def test_the_bar_is_where_the_turns_are_that_have_arrived(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    lines = [a_line(id=f"t{n}") + b"\n" for n in range(5)]
    file.write_bytes(b"".join(lines))
    with file.open("rb") as stream:

        async def turns() -> AsyncIterator[Turn]:
            for item in read(stream, "chat.jsonl"):
                assert isinstance(item, Turn)
                yield item

        reading = Reading(stream)
        assert [turn.id async for turn in reading.noted(turns())] == [f"t{n}" for n in range(5)]
        assert reading.next() == len(lines[0]), "though all five were read"
        assert reading.next() == 2 * len(lines[0])
