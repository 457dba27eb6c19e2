"""Chinese time expressions: the patterns, and the days that they mean.  docs/time.md states the rules.

Texts come simplified.  Chinese writes no spaces, so what only looks like a time is excluded by its neighbours:
然后天黑, 5号楼, 每周五.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Final, cast

from processors.dates import arithmetic, tense
from processors.dates.arithmetic import Days, Unit
from processors.dates.grammar import DateContext, Grammar, Rule
from processors.dates.vocabulary import Vocabulary, either

_WORDS: Final = Vocabulary("chinese")
_DAYS: Final = _WORDS.numbers("day")
_YEARS: Final = _WORDS.numbers("year")
_WHICH: Final = _WORDS.numbers("which")
_WEEKDAYS: Final = _WORDS.numbers("weekday")
_DIGITS: Final = _WORDS.numbers("digit")
_UNITS: Final = cast(dict[str, Unit], _WORDS.names("unit"))
_SEASONS: Final = _WORDS.names("season")
_HOLIDAYS: Final = _WORDS.dates("holiday")

_TO_COME: Final = re.compile(either(_WORDS.names("to-come")))
_WEEK: Final = "(?:周|星期|礼拜)"
_WEEKDAY: Final = "(?P<weekday>[日天]|[一二三四五六](?![个次天场位件条只直起共样定些边切年月周]))"
_PART: Final = "(?:一大早|早上|早晨|清晨|凌晨|上午|中午|下午|傍晚|晚上|夜里|半夜|晚)?"
_NUMERAL: Final = r"(?:\d{1,3}|[一两二三四五六七八九]?十[一二三四五六七八九]?|[一两二三四五六七八九])"
_N: Final = rf"(?<![\d第几十百千万.]){_NUMERAL.replace('(?:', '(?P<number>', 1)}"
_HALVES: Final = (
    rf"(?<![\d第几十百千万.月])(?P<number>半|{_NUMERAL})个?(?P<half>半?)(?P<unit>天|周|星期|礼拜|年|(?<=[个半])月)"
    "(?P<more>(?<=年)半)?"
)
_WHICH_ONE: Final = "(?<![早晚马一楼身])(?P<which>[大上]上|下下|上|下|这|本)一?个?"
_M: Final = r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])月"
_D: Final = r"(?P<day>[12]\d|3[01]|0?[1-9]|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_THIRD: Final = "(?:份|初|底|末|上旬|中旬|下旬)?"
_TO: Final = " ?(?:到|至|-|–|—|~) ?"
_LAST_MONTH: Final = _M.replace("month", "last_month")
_LAST: Final = _D.replace("day", "last")
_BESIDE: Final = rf" ?[,(]? ?{_WEEK}(?P<weekday>[日天一二三四五六]) ?\)?"
_Y: Final = (
    r"(?:(?P<year>(?<!\d)(?:19|20)\d\d|[一二][零〇一二三四五六七八九]{3}) ?年"
    "|(?P<which>大前|(?<![以之])前|(?<!过)去|今|明|大后|(?<![以之])后)年)"
)
_HOLIDAY: Final = f"(?P<holiday>{either(_HOLIDAYS)})节?"
_NO_NUMBER: Final = "(?![楼线门院店厅房机桌选手码球室车路馆台位床教铺])"


def numeral(text: str) -> int:
    """Read a numeral below 1000 in digits or below 100 in characters: 二十三, 十, 两."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (10 * _DIGITS.get(tens, 1) if ten else 0) + (_DIGITS[ones] if ones else 0)


def _written(match: re.Match[str], group: str) -> int | None:
    """Read the numeral of a group, None where the rule has no such group or the text does not fill it."""
    written = match.groupdict().get(group)
    return numeral(written) if written else None


def _year_of(match: re.Match[str], context: DateContext) -> int:
    if written := match["year"]:
        return int(written) if written.isdecimal() else int("".join(str(_DIGITS[one]) for one in written))
    return context.day.year + _YEARS[match["which"]]


def _weekday_index(match: re.Match[str]) -> int:
    return _WEEKDAYS[match["weekday"]]


def _day(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.day(context.day, _DAYS[match["which"]])


def _week(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.week(context.day, _WHICH[match["which"]])


def _weekend(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.weekend(context.day, _WHICH[match["which"]])


def _weekday(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.weekday_of(context.day, _weekday_index(match), _WHICH[match["which"]])


def _plain_weekday(match: re.Match[str], context: DateContext) -> Days | None:
    return _this_or_near(arithmetic.weekday_of, context, _weekday_index(match))


def _plain_weekend(match: re.Match[str], context: DateContext) -> Days | None:
    """Take the weekend if the tense tells which; without one, people mostly talk of weekends in general."""
    return _this_or_near(arithmetic.weekend, context) if context.tense() in ("past", "future") else None


def _this_or_near(find: Callable[..., Days], context: DateContext, *which: int) -> Days | None:
    """Take the one of this week; of the last or the next when the tense says that this week's cannot be meant.

    Without a tense, one of this week counts if it is not over and something to come is told of it (周五见), for it may
    be of every week (周二闭馆).
    """
    this, tense = find(context.day, *which, 0), context.tense()
    if tense == "past" and this.first > context.day:
        return find(context.day, *which, -1)
    if tense in ("future", "present") and this.last < context.day:
        return find(context.day, *which, 1)
    if tense == "unclear" and (this.last < context.day or not _TO_COME.search(context.rest())):
        return None
    return None if tense == "habit" else this


def _weekdays(match: re.Match[str], context: DateContext) -> Days | None:
    """Take the days from one weekday to another; without a tense it is every week's."""
    if context.tense() not in ("past", "future") or (first := _plain_weekday(match, context)) is None:
        return None
    return arithmetic.through(first, [arithmetic.weekday_after(first.first, _WEEKDAYS[match["last"]])])


def _weekday_dated(match: re.Match[str], context: DateContext) -> Days | None:
    """Choose the date that falls on the weekday said, whatever the tense: few years have it."""
    day, month = numeral(match["day"]), _written(match, "month")
    near = arithmetic.yearly(context.day, month, day) if month else arithmetic.monthly(context.day, day)
    found = arithmetic.on_weekday(near, _weekday_index(match))
    return context.choose(found) or arithmetic.chosen(found, context.day, "unclear")


def _month(match: re.Match[str], context: DateContext) -> Days | None:
    found = arithmetic.month(context.day, _WHICH[match["which"]])
    if not match["day"]:
        return found
    return arithmetic.in_year(found.first.year, found.first.month, numeral(match["day"]))


def _year(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.year(_year_of(match, context))


def _day_of_year(match: re.Match[str], context: DateContext) -> Days | None:
    return arithmetic.in_year(_year_of(match, context), numeral(match["month"]), numeral(match["day"]))


def _month_of_year(match: re.Match[str], context: DateContext) -> Days | None:
    return arithmetic.in_year(_year_of(match, context), numeral(match["month"]), None)


def _dated(match: re.Match[str], context: DateContext) -> Days | None:
    return context.choose(arithmetic.yearly(context.day, numeral(match["month"]), numeral(match["day"])))


def _dated_month(match: re.Match[str], context: DateContext) -> Days | None:
    return context.choose(arithmetic.yearly(context.day, numeral(match["month"]), None))


def _day_of_month(match: re.Match[str], context: DateContext) -> Days | None:
    return context.of_a_month(numeral(match["day"]))


def _range(match: re.Match[str], context: DateContext) -> Days | None:
    """Take the days of 6月14号到18号, 6月28号到7月2号, 一月到三月: an end without a month has that of the beginning."""
    month, day = numeral(match["month"]), _written(match, "day")
    starts = arithmetic.yearly(context.day, month, day)
    if match["year"] or match["which"]:
        starts = [start for start in [arithmetic.in_year(_year_of(match, context), month, day)] if start]
    last_month, last = _written(match, "last_month") or month, _written(match, "last")
    if last_month == month and (last or 0) <= (day or 0):
        return None
    return context.choose(arithmetic.runs(starts, last_month, last))


def _range_of_month(match: re.Match[str], context: DateContext) -> Days | None:
    """Take the days of 15号到18号."""
    if (first := context.of_a_month(numeral(match["day"]))) is None:
        return None
    return arithmetic.through(first, arithmetic.monthly(first.first, numeral(match["last"])))


def _season_of_year(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.season(_SEASONS[match["season"]], _year_of(match, context))


def _season(match: re.Match[str], context: DateContext) -> Days | None:
    found = arithmetic.seasons(_SEASONS[match["season"]], context.day)
    return arithmetic.beside(found, _WHICH[match["which"].removesuffix("个")], context.day)


def _half_of_year(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.months(_year_of(match, context), 1 if match["half"] == "上" else 7, 6)


def _holiday_of_year(match: re.Match[str], context: DateContext) -> Days | None:
    return arithmetic.in_year(_year_of(match, context), *_HOLIDAYS[match["holiday"]])


def _holiday(match: re.Match[str], context: DateContext) -> Days | None:
    """Choose the day of a holiday if the tense tells which; people talk of holidays in general as well."""
    if context.tense() not in ("past", "future"):
        return None
    return context.choose(arithmetic.yearly(context.day, *_HOLIDAYS[match["holiday"]]))


def _ago(match: re.Match[str], context: DateContext) -> Days:
    return _counted(match, context, -1)


def _ahead(match: re.Match[str], context: DateContext) -> Days | None:
    """Count to when 三天后 is; in a sentence of the past it counts from what is told, not from now."""
    return None if context.tense() == "past" else _counted(match, context, 1)


def _counted(match: re.Match[str], context: DateContext, way: int) -> Days:
    """Count that many units back or ahead: half a year is six months, half a month two weeks."""
    unit, number = _UNITS[match["unit"]], match["number"]
    count = 0 if number == "半" else numeral(number)
    if number == "半" or match["half"] or match["more"]:
        if unit not in ("month", "year"):
            raise ValueError(f"half a {unit} is no unit")
        smaller: tuple[Unit, int] = ("month", 12 * count + 6) if unit == "year" else ("week", 4 * count + 2)
        return arithmetic.unit(smaller[0], context.day, way * smaller[1])
    return arithmetic.unit(unit, context.day, way * count)


def _then(match: re.Match[str], context: DateContext) -> Days | None:
    """Take the season or the month of a year so far back: 三年前的夏天."""
    number = context.day.year - numeral(match["number"])
    if match["season"]:
        return arithmetic.season(_SEASONS[match["season"]], number)
    return arithmetic.in_year(number, numeral(match["month"]), None)


def _until_now(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.until(context.day, _UNITS[match["unit"].removeprefix("个")], numeral(match["number"]))


def _decade(match: re.Match[str], context: DateContext) -> Days:
    written = match["year"]
    return arithmetic.decade_written(int(written) if written.isdecimal() else 10 * _DIGITS[written[0]])


def _numeric(match: re.Match[str], context: DateContext) -> Days:
    return arithmetic.day(date(int(match["year"]), int(match["month"]), int(match["day"])))


_RULES: Final[list[Rule]] = [
    # counted from now
    (rf"{_N}年(?:以|之)?前的?(?:(?P<season>[春夏秋冬])[天季]|{_M}份?)", _then),
    (rf"(?:过去|最近|近)的?{_N}(?P<unit>天|个?(?:周|星期|礼拜)|个月|年)", _until_now),
    (rf"{_HALVES}(?:以|之)?前(?![面后方台往])", _ago),
    (rf"{_HALVES}(?:以|之)?后(?![面方台])", _ahead),
    # days, weekdays, weekends, weeks
    (rf"(?P<which>昨|(?<!前的)今|明|大前|(?<![以之目眼面日大])前|大后|(?<![然以今之最大])后)[天日]"
     rf"(?<!前天(?=[气黑亮空]))(?<!后天(?=[气黑亮空性]|的?努力|因素|培养|教育)){_PART}", _day),
    (r"(?P<which>[昨今明])(?:[晚夜早晨]上?|儿个?)", _day),
    ("(?P<which>前)晚", _day),
    (rf"{_WHICH_ONE}(?:周|星期|礼拜)末", _weekend),
    (rf"{_WHICH_ONE}{_WEEK}的?{_WEEKDAY}{_PART}", _weekday),
    (rf"{_WHICH_ONE}(?:周(?![围边到期年转折岁遭密])|星期|礼拜)", _week),
    (r"(?<![每个隔逢])周末", _plain_weekend),
    (rf"(?<![每个隔逢和、“\"])(?<!今天)(?<!今天是)(?<!每到){_WEEK}{_WEEKDAY}(?![到至和、”\"]){_PART}", _plain_weekday),
    # ranges
    (rf"(?:{_Y}的?|(?<![\d第几个半年])){_M}{_D}[号日]?{_TO}(?:{_LAST_MONTH})?{_LAST}[号日]", _range),
    (rf"(?:{_Y}的?|(?<![\d第几个半年])){_M}份?{_TO}{_LAST_MONTH}份?(?!\d)", _range),
    (rf"(?<![\dA-Za-z.月第几一二三四五六七八九十]){_D}号?{_TO}{_LAST}号{_NO_NUMBER}", _range_of_month),
    (rf"(?<![每个隔逢到至和、]){_WEEK}{_WEEKDAY}{_TO}{_WEEK}?(?P<last>[日天一二三四五六])", _weekdays),
    # of a month said
    (rf"{_WHICH_ONE}月(?![球亮光饼台子])的?(?:{_D}[号日]|{_THIRD})", _month),
    # of a year said
    (rf"{_Y}的?{_M}{_D}[号日]{_PART}", _day_of_year),
    (rf"{_Y}的?{_M}{_THIRD}", _month_of_year),
    (rf"{_Y}的?(?P<season>[春夏秋冬])[天季]?", _season_of_year),
    (rf"{_Y}的?(?P<half>[上下])半年", _half_of_year),
    (rf"{_Y}的?{_HOLIDAY}", _holiday_of_year),
    (r"(?<!\d)(?P<year>(?:19|20)\d0|[3-9]0|[三四五六七八九]十)年代", _decade),
    (rf"{_Y}(?:年?[底末初中])?(?![级代])", _year),
    # of no year said
    (rf"(?<![\d第几个半年]){_M}{_D}[号日]{_BESIDE}{_PART}", _weekday_dated),
    (rf"(?<![\dA-Za-z.月第几一二三四五六七八九十]){_D}[号日]{_BESIDE}{_PART}", _weekday_dated),
    (rf"(?<![\d第几个半年]){_M}{_D}[号日]{_PART}", _dated),
    (rf"(?<![\d第几个半年一二三四五六七八九十]){_M}(?![天亮光球饼经子薪租供卡票嫂]){_THIRD}", _dated_month),
    (rf"(?<![\dA-Za-z.月第几一二三四五六七八九十]){_D}(?:号|日(?=上午|早上|中午|下午|晚)){_NO_NUMBER}{_PART}"
     , _day_of_month),
    (r"(?P<which>这个?|上个?|下个?)(?P<season>[春夏秋冬])[天季]", _season),
    (_HOLIDAY, _holiday),
    (r"(?<![\d/.-])(?P<year>\d{4})[-/.](?P<month>\d\d?)[-/.](?P<day>\d\d?)(?![\d/-])", _numeric),
]  # fmt: skip
_TRIGGER: Final = r"[天日儿晚早夜晨周期拜月年号节旦庆诞季末]|五一|六一|双十一|\d{4}[-/.]\d"

GRAMMAR: Final = Grammar(_TRIGGER, _RULES, tense.CHINESE)
