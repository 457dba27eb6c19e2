"""Names of people are found in talk, in both languages: on sentences that were labelled before the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from emgas.messages.extracts import TurnText
from processors.extraction.understanding import understand
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go

DATA = Path(__file__).parent / "data"
EXTRACTOR = YakeExtractor("en")


def rows(language: str) -> list[tuple[str, list[str]]]:
    lines = (DATA / f"people_{language}.tsv").read_text("utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if not line.startswith("#"))
    return [(text, [] if names == "-" else names.split("|")) for text, names in pairs]


def people(text: str) -> list[str]:
    """Return the names of people in a text, no part of a longer one."""
    (turn,) = in_one_go(understand([TurnText(text=text, at=0)], EXTRACTOR, "en", 0)).turns
    names = {each.text for each in turn.entities if each.kind == "person"}
    return [name for name in names if not any(name != other and name in other for other in names)]


def is_same(labelled: str, found: str) -> bool:
    """Return whether a name is the one that was labelled, with or without a title or a first name."""
    return bool({*labelled.split()} & {*found.split()}) or (len(found) > 1 and labelled.startswith(found))


@pytest.mark.parametrize(("language", "recall", "precision"), [("zh", 0.9, 0.95), ("en", 0.93, 0.97)])
def test_most_names_are_found_and_what_is_found_is_one(language: str, recall: float, precision: float) -> None:
    labelled = found = hits = right = 0
    for text, names in rows(language):
        shown = people(text)
        hits += sum(any(is_same(name, each) for each in shown) for name in names)
        right += sum(any(is_same(name, each) for name in names) for each in shown)
        labelled, found = labelled + len(names), found + len(shown)
    assert labelled >= 80
    assert hits / labelled >= recall
    assert right / found >= precision
