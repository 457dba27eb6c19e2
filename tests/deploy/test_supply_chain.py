"""What was asked about dependencies is told as it is: a vulnerability fails, silence is loud and is no all-clear."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNAVAILABLE = 69  # of sysexits.h: what was asked for could not be reached
CLEAN = {"name": "numpy", "version": "2.4.0", "vulns": []}
SKIPPED = {"name": "numpy", "skip_reason": "Dependency not found on PyPI and could not be audited: numpy (2.4.0)"}
VULNERABLE = {"name": "yaml", "version": "1", "vulns": [{"id": "GHSA-1", "fix_versions": ["2"], "aliases": []}]}


def report(folder: Path, **services: list[dict[str, Any]]) -> tuple[int, str]:
    for name, dependencies in services.items():
        (folder / f"{name}.json").write_text(json.dumps({"dependencies": dependencies, "fixes": []}))
    command = [sys.executable, ROOT / "scripts/audit_report.py", folder]
    run = subprocess.run(command, capture_output=True, text=True)
    return run.returncode, run.stderr


def test_a_known_vulnerability_fails_and_names_the_version_that_mends_it(tmp_path: Path) -> None:
    code, message = report(tmp_path, pypi=[CLEAN, VULNERABLE], osv=[CLEAN, VULNERABLE])
    assert code == 1
    assert message.splitlines()[0] == "audit: yaml 1: GHSA-1, mended in 2"
    assert message.splitlines()[-1] == "audit: 2 dependencies asked for, 1 vulnerabilities"


def test_a_dependency_that_no_service_knows_is_named(tmp_path: Path) -> None:
    code, message = report(tmp_path, pypi=[SKIPPED, {**CLEAN, "name": "orjson"}])
    assert code == 0
    assert "NOT KNOWN to any service: numpy" in message


def test_where_no_service_answers_that_is_said_loudly_by_a_code_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "osv.json").write_text("")
    code, message = report(tmp_path, pypi=[SKIPPED])
    assert code == os.EX_UNAVAILABLE == UNAVAILABLE
    assert "NOT AUDITED" in message


@pytest.mark.parametrize(
    ("code", "required", "ends_with"),
    [(0, "", None), (UNAVAILABLE, "", None), (UNAVAILABLE, "1", UNAVAILABLE), (1, "", 1), (1, "1", 1), (2, "", 2)],
)
def test_ci_goes_on_where_nothing_could_be_audited_and_ends_with_all_else(
    tmp_path: Path, code: int, required: str, ends_with: int | None
) -> None:
    """Run the function of .ci/run beside an audit that ends with `code`."""
    (tmp_path / "scripts").mkdir()
    audit = tmp_path / "scripts/audit"
    audit.write_text(f"#!/bin/sh\nexit {code}\n")
    audit.chmod(0o755)
    text = (ROOT / ".ci/run").read_text()
    function = text[text.index("audited() {") :]
    function = function[: function.index("\n}\n") + 3]
    script = f"set -euo pipefail\n{function}\naudited\necho went on"
    environment = {**os.environ, "EMGAS_REQUIRE_AUDIT": required}
    run = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == ((0, "went on\n") if ends_with is None else (ends_with, ""))


def test_ci_asks_lists_what_is_in_the_image_and_builds_it() -> None:
    steps = (ROOT / ".ci/run").read_text()
    for step in ("\n  audited\n", "./scripts/audit", "./scripts/release", "./scripts/image check"):
        assert step in steps
