"""Who, when, and whether a time or anything is asked."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from emgas.limits import EARLIEST_MS, LATEST_MS
from processors.extraction.tags import of_query, of_turn
from state.events.extraction_types import Concept, TimeSpan

AT = 1_683_504_000_000  # 2023-05-08T00:00:00Z


def test_a_turn_is_tagged_with_speaker_month_and_day() -> None:
    assert of_turn("The boat", "Caroline  Lee", AT, []) == [
        Concept("@month:2023-05", "2023-05", 1.0, 1),
        Concept("@day:2023-05-08", "2023-05-08", 1.0, 1),
        Concept("@speaker:caroline lee", "Caroline Lee", 1.0, 1),
    ]


def test_the_day_changes_at_midnight_utc() -> None:
    assert of_turn("", "A", AT - 1, [])[1].id == "@day:2023-05-07"
    assert of_turn("", "A", EARLIEST_MS, [])[1].id == "@day:0001-01-01"
    assert of_turn("", "A", LATEST_MS, [])[1].id == "@day:9999-12-31"


def span(since: str, until: str) -> TimeSpan:
    first, last = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (since, until))
    return TimeSpan("then", int(first.timestamp() * 1000), int(last.timestamp() * 1000))


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("2023-05-07", "2023-05-08", ["@day:2023-05-07", "@month:2023-05"]),
        ("2023-04-29", "2023-05-01", ["@day:2023-04-29", "@day:2023-04-30", "@month:2023-04"]),
        ("2023-04-01", "2023-05-01", ["@month:2023-04"]),
        ("2022-12-01", "2023-03-01", ["@month:2022-12", "@month:2023-01", "@month:2023-02"]),
        ("2022-01-01", "2023-01-01", []),
        ("9999-12-30", "9999-12-31", ["@day:9999-12-30", "@month:9999-12"]),
    ],
)
def test_a_time_that_is_told_is_a_tag_beside_that_of_the_day_it_is_told_on(
    since: str, until: str, expected: list[str]
) -> None:
    stated = span(since, until)
    of_the_turn = ["@month:2023-05", "@day:2023-05-08", "@speaker:a"]
    assert [tag.id for tag in of_turn("", "A", AT, [stated, stated])] == list(dict.fromkeys([*of_the_turn, *expected]))
    assert [tag.id for tag in of_query("", [stated])] == expected


def test_a_week_is_seven_days_and_the_months_it_reaches_into() -> None:
    week = [tag.id for tag in of_query("", [span("2023-05-29", "2023-06-05")])]
    assert week[:2] == ["@day:2023-05-29", "@day:2023-05-30"]
    assert week[6:] == ["@day:2023-06-04", "@month:2023-05", "@month:2023-06"]


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("in May 2023", ["@month:2023-05"]),
        ("on 8 May 2023", ["@month:2023-05", "@day:2023-05-08"]),
        ("8th of May, 2023", ["@month:2023-05", "@day:2023-05-08"]),
        ("May 8th, 2023?", ["@month:2023-05", "@day:2023-05-08"]),
        ("Sept 2023", ["@month:2023-09"]),
        ("2023-05-08", ["@month:2023-05", "@day:2023-05-08"]),
        ("2023年5月", ["@month:2023-05"]),
        ("2023年5月8日", ["@month:2023-05", "@day:2023-05-08"]),
        ("2023年十二月", ["@month:2023-12"]),
        ("2023-13-40", []),
        ("30 February 2023", []),
        ("0000-01", []),
        ("in May", []),
        ("2023", []),
        ("maybe 2023", []),
        ("in aprıl 2023", []),  # a dotless i
    ],
)
def test_a_stated_date_is_a_tag(text: str, dates: list[str]) -> None:
    assert [tag.id for tag in of_query(text)] == dates


@pytest.mark.parametrize(("text", "tells"), [("yesterday", True), ("昨天", True), ("sunny", False)])
def test_a_turn_that_tells_a_time_is_tagged_so(text: str, tells: bool) -> None:
    assert ("@time" in {tag.id for tag in of_turn(text, "A", AT, [])}) is tells
