"""The requirements files pin all that pyproject.toml asks for, the same everywhere, and name no index."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CLIENT = tomllib.loads((ROOT / "emgas/pyproject.toml").read_text(encoding="utf-8"))["project"]
FILES = ["requirements.txt", "requirements-service.txt", "requirements-integrations.txt", "requirements-mteb.txt"]
PIN = re.compile(r"(?P<name>[a-z0-9][a-z0-9-]*)(\[[a-z0-9,-]+\])?==[0-9][\w.!+]*( ; [^/]+)?")


def pins(file: str) -> list[str]:
    return [line for line in (ROOT / file).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def names(lines: list[str]) -> set[str]:
    """Return the normalised distribution names, without versions."""
    return {re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", line, maxsplit=1)[0]).lower() for line in lines}


@pytest.mark.parametrize("file", FILES)
def test_a_line_is_a_pin_and_nothing_else(file: str) -> None:
    assert pins(file)
    assert [line for line in pins(file) if not PIN.fullmatch(line)] == []


@pytest.mark.parametrize("file", FILES)
def test_no_url_and_no_index_is_named(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert "://" not in text
    assert re.findall(r"(?<!--no-emit-)(?:extra-)?index-url|find-links|trusted-host", text) == []


def test_what_the_project_needs_is_pinned_for_tests_and_for_workers() -> None:
    needed = names(PROJECT["project"]["dependencies"])
    assert needed <= names(pins("requirements-service.txt")), "run scripts/pin"
    assert needed | names(PROJECT["dependency-groups"]["dev"]) <= names(pins("requirements.txt")), "run scripts/pin"


def test_what_adapters_need_is_pinned_for_their_tests() -> None:
    extras = [line for lines in CLIENT["optional-dependencies"].values() for line in lines]
    needed = names(CLIENT["dependencies"]) | names(extras) | names(PROJECT["dependency-groups"]["integrations"])
    assert needed <= names(pins("requirements-integrations.txt")), "run scripts/pin"


def test_workers_get_the_versions_that_were_tested() -> None:
    assert set(pins("requirements-service.txt")) <= set(pins("requirements.txt"))


def test_workers_get_no_test_tools() -> None:
    assert not {"pytest", "mypy", "ruff", "hypothesis"} & names(pins("requirements-service.txt"))
