"""Commands called wrongly, too early, on files that cannot be read, into pipes that close: words, and a code."""

from __future__ import annotations

import errno
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest
import typer

from emgas import Turn
from streams.cli.exchange import publish
from streams.cli.operate.worker import HALTED
from streams.cli.shared import output
from streams.settings import WorkerSettings
from streams.transport.embedded.lock import Announcement, announced
from streams.transport.embedded.log import EmbeddedLog
from tests.support.cli import COMMAND, PATIENCE, ROOT, emgas, emgas_here, environment

TURN = {"id": "t1", "graph": "ada", "speaker": "Ada", "text": "The kettle broke."}


def line(**changes: Any) -> str:
    return json.dumps({**TURN, **changes}) + "\n"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory in which ada has heard two turns."""
    data = tmp_path_factory.mktemp("memory")
    (data / "said.jsonl").write_text(line() + line(id="t2", text="The kettle is new."))
    emgas_here(data, "publish", str(data / "said.jsonl"), partitions="2")
    (data / "questions.jsonl").write_text('{"graph": "ada", "text": "kettle"}\n')
    return data


# where there is nothing yet

READING = [
    ["query", "ada", "kettle"],
    ["query", "ada", "kettle", "--as-of", "2023-05-08"],
    ["themes", "ada"],
    ["timeline", "ada"],
    ["configure", "ada"],
    ["forget", "ada", "--concept", "kettle"],
    ["replay", "events", "ada"],
    ["replay", "undo", "ada", "--last", "1"],
    ["replay", "diff", "ada", "--from", "2023-05-08"],
    ["replay", "verify"],
    ["replay", "digest"],
    ["replay", "digest", "--offline"],
    ["replay", "rebuild"],
    ["replay", "rebuild", "--graph", "ada", "--into", "{tmp}/rebuilt"],
    ["replay", "branch", "--into", "{tmp}/branch"],
    ["replay", "compare", "{memory}/questions.jsonl", "--into", "{tmp}/branch"],
    ["snapshot", "create", "--to", "{tmp}/kept"],
    ["snapshot", "restore", "--from", "{tmp}/kept"],
    ["export", "--out", "{tmp}/backup.ndjson"],
    ["export", "--out", "{tmp}/ada.json", "--graph", "ada", "--format", "json"],
    ["dead-letters", "list"],
    ["dead-letters", "show", "0:0"],
    ["topics", "describe"],
]


@pytest.mark.parametrize("json_too", [[], ["--json"]])
@pytest.mark.parametrize("words", READING, ids=lambda words: " ".join(words[:2]))
def test_where_no_memory_is_every_command_that_reads_exits_with_3_and_makes_nothing(
    memory: Path, tmp_path: Path, words: list[str], json_too: list[str]
) -> None:
    filled = [word.format(tmp=tmp_path, memory=memory) for word in words]
    result = emgas_here(tmp_path / "data", *filled, *json_too, code=3)
    assert result.out == ""
    assert f"there is no memory at {tmp_path}" in result.err
    assert "Start one with `emgas add` or `emgas import`" in result.err
    assert list(tmp_path.iterdir()) == []


def test_a_log_whose_birth_was_cut_off_is_none_and_can_still_be_born(memory: Path, tmp_path: Path) -> None:
    log = WorkerSettings(data=tmp_path, broker=None).home / "log.sqlite3"
    log.parent.mkdir(parents=True)
    log.touch()
    assert "there is no memory at" in emgas_here(tmp_path, "query", "ada", "kettle", code=3).err
    assert emgas_here(tmp_path, "publish", str(memory / "said.jsonl"), "--json").json["accepted"] == 2


@pytest.mark.parametrize("words", [words for words in READING if "ada" in words], ids=lambda words: " ".join(words[:2]))
def test_a_graph_that_nobody_wrote_to_or_that_cannot_be_has_one_code_each(
    memory: Path, tmp_path: Path, words: list[str]
) -> None:
    for graph, code, message in (
        ("bob", 3, "no graph bob"),
        ("no//graph", 2, "graph: must be 1 to 128 printable"),
    ):
        named = [graph if word == "ada" else word.format(tmp=tmp_path) for word in words]
        assert message in emgas_here(memory, *named, code=code).err


@pytest.mark.parametrize("command", ["publish", "doctor", "graphs"])
@pytest.mark.parametrize("below", ["", "below"])
def test_a_file_as_data_directory_is_a_wrong_setting(memory: Path, tmp_path: Path, command: str, below: str) -> None:
    file = tmp_path / "file"
    file.write_text("where a directory should be")
    arguments = [command, str(memory / "said.jsonl")] if command == "publish" else [command]
    result = emgas_here(file / below, *arguments, code=2)
    assert f"{file} is a file: set EMGAS_DATA (or --data) to a directory" in result.err


def test_a_data_directory_that_cannot_be_made_is_told_in_words(memory: Path) -> None:
    result = emgas_here(Path("/proc/emgas"), "publish", str(memory / "said.jsonl"), code=1)
    assert "cannot use the data directory" in result.err


def test_the_doctor_says_that_there_is_no_memory_and_makes_none(tmp_path: Path) -> None:
    report = emgas_here(tmp_path / "data", "doctor", "--json", code=3).json
    assert [check["name"] for check in report["checks"] if not check["ok"]] == ["memory"]
    shown = " ".join(emgas_here(tmp_path / "data", "doctor", code=3).out.replace("│", " ").split())
    assert "Start one with `emgas add` or `emgas import`" in shown
    assert "0 graphs" not in shown
    emgas_here(tmp_path / "data", "doctor", code=1, extractor="nothing.here")  # which is worse than no memory
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "setting", [{"extractor": "nothing.here"}, {"embedder": "nothing"}, {"kek_file": "nothing"}, {"language": "xx"}]
)
def test_a_setting_that_names_what_cannot_be_used_is_a_wrong_call(memory: Path, setting: dict[str, str]) -> None:
    (name,) = setting
    assert f"EMGAS_{name.upper()}" in emgas_here(memory, "query", "ada", "kettle", code=2, **setting).err


def test_a_graph_of_which_nothing_is_in_a_table_is_told_so_and_not_by_an_empty_one(memory: Path) -> None:
    result = emgas_here(memory, "inspect", "ada")
    assert re.fullmatch(r"\d+ events: too few for tables yet, so the graph is rebuilt on each read\n", result.out)


# files that cannot be read or written

WRITING = [
    ["export", "--out"],
    ["export", "--graph", "ada", "--out"],
    ["export", "--graph", "ada", "--format", "json", "--out"],
    ["timeline", "ada", "--svg"],
    ["replay", "rebuild", "--into"],
    ["replay", "branch", "--into"],
    ["snapshot", "create", "--to"],
]


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_a_path_that_cannot_be_written_is_a_wrong_call_whoever_is_to_write(
    memory: Path, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "file").write_text("where a directory should be")
    result = emgas_here(memory, *words, str(tmp_path / "file" / "below"), code=2)
    assert "Not a directory" in result.err
    assert result.out == ""


def test_a_backup_goes_into_no_pipe_for_it_is_read_again(memory: Path) -> None:
    for out in ("-", "/dev/stdout"):
        result = emgas(memory, "export", "--out", out, code=2)
        assert (
            f"cannot write a backup to {out}: a backup is read again while it is written, so name a regular file"
            in result.err
        )
    assert not Path("-").exists()


@pytest.mark.parametrize("command", ["publish", "import"])
def test_a_file_that_cannot_be_opened_or_read_is_named(tmp_path: Path, command: str) -> None:
    door = tmp_path / "door"
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(door))
        assert f"cannot read {door}: " in emgas_here(tmp_path / "data", command, str(door), code=2).err
    result = emgas_here(tmp_path / "data", command, str(tmp_path / ("x" * 300)), code=2)
    assert "File name too long" in result.err
    assert not (tmp_path / "data").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file that opens and cannot be read")
def test_a_file_that_breaks_off_while_it_is_read_can_be_published_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = emgas_here(tmp_path, "publish", "/proc/self/mem", "--format", "jsonl", code=2)
    assert "cannot read /proc/self/mem: Input/output error" in result.err

    def broken(stream: BinaryIO) -> Iterator[Turn]:
        yield Turn.model_validate(TURN)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setenv("EMGAS_DATA", str(tmp_path))
    with pytest.raises(typer.Exit) as ended:
        publish.publish_items(
            "/dev/null", broken, publish.Sending(preset=None, wait=True, marked=lambda turn: turn), json=True
        )
    assert ended.value.exit_code == 1
    assert "reading /dev/null failed: Input/output error; publish it again to continue" in capsys.readouterr().err


def test_a_file_of_which_nothing_can_be_read_begins_no_memory(memory: Path, tmp_path: Path) -> None:
    backup, chat = tmp_path / "backup.ndjson", tmp_path / "_chat.txt"
    emgas_here(memory, "export", "--out", str(backup))
    whole = backup.read_bytes()
    chat.write_text("[25/05/2023, 13:57:02] Bob: Later\n")
    data = tmp_path / "data"
    assert "say which graph it belongs to" in emgas_here(data, "publish", str(chat), code=2).err
    backup.write_bytes(whole[: len(whole) // 2])
    for how in (["--turns"], ["--dry-run"], []):
        assert "is cut off" in emgas_here(data, "import", *how, str(backup), code=1).err
        assert not data.exists()
    result = emgas(data, "import", "-", stdin=whole, code=2)
    assert "a backup is checked before it is restored, so it cannot be read from a pipe: name the file" in result.err
    assert not data.exists()


def test_an_error_about_a_file_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.zip").write_bytes(b"PK\x03\x04 rest")
    assert (
        "error: broken.zip: is a ZIP that is damaged or incomplete"
        in emgas_here(tmp_path, "publish", "broken.zip", code=2).err
    )
    assert "error: broken.zip: is not valid JSON" in emgas_here(tmp_path, "eval", "broken.zip", code=2).err
    assert f"error: {tmp_path.name}: holds no file of an export of" in emgas_here(tmp_path, "import", ".", code=2).err


def test_a_backup_is_written_over_nothing_else(memory: Path, tmp_path: Path) -> None:
    for there in (line(), "PK"):
        (tmp_path / "there").write_text(there)
        result = emgas_here(memory, "export", "--out", str(tmp_path / "there"), code=2)
        assert f"cannot write a backup to {tmp_path / 'there'}: the file holds something else" in result.err
        assert (tmp_path / "there").read_text() == there


def test_where_nothing_could_be_accepted_publishing_fails_and_where_something_could_it_does_not(tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text(line(at="noon") + line(id=""))
    result = emgas_here(tmp_path, "publish", str(file), "--json", code=1)
    assert (result.json["published"], result.json["rejected"]) == (2, 2)
    assert f"every turn of {file} was rejected, for the reasons above" in result.err
    assert "line 1: at: must be a time: 2023-05-08T14:00 (UTC" in result.err
    file.write_text(line() + line(id=""))
    assert emgas_here(tmp_path, "publish", str(file), "--json").json["rejected"] == 1
    file.write_text("")
    assert emgas_here(tmp_path, "publish", str(file), "--json").json["published"] == 0


def test_a_time_in_seconds_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text("".join(line(id=f"t{n}", at=1_683_554_160 + n) for n in range(3)) + line(id="t4", at=0))
    result = emgas_here(tmp_path, "publish", str(file), "--json")
    assert result.err.count("looks like seconds") == 3
    assert (result.json["accepted"], result.json["rejected"]) == (1, 3)


def test_who_does_not_wait_is_not_told_that_nothing_was_accepted(memory: Path, tmp_path: Path) -> None:
    result = emgas_here(tmp_path, "publish", str(memory / "said.jsonl"), "--no-wait")
    assert "stored, not waited for; 0 rejected" in result.out


# how they speak

TELLING = [
    *(words for words in READING if words[:2] not in (["replay", "compare"], ["dead-letters", "show"])),
    ["replay", "branch", "--into", "{tmp}/branch", "--preset", "elephant"],
    ["replay", "undo", "ada", "--last", "1", "--dry-run"],
    ["snapshot", "list", "--from", "{tmp}/kept"],
    ["topics", "create", "--partitions", "2"],
    ["publish", "{memory}/said.jsonl"],
    ["export", "--out", "{tmp}/ada.ndjson", "--graph", "ada"],
    ["doctor"],
]


def test_with_json_stdout_is_one_object_on_one_line_and_nothing_else(memory: Path, tmp_path: Path) -> None:
    emgas_here(memory, "snapshot", "create", "--to", str(tmp_path / "kept"))
    for words in TELLING:
        if words[0] == "forget" or (words[:2] == ["replay", "undo"] and "--dry-run" not in words) or "--as-of" in words:
            continue  # they would change what the others are asked about, or ask before anything was said
        filled = [word.format(tmp=tmp_path, memory=memory) for word in words]
        result = emgas_here(memory, *filled, "--json")
        assert result.out.count("\n") == 1, words
        assert isinstance(json.loads(result.out), dict), words
        assert result.err == "", words


def test_commands_beside_a_process_that_has_the_log_read_it_or_say_who_has_it(memory: Path, tmp_path: Path) -> None:
    log = EmbeddedLog(WorkerSettings(data=memory, broker=None).home)
    try:
        for words in (
            ["dead-letters", "list"], ["replay", "events", "ada"], ["replay", "digest"], ["timeline", "ada"],
            ["admin", "topics", "describe"],
        ):  # fmt: skip
            emgas_here(memory, *words, "--json")
        result = emgas(memory, "themes", "ada", code=1)
        assert f"process {os.getpid()} uses the data directory" in result.err
        assert "start `emgas serve`" in result.err
    finally:
        log.close()


def test_what_needs_a_memory_alone_says_which_server_to_stop(memory: Path) -> None:
    place = WorkerSettings(data=memory, broker=None).home
    log = EmbeddedLog(place)
    try:
        with announced(place, Announcement("http://127.0.0.1:1", os.getpid(), None)):
            result = emgas(memory, "admin", "topics", "create", code=1)
        assert "it is the server at http://127.0.0.1:1, and this needs the memory alone" in result.err
        assert f"Stop the server (kill {os.getpid()})" in result.err
    finally:
        log.close()


def test_into_a_pipe_that_closes_nothing_is_said_but_by_the_exit_code(memory: Path) -> None:
    for words in (["replay", "events", "ada"], ["replay", "digest", "--json"], ["query", "ada", "kettle"]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [*COMMAND, *words], env=environment(memory), stdout=writing, stderr=subprocess.PIPE, timeout=PATIENCE
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (1, b""), words


CODES = {  # of the table in the reference, each by a command that ends so; 4 and 70 have tests of their own
    0: ("graphs",),
    1: ("admin", "graph", "copy", "ada", "--to", "/dev/null/there"),
    2: ("query", "ada", "kettle", "--budget", "-3"),
    3: ("query", "bob", "kettle"),
    output.MISMATCH: None,  # tests/pipeline/test_cli.py: verify finds a store that was tampered with
    HALTED: None,  # tests/streams/test_worker_command.py
}


def test_commands_end_with_the_exit_codes_that_the_reference_lists(memory: Path) -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    table = page.partition("## Exit codes")[2].partition("\n## ")[0]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == list(CODES)
    for code, words in CODES.items():
        if words is not None:
            emgas_here(memory, *words, code=code)


# texts that give orders, or do not read as they are

ORDERS = "The \u202ekettle\u202c\u2066 broke\u200b.\x1b[2J"
SHOWING = (
    ("query", "ada", "kettle"),
    ("turns", "ada"),
    ("recap", "ada"),
    ("recent", "ada"),
    ("replay", "events", "ada"),
    ("timeline", "ada"),
)


@pytest.fixture(scope="module")
def deceived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory in which somebody said what no terminal may be sent."""
    data = tmp_path_factory.mktemp("deceived")
    (data / "said.jsonl").write_text(line(text=ORDERS, speaker="A\u202eda"))
    emgas_here(data, "publish", str(data / "said.jsonl"), partitions="2")
    return data


@pytest.mark.parametrize("command", SHOWING, ids=" ".join)
def test_no_command_sends_a_terminal_what_a_turn_orders(deceived: Path, command: tuple[str, ...]) -> None:
    result = emgas_here(deceived, *command)
    assert "kettle" in result.out
    assert not output.CONTROL.search(result.out + result.err)


def test_a_program_gets_the_text_as_it_was_said(deceived: Path) -> None:
    (turn,) = emgas_here(deceived, "turns", "ada", "--json").json["turns"]
    assert (turn["speaker"], turn["text"]) == ("A\u202eda", ORDERS)
