"""English time expressions: the patterns, and the days that they mean.  docs/time.md states the rules.

Leading prepositions belong to the expression ("in 2019"): they tell a date from a number, and a month from a name.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final, cast

from processors.dates import arithmetic, tense
from processors.dates.arithmetic import Days, Unit
from processors.dates.grammar import Grammar, Rule, Said

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_HOLIDAYS: Final = {
    "christmas eve": (12, 24), "christmas day": (12, 25), "christmas": (12, 25), "halloween": (10, 31),
    "new year's eve": (12, 31), "new year's day": (1, 1), "valentine's day": (2, 14),
}  # fmt: skip
_NUMBERS: Final = {
    name: number
    for number, names in {
        1: "a an one", 2: "two couple", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
        10: "ten", 11: "eleven", 12: "twelve dozen", 15: "fifteen", 20: "twenty", 30: "thirty", 40: "forty",
        50: "fifty",
    }.items()
    for name in names.split()
}  # fmt: skip

_W: Final = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})"
_FULL: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_MONTH: Final = rf"(?P<month>{_FULL}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
_NAMED: Final = rf"(?P<month>{_FULL})"
_HOLIDAY: Final = rf"(?P<holiday>{'|'.join(_HOLIDAYS)})"
_SEASON: Final = r"(?P<season>spring|summer|autumn|fall|winter)"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)(?![\d%]|[.,:/-]\d|'?s\b)"
_N: Final = r"(?P<number>\d{1,3}|(?:a )?(?:couple(?: of)?|dozen)|an?|" + "|".join(
    name for name in _NUMBERS if name not in ("a", "an", "couple", "dozen")
) + ")"  # fmt: skip
_UNIT: Final = r"(?P<unit>day|night|week|fortnight|weekend|month|year|decade)s?"
_SHORT: Final = r"(?P<unit>week|month|year|decade|weekend)"
_PART: Final = r"(?: (?:early )?(?:morning|afternoon|evening|night))?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_THIRD: Final = r"(?:(?:early|late|mid)[- ])?"
_IN: Final = r"(?:in|on|over|during|since|until|till|by|at|around|before|after)"
_WHICH: Final = r"(?P<which>this past|this coming|the coming|last|this|next|past)"
_STEP: Final = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}


def _step(match: re.Match[str]) -> int:
    return _STEP[match["which"].lower().split()[-1]]


def _weekday(match: re.Match[str]) -> int:
    return _WEEKDAYS.index(match["weekday"].lower())


def _month(match: re.Match[str]) -> int:
    return _MONTHS.index(match["month"][:3].lower()) + 1


def _season(match: re.Match[str]) -> str:
    return match["season"].lower().replace("fall", "autumn")


def _number(match: re.Match[str]) -> int:
    said = match["number"].lower().removesuffix(" of").removeprefix("a ")
    return int(said) if said.isdecimal() else _NUMBERS[said]


def _counted(match: re.Match[str]) -> tuple[Unit, int]:
    """Return the unit and how many of it; nights are days, a fortnight is two weeks."""
    name, count = match["unit"].lower(), _number(match)
    if name == "fortnight":
        return "week", 2 * count
    return cast(Unit, "day" if name == "night" else name), count


_FIXED: Final = {"day before yesterday": -2, "yesterday": -1, "last night": -1, "last evening": -1, "tomorrow": 1,
                 "day after tomorrow": 2}  # fmt: skip


def _fixed(match: re.Match[str], said: Said) -> Days:
    return arithmetic.day(said.day, _FIXED.get(match["fixed"].lower().removeprefix("the "), 0))


def _weekday_and_week(match: re.Match[str], said: Said) -> Days:
    return arithmetic.weekday_of(said.day, _weekday(match), _step(match))


def _which_weekday(match: re.Match[str], said: Said) -> Days:
    if match["which"].lower() == "this":
        return arithmetic.weekday_of(said.day, _weekday(match))
    if _step(match) < 0:
        return arithmetic.weekday_before(said.day, _weekday(match))
    return arithmetic.weekday_after(said.day, _weekday(match))


def _weekdays_ago(match: re.Match[str], said: Said) -> Days:
    return arithmetic.weekday_before(said.day, _weekday(match), _number(match))


def _weekday_but_one(match: re.Match[str], said: Said) -> Days:
    return arithmetic.weekday_before(said.day, _weekday(match), 2)


def _plain_weekday(match: re.Match[str], said: Said) -> Days:
    if said.tense() == "future":
        return arithmetic.weekday_after(said.day, _weekday(match))
    return arithmetic.weekday_before(said.day, _weekday(match))


def _but_one(match: re.Match[str], said: Said) -> Days:
    steps = -2 if match["way"].lower() == "before last" else 2
    return arithmetic.unit(cast(Unit, match["unit"].lower()), said.day, steps)


def _which_unit(match: re.Match[str], said: Said) -> Days:
    name, steps = cast(Unit, match["unit"].lower()), _step(match)
    if (name, steps) == ("weekend", 0):
        return _weekend(said)
    return arithmetic.unit(name, said.day, steps)


def _weekend(said: Said) -> Days:
    """Return the weekend of this week, or on a weekday the one before if the sentence tells of the past."""
    return arithmetic.weekend(said.day, -1 if said.day.weekday() < 5 and said.tense() == "past" else 0)


def _the_weekend(match: re.Match[str], said: Said) -> Days:
    return arithmetic.weekend(said.day, 0 if said.day.weekday() >= 5 or said.tense() == "future" else -1)


def _until_now(match: re.Match[str], said: Said) -> Days | None:
    unit, count = _counted(match) if match["number"] else (cast(Unit, match["unit"].lower()), 1)
    return None if unit == "weekend" else arithmetic.until(said.day, unit, count)


def _ago(match: re.Match[str], said: Said) -> Days:
    name, count = _counted(match)
    return arithmetic.unit(name, said.day, -count)


def _half_ago(match: re.Match[str], said: Said) -> Days:
    return _by_halves(match, said, 0)


def _halves_ago(match: re.Match[str], said: Said) -> Days:
    return _by_halves(match, said, _number(match))


def _by_halves(match: re.Match[str], said: Said, whole: int) -> Days:
    """Return what lies so many years or months and a half back: half a year is six months, half a month two weeks."""
    if match["half"].lower() == "year":
        return arithmetic.month(said.day, -12 * whole - 6)
    return arithmetic.week(said.day, -4 * whole - 2)


def _from_now(match: re.Match[str], said: Said) -> Days:
    unit, count = _counted(match)
    return arithmetic.unit(unit, said.day, count)


def _ahead(match: re.Match[str], said: Said) -> Days | None:
    """Return when "in two weeks" is; in a sentence of the past it is how long something took."""
    return None if said.tense() == "past" else _from_now(match, said)


def _dated(match: re.Match[str], said: Said) -> Days | None:
    """Return a day of a month, of the year said or of the one that the tense means."""
    groups = match.groupdict()
    day = groups.get("day")
    month, day_number = _month(match), None if day is None else int(day)
    if groups.get("year"):
        return arithmetic.in_year(int(match["year"]), month, day_number)
    return arithmetic.chosen(arithmetic.yearly(said.day, month, day_number), said.day, said.tense())


def _verb_or_date(match: re.Match[str], said: Said) -> Days | None:
    """Return the day of "May 5", unless "may" or "march" is in small letters, which is a verb more often."""
    verb = match["month"] in ("may", "march", "mar") and not match["year"]
    return None if verb else _dated(match, said)


def _numeric(match: re.Match[str], said: Said) -> Days:
    return arithmetic.day(date(int(match["year"]), int(match["month"]), int(match["day"])))


def _slashed(match: re.Match[str], said: Said) -> Days | None:
    """Return the day of 5/17/2023 or 17/5/2023; 5/7/2023 is two days, so it is none."""
    first, second = int(match["first"]), int(match["second"])
    month, day = (first, second) if first <= 12 else (second, first)
    if first <= 12 and second <= 12 and first != second:
        return None
    return arithmetic.day(date(int(match["year"]), month, day))


def _which_month(match: re.Match[str], said: Said) -> Days | None:
    return arithmetic.beside(arithmetic.yearly(said.day, _month(match), None), _step(match), said.day)


def _which_season(match: re.Match[str], said: Said) -> Days | None:
    return arithmetic.beside(arithmetic.seasons(_season(match), said.day), _step(match), said.day)


def _which_holiday(match: re.Match[str], said: Said) -> Days | None:
    return arithmetic.beside(arithmetic.yearly(said.day, *_HOLIDAYS[match["holiday"].lower()]), _step(match), said.day)


def _seasons_ago(match: re.Match[str], said: Said) -> Days:
    """Return the season that many back, of those that had ended on the day said."""
    over = arithmetic.season(_season(match), said.day.year).last < said.day
    return arithmetic.season(_season(match), said.day.year + over - _number(match))


def _season_of_year(match: re.Match[str], said: Said) -> Days:
    return arithmetic.season(_season(match), int(match["year"]))


def _holiday(match: re.Match[str], said: Said) -> Days | None:
    return arithmetic.in_year(int(match["year"]), *_HOLIDAYS[match["holiday"].lower()])


def _plain_holiday(match: re.Match[str], said: Said) -> Days | None:
    """Return the day of a holiday if the tense tells which; people talk of holidays in general as well."""
    if (tense := said.tense()) == "unclear":
        return None
    return arithmetic.chosen(arithmetic.yearly(said.day, *_HOLIDAYS[match["holiday"].lower()]), said.day, tense)


def _decade(match: re.Match[str], said: Said) -> Days:
    return arithmetic.decade_written(int(match["year"]))


def _year(match: re.Match[str], said: Said) -> Days:
    return arithmetic.year(int(match["year"]))


def _day_of_month(match: re.Match[str], said: Said) -> Days | None:
    return arithmetic.chosen(arithmetic.monthly(said.day, int(match["day"])), said.day, said.tense())


_RULES: Final[list[Rule]] = [
    # days
    (r"\b(?<!from )(?P<fixed>(?:the )?day (?:before yesterday|after tomorrow)|yesterday|tomorrow|tonight|today"
     rf"|this (?:morning|afternoon|evening)|last (?:night|evening))\b{_PART}", _fixed),
    # weekdays of a week said, then others
    (rf"\b(?:on )?{_W}{_PART} (?:of )?(?P<which>last|this|next) week\b", _weekday_and_week),
    (rf"\b(?P<which>last|this|next) week(?: on|,)? {_W}\b{_PART}", _weekday_and_week),
    (rf"\b(?:on )?{_WHICH} {_W}\b{_PART}", _which_weekday),
    (rf"\b{_N} {_W}s? (?:ago|back)\b", _weekdays_ago),
    # units counted from now
    (rf"\bthe {_W} before last\b", _weekday_but_one),
    (rf"\bthe {_SHORT} (?P<way>before last|after next)\b", _but_one),
    (rf"\b(?:(?:in|over|during|for|within) )?(?:the|these) (?:last|past) (?:{_N} )?"
     r"(?P<unit>day|week|month|year|decade)s?\b(?! of\b)", _until_now),
    (rf"\b{_WHICH} {_SHORT}\b", _which_unit),
    (r"\b(?:(?:over|on|at|during|for|by) )?the weekend\b(?! (?:before|after|of)\b)", _the_weekend),
    (rf"\b{_N} and a half (?P<half>year|month)s? (?:ago|back)\b", _halves_ago),
    (r"\b(?P<number>an?|one) (?P<half>year|month) and a half (?:ago|back)\b", _halves_ago),
    (r"\bhalf (?:an? )?(?P<half>year|month) (?:ago|back)\b", _half_ago),
    (rf"\b{_N} {_SEASON}s? (?:ago|back)\b", _seasons_ago),
    (rf"\b{_N} {_UNIT} (?:ago|back)\b(?: today\b)?", _ago),
    (rf"\b{_N} {_UNIT} from (?:now|today)\b", _from_now),
    (rf"\bin {_N} {_UNIT}\b(?!')(?! of\b)", _ahead),
    # seasons, months and holidays beside "last", "this", "next"
    (rf"\b(?:(?:in|over|during) )?{_WHICH} {_SEASON}\b", _which_season),
    (rf"\b(?:in )?{_WHICH} {_NAMED}\b(?! \d)", _which_month),
    (rf"\b{_WHICH} {_HOLIDAY}\b", _which_holiday),
    # dates
    (r"(?<![\d/.-])(?P<year>\d{4})[-/.](?P<month>\d\d?)[-/.](?P<day>\d\d?)(?![\d/-])", _numeric),
    (r"(?<![\d/.-])(?P<first>\d\d?)/(?P<second>\d\d?)/(?P<year>\d{4})(?![\d/-])", _slashed),
    (rf"\b(?:{_IN} )?(?:the )?{_DAY} (?:of )?{_MONTH}(?:,? (?:of )?{_YEAR})?(?!\w)", _dated),
    (rf"\b(?:{_IN} )?{_MONTH} (?:the )?{_DAY}(?:,? (?:of )?{_YEAR})?(?![\w%:/]|[.,]\d)", _verb_or_date),
    (rf"\b(?:{_IN} )?{_THIRD}{_MONTH},? (?:of )?{_YEAR}", _dated),
    (rf"\b(?:back in|{_IN}|(?:beginning|start|middle|end) of) {_THIRD}{_NAMED}\b", _dated),
    (rf"\b(?:early|late|mid)[- ]{_NAMED}\b", _dated),
    (r"\b(?:on|by|until|since) the (?P<day>\d\d?)(?:st|nd|rd|th)\b(?=\s*(?:[.,!?;)]|$)"
     r"| (?:after|and|at|because|but|for|i|so|to|we|when|with)\b)", _day_of_month),
    # years
    (rf"\b(?:(?:in|since|by|during) )?(?:the )?{_SEASON},? (?:of )?{_YEAR}", _season_of_year),
    (rf"\b(?:(?:at|on|for) )?{_HOLIDAY}(?: of)? {_YEAR}", _holiday),
    (rf"\b(?:at|on|over) {_HOLIDAY}\b", _plain_holiday),
    (r"\b(?:(?:in|during|since|from) )?the (?P<year>(?:19|20)\d0)'?s\b", _decade),
    (r"\b(?:in|during|since|from) the '?(?P<year>[3-9]0)'?s\b", _decade),
    (rf"\b(?:back in|in|since|during|until|till|by|early|late|mid|the year|class of) {_YEAR}(?! \w+s\b)", _year),
    # a weekday alone comes last
    (r"(?<!every )(?<!each )(?<!most )(?<!some )(?<!any )(?<!black )(?<!good )"
     rf"\b(?:(?:on|by|until|since) )?{_W}\b{_PART}(?! school)(?!')", _plain_weekday),
]  # fmt: skip

_TRIGGER: Final = (
    rf"day\b|ago\b|back\b|week|month|year|decade|tonight|tomorrow|morning|afternoon|evening|night|{_SEASON}|\d\d"
    rf"|{_MONTH}|\d(?:st|nd|rd|th)\b|christmas|halloween"
).replace("?P<season>", "?:").replace("?P<month>", "?:")  # fmt: skip

GRAMMAR: Final = Grammar(_TRIGGER, _RULES, tense.ENGLISH)
