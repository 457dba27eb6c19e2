"""Vague times: a few days ago, 过几天, recently.  They mean a run of days, with a confidence below 1.

    a few days ago, 前几天, in several weeks      two to six of the unit, .6
    recently, lately, 最近; soon, 过阵子           the last or the next fortnight, .3

English and Chinese have patterns; in other languages "a few" counts as three (data/words.tsv).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

from processors.dates.spans import DAY, Span, day, unit
from processors.text import tables

_LEAST: Final = 2  # what "a few" may be
_MOST: Final = 6
_FORTNIGHT: Final = 14
_MAYBE: Final = 0.6
_HARDLY: Final = 0.3
_FEW: Final = tables.lazy(
    r"""
      \b(?:a\ few|several|some)\ (?P<unit>day|week|month|year)s?\ (?P<way>ago|back|earlier)\b
    | \bin\ (?:a\ few|several)\ (?P<ahead>day|week|month|year)s?\b
    | \b(?P<recent>recently|lately|these\ days|the\ other\ day)\b
    | \b(?P<soon>sometime\ soon|one\ of\ these\ days)\b
    | (?P<han_back>前几|几|好几|若干)(?P<han_unit>天|周|个?星期|个?礼拜|个?月|年)(?P<han_ago>(?:以|之)?前)?(?!后)
    | (?:过|再过)几(?P<han_ahead>天|周|个?星期|个?礼拜|个?月|年)
    | (?P<han_recent>最近|近来|这几天|这阵子|前阵子|前些天|前些日子)
    | (?P<han_soon>过阵子|过些天|过段时间|改天)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NEAR: Final = 24  # characters before "in a few days" that may deny it
_NEGATED: Final = tables.lazy(r"n't|\bnot\b|\bnever\b", re.IGNORECASE)
_TRIGGER: Final = tables.lazy(
    r"few|several|some|recently|lately|these|other day|几|最近|近来|这阵|前阵|前些|过些|过段|过阵|改天|若干"
)
_UNITS: Final = {
    "day": "D", "week": "W", "month": "M", "year": "Y",
    "天": "D", "周": "W", "星期": "W", "礼拜": "W", "月": "M", "年": "Y",
}  # fmt: skip


class Vague(NamedTuple):
    """A vague time at start to end of a text, and how surely it is meant."""

    start: int
    end: int
    span: Span
    confidence: float


def vague_times(text: str, now: datetime) -> Iterator[Vague]:
    """Yield the vague times of a text, in order."""
    if _TRIGGER.search(text.lower()):
        for match in _FEW.finditer(text):
            if match["ahead"] and _NEGATED.search(text, max(0, match.start() - _NEAR), match.start()):
                continue  # "we haven't talked in a few days" is a length
            if span := _span(match, now):
                sure = (
                    _HARDLY if match["recent"] or match["soon"] or match["han_recent"] or match["han_soon"] else _MAYBE
                )
                yield Vague(*match.span(), span, sure)


def _span(match: re.Match[str], now: datetime) -> Span | None:
    back, ahead = match["unit"] or match["han_unit"], match["ahead"] or match["han_ahead"]
    if match["recent"] or match["han_recent"]:
        return day(now, -_FORTNIGHT)[0], day(now)[1]
    if match["soon"] or match["han_soon"]:
        return day(now)[1], day(now)[1] + DAY * _FORTNIGHT
    if ahead:
        name = _UNITS[ahead.lower().removeprefix("个")]
        return unit(name, now, _LEAST)[0], unit(name, now, _MOST)[1]
    if match["han_unit"] and not match["han_ago"] and match["han_back"] != "前几":
        return None
    name = _UNITS[back.lower().removeprefix("个")]
    return unit(name, now, -_MOST)[0], unit(name, now, -_LEAST)[1]
