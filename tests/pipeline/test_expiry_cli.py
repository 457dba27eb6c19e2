"""`emgas add` and `import`: long texts, and an origin and an end, which `query` and `turns` show and filter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emgas.times import DAY_MS as DAY
from tests.support.cli import emgas_here
from tests.support.clocks import NOON

TURN = {"id": "t1", "graph": "ada", "speaker": "Ada", "text": "The tram is free this week.", "at": NOON}


def test_a_memory_is_added_with_an_origin_and_an_end(tmp_path: Path) -> None:
    emgas_here(tmp_path, "add", "ada", "The tram is free.", "--origin", "web", "--expires-in", "7d", partitions="2")
    (turn,) = emgas_here(tmp_path, "turns", "ada", "--json").json["turns"]
    assert turn["origin"] == "web"
    assert turn["expires_at"] > turn["at"]
    assert "(from web, until " in emgas_here(tmp_path, "turns", "ada").out
    for keys, count in (([], 1), (["--filter", "origin=web"], 1), (["--filter", "not-origin=web"], 0)):
        assert len(emgas_here(tmp_path, "query", "ada", "tram", *keys, "--json").json["passages"]) == count


def test_a_memory_too_long_for_a_turn_is_added_in_pieces(tmp_path: Path) -> None:
    text = " ".join(f"The kettle number {number} is blue." for number in range(1_500))
    added = emgas_here(tmp_path, "add", "ada", text, partitions="2").out
    turns = emgas_here(tmp_path, "turns", "ada", "--oldest", "--json").json["turns"]
    assert f"stored in ada, in {len(turns)} pieces" in added
    assert " ".join(turn["text"] for turn in turns) == text


def test_an_import_gives_its_turns_an_origin_and_an_end_where_they_name_none(tmp_path: Path) -> None:
    own = {**TURN, "id": "t2", "text": "The tram is late.", "origin": "user", "expires_at": NOON + DAY}
    file = tmp_path / "talk.jsonl"
    file.write_text(f"{json.dumps(TURN)}\n{json.dumps(own)}\n")
    emgas_here(tmp_path, "import", str(file), "--origin", "tool", "--expires-in", "30d", partitions="2")
    turns = emgas_here(tmp_path, "turns", "ada", "--oldest", "--json").json["turns"]
    assert [(turn["origin"], turn["expires_at"] - NOON) for turn in turns] == [("tool", 30 * DAY), ("user", DAY)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--expires-in", "7d", "--expires-at", "2030-01-01"], "give --expires-in or --expires-at, not both"),
        (["--origin", "moon"], "choose one of user, assistant, tool, web"),
        (["--expires-in", "soon"], "is not a duration"),
        (["--at", "2023-05-08", "--expires-at", "2023-05-07"], "must be later than"),
    ],
)
def test_a_wrong_call_says_why(tmp_path: Path, options: list[str], message: str) -> None:
    assert message in emgas_here(tmp_path, "add", "ada", "The tram is free.", *options, code=2).err
