"""Spans of time counted from a moment: days, weeks, months, seasons, years; what a date without its year can mean.

A span is (since, until), `until` excluded; weeks begin on Monday.  Moments are UTC and stand for what the speaker's
clock shows.  A time outside the years 1 to 9999 raises OverflowError or ValueError, as `datetime` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

Span = tuple[datetime, datetime]

DAY: Final = timedelta(1)
MINUTE: Final = timedelta(minutes=1)
# The codes of units in data/words.tsv: B is a working day, E a weekend, F a fortnight, X a decade, Z a century.
SECONDS: Final = {
    "s": 1, "m": 60, "h": 3600, "D": 86400, "B": 86400, "E": 2 * 86400, "W": 604800, "F": 1209600,
    "M": 2592000, "Q": 7776000, "Y": 31536000, "X": 315360000, "Z": 3153600000,
}  # fmt: skip
MONTHS: Final = {"M": 1, "Q": 3, "Y": 12, "X": 120, "Z": 1200}
YEARS: Final = {"Y": 1, "X": 10, "Z": 100}
SEASONS: Final = {"SP": 3, "SU": 6, "AU": 9, "WI": 12}  # the month in which each begins, in the northern half


class Written(NamedTuple):
    """A date as it was written: the parts that were named, or the spans that they mean.

    third  which part of it: start, mid, end
    grain  what was named: a unit, H a holiday, G a part of a span, - a range, + a run of units, "" a date
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    spans: tuple[Span, ...] = ()
    grain: str = ""
    third: str = ""


def moment(year: int, month: int = 1, day: int = 1, hour: int = 0, minute: int = 0) -> datetime:
    """Return a moment of the speaker's clock."""
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def day(of: datetime, steps: int = 0) -> Span:
    """Return the day that many days after the one of a moment."""
    first = moment(of.year, of.month, of.day) + DAY * steps
    return first, first + DAY


def month(year: int, number: int) -> Span:
    """Return a month; numbers beyond 12 or below 1 count on into other years."""
    years, index = divmod(number - 1, 12)
    following, next_index = divmod(number, 12)
    return moment(year + years, index + 1), moment(year + following, next_index + 1)


def year(number: int) -> Span:
    """Return a whole year."""
    return moment(number), moment(number + 1)


def week(of: datetime, steps: int = 0) -> Span:
    """Return the week that many weeks after the one of a moment, from Monday on."""
    first = day(of)[0] + DAY * (7 * steps - of.weekday())
    return first, first + DAY * 7


def unit(name: str, of: datetime, steps: int = 0) -> Span:
    """Return the whole calendar unit that many units after the one of a moment."""
    if name in "DB":
        return day(of, steps)
    if name in "WF":
        return week(of, steps * (2 if name == "F" else 1))
    if name in _UNITS:
        return _UNITS[name](of, steps)
    return shift(of, name, steps), shift(of, name, steps) + MINUTE


def _weekend(of: datetime, steps: int) -> Span:
    return week(of, steps)[0] + DAY * 5, week(of, steps)[1]


def _quarter(of: datetime, steps: int) -> Span:
    first = (of.month - 1) // 3 * 3 + 1 + 3 * steps
    return month(of.year, first)[0], month(of.year, first + 2)[1]


def _years(size: int) -> Callable[[datetime, int], Span]:
    def span(of: datetime, steps: int) -> Span:
        start = (of.year // size + steps) * size
        return moment(start), moment(start + size)

    return span


_UNITS: Final[dict[str, Callable[[datetime, int], Span]]] = {
    "E": _weekend,
    "M": lambda of, steps: month(of.year, of.month + steps),
    "Q": _quarter,
    **{name: _years(size) for name, size in YEARS.items()},
}


def shift(when: datetime, name: str, count: float) -> datetime:
    """Move a moment by so many units, to the same day of the month if there is one, else to its last."""
    if name in MONTHS:
        first, end = month(when.year, when.month + round(count * MONTHS[name]))
        return when.replace(year=first.year, month=first.month, day=min(when.day, (end - DAY).day))
    return _working_days(when, int(count)) if name == "B" else when + timedelta(seconds=count * SECONDS[name])


def _working_days(when: datetime, count: int) -> datetime:
    step = DAY if count > 0 else -DAY
    for _ in range(min(abs(count), 1000)):
        when += step
        while when.weekday() > 4:
            when += step
    return when


def season(name: str, number: int) -> Span:
    """Return the season that begins in a year: winter 2021 is December 2021 to February 2022."""
    return month(number, SEASONS[name])[0], month(number, SEASONS[name] + 2)[1]


def meanings(date: Written, now: datetime) -> list[Span]:
    """List what a date can mean: the first to come, then the last past one; a single one if its year is written."""
    if date.spans:
        return list(date.spans)
    if date.weekday is not None and date.day and not date.month:
        return _weekday_and_day(date, now)
    if date.year:
        return [span for span in [_in_year(date.year, date.month, date.day)] if span]
    candidates = sorted(_near(date, now))
    if date.weekday is not None and date.day:
        near = sorted(candidates, key=lambda span: abs(span[0] - now))[:3]  # a weekday of years away was a slip
        return ([span for span in near if span[0].weekday() == date.weekday] or near)[:2]
    return around(candidates, now)


def around(candidates: Iterable[Span], now: datetime) -> list[Span]:
    """Choose the first candidate that has not ended before today and the last that has begun before."""
    today, listed = day(now)[0], sorted(candidates)
    ahead = [span for span in listed if span[1] > today][:1]
    past = [span for span in listed if span[0] <= today and span not in ahead][-1:]
    return ahead + past


def _weekday_and_day(date: Written, now: datetime) -> list[Span]:
    """List the months, up to seven away, in which that day falls on that weekday; the nearest two."""
    days = (_in_year(*_month_after(now, step), date.day) for step in range(-7, 8))
    candidates = [span for span in days if span and span[0].weekday() == date.weekday]
    return sorted(candidates, key=lambda span: abs(span[0] - now))[:2]


def _near(date: Written, now: datetime) -> list[Span]:
    """List what a date without its year can mean in the time around now."""
    if date.month:
        reach = range(-8, 9) if (date.month, date.day) == (2, 29) else range(-2, 3)
        dates = (_in_year(now.year + step, date.month, date.day) for step in reach)
    elif date.day:
        dates = (_in_year(*_month_after(now, step), date.day) for step in range(-3, 4))
    elif date.weekday is not None:
        return [day(week(now, step)[0], date.weekday) for step in (-1, 0, 1)]
    else:
        return []
    return [span for span in dates if span]


def _month_after(now: datetime, steps: int) -> tuple[int, int]:
    first = month(now.year, now.month + steps)[0]
    return first.year, first.month


def _in_year(number: int, month_number: int | None, day_number: int | None) -> Span | None:
    """Return a year, a month or a day of it; None when the calendar has no such day."""
    if not month_number:
        return year(number)
    first, end = month(number, month_number)
    if not day_number:
        return first, end
    start = first + DAY * (day_number - 1)
    return (start, start + DAY) if start < end else None
