"""The words that lie beside the code: they are read from wherever the program was installed, and are well formed."""

from __future__ import annotations

import re
import sys
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest

from processors.text import tables
from processors.text.facts import vocabulary
from processors.text.facts.frames import frames
from processors.text.language import clean

ROOMS = (
    "processors.text",
    "processors.text.facts",
    "processors.text.questions",
    "processors.text.pronouns",
    "processors.dates",
    "processors.lexicon",
    "lab.gates",
    "lab.guidance",
)
TABLES = [
    (room, file.name.removesuffix(".tsv"))
    for room in ROOMS
    for file in sorted(files(room).joinpath("data").iterdir(), key=lambda file: file.name)
]
PATTERNS = [("processors.text", name) for name in ("relations", "statements", "statement_parts")] + [
    ("processors.text.questions", name) for name in ("answer_kinds", "wanted")
]
FACTS = [
    ("processors.text.facts", name) for name in ("facts", "fact_parts", "people_patterns")
]  # patterns of other parts
WORDS = [table for table in TABLES if table not in (*PATTERNS, *FACTS)]


def test_a_table_is_rows_of_columns_and_comments_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "installed.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("attic/__init__.py", "")
        zipped.writestr("attic/data/words.tsv", "# a comment\nfruit\tapple 苹果\n\n\tno kind\n")
    monkeypatch.syspath_prepend(archive)
    assert tables.rows("attic", "words") == [["fruit", "apple 苹果"], ["", "no kind"]]
    sys.modules.pop("attic")


def test_a_program_without_its_data_says_so() -> None:
    with pytest.raises(FileNotFoundError):
        tables.rows("processors.text", "attic")


@pytest.mark.parametrize(("room", "name"), TABLES)
def test_every_row_of_a_table_has_as_many_columns_and_none_stands_twice(room: str, name: str) -> None:
    rows = tables.rows(room, name)
    assert len({len(row) for row in rows}) == 1
    assert len({tuple(row) for row in rows}) == len(rows)
    assert all(cell for row in rows for cell in row)


@pytest.mark.parametrize(("room", "name"), WORDS)
def test_words_are_spelled_as_cleaned_text_is(room: str, name: str) -> None:
    assert all(cell == clean(cell) and cell == cell.strip() for row in tables.rows(room, name) for cell in row)


@pytest.mark.parametrize(("room", "name"), PATTERNS)
def test_the_patterns_of_a_table_compile_once_their_parts_are_put_in_place(room: str, name: str) -> None:
    for row in tables.rows(room, name):
        pattern = row[-1].removeprefix("back ")
        for part, meant in tables.rows("processors.text", "statement_parts"):
            pattern = pattern.replace(f"{{{part}}}", meant)
        assert not re.search(r"\{[A-Za-z]", pattern), "a part that nobody declares"
        re.compile(pattern)


def test_the_patterns_of_facts_and_people_compile_once_their_parts_are_put_in_place() -> None:
    rows = tables.rows(*FACTS[0])
    for language in {row[0] for row in rows}:
        frames(language)  # compiles each
    patterns = [vocabulary.expanded(row[-1]) for row in rows]
    patterns += [vocabulary.pattern(language, name).pattern for language, name, _ in tables.rows(*FACTS[2])]
    assert not any(re.search(r"\{[A-Za-z]", each) for each in patterns), "a part that nobody declares"


def test_every_file_of_words_is_a_table() -> None:
    assert all(file.name.endswith(".tsv") for room in ROOMS for file in files(room).joinpath("data").iterdir())
