"""Read repetitions and durations: the first day of a rule (RFC 5545), and durations as ISO 8601.

FREQ=WEEKLY;BYDAY=MO → the next Monday      two and a half years → P2Y6M      an hour and a half → PT1H30M
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from processors.dates.spans import DAY, MINUTE, Span, day

WEEKDAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_REACH: Final = 800  # days in which a rule is looked for
_AS_UNITS: Final = {  # a unit of data/words.tsv as one of ISO 8601, and how many of it
    "s": ("S", 1), "m": ("M", 1), "h": ("H", 1), "D": ("D", 1), "B": ("D", 1), "E": ("D", 2), "W": ("W", 1),
    "F": ("W", 2), "M": ("MO", 1), "Q": ("MO", 3), "Y": ("Y", 1), "X": ("Y", 10), "Z": ("Y", 100),
}  # fmt: skip
_HALVES: Final = {"Y": ("MO", 6), "MO": ("D", 15), "W": ("D", 3.5), "D": ("H", 12), "H": ("M", 30), "M": ("S", 30)}


def first_of(rule: str, now: datetime) -> Span:
    """Return the first day from today on that a rule allows, or the minute of it."""
    parts = dict(part.split("=") for part in rule.split(";"))
    today = day(now)[0]
    first = next((each for each in (today + DAY * step for step in range(_REACH)) if _allows(parts, each)), today)
    if "BYHOUR" not in parts:
        return first, first + DAY
    since = first + MINUTE * (60 * int(parts["BYHOUR"]) + int(parts.get("BYMINUTE", 0)))
    return since, since + MINUTE


def _allows(parts: dict[str, str], when: datetime) -> bool:
    code = WEEKDAYS[when.weekday()]
    names = parts.get("BYDAY", code).split(",")
    days = any(name[-2:] == code and _is_place(when, name[:-2]) for name in names)
    of_month = int(parts.get("BYMONTHDAY", when.day)) == when.day
    return days and of_month and int(parts.get("BYMONTH", when.month)) == when.month


def _is_place(when: datetime, place: str) -> bool:
    if not place:
        return True
    return (when + DAY * 7).month != when.month if int(place) < 0 else (when.day - 1) // 7 + 1 == int(place)


def iso_duration(parts: Sequence[tuple[float, str]]) -> str:
    """Write a length as ISO 8601; halves become smaller units."""
    amounts: dict[str, int] = {}
    for count, name in parts:
        unit, times = _AS_UNITS[name]
        whole = int(count * times)
        amounts[unit] = amounts.get(unit, 0) + whole
        if rest := count * times - whole:
            smaller, size = _HALVES.get(unit, ("S", 1))
            amounts[smaller] = amounts.get(smaller, 0) + round(rest * 2 * size)
    dates = "".join(f"{amounts[unit]}{unit[0]}" for unit in ("Y", "MO", "W", "D") if amounts.get(unit))
    clock = "".join(f"{amounts[unit]}{unit}" for unit in ("H", "M", "S") if amounts.get(unit))
    return f"P{dates}{'T' + clock if clock else ''}"
