"""Faults that are put into the code (bench/mutation): each changes its function, and a test that looks notices."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.mutation.faults import ROOT, mutants, mutate

FUNCTION = """
def positive(numbers, most):
    for number in numbers:
        if number < 0 and not most:
            continue
        most += 1
    print(most)
    return [number + 1 for number in numbers if number > most or number]
"""


def test_each_fault_differs_from_the_code_and_from_every_other_fault() -> None:
    result = list(mutants("a.py", FUNCTION))
    texts = {ast.unparse(mutate(FUNCTION, mutant)) for mutant in result}
    assert len(texts | {ast.unparse(ast.parse(FUNCTION))}) == len(result) + 1
    assert {mutant.change.partition(" ")[0] for mutant in result} >= {"compare", "compute", "drop", "return", "or", "2"}


@pytest.mark.parametrize(
    ("line", "kills"), [("assert zone('UTC') and zone('+08:00')", True), ("zone('UTC'), zone('+08:00')", False)]
)
def test_a_test_that_looks_kills_the_mutants_and_one_that_does_not_kills_none(
    line: str, kills: bool, tmp_path: Path
) -> None:
    tests = tmp_path / "test_it.py"
    tests.write_text(f"from emgas.times import zone\n\n\ndef test_it():\n    {line}\n", "utf-8")
    out = tmp_path / "out.json"
    command = [sys.executable, "-m", "bench.mutation", "emgas/times.py", "--tests", str(tests), "--out", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    outcomes = json.loads(out.read_text("utf-8"))["outcomes"]
    assert [bool(outcome["killed"]) for outcome in outcomes if outcome["mutant"]["change"] == "return None"] == [
        kills,
        kills,
    ], "of the zone with a name, and of the one that is an offset"
