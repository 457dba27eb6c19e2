"""The page that sets other memories beside this one: whole, with a source for each, and true of what is here."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from emgas.messages.settings.modes import Mode
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
def test_each_of_them_has_its_structure_its_cost_and_its_source() -> None:
    built, costs = section("How they are built"), section("What they cost, and what they say of themselves")
    for number, name in enumerate(OTHERS, start=1):
        (row,) = [row for row in built if row[0].startswith(name)]
        assert row[0].endswith(f"[{number}]")
        assert len(row) == 6
        assert all(row)
        (cost,) = [row for row in costs if row[0].startswith(name)]
        assert len(cost) == 4
        assert all(cost)
    assert len(built) == len(costs) == len(OTHERS) + 1
    assert len(re.findall(r"^\d+\. ", PAGE.partition("## Sources")[2], re.MULTILINE)) == len(OTHERS)


def test_every_source_has_a_link_and_a_date() -> None:
    sources = PAGE.partition("## Sources")[2]
    for number, name in enumerate(OTHERS, start=1):
        (line,) = re.findall(rf"^{number}\. .*$", sources, re.MULTILINE)
        assert name.split()[0].lower() in line.lower()
        assert "](https://" in line
        assert re.search(r"\b20\d\d\b", line.replace("arXiv 20", ""))


def test_every_statement_of_how_another_reaches_an_agent_has_a_link_and_a_day() -> None:
    rows = section("How they reach a coding agent")
    assert len(rows) >= 4
    for name, _, reported in rows[1:]:
        assert re.search(r"\]\(https://github\.com/.+?/(issues|pull)/\d+\), \d{1,2} [A-Z][a-z]+ 20\d\d", reported), name


@pytest.mark.source("E42", "P37")
def test_our_own_figures_are_those_that_were_measured() -> None:
    measured = (ROOT / "evaluation" / "README.md").read_text(encoding="utf-8")
    first = next(line for line in measured.splitlines() if line.startswith("| **mean over forms**"))
    figures = re.findall(r"\d\d\.\d", first)[:3]  # the default's, BM25's, PageRank's
    assert len(figures) == 3
    for figure in figures:
        assert figure in PAGE
        assert figure in (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
        assert f" {float(figure):.0f}" in (ROOT / "README.md").read_text(encoding="utf-8"), (
            "rounded, as of 100 questions"
        )


@pytest.mark.source("E42", "P36", "P37")
def test_the_ways_to_retrieve_are_measured_in_every_mode_and_agree_with_the_page_of_recall() -> None:
    recall = (ROOT / "evaluation" / "README.md").read_text(encoding="utf-8")
    rows = {row[1].strip("`"): row[2:4] for row in section("Their ways to retrieve, measured on one graph")}
    assert set(rows) == {*get_args(Mode), ""} - {"inject"}, "BM25 is no mode, and inject ranks as default does"
    for mode, measured in rows.items():
        there = re.search(rf"^\| `{mode or 'bm25'}` \| ([\d., ]+) \| ([\d., ]+) \|", recall, re.MULTILINE)
        assert there is not None, mode
        assert list(there.groups()) == measured


@pytest.mark.source("E42", "P36", "P37")
def test_what_is_quoted_of_one_test_has_every_system_of_it_and_its_source() -> None:
    rows = {row[0]: row[1:] for row in section("One test of eight of them, quoted")}
    named = {"MemGPT", "ReadAgent", "LightMem", "MemoryBank", "A-Mem", "Mem0", "SimpleMem", "full context"}
    assert set(rows) == named
    assert all(len(row) == 7 and all(row) for row in rows.values())
    assert all(float(row[0]) > 0 for row in rows.values())


@pytest.mark.source("H16")
def test_the_advice_names_presets_and_kinds_that_there_are() -> None:
    rows = section("Which for what")
    assert {"working", "episodic", "semantic", "perceptual"} <= set(re.findall(r"--kind (\w+)", PAGE))
    named = {name for row in rows for name in re.findall(r"`([\w-]+)`", row[-1])}
    assert named
    assert named <= PRESETS.keys()
    assert all(len(row) == 7 for row in rows)
