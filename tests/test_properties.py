"""Property tests: one profile for all (tests/conftest.py), and the same examples in whatever company they run."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).resolve().parent
ODD = range(10_007, 20_000, 1009)  # Hypothesis has no reason to try these, but that it meets them in a module


def tried() -> list[tuple[int, str]]:
    """Return the examples that a property tries."""
    examples: list[tuple[int, str]] = []

    @given(st.integers(0, 1 << 30), st.text(max_size=8))
    def holds(number: int, text: str) -> None:
        examples.append((number, text))

    holds()
    return examples


@pytest.mark.skipif("not __import__('hypothesis').settings.default.derandomize", reason="a hunt tries others each time")
def test_a_property_tries_the_same_examples_whichever_modules_are_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tried()
    file = tmp_path / "newcomer.py"
    file.write_text(f"NUMBERS = {[*ODD]}\nWORDS = {[f'odd{number}' for number in ODD]}\n")
    spec = importlib.util.spec_from_file_location("newcomer", file)
    assert spec is not None
    monkeypatch.setitem(sys.modules, "newcomer", importlib.util.module_from_spec(spec))
    assert tried() == before


def test_one_file_says_how_properties_are_tried() -> None:
    others = [file for file in TESTS.rglob("*.py") if file not in {TESTS / "conftest.py", Path(__file__).resolve()}]
    assert [str(file) for file in others if re.search(r"(load|register)_profile\(", file.read_text("utf-8"))] == []


def test_no_property_is_timed() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    texts = [file.read_text("utf-8") for file in TESTS.rglob("*.py")]
    own = [checks for text in texts for checks in re.findall(r"suppress_health_check=([\[l].+)", text)]
    assert [checks for checks in own if "too_slow" not in checks and "list(HealthCheck)" not in checks] == []
