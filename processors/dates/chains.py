"""Chains: expressions of time that count from the one before them in the same text, not from the day it was said.

    On 3 May we left.  Two weeks later …, the day after that …, the next morning …     3 May, 17 May, 18 May, 19 May
    5月3日我们出发，第二天…，又过了三天…，之后的第三天…                                  3, 4, 7, 10 May

An expression counts from the last one before it that means a day, a week, a month or a year: in its own sentence or in
one of the two before.  Nothing is noted where that leaves a doubt: where the step is finer than what it counts from
("in 2019 … two days later"), where it would pass the day said though what it counts from lies behind that ("last week
I asked; two weeks later" is no plan), and where a noun follows ("the day before the wedding").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final

from processors.dates import arithmetic
from processors.dates.arithmetic import Days, Unit
from processors.dates.digits import numeral
from processors.dates.vocabulary import words_of
from processors.text import tables

DatedSpan = tuple[int, int, Days]

SENTENCES: Final = 3  # that may lie between an expression and what it counts from, its own among them
MOST: Final = 60  # steps of one expression
SECOND: Final = 2  # 之后第二天 is the next day to some, the one after that to others
_NUMBERS: Final = {
    **{word: int(codes["number"]) for word, codes in words_of("en").items() if codes.get("number", 99) <= 12},
}
_COUNT: Final = rf"(?:\d{{1,2}}|{'|'.join(_NUMBERS)})"
_HAN_COUNT: Final = "(?:[0-9]{1,2}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
_END: Final = r"(?=\s*(?:$|[.,;:!?)]|(?:and|but)\b))"
_ENGLISH: Final = tables.lazy(
    rf"""
      \b(?:the\ )?(?:very\ )?(?P<next>next|following)\ day\b
    | \bthe\ (?:very\ )?(?:next|following)\ (?P<part>morning|afternoon|evening|night)\b
    | \bthe\ following\ (?P<following>week|weekend|month|year)\b
    | \bthe\ (?P<previous>previous)\ (?P<previous_unit>day|week|month|year)\b
    | \bthe\ (?P<beside>day|week|month|year)\ (?P<way>before|after)(?:\ that\b|{_END})
    | \b(?P<count>{_COUNT})\ (?P<unit>day|week|month|year)s?
      \ (?P<after>later|afterwards?|after\ that|before\ that|earlier\ than\ that)\b(?!\ than)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CHINESE: Final = tables.lazy(
    rf"""
      (?<![^\s，。；、！？,.;!?到在等])(?P<next>第二天|次日|翌日|隔天)(?![就]?[是要]第)
    | (?<![^\s，。；、！？,.;!?到在等])(?P<before>前一天|前一日|头一天)
    | (?:从?(?:那|此|这)(?:天|日|时)?)?(?:之后|以后|过后)的?第(?P<ordinal>{_HAN_COUNT})(?P<ordinal_unit>天)
    | (?:那|此)之?后(?:又?过了)?(?P<then>{_HAN_COUNT})(?P<then_unit>天|周|个?星期|个?礼拜|个月|年)
    | (?<![^\s，。；、！？,.;!?])(?P<later>{_HAN_COUNT})(?P<later_unit>天|周|个?星期|个?礼拜|个月|年)
      [之以]?后(?=[^，。！？,.!?]{{1,12}}了)
    | 又过了(?P<again>{_HAN_COUNT})(?P<again_unit>天|周|个?星期|个?礼拜|个月|年)
    | (?<![^\s，。；、！？,.;!?到在等])(?:次|第二|翌)(?P<second>年|个?月)(?![级以份])
    """,
    re.VERBOSE,
)
_TRIGGER: Final = tables.lazy(
    r"later|next|following|previous|before|after|earlier|第|次[日年月]|翌|隔天|[前头]一|后|又过了"
)
_BREAK: Final = tables.lazy(r"[.!?…。！？\n]")
_HAN_UNITS: Final[dict[str, Unit]] = {
    "天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"
}  # fmt: skip
_UNITS: Final[tuple[Unit, ...]] = ("day", "week", "month", "year")


def with_chains(text: str, reference: date, spans: Iterable[DatedSpan], *, english: bool) -> list[DatedSpan]:
    """Add to what grammars found in a clean, simplified text what counts from it, in order, none overlapping."""
    chained = list(spans)
    if not chained or not _TRIGGER.search(text[chained[0][1] :].lower()):
        return chained
    for match, steps, unit in sorted(_steps(text, english=english), key=lambda step: step[0].start()):
        start, end = match.span()
        before = [each for each in chained if each[1] <= start]
        if not before or any(first < end and start < last for first, last, _ in chained):
            continue
        anchor = before[-1]
        if len(_BREAK.split(text[anchor[1] : start])) > SENTENCES:
            continue
        is_whole = bool(match.groupdict().get("following") or match.groupdict().get("previous"))
        if days := _stepped(anchor[2], steps, unit, reference, is_whole=is_whole):
            chained = sorted([*chained, (start, end, days)])
    return chained


def _steps(text: str, *, english: bool) -> Iterator[tuple[re.Match[str], int, Unit]]:
    """Yield how far, and in what, each expression of a text steps on."""
    for match in _CHINESE.finditer(text):
        yield match, *_han_step(match)
    for match in _ENGLISH.finditer(text) if english else ():
        yield match, *_step(match)


def _step(match: re.Match[str]) -> tuple[int, Unit]:
    if match["next"] or match["part"]:
        return 1, "day"
    if match["following"] or match["previous"]:
        return 1 if match["following"] else -1, _unit(match["following"] or match["previous_unit"])
    if match["beside"]:
        return 1 if match["way"].lower() == "after" else -1, _unit(match["beside"])
    count = match["count"].lower()
    steps = int(count) if count.isdecimal() else _NUMBERS[count]
    back = match["after"].lower() in ("before that", "earlier than that")
    return -steps if back else steps, _unit(match["unit"])


def _han_step(match: re.Match[str]) -> tuple[int, Unit]:
    if match["next"]:
        return 1, "day"
    if match["before"]:
        return -1, "day"
    if match["second"]:
        return 1, _HAN_UNITS[match["second"].removeprefix("个")]
    name = next(name for name in ("ordinal", "then", "again", "later") if match[name])
    count = numeral(match[name])
    is_sure = name != "ordinal" or count > SECOND
    return count if is_sure else 0, _HAN_UNITS[match[f"{name}_unit"].removeprefix("个")]


def _unit(name: str) -> Unit:
    unit: Unit = name.lower()  # type: ignore[assignment]  # the patterns name no other
    return unit


def _stepped(anchor: Days, steps: int, unit: Unit, reference: date, *, is_whole: bool) -> Days | None:
    """Return the days that are `steps` units after `anchor`, None if the meaning is uncertain.

    is_whole  whether the unit itself is meant ("the following week"), and not a day in it ("a week later")
    """
    size = _size_of(anchor)
    coarse: Unit = "week" if unit == "weekend" else unit
    if size is None or not 0 < abs(steps) <= MOST or _UNITS.index(coarse) < _UNITS.index(size):
        return None
    if unit == "year" and size in ("day", "week") and abs((reference - anchor.first).days) < 366:
        return None  # "yesterday I read of Rome; ten years later it fell"
    days = _moved(anchor, steps, unit, size if not is_whole else unit)
    passes = anchor.first <= reference < days.first
    return None if passes else days


def _moved(anchor: Days, steps: int, unit: Unit, size: Unit) -> Days:
    if size == "day" and unit in ("day", "week"):  # a week later is a day, a month later a month
        return arithmetic.day(anchor.first, steps * (7 if unit == "week" else 1))
    return arithmetic.unit(unit, anchor.first, steps)


def _size_of(days: Days) -> Unit | None:
    """Return whether days are a day, a week, a month or a year; None for anything else."""
    sizes = [unit for unit in _UNITS if arithmetic.unit(unit, days.first, 0) == days]
    return sizes[0] if sizes else None
