"""The alert rules and the dashboard have the shape that Prometheus and Grafana read.

That what they ask for exists is tested with a worker: tests/streams/test_health.py.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load((ROOT / "deploy/alerts.yaml").read_text())["groups"] for rule in group["rules"]
]
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy/grafana-dashboard.json").read_text())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_says_when_how_bad_what_it_means_and_what_to_do(rule: dict[str, Any]) -> None:
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch(r"Emgas[A-Za-z]+", rule["alert"])
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert set(rule["annotations"]) == {"summary", "description"}
    assert re.fullmatch(r"\d+[smh]", rule.get("for", "0s"))
    assert balanced(rule["expr"])


def test_no_two_rules_have_one_name() -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES)


@pytest.mark.parametrize(
    "what", ["PartitionHalted", "WorkerRestarts", "LagRises", "Claims", "Fenced", "DeadLetters", "DiskFull"]
)
def test_what_wants_an_operator_has_a_rule(what: str) -> None:
    assert f"Emgas{what}" in {rule["alert"] for rule in RULES}


def test_prometheus_accepts_the_rules() -> None:
    if shutil.which("promtool") is None:
        pytest.skip("NOT TESTED BY PROMETHEUS ITSELF: promtool is not here; the tests beside check what we rely on")
    run = subprocess.run(["promtool", "check", "rules", ROOT / "deploy/alerts.yaml"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_dashboard_asks_a_source_that_its_reader_chooses() -> None:
    (variable,) = DASHBOARD["templating"]["list"]
    assert (variable["type"], variable["query"]) == ("datasource", "prometheus")
    for panel in DASHBOARD["panels"]:
        for asks in (panel, *panel["targets"]):
            assert asks["datasource"] == {"type": "prometheus", "uid": "${" + variable["name"] + "}"}


@pytest.mark.parametrize("panel", DASHBOARD["panels"], ids=lambda panel: panel["title"])
def test_a_panel_says_what_it_shows_in_which_unit(panel: dict[str, Any]) -> None:
    assert panel["type"] in {"stat", "timeseries"}
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"] in {"short", "s", "ops", "bytes", "percentunit"}
    assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]) > 0
    assert all(balanced(target["expr"]) for target in panel["targets"])


def test_no_two_panels_lie_over_each_other() -> None:
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    for one, other in combinations([panel["gridPos"] for panel in DASHBOARD["panels"]], 2):
        apart = [
            one[at] + one[size] <= other[at] or other[at] + other[size] <= one[at]
            for at, size in (("x", "w"), ("y", "h"))
        ]
        assert any(apart)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in DASHBOARD["panels"])


def balanced(expression: str) -> bool:
    """Tell whether every bracket is closed by its own kind."""
    opened: list[str] = []
    pairs = {")": "(", "}": "{", "]": "["}
    for letter in expression:
        if letter in pairs.values():
            opened.append(letter)
        elif letter in pairs and (not opened or opened.pop() != pairs[letter]):
            return False
    return not opened
