"""Times in seven languages by one grammar: what each means, in which direction it looks, and that the tables fit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emgas.times import datetime_of
from processors.dates.holidays import days_of_holiday, easter, lunar_day
from processors.dates.match import MEANINGS
from processors.dates.resolve import resolve_times
from processors.dates.spans import moment
from processors.dates.vocabulary import LANGUAGES, words_of
from processors.text import tables
from processors.text.language import clean
from state.events.extraction_types import TimeSpan
from tests.support.time_expressions import ms

DATA = Path(__file__).parent / "data" / "times_in_languages.tsv"
WEDNESDAY = ms("2025-03-12T10:00")


def written(span: TimeSpan) -> str:
    since, until = datetime_of(span.since), datetime_of(span.until - 1)
    if span.value:
        return f"{span.value} {since:%Y-%m-%d}" if span.kind in ("", "vague", "time") else span.value
    return f"{since:%Y-%m-%dT%H:%M}" if span.kind == "time" else f"{since:%Y-%m-%d}/{until:%Y-%m-%d}"


def rows() -> list[list[str]]:
    return [line.split("\t") for line in DATA.read_text("utf-8").splitlines() if not line.startswith("#")]


@pytest.mark.source("P11")
@pytest.mark.parametrize(("language", "text", "means"), rows())
def test_a_time_means_the_same_in_every_language(language: str, text: str, means: str) -> None:
    assert means in [written(span) for span in resolve_times(clean(text), WEDNESDAY, language)]


def test_the_table_has_every_language() -> None:
    assert {language for language, _, _ in rows()} == set(LANGUAGES)


def test_moved_from_one_day_to_another_is_two_days_and_from_one_to_another_a_range() -> None:
    moved = resolve_times("the dentist was moved from Thursday to Monday", WEDNESDAY, "en")
    assert [written(span) for span in moved] == ["2025-03-13/2025-03-13", "2025-03-17/2025-03-17"]
    away = resolve_times("We'll be away from Thursday to Monday", WEDNESDAY, "en")
    assert [written(span) for span in away] == ["2025-03-13/2025-03-17"]


def test_what_could_be_another_day_is_no_day_for_sure() -> None:
    (span,) = resolve_times("A letter on Friday", WEDNESDAY, "en")
    assert (span.kind, span.confidence) == ("vague", 0.5)


def test_every_rule_names_a_meaning_and_every_meaning_has_a_rule() -> None:
    assert {name for _, _, name in tables.rows("processors.dates", "rules")} == set(MEANINGS)


def test_every_code_of_a_rule_is_one_of_words_or_one_that_a_rule_makes() -> None:
    made = {"date", "clock", "length", "set", "moment", "hours", "present", "year", "nth", "literal"}
    codes = {code for language in LANGUAGES for each in words_of(language).values() for code in each} | made
    used = {
        code for _, patterns, _ in tables.rows("processors.dates", "rules") for code in re.findall("[a-z_]+", patterns)
    }
    assert used <= codes


def test_easter_and_the_chinese_calendar_are_those_of_almanacs() -> None:
    assert [f"{easter(year):%m-%d}" for year in (1961, 2000, 2024, 2025, 2038)] == [
        "04-02", "04-23", "03-31", "04-20", "04-25",
    ]  # fmt: skip
    assert lunar_day(2025, 8, 15) == moment(2025, 10, 6)
    assert lunar_day(2026, 1, 1) == moment(2026, 2, 17)
    assert lunar_day(2025, 2, 30) is None  # a month of 29 days
    assert lunar_day(1899, 1, 1) is None
    assert days_of_holiday("L13-1", 2025) == [moment(2025, 1, 28)]
    assert days_of_holiday("11/4/3+1", 2024) == [moment(2024, 11, 29)]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ko", "좋은 주말 보내세요!"),
        ("ko", "좋은 아침이야"),
        ("ko", "며칠인지 몰라요"),
        ("ja", "良い週末を!"),
        ("en", "Tel: +86 138-2010-2015"),
        ("en", "The code of this object is 133-03-03-2020"),
        ("zh", "我在玩《明日之后》"),
    ],
)
def test_a_wish_a_number_and_a_title_tell_no_day(language: str, text: str) -> None:
    assert [span for span in resolve_times(clean(text), WEDNESDAY, language) if span.kind != "duration"] == []


def test_what_was_moved_is_never_a_range_of_both_times() -> None:
    for language, text in (
        ("en", "My flight was changed from 6 am to 9:30 am"),
        ("ko", "저녁을 오늘 밤에서 내일 밤으로 옮겼어요"),
        ("ko", "마감이 3월 20일에서 4월 3일로 연기됐어요"),
        ("de", "Das Treffen wurde von Donnerstag auf Montag verschoben"),
    ):
        spans = [span for span in resolve_times(clean(text), WEDNESDAY, language) if span.kind in ("", "time")]
        assert all(span.until - span.since <= 86_400_000 for span in spans), text
        assert len({span.since for span in spans}) >= 2, text


def test_what_follows_in_korean_and_japanese_counts_from_what_was_said_before_and_is_unsure() -> None:
    for language, text in (("ko", "6월에 만나서 2주 뒤에 약혼했어요"), ("ja", "6月に会って、2週間後に婚約しました")):
        assert [span.kind for span in resolve_times(clean(text), WEDNESDAY, language)] == ["", "vague"]
