"""English time expressions: the patterns, and the days that they mean.  docs/time.md states the rules.

Leading prepositions belong to the expression ("in 2019"): they tell a date from a number, and a month from a name.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final, cast

from processors.dates import arithmetic, tense
from processors.dates.arithmetic import Days, Unit
from processors.dates.grammar import Context, Grammar, Rule
from processors.dates.vocabulary import Vocabulary, either

_WORDS: Final = Vocabulary("english")
_WEEKDAYS: Final = _WORDS.numbers("weekday")
_MONTHS: Final = _WORDS.numbers("month") | _WORDS.numbers("short-month")
_HOLIDAYS: Final = _WORDS.dates("holiday")
_NUMBERS: Final = _WORDS.numbers("number")
_DAYS: Final = _WORDS.numbers("day")
_SEASONS: Final = _WORDS.names("season")

FULL_MONTH: Final = either(_WORDS.names("month"))
MONTH: Final = rf"{FULL_MONTH}|(?:{either(_WORDS.names('short-month'))})\b\.?"
WEEKDAY: Final = either(_WEEKDAYS)
_W: Final = f"(?P<weekday>{WEEKDAY})"
_MONTH: Final = f"(?P<month>{MONTH})"
_NAMED: Final = f"(?P<month>{FULL_MONTH})"
_HOLIDAY: Final = f"(?P<holiday>{either(_HOLIDAYS)})"
_SEASON: Final = f"(?P<season>{either(_SEASONS)})"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)(?![\d%]|[.,:/-]\d|'?s\b)"
_COUNTS: Final = either(word for word in _NUMBERS if word not in ("a", "an", "couple", "dozen"))
_N: Final = rf"(?P<number>\d{{1,3}}|(?:a )?(?:couple(?: of)?|dozen)|an?|{_COUNTS})"
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
    return _WEEKDAYS[match["weekday"].lower()]


def month_number(name: str) -> int:
    """Look up a month, 1..12, by its name or a short form of it, with or without a full stop."""
    return _MONTHS[name.lower().rstrip(".")]


def _month(match: re.Match[str]) -> int:
    return month_number(match["month"])


def _season(match: re.Match[str]) -> str:
    return _SEASONS[match["season"].lower()]


def _number(match: re.Match[str]) -> int:
    said = match["number"].lower().removesuffix(" of").removeprefix("a ")
    return int(said) if said.isdecimal() else _NUMBERS[said]


def _counted(match: re.Match[str]) -> tuple[Unit, int]:
    """Read the unit and how many of it; nights are days, a fortnight is two weeks."""
    name, count = match["unit"].lower(), _number(match)
    if name == "fortnight":
        return "week", 2 * count
    return cast(Unit, "day" if name == "night" else name), count


def _fixed(match: re.Match[str], context: Context) -> Days:
    return arithmetic.day(context.day, _DAYS[match["fixed"].lower()])


def _weekday_and_week(match: re.Match[str], context: Context) -> Days:
    return arithmetic.weekday_of(context.day, _weekday(match), _step(match))


def _which_weekday(match: re.Match[str], context: Context) -> Days:
    if match["which"].lower() == "this":
        return arithmetic.weekday_of(context.day, _weekday(match))
    if _step(match) < 0:
        return arithmetic.weekday_before(context.day, _weekday(match))
    return arithmetic.weekday_after(context.day, _weekday(match))


def _weekdays_ago(match: re.Match[str], context: Context) -> Days:
    return arithmetic.weekday_before(context.day, _weekday(match), _number(match))


def _weekday_but_one(match: re.Match[str], context: Context) -> Days:
    return arithmetic.weekday_before(context.day, _weekday(match), 2)


def _plain_weekday(match: re.Match[str], context: Context) -> Days:
    if context.tense() == "future":
        return arithmetic.weekday_after(context.day, _weekday(match))
    return arithmetic.weekday_before(context.day, _weekday(match))


def _but_one(match: re.Match[str], context: Context) -> Days:
    steps = -2 if match["way"].lower() == "before last" else 2
    return arithmetic.unit(cast(Unit, match["unit"].lower()), context.day, steps)


def _which_unit(match: re.Match[str], context: Context) -> Days:
    name, steps = cast(Unit, match["unit"].lower()), _step(match)
    if (name, steps) == ("weekend", 0):
        return _weekend(context)
    return arithmetic.unit(name, context.day, steps)


def _weekend(context: Context) -> Days:
    """Take the weekend of this week, or on a weekday the one before if the sentence tells of the past."""
    return arithmetic.weekend(context.day, -1 if context.day.weekday() < 5 and context.tense() == "past" else 0)


def _the_weekend(match: re.Match[str], context: Context) -> Days:
    return arithmetic.weekend(context.day, 0 if context.day.weekday() >= 5 or context.tense() == "future" else -1)


def _until_now(match: re.Match[str], context: Context) -> Days | None:
    unit, count = _counted(match) if match["number"] else (cast(Unit, match["unit"].lower()), 1)
    return None if unit == "weekend" else arithmetic.until(context.day, unit, count)


def _ago(match: re.Match[str], context: Context) -> Days:
    name, count = _counted(match)
    return arithmetic.unit(name, context.day, -count)


def _half_ago(match: re.Match[str], context: Context) -> Days:
    return _by_halves(match, context, 0)


def _halves_ago(match: re.Match[str], context: Context) -> Days:
    return _by_halves(match, context, _number(match))


def _by_halves(match: re.Match[str], context: Context, whole: int) -> Days:
    """Count so many years or months and a half back: half a year is six months, half a month two weeks."""
    if match["half"].lower() == "year":
        return arithmetic.month(context.day, -12 * whole - 6)
    return arithmetic.week(context.day, -4 * whole - 2)


def _from_now(match: re.Match[str], context: Context) -> Days:
    unit, count = _counted(match)
    return arithmetic.unit(unit, context.day, count)


def _ahead(match: re.Match[str], context: Context) -> Days | None:
    """Count to when "in two weeks" is; in a sentence of the past it is how long something took."""
    return None if context.tense() == "past" else _from_now(match, context)


def _dated(match: re.Match[str], context: Context) -> Days | None:
    """Choose a day of a month, of the year said or of the one that the tense means."""
    groups = match.groupdict()
    day = groups.get("day")
    month, day_number = _month(match), None if day is None else int(day)
    if groups.get("year"):
        return arithmetic.in_year(int(match["year"]), month, day_number)
    return arithmetic.chosen(arithmetic.yearly(context.day, month, day_number), context.day, context.tense())


def _verb_or_date(match: re.Match[str], context: Context) -> Days | None:
    """Read the day of "May 5", unless "may" or "march" is in small letters, which is a verb more often."""
    verb = match["month"] in ("may", "march", "mar") and not match["year"]
    return None if verb else _dated(match, context)


def _numeric(match: re.Match[str], context: Context) -> Days:
    return arithmetic.day(date(int(match["year"]), int(match["month"]), int(match["day"])))


def _slashed(match: re.Match[str], context: Context) -> Days | None:
    """Read the day of 5/17/2023 or 17/5/2023; 5/7/2023 is two days, so it is none."""
    first, second = int(match["first"]), int(match["second"])
    month, day = (first, second) if first <= 12 else (second, first)
    if first <= 12 and second <= 12 and first != second:
        return None
    return arithmetic.day(date(int(match["year"]), month, day))


def _which_month(match: re.Match[str], context: Context) -> Days | None:
    return arithmetic.beside(arithmetic.yearly(context.day, _month(match), None), _step(match), context.day)


def _which_season(match: re.Match[str], context: Context) -> Days | None:
    return arithmetic.beside(arithmetic.seasons(_season(match), context.day), _step(match), context.day)


def _which_holiday(match: re.Match[str], context: Context) -> Days | None:
    return arithmetic.beside(
        arithmetic.yearly(context.day, *_HOLIDAYS[match["holiday"].lower()]), _step(match), context.day
    )


def _seasons_ago(match: re.Match[str], context: Context) -> Days:
    """Count that many seasons back, of those that had ended on the day it was said."""
    over = arithmetic.season(_season(match), context.day.year).last < context.day
    return arithmetic.season(_season(match), context.day.year + over - _number(match))


def _season_of_year(match: re.Match[str], context: Context) -> Days:
    return arithmetic.season(_season(match), int(match["year"]))


def _holiday(match: re.Match[str], context: Context) -> Days | None:
    return arithmetic.in_year(int(match["year"]), *_HOLIDAYS[match["holiday"].lower()])


def _plain_holiday(match: re.Match[str], context: Context) -> Days | None:
    """Choose the day of a holiday if the tense tells which; people talk of holidays in general as well."""
    if (tense := context.tense()) == "unclear":
        return None
    return arithmetic.chosen(arithmetic.yearly(context.day, *_HOLIDAYS[match["holiday"].lower()]), context.day, tense)


def _decade(match: re.Match[str], context: Context) -> Days:
    return arithmetic.decade_written(int(match["year"]))


def _year(match: re.Match[str], context: Context) -> Days:
    return arithmetic.year(int(match["year"]))


def _day_of_month(match: re.Match[str], context: Context) -> Days | None:
    return arithmetic.chosen(arithmetic.monthly(context.day, int(match["day"])), context.day, context.tense())


_RULES: Final[list[Rule]] = [
    # days
    (rf"\b(?<!from )(?:the (?=day))?(?P<fixed>{either(_DAYS)})\b{_PART}", _fixed),
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
    r"day\b|ago\b|back\b|week|month|year|decade|tonight|tomorrow|morning|afternoon|evening|night|\d\d"
    rf"|{either(_SEASONS)}|{MONTH}|\d(?:st|nd|rd|th)\b|christmas|halloween"
)

GRAMMAR: Final = Grammar(_TRIGGER, _RULES, tense.ENGLISH)
