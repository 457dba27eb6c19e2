"""The past on the command line: `query --as-of`, `replay diff`, and reading beside whatever process owns the log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streams.settings import Settings
from streams.transport.embedded.log import EmbeddedLog
from tests.support.cli import emgas_here
from tests.support.clocks import DAY, NOON

SAID = [
    (NOON, "The red kettle whistles."),
    (NOON + DAY, "The kettle and the anchor."),
    (NOON + 60 * DAY, "The basil grows on the balcony."),
    (NOON + 90 * DAY, "The kettle broke."),
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory in which a forgetful graph has heard SAID."""
    data = tmp_path_factory.mktemp("memory")
    lines = data / "said.jsonl"
    turns = [
        {"id": f"t{n}", "graph": "ada", "speaker": "Ada", "text": text, "at": at} for n, (at, text) in enumerate(SAID)
    ]
    lines.write_text("\n".join(map(json.dumps, turns)))
    emgas_here(data, "publish", str(lines), partitions="2", preset="forgetful")
    return data


@pytest.mark.parametrize(
    ("as_of", "held"),
    [("2023-05-08T12:00", {"t0"}), ("2023-05-10", {"t0", "t1"}), (str(NOON + 90 * DAY), {"t3"}), ("2025-01-01", set())],
)
def test_a_question_is_answered_as_of_a_time(memory: Path, as_of: str, held: set[str]) -> None:
    said = emgas_here(memory, "query", "ada", "the kettle", "--as-of", as_of, "--no-archive", "--json")
    assert said.json["found"]
    assert {passage["id"] for passage in said.json["passages"]} == held


def test_before_anything_was_said_there_is_nothing_to_find(memory: Path) -> None:
    said = emgas_here(memory, "query", "ada", "the kettle", "--as-of", "2023-05-08T11:59:59+00:00", code=3)
    assert "at 2023-05-08 11:59 there was no graph ada" in said.err


@pytest.mark.parametrize("as_of", ["soon", "2023", "2023-02-30", "99999-01-01"])
def test_a_time_that_is_none_is_a_wrong_call(memory: Path, as_of: str) -> None:
    assert "is no time" in emgas_here(memory, "query", "ada", "x", "--as-of", as_of, code=2).err
    assert "is no time" in emgas_here(memory, "replay", "diff", "ada", "--from", as_of, code=2).err


def test_the_past_cannot_be_reinforced(memory: Path) -> None:
    said = emgas_here(memory, "query", "ada", "x", "--as-of", "2023-05-09", "--reinforce", code=2)
    assert "the past cannot be reinforced" in said.err


def test_a_difference_as_json_says_what_was_born_forgotten_and_added(memory: Path) -> None:
    told = emgas_here(
        memory, "replay", "diff", "ada", "--from", "2023-05-08T12:00", "--to", "2023-07-08", "--json"
    ).json
    assert (told["graph"], told["from"], told["to"]) == ("ada", NOON, NOON + 60 * DAY + DAY // 2)
    assert {concept["id"] for concept in told["concepts"]["born"]} >= {"basil", "balcony"}
    assert {concept["id"] for concept in told["concepts"]["forgotten"]} >= {"kettle"}
    assert all(concept["by"] < 0 for concept in told["concepts"]["forgotten"])
    assert (told["turns"]["before"], told["turns"]["after"], told["turns"]["added"]) == (1, 3, ["t2"])
    assert told["turns"]["archived"] == ["t0"]
    assert {"one": "balcony", "other": "grows", "before": 0, "after": 1} in [
        dict(zip(("one", "other"), sorted((pair["one"], pair["other"])), strict=True))
        | {"before": pair["before"], "after": pair["after"]}
        for pair in told["pairs"]
    ]


def test_a_difference_as_a_table_begins_with_what_changed_most_and_ends_with_the_log_by_default(memory: Path) -> None:
    said = emgas_here(memory, "replay", "diff", "ada", "--from", "2023-05-08T12:00", "--top", "2")
    assert "ada: 2023-05-08 12:00 to 2023-08-06 12:00" in said.out
    assert "together more often" in said.out
    assert "turns: 3 recorded" in said.out
    nothing = emgas_here(memory, "replay", "diff", "ada", "--from", str(NOON + 90 * DAY), "--json").json
    assert not any(nothing["concepts"].values())


def test_a_difference_of_what_is_not_there_or_backwards_is_told(memory: Path) -> None:
    assert "there is no graph bob" in emgas_here(memory, "replay", "diff", "bob", "--from", "2023-05-08", code=3).err
    early = emgas_here(memory, "replay", "diff", "ada", "--from", "2020-01-01", "--to", "2021-01-01", code=3)
    assert "there was no graph ada" in early.err
    backwards = emgas_here(memory, "replay", "diff", "ada", "--from", "2023-06-01", "--to", "2023-05-01", code=2)
    assert "is before --from" in backwards.err
    late = emgas_here(memory, "replay", "diff", "ada", "--from", "2099-01-01", code=2)
    assert "is after the last turn (2023-08-06 12:00)" in late.err


def test_the_past_is_read_beside_the_process_that_owns_the_log(memory: Path) -> None:
    owned = EmbeddedLog(Settings(data=memory, broker=None).home)
    try:
        told = emgas_here(memory, "replay", "diff", "ada", "--from", "2023-05-08T12:00", "--json").json
        assert told["turns"]["after"] == len(SAID)
        assert emgas_here(memory, "timeline", "ada", "--json").json["concepts"]
    finally:
        owned.close()


def test_of_a_directory_in_which_no_worker_ever_ran_nothing_is_made(tmp_path: Path) -> None:
    said = emgas_here(tmp_path, "replay", "diff", "ada", "--from", "2023-05-08", code=3)
    assert "no worker has ever run" in said.err
    assert list(tmp_path.iterdir()) == []
