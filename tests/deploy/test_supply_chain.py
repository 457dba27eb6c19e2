"""What was asked about dependencies is told as it is: a vulnerability fails, silence is loud and is no all-clear."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CLEAN = {"name": "numpy", "version": "2.4.0", "vulns": []}
SKIPPED = {"name": "numpy", "skip_reason": "Dependency not found on PyPI and could not be audited: numpy (2.4.0)"}
VULNERABLE = {"name": "yaml", "version": "1", "vulns": [{"id": "GHSA-1", "fix_versions": ["2"], "aliases": []}]}


def report(folder: Path, *, required: bool = False, **services: list[dict[str, Any]]) -> tuple[int, str]:
    for name, told in services.items():
        (folder / f"{name}.json").write_text(json.dumps({"dependencies": told, "fixes": []}))
    environment = {**os.environ, "EMGAS_REQUIRE_AUDIT": "1" if required else ""}
    command = [sys.executable, ROOT / "scripts/audit_report.py", folder]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    return run.returncode, run.stderr


def test_a_known_vulnerability_fails_and_names_the_version_that_mends_it(tmp_path: Path) -> None:
    code, told = report(tmp_path, pypi=[CLEAN, VULNERABLE], osv=[CLEAN, VULNERABLE])
    assert code == 1
    assert told.splitlines()[0] == "audit: yaml 1: GHSA-1, mended in 2"
    assert told.splitlines()[-1] == "audit: 2 dependencies asked for, 1 vulnerabilities"


def test_a_dependency_that_no_service_knows_is_named(tmp_path: Path) -> None:
    code, told = report(tmp_path, pypi=[SKIPPED, {**CLEAN, "name": "orjson"}])
    assert code == 0
    assert "NOT KNOWN to any service: numpy" in told


def test_where_nobody_answers_that_is_said_loudly_and_is_no_failure_unless_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "osv.json").write_text("")
    for required in (False, True):
        code, told = report(tmp_path, required=required, pypi=[SKIPPED])
        assert code == required
        assert "NOT AUDITED" in told


def test_ci_asks_lists_what_is_in_the_image_and_builds_it() -> None:
    steps = (ROOT / ".ci/run").read_text()
    for step in ("./scripts/audit", "./scripts/sbom", "./scripts/image check"):
        assert step in steps
