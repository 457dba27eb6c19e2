"""Chinese time expressions: the patterns, and the days that they mean.  docs/time.md states the rules.

Texts come simplified.  Chinese writes no spaces, so what only looks like a time is excluded by its neighbours:
然后天黑, 5号楼, 每周五.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Final

from processors.dates import arithmetic, tense
from processors.dates.arithmetic import Days, Unit
from processors.dates.grammar import Grammar, Rule, Said

_DAYS: Final = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_YEARS: Final = {"大前": -3, "前": -2, "去": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_WHICH: Final = {"大上": -2, "上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_DIGITS: Final = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS: Final[dict[str, Unit]] = {
    "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year",
}  # fmt: skip
_SEASONS: Final = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_HOLIDAYS: Final = {
    "元旦": (1, 1), "情人节": (2, 14), "妇女节": (3, 8), "劳动节": (5, 1), "五一": (5, 1), "儿童节": (6, 1),
    "六一": (6, 1), "教师节": (9, 10), "国庆": (10, 1), "十一": (10, 1), "万圣节": (10, 31), "双十一": (11, 11),
    "平安夜": (12, 24), "圣诞": (12, 25),
}  # fmt: skip

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
_Y: Final = (
    r"(?:(?P<year>(?<!\d)(?:19|20)\d\d|[一二][零〇一二三四五六七八九]{3}) ?年"
    "|(?P<which>大前|(?<![以之])前|(?<!过)去|今|明|大后|(?<![以之])后)年)"
)
_HOLIDAY: Final = f"(?P<holiday>{'|'.join(sorted(_HOLIDAYS, key=len, reverse=True))})节?"
_NO_NUMBER: Final = "(?![楼线门院店厅房机桌选手码球室车路馆台位床教铺])"


def _number(text: str) -> int:
    """Return a numeral below 1000 in digits or below 100 in characters: 二十三, 十, 两."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (10 * _DIGITS.get(tens, 1) if ten else 0) + (_DIGITS[ones] if ones else 0)


def _year_of(match: re.Match[str], said: Said) -> int:
    if written := match["year"]:
        return int(written) if written.isdecimal() else int("".join(str(_DIGITS[one]) for one in written))
    return said.day.year + _YEARS[match["which"]]


def _weekday_number(match: re.Match[str]) -> int:
    return "一二三四五六日".index(match["weekday"].replace("天", "日"))


def _day(match: re.Match[str], said: Said) -> Days:
    return arithmetic.day(said.day, _DAYS[match["which"]])


def _week(match: re.Match[str], said: Said) -> Days:
    return arithmetic.week(said.day, _WHICH[match["which"]])


def _weekend(match: re.Match[str], said: Said) -> Days:
    return arithmetic.weekend(said.day, _WHICH[match["which"]])


def _weekday(match: re.Match[str], said: Said) -> Days:
    return arithmetic.weekday_of(said.day, _weekday_number(match), _WHICH[match["which"]])


def _plain_weekday(match: re.Match[str], said: Said) -> Days:
    return _this_or_near(arithmetic.weekday_of, said, _weekday_number(match))


def _plain_weekend(match: re.Match[str], said: Said) -> Days | None:
    """Return the weekend if the tense tells which; without one, people mostly talk of weekends in general."""
    return None if said.tense() == "unclear" else _this_or_near(arithmetic.weekend, said)


def _this_or_near(find: Callable[..., Days], said: Said, *which: int) -> Days:
    """Return the one of this week; of the last or the next when the tense says that this week's cannot be meant."""
    this, tense = find(said.day, *which, 0), said.tense()
    if tense == "past" and this.first > said.day:
        return find(said.day, *which, -1)
    return find(said.day, *which, 1) if tense == "future" and this.last < said.day else this


def _month(match: re.Match[str], said: Said) -> Days | None:
    found = arithmetic.month(said.day, _WHICH[match["which"]])
    if not match["day"]:
        return found
    return arithmetic.in_year(found.first.year, found.first.month, _number(match["day"]))


def _year(match: re.Match[str], said: Said) -> Days:
    return arithmetic.year(_year_of(match, said))


def _day_of_year(match: re.Match[str], said: Said) -> Days | None:
    return arithmetic.in_year(_year_of(match, said), _number(match["month"]), _number(match["day"]))


def _month_of_year(match: re.Match[str], said: Said) -> Days | None:
    return arithmetic.in_year(_year_of(match, said), _number(match["month"]), None)


def _dated(match: re.Match[str], said: Said) -> Days | None:
    near = arithmetic.yearly(said.day, _number(match["month"]), _number(match["day"]))
    return arithmetic.chosen(near, said.day, said.tense())


def _dated_month(match: re.Match[str], said: Said) -> Days | None:
    return arithmetic.chosen(arithmetic.yearly(said.day, _number(match["month"]), None), said.day, said.tense())


def _day_of_month(match: re.Match[str], said: Said) -> Days | None:
    return arithmetic.chosen(arithmetic.monthly(said.day, _number(match["day"])), said.day, said.tense())


def _season_of_year(match: re.Match[str], said: Said) -> Days:
    return arithmetic.season(_SEASONS[match["season"]], _year_of(match, said))


def _season(match: re.Match[str], said: Said) -> Days | None:
    found = arithmetic.seasons(_SEASONS[match["season"]], said.day)
    return arithmetic.beside(found, _WHICH[match["which"].removesuffix("个")], said.day)


def _half_of_year(match: re.Match[str], said: Said) -> Days:
    return arithmetic.months(_year_of(match, said), 1 if match["half"] == "上" else 7, 6)


def _holiday_of_year(match: re.Match[str], said: Said) -> Days | None:
    return arithmetic.in_year(_year_of(match, said), *_HOLIDAYS[match["holiday"]])


def _holiday(match: re.Match[str], said: Said) -> Days | None:
    """Return the day of a holiday if the tense tells which; people talk of holidays in general as well."""
    if (tense := said.tense()) == "unclear":
        return None
    return arithmetic.chosen(arithmetic.yearly(said.day, *_HOLIDAYS[match["holiday"]]), said.day, tense)


def _ago(match: re.Match[str], said: Said) -> Days:
    return _counted(match, said, -1)


def _ahead(match: re.Match[str], said: Said) -> Days | None:
    """Return when 三天后 is; in a sentence of the past it counts from what is told, not from now."""
    return None if said.tense() == "past" else _counted(match, said, 1)


def _counted(match: re.Match[str], said: Said, way: int) -> Days:
    """Return the unit that many back or ahead: half a year is six months, half a month two weeks."""
    unit, number = _UNITS[match["unit"]], match["number"]
    count = 0 if number == "半" else _number(number)
    if number == "半" or match["half"] or match["more"]:
        if unit not in ("month", "year"):
            raise ValueError(f"half a {unit} is no unit")
        smaller: tuple[Unit, int] = ("month", 12 * count + 6) if unit == "year" else ("week", 4 * count + 2)
        return arithmetic.unit(smaller[0], said.day, way * smaller[1])
    return arithmetic.unit(unit, said.day, way * count)


def _then(match: re.Match[str], said: Said) -> Days | None:
    """Return the season or the month of a year so far back: 三年前的夏天."""
    number = said.day.year - _number(match["number"])
    if match["season"]:
        return arithmetic.season(_SEASONS[match["season"]], number)
    return arithmetic.in_year(number, _number(match["month"]), None)


def _until_now(match: re.Match[str], said: Said) -> Days:
    return arithmetic.until(said.day, _UNITS[match["unit"].removeprefix("个")], _number(match["number"]))


def _decade(match: re.Match[str], said: Said) -> Days:
    written = match["year"]
    return arithmetic.decade_written(int(written) if written.isdecimal() else 10 * _DIGITS[written[0]])


def _numeric(match: re.Match[str], said: Said) -> Days:
    return arithmetic.day(date(int(match["year"]), int(match["month"]), int(match["day"])))


_RULES: Final[list[Rule]] = [
    # counted from now
    (rf"{_N}年(?:以|之)?前的?(?:(?P<season>[春夏秋冬])[天季]|{_M}份?)", _then),
    (rf"(?:过去|最近|近)的?{_N}(?P<unit>天|个?(?:周|星期|礼拜)|个月|年)", _until_now),
    (rf"{_HALVES}(?:以|之)?前(?![面后方台往])", _ago),
    (rf"{_HALVES}(?:以|之)?后(?![面方台])", _ahead),
    # days, weekdays, weekends, weeks
    (rf"(?P<which>昨|(?<!前的)今|明|大前|(?<![以之目眼面日大])前|大后|(?<![然以今之最大])后)[天日]"
     rf"(?<!前天(?=[气黑亮空]))(?<!后天(?=[气黑亮空])){_PART}", _day),
    (r"(?P<which>[昨今明])(?:[晚夜早晨]上?|儿个?)", _day),
    ("(?P<which>前)晚", _day),
    (rf"{_WHICH_ONE}(?:周|星期|礼拜)末", _weekend),
    (rf"{_WHICH_ONE}{_WEEK}的?{_WEEKDAY}{_PART}", _weekday),
    (rf"{_WHICH_ONE}(?:周(?![围边到期年转折岁遭密])|星期|礼拜)", _week),
    (r"(?<![每个隔逢])周末", _plain_weekend),
    (rf"(?<![每个隔逢到至和、]){_WEEK}{_WEEKDAY}(?![到至和、]){_PART}", _plain_weekday),
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
    (rf"(?<![\d第几个半年]){_M}{_D}[号日]{_PART}", _dated),
    (rf"(?<![\d第几个半年一二三四五六七八九十]){_M}(?![天亮光球饼经子薪租供卡票嫂]){_THIRD}", _dated_month),
    (rf"(?<![\dA-Za-z.月第几一二三四五六七八九十]){_D}号{_NO_NUMBER}{_PART}", _day_of_month),
    (r"(?P<which>这个?|上个?|下个?)(?P<season>[春夏秋冬])[天季]", _season),
    (_HOLIDAY, _holiday),
    (r"(?<![\d/.-])(?P<year>\d{4})[-/.](?P<month>\d\d?)[-/.](?P<day>\d\d?)(?![\d/-])", _numeric),
]  # fmt: skip
_TRIGGER: Final = r"[天日儿晚早夜晨周期拜月年号节旦庆诞季末]|五一|六一|双十一|\d{4}[-/.]\d"

GRAMMAR: Final = Grammar(_TRIGGER, _RULES, tense.CHINESE)
