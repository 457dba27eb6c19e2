"""The days of holidays: fixed, counted from Easter or a weekday of a month, of the Chinese calendar, or by a table.

12-25      25 December                11/4/3+1   the day after the fourth Thursday of November
E+1        the day after Easter       L8-15      the 15th day of the eighth month of the Chinese calendar
A1         the first Sunday of Advent T:diwali   the days listed in data/festivals.tsv
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from functools import cache
from typing import Final

from processors.dates.spans import DAY, moment, month
from processors.text import tables


def easter(year: int) -> datetime:
    """Compute Easter Sunday of the western churches (Gauss, as corrected by Lichtenberg)."""
    century, cycle = year // 100, year % 19
    moon, sun = 15 + (3 * century + 3) // 4 - (8 * century + 13) // 25, 2 - (3 * century + 3) // 4
    seed = (19 * cycle + moon) % 30
    limit = 21 + seed - (seed + cycle // 11) // 29
    return moment(year, 3) + DAY * (limit + 7 - (limit - (7 - (year + year // 4 + sun) % 7)) % 7 - 1)


def days_of_holiday(name: str, year: int) -> list[datetime]:
    """List the days that a holiday has in a year, by its name in data/words.tsv; a lunar one begins in that year."""
    if read := _READERS.get(name[0]):
        return read(name[1:], year)
    base, _, steps = name.partition("+")
    numbers = [int(number) for number in re.findall(r"-?\d+", base)] if "/" in base else [*map(int, base.split("-"))]
    when = _weekday_of_month(year, *numbers) if "/" in base else moment(year, *numbers)
    return [when + DAY * int(steps or 0)]


def _from_easter(steps: str, year: int) -> list[datetime]:
    return [easter(year) + DAY * int(steps)]


def _of_table(name: str, year: int) -> list[datetime]:
    return [moment(*each) for each in _table()[name[1:]] if each[0] == year]


def _advent(place: str, year: int) -> list[datetime]:
    last = moment(year, 12, 24)
    return [last - DAY * ((last.weekday() + 1) % 7) - DAY * 7 * (4 - int(place))]


def lunar_day(year: int, number: int, day_number: int) -> datetime | None:
    """Find a day of the Chinese calendar's year; None outside of 1900 to 2100 and where the month has no such day."""
    first, lengths = _lunar_years().get(year, (None, ()))
    if first is None:
        return None
    passed, ordinary = 0, 0
    for length, is_leap in lengths:
        ordinary += not is_leap
        if ordinary == number:
            return first + DAY * (passed + day_number - 1) if 1 <= day_number <= length else None
        passed += length
    return None


def _festival(written: str, year: int) -> list[datetime]:
    number, day_number = map(int, written.split("-"))
    eve = number > 12  # the day before the next year begins
    when = lunar_day(year, 1, 1) if eve else lunar_day(year, number, day_number)
    return [] if when is None else [when - DAY] if eve else [when]


def _weekday_of_month(year: int, number: int, place: int, weekday: int) -> datetime:
    first, end = month(year, number)
    if place > 0:
        return first + DAY * ((weekday - first.weekday()) % 7 + 7 * (place - 1))
    return end - DAY - DAY * (((end - DAY).weekday() - weekday) % 7)


@cache
def _lunar_years() -> dict[int, tuple[datetime, tuple[tuple[int, bool], ...]]]:
    """Read the first day of each year and its months: how long, and whether it is a leap month."""
    return {
        int(year): (
            moment(*_ymd(first)),
            tuple((int(each), each.startswith("+")) for each in lengths.split()),
        )
        for year, first, lengths in tables.rows(__package__, "lunar")
    }


@cache
def _table() -> dict[str, list[tuple[int, int, int]]]:
    """Read the days of the festivals that no rule of ours computes."""
    rows = tables.rows(__package__, "festivals")
    return {name: [_ymd(each) for each in days.split()] for name, days in rows}


def _ymd(written: str) -> tuple[int, int, int]:
    when = date.fromisoformat(written)
    return when.year, when.month, when.day


_READERS: Final[dict[str, Callable[[str, int], list[datetime]]]] = {
    "E": _from_easter, "L": _festival, "T": _of_table, "A": _advent,
}  # fmt: skip
