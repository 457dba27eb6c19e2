"""Times that are written in digits, and numerals of Chinese, Japanese and Korean: what they can mean, as codes.

    2023-05-08, 8.5.2023, 5/8   literal    15:30, 3 pm, 9h30   clock    3rd, 3º   ordinal    1990s   date
    2019                        year, number      12   number               二十三, 이십삼   number

A day and a month that could be either are read as the language has them: 5/8 is in May in English, August in Spanish.
"""

from __future__ import annotations

import re
from typing import Final

from processors.dates.spans import MINUTE, Written, moment, year
from processors.dates.vocabulary import UNSPACED, Codes
from processors.text import tables

_MONTH_FIRST: Final = frozenset({"en", "zh", "ja", "ko"})
_YEAR_FIRST: Final = frozenset({"zh", "ja"})
LITERAL: Final = re.compile(
    r"""(?<![\w.£$€])(?:
    (?P<iso>(?!(?<=\w-)\d{4}-\d-)(?P<year>\d{4})[-/.](?P<month>\d\d?)(?:[-/.](?P<day>\d\d?))?(?![\d/]|-\d)
      (?:T(?P<iso_hour>\d\d):(?P<iso_minute>\d\d)(?::\d\d)?)?)
  | (?P<compact>(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\w))
  | (?P<full>(?!(?<=\d-)\d\d?-)(?P<one>\d\d?)(?P<joint>[-/.])(?P<two>\d\d?)(?P=joint)(?P<full_year>\d{4}|\d\d)(?!\d))
  | (?P<clock>(?P<hour>[01]?\d|2[0-4])
      (?:[:：](?P<minute>[0-5]\d)(?:[:：][0-5]\d)?|h(?P<minute_h>[0-5]\d)?(?![a-zA-Z])
        |\.(?P<minute_dot>[0-5]\d)(?=\s?(?:uhr|[ap]\.?m\b|h\b))
        |(?:(?<=\b(?:at|um)\s\d)|(?<=\b(?:at|um)\s\d\d)|(?<=\blas\s\d)|(?<=\blas\s\d\d))
        \.(?P<minute_at>[0-5]\d)(?![.\d]))
      (?:\s?(?P<clock_half>[ap])\.?\s?m\b\.?)?)
  | (?P<half_clock>(?P<half_hour>1[0-2]|0?[1-9])\s?(?P<half>[ap])\.?\s?m\b\.?)
  | (?P<short>(?P<short_one>\d\d?)/(?P<short_two>\d\d?)(?![\d/]))
  | (?P<dotted>(?P<dotted_day>[0-3]?\d)\.(?P<dotted_month>[01]?\d)\.(?![\d]))
  | (?P<open_date>(?<=\b(?:am|im)\s)(?:0?[1-9]|[12]\d|3[01])\.(?:0[1-9]|1[0-2])(?![.\d]))
  | (?P<month_year>(?!(?<=\d-)\d\d?-)(?P<of_month>1[0-2]|0?[1-9])\s{0,2}[-/]\s?(?P<of_year>(?:19|20)\d\d)(?!\d|-\d))
  | (?P<year_month>(?P<in_year>(?:19|20)\d\d)\s[-/]\s(?P<in_month>\d\d?)(?!\d))
  | (?P<spaced_iso>(?:19|20)\d\d\s(?:0?[1-9]|1[0-2])\s(?:0?[1-9]|[12]\d|3[01])(?!\s?[\d:]))
  | (?P<spaced>(?P<day_one>\d\d?)\s(?P<day_two>\d\d?)\s(?P<spaced_year>(?:19|20)\d\d)(?!\d))
  | (?P<ordinal>(?P<place>\d{1,3})
      (?:\s?(?:st|nd|rd|th|er|ère|e|ème|\.?[º°ª])(?!\w)|(?:ro|do|to|ra)(?!\w)|\.(?=\s?[A-Za-zÄÖÜäöü])))
  | '?(?P<decade>(?P<decade_year>(?:1[89]|20)\d0|[2-9]0)\s?'?s)\b
  | (?P<plain_year>(?:1[89]|20)\d\d)(?![\d%:]|[.,]\d)
  | (?P<fraction>[1-3]⁄[2-4](?!\d))
  | (?P<number>\d+(?:[.,]\d+)?)(?!\d|\s?%)
)""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_HAN: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_HAN_TENS: Final = {"十": 10, "百": 100, "千": 1000}
_SINO: Final = {sign: value for value, sign in enumerate("일이삼사오육칠팔구", 1)} | {"유": 6, "시": 10}
_SINO_TENS: Final = {"십": 10, "백": 100, "천": 1000, "시": 10}
HAN: Final = tables.lazy("[零〇一二两三四五六七八九十百千廿卅]+")
SINO: Final = tables.lazy(
    r"이(?= 달)|[이삼사오육칠팔구십백천일]+(?=\s?(?:년|월|일|분|개월|주|초|세기|분기))|유(?=월)|시(?=월)"
)


def numeral(text: str) -> int:
    """Read a numeral in digits or in Chinese characters: 二十三, 廿三, 十, 两, 二〇一九."""
    if text.isdecimal():
        return int(text)
    text = text.replace("廿", "二十").replace("卅", "三十")
    if not any(sign in _HAN_TENS for sign in text):
        return int("".join(str(_HAN[sign]) for sign in text))
    return _summed(text, _HAN, _HAN_TENS)


def sino_korean(text: str) -> int:
    """Read a Sino-Korean numeral: 이십삼."""
    return _summed(text, _SINO, _SINO_TENS)


def _summed(text: str, ones: dict[str, int], tens: dict[str, int]) -> int:
    total = last = 0
    for sign in text:
        if sign in tens:
            total, last = total + (last or 1) * tens[sign], 0
        else:
            last = ones[sign]
    return total + last


def codes_of(match: re.Match[str], language: str) -> Codes:
    """Return the codes of what LITERAL matched, none where it is no date."""
    for kind, read in _READERS.items():
        if match[kind]:
            return read(match, language)
    return {"number": float(match["number"].replace(",", "."))}


def _dated(year: int | None, month: int, day: int | None) -> Codes:
    is_date = 0 < month < 13 and (day is None or 0 < day < 32)
    return {"literal": Written(year, month, day)} if is_date else {}


def _ordered(one: int, two: int, language: str) -> tuple[int, int]:
    """Return month and day of two numbers in the order of the language, the other way round if it must be."""
    return (one, two) if (language in _MONTH_FIRST and one < 13) or two > 12 else (two, one)


def _iso(match: re.Match[str], language: str) -> Codes:
    numbers = int(match["year"]), int(match["month"]), int(match["day"]) if match["day"] else None
    if match["iso_hour"] and numbers[2]:
        since = moment(numbers[0], numbers[1], numbers[2], int(match["iso_hour"]) % 24, int(match["iso_minute"]))
        return {"moment": [(since, since + MINUTE)]}
    return _dated(*numbers)


def _full(match: re.Match[str], language: str) -> Codes:
    written = match["full"]
    if "." in written and language not in ("de", "fr", "es") and len(match["full_year"]) < 4:
        return {}  # the number of a version
    number = int(match["full_year"])
    if language in UNSPACED and number < 100 and len(match["one"]) == 2:  # 16-05-30: the year goes first
        year_first = _dated(_full_year(int(match["one"])), int(match["two"]), number)
        if year_first:
            return year_first
    month_first = "en" if language in _MONTH_FIRST - _YEAR_FIRST else "de"  # 3/7/2017 is 2017/7/3 backwards
    return _dated(_full_year(number), *_ordered(int(match["one"]), int(match["two"]), month_first))


def _full_year(number: int) -> int:
    return number + (0 if number > 99 else 2000 if number < 50 else 1900)


def _clock(match: re.Match[str], language: str) -> Codes:
    if language == "en" and re.fullmatch(r"\d+h", match["clock"] or "", re.IGNORECASE):
        return {"length": [(int(match["hour"]), "h")]}
    hour = int(match["hour"] or match["half_hour"])
    minute = int(match["minute"] or match["minute_h"] or match["minute_dot"] or match["minute_at"] or 0)
    half = (match["clock_half"] or match["half"] or "").lower()
    hour = hour % 12 + 12 * (half == "p") if half else hour
    unsure = not half and hour < 13 and len(match["hour"] or "") < 2
    return {"clock": (60 * hour + minute, unsure)}


def _short(match: re.Match[str], language: str) -> Codes:
    if match["short"] == "24/7":
        return {}
    return _dated(None, *_ordered(int(match["short_one"]), int(match["short_two"]), language))


def _compact(match: re.Match[str], language: str) -> Codes:
    written = match["compact"]
    return _dated(int(written[:4]), int(written[4:6]), int(written[6:]))


def _spaced_iso(match: re.Match[str], language: str) -> Codes:
    number, month, day = map(int, match["spaced_iso"].split())
    return _dated(number, month, day)


def _open_date(match: re.Match[str], language: str) -> Codes:
    day, month = match["open_date"].split(".")
    return _dated(None, int(month), int(day)) if language == "de" else {}


def _dotted(match: re.Match[str], language: str) -> Codes:
    return _dated(None, int(match["dotted_month"]), int(match["dotted_day"]))


def _month_year(match: re.Match[str], language: str) -> Codes:
    return _dated(int(match["of_year"]), int(match["of_month"]), None)


def _year_month(match: re.Match[str], language: str) -> Codes:
    return _dated(int(match["in_year"]), int(match["in_month"]), None)


def _spaced(match: re.Match[str], language: str) -> Codes:
    return _dated(int(match["spaced_year"]), *_ordered(int(match["day_one"]), int(match["day_two"]), language))


def _ordinal(match: re.Match[str], language: str) -> Codes:
    return {"ordinal": int(match["place"]), "nth": int(match["place"])}


def _decade(match: re.Match[str], language: str) -> Codes:
    first = int(match["decade_year"])
    first += 0 if first > 99 else 1900
    return {"date": Written(spans=((year(first)[0], year(first + 9)[1]),), grain="X")}


def _fraction(match: re.Match[str], language: str) -> Codes:
    over, _, under = match["fraction"].partition("⁄")
    return {"number": int(over) / int(under)}


def _plain_year(match: re.Match[str], language: str) -> Codes:
    return {"number": float(match["plain_year"]), "year": int(match["plain_year"])}


_READERS: Final = {
    "iso": _iso, "compact": _compact, "full": _full, "spaced_iso": _spaced_iso, "open_date": _open_date,
    "clock": _clock, "half_clock": _clock, "short": _short, "dotted": _dotted,
    "month_year": _month_year, "year_month": _year_month, "spaced": _spaced,
    "ordinal": _ordinal, "decade": _decade, "plain_year": _plain_year,
    "fraction": _fraction,
}  # fmt: skip


def numeral_at(text: str, at: int, language: str) -> tuple[int, Codes] | None:
    """Read a numeral in characters at a place: where it ends, and its codes."""
    if language == "ko":
        match = SINO.match(text, at)
        return (match.end(), {"number": float(sino_korean(match.group()))}) if match else None
    match = HAN.match(text, at)
    if match is None or (not set(match.group()) - set(_HAN_TENS) and match.group() != "十"):
        return None
    value = numeral(match.group())
    return match.end(), {"number": float(value), **({"year": value} if 1900 <= value < 2100 else {})}
