"""Time expressions resolved: which days "last Friday" or 三个月前 means, given when it was said.

    text, at ──▶ clean text's English and Chinese expressions ──▶ TimeSpan(text, since, until), in order

    yesterday → a day        last week → Monday to Sunday      the weekend → Saturday and Sunday
    in June → a month        last summer → three months        in 2019 → a year
    … two weeks later → counted from the expression before it (chains.py)

A span is as long as the words are exact.  Vague words ("recently", 小时候) give none.  Days are UTC; no clock is read,
`at` is all that is known of the present.  The rules are stated in docs/time.md.  This runs once, when a turn is
written: the spans are recorded in its event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Final

from emgas.limits import EARLIEST_MS, LATEST_MS, SPANS_PER_TURN
from emgas.times import DAY_MS, EPOCH, datetime_of
from processors.dates import chinese as chinese_dates
from processors.dates import clock
from processors.dates import english as english_dates
from processors.dates.arithmetic import Days
from processors.dates.chains import with_chains
from processors.dates.grammar import Grammar
from processors.text.chinese import simplified
from state.events.extraction_types import TimeSpan

_FIRST: Final = EPOCH.toordinal()


def anchored(text: str, at: int, language: str) -> list[TimeSpan]:
    """Resolve the time expressions of a clean text, in order, at most limits.SPANS_PER_TURN, no span twice.

    at        when it was said: ms since 1970, UTC, limits.EARLIEST_MS..LATEST_MS
    language  the language beside Chinese, ISO 639-1; only English ("en") has rules, others have dates in digits
    """
    plain = simplified(text)
    return _days(text, plain, _told(plain, day_of(at), language))


def _days(text: str, plain: str, found: Iterable[tuple[int, int, Days]]) -> list[TimeSpan]:
    written = text if len(text) == len(plain) else plain
    spans: dict[TimeSpan, None] = {}
    for start, end, days in found:
        if span := _span(written[start:end], days):
            spans[span] = None
        if len(spans) == SPANS_PER_TURN:
            break
    return list(spans)


def told_times(text: str, at: int, language: str) -> list[TimeSpan]:
    """Find all that a clean text says of time: days as `anchored`, then times of day, durations, sets, vague ones."""
    plain, said = simplified(text), day_of(at)
    written = text if len(text) == len(plain) else plain
    told = _told(plain, said, language)
    days = _days(text, plain, told)
    found = clock.timed(plain, said, at, told) if language == "en" else []
    others = [
        TimeSpan(written[each.start : each.end], each.since, each.until, each.kind, each.value, each.confidence)
        for each in found
        if EARLIEST_MS <= each.since < each.until <= LATEST_MS
    ]
    return [*days, *dict.fromkeys(others)][:SPANS_PER_TURN]


def day_of(at: int) -> date:
    """Find the day, in UTC, of a time in ms since 1970."""
    return datetime_of(at).date()


def days_of(span: TimeSpan) -> Days:
    """Find the first and the last day of a span."""
    return Days(day_of(span.since), day_of(span.until - 1))


def told(span: TimeSpan) -> str:
    """Write a span for a reader: "yesterday = 2023-05-07", "last week = 2023-05-01 to 2023-05-07"."""
    first, last = _shortest(days_of(span))
    return f"{' '.join(span.text.split())} = {first if first == last else f'{first} to {last}'}"


def _shortest(days: Days) -> tuple[str, str]:
    """Write both ends, as days, or as months or years where the span is whole ones."""
    first, last = days.first.isoformat(), days.last.isoformat()
    if days.last == date.max or days.first.day > 1 or (after := days.last + timedelta(1)).day > 1:
        return first, last
    return (first[:7], last[:7]) if days.first.month > 1 or after.month > 1 else (first[:4], last[:4])


def _told(text: str, said: date, language: str) -> list[tuple[int, int, Days]]:
    """List what the grammars find, and what counts from that, in order."""
    return with_chains(text, said, _apart(text, said, language), english=language == "en")


def _apart(text: str, said: date, language: str) -> Iterator[tuple[int, int, Days]]:
    """Yield what the grammars find, in order; of two expressions that overlap, the first."""
    grammars: list[Grammar] = [chinese_dates.GRAMMAR, *([english_dates.GRAMMAR] if language == "en" else [])]
    free = 0
    for start, end, days in sorted(found for grammar in grammars for found in grammar.find(text, said)):
        if start >= free:
            free = end
            yield start, end, days


def _span(text: str, days: Days) -> TimeSpan | None:
    """Make the span of these days, None where it leaves the limits of times."""
    since, until = ((day.toordinal() - _FIRST) * DAY_MS for day in days)
    until += DAY_MS
    return TimeSpan(text, since, until) if since >= EARLIEST_MS and until <= LATEST_MS else None
