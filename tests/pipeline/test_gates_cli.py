"""Gates, dreams and masks as a user switches them on and sees them on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import emgas, emgas_here
from tests.support.clocks import DAY, NOON

TEXTS = (
    "The kettle in the kitchen broke again.",
    "Again the kitchen kettle broke.",
    "haha ok",
    "厨房的水壶坏了。",
    "水壶坏了，厨房的水壶。",
    "哈哈好的",
    "Bob repaired the kettle with a soldering iron.",
)
UNCOUNTED = {"t1": "redundant", "t2": "unworthy", "t4": "redundant", "t5": "unworthy"}


def published(data: Path, *, at: int = NOON, texts: tuple[str, ...] = TEXTS) -> None:
    turns = [
        {"id": f"t{n}", "graph": "ada", "speaker": "Ada", "text": text, "session": "talk", "at": at + n * 1000}
        for n, text in enumerate(texts)
    ]
    emgas(data, "publish", "-", stdin="\n".join(map(json.dumps, turns)).encode(), partitions="2")


@pytest.fixture(scope="module")
def sieve(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with a graph that has gates."""
    data = tmp_path_factory.mktemp("sieve")
    emgas_here(data, "topics", "create", partitions="2")
    emgas_here(data, "configure", "ada", "--novelty-above", "0.35", "--worth-words", "2")
    published(data)
    return data


@pytest.mark.source("P8", "M11")
def test_what_a_gate_set_aside_is_shown_with_its_score_and_found_behind_the_others(sieve: Path) -> None:
    shown = emgas_here(sieve, "turns", "ada", "--json").json["turns"]
    assert {turn["id"]: turn["uncounted"] for turn in shown if "uncounted" in turn} == UNCOUNTED
    assert all(0 <= turn["novelty"] <= 1 for turn in shown)
    output = emgas_here(sieve, "turns", "ada").out
    assert "set aside: redundant" in output
    assert "novelty" in output
    for question in ("the kettle in the kitchen", "厨房的水壶"):
        passages = emgas_here(sieve, "query", "ada", question, "--top", "20", "--json").json["passages"]
        assert {each["id"] for each in passages if each.get("archived")} <= UNCOUNTED.keys()
        assert not passages[0].get("archived")
        assert any(each.get("archived") for each in passages)


@pytest.mark.source("P3")
def test_a_branch_without_gates_counts_what_gates_left_out(sieve: Path, tmp_path: Path) -> None:
    emgas_here(sieve, "replay", "branch", "--into", str(tmp_path / "all"), "--preset", "elephant")
    shown = emgas_here(tmp_path / "all", "turns", "ada", "--json").json["turns"]
    assert [turn["text"] for turn in shown] == list(TEXTS)
    assert not any("uncounted" in turn for turn in shown)


def test_a_replay_of_what_gates_decided_is_the_memory(sieve: Path) -> None:
    emgas_here(sieve, "replay", "verify")


@pytest.mark.source("P46", "S23")
def test_a_dream_is_in_the_log_and_can_be_undone(tmp_path: Path) -> None:
    emgas_here(tmp_path, "topics", "create", partitions="2")
    emgas_here(tmp_path, "configure", "ada", "--dream-every", "1d", "--dream-at", "3h")
    published(tmp_path)
    emgas_here(
        tmp_path,
        "publish",
        "-",
        stdin=json.dumps(
            {
                "id": "u0",
                "graph": "ada",
                "speaker": "Ada",
                "text": "The harbour is full of herring.",
                "at": NOON + 5 * DAY,
            }
        ).encode(),
        partitions="2",
    )
    listed = emgas_here(tmp_path, "replay", "events", "ada", "--json").json["events"]
    dreams = [event for event in listed if event["kind"] == "MemoryReplayed"]
    assert len(dreams) == 1
    assert "dreamt of" in emgas_here(tmp_path, "replay", "events", "ada").out
    emgas_here(tmp_path, "replay", "undo", "ada", "--last", "2", "--yes")
    after = emgas_here(tmp_path, "replay", "events", "ada", "--json").json["events"]
    assert [event["counts"] for event in after if event["kind"] == "MemoryReplayed"] == [False]
    emgas_here(tmp_path, "replay", "verify")


@pytest.mark.source("S30")
def test_a_question_may_ask_for_what_is_left_of_the_words(tmp_path: Path) -> None:
    texts = ("I adopted a ginger cat from the shelter.", "我领养了一只橘猫。")
    emgas_here(tmp_path, "topics", "create", partitions="2")
    emgas_here(tmp_path, "configure", "ada", "--half-life", "20d", "--prune-below", "0")
    published(tmp_path, texts=texts)
    emgas_here(
        tmp_path,
        "publish",
        "-",
        stdin=json.dumps(
            {"id": "u0", "graph": "ada", "speaker": "Ada", "text": "Good morning!", "at": NOON + 200 * DAY}
        ).encode(),
        partitions="2",
    )
    for question, text in (("what did I adopt?", texts[0]), ("我领养了什么？", texts[1])):
        reply = emgas_here(tmp_path, "query", "ada", question, "--render", "masked", "--json").json
        (matches,) = [each for each in reply["passages"] if each["text"] == text]
        assert matches["masked"].rstrip(".。") == "[…]"
        assert text not in reply["context"]
        assert "[…]" in emgas_here(tmp_path, "query", "ada", question, "--render", "masked").out
        plain = emgas_here(tmp_path, "query", "ada", question, "--json").json
        assert text in plain["context"]
        assert "masked" not in plain["passages"][0]
    assert "choose one of plain, masked" in emgas_here(tmp_path, "query", "ada", "x", "--render", "none", code=2).err
