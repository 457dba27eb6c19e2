"""Times of day, durations, what repeats and vague times: what is noted of them is right, in both languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from emgas.times import datetime_of
from processors.dates.resolve import anchored, resolve_times
from processors.extraction.yake_extractor import YakeExtractor
from processors.text.language import clean
from state.events.extraction_types import TimeSpan
from tests.support.time_expressions import ms

DATA = Path(__file__).parent / "data" / "times_of_day.tsv"


def rows() -> Iterator[list[str]]:
    lines = DATA.read_text("utf-8").splitlines()
    return (line.split("\t") for line in lines if not line.startswith("#"))


def notes_of(text: str, at: int) -> list[str]:
    """Write what is found beside days as the table does."""
    return [written(span) for span in resolve_times(clean(text), at, "en") if span.kind]


def written(span: TimeSpan) -> str:
    since, until = datetime_of(span.since), datetime_of(span.until)
    if span.value:
        return f"{span.kind} {span.value}"
    if span.kind == "vague":
        return f"vague {since:%Y-%m-%d}/{datetime_of(span.until - 1):%Y-%m-%d}"
    hours = f"/{until:%H:%M}" if span.until - span.since > 60_000 else ""
    return f"time {since:%Y-%m-%dT%H:%M}{hours}"


@pytest.mark.source("P11")
def test_of_what_is_noted_beside_days_98_of_100_are_right_and_few_are_missed() -> None:
    noted = right = meant = 0
    for day, text, means in rows():
        meanings, expected = notes_of(text, ms(day)), [] if means == "-" else means.split("; ")
        right += (Counter(meanings) & Counter(expected)).total()
        noted, meant = noted + len(meanings), meant + len(expected)
    assert right / noted >= 0.98
    assert right / meant >= 0.95


def test_the_set_is_large_in_both_languages_and_some_of_it_names_no_time() -> None:
    texts = {text: means for _, text, means in rows()}
    assert len(texts) >= 80
    assert sum(not text.isascii() for text in texts) >= 35
    assert sum(means == "-" for means in texts.values()) >= 12


def test_an_article_is_no_hour() -> None:
    assert notes_of("Good morning, I am a nurse.", ms("2025-11-14T14:00")) == []
    assert notes_of("It starts at 1 am.", ms("2025-11-14T14:00")) == ["time 2025-11-14T01:00"]


def test_what_is_vague_or_has_no_day_beside_it_is_less_sure() -> None:
    at = ms("2025-11-14T14:00")
    sure = {text: resolve_times(text, at, "en")[-1].confidence for text in ("tomorrow at 3 pm", "at 3 pm", "recently")}
    assert sure["tomorrow at 3 pm"] == 1.0 > sure["at 3 pm"] > sure["recently"] > 0


def test_days_are_found_as_ever_and_come_first() -> None:
    at, text = ms("2025-11-14T14:00"), "Tomorrow at 3 pm, and every Monday for two hours."
    times = resolve_times(text, at, "en")
    days = anchored(text, at, "en")
    assert times[: len(days)] == days
    assert [span.kind for span in times[len(days) :]] == ["time", "set", "duration"]


def test_a_set_begins_with_its_first_day_to_come_and_a_duration_when_it_was_said() -> None:
    at = ms("2025-11-14T14:00")  # a Friday
    (weekly,) = resolve_times("every Monday", at, "en")
    assert (weekly.since, weekly.until) == (ms("2025-11-17T00:00"), ms("2025-11-18T00:00"))
    (months,) = resolve_times("for three months", at, "en")
    assert (months.since, months.until) == (at, ms("2026-02-14T14:00"))


def test_no_tag_rests_on_what_is_no_day() -> None:
    extraction = YakeExtractor("en").of_turn("Every Monday at 9 am.", speaker="Ada", at=ms("2025-11-14T14:00"))
    assert [span.kind for span in extraction.times] == ["set"]
    assert {concept.id for concept in extraction.concepts if concept.id.startswith("@day")} == {"@day:2025-11-14"}
