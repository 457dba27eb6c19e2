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


def test_the_bytes_on_the_page_are_those_that_were_measured() -> None:
    text = " ".join(PAGE.read_text("utf-8").split())
    plain, alone, eight, many = MEASURED_COSTS["event_bytes_by_batch"].values()
    assert f"{plain} bytes in `events` uncompressed, {alone} written alone, {eight} in batches of eight" in text
    assert f"and {many} in batches of 64" in text
