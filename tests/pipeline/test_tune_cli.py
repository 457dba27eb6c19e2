"""`emgas tune` as its users meet it: own questions, figures first, and what is recorded is used, shown and undone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from processors.recall.ranking.weights import DEFAULT_FLOW
from tests.support import tunable
from tests.support.cli import emgas, emgas_here

OF_OWN = ("--graph", "own")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory whose log holds the graph `own`."""
    data = tmp_path_factory.mktemp("data")
    emgas(data, "publish", "-", stdin="\n".join(map(json.dumps, tunable.turns())).encode(), partitions="2")
    return data


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "own.jsonl"
    path.write_text("\n".join(map(json.dumps, tunable.questions())))
    return path


def configured(data: Path) -> dict[str, Any]:
    report: dict[str, Any] = emgas_here(data, "configure", "own", "--json").json
    return {name: value for name, value in report.items() if name != "position"}


def retrieve_ids(data: Path) -> list[str]:
    reply = emgas_here(data, "query", "own", "What about the kettle?", "--top", "3", "--json").json
    return [passage["id"] for passage in reply["passages"]]


@pytest.mark.source("M22")
def test_what_is_better_is_shown_then_recorded_then_used_and_undone(data: Path, file: Path) -> None:
    assert retrieve_ids(data)[0] == "kettle-user", "by default"
    dry = emgas_here(data, "tune", str(file), *OF_OWN, "--dry-run", "--json")
    assert dry.json["recorded"] is None
    assert dry.json["better"] is True
    assert dry.json["held_out"]["nDCG@10"]["low"] > 0
    assert "weights" not in configured(data)
    for word in ("held out", "difference", "thresholds", "precision", "asks"):
        assert word in dry.out

    report = emgas_here(data, "tune", str(file), *OF_OWN, "--json").json
    assert report["recorded"] == {"weights": report["weights"]}
    assert configured(data)["weights"] == report["weights"]
    assert all(weight != DEFAULT_FLOW[name] for name, weight in report["weights"].items())
    assert retrieve_ids(data)[0] == "kettle-assistant", "recall of that graph uses it"
    assert "what features of a turn are worth" in emgas_here(data, "configure", "own").out
    rebuilt = emgas_here(data, "replay", "verify", "--json").json
    assert rebuilt["match"] is True

    assert "by the defaults again" in emgas_here(data, "tune", *OF_OWN, "--undo").err
    assert "weights" not in configured(data)
    assert retrieve_ids(data)[0] == "kettle-user"
    emgas_here(data, "replay", "undo", "own", "--last", "1")  # the undo is an event, too
    assert configured(data)["weights"] == report["weights"]
    emgas_here(data, "replay", "undo", "own", "--last", "1")
    assert "weights" not in configured(data)


def test_weights_stay_when_only_the_life_of_a_graph_is_changed(data: Path) -> None:
    emgas_here(data, "configure", "own", "--weight", "match=3", "--weight", "asks=-0.5")
    emgas_here(data, "configure", "own", "--preset", "elephant")
    assert configured(data)["weights"] == {"match": 3.0, "asks": -0.5}
    emgas_here(data, "pause", "own")
    emgas_here(data, "resume", "own")
    assert configured(data)["weights"] == {"match": 3.0, "asks": -0.5}
    emgas_here(data, "configure", "own", "--default-weights", "--weight", "match=4")
    assert configured(data)["weights"] == {"match": 4.0}
    emgas_here(data, "configure", "own", "--default-weights", "--preset", "default")
    assert "weights" not in configured(data)


@pytest.mark.parametrize("wrong", ["matches=3", "match", "match=much", "match=5000"])
def test_a_weight_that_is_none_is_refused_and_nothing_changes(data: Path, wrong: str) -> None:
    before = configured(data)
    result = emgas_here(data, "configure", "own", "--weight", wrong, code=1 if wrong == "matches=3" else 2)
    assert "match" in result.err
    assert configured(data) == before


def test_a_threshold_is_recorded_only_if_it_is_asked_for(data: Path, file: Path) -> None:
    before = configured(data)["settings"]["drop"]
    report = emgas_here(data, "tune", str(file), *OF_OWN, "--threshold", "--force", "--json").json
    assert report["recorded"]["drop"] == report["drop"]["after"]
    assert configured(data)["settings"]["drop"] == report["drop"]["after"]
    emgas_here(data, "tune", *OF_OWN, "--undo")
    assert configured(data)["settings"]["drop"] == before


def test_what_is_no_better_is_not_recorded_unless_it_is_forced(data: Path, tmp_path: Path) -> None:
    by_chance = [
        {
            "question": question["question"],
            "turns": tunable.questions()[(place * 7 + 3) % len(tunable.SUBJECTS)]["turns"],
        }
        for place, question in enumerate(tunable.questions())
    ]
    path = tmp_path / "luck.json"
    path.write_text(json.dumps(by_chance))
    result = emgas_here(data, "tune", str(path), *OF_OWN, code=1)
    assert "nothing was recorded" in result.err
    assert "weights" not in configured(data)
    emgas_here(data, "tune", str(path), *OF_OWN, "--force")
    assert configured(data)["weights"]
    emgas_here(data, "tune", *OF_OWN, "--undo")


def test_a_wrong_call_says_what_is_wrong(data: Path, file: Path, tmp_path: Path) -> None:
    few, unknown = tmp_path / "few.jsonl", tmp_path / "unknown.jsonl"
    few.write_text("\n".join(file.read_text().splitlines()[:5]))
    unknown.write_text(json.dumps({"question": "why?", "turns": ["nowhere"]}))
    assert "5 questions have evidence" in emgas_here(data, "tune", str(few), *OF_OWN, code=2).err
    assert "holds no turn nowhere" in emgas_here(data, "tune", str(unknown), *OF_OWN, code=2).err
    assert "with --graph" in emgas_here(data, "tune", str(file), code=2).err
    assert "cannot be read" in emgas_here(data, "tune", str(tmp_path / "none"), *OF_OWN, code=2).err
    assert "choose one of" in emgas_here(data, "tune", str(file), *OF_OWN, "--by", "luck", code=2).err
    assert "--undo: takes --graph" in emgas_here(data, "tune", str(file), "--undo", code=2).err
    assert "give a FILE" in emgas_here(data, "tune", code=2).err
    assert "eve" in emgas_here(data, "tune", str(file), "--graph", "eve", code=3).err


@pytest.mark.source("P27", "P35")
def test_how_a_graph_hangs_together_is_told_on_demand(data: Path) -> None:
    measures = emgas_here(data, "inspect", "own", "--measures", "--json").json["measures"]
    assert measures["active"] == 2 * len(tunable.SUBJECTS)
    assert 1.0 <= measures["compression"] < 1.1, "all is active, and abstracts take some room"
    assert measures["path_length"] >= 1
    assert "path length" in emgas_here(data, "inspect", "own", "--measures").out
    emgas_here(data, "inspect", "eve", "--measures", code=3)


@pytest.mark.source("P47")
def test_who_is_busy_gets_five_items_and_who_is_not_nine(data: Path) -> None:
    query = ("query", "own", "What is finished and what does everybody like to keep?", "--top", "20", "--json")
    all_of_it, busy, free = (emgas_here(data, *query, *load).json for load in ((), ("--load", "1"), ("--load", "0")))
    assert (len(all_of_it["passages"]), len(busy["passages"]), len(free["passages"])) == (20, 5, 9)
    assert 1 <= busy["context"].count("[2023-") <= 5


@pytest.mark.source("M23")
def test_a_preset_of_a_source_says_in_which_mode_questions_are_answered(data: Path) -> None:
    query = ("query", "own", "What about the kettle?", "--json")
    emgas_here(data, "configure", "own", "--preset", "mofox")
    described = configured(data)
    assert (described["mode"], described["rerank"]) == ("path", "mofox")
    assert (
        emgas_here(data, *query).json["passages"]
        == emgas_here(data, *query, "--mode", "path", "--rerank", "mofox").json["passages"]
    )
    emgas_here(data, "configure", "own", "--half-life", "3d")
    assert configured(data)["mode"] == "path", "what is not given stays"
    emgas_here(data, "configure", "own", "--mode", "literal", "--rerank", "none")
    literal = emgas_here(data, *query).json
    assert literal["passages"] == emgas_here(data, *query, "--mode", "literal").json["passages"]
    assert "answered in mode literal" in emgas_here(data, "configure", "own").out
    assert emgas_here(data, *query, "--mode", "default").json["passages"] != literal["passages"]
    emgas_here(data, "configure", "own", "--preset", "default")
    assert "mode" not in configured(data)
    assert "mode" in emgas_here(data, "configure", "own", "--mode", "guesswork", code=2).err


def test_where_a_graphs_people_are_is_told_once(data: Path) -> None:
    query = ("query", "own", "What about the kettle?")
    plain = emgas_here(data, *query).out
    assert "its people are in" not in emgas_here(data, "configure", "own").out
    assert "its people are in Asia/Tokyo" in emgas_here(data, "configure", "own", "--timezone", "Asia/Tokyo").out
    result = emgas_here(data, *query)
    assert result.out != plain
    assert result.out.splitlines()[:-1] == emgas_here(data, *query, "--timezone", "Asia/Tokyo").out.splitlines()[:-1]
    assert emgas_here(data, *query, "--json").json["timezone"] == "Asia/Tokyo"
    refused = emgas_here(data, "configure", "own", "--timezone", "Mars/Base", code=2)
    assert "there is no time zone 'Mars/Base'" in refused.err
    emgas_here(data, "configure", "own", "--timezone", "UTC")
    assert emgas_here(data, *query).out.splitlines()[:-1] == plain.splitlines()[:-1]
