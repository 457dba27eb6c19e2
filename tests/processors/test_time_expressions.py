"""What is noted of a time is right: on expressions written before the grammar saw them, and in the demo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import orjson
import pytest

from processors.dates.resolve import anchored, format_span
from processors.text.language import clean
from tests.support.time_expressions import ms

DATA = Path(__file__).parent / "data"
SETS = ("time_expressions", "time_expressions_more", "time_expressions_unseen")
CHAINS = ("time_chains", "time_chains_unseen")


def rows(name: str) -> Iterator[list[str]]:
    """Yield the rows of a table, each as its columns."""
    lines = (DATA / f"{name}.tsv").read_text("utf-8").splitlines()
    return (line.split("\t") for line in lines if not line.startswith("#"))


def notes(text: str, at: int) -> list[str]:
    return [format_span(span) for span in anchored(clean(text), at, "en")]


@pytest.mark.source("P11")
@pytest.mark.parametrize("names", [*((name,) for name in SETS), CHAINS], ids=[*SETS, "chains"])
def test_of_a_hundred_notes_at_least_98_are_right_and_few_are_missed(names: tuple[str, ...]) -> None:
    noted = right = meant = 0
    for day, text, means in chain.from_iterable(map(rows, names)):
        meanings = [note.partition(" = ")[2] for note in notes(text, ms(f"{day}T12:00"))]
        expected = [] if means == "-" else means.split("; ")
        right += (Counter(meanings) & Counter(expected)).total()
        noted, meant = noted + len(meanings), meant + len(expected)
    assert right / noted >= 0.98
    assert right / meant >= 0.95


def test_the_sets_are_large_in_both_languages_and_a_fifth_of_them_names_no_time() -> None:
    texts = {text: means for name in SETS for _, text, means in rows(name)}
    chinese = sum(not text.isascii() for text in texts)
    assert len(texts) > 600
    assert len(texts) / 3 < chinese < len(texts) / 2
    assert sum(means == "-" for means in texts.values()) > len(texts) / 5


def test_every_note_in_the_demo_is_one_that_was_looked_at() -> None:
    conversation = Path(__file__).parents[2] / "streams" / "cli" / "memory" / "demo_data" / "conversation.jsonl"
    turns = [orjson.loads(line) for line in conversation.read_bytes().splitlines()]
    notes_by_turn = {turn["id"]: "; ".join(notes(turn["text"], turn["at"])) for turn in turns}
    assert {turn: note for turn, note in notes_by_turn.items() if note} == dict(rows("demo_notes"))
