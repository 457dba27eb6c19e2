"""`emgas erase` as a user calls it, and all that goes on behind it: backups, snapshots, the past, replay, doctor."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from emgas import MemoryClient
from emgas.errors import NoAnswerError
from emgas.messages.turns import Erase
from emgas.times import DAY_MS
from streams.cli.shared.output import FAILURE, MISSING, USAGE
from tests.support.cli import CommandResult, emgas_here

FIRST = 1_740_823_200_000  # 2025-03-01T10:00Z
TURNS: list[tuple[object, ...]] = [
    ("ada", "t1", "Ada", "My kryptonite allergy needs an inhaler.", FIRST),
    ("ada", "t2", "Bob", "The kettle whistles in the kitchen.", FIRST + 60_000),
    ("ada", "t3", "Ada", "The teapot stands beside the kettle.", FIRST + DAY_MS),
    ("bob", "t1", "Bob", "The kettle is red.", FIRST),
]
ENCRYPTED = {"encryption": "true"}


def spoken(directory: Path, **settings: str) -> Path:
    file = directory / "turns.jsonl"
    names = ("graph", "id", "speaker", "text", "at")
    lines = [dict(zip(names, turn, strict=True)) for turn in TURNS]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    emgas_here(directory / "data", "publish", str(file), partitions="2", **settings)
    return directory / "data"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return spoken(tmp_path, **ENCRYPTED)


def erase(data: Path, *arguments: str, code: int = 0, **settings: str) -> CommandResult:
    return emgas_here(data, "erase", *arguments, code=code, **(ENCRYPTED | settings))


def digests(data: Path, *arguments: str) -> Any:
    return emgas_here(data, "replay", "digest", "--json", *arguments).json["graphs"]


def test_a_report_proves_what_was_destroyed_and_that_all_else_is_as_it_was(data: Path, tmp_path: Path) -> None:
    before = digests(data)
    erase(data, "ada", "--turn", "t1", "--yes", "--report", str(tmp_path / "proof.json"))
    proof = json.loads((tmp_path / "proof.json").read_text())
    assert proof["subject"] == {"turn": "t1"}
    opened, counted = proof["log"]["opened_before"], proof["log"]["records"]
    assert (counted, proof["log"]["opens_now"]) == (opened + 1, opened), "one is destroyed, and one says so"
    assert len(proof["log"]["destroyed_offsets"]) == 1
    assert proof["digests"]["before"] == before["ada"]
    assert proof["digests"]["after"] == digests(data)["ada"] != before["ada"]
    assert proof["digests"]["others_changed"] == []
    assert digests(data)["bob"] == before["bob"]


@pytest.mark.parametrize("subject", [("--turn", "t1"), ()], ids=["a turn", "the graph"])
def test_who_erases_again_is_told_that_it_is_done_with_the_digest_of_the_first_proof(
    data: Path, subject: tuple[str, ...]
) -> None:
    first = erase(data, "ada", *subject, "--yes", "--json").json
    again = erase(data, "ada", *subject, "--yes", "--json").json
    assert (first["erased_before"], again["erased_before"]) == (False, True)
    assert again["digests"]["before"] == again["digests"]["after"] == first["digests"]["after"]
    assert (again["log"]["destroyed_offsets"], again["log"]["opens_now"]) == ([], first["log"]["opens_now"])
    assert "Already erased" in erase(data, "ada", *subject, "--yes").out
    assert emgas_here(data, "dead-letters", "list", "--json").json["dead_letters"] == []


@pytest.mark.parametrize("subject", [("--turn", "t1"), ("--speaker", "Ada"), ()], ids=["turn", "speaker", "graph"])
def test_an_erasure_of_which_the_answer_is_lost_is_asked_for_again_and_reported_as_done(
    data: Path, subject: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, lost = MemoryClient.send, []

    async def losing(self: MemoryClient, request: Any, **options: Any) -> Any:
        outcome = await ask(self, request, **options)
        if isinstance(request, Erase) and not lost:
            lost.append(outcome.status)
            raise NoAnswerError("no answer came")
        return outcome

    monkeypatch.setattr(MemoryClient, "send", losing)
    proof = erase(data, "ada", *subject, "--yes", "--json").json
    assert lost == ["accepted"]
    assert proof["log"]["destroyed_offsets"]
    assert proof["digests"]["after"] == digests(data).get("ada")


def test_after_an_erasure_replay_the_past_and_undo_go_on(data: Path) -> None:
    erase(data, "ada", "--speaker", "Ada", "--yes")
    assert emgas_here(data, "replay", "verify", "--json").json["match"] is True
    assert digests(data) == digests(data, "--offline")
    past = emgas_here(data, "query", "ada", "what whistles?", "--as-of", "2025-03-01T12:00", "--json").json
    assert [passage["id"] for passage in past["passages"]] == ["t2"]
    listed = emgas_here(data, "replay", "events", "ada", "--json").out
    assert "kryptonite" not in listed
    assert "no key opens it any more" in listed
    emgas_here(data, "replay", "rebuild", "--into", str(data.parent / "rebuilt"))
    emgas_here(data, "replay", "rebuild", "--graph", "ada")


def test_a_backup_and_a_snapshot_of_before_hold_no_more_than_what_was_not_erased(data: Path, tmp_path: Path) -> None:
    snapshots, backup = str(tmp_path / "snapshots"), tmp_path / "backup.ndjson"
    emgas_here(data, "export", "--out", str(backup))
    emgas_here(data, "snapshot", "create", snapshots=snapshots)
    erase(data, "ada", "--speaker", "Ada", "--yes", snapshots=snapshots)
    live = digests(data)
    shutil.rmtree(data / "embedded" / "emgas" / "partitions")
    emgas_here(data, "doctor", snapshots=snapshots)  # it fetches the snapshot, and folds on
    assert digests(data) == live
    elsewhere, keys = tmp_path / "elsewhere", str(data / "keys")
    emgas_here(elsewhere, "import", str(backup), graph_keys=keys)
    reply = emgas_here(
        elsewhere, "query", "ada", "kryptonite kettle teapot", "--nearest", "--json", graph_keys=keys
    ).json
    assert [passage["id"] for passage in reply["passages"]] == ["t2"]
    again = tmp_path / "again.ndjson"
    emgas_here(data, "export", "--out", str(again))
    third = tmp_path / "third"
    emgas_here(third, "import", str(again), graph_keys=keys)
    emgas_here(third, "doctor", graph_keys=keys)
    assert emgas_here(third, "replay", "digest", "--json", graph_keys=keys).json["graphs"] == live


def test_a_log_that_is_restored_without_its_keys_says_what_to_set(data: Path, tmp_path: Path) -> None:
    emgas_here(data, "export", "--out", str(tmp_path / "backup.ndjson"))
    emgas_here(tmp_path / "elsewhere", "import", str(tmp_path / "backup.ndjson"))
    result = emgas_here(tmp_path / "elsewhere", "doctor", "--json", code=FAILURE)
    assert "EMGAS_GRAPH_KEYS" in result.out


def test_dead_letters_of_an_encrypted_graph_are_shown_until_something_of_it_is_erased(data: Path) -> None:
    other = json.dumps({"id": "t1", "graph": "ada", "speaker": "Ada", "text": "Another kryptonite text."})
    (data.parent / "other.jsonl").write_text(other + "\n")
    emgas_here(data, "publish", str(data.parent / "other.jsonl"), code=FAILURE, **ENCRYPTED)
    (letter,) = emgas_here(data, "dead-letters", "list", "--json").json["dead_letters"]
    assert "Another kryptonite text." in emgas_here(data, "dead-letters", "show", letter["id"]).out
    erase(data, "ada", "--turn", "t1", "--yes")
    shown = emgas_here(data, "dead-letters", "show", letter["id"], "--json").json
    assert shown["value"] == ""


def test_doctor_tells_whether_graphs_are_encrypted_and_where_the_keys_are(data: Path) -> None:
    checks = {check["name"]: check for check in emgas_here(data, "doctor", "--json", **ENCRYPTED).json["checks"]}
    assert checks["encryption"]["ok"]
    assert str(data / "keys") in checks["encryption"]["detail"]
    checks = {check["name"]: check for check in emgas_here(data, "doctor", "--json").json["checks"]}
    assert "off" in checks["encryption"]["detail"]


def test_what_cannot_be_erased_is_refused_with_what_to_do(data: Path, tmp_path: Path) -> None:
    for sure in ([], ["--yes"]):
        assert "there is no graph zoe" in erase(data, "zoe", *sure, code=MISSING).err
    assert "holds no such turn" in erase(data, "ada", "--turn", "t9", "--yes", code=FAILURE).err
    erase(data, "ada", "--turn", "t1", "--speaker", "Ada", "--yes", code=USAGE)
    assert "Confirm with --yes" in erase(data, "ada", code=USAGE).err
    (tmp_path / "there.json").write_text("")
    erase(data, "ada", "--yes", "--report", str(tmp_path / "there.json"), code=USAGE)
    assert len(digests(data)) == 2


def test_a_graph_whose_key_is_lost_is_named_by_the_doctor_and_given_up_by_erasing_it(data: Path) -> None:
    before = digests(data)
    for file in (data / "keys").rglob("*.keys"):
        if file.stem == hashlib.sha256(b"ada").hexdigest():
            file.unlink()
    checks = emgas_here(data, "doctor", "--json", code=FAILURE, **ENCRYPTED).json["checks"]
    (failing,) = [check for check in checks if not check["ok"] and check["name"] != "disk"]
    assert failing["name"] == "graph ada is available"
    assert "emgas change erase ada" in failing["detail"]
    assert "graph 'ada' is unavailable" in emgas_here(data, "query", "ada", "a kettle", code=FAILURE).err.replace(
        "\n", " "
    )
    assert emgas_here(data, "query", "bob", "a kettle", "--json").json["found"]
    erase(data, "ada", "--yes")
    assert digests(data)["bob"] == before["bob"]
    assert emgas_here(data, "replay", "verify", "--json").json["match"] is True


def test_a_graph_whose_key_is_lost_is_left_out_of_a_rebuild_and_of_a_branch_and_named(
    data: Path, tmp_path: Path
) -> None:
    def rebuilt(*options: str, code: int = FAILURE) -> CommandResult:
        return emgas_here(data, "replay", "rebuild", *options, "--json", code=code)

    def branched(*options: str, code: int = FAILURE) -> CommandResult:
        place = ("--into", str(tmp_path / "branch"))
        return emgas_here(data, "replay", "branch", *place, *options, "--json", code=code)

    whole = digests(data)
    (lost,) = [file for file in (data / "keys").rglob("*.keys") if file.stem == hashlib.sha256(b"ada").hexdigest()]
    key = lost.read_bytes()
    lost.unlink()
    into = ("--into", str(tmp_path / "rebuilt"))
    past = ("--as-of", "2030-01-01")
    reports = [
        rebuilt("--into", str(tmp_path / "whole")),
        rebuilt(*past),
        rebuilt(*past, *into),
        branched(),
        branched(),
    ]
    for report in reports:
        assert list(report.json["unavailable"]) == ["ada"]
        assert "graph 'ada': " in report.err
        assert "1 graph left out, all others are done" in report.err.replace("\n", " ")
    assert digests(tmp_path / "branch") == {"bob": whole["bob"]}
    assert [report.json["accepted"] for report in reports[3:]] == [1, 0]
    bob = rebuilt("--graph", "bob", *past, code=0).json["digest"]
    lost.write_bytes(key)
    assert rebuilt("--graph", "bob", *past, code=0).json["digest"] == bob
    for options in (("--into", str(tmp_path / "whole")), (*past, *into)):
        assert rebuilt(*options, code=0).json["digest"] == rebuilt(*options[:-2], code=0).json["digest"]
    assert list(branched().json["unavailable"]) == ["ada"], "half of a graph would be sent"
    assert branched("--without", "ada", code=0).json["unavailable"] == {}


@pytest.mark.parametrize(
    ("subject", "left"),
    [((), ["bob"]), (("--turn", "t1"), ["ada", "bob"]), (("--speaker", "Ada"), ["ada", "bob"])],
    ids=["the graph", "a turn", "a speaker"],
)
def test_a_graph_in_clear_is_erased_by_an_encrypted_copy_in_its_place(
    tmp_path: Path, subject: tuple[str, ...], left: list[str]
) -> None:
    data = spoken(tmp_path)
    said = b"kryptonite"
    assert any(said in file.read_bytes() for file in data.rglob("*") if file.is_file())
    asked = emgas_here(data, "erase", "ada", *subject, code=USAGE).err
    assert "an encrypted copy of the rest replaces the whole memory" in asked.replace("\n", " ")
    result = emgas_here(data, "erase", "ada", *subject, "--yes", "--json").json
    assert result["copied"]["turns"] == len(TURNS) - {(): 3, ("--turn", "t1"): 1, ("--speaker", "Ada"): 2}[subject]
    assert not any(said in file.read_bytes() for file in data.rglob("*") if file.is_file())
    assert emgas_here(data, "graphs", "--json").json["graphs"] == left
    assert not (data / "erasing").exists()


def test_a_turn_that_a_graph_in_clear_lacks_changes_nothing(tmp_path: Path) -> None:
    data = spoken(tmp_path)
    before = digests(data)
    assert "no such turn" in emgas_here(data, "erase", "ada", "--turn", "t9", "--yes", code=FAILURE).err
    assert digests(data) == before
