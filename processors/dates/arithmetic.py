"""Runs of days with both ends inclusive: a day, a week, a weekend, a month, a year, counted from a day.

Weeks begin on Monday.  Nothing here knows a clock, a time zone or a language.  A date outside the years 1 to 9999
raises OverflowError or ValueError, as `datetime` does.  The grammar counts in moments (spans.py), chains and notes in
days.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta
from typing import Literal, NamedTuple

Unit = Literal["day", "week", "weekend", "month", "year"]


class Days(NamedTuple):
    """A run of days, both ends inclusive."""

    first: date
    last: date


def day(of: date, steps: int = 0) -> Days:
    """Step `steps` days on from `of`."""
    reached = of + timedelta(steps)
    return Days(reached, reached)


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
    number, index = divmod(12 * of.year + of.month - 1 + steps, 12)
    return Days(date(number, index + 1, 1), date(number, index + 1, monthrange(number, index + 1)[1]))


def year(number: int) -> Days:
    """Take a whole year."""
    return Days(date(number, 1, 1), date(number, 12, 31))


def unit(name: Unit, of: date, steps: int = 0) -> Days:
    """Step `steps` units on from the one of `of`, and take it whole."""
    if name == "year":
        return year(of.year + steps)
    return {"day": day, "week": week, "weekend": weekend, "month": month}[name](of, steps)
