"""`emgas scan` finds secrets in files before an import and in stored turns, and prints none of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import CommandResult, emgas, emgas_here
from tests.support.clocks import NOON

TOKEN, LOGIN = "ghp_" + "aB3" * 12, "correct-h0rse"
TURNS = [
    {"id": "t1", "graph": "ada", "speaker": "Ada", "text": f"The deploy token is {TOKEN}.", "at": NOON},
    {"id": "t2", "graph": "ada", "speaker": "Ada", "text": "The kettle broke.", "at": NOON + 1},
    {"id": "t3", "graph": "ada", "speaker": "Ada", "text": "Mail it.", "at": NOON + 2, "metadata": {"note": TOKEN}},
]
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq\n-----END PRIVATE KEY-----"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "talk.jsonl"
    file.write_text("".join(json.dumps(turn) + "\n" for turn in TURNS))
    return file


def places(result: CommandResult) -> dict[str, dict[str, int]]:
    """Return the kinds of secrets by place, of an output that prints no secret."""
    assert not [secret for secret in (TOKEN, LOGIN, "MIIEow") if secret in result.out + result.err]
    return {each["where"]: each["secrets"] for each in result.json["places"]}


def test_a_file_of_turns_is_scanned_turn_by_turn(tmp_path: Path, file: Path) -> None:
    result = emgas_here(tmp_path, "scan", str(file), "--json", code=1)
    assert places(result) == {
        f"{file}: turn t1 of session main": {"github token": 1},
        f"{file}: turn t3 of session main": {"github token": 1},
    }
    assert (result.json["scanned"], result.json["with_secrets"]) == (3, 2)
    assert result.json["kinds"] == {"github token": 2}


def test_a_person_reads_the_places_and_what_to_do(tmp_path: Path, file: Path) -> None:
    result = emgas_here(tmp_path, "look", "scan", str(file), code=1)
    assert "2 of 3 turns and lines hold secrets (67 %)" in result.out
    assert "turn t1 of session main" in result.out
    assert TOKEN not in result.out
    assert "replaces each secret" in result.err


@pytest.mark.parametrize("name", [".env", "notes.txt", "chat.md"])
def test_any_other_file_is_scanned_line_by_line(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(f"host: db.example.org\npassword: {LOGIN}\nuser: ada\n\n{KEY}\ntoken: {TOKEN}\n")
    result = emgas_here(tmp_path, "scan", str(file), "--json", code=1)
    assert places(result) == {
        f"{file}: line 2": {"password": 1},
        f"{file}: line 5": {"private key": 1},
        f"{file}: line 8": {"github token": 1},
    }
    assert result.json["scanned"] == 7


def test_a_line_that_is_no_turn_is_scanned_as_well(tmp_path: Path, file: Path) -> None:
    with file.open("a") as lines:
        lines.write(json.dumps({"id": "t4", "text": TOKEN}) + "\n")
    result = emgas_here(tmp_path, "scan", str(file), "--json", code=1)
    assert places(result)[f"{file}: line 4"] == {"github token": 1}


def test_a_folder_is_scanned_file_by_file(tmp_path: Path, file: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "settings.ini").write_text(f"password={LOGIN}\n")
    (tmp_path / "below" / "photo.png").write_bytes(b"\x89PNG\0\xff\xfe")
    result = emgas_here(tmp_path, "scan", str(tmp_path), "--json", code=1)
    assert places(result)[f"{tmp_path}/below/settings.ini: line 1"] == {"password": 1}
    assert len(places(result)) == 3


def test_a_file_without_secrets_exits_with_0(tmp_path: Path) -> None:
    result = emgas(tmp_path, "scan", "-", "--json", stdin=json.dumps(TURNS[1]).encode())
    assert result.json == {"scanned": 1, "with_secrets": 0, "kinds": {}, "places": []}


def test_stored_secrets_are_found_and_the_command_that_erases_them_is_named(tmp_path: Path, file: Path) -> None:
    data = tmp_path / "memory"
    emgas_here(data, "publish", str(file), partitions="2", redact="false")
    result = emgas_here(data, "scan", "--graph", "ada", code=1)
    assert "2 of 3 turns hold secrets" in result.out
    assert TOKEN not in result.out + result.err
    assert "emgas change erase ada --turn ID" in result.err
    for turn in ("t1", "t3"):
        emgas_here(data, "change", "erase", "ada", "--turn", turn, "--yes", partitions="2")
    assert emgas_here(data, "scan", "--graph", "ada", "--json").json["with_secrets"] == 0


def test_a_memory_that_redacts_stores_none(tmp_path: Path, file: Path) -> None:
    data = tmp_path / "memory"
    emgas_here(data, "publish", str(file), partitions="2")
    assert emgas_here(data, "scan", "--graph", "ada", "--json").json["scanned"] == 3


def test_a_backup_is_scanned_turn_by_turn(tmp_path: Path, file: Path) -> None:
    data, backup = tmp_path / "memory", tmp_path / "backup.jsonl"
    emgas_here(data, "publish", str(file), partitions="2", redact="false")
    emgas_here(data, "export", "--out", str(backup))
    result = emgas_here(data, "scan", str(backup), "--json", code=1)
    assert f"{backup}: turn t1 of session main" in places(result)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "name the files to scan, or a graph"),
        (["no-such-file"], 2, "there is no file no-such-file"),
        (["LICENSE", "--graph", "ada"], 2, "name the files to scan, or a graph"),
        (["--graph", "no//graph"], 2, "graph: must be"),
        (["--graph", "ada"], 3, "emgas"),
    ],
)
def test_a_wrong_call_says_why(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    assert message in emgas_here(tmp_path, "scan", *arguments, code=code).err
