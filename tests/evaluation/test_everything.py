"""The command that measures every data set: which files it takes, what it stores, and the table of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evaluation.__main__ import data_sets, main
from evaluation.everything import HEAD, table
from evaluation.measures import hooks, with_model
from evaluation.questions.labelled import LabelledQuestion
from evaluation.questions.ordinary import read_ordinary

WEEKS = [
    ("Ada", "I adopted a grey rabbit called Clover from the shelter."),
    ("Ben", "The lighthouse keeper repaired the copper kettle."),
    ("Ada", "Our choir rehearses in the old mill every Thursday."),
    ("Ben", "My sister restores antique maps in Lisbon."),
]
QUESTIONS = [("What is the name of Ada's rabbit?", "D1:1"), ("Who repaired the kettle?", "D1:2")]


def conversation(name: str) -> dict[str, object]:
    """Write a conversation of LoCoMo with two questions."""
    turns = [
        {"speaker": speaker, "dia_id": f"D1:{place}", "text": text} for place, (speaker, text) in enumerate(WEEKS, 1)
    ]
    talk = {"speaker_a": "Ada", "speaker_b": "Ben", "session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"}
    asked = [{"question": text, "evidence": [turn], "category": 4, "answer": ""} for text, turn in QUESTIONS]
    return {"sample_id": name, "conversation": talk, "qa": asked}


def test_every_list_of_a_folder_is_a_data_set_but_corpora_and_those_that_were_not_named(tmp_path: Path) -> None:
    for name in ("b.json", "a.json", "a_corpus.json", "notes.txt"):
        (tmp_path / name).write_text("[]")
    (tmp_path / "settings.json").write_text("{}")
    assert [file.name for file in data_sets(tmp_path, "")] == ["a.json", "b.json"]
    assert [file.name for file in data_sets(tmp_path, "b, c")] == ["b.json"]


def test_a_folder_without_data_sets_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "name a folder" in capsys.readouterr().err


def test_a_data_set_is_measured_stored_and_written_as_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMGAS_DATA", str(tmp_path / "data"))
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "talk.json").write_text(json.dumps([conversation("one"), conversation("two")]), "utf-8")
    stored = tmp_path / "results.json"
    stored.write_text("{}", "utf-8")
    assert main([str(tmp_path / "sets"), "--results", str(stored)]) == 0
    results = json.loads(stored.read_text("utf-8"))
    measured = results["talk"]
    assert (measured["questions"], measured["turns"]) == (4, 8)
    assert measured["context_recall"][0] == 100.0
    assert set(measured["gains"]) == {"bm25", "ppr-structured"}
    assert 0 <= measured["silence"]["general"]["auroc"] <= 1
    head, row, means = table(results)
    assert head == HEAD
    assert row[:3] == ("talk", "4", "100.0 [100.0, 100.0]")
    assert len(row) == len(means) == len(HEAD)
    assert means[2] == "100.0"
    needing, ordinary = measured["hooks"]["needing"], measured["hooks"]["ordinary"]
    assert needing["prompts"] == 4
    assert needing["emgas"]["recall"] == needing["bm25"]["recall"] == 100.0
    assert needing["emgas"]["tokens"] > 0
    assert ordinary["prompts"] == 2 * len(read_ordinary()["en"])
    assert (ordinary["emgas"]["silent"], ordinary["emgas"]["tokens"]) == (100.0, 0.0)
    assert hooks.table(results)[1][:2] == ("talk", "4")
    assert "Measured on 4 prompts" in hooks.sentences(results)


def test_one_part_is_measured_alone_and_the_other_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMGAS_DATA", str(tmp_path / "data"))
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "talk.json").write_text(json.dumps([conversation("one")]), "utf-8")
    stored = tmp_path / "results.json"
    stored.write_text('{"talk": {"turns": 4}}', "utf-8")
    assert main([str(tmp_path / "sets"), "--part", "hooks", "--results", str(stored)]) == 0
    assert json.loads(stored.read_text("utf-8"))["talk"].keys() == {"turns", "hooks"}


def test_another_form_and_a_model_are_measured_and_written_as_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMGAS_DATA", str(tmp_path / "data"))
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "talk.json").write_text(json.dumps([conversation("one")]), "utf-8")
    words = ["rabbit", "kettle", "choir", "maps"]
    np.savez(tmp_path / "tiny.npz", words=np.array(words), vectors=np.eye(len(words), dtype=np.float32))
    stored = tmp_path / "results.json"
    arguments = [str(tmp_path / "sets"), "--results", str(stored)]
    assert main([*arguments, "--part", "recall", "--form", "long"]) == 0
    assert main([*arguments, "--part", "model", "--embedder", str(tmp_path / "tiny.npz")]) == 0
    results = json.loads(stored.read_text("utf-8"))
    assert results.keys() == {"talk", "talk (long)"}
    assert table(results) == [HEAD]
    assert table(results, changed=True)[1][:2] == ("talk (long)", "2")
    head, row, means = with_model.table(results)
    assert head == with_model.HEAD
    assert (row[0], row[2], row[3][:4]) == ("talk", "100.0", "+0.0")
    assert len(row) == len(means) == len(head)


def test_a_part_with_a_model_needs_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--part", "model"])
    assert "--part model needs --embedder" in capsys.readouterr().err


def test_what_a_prompt_gets_is_compared_prompt_by_prompt() -> None:
    asks = LabelledQuestion("Where?", "all", frozenset({"a", "b"}), "g")
    prompts = [hooks.Prompt("g", "Where?", asks), hooks.Prompt("g", "Continue.", None)]
    ours = [hooks.PromptContext(["a"], 10), hooks.PromptContext()]
    theirs = [hooks.PromptContext(["c", "b", "a"], 40), hooks.PromptContext(["c"], 20)]
    report = hooks.measure_hooks(prompts, ours, theirs, np.random.default_rng(1))
    assert report["needing"]["emgas"] == {"tokens": 10.0, "silent": 0.0, "recall": 50.0}
    assert report["needing"]["bm25"] == {"tokens": 40.0, "silent": 0.0, "recall": 100.0}
    assert report["ordinary"]["emgas"] == {"tokens": 0.0, "silent": 100.0}
    assert report["ordinary"]["bm25"] == {"tokens": 20.0, "silent": 0.0}
    assert report["gain"] == [-50.0, -50.0, -50.0]


def test_ordinary_prompts_are_as_many_in_both_languages_and_differ() -> None:
    prompts = read_ordinary()
    assert {language: len(set(texts)) for language, texts in prompts.items()} == {"en": 40, "zh": 40}
