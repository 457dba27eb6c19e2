"""Fitting `known`: what the product ships is what the command wrote, and each form is judged by the others' weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evaluation import fit_known
from evaluation.fit.knowing import MISSING, MemoryCases, fit, left_out, report
from processors.recall.ranking.silence.evidence import EVIDENCE
from processors.recall.ranking.silence.known import WEIGHTS, Weights, baseline_of, likelihoods
from tests.evaluation.test_everything import conversation


def test_the_product_ships_what_the_command_wrote() -> None:
    stored = json.loads(fit_known.STORED.read_text("utf-8"))
    assert fit_known.named(WEIGHTS) == stored["weights"]
    assert fit_known.SHIPPED.read_text("utf-8") == fit_known.written(WEIGHTS)
    page = (Path(__file__).parents[2] / "docs" / "recall.md").read_text("utf-8")
    assert f"Below {WEIGHTS.silent:g}, the reply says" in page
    assert f"Its threshold is {WEIGHTS.inject:g}." in page


def drawn(form: str, seed: int, told: int = 0) -> MemoryCases:
    """Draw questions whose evidence number `told` is larger where there is an answer; all else is noise."""
    generator = np.random.default_rng(seed)
    kind = np.array(["own", "general", "other"] * 60)
    evidence = generator.normal(size=(len(kind), len(EVIDENCE)))
    evidence[kind == "own", told] += 3.0
    evidence[:, EVIDENCE.index("missing")] = 0.0
    baseline = [evidence[kind == "general"][:20]]
    return MemoryCases(form, baseline, evidence, kind, (kind == "own").astype(np.float64))


CASES = [drawn(form, seed) for seed, form in enumerate(("talk", "notes", "meetings"))]


def test_a_fit_finds_the_evidence_that_tells_and_calibrates_it() -> None:
    weights = fit(CASES)
    assert weights.evidence[EVIDENCE.index("missing")] == MISSING
    assert weights.evidence[0] > 3 * np.abs(weights.evidence[1:-1]).max()
    row = report(CASES, dict.fromkeys(("talk", "notes", "meetings"), weights))["mean"]
    assert row["general auroc"] > 0.95
    assert row["calibration"] < 0.15


def test_thresholds_cost_little_recall_and_inject_is_quieter() -> None:
    weights = fit(CASES)
    row = report(CASES, dict.fromkeys(("talk", "notes", "meetings"), weights))["mean"]
    assert row["lost silent"] <= 2
    assert row["general inject"] >= 92
    assert row["other inject"] >= 65


def test_a_form_is_judged_by_weights_that_have_not_seen_it() -> None:
    odd = drawn("odd", 9, told=1)
    weights = left_out([*CASES, odd])
    assert set(weights) == {"talk", "notes", "meetings", "odd"}
    np.testing.assert_array_equal(weights["odd"].evidence, fit(CASES).evidence)
    assert weights["talk"].evidence[1] > 2 * abs(weights["odd"].evidence[1]), "only the others see the odd one"


def test_four_in_five_general_questions_lie_below_the_baseline_of_the_language_in_which_a_graph_knows_most() -> None:
    weights = Weights(np.eye(len(EVIDENCE))[0], -1.0, 0.1, 0.4)
    little, much = np.zeros((6, len(EVIDENCE))), np.zeros((6, len(EVIDENCE)))
    much[:, 0] = 5.0, 1.0, 4.0, 2.0, 9.0, 3.0
    baseline = baseline_of([little, much], weights)
    assert baseline[0] == pytest.approx(5.0)
    assert baseline_of([much[:2]], weights)[0] == pytest.approx(4.2)
    np.testing.assert_allclose(likelihoods(much[:2], baseline, weights), 1 / (1 + np.exp([1.0, 5.0])))


def test_one_data_set_alone_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "talk.json").touch()
    assert fit_known.main([str(tmp_path)]) == 2
    assert "no two such data sets" in capsys.readouterr().err


def test_the_command_prints_a_table_and_writes_both_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EMGAS_DATA", str(tmp_path / "data"))
    shipped, stored = tmp_path / "known.tsv", tmp_path / "known.json"
    monkeypatch.setattr(fit_known, "SHIPPED", shipped)
    monkeypatch.setattr(fit_known, "STORED", stored)
    (tmp_path / "sets").mkdir()
    for name in ("talk", "notes"):
        talk = json.dumps([conversation(f"{name}-one"), conversation(f"{name}-two")])
        (tmp_path / "sets" / f"{name}.json").write_text(talk, "utf-8")
    assert fit_known.main([str(tmp_path / "sets"), "--write"]) == 0
    printed = capsys.readouterr().out
    assert all(each in printed for each in ("talk ", "notes ", "mean ", "general auroc", "lost silent"))
    assert shipped.read_text("utf-8") in printed
    kept = json.loads(stored.read_text("utf-8"))["weights"]
    assert shipped.read_text("utf-8").splitlines()[-1] == f"inject\t{kept['inject']:g}"
