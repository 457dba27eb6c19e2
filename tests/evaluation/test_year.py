"""A year of talk, in English and in Chinese: the right line is among the first three, before and after a replay."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.year.__main__ import answer_all, replayed, table
from evaluation.year.asking import ENOUGH, share
from evaluation.year.conversation import LANGUAGES, keys, turns
from processors.text import tables


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_year_is_the_same_every_time_and_every_question_names_lines_of_it(language: str) -> None:
    turns_of_year = turns(language)
    assert turns_of_year == turns(language)
    assert len({turn.id for turn in turns_of_year}) == len(turns_of_year) > 300
    assert turns_of_year == sorted(turns_of_year, key=lambda turn: turn.at or 0)
    rows = tables.rows("evaluation.year", f"questions_{language}")
    assert len(rows) == len({question for _, question, _ in rows}) == 60
    named = keys(language)
    for _, question, expected in rows:
        assert all(each.startswith("habit:") or each in named for each in expected.split()), question


@pytest.mark.source("P38", "P22", "H8", "P42")
async def test_nine_of_ten_questions_have_the_right_line_among_the_first_three_also_after_a_replay(
    tmp_path: Path,
) -> None:
    before = await answer_all(tmp_path)
    after = await replayed(tmp_path)
    assert after == before
    for language in LANGUAGES:
        wrong = [each.question for each in before[language] if not each.right]
        assert share(before[language]) >= ENOUGH, (wrong, table(before, after))
