"""The Helm chart and the systemd units: what an operator relies on.  `scripts/chart` validates the chart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from streams.settings import WorkerSettings
from tests.support.cli import commands

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "emgas"
STOP_SECONDS = float(WorkerSettings.model_fields["stop_timeout"].default)
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
TEMPLATES = "\n".join(path.read_text() for path in sorted((CHART / "templates").glob("*.yaml")))


def test_the_chart_is_of_the_version_that_it_deploys() -> None:
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert version
    assert chart["appVersion"] == chart["version"] == version[1]


def test_every_value_that_a_template_asks_for_is_declared_and_every_declared_one_is_asked_for() -> None:
    def leaves(values: dict[str, object], path: str = "") -> set[str]:
        results = set[str]()
        for name, value in values.items():
            is_group = isinstance(value, dict) and value and name not in ("resources", "requests", "limits")
            results |= leaves(value, f"{path}{name}.") if is_group else {f"{path}{name}"}  # type: ignore[arg-type]
        return results

    referenced = set(re.findall(r"\.Values\.([\w.]+)", TEMPLATES + (CHART / "templates" / "_helpers.tpl").read_text()))
    referenced |= set(re.findall(r"\.Values\.([\w.]+)", (CHART / "templates" / "NOTES.txt").read_text()))
    assert referenced == leaves(yaml.safe_load((CHART / "values.yaml").read_text()))


def test_the_job_for_topics_runs_a_command_by_its_present_name() -> None:
    lines = re.search(r"args:\n((?: +- \w+\n)+)", (CHART / "templates" / "topics.yaml").read_text())
    assert lines
    assert tuple(lines[1].replace("-", " ").split()) in {words for words, _ in commands()}


def test_whoever_stops_a_worker_waits_until_it_has_let_go() -> None:
    grace = re.search(r"terminationGracePeriodSeconds: (\d+)", TEMPLATES)
    assert grace
    assert int(grace[1]) > STOP_SECONDS
    for unit in UNITS:
        timeout = re.search(r"^TimeoutStopSec=(\d+)", unit.read_text(), re.MULTILINE)
        assert timeout, unit
        assert int(timeout[1]) > STOP_SECONDS


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_service_comes_back_by_itself_and_has_a_directory_of_its_own(unit: Path) -> None:
    text = unit.read_text()
    assert "Restart=on-failure" in text
    directory = re.search(r"^StateDirectory=(.+)$", text, re.MULTILINE)
    assert directory
    assert f"EMGAS_DATA=/var/lib/{directory[1]}" in text
