"""What a million turns cost, in the documentation: as `python -m bench.speed.money` computes it."""

from __future__ import annotations

import json
from pathlib import Path

from bench.speed.money import cpu_line, table
from bench.speed.scaling import MEASURED

PAGE = Path(__file__).resolve().parents[1] / "docs" / "operations.md"
MEASURED_COSTS = json.loads(MEASURED.read_text("utf-8"))


def test_the_costs_on_the_page_are_computed() -> None:
    text = PAGE.read_text("utf-8")
    assert "\n".join(table(MEASURED_COSTS)) in text
    assert cpu_line(MEASURED_COSTS) in text
