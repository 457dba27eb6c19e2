"""Days, weeks, months, seasons and years counted from a day: the arithmetic under time expressions.

Weeks begin on Monday.  Seasons are the meteorological ones of the northern half of the world: spring is March to May,
winter begins in December of its year.  Nothing here knows a clock, a time zone or a language.  What leaves the years
1 to 9999 raises OverflowError or ValueError, as `datetime` does.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple

Unit = Literal["day", "week", "weekend", "month", "year", "decade"]
Tense = Literal["past", "future", "present", "habit", "unclear"]

DECEMBER: Final = 12
FIRST_MONTH: Final = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}


class Days(NamedTuple):
    """A run of days, both ends inclusive."""

    first: date
    last: date


def day(of: date, steps: int = 0) -> Days:
    """Step `steps` days on from `of`."""
    found = of + timedelta(steps)
    return Days(found, found)


def week(of: date, steps: int = 0) -> Days:
    """Step `steps` weeks on from the week of `of`, Monday to Sunday."""
    monday = of + timedelta(7 * steps - of.weekday())
    return Days(monday, monday + timedelta(6))


def weekend(of: date, steps: int = 0) -> Days:
    """Step `steps` weeks on from the week of `of`, and take its Saturday and Sunday."""
    sunday = week(of, steps).last
    return Days(sunday - timedelta(1), sunday)


def month(of: date, steps: int = 0) -> Days:
    """Step `steps` months on from the month of `of`."""
    year_number, index = divmod(12 * of.year + of.month - 1 + steps, 12)
    return months(year_number, index + 1, 1)


def months(year_number: int, first: int, count: int) -> Days:
    """Take `count` months from the month `first` (1..12) of a year on."""
    years, index = divmod(first - 1 + count - 1, 12)
    last_year, last_month = year_number + years, index + 1
    return Days(date(year_number, first, 1), date(last_year, last_month, monthrange(last_year, last_month)[1]))


def season(name: str, year_number: int) -> Days:
    """Take the season of a year: winter 2021 is December 2021 to February 2022."""
    return months(year_number, FIRST_MONTH[name], 3)


def year(number: int) -> Days:
    """Take a whole year."""
    return Days(date(number, 1, 1), date(number, DECEMBER, 31))


def decade(number: int) -> Days:
    """Take the ten years to which a year belongs: 1994 is of 1990 to 1999."""
    return Days(date(number // 10 * 10, 1, 1), date(number // 10 * 10 + 9, DECEMBER, 31))


def decade_written(number: int) -> Days:
    """Take the decade that is written as its first year or short: 1990 and 90 are the same."""
    return decade(number if number > 99 else 1900 + number)


def unit(name: Unit, of: date, steps: int = 0) -> Days:
    """Step `steps` units on from the one of `of`, and take it whole."""
    if name == "year":
        return year(of.year + steps)
    if name == "decade":
        return decade(of.year + 10 * steps)
    return {"day": day, "week": week, "weekend": weekend, "month": month}[name](of, steps)


def until(of: date, name: Unit, count: int) -> Days:
    """Take the last `count` units as they end on `of`: two weeks are 14 days and the day itself."""
    if name in ("day", "week"):
        return Days(of - timedelta(count * (1 if name == "day" else 7)), of)
    first = month(of, -count * {"month": 1, "year": 12, "decade": 120}[name]).first
    return Days(first.replace(day=min(of.day, monthrange(first.year, first.month)[1])), of)


def weekday_before(of: date, weekday: int, count: int = 1) -> Days:
    """Find the `count`-th such weekday (0 is Monday) before `of`; the day `of` itself is none."""
    return day(of, -((of.weekday() - weekday - 1) % 7 + 1 + 7 * (count - 1)))


def weekday_after(of: date, weekday: int) -> Days:
    """Find the first such weekday (0 is Monday) after `of`; the day `of` itself is none."""
    return day(of, (weekday - of.weekday() - 1) % 7 + 1)


def weekday_of(of: date, weekday: int, steps: int = 0) -> Days:
    """Find such a weekday (0 is Monday) in the week that is `steps` weeks after that of `of`."""
    return day(week(of, steps).first, weekday)


def chosen(candidates: Iterable[Days], reference: date, tense: Tense) -> Days | None:
    """Choose the candidate that a tense means on the day `reference`, None when there is none.

    past     the latest that had begun by then
    future   the earliest that had not ended before; the same for the present, which tells what is arranged
    unclear  the nearest, if any other is at least twice as far: 14 October means that of the year in September, and is
             none in April
    habit    none
    """
    listed = sorted(candidates)
    if tense == "past":
        return next((days for days in reversed(listed) if days.first <= reference), None)
    if tense in ("future", "present"):
        return next((days for days in listed if days.last >= reference), None)
    return None if tense == "habit" else _nearest(listed, reference)


def _nearest(candidates: Iterable[Days], reference: date) -> Days | None:
    def distance(days: Days) -> int:
        return max((days.first - reference).days, (reference - days.last).days, 0)

    near = sorted(candidates, key=distance)
    clear = len(near) == 1 or (len(near) > 1 and distance(near[1]) >= 2 * distance(near[0]))
    return near[0] if clear else None


def beside(candidates: Iterable[Days], steps: int, said: date) -> Days | None:
    """Choose the one meant by "last" (steps < 0), "next" (> 0) or "this" (0), None when it is not among the candidates.

    The last one had ended on the day said, the next one had not begun; this one goes on, or is the first to come.
    """
    if steps < 0:
        return max((days for days in candidates if days.last < said), default=None)
    return min((days for days in candidates if (days.first > said if steps else days.last >= said)), default=None)


def through(first: Days, last: Iterable[Days]) -> Days | None:
    """Join a beginning with the first end that does not lie before it, None when there is none."""
    end = min((days for days in last if days.first >= first.first), default=None)
    return None if end is None else Days(first.first, end.last)


def runs(starts: Iterable[Days], month_number: int, day_number: int | None) -> list[Days]:
    """Join each beginning with the first such month, or day of it, that does not lie before it."""
    found = []
    for start in starts:
        ends = (in_year(start.first.year + step, month_number, day_number) for step in (0, 1))
        found.append(through(start, filter(None, ends)))
    return [days for days in found if days]


def on_weekday(candidates: Iterable[Days], weekday: int) -> list[Days]:
    """Keep the days that are such a weekday (0 is Monday)."""
    return [days for days in candidates if days.first == days.last and days.first.weekday() == weekday]


def seasons(name: str, of: date) -> list[Days]:
    """List a season in the years around `of`."""
    return [season(name, of.year + steps) for steps in range(-2, 3)]


def monthly(of: date, day_number: int) -> list[Days]:
    """List a day of the month in the months around `of`: two before and two after are enough for any day."""
    near = [month(of, steps).first for steps in range(-2, 3)]
    return [days for first in near if (days := in_year(first.year, first.month, day_number))]


def yearly(of: date, month_number: int, day_number: int | None) -> list[Days]:
    """List a month, or a day of it, in the years around `of`: in three of them, for 29 February in all up to 8."""
    reach = range(-8, 9) if (month_number, day_number) == (2, 29) else range(-1, 2)
    return [days for steps in reach if (days := in_year(of.year + steps, month_number, day_number))]


def in_year(year_number: int, month_number: int, day_number: int | None) -> Days | None:
    """Take a month of a year, or a day of it; None when the calendar has no such day."""
    try:
        if day_number is None:
            return months(year_number, month_number, 1)
        return day(date(year_number, month_number, day_number))
    except ValueError:
        return None
