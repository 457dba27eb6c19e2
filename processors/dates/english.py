"""English time expressions: the patterns, and the days that they mean.  docs/time.md states the rules.

Leading prepositions belong to the expression ("in 2019"): they tell a date from a number, and a month from a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import Final, cast

from processors.dates import arithmetic, tense
from processors.dates.arithmetic import Days, Tense, Unit
from processors.dates.grammar import DateContext, Grammar, Rule
from processors.dates.vocabulary import Vocabulary, either

_WORDS: Final = Vocabulary("english")
_WEEKDAYS: Final = _WORDS.numbers("weekday")
_FIRST_LETTERS: Final = {name[:3]: number for name, number in _WEEKDAYS.items()}
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
_FIRST_MONTH: Final = f"(?P<first_month>{MONTH})"
_LAST_MONTH: Final = f"(?P<last_month>{FULL_MONTH})"
_NAMED: Final = f"(?P<month>{FULL_MONTH})"
_HOLIDAY: Final = f"(?P<holiday>{either(_HOLIDAYS)})"
_SEASON: Final = f"(?P<season>{either(_SEASONS)})"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)(?![\d%]|[.,:/-]\d|'?s\b)"
_OF_YEAR: Final = rf"(?:,? (?:of )?{_YEAR})?"
_END: Final = r"(?![\w%:/]|[.,]\d)"  # of a date that ends in a number
_COUNTS: Final = either(word for word in _NUMBERS if word not in ("a", "an", "couple", "dozen"))
_N: Final = rf"(?P<number>\d{{1,3}}|(?:a )?(?:couple(?: of)?|dozen)|an?|{_COUNTS})"
_UNIT: Final = r"(?P<unit>day|night|week|fortnight|weekend|month|year|decade)s?"
_SHORT: Final = r"(?P<unit>week|month|year|decade|weekend)"
_PART: Final = r"(?: (?:early )?(?:morning|afternoon|evening|night))?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_TO: Final = r"(?: to | and | until | till | through | thru | ?[-–] ?)"
_LAST: Final = r"(?P<last>\d{1,2})(?:st|nd|rd|th)?(?! ?[ap]\.?m\b)"
_BESIDE: Final = "(?:(?:this|next|last|coming|the coming) )?"
_FROM: Final = r"(?:(?:from|between) (?:the )?)?"
_SHORT_WEEKDAY: Final = f"(?P<weekday>{either(_FIRST_LETTERS)}|tues|thur|thurs|{WEEKDAY})\\b\\.?"
_THIRD: Final = r"(?:(?:early|late|mid)[- ])?"
_IN: Final = r"(?:in|on|over|during|since|until|till|by|at|around|before|after)"
_PART_OF: Final = r"(?:the )?(?:beginning|start|middle|end) of"
_WHICH: Final = r"(?P<which>this past|this coming|the coming|last|this|next|past)"
_AHEAD: Final = frozenset({"by", "until", "till", "before", "for"})
_TITLE: Final = re.compile(r"\b(?:song|film|movie|album|book|show|series|called|titled) $", re.IGNORECASE)
_STEP: Final = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}

_BEFORE_A_NAME: Final = re.compile(rf"(?:[\"“']|\b(?:{either(_WORDS.names('names-a-weekday'))}) )$", re.IGNORECASE)
_AFTER_A_NAME: Final = either(_WORDS.names("named-by-a-weekday"))


def _step(match: re.Match[str]) -> int:
    return _STEP[match["which"].lower().split()[-1]]


def _weekday(match: re.Match[str]) -> int:
    return _weekday_number(match["weekday"])


def _weekday_number(name: str) -> int:
    return _FIRST_LETTERS[name.lower()[:3]]


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


def _tense(match: re.Match[str], context: DateContext) -> Tense:
    """Read the tense of the sentence, and of the preposition: what runs since then began, what is due by then comes."""
    first = match.group().split(maxsplit=1)[0].lower()
    if first == "since":
        return "past"
    if first not in _AHEAD:
        return context.tense()
    tense = context.tense_before() or context.tense()
    return "future" if tense in ("unclear", "present") else tense


def _chosen(match: re.Match[str], context: DateContext, candidates: Iterable[Days]) -> Days | None:
    return context.choose(candidates, _tense(match, context))


def _fixed(match: re.Match[str], context: DateContext) -> Days | None:
    """Count to "yesterday", unless it is a title: "the song Yesterday"."""
    if match.group()[0].isupper() and _TITLE.search(context.text[: match.start()]):
        return None
    return arithmetic.day(context.day, _DAYS[match["fixed"].lower()])


def _weekday_and_week(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.weekday_of(context.day, _weekday(match), _step(match))


def _which_weekday(match: re.Match[str], context: DateContext) -> Days:
    if match["which"].lower() == "this":
        return arithmetic.weekday_of(context.day, _weekday(match))
    if _step(match) < 0:
        return arithmetic.weekday_before(context.day, _weekday(match))
    coming = arithmetic.weekday_after(context.day, _weekday(match))
    tomorrow = _step(match) > 0 and coming == arithmetic.day(context.day, 1)  # which nobody calls "next Tuesday"
    return arithmetic.day(coming.first, 7) if tomorrow and "coming" not in match["which"].lower() else coming


def _weekdays_ago(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.weekday_before(context.day, _weekday(match), _number(match))


def _weekday_but_one(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.weekday_before(context.day, _weekday(match), 2)


def _plain_weekday(match: re.Match[str], context: DateContext) -> Days | None:
    """Take the weekday before or after the day said, as the tense has it; without one it could be either.

    It is none of them after "every", "Black", or "today is".
    """
    if _BEFORE_A_NAME.search(context.text[max(0, match.start() - 20) : match.start()]):
        return None
    return _by_tense(_weekday(match), _tense(match, context), context)


def _by_tense(weekday: int, tense: Tense, context: DateContext) -> Days | None:
    if tense in ("future", "present"):
        return arithmetic.weekday_after(context.day, weekday)
    return arithmetic.weekday_before(context.day, weekday) if tense == "past" else None


def _weekdays(match: re.Match[str], context: DateContext) -> Days | None:
    """Take the days from one weekday to another; unless it is over or to come, it is every week's."""
    if (tense := context.tense()) == "present":
        return None
    first = _by_tense(_weekday(match), tense, context)
    return first and arithmetic.through(first, [arithmetic.weekday_after(first.first, _weekday_number(match["last"]))])


def _weekday_from(match: re.Match[str], context: DateContext) -> Days:
    """Count weeks from the coming weekday: "two weeks from Saturday"."""
    return arithmetic.day(arithmetic.weekday_after(context.day, _weekday(match)).first, 7 * _number(match))


def _weekday_dated(match: re.Match[str], context: DateContext) -> Days | None:
    """Choose the date that falls on the weekday said, whatever the tense: few years have it."""
    groups = match.groupdict()
    if match["weekday"] in ("sun", "sat", "wed", "mon"):  # words, in small letters
        return None
    if groups.get("year"):
        return _dated(match, context)
    day = int(match["day"])
    near = arithmetic.yearly(context.day, _month(match), day) if groups.get("month") else ()
    found = arithmetic.on_weekday(near or arithmetic.monthly(context.day, day), _weekday(match))
    return _chosen(match, context, found) or arithmetic.chosen(found, context.day, "unclear")


def _but_one(match: re.Match[str], context: DateContext) -> Days:
    steps = -2 if match["way"].lower() == "before last" else 2
    return arithmetic.unit(cast(Unit, match["unit"].lower()), context.day, steps)


def _which_unit(match: re.Match[str], context: DateContext) -> Days:
    name, steps = cast(Unit, match["unit"].lower()), _step(match)
    if (name, steps) == ("weekend", 0):
        return _weekend(context)
    return arithmetic.unit(name, context.day, steps)


def _weekend(context: DateContext) -> Days:
    """Take the weekend of this week, or on a weekday the one before if the sentence tells of the past."""
    return arithmetic.weekend(context.day, -1 if context.day.weekday() < 5 and context.tense() == "past" else 0)


def _the_weekend(match: re.Match[str], context: DateContext) -> Days | None:
    """Take the weekend that goes on, or the one before or after the day said, as the tense has it."""
    tense = _tense(match, context)
    if context.day.weekday() >= 5 or tense == "future":
        return arithmetic.weekend(context.day)
    return arithmetic.weekend(context.day, -1) if tense == "past" else None


def _until_now(match: re.Match[str], context: DateContext) -> Days | None:
    unit, count = _counted(match) if match["number"] else (cast(Unit, match["unit"].lower()), 1)
    return None if unit == "weekend" else arithmetic.until(context.day, unit, count)


def _ago(match: re.Match[str], context: DateContext) -> Days:
    name, count = _counted(match)
    return arithmetic.unit(name, context.day, -count)


def _half_ago(match: re.Match[str], context: DateContext) -> Days:
    return _by_halves(match, context, 0)


def _halves_ago(match: re.Match[str], context: DateContext) -> Days:
    return _by_halves(match, context, _number(match))


def _by_halves(match: re.Match[str], context: DateContext, whole: int) -> Days:
    """Count so many years or months and a half back: half a year is six months, half a month two weeks."""
    if match["half"].lower() == "year":
        return arithmetic.month(context.day, -12 * whole - 6)
    return arithmetic.week(context.day, -4 * whole - 2)


def _from_now(match: re.Match[str], context: DateContext) -> Days:
    unit, count = _counted(match)
    return arithmetic.unit(unit, context.day, count)


def _ahead(match: re.Match[str], context: DateContext) -> Days | None:
    """Count to when "in two weeks" is; in a sentence of the past it is how long something took."""
    return None if context.tense() == "past" else _from_now(match, context)


def _dated(match: re.Match[str], context: DateContext) -> Days | None:
    """Choose a day of a month, of the year said or of the one that the tense means."""
    groups = match.groupdict()
    day = groups.get("day")
    month, day_number = _month(match), None if day is None else int(day)
    if groups.get("year"):
        return arithmetic.in_year(int(match["year"]), month, day_number)
    return _chosen(match, context, arithmetic.yearly(context.day, month, day_number))


def _range(match: re.Match[str], context: DateContext) -> Days | None:
    """Take the days of "5 to 9 August", "May 30 to June 2", "January to March": a month said once is that of both."""
    groups = match.groupdict()
    first, last = (month_number(groups.get(name) or match["month"]) for name in ("first_month", "last_month"))
    day, last_day = (None if groups.get(name) is None else int(match[name]) for name in ("day", "last"))
    if day and last_day and first == last and (last_day <= day or _two_days(match, day, last_day)):
        return None
    if not (year := groups.get("year")):
        return context.choose(arithmetic.runs(arithmetic.yearly(context.day, first, day), last, last_day))
    starts = (arithmetic.in_year(int(year) - step, first, day) for step in (0, 1))
    found = arithmetic.runs(filter(None, starts), last, last_day)
    return next((days for days in found if days.last.year == int(year)), None)


def _two_days(match: re.Match[str], day: int, last: int) -> bool:
    """Return whether "5 and 9 August" are two days, not a run of them: "4 and 5 August", "between 5 and 9 August"."""
    written = match.group().lower()
    return " and " in written and not written.startswith("between") and last > day + 1


def _verb_or_date(match: re.Match[str], context: DateContext) -> Days | None:
    """Read the day of "May 5", unless "may" or "march" is in small letters, which is a verb more often."""
    verb = match["month"] in ("may", "march", "mar") and not match["year"]
    return None if verb else _dated(match, context)


def _numeric(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.day(date(int(match["year"]), int(match["month"]), int(match["day"])))


def _slashed(match: re.Match[str], context: DateContext) -> Days | None:
    """Read the day of 5/17/2023 or 17/5/2023; 5/7/2023 is two days, so it is none."""
    first, second = int(match["first"]), int(match["second"])
    month, day = (first, second) if first <= 12 else (second, first)
    if first <= 12 and second <= 12 and first != second:
        return None
    return arithmetic.day(date(int(match["year"]), month, day))


def _which_month(match: re.Match[str], context: DateContext) -> Days | None:
    return arithmetic.beside(arithmetic.yearly(context.day, _month(match), None), _step(match), context.day)


def _which_season(match: re.Match[str], context: DateContext) -> Days | None:
    return arithmetic.beside(arithmetic.seasons(_season(match), context.day), _step(match), context.day)


def _which_holiday(match: re.Match[str], context: DateContext) -> Days | None:
    return arithmetic.beside(
        arithmetic.yearly(context.day, *_HOLIDAYS[match["holiday"].lower()]), _step(match), context.day
    )


def _seasons_ago(match: re.Match[str], context: DateContext) -> Days:
    """Count that many seasons back, of those that had ended on the day it was said."""
    over = arithmetic.season(_season(match), context.day.year).last < context.day
    return arithmetic.season(_season(match), context.day.year + over - _number(match))


def _season_of_year(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.season(_season(match), int(match["year"]))


def _holiday(match: re.Match[str], context: DateContext) -> Days | None:
    return arithmetic.in_year(int(match["year"]), *_HOLIDAYS[match["holiday"].lower()])


def _plain_holiday(match: re.Match[str], context: DateContext) -> Days | None:
    """Choose the day of a holiday if the tense tells which; people talk of holidays in general as well."""
    if (tense := _tense(match, context)) not in ("past", "future"):
        return None
    return arithmetic.chosen(arithmetic.yearly(context.day, *_HOLIDAYS[match["holiday"].lower()]), context.day, tense)


def _decade(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.decade_written(int(match["year"]))


def _year(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.year(int(match["year"]))


def _day_of_month(match: re.Match[str], context: DateContext) -> Days | None:
    if (tense := _tense(match, context)) != context.tense():
        return context.choose(arithmetic.monthly(context.day, int(match["day"])), tense)
    return context.of_a_month(int(match["day"]))


_RULES: Final[list[Rule]] = [
    # days
    (rf"\b(?<!from )(?:the (?=day))?(?P<fixed>{either(_DAYS)})\b{_PART}", _fixed),
    # a weekday and its date
    (rf"\b(?:{_IN} )?{_BESIDE}{_SHORT_WEEKDAY},? (?:the )?{_DAY} (?:of )?{_MONTH}{_OF_YEAR}(?!\w)", _weekday_dated),
    (rf"\b(?:{_IN} )?{_BESIDE}{_SHORT_WEEKDAY},? {_MONTH} (?:the )?{_DAY}{_OF_YEAR}{_END}", _weekday_dated),
    (rf"\b(?:{_IN} )?{_SHORT_WEEKDAY},? (?:the )?(?P<day>\d\d?)(?:st|nd|rd|th)\b", _weekday_dated),
    # weekdays of a week said, then others
    (rf"\b(?:on )?{_W}{_PART} (?:of )?(?P<which>last|this|next) week\b", _weekday_and_week),
    (rf"\b(?P<which>last|this|next) week(?: on|,)? {_W}\b{_PART}", _weekday_and_week),
    (rf"\b(?:on )?{_WHICH} {_W}\b{_PART}", _which_weekday),
    (rf"\b{_N} {_W}s? (?:ago|back)\b", _weekdays_ago),
    # units counted from now
    (rf"\bthe {_W} before last\b", _weekday_but_one),
    (rf"\b{_N} weeks? from {_W}\b", _weekday_from),
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
    (rf"\b{_FROM}{_DAY} (?:of )?{_FIRST_MONTH}{_TO}(?:the )?{_LAST} (?:of )?{_MONTH}"
     rf"{_OF_YEAR}(?!\w)", _range),
    (rf"\b{_FROM}{_FIRST_MONTH} (?:the )?{_DAY}{_TO}{_MONTH} (?:the )?{_LAST}"
     rf"{_OF_YEAR}{_END}", _range),
    (rf"\b{_FROM}{_DAY}{_TO}(?:the )?{_LAST} (?:of )?{_MONTH}{_OF_YEAR}(?!\w)", _range),
    (rf"\b{_FROM}{_MONTH} (?:the )?{_DAY}{_TO}(?:the )?{_LAST}{_OF_YEAR}{_END}", _range),
    (rf"\b(?:from|between) {_NAMED}(?: to | and | until | till | through )"
     rf"{_LAST_MONTH}{_OF_YEAR}\b", _range),
    (rf"\b(?:{_IN} )?(?:the )?{_DAY} (?:of )?{_MONTH}{_OF_YEAR}(?!\w)", _dated),
    (rf"\b(?:{_IN} )?{_MONTH} (?:the )?{_DAY}{_OF_YEAR}{_END}", _verb_or_date),
    (rf"\b(?:{_IN} )?{_THIRD}{_MONTH},? (?:of )?{_YEAR}", _dated),
    (rf"\b(?:back in|{_IN}|(?:{_IN} )?{_PART_OF}) {_THIRD}{_NAMED}\b", _dated),
    (rf"\b(?:early|late|mid)[- ]{_NAMED}\b", _dated),
    (r"\b(?:on|by|until|since) the (?P<day>\d\d?)(?:st|nd|rd|th)\b(?=\s*(?:[.,!?;)]|$)"
     r"| (?:after|and|at|because|but|for|i|so|to|we|when|with)\b)", _day_of_month),
    # years
    (rf"\b(?:(?:in|since|by|during) )?(?:the )?{_SEASON},? (?:of )?{_YEAR}", _season_of_year),
    (rf"\b(?:(?:at|on|for) )?{_HOLIDAY}(?: of)? {_YEAR}", _holiday),
    (rf"\b(?:at|on|over|by|before|until|till) {_HOLIDAY}\b", _plain_holiday),
    (r"\b(?:(?:in|during|since|from) )?the (?P<year>19[1-9]0|20\d0)'?s\b", _decade),
    (r"\b(?:in|during|since|from) the '?(?P<year>[3-9]0)'?s\b", _decade),
    (rf"\b(?:back in|in|since|during|until|till|by|early|late|mid|the year|class of) {_YEAR}(?! \w+s\b)", _year),
    # weekdays alone come last
    (rf"\b(?:(?:from|between) )?{_W}(?: to | until | till | through | and | ?[-–] ?)(?P<last>{WEEKDAY})\b", _weekdays),
    (rf"\b(?:(?:on|by|until|till|before|since) )?{_W}\b{_PART}(?!s\b|'| (?:{_AFTER_A_NAME})\b)",
     _plain_weekday),
]  # fmt: skip

_TRIGGER: Final = either(
    [
        *(rf"{word}\b" for word in ("day", "days", "ago", "back", *_WORDS.names("short-month"))),
        *("week", "month", "year", "decade", "tonight", "tomorrow", "morning", "afternoon", "evening", "night"),
        *(*_SEASONS, *_WORDS.names("month"), "christmas", "halloween"),
        *(rf"{digit}(?:\d|(?:st|nd|rd|th)\b)" for digit in range(10)),
    ]
)

_BEGINS: Final = r"(?:(?<!\w)(?=\w)|(?=\d))"  # where a word does, or with a digit

GRAMMAR: Final = Grammar(_TRIGGER, _RULES, tense.ENGLISH, _BEGINS)
