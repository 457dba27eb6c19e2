"""Times of day, durations and what repeats: what a turn says of time beside days.

    tomorrow at 3 pm, 明天下午两点       a time      14:00 to 14:01 of that day
    for three hours, 等了半个小时        a duration  PT3H, from the moment it was said
    every Monday at 9 am, 每个工作日     a set       an RRULE (RFC 5545), from the first one to come
    a few days ago, 过几天, recently     vague       the days that it may be, with a confidence below 1

Days themselves are found by the grammars (english.py, chinese.py); a time of day belongs to the day beside it, else to
the day said, which is less sure.  What is ambiguous without its part of the day ("at 3") is none.  Clocks are the
sender's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from emgas.times import DAY_MS, HOUR_MS, MINUTE_MS
from processors.dates import arithmetic
from processors.dates.arithmetic import Days
from processors.dates.chinese import numeral
from processors.dates.vocabulary import Vocabulary, either
from state.events.extraction_types import TimeKind

_ENGLISH: Final = Vocabulary("english")
_NUMBERS: Final = {**_ENGLISH.numbers("number"), "a couple of": 2, "couple of": 2}
_WEEKDAYS: Final = _ENGLISH.numbers("weekday")
_CODES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_HAN_WEEKDAYS: Final = dict(zip("一二三四五六日天", (0, 1, 2, 3, 4, 5, 6, 6), strict=True))
_CLOCKS: Final = Vocabulary("clock")
_UNITS: Final = _CLOCKS.names("unit")
_TIMES: Final = {"fortnight": 2, "decade": 10}
_LENGTHS: Final = {"S": 1000, "M": MINUTE_MS, "H": HOUR_MS, "D": DAY_MS, "W": 7 * DAY_MS}
_PARTS: Final = _CLOCKS.dates("part")
_HAN_PART: Final = "凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|半夜"
_COUNT: Final = rf"(?:\d{{1,3}}|{either([name for name in _NUMBERS if name not in ('a', 'an')])}|an?)"
_WEEKDAY: Final = f"(?:{either(_WEEKDAYS)})"
_WORD_COUNT: Final = f"(?:{either(_NUMBERS)})"
_HAN_COUNT: Final = r"(?:\d{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九半])"
_BESIDE: Final = 6  # characters between a day and its time of day, at most: "tomorrow at", "on Friday, at"

_CLOCK: Final = re.compile(
    rf"""
      (?:\b(?:at|by|around|about|from|until|till|before|after)\ )?
      \b(?P<hour>1[0-2]|0?[1-9])(?:[:.](?P<minute>[0-5]\d))?
      \ ?(?P<half>[ap])\.?m\b(?:\.(?=\ (?-i:[a-z])))?
    | (?<![\d:/.-])(?P<hour24>[01]?\d|2[0-3]):(?P<minute24>[0-5]\d)(?![\d:])(?!\ ?[ap]\.?m\b)
    | \b(?:at\ )?(?P<past>half\ past|quarter\ past|quarter\ to)\ (?P<spelled>{_WORD_COUNT}|\d{{1,2}})
      (?:\ in\ the\ (?P<spelled_part>morning|afternoon|evening))?\b
    | \bat\ (?P<plain>\d{{1,2}}|{_WORD_COUNT})(?:\ o'clock)?
      \ (?:in\ the|at)\ (?P<plain_part>morning|afternoon|evening|night)\b
    | \bat\ (?P<named>noon|midnight|midday)\b
    | (?P<han_part>{_HAN_PART})?(?P<han>{_HAN_COUNT})(?:点(?!点|[儿击燃评赞心头名子])|:(?=[0-5]\d))
      (?:(?P<han_half>半)|(?P<han_quarter>[一三])刻|(?P<han_minute>[一二三四五]?十[一二三四五六七八九]?|[0-5]\d)分?)?(?:钟|整)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PART: Final = re.compile(
    rf"(?:\b(?:in the )?(?P<part>morning|afternoon|evening|night)\b|(?P<han>{_HAN_PART}|(?<=[今明昨后前])[早晚]))",
    re.IGNORECASE,
)
_UNIT: Final = f"(?:{either(name for name in _UNITS if name.isascii())})"
_NO_DURATION: Final = "(?![前后级代之以内来底初末的纪轻会了吧]|[一二三四五六日天]|时间前|后)(?!多前)"
_DURATION: Final = re.compile(
    rf"""
      \b(?:for|takes|took|take|lasts|lasted|last|spent|spend|within|after\ about|over)
      \ (?:(?:about|around|almost|nearly|over|only|just|the\ (?:last|past|next)|another|up\ to|more\ than)\ )*
      (?:(?P<half_an>half\ an?)\ (?P<half_unit>hour|year|day)
        | (?P<number>{_COUNT}|couple\ of)(?:\ (?P<and_half>and\ a\ half))?[ -](?P<unit>{_UNIT})s?
          (?P<half_after>\ and\ a\ half)? (?:\ and\ (?P<more>{_COUNT})\ (?P<more_unit>minute|min|month|day)s?)?
      )\b(?!\ (?:ago|back|before|later|from|old))(?!')
    | \b(?P<long>\d{{1,3}}|{_WORD_COUNT})[ -](?P<long_unit>second|minute|hour|day|night|week|month|year)s?[ -]long\b
    | (?<![第每隔\d半月点年多几])(?P<han>{_HAN_COUNT})个?(?P<han_half>半)?
      (?P<han_unit>小时|钟头|分钟|秒|天|晚|周|星期|礼拜|(?<=个)月|年)
      (?P<han_more>(?<=[年天])半)?{_NO_DURATION}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SET: Final = re.compile(
    rf"""
      \b(?:every|each)\ (?P<ordinal>first|second|third|fourth|last)\ (?P<ordinal_day>{_WEEKDAY})
      \ of\ (?:the|every|each)\ month\b
    | \b(?:every|each)\ (?:(?P<other>other|second|two|three|four|five|six|\d{{1,2}})\ )?
      (?:(?P<days>{_WEEKDAY}(?:(?:,\ |,?\ and\ |\ or\ ){_WEEKDAY})*)s?
        |(?P<unit>day|morning|afternoon|evening|night|weekday|workday|weekend|week|fortnight|month|year|summer|winter|spring|autumn)s?)\b
    | \bon\ (?P<plural>{_WEEKDAY}s(?:(?:,\ |,?\ and\ ){_WEEKDAY}s)*)\b
    | \b(?:on\ )?(?P<weekdays>weekdays|weekends)\b
    | \bon\ the\ (?P<day>\d{{1,2}})(?:st|nd|rd|th)\ of\ (?:every|each)\ month\b
    | \b(?P<adverb>daily|weekly|monthly|yearly|annually|biweekly)\b
    | 每隔?(?P<han_every>[两二三四五六\d]|一)?个?
      (?:(?:周|星期|礼拜)(?P<han_days>[一二三四五六日天](?:[、和及,]?[一二三四五六日天])*)(?![个次天年回])
        |(?P<han_unit>天|日(?!子)|周末|工作日|周|星期|礼拜|月|年)(?:的?(?P<han_day>\d{{1,2}}|[一二三]?十[一二三四五六七八九]?)[号日])?)
    | (?P<han_other>隔天|隔日|隔周) | (?<![个每])(?P<han_work>工作日)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}
_FREQUENCIES: Final = _CLOCKS.names("frequency")
_WORKING: Final = "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"
_RESTING: Final = "FREQ=WEEKLY;BYDAY=SA,SU"
_FEW: Final = re.compile(
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
_TRIGGER: Final = re.compile(  # without which, and without a day, none of the patterns above need be tried
    r"\d|点|noon|midnight|midday|half |quarter |every |each |days|ends|ly\b|long\b|for |t[ao]kes? |took |lasts?|lasted"
    r"|spen[dt]|within|over |about |several|few |some |soon|one of|at |[每隔几]"
    r"|最近|近来|这阵|前阵|前些|过些|过段|改天|工作日|小时|钟头|分钟|[秒天晚周月年]|星期|礼拜"
)
_PATTERNS: Final = {  # each takes ten times as long as a look for its words
    "set": (_SET, ("every", "each", "days", "weekend", "weekday", "daily", "weekly", "monthly", "yearly", "annually")),
    "clock": (
        _CLOCK,
        (*"0123456789", "past", "quarter", "morning", "afternoon", "evening", "night", "noon", "midday"),
    ),
    "duration": (_DURATION, tuple(name for name in _UNITS if name.isascii())),
    "few": (_FEW, ("few", "several", "some", "recently", "lately", "these", "other day")),
}
_FEW_LEAST: Final = 2  # what "a few" may be
_FEW_MOST: Final = 6
_SURE: Final = 1.0
_LIKELY: Final = 0.9
_MAYBE: Final = 0.6
_HARDLY: Final = 0.3


class Timed(NamedTuple):
    """An expression at start to end of a text: what it means, ms since 1970 by the sender's clock, and how surely."""

    start: int
    end: int
    since: int
    until: int
    kind: TimeKind
    value: str
    confidence: float


Found = Sequence[tuple[int, int, Days]]


def timed(text: str, said: date, now: int, days: Found) -> list[Timed]:
    """Find what a clean, simplified text says of time beside days, in order, nothing inside another.

    said, now  the day it was said, and the moment (ms)      days  what the grammars found in it, in order
    """
    small = text.lower()
    if not days and not _TRIGGER.search(small):
        return []
    sets = [found for match in _matches("set", text, small) if (found := _set(match, text, said))]
    taken = [(each.start, each.end) for each in sets]
    clocks = [each for each in _clocks(text, said, days) if _is_free(each, taken)]
    taken += [(each.start, each.end) for each in clocks]
    spans = [(start, end) for start, end, _ in days]
    lengths = [each for match in _matches("duration", text, small) if (each := _duration(match, now))]
    lengths = [each for each in lengths if _is_free(each, [*taken, *spans])]
    taken += [(each.start, each.end) for each in lengths]
    vague = [each for match in _matches("few", text, small) if (each := _few(match, said))]
    vague = [each for each in vague if _is_free(each, [*taken, *spans])]
    return sorted([*sets, *clocks, *lengths, *vague])


def _matches(name: str, text: str, small: str) -> Iterable[re.Match[str]]:
    """Find a pattern where one of the words is that it cannot do without; in other scripts wherever it is."""
    pattern, words = _PATTERNS[name]
    if small.isascii() and not any(word in small for word in words):
        return ()
    return pattern.finditer(text)


def _is_free(found: Timed, taken: Sequence[tuple[int, int]]) -> bool:
    return all(found.end <= start or end <= found.start for start, end in taken)


def _ms(day: date) -> int:
    return (day - date(1970, 1, 1)).days * DAY_MS


def _clocks(text: str, said: date, days: Found) -> Iterator[Timed]:
    """Yield times of day, each with the day that stands beside it; parts of the day only beside one."""
    matches = list(_matches("clock", text, text.lower()))
    besides = [_day_beside(text, *match.span(), days) for match in matches]
    hours = [
        (match.span(), _hour(match, day and text[day[0] : day[1]])) for match, day in zip(matches, besides, strict=True)
    ]
    read = [(span, found) for span, found in hours if found is not None]
    for (start, end), (minutes, length, confidence) in read:
        day = _day_beside(text, start, end, days)
        first, last, when = (start, end, Days(said, said)) if day is None else day
        if when.first == when.last:
            since = _ms(when.first) + minutes * MINUTE_MS
            sure = confidence * (_SURE if day else _MAYBE)
            yield Timed(
                min(start, first), max(end, last), since, since + length * MINUTE_MS, "time", "", round(sure, 2)
            )
    timed_days = [beside[:2] for beside in besides if beside]
    for start, end, when in days:
        if (start, end) not in timed_days and when.first == when.last and (part := _part_in(text, start, end)):
            (first, last), stop = part
            if all(stop <= clock[0] or clock[1] <= start for clock, _ in read) and not _clock_follows(text, stop, read):
                base = _ms(when.first)
                yield Timed(start, stop, base + first * HOUR_MS, base + last * HOUR_MS, "time", "", _LIKELY)


def _clock_follows(text: str, end: int, read: Sequence[tuple[tuple[int, int], object]]) -> bool:
    return any(0 <= start - end <= _BESIDE for (start, _), _ in read)


def _part_in(text: str, start: int, end: int) -> tuple[tuple[int, int], int] | None:
    """Find the part of the day that an expression of a day ends with, or that follows it."""
    found = [
        match for match in _PART.finditer(text, start, min(len(text), end + _BESIDE + 12)) if match.start() <= end + 1
    ]
    if not found:
        return (_PARTS["night"], end) if text[start:end].lower() == "tonight" else None
    return _PARTS[(found[-1]["part"] or found[-1]["han"]).lower()], max(end, found[-1].end())


def _day_beside(text: str, start: int, end: int, days: Found) -> tuple[int, int, Days] | None:
    """Find the day right before a time of day, or right behind it."""
    for first, last, when in days:
        between = text[last:start] if last <= start else text[end:first] if end <= first else ""
        if len(between) <= _BESIDE and not re.search(r"[.!?。！？;\n]", between):
            return first, last, when
    return None


def _hour(match: re.Match[str], day: str | None) -> tuple[int, int, float] | None:
    """Read a time of day: minutes since midnight, for how many minutes, how surely; None for what is no time.

    day  the expression of a day that stands beside it
    """
    if hour := match["hour"]:
        base = int(hour) % 12 + (12 if match["half"].lower() == "p" else 0)
        return 60 * base + int(match["minute"] or 0), 1, _SURE
    if match["hour24"] is not None:
        return 60 * int(match["hour24"]) + int(match["minute24"]), 1, _SURE
    if match["named"]:
        return (0 if match["named"].lower() == "midnight" else 720), 1, _SURE
    if match["past"]:
        return _past(match)
    if match["plain"]:
        return _of_part(_count(match["plain"]), match["plain_part"].lower(), 0)
    return _han_hour(match, day)


def _past(match: re.Match[str]) -> tuple[int, int, float] | None:
    """Read "half past three", which without its part of the day is that of the afternoon, less surely."""
    hour, part = _count(match["spelled"]), (match["spelled_part"] or "").lower()
    if not 1 <= hour <= 12:
        return None
    minutes = {"half past": 30, "quarter past": 15, "quarter to": -15}[match["past"].lower()]
    if part:
        return _of_part(hour, part, minutes)
    return 60 * (hour % 12 + (12 if hour < 8 or hour == 12 else 0)) + minutes, 1, _MAYBE


def _of_part(hour: int, part: str, minutes: int) -> tuple[int, int, float] | None:
    if not 0 <= hour <= 24:
        return None
    after = part in _AFTER_NOON or (part == "中午" and hour < 4)
    full = hour + 12 if after and hour < 12 else 0 if hour == 24 or (hour == 12 and part in ("凌晨", "半夜")) else hour
    return 60 * full + minutes, 1, _SURE


def _han_hour(match: re.Match[str], day: str | None) -> tuple[int, int, float] | None:
    is_alone = day is None and not match["han_part"]
    if is_alone and not (
        match["han_half"] or match["han_quarter"] or match["han_minute"] or match.group()[-1] in "钟整"
    ):
        return None  # 两点建议, 一点都不
    hour = -1 if match["han"] == "半" else numeral(match["han"])
    minute = match["han_minute"]
    minutes = 30 if match["han_half"] else 15 * _HAN_QUARTERS.get(match["han_quarter"] or "", 0)
    minutes = numeral(minute) if minute else minutes
    if not 0 <= hour <= 24 or minutes > 59:
        return None
    if part := match["han_part"] or next((part for part in _HAN_PARTS if day and day.endswith(part)), None):
        return _of_part(hour, part, minutes)
    after = 12 if 1 <= hour <= 6 else 0  # 三点 alone is that of the afternoon, less surely
    return 60 * (hour % 24 + after) + minutes, 1, _MAYBE if hour <= 12 else _LIKELY


_AFTER_NOON: Final = frozenset({"afternoon", "evening", "night", "下午", "傍晚", "晚上", "夜里", "晚"})
_HAN_PARTS: Final = tuple(part for part in _PARTS if not part.isascii())
_HAN_QUARTERS: Final = {"一": 1, "三": 3}


def _count(text: str) -> int:
    return int(text) if text.isdecimal() else _NUMBERS[text.lower()]


def _duration(match: re.Match[str], now: int) -> Timed | None:
    """Read how long something takes; its span begins when it was said."""
    parts = list(_lengths(match))
    if not parts:
        return None
    until = now
    for unit, halves in parts:
        until += _LENGTHS[unit] * halves // 2 if unit in _LENGTHS else 0
        if unit in ("MO", "Y"):
            until = _later(until, halves * (6 if unit == "Y" else 1), half_months=unit == "MO")
    return Timed(*match.span(), now, until, "duration", _iso(parts), _SURE) if until > now else None


def _lengths(match: re.Match[str]) -> Iterator[tuple[str, int]]:
    """Yield what a duration is made of: unit, and how many halves of it."""
    if match["half_an"]:
        yield _UNITS[match["half_unit"].lower()], 1
    elif match["number"]:
        unit = match["unit"].lower()
        halves = 2 * _count(match["number"]) * _TIMES.get(unit, 1)
        yield _UNITS[unit], halves + bool(match["and_half"] or match["half_after"])
        if match["more"]:
            yield _UNITS[match["more_unit"].lower()], 2 * _count(match["more"])
    elif match["long"]:
        yield _UNITS[match["long_unit"].lower()], 2 * _count(match["long"])
    elif match["han"]:
        halves = 1 if match["han"] == "半" else 2 * numeral(match["han"])
        yield _UNITS[match["han_unit"]], halves + bool(match["han_half"] or match["han_more"])


def _later(at: int, steps: int, *, half_months: bool) -> int:
    """Step months on, or half ones: a half is 15 days."""
    whole, half = divmod(steps, 2) if half_months else (steps, 0)
    day = date(1970, 1, 1) + timedelta(at // DAY_MS)
    first = arithmetic.month(day, whole).first
    last = arithmetic.month(day, whole).last.day
    return _ms(first.replace(day=min(day.day, last))) + at % DAY_MS + half * 15 * DAY_MS


def _iso(parts: Sequence[tuple[str, int]]) -> str:
    """Write a duration as ISO 8601: P3Y, PT1H30M, P2W; halves as smaller units."""
    amounts: dict[str, int] = {}
    for unit, halves in parts:
        whole, half = divmod(halves, 2)
        smaller = {"Y": ("MO", 6), "MO": ("D", 15), "W": ("D", 3), "D": ("H", 12), "H": ("M", 30), "M": ("S", 30)}
        for name, amount in ((unit, whole), *([smaller[unit]] if half and unit in smaller else [])):
            amounts[name] = amounts.get(name, 0) + amount
    day = "".join(f"{amounts[unit]}{unit[0]}" for unit in ("Y", "MO", "W", "D") if amounts.get(unit))
    clock = "".join(f"{amounts[unit]}{unit}" for unit in ("H", "M", "S") if amounts.get(unit))
    return f"P{day}{'T' + clock if clock else ''}"


def _set(match: re.Match[str], text: str, said: date) -> Timed | None:
    """Read what repeats, with the time of day that follows; its span is the first day to come."""
    rule = _rule(match)
    if rule is None:
        return None
    end = match.end()
    clock = _CLOCK.match(text, end) or _CLOCK.match(text, min(len(text), end + 1))
    hour = _hour(clock, match.group()) if clock else None
    if clock and hour and hour[2] >= _MAYBE:
        end, rule = clock.end(), f"{rule};BYHOUR={hour[0] // 60};BYMINUTE={hour[0] % 60}"
    day = _first(rule, said)
    since = _ms(day) + (hour[0] * MINUTE_MS if hour else 0)
    until = since + (MINUTE_MS if hour else DAY_MS)
    return Timed(match.start(), end, since, until, "set", rule, _SURE)


def _rule(match: re.Match[str]) -> str | None:
    if match["ordinal"]:
        code = _CODES[_WEEKDAYS[match["ordinal_day"].lower()]]
        return f"FREQ=MONTHLY;BYDAY={_ORDINALS[match['ordinal'].lower()]}{code}"
    if match["day"]:
        return f"FREQ=MONTHLY;BYMONTHDAY={int(match['day'])}" if 1 <= int(match["day"]) <= 31 else None
    if named := match["days"] or match["plural"]:
        listed = re.findall(_WEEKDAY, named, re.IGNORECASE)
        return _every(f"FREQ=WEEKLY;BYDAY={_listed(_WEEKDAYS[name.lower()] for name in listed)}", match["other"])
    if match["han_days"]:
        found = [_HAN_WEEKDAYS[letter] for letter in match["han_days"] if letter in _HAN_WEEKDAYS]
        return _every(f"FREQ=WEEKLY;BYDAY={_listed(found)}", match["han_every"])
    return _rule_of_unit(match)


def _rule_of_unit(match: re.Match[str]) -> str | None:
    units = (match[name] for name in ("unit", "adverb", "weekdays", "han_unit", "han_work"))
    unit = next(filter(None, units), "").lower()
    if other := match["han_other"]:
        return f"FREQ={'WEEKLY' if other == '隔周' else 'DAILY'};INTERVAL=2"
    if unit in ("weekday", "workday", "weekdays", "工作日"):
        return _WORKING
    if unit in ("weekend", "weekends", "周末"):
        return _RESTING
    rule = f"FREQ={_FREQUENCIES[unit]}"
    if match["han_day"]:
        return f"{rule};BYMONTHDAY={numeral(match['han_day'])}" if unit == "月" else None
    is_gap = match.group().startswith("每隔") and match["han_every"]
    steps = match["other"] or match["han_every"]
    if unit in ("fortnight", "biweekly"):
        return f"{rule};INTERVAL=2"
    return f"{rule};INTERVAL={_steps(steps) + 1}" if is_gap and unit in ("天", "日") else _every(rule, steps)


def _every(rule: str, steps: str | None) -> str:
    count = 1 if steps is None else _steps(steps)
    return rule if count == 1 else f"{rule};INTERVAL={count}"


def _steps(said: str) -> int:
    if said.lower() in ("other", "second"):
        return 2
    return _count(said) if said.isascii() else numeral(said)


def _listed(weekdays: Iterator[int] | Sequence[int]) -> str:
    return ",".join(_CODES[number] for number in sorted(set(weekdays)))


def _first(rule: str, said: date) -> date:
    """Find the first day from the day said on that a rule of days of the week or of the month allows."""
    parts = dict(part.split("=") for part in rule.split(";"))
    for step in range(400):
        day = said + timedelta(step)
        code = _CODES[day.weekday()]
        allowed = [name[-2:] for name in parts.get("BYDAY", code).split(",")]
        places = {name for name in parts.get("BYDAY", "").split(",") if name[:-2]}
        in_place = not places or any(_is_place(day, int(name[:-2])) for name in places)
        if code in allowed and in_place and int(parts.get("BYMONTHDAY", day.day)) == day.day:
            return day
    return said


def _is_place(day: date, place: int) -> bool:
    if place < 0:
        return (day + timedelta(7)).month != day.month
    return (day.day - 1) // 7 + 1 == place


def _few(match: re.Match[str], said: date) -> Timed | None:
    """Read a vague time: the days that it may be."""
    unit, way, sure = _vague_unit(match)
    if unit is None:
        first, last = (said - timedelta(14), said) if way < 0 else (said + timedelta(1), said + timedelta(14))
    elif way < 0:
        first = arithmetic.unit(unit, said, -_FEW_MOST).first
        last = arithmetic.unit(unit, said, -_FEW_LEAST).last
    else:
        first, last = arithmetic.unit(unit, said, _FEW_LEAST).first, arithmetic.unit(unit, said, _FEW_MOST).last
    return Timed(*match.span(), _ms(first), _ms(last) + DAY_MS, "vague", "", sure) if way else None


_HAN_UNITS: Final[dict[str, arithmetic.Unit]] = {
    "天": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"
}  # fmt: skip
_EN_UNITS: Final[dict[str, arithmetic.Unit]] = {"day": "day", "week": "week", "month": "month", "year": "year"}


def _vague_unit(match: re.Match[str]) -> tuple[arithmetic.Unit | None, int, float]:
    """Tell the unit (None: a fortnight), the way, −1 back and 1 ahead (0: none), and how surely."""
    if match["unit"]:
        return _EN_UNITS[match["unit"].lower()], -1, _MAYBE
    if match["ahead"]:
        return _EN_UNITS[match["ahead"].lower()], 1, _MAYBE
    if match["han_unit"]:
        is_back = bool(match["han_ago"]) or match["han_back"] == "前几"
        return _HAN_UNITS[match["han_unit"].removeprefix("个")], -1 if is_back else 0, _MAYBE
    if match["han_ahead"]:
        return _HAN_UNITS[match["han_ahead"].removeprefix("个")], 1, _MAYBE
    return None, -1 if match["recent"] or match["han_recent"] else 1, _HARDLY
