"""docs/sources.md: what it says of each feature is what the tests say."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = [sys.executable, str(ROOT / "scripts" / "sources")]


@cache
def sources() -> dict[str, Any]:
    counted: dict[str, Any] = json.loads(subprocess.run([*SCRIPT, "--json"], capture_output=True, check=True).stdout)
    return counted


def test_the_page_is_the_one_that_rows_and_markers_make() -> None:
    assert subprocess.run([*SCRIPT, "--check"], check=False).returncode == 0, "run ./scripts/sources"


def test_every_feature_of_the_five_systems_has_a_row() -> None:
    totals = {key: total for key, (_, total) in sources()["by_system"].items()}
    assert (sources()["rows"], totals) == (167, {"E": 42, "S": 32, "M": 27, "P": 50, "H": 16})


def test_what_is_said_to_work_is_shown_by_a_test() -> None:
    assert sources()["untested"] == 0


def test_every_marker_names_a_row() -> None:
    rows = (ROOT / "docs" / "sources.tsv").read_text(encoding="utf-8").splitlines()
    script = f"import runpy; print(*runpy.run_path({SCRIPT[1]!r})['shown']())"
    listing = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert set(listing.stdout.split()) <= {row.split("\t")[0] for row in rows}
