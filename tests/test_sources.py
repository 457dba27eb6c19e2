"""Every feature of the five sources: its cases, and how its standing is computed from them."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.acceptance import Result, complaints, preset_of, read

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "sources"
SOURCES = runpy.run_path(str(SCRIPT))
CASES = sorted((ROOT / "tests" / "acceptance").glob("*.jsonl"))
PASSES = ("default", "simplemem")


def results(*cases: tuple[str, str, bool]) -> list[Result]:
    return [Result(id, ("P22",), preset, () if passes else ("not first: tea",)) for id, preset, passes in cases]


def state(declined: str, *cases: tuple[str, str, bool]) -> Any:
    return SOURCES["standing"](SOURCES["Row"]("P22", "habits", "", "", declined), results(*cases)).state


def all_pass(count: int) -> list[tuple[str, str, bool]]:
    return [(f"c{number}", preset, True) for number in range(count) for preset in PASSES]


def test_every_feature_of_the_five_systems_has_a_row() -> None:
    rows = SOURCES["rows"]()
    assert Counter(row.id[0] for row in rows) == {"E": 42, "S": 32, "M": 27, "P": 50, "H": 16}


def test_every_case_names_rows_that_there_are_and_has_a_name_of_its_own() -> None:
    _, cases = read(CASES)
    assert {row for case in cases for row in case["rows"]} <= {row.id for row in SOURCES["rows"]()}
    assert max(Counter(case["id"] for case in cases).values()) == 1
    assert all(case["expect"] for case in cases)


def test_a_feature_has_three_cases_at_least_or_a_reason() -> None:
    _, cases = read(CASES)
    asked = Counter(row for case in cases for row in set(case["rows"]))
    assert [row.id for row in SOURCES["rows"]() if asked[row.id] < SOURCES["LEAST"] and not row.declined] == []


def test_a_feature_works_if_three_cases_pass_in_both_presets() -> None:
    assert state("", *all_pass(3)) == "works"
    assert state("", *all_pass(2)) == "partly"
    assert state("", *all_pass(3), ("c9", "default", False)) == "partly"
    assert state("", *all_pass(3), ("c9", "simplemem", False)) == "partly"
    assert state("", *all_pass(3), ("c9", "maibot", False)) == "works", "that preset is of another source"


def test_what_is_declined_is_so_in_part_while_the_rest_passes() -> None:
    assert state("needs a model") == "declined"
    assert state("needs a model", *all_pass(1)) == "declined in part"
    assert state("needs a model", ("c0", "default", False)) == "partly"


@pytest.mark.parametrize(
    ("row", "preset"),
    [("E1", "emgas"), ("S26", "memorybank"), ("M11", "maibot"), ("M24", "mofox"), ("H1", "hello-agents")],
)
def test_a_feature_is_asked_for_in_the_preset_of_its_source(row: str, preset: str) -> None:
    assert preset_of(row) == preset


REPLY = {"passages": [{"text": "green tea"}, {"text": "oolong"}], "context": "green tea at 7", "tokens": 9}


@pytest.mark.parametrize(
    ("expect", "holds"),
    [
        ({"first": "tea"}, True),
        ({"first": "oolong"}, False),
        ({"first": "coffee|green&tea"}, True),
        ({"contains": ["oolong"], "within": 1}, False),
        ({"not_contains": ["oolong"]}, False),
        ({"once": ["tea"]}, True),
        ({"context_contains": ["at 7"]}, True),
        ({"context_lacks": ["at 7"]}, False),
        ({"nothing": True}, False),
        ({"path": "tokens", "at_most": 8}, False),
        ({"path": "passages", "at_least": 2}, True),
        ({"path": "passages.0.text", "equals": "Green Tea"}, True),
        ({"refused": 404}, False),
    ],
)
def test_an_expectation_holds_or_says_what_does_not(expect: dict[str, Any], holds: bool) -> None:
    assert (complaints(expect, REPLY) == []) == holds


def test_a_case_that_fails_now_and_one_that_passes_now_are_named() -> None:
    failing = SOURCES["FAILING"].read_text(encoding="utf-8").split()
    now = results(("new-1", "default", False))
    assert SOURCES["changed"](now)[0].startswith("fails now: new-1 [default]")
    assert len(SOURCES["changed"](now)) == 1 + len(failing) // 2


@pytest.mark.slow
def test_no_feature_regresses_and_all_are_counted() -> None:
    run = subprocess.run([sys.executable, str(SCRIPT), "--check", "--json"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    counts = json.loads(run.stdout)
    assert counts["rows"] == sum(counts[each] for each in SOURCES["STATES"]) == 167
