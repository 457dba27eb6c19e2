"""DialogRE's form is read, and relations are judged under its own names, from both ends."""

import json
from pathlib import Path

import pytest

from evaluation.measures.dialogre import gold_of, main, plain, turns_of

LINES = [
    "Speaker 1: Hi.",
    "Speaker 2: My sister Ilse lives in Graz.",
    "Speaker 1, Speaker 2: Oh!",
    "Speaker 2: I'm a teacher.",
]


def _judged(x: str, relation: str, y: str) -> dict[str, object]:
    return {"x": x, "y": y, "r": [relation], "rid": [0], "t": [""], "x_type": "PER", "y_type": "PER"}


INSTANCES = [
    _judged("Speaker 2", "per:alternate_names", "Mia"),
    _judged("Mia", "per:siblings", "Ilse"),
    _judged("Ilse", "per:siblings", "Mia"),
    _judged("Ilse", "per:place_of_residence", "Graz"),
    _judged("Speaker 2", "per:title", "nurse"),
    _judged("Speaker 2", "unanswerable", "teacher"),
]


def test_a_name_is_the_speaker_whom_the_gold_calls_so() -> None:
    gold = gold_of(INSTANCES)
    assert gold.person("Mia") == gold.person("Speaker 2") == "speaker 2"
    assert gold.kinds["siblings"] == {("speaker 2", "ilse"), ("ilse", "speaker 2")}
    assert ("speaker 2", "teacher") in gold.judged


def test_lines_of_several_speakers_are_left_out() -> None:
    assert [turn.speaker for turn in turns_of(LINES)] == ["Speaker 1", "Speaker 2", "Speaker 2"]


def test_a_name_is_compared_without_its_article() -> None:
    assert plain("The Dr. Green") == "dr green"


def test_recall_counts_the_gold_and_precision_the_judged_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data_v2" / "en" / "data"
    folder.mkdir(parents=True)
    (folder / "dev.json").write_text(json.dumps([[LINES, INSTANCES]]), "utf-8")
    assert main([str(tmp_path), "--part", "dev", "--language", "en", "--wrong"]) == 0
    told = capsys.readouterr().out
    assert "en dev: recall 75.0 %, precision of judged pairs 75.0 %" in told  # 3 of 4; 3 right, a teacher wrong
    assert "wrong: Speaker 2 job teacher" in told
