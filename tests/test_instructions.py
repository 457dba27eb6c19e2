"""What is counted of hot kernels: each runs between two marks, and one that takes more than it did is refused."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bench.speed import instructions
from bench.speed.instructions import BASELINE, TOLERATED, ratios, regressions
from bench.speed.kernels import KERNELS, large
from tests.support.cli import ROOT

WATCHED = """
import os, sys
from bench.speed import kernels
found, calls = os.getppid, []
os.getppid = lambda: calls.append(1) or found()
sys.argv = ["kernels"]
os._exit = lambda code: print("marks", len(calls))
kernels.main()
"""


def test_each_kernel_runs_between_two_marks_and_tells_how_many_times_it_did() -> None:
    command = [sys.executable, "-c", WATCHED]
    run = subprocess.run(command, input=large(), capture_output=True, cwd=ROOT, check=True, timeout=120)
    counts = dict(line.split() for line in run.stdout.decode().splitlines())
    assert int(counts.pop("marks")) == 2 * len(KERNELS)
    assert counts.keys() == KERNELS.keys()
    assert all(int(times) >= 1 for times in counts.values())


def test_a_tenth_more_is_tolerated_and_not_more() -> None:
    assert TOLERATED == 1.1
    assert regressions({"fold": 1_100_000}, {"fold": 1_000_000}) == []
    assert regressions({"fold": 1_100_001}, {"fold": 1_000_000}) == [
        "fold takes 1,100,001 instructions, 1.10 times the 1,000,000 of the baseline"
    ]
    assert regressions({"fold": 500_000}, {"fold": 1_000_000}) == []


def test_a_kernel_without_a_baseline_is_refused_where_others_have_one() -> None:
    assert regressions({"fold": 1, "other": 1}, {"fold": 1}) == ["other has no baseline"]
    assert ratios({"fold": 3, "other": 1}, {"fold": 2}) == {"fold": 1.5}


def test_what_cannot_be_compared_is_said_and_not_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert not instructions.refused({"counts": {"fold": 1}, "ratios": None})
    instructions.loudly("NOTHING WAS COMPARED")
    assert "NOTHING WAS COMPARED" in capsys.readouterr().err


def test_every_baseline_is_of_all_kernels_and_says_what_it_was_made_with() -> None:
    baselines = json.loads(BASELINE.read_text(encoding="utf-8"))
    assert baselines
    for minor, baseline in baselines.items():
        assert baseline["counts"].keys() == KERNELS.keys()
        assert baseline["made_with"]["python"].startswith(minor + ".")
