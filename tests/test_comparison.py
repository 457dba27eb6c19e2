"""The page that sets other memories beside this one: whole, with a source for each, and true of what is here."""

from __future__ import annotations

import json
import re
from typing import get_args

import pytest

from emgas.messages.settings.modes import Mode
from evaluation.everything import share_in_context
from state.events.memory_settings import PRESETS
from tests.support.cli import ROOT

PAGE = (ROOT / "evaluation" / "COMPARISON.md").read_text(encoding="utf-8")
OTHERS = (
    "HippoRAG 2",
    "LightRAG",
    "Mem0",
    "Graphiti",
    "A-Mem",
    "MemGPT",
    "MemoryBank",
    "SimpleMem",
    "LightMem",
    "MemoryOS",
)


def section(title: str) -> list[list[str]]:
    """Read the rows of the table under a title, without its head."""
    text = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.source("E42")
def test_each_of_them_has_its_structure_its_claim_and_its_source() -> None:
    built = section("How they are built")
    for number, name in enumerate(OTHERS, start=1):
        (row,) = [row for row in built if row[0].startswith(name)]
        assert row[0].endswith(f"[{number}]")
        assert len(row) == 6
        assert all(row)
    assert len(built) == len(OTHERS) + 1
    assert len(re.findall(r"^\d+\. ", PAGE.partition("## Sources")[2], re.MULTILINE)) == len(OTHERS)


def test_every_source_has_a_link_and_the_page_says_when_they_were_read() -> None:
    sources = PAGE.partition("## Sources")[2]
    for number, name in enumerate(OTHERS, start=1):
        (line,) = re.findall(rf"^{number}\. .*$", sources, re.MULTILINE)
        assert name.split()[0].lower() in line.lower()
        assert "](https://" in line
    assert re.search(r"^Read in [A-Z][a-z]+ 20\d\d", sources, re.MULTILINE)


def test_every_statement_of_how_another_reaches_an_agent_has_a_link_and_a_day() -> None:
    rows = section("How they reach a coding agent")
    assert len(rows) >= 4
    for name, _, reported in rows[1:]:
        assert re.search(r"\]\(https://github\.com/.+?/(issues|pull)/\d+\), \d{1,2} [A-Z][a-z]+ 20\d\d", reported), name


@pytest.mark.source("E42", "P37")
def test_the_chart_of_the_readme_has_the_means_that_were_measured() -> None:
    results = json.loads((ROOT / "evaluation" / "results.json").read_text(encoding="utf-8"))
    chart = re.findall(r"█ +(\d+)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert chart == [f"{share:.0f}" for share in share_in_context(results).values()]


@pytest.mark.source("E42", "P36", "P37")
def test_the_ways_to_retrieve_have_a_row_for_every_mode() -> None:
    rows = {row[1].partition(",")[0].strip("`"): row[2:] for row in section("Their ways to retrieve, on one graph")}
    assert rows.keys() == {*get_args(Mode), "–"} - {"inject"}, "inject ranks as default does"
    assert all(float(cell) > 0 for row in rows.values() for cell in row)


@pytest.mark.source("E42", "P36", "P37")
def test_what_is_quoted_of_one_test_has_every_system_of_it_with_its_figure() -> None:
    quoted = PAGE.partition("## One test of eight of them, quoted")[2].partition("\n## ")[0].replace("\n", " ")
    for name in ("full context", "MemGPT", "ReadAgent", "LightMem", "MemoryBank", "A-Mem", "Mem0", "SimpleMem"):
        assert re.search(rf"{name} \d\d\.\d\d \([\d,]+\+?\)", quoted), name


@pytest.mark.source("H16")
def test_the_advice_names_presets_and_kinds_that_there_are() -> None:
    rows = section("Which for what")
    assert {"working", "episodic", "semantic", "perceptual"} <= set(re.findall(r"--option kind=(\w+)", PAGE))
    named = {name for row in rows for name in re.findall(r"`([\w-]+)`", row[-1])}
    assert named
    assert named <= PRESETS.keys()
    assert all(len(row) == 6 for row in rows)
