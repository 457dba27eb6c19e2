"""Read matches of rules for ranges: from one date to another, or open on one side.

5 to 9 August, from Friday to Sunday      a range         moved from Thursday to Monday    two days, no range
before May, since 2019, by Friday         a bound: the date, and whether it is meant from there on or up to there
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from processors.dates.match import MONTH_AFTER, Match, Reading, dated, day_number, fixed, is_moved, meaning
from processors.dates.spans import DAY, MINUTE, Span, Written, day, meanings, moment, month, unit
from processors.text import tables

_ON: Final = tables.lazy(r"\s*(?:on(?:ward)?s?\b(?!\s*(?:the|a|my|top)\b)|an\b(?= |[.,!?]|$)|en adelante|开始|起)")
_THE_DAY: Final = tables.lazy(r"\bday $")  # the day after Christmas
_FROM_NOW_ON: Final = tables.lazy("以[前后]|[前后]")
_IN_A_NUMBER: Final = tables.lazy(r"\d-$")  # +86 138-2010-2015


@meaning
def year_range(match: Match) -> Reading | None:
    """Read from 2016 to 2019."""
    first, last = match["year"], match["year2"]
    goes_on = MONTH_AFTER.match(match.after) or _IN_A_NUMBER.search(match.before)
    if first >= last or goes_on or (match.get("to") == 1 and "from" not in match):
        return None
    return date_range(match.plus(date=Written(first), date2=Written(last)))


@meaning
def from_on(match: Match) -> Reading | None:
    """Read from Monday on, von Montag an, 从周一开始: a day from which on something is so."""
    return _bound(match, "since") if _ON.match(match.after) else None


@meaning
def date_range(match: Match) -> Reading | None:
    """Read from 5 May to 8 June, 周五到周日: what only one end names counts for both."""
    if (match.get("to") == 1 and "from" not in match) or is_moved(match):
        return None
    one, two = _shared(match["date"], match["date2"])
    ends = meanings(two, match.now)
    if not ends:
        return None
    ranges = [(first, _end(one, two, first, ends)) for first, _ in meanings(one, match.now)]
    spans = sorted(ranges, key=lambda span: not span[0] <= match.now < span[1])
    is_weekly = one.weekday is not None and not one.day and two.weekday is not None
    return fixed(*(span for span in spans if span[0] < span[1]), grain="-W" if is_weekly else "-")


def _end(one: Written, two: Written, first: datetime, ends: Iterable[Span]) -> datetime:
    """Return the end of a range that begins at `first`."""
    listed = sorted(ends)
    if one.spans and two.weekday is not None and not two.day and not two.month:
        return first + DAY * ((two.weekday - first.weekday()) % 7 + 1)
    end = min((last for _, last in listed if last > first), default=None)
    if two.spans or two.year:
        return end or first
    if end is None:
        last = listed[-1][1]
        if two.month:
            return month(last.year + 1, last.month)[0] + DAY * (last.day - 1)
        end = last
    if one.year is None and two.weekday is not None and not two.day and not two.month:
        return first + DAY * ((two.weekday - first.weekday()) % 7 + 1)
    return end


def _shared(one: Written, two: Written) -> tuple[Written, Written]:
    if one.spans or two.spans or (one.day and two.day is None and one.month is None and two.month):
        return one, two
    later = two.month is None or (two.month or 0) >= (one.month or 0)
    first = Written(one.year or two.year, one.month or (two.month if one.day else None), one.day, one.weekday)
    last = Written(
        two.year or (one.year if later else None), two.month or (one.month if two.day else None), two.day, two.weekday
    )
    if one.year is None and two.year and not later:
        first = first._replace(year=two.year - 1)
    return first, last


@meaning
def day_range(match: Match) -> Reading | None:
    """Read from 4 to 22 August, 4-23 in next month."""
    places = [match[code] for code in ("ordinal", "ordinal2", "number", "number2") if code in match]
    if match.order.count("number") and match.order.count("ordinal"):
        codes = [code for code in match.order if code in ("number", "ordinal")]
        places = [match[code] for code in codes]
    low, high = places[:2]
    if not 1 <= low < high <= 31 or (match.get("to") == 1 and "from" not in match and high > low + 1):
        return None
    if "month" in match:
        number = match.get("year")
        first, last = Written(number, match["month"], int(low)), Written(number, match["month"], int(high))
        return date_range(match.of(**{"date": first, "date2": last, "from": 1}))
    if match["unit"] != "M":
        return None
    first_day = unit("M", match.now, match["which"])[0]
    return fixed((first_day + DAY * (int(low) - 1), first_day + DAY * int(high)), grain="-")


@meaning
def between(match: Match) -> Reading | None:
    """Read 三月和九月之间."""
    return date_range(match.of(**{"date": match["date"], "date2": match["date2"], "from": 1}))


@meaning
def year_and_date(match: Match) -> Reading | None:
    """Read between 2015 and Feb 2018, between May 2015 and 2018."""
    number = Written(match["year"])
    one, two = (
        (number, match["date"]) if match.order.index("year") < match.order.index("date") else (match["date"], number)
    )
    return date_range(match.of(**{"date": one, "date2": two, "from": 1}))


@meaning
def short_range(match: Match) -> Reading | None:
    """Read 5 to 8 June, from June 5 to 8: the end that names a day alone has the month of the other."""
    number, date = int(day_number(match)), match["date"]
    if match.get("to") == 1 and "from" not in match and date.day != number + 1:
        return None
    if not 1 <= number <= 31 or date.spans or not (date.day and date.month):
        return None
    other = Written(date.year, date.month, number)
    begins = match.order.index("date") < max(
        match.order.index(code) for code in ("number", "ordinal") if code in match.order
    )
    one, two = (date, other) if begins else (other, date)
    return date_range(match.of(date=one, date2=two)) if (one.day or 0) < (two.day or 0) else None


@meaning
def until_now(match: Match) -> Reading | None:
    """Read from Monday until now."""
    today = day(match.now)[0]
    spans = [(first, today) for first, _ in meanings(match["date"], match.now)[::-1] if first < match.now]
    return fixed(*spans, grain="-")


@meaning
def from_now(match: Match) -> Reading | None:
    """Read from now to June."""
    spans = [(day(match.now)[0], end) for _, end in meanings(match["date"], match.now) if end > match.now]
    return fixed(*spans, grain="-")


@meaning
def before(match: Match) -> Reading | None:
    """Read before May, by Friday, until June 5, 周五之前."""
    at_end = "date" in match and match["date"].third == "end"  # before the end of May is until June
    direction = "before" if "before" in match and not at_end else "until"
    return _bound(match, direction)


@meaning
def after(match: Match) -> Reading | None:
    """Read after May, since 2019, from Friday on; the day after Christmas."""
    if "date" in match and "after" in match and _THE_DAY.search(match.before):
        return fixed(*(day(end) for _, end in meanings(match["date"], match.now)), grain="D")
    return _bound(match, "since" if "since" in match else "after")


def _bound(match: Match, direction: str) -> Reading | None:
    is_behind = match.order[-1] in ("before", "until", "after", "since")
    if direction == "since" and match.is_unspaced and is_moved(match):
        return None  # 木曜日から月曜日に変更
    if (is_behind and not match.is_unspaced) or (match.language == "zh" and _FROM_NOW_ON.match(match.written)):
        return None  # "in July, before we left"; 以后周末
    if "date" in match:
        return "bound", (_edge_of(match, direction), direction)
    return "moment_bound", (match["moment"], direction)


def _edge_of(match: Match, direction: str) -> Written:
    """Return the date of a bound; after mid May, since the end of 1989: the part that is meant of it."""
    date: Written = match["date"]
    if not date.third or direction not in ("since", "after"):
        return date
    spans = meanings(date, match.now)
    return date._replace(spans=tuple(_third_of(span, date.third) for span in spans), grain="") if spans else date


def _third_of(span: Span, third: str) -> Span:
    """Return the beginning, the middle or the end of a month or a year, the whole of others."""
    first, days = span[0], (span[1] - span[0]).days
    if days > 300:
        edges = [moment(first.year, number) for number in (1, 5, 9)] + [span[1]]
    elif days > 27:
        edges = [first, first + DAY * 10, first + DAY * (20 if third == "mid" else 15), span[1]]
    else:
        return span
    at = ("start", "mid", "end").index(third)
    return edges[at], edges[at + 1]


@meaning
def bound_time(match: Match) -> Reading | None:
    """Read thursday before 5 pm."""
    days = [span[0] for span in meanings(match["date"], match.now) if span[1] - span[0] == DAY]
    edges = [first + MINUTE * match["clock"][0] for first in days]
    direction = next(code for code in ("before", "until", "after", "since") if code in match)
    return ("moment_bound", ([(edge, edge + MINUTE) for edge in edges], direction)) if edges else None


@meaning
def day_of_month_range(match: Match) -> Reading | None:
    """Read from the 5th to the 8th."""
    one, two = match["nth"], match["nth2"]
    first, last = dated(day=one), dated(day=two)
    if first is None or last is None or one >= two:
        return None
    return date_range(match.of(**{"date": first[1], "date2": last[1], "from": 1}))
