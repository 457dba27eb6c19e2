"""Read matches of rules for dates: days, weekdays, months, years, seasons, holidays, and places in them."""

from __future__ import annotations

import re
from typing import Any, Final

from processors.dates.holidays import days_of_holiday, lunar_day
from processors.dates.match import MONTH_AFTER, Match, Reading, dated, day_number, fixed, meaning, written_year
from processors.dates.spans import (
    DAY,
    Span,
    Written,
    around,
    day,
    meanings,
    moment,
    month,
    season,
    unit,
    week,
    year,
)
from processors.text import tables

MOST_DAYS: Final = 15  # that are counted from a festival: 正月十五 is the last
_ENDS: Final = tables.lazy(
    r"\s*(?:[.,!?;)]|$|(?:de|entre|from|between|von)\s+(?:las?\s+)?\d"
    r"|(?:and|at|because|but|for|from|i|so|to|we|when|with|until|y|et|und|bis|um|à|a las?|pour|para|–|-)\b)"
)
_TO_HOUR: Final = tables.lazy(r"\s*(?:to|-|–|till?|until|bis|a|à|hasta)\s*\d")  # monday 8 to 9
_WISHED: Final = tables.lazy("(?:좋은|즐거운|행복한|멋진|よい|良い|楽しい|素敵な) ?$")
_HAN_ENDS: Final = tables.lazy(r"\s*(?:$|[，。,.!?！？；的是我])")
_YEAR_AFTER: Final = tables.lazy(
    r"\b(?:ende|anfang|mitte|finales de|fin|début|mid|early|late|in|since|of|by|from|"
    r"until|till|during|before|after|around|about|circa|year|en|de|desde|año|hasta|dans|depuis|année|seit|jahr|bis"
    r"|vor|nach)( the)?( year| año| jahr)?\s*$"
)
_COUNT_OF: Final = tables.lazy(r"\d of $")  # page 12 of 2000
_DAY_AFTER: Final = tables.lazy(
    r"\b((?:on|by|until|till|since|for|before|after|than) the|el|le|am|den|dem"
    r"|(?:moved|changed|postponed|put off|pushed|brought|rescheduled|delayed|shifted|due|set)\b[^.,;]{0,20}"
    r" (?:to|for) the"
    r"|from the \d+(?:st|nd|rd|th) to the)\s*$"
)
_ARTICLE_BEFORE: Final = {
    "en": re.compile(r"\b(?:on|by|until|for) the\s*$"),
    "es": re.compile(r"\bel(?: d[ií]a)?\s*$"),
    "fr": re.compile(r"(?:\ble|jusqu['’]au)\s*$"),
    "de": re.compile(r"\b(?:am|den)\s*$"),
}
_PART_OF_TENS: Final = tables.lazy(r"(?:early|mid|late)[ -]$")
_THE: Final = tables.lazy(r"\b(?:the|am|dem|das|el|le|ce|du)\s*$")


@meaning
def literal(match: Match) -> Reading | None:
    """Read 5/8/2023, also beside its weekday."""
    return "date", match["literal"]


@meaning
def relative_day(match: Match) -> Reading | None:
    """Read today, yesterday, 后天."""
    return fixed(day(match.now, match["today"]), grain="D")


@meaning
def days_from(match: Match) -> Reading | None:
    """Read 今日から2日後, 昨日の2日前."""
    if match.language != "ja" or match["unit"] not in "DW" or match["number"] > 500:
        return None
    count = (7 if match["unit"] == "W" else 1) * match["number"] * (-1 if "ago" in match else 1)
    return fixed(day(match.now, match["today"] + int(count)), grain="D")


@meaning
def narrative_day(match: Match) -> Reading | None:
    """Read the next day, 次日: of a story, unless nothing goes before (chains.py)."""
    return fixed(day(match.now, match["narrative"]), grain="then")


@meaning
def relative_day_weekday(match: Match) -> Reading | None:
    """Read tomorrow, Thursday."""
    return relative_day(match) if "part" not in match else None


@meaning
def month_day(match: Match) -> Reading | None:
    """Read june 5, the 5th of June, Sunday 5 June, of a year that may be written; juillet 98."""
    if match.order == ("month", "number") and 31 < match["number"] < 100:
        return dated(written_year(match), match["month"])
    return dated(match.get("year"), match["month"], day_number(match), match.get("weekday"))


@meaning
def month_day_year(match: Match) -> Reading | None:
    """Read the 5th of June 16."""
    number = match.get("number2") if "ordinal" not in match else match.get("number")
    number = match.get("year", number if (number or 0) > 31 else None)
    return None if number is None else dated(written_year(match.of(number=number)), match["month"], day_number(match))


@meaning
def month_day_of_year(match: Match) -> Reading | None:
    """Read 5 June of last year, 今年六月五号."""
    if "which" in match and match.get("unit") != "Y":
        return None
    return dated(match.now.year + _steps(match), match["month"], day_number(match))


@meaning
def month_of(match: Match) -> Reading | None:
    """Read june, June 2016, June of last year, 今年六月."""
    if "which" in match and match.get("unit") != "Y":
        return None
    steps = match.get("calendar_year", match.get("which"))
    return dated(match.get("year") if steps is None else match.now.year + steps, match["month"])


@meaning
def month_and_day(match: Match) -> Reading | None:
    """Read 一月二十三: without a sign for the day, where nothing is counted."""
    ends = match.language == "zh" and _HAN_ENDS.match(match.after)
    return dated(month=match["number"], day=match["number2"]) if ends else None


@meaning
def bare_year(match: Match) -> Reading | None:
    """Read 2016, behind a word that says it is a year."""
    return dated(match["year"]) if _YEAR_AFTER.search(match.before) and not _COUNT_OF.search(match.before) else None


@meaning
def weekday(match: Match) -> Reading | None:
    """Read friday."""
    return dated(weekday=match["weekday"])


@meaning
def weekday_and_day(match: Match) -> Reading | None:
    """Read friday the 13th, 13号周五."""
    return dated(day=match.get("nth", match.get("number")), weekday=match["weekday"])


@meaning
def weekday_and_number(match: Match) -> Reading | None:
    """Read viernes 13."""
    ends = _ENDS.match(match.after) and not _TO_HOUR.match(match.after) and not match.is_unspaced
    return dated(day=match["number"], weekday=match["weekday"]) if ends else None


@meaning
def nth_alone(match: Match) -> Reading | None:
    """Read on the 13th."""
    ends = (match.language == "de" or _ENDS.match(match.after)) and _DAY_AFTER.search(match.before)
    return dated(day=match["nth"]) if ends else None


@meaning
def article_day(match: Match) -> Reading | None:
    """Read el 15, le 23."""
    number = match["number"]
    article = _ARTICLE_BEFORE.get(match.language)
    if article is None or not _ENDS.match(match.after) or not article.search(match.before):
        return None
    return dated(day=number) if 1 <= number <= 31 else None


@meaning
def which_weekday(match: Match) -> Reading | None:
    """Read last, this, next Friday; 下周五 is of next week."""
    steps, number, now = match["which"], match["weekday"], match.now
    if match.order == ("weekday", "which") and not match.is_postfixing and abs(steps) < 2:
        return None
    if match.is_unspaced or steps == 0:
        return fixed(day(week(now, steps)[0], number), grain="D")
    if abs(steps) == 2:
        later = steps > 0 and number > now.weekday()
        earlier = steps < 0 and number < now.weekday()
        return fixed(day(week(now, steps - later + earlier)[0], number), grain="D")
    ahead = (number - now.weekday()) % 7 or 7
    if steps < 0:
        return fixed(day(now, ahead - 7 if ahead < 7 else -7), grain="D")
    return fixed(day(now, ahead + (7 if ahead == 1 and "coming" not in match.before else 0)), grain="D")


@meaning
def weekday_of_week(match: Match) -> Reading | None:
    """Read friday of last week, next week on Friday."""
    if match["unit"] != "W":
        return None
    return fixed(day(week(match.now, match["which"])[0], match["weekday"]), grain="D")


@meaning
def which_month(match: Match) -> Reading | None:
    """Read last June, this June, next June: the one that is over, that goes on or comes, that comes."""
    steps, now = match["which"], match.now
    if match.order[-1] == "which" and not match.is_postfixing:
        return None
    number = now.year + (0 if steps == 0 else _year_steps(match["month"], now.month, steps))
    return dated(number, match["month"], day_number(match))


def _year_steps(number: int, current: int, steps: int) -> int:
    if steps > 0:
        return steps - (number > current)
    return steps + (number < current)


@meaning
def season_of(match: Match) -> Reading | None:
    """Read last summer, summer 2016, 去年夏天."""
    name, now, steps = match["season"], match.now, match.get("which", 0)
    if match.language == "zh" and steps and len(match.written) == 2:  # 村上春树
        return None
    if "year" in match or "calendar_year" in match or not steps:
        number = match.get("year", now.year + match.get("calendar_year", 0))
        if "year" not in match and "calendar_year" not in match:
            return fixed(*around([season(name, now.year + step) for step in (-1, 0, 1)], now)[:1], grain="S")
        return fixed(season(name, number), grain="S")
    near = [season(name, now.year + step) for step in range(-3, 4)]
    ended, coming = [span for span in near if span[1] <= day(now)[0]], [span for span in near if span[0] > now]
    return fixed(ended[steps] if steps < 0 else coming[steps - 1], grain="S")


@meaning
def seasons_ago(match: Match) -> Reading | None:
    """Read two summers ago, counted from those that are over."""
    near = [season(match["season"], match.now.year - step) for step in range(60)]
    ended = [span for span in near if span[1] <= day(match.now)[0]]
    return fixed(ended[int(match["number"]) - 1], grain="S")


@meaning
def nth_of_span(match: Match) -> Reading | None:
    """Read the last Friday of June, the first week of next month."""
    if "month" in match or "year" in match:
        whole = meanings(Written(match.get("year"), match.get("month")), match.now)
    elif "which" in match:
        whole = [unit(match["unit2"] if "unit2" in match else match["unit"], match.now, match["which"])]
    else:
        return None
    return _placed(match, whole)


def _placed(match: Match, wholes: list[Span]) -> Reading | None:
    places = [span for whole in wholes if (span := nth(match, whole))]
    return fixed(*places, grain=match.get("unit", "D") if "weekday" not in match else "D")


@meaning
def nth_of_this(match: Match) -> Reading | None:
    """Read the last day of the year, the first Monday of the month: of this one."""
    outer = match["unit"] if "weekday" in match else match["unit2"]
    if outer not in "WMQY" or match.is_unspaced:
        return None
    return _placed(match, [unit(outer, match.now)])


@meaning
def nth_weekday_in(match: Match) -> Reading | None:
    """Read 4月の最終月曜日: a weekday, counted in the span before it."""
    if not _is_weekday(match["date2"]):
        return None
    return nth_within(match.plus(weekday=match["date2"].weekday))


@meaning
def nth_weekday_of_this(match: Match) -> Reading | None:
    """Read 第三火曜日: of this month."""
    if not match.is_unspaced or not _is_weekday(match["date"]):
        return None
    return _placed(match.plus(weekday=match["date"].weekday), [unit("M", match.now)])


@meaning
def weekday_beside(match: Match) -> Reading | None:
    """Read the Tuesday after Easter, the weekend before 5 May, 春节后的周一."""
    weekday, other = (match["date2"], match["date"]) if match.is_unspaced else (match["date"], match["date2"])
    is_weekend = weekday.grain.endswith("E")
    if not (_is_weekday(weekday) or is_weekend) or _is_weekday(other):
        return None
    number, length, wholes = 5 if is_weekend else weekday.weekday, DAY * (1 + is_weekend), meanings(other, match.now)
    if "after" in match:
        firsts = [end + DAY * ((number - end.weekday()) % 7) for _, end in wholes]
    else:
        firsts = [first - DAY * ((first.weekday() - number - 1) % 7 + 1) for first, _ in wholes]
    return fixed(*((first, first + length) for first in firsts), grain="D")


@meaning
def day_beside(match: Match) -> Reading | None:
    """Read the day before Thanksgiving, 端午前一天, 国庆当天, クリスマスの翌日: a day of a story beside a named one."""
    story, other = (match["date2"], match["date"]) if match.is_unspaced else (match["date"], match["date2"])
    wholes = meanings(other, match.now) if story.grain == "then" and other.grain != "then" else []
    if not wholes or "," in match.written or any(until - since != DAY for since, until in wholes):
        return None
    steps = (story.spans[0][0] - day(match.now)[0]).days
    return fixed(*(day(since, steps) for since, _ in wholes), grain="D")


@meaning
def nth_day_of_holiday(match: Match) -> Reading | None:
    """Read 国庆第三天: counted from the day of the holiday."""
    if match["unit"] != "D" or match["date"].grain != "H" or not 0 < match["ordinal"] <= MOST_DAYS:
        return None
    return fixed(*(day(since, match["ordinal"] - 1) for since, _ in match["date"].spans), grain="D")


def _is_weekday(date: Written) -> bool:
    return date.weekday is not None and not date.day and not date.month


@meaning
def nth_in_which(match: Match) -> Reading | None:
    """Read the first Monday of next month, 下个月的第一周."""
    if "weekday" in match or match.order[0] != "which":
        outer, inner = match["unit2"] if "unit2" in match else match["unit"], match["unit"]
    else:
        outer, inner = match["unit"], match["unit2"]
    named = match.of(
        ordinal=match["ordinal"], **({"weekday": match["weekday"]} if "weekday" in match else {"unit": inner})
    )
    return _placed(named, [unit(outer, match.now, match["which"])])


@meaning
def nth_within(match: Match) -> Reading | None:
    """Read 2015年1月第一周, the first week of June: counted in the span that it names."""
    wholes = [span for span in meanings(match["date"], match.now) if (span[1] - span[0]).days > 20]
    return _placed(match, wholes)


@meaning
def weekday_of_nth_week(match: Match) -> Reading | None:
    """Read 7월 첫째주 금요일: the first Friday of July."""
    if not match.is_unspaced or match["unit"] != "W" or not _is_weekday(match["date2"]):
        return None
    return nth_within(match.of(date=match["date"], ordinal=match["ordinal"], weekday=match["date2"].weekday))


@meaning
def rest_of_day(match: Match) -> Reading | None:
    """Read 남은 하루: from now to midnight."""
    return rest(match.plus(unit="D")) if match["length"] == [(1.0, "D")] and match.is_unspaced else None


@meaning
def last_within(match: Match) -> Reading | None:
    """Read june's last week."""
    return nth_within(match.plus(ordinal=-1)) if match["which"] == -1 else None


def nth(match: Match, whole: Span) -> Span | None:
    """Return the place of a match in a span: its first Monday, its second week, its last day."""
    place, name = match.get("ordinal", match.get("which", 0)), match.get("unit", "")
    if not place:
        return None
    if "weekday" in match:
        return _nth_weekday(match["weekday"], place, whole)
    if name == "W":
        return _nth_week(place, whole)
    if name not in ("D", "E", "Q", "M"):
        return None
    first, end = whole
    return unit(name, first, place - 1) if place > 0 else unit(name, end - DAY, place + 1)


def _nth_weekday(number: int, place: int, whole: Span) -> Span | None:
    first, end = whole
    days = [first + DAY * step for step in range((end - first).days)]
    days = [each for each in days if each.weekday() == number]
    index = place - 1 if place > 0 else place
    return day(days[index]) if -len(days) <= index < len(days) else None


def _nth_week(place: int, whole: Span) -> Span:
    """Count weeks as ISO 8601 does: the first has at least four days of the span, and so has the last."""
    first, end = whole
    if place < 0:
        last = week(end - DAY)[0]
        return week(last, -1 if last + DAY * 3 >= end else 0)
    return week(week(first, 0 if first.weekday() < 4 else 1)[0], place - 1)


@meaning
def quarter(match: Match) -> Reading | None:
    """Read q3 2016, the first quarter of next year, 上半年."""
    units = [match[name] for name in ("unit", "unit2") if name in match]
    if units and "Q" not in units and not (units == ["Y"] and "ordinal" not in match):
        return None
    place = match.get("quarter", match.get("ordinal"))
    number = written_year(match) if "year" in match or "number" in match else match.now.year + _steps(match)
    if not place or place > 6 or number is None:
        return None
    place = 4 if place < 0 else place
    if len(match) == 1:
        return fixed(*around([_quarter(number + step, place) for step in (-1, 0, 1)], match.now), grain="Q")
    return fixed(_quarter(number, place), grain="Q")


def _quarter(number: int, place: int) -> Span:
    """Return a quarter, or as 5 and 6 a half, of a year."""
    first = 3 * place - 2 if place < 5 else 6 * place - 29
    return month(number, first)[0], month(number, first + (2 if place < 5 else 5))[1]


def _steps(match: Match) -> int:
    return int(match.get("calendar_year", match.get("which", 0)))


@meaning
def week_number(match: Match) -> Reading | None:
    """Read week 12 of 2016."""
    number = match.first("number", "ordinal")
    is_counted = "ordinal" in match and not (match.language == "ja" and number > 5)  # 第31週, not the first week
    if match["unit"] != "W" or is_counted or not 1 <= number <= 53:
        return None
    first = moment(match.get("year", match.now.year), 1, 4)
    return fixed(week(first, int(number) - 1), grain="W")


@meaning
def week_of_day(match: Match) -> Reading | None:
    """Read the week of the 18th."""
    return week_of(match.plus(date=Written(day=match["nth"])))


@meaning
def century(match: Match) -> Reading | None:
    """Read siglo XV, XVe siècle."""
    return decade(match.plus(ordinal=match["roman"])) if match["unit"] == "Z" else None


@meaning
def decade_of_tens(match: Match) -> Reading | None:
    """Read the seventies, the nineteen seventies."""
    hundreds = int(match.get("number", 19))
    if not _THE.search(_PART_OF_TENS.sub("", match.before)) and "number" not in match:
        return None
    return _ten_years(100 * hundreds + match["tens"] % 100) if 17 <= hundreds <= 20 else None


@meaning
def holiday_weekend(match: Match) -> Reading | None:
    """Read labor day weekend, halloween weekend 2021."""
    if match["unit"] != "E":
        return None
    reading = holiday(match.of(**{code: match[code] for code in ("holiday", "year") if code in match}))
    weekends = [unit("E", span[0] - DAY) for span in reading[1].spans] if reading else []
    return fixed(*weekends, grain="H")


@meaning
def rest(match: Match) -> Reading | None:
    """Read the rest of the week: from today."""
    if match["unit"] == "D":
        return "moment", [(match.now, day(match.now)[1])]
    if match["unit"] not in "WMQYX":
        return None
    return fixed((day(match.now)[0], unit(match["unit"], match.now)[1]), grain="-")


@meaning
def decade(match: Match) -> Reading | None:
    """Read the 18th century, 九十年代, 19世纪70年代."""
    if "unit2" in match:
        return _decade_of_century(match)
    if match["unit"] == "Z" and match.is_unspaced and match.get("number", 0) > 9:
        return decade(match.of(unit="Z", ordinal=int(match["number"])))
    if match["unit"] == "Z" and match.get("ordinal", 0) > 0:
        return fixed((moment(100 * (match["ordinal"] - 1) or 1), moment(100 * match["ordinal"])), grain="X")
    if match["unit"] != "X" or "number" not in match or not match.is_unspaced:
        return None
    return _ten_years(int(match["number"]))


def _decade_of_century(match: Match) -> Reading | None:
    if (match["unit"], match["unit2"]) != ("Z", "X"):
        return None
    tens = int(match["number2"] if "number2" in match else match["number"])
    first = 100 * (match.now.year // 100 + match["which"]) if "which" in match else 100 * (int(match["number"]) - 1)
    return fixed((year(first + tens)[0], year(first + tens + 9)[1]), grain="X")


@meaning
def half_of(match: Match) -> Reading | None:
    """Read 上半月, 下半周."""
    name = match.get("unit", "M")
    if match["which"] not in (-1, 1) or name not in "WM" or match.language != "zh":
        return None
    first, end = unit(name, match.now)
    middle = first + DAY * (15 if name == "M" else 3.5)
    middle = day(middle)[0] + DAY * (name == "W" and match["which"] < 0)
    return fixed((first, middle) if match["which"] < 0 else (middle, end), grain="-")


@meaning
def numbered_quarter(match: Match) -> Reading | None:
    """Read 2016년 3사분기."""
    if match["unit"] != "Q" or ("year" not in match and match["number"] < 32):
        return None
    number, place = (match["year"], match["number"]) if "year" in match else (match["number"], match["number2"])
    return fixed(_quarter(int(number), int(place)), grain="Q") if 1 <= place <= 4 else None


@meaning
def years_of(match: Match) -> Reading | None:
    """Read los años 40, les années 90."""
    is_short = match["unit"] == "Y" and match.is_postfixing and 20 <= match["number"] < 100
    return _ten_years(int(match["number"])) if is_short else None


@meaning
def unit_year(match: Match) -> Reading | None:
    """Read el año 2020, la década de 1990."""
    if match["unit"] == "X":
        return _ten_years(match["year"])
    return dated(match["year"]) if match["unit"] == "Y" else None


def _ten_years(number: int) -> Reading | None:
    number += 1900 if number < 100 else 0
    is_decade = number % 10 == 0 and number > 1600
    return fixed((year(number)[0], year(number + 9)[1]), grain="X") if is_decade else None


@meaning
def signed_range(match: Match) -> Reading | None:
    """Read 7月12-14日."""
    values = [match[name] for name in ("number", "number2", "number3") if name in match]
    number, low, high = values if "month" not in match else (match["month"], *values)
    if low >= high:
        return None
    first, last = (meanings(Written(None, int(number), int(each)), match.now) for each in (low, high))
    return fixed(*((one[0], two[1]) for one, two in zip(first, last, strict=True)), grain="-")


@meaning
def era(match: Match) -> Reading | None:
    """Read 平成30年5月3日, 康熙元年."""
    parts = [1, *_numbers(match)] if match.order[1] == "year_sign" else _numbers(match)
    number, month_number, day_number = [*parts, None, None][:3]
    return dated(match["era"] + (number or 1), month_number, day_number)


@meaning
def holiday(match: Match) -> Reading | None:
    """Read christmas, Easter 2016, last Halloween, 明年春节."""
    name, now = match["holiday"], match.now
    if match.language == "zh" and (match.get("number", 99) < 10 or match.order == ("holiday", "which")):
        return None  # 中秋一起吃饭, 春节前
    if years := _holiday_years(match):
        return fixed(*(day(when) for number in years for when in days_of_holiday(name, number)), grain="D")
    near = [day(when) for step in (-2, -1, 0, 1, 2) for when in days_of_holiday(name, now.year + step)]
    today = day(now)[0]
    past, ahead = [span for span in near if span[0] < today], [span for span in near if span[0] >= today]
    steps = match.get("which")
    if steps:
        return fixed(past[-1] if steps < 0 else ahead[0], grain="D")
    if steps == 0:
        return fixed(ahead[0], grain="D")
    return fixed(*ahead[:1], *past[-1:], grain="H")


def _holiday_years(match: Match) -> list[int]:
    if "year" in match or "number" in match or "calendar_year" in match:
        if "calendar_year" in match:
            return [match.now.year + match["calendar_year"]]
        return [written_year(match) or 0]
    return [match.now.year + match["which"]] if match.get("unit") == "Y" and "which" in match else []


@meaning
def lunar_date(match: Match) -> Reading | None:
    """Read 农历八月十五: a day of the Chinese calendar."""
    number, place = int(match["number"]), int(match["number2"])
    days = (lunar_day(match.now.year + step, number, place) for step in (-2, -1, 0, 1, 2))
    near = around([day(when) for when in days if when], match.now)
    return fixed(*near, grain="L")


@meaning
def lunar_month_day(match: Match) -> Reading | None:
    """Read 正月初三, 腊月二十八."""
    return lunar_date(match.plus(number=match["lunar_month"], number2=match["number"]))


@meaning
def day_in_which(match: Match) -> Reading | None:
    """Read the 15th of next month, 上个月15号."""
    if match.get("unit", "M") != "M" or match.first("nth", "number") > 31:
        return None
    if match.language == "ko" and "day_sign" not in match:
        return None  # 다음 달 2시간
    if match.order == ("number", "unit", "which") and not match.is_postfixing:
        return None
    first = unit("M", match.now, match["which"])[0]
    return dated(first.year, first.month, match.get("nth", match.get("number")))


@meaning
def which_month_sign(match: Match) -> Reading | None:
    """Read 下月."""
    return fixed(unit("M", match.now, match["which"]), grain="M")


@meaning
def edge(match: Match) -> Reading | None:
    """Read 月底, 下月初, 年底."""
    name = match["edge"].split()[0]
    of_year = year(match.now.year + match["calendar_year"]) if "calendar_year" in match else None
    return _third(of_year or unit(name, match.now, match.get("which", 0)), "G", match["edge"].split()[1])


def _third(whole: Span, grain: str, third: str) -> Reading:
    return "date", Written(spans=(whole,), grain=grain, third=third)


@meaning
def calendar_year(match: Match) -> Reading | None:
    """Read 去年, 明年五月, 明年5月3日."""
    return dated(match.now.year + match["calendar_year"], match.get("number"), match.get("number2"))


@meaning
def signed_date(match: Match) -> Reading | None:
    """Read 2016年5月3日, 16年5月, 5月3号周五."""
    values, signs = _numbers(match), [code for code in match.order if code.endswith("_sign")]
    parts: dict[str, Any] = {}
    if "month" in match:
        parts["month"] = match["month"]
    if "year" in match:
        parts["year"], signs = match["year"], [sign for sign in signs if sign != "year_sign"]
    parts.update({sign.removesuffix("_sign"): value for sign, value in zip(signs, values, strict=False)})
    if list(parts) == ["year"] and MONTH_AFTER.match(match.after):
        return None  # 2015년 32월
    if "year" in parts and parts["year"] < 100:
        if len(parts) == 1 and parts["year"] <= 31:
            return None  # 三年
        parts["year"] = written_year(match.of(number=parts["year"]))
    return dated(**parts, weekday=match.get("weekday"))


def _numbers(match: Match) -> list[float]:
    return [match[name] for name in ("number", "number2", "number3") if name in match]


@meaning
def the_weekend(match: Match) -> Reading | None:
    """Read the weekend: this one, or the one before."""
    if match.is_unspaced and _WISHED.search(match.before):
        return None  # 좋은 주말 보내세요
    if match["unit"] != "E" or not (_THE.search(match.before) or match.is_unspaced):
        return None
    return fixed(unit("E", match.now), unit("E", match.now, -1), grain="the E")


@meaning
def third_unit(match: Match) -> Reading | None:
    """Read the end of the month, the beginning of the year."""
    if match["unit"] not in "WMY" or match.is_unspaced:
        return None
    return _third(unit(match["unit"], match.now), "this", match["third"])


@meaning
def third_which(match: Match) -> Reading | None:
    """Read comienzos de la semana próxima."""
    if not match.is_postfixing or match["unit"] not in "WMY":
        return None
    return fixed(unit(match["unit"], match.now, match["which"]), grain="G")


@meaning
def third_of(match: Match) -> Reading | None:
    """Read early May, the end of next week: the whole of it, which holds the part that is meant."""
    date, third, today = match["date"], match["third"], day(match.now)[0]
    if third in ("earlier", "later"):  # in what goes on: up to today, or from today on
        first, end = date.spans[0] if date.spans else (today, today)
        if not first <= today < end:
            return None
        return fixed((first, min(today + DAY, end)) if third == "earlier" else (today, end), grain="G")
    return "date", date._replace(grain="end" if third == "end" else "G", third=third)


@meaning
def week_of(match: Match) -> Reading | None:
    """Read the week of April 10th, 18日の週, 再来週の週末."""
    date = match["date"]
    if match.order[0] == "date" and not match.is_unspaced:
        return None
    if match["unit"] == "E" and date.grain == "W":
        return fixed(*(unit("E", span[0]) for span in date.spans), grain="D")
    if match["unit"] != "W" or not (date.day or date.grain == "D"):
        return None
    return fixed(*(week(span[0]) for span in meanings(date, match.now)), grain="W")
