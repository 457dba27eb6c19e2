"""Read matches of rules for times of day: clocks, parts of the day, and both on a day."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from processors.dates.match import Match, Reading, is_moved, meaning
from processors.dates.spans import DAY, MINUTE, SECONDS, Span, Written, day, meanings
from processors.text import tables

NOON: Final = 720
_NO_HOUR_BEFORE: Final = tables.lazy(r"\b(?:de|du|entre) \w+ $")  # de 5 à 7
_DAY_BESIDE: Final = tables.lazy(r"\b(?:on|el|le|am|del|den)(?: (?:the|día))? ?(?:\d+)?$")
_MINUTES_AFTER: Final = tables.lazy(r"\s?\d+[分분]")
_NO_HOUR_AFTER: Final = tables.lazy(r"\s*(?:pr[oó]xim|[uú]ltim|pasad|siguiente|primer|dernier|prochain)")


def _clock(hour: float, minute: float = 0) -> Reading | None:
    """Return a time of day; without its half of the day it is unsure."""
    if not (0 <= hour <= 24 and 0 <= minute < 60 and hour == int(hour)):
        return None
    return "clock", (60 * int(hour) + int(minute), hour <= 12)


@meaning
def noon(match: Match) -> Reading | None:
    """Read noon, midnight."""
    return "clock", (match["noon"], False)


@meaning
def half_day(match: Match) -> Reading | None:
    """Read 7 p.m., 晚上 8 点."""
    if re.search(r"\ban?$", match.written):
        return None  # good morning, I am a nurse
    minutes = match["clock"][0] if "clock" in match else int(60 * match["number"])
    if minutes > 1440:
        return None
    if "part" in match:
        return "clock", (_in_part(minutes, match["part"], match.language), False)
    is_midnight = match.language == "de" and match["ampm"] == 12 and NOON <= minutes < NOON + 60  # 12 Uhr nachts
    return "clock", (minutes % NOON + (0 if is_midnight else 60 * match["ampm"]), False)


def _in_part(minutes: int, part: str, language: str) -> int:
    """Return the minute of the day that a time means in a part of the day."""
    first = int(part.split("-", maxsplit=1)[0])
    if first >= 18 and NOON <= minutes < NOON + 60 and language != "en":
        return minutes - NOON  # 晚上十二点
    if first >= 12:
        return (minutes + (NOON if minutes < NOON else 0)) % 1440
    if first == 11 and minutes < 240:  # 中午一点
        return minutes + NOON
    return minutes - NOON if first == 0 and minutes >= NOON else minutes


@meaning
def clock_in_part(match: Match) -> Reading | None:
    """Read 晚上8点, 8 o'clock in the evening, half past six in the morning."""
    spaced = not match.is_unspaced and match.get("number", 99) <= 12 and match["number"] == int(match["number"])
    return half_day(match) if "oclock" in match or "clock" in match or spaced else None


@meaning
def half_past(match: Match) -> Reading | None:
    """Read 三点半, 9 Uhr 15."""
    return _clock(match["number"], match.get("past", 30))


@meaning
def o_clock(match: Match) -> Reading | None:
    """Read three o'clock, 三点二十."""
    if match.language == "ja" and "number2" in match and match.after.startswith("秒"):
        return None
    if match.get("unit", "s") != "s":
        return None
    if match.get("number2", 10) < 10 and not match.is_unspaced and not match.written[-1].isdigit():
        return None  # um 8 Uhr einen Tropfen
    unsure = match.language == "zh" and match["number"] <= 2 and "at" not in match and "number2" not in match
    if unsure and not re.search("[在到于]$", match.before) and not match.after.startswith(("钟", "整", "半")):
        return None  # 两点建议
    return _clock(match["number"], match.get("number2", 0))


@meaning
def clock_sharp(match: Match) -> Reading | None:
    """Read 9:30 Uhr."""
    return "clock", (match["clock"][0], False)


@meaning
def half_in_part(match: Match) -> Reading | None:
    """Read 下午三点半."""
    if match.get("unit", "s") != "s":
        return None
    minutes = match.get("past", 30) if "half" in match or "past" in match else match["number2"]
    return half_day(match.plus(clock=(int(60 * match["number"] + minutes), False)))


@meaning
def minutes_past(match: Match) -> Reading | None:
    """Read 20 past 8."""
    is_time = match["number"] < 60 and match["number2"] < 13 and match.get("unit", "m") == "m"
    return _clock(match["number2"], match["number"]) if is_time else None


@meaning
def hour_minute(match: Match) -> Reading | None:
    """Read at eight twenty."""
    is_day = re.search(r"\b(?:on|del|sur|le|am)\b", match.written)  # at seven on 15
    is_time = 10 <= match["number2"] < 60 and match["number"] < 13 and not is_day
    return _clock(match["number"], match["number2"]) if is_time else None


@meaning
def hour_and_minutes(match: Match) -> Reading | None:
    """Read a las ocho y veinte."""
    is_time = match.language == "es" and match["to"] == 1 and match["number"] < 13
    return _clock(match["number"], match["number2"]) if is_time else None


@meaning
def at_hour(match: Match) -> Reading | None:
    """Read at 8."""
    if match.is_unspaced or (match.language == "en" and match["number"] > 12) or match.get("unit", "h") != "h":
        return None
    if _NO_HOUR_BEFORE.search(match.before) or _NO_HOUR_AFTER.match(match.after):
        return None
    return _clock(match["number"])


@meaning
def minutes_to(match: Match) -> Reading | None:
    """Read sept heures moins dix, las ocho menos diez."""
    if match["number2"] >= 60 or not ("oclock" in match or "at" in match):
        return None
    return _clock(match["number"] - 1, 60 - match["number2"])


@meaning
def quarter_past(match: Match) -> Reading | None:
    """Read half past three, quarter to five, halb drei."""
    if match["number"] >= 13 or not ("past" in match or match.language == "de"):
        return None
    back = match.get("past", 0) < 0 or ("half" in match and match.language == "de")
    return _clock(match["number"] - back, match.get("past", 30) % 60)


@meaning
def past_after(match: Match) -> Reading | None:
    """Read las tres y media, tres menos cuarto."""
    return _clock(match["number"] - (match["past"] < 0), match["past"] % 60)


@meaning
def clock_bound(match: Match) -> Reading | None:
    """Read before 5 pm: the time itself, and in which direction it looks."""
    return "clock_bound", (match["clock"], next(code for code in match.order if code != "clock"))


@meaning
def early_part(match: Match) -> Reading | None:
    """Read early morning, late afternoon."""
    low, high = map(int, match["part"].split("-"))
    low -= low == 18 and match["third"] == "start"  # early in the evening is from 17:00 on
    middle = (low + high) // 2
    parts = {"start": f"{low}-{middle}", "end": f"{middle}-{high}"}
    return "part", parts.get(match["third"], match["part"])


@meaning
def tonight(match: Match) -> Reading | None:
    """Read tonight, last night, 今晚, 明早."""
    steps, hours = match["tonight"].split()
    return "moment", [_hours(day(match.now, int(steps)), hours)]


def _hours(of: Span, hours: str) -> Span:
    low, high = map(int, hours.split("-"))
    return of[0] + MINUTE * 60 * low, of[0] + MINUTE * 60 * high


@meaning
def at_time(match: Match) -> Reading | None:
    """Read a day with a time of day or a part of it."""
    days = [span for span in meanings(match["date"], match.now) if span[1] - span[0] == DAY]
    if not days or (match.language == "zh" and match.written[:2] in ("早,", "晚,")):  # 早,国庆后
        return None
    if "clock" not in match:
        return "moment", [_hours(span, match["part"]) for span in days]
    minutes = match["clock"][0]
    if "part" in match:
        minutes = _in_part(minutes, match["part"], match.language)
    return "moment", [(span[0] + MINUTE * minutes, span[0] + MINUTE * (minutes + 1)) for span in days]


@meaning
def half_of_day(match: Match) -> Reading | None:
    """Read tuesday am, today pm."""
    if match.language != "en" or (match["date"].month and not match["date"].day):
        return None
    return at_time(match.plus(part="12-18" if match["ampm"] else "6-12"))


@meaning
def hours_on_day(match: Match) -> Reading | None:
    """Read next Monday 6-8, from 5 to 7 today."""
    date, hours = match["date"], hour_range(match)
    is_day = date.grain == "D" or (date.weekday is not None and not date.day and not date.month)
    is_range = "from" in match or match["to"] != 1
    return of_day(match.plus(hours=hours[1])) if is_day and is_range and hours else None


@meaning
def numbered_day_time(match: Match) -> Reading | None:
    """Read on 15 at 8:00, 8pm on 15, martes 4 a las siete."""
    is_bound = _DAY_BESIDE.search(match.before if match.order[0] == "number" else match.written)
    date, weekday = match["number"], match["date"].weekday if "date" in match else None
    if not (is_bound or weekday is not None) or not 1 <= date <= 31 or date != int(date):
        return None
    return at_time(match.plus(date=Written(day=int(date), weekday=weekday)))


@meaning
def clock_from_now(match: Match) -> Reading | None:
    """Read between now and eight o'clock."""
    today = day(match.now)[0]
    ends = (today + MINUTE * (match["clock"][0] + later) for later in ((0, NOON) if match["clock"][1] else (0,)))
    end = next((each for each in ends if each > match.now), None)
    return ("moment", [(match.now, end)]) if end else None


@meaning
def this_part(match: Match) -> Reading | None:
    """Read this morning, last night, next afternoon."""
    if match["which"] not in (-1, 0, 1):
        return None
    return at_time(match.plus(date=Written(spans=(day(match.now, match["which"]),))))


@meaning
def moment_time(match: Match) -> Reading | None:
    """Read this morning at 7, between 7 and 9 last night."""
    spans = []
    for first, last in match["moment"]:
        if not timedelta(hours=1) < last - first <= timedelta(hours=14):
            return None
        start = day(first)[0]
        after = NOON if first.hour >= 12 else 0
        low, high = (match["clock"][0],) * 2 if "clock" in match else match["hours"]
        unsure = "clock" not in match or match["clock"][1]
        low, high = (each + (after if each < NOON and unsure else 0) for each in (low, high))
        spans.append((start + MINUTE * low, start + MINUTE * (high + ("clock" in match))))
    return "moment", spans


@meaning
def of_day(match: Match) -> Reading | None:
    """Read 3 to 5 pm on Friday."""
    days = [span for span in meanings(match["date"], match.now) if span[1] - span[0] == DAY]
    low, high = match["hours"]
    return ("moment", [(span[0] + MINUTE * low, span[0] + MINUTE * high) for span in days]) if days else None


def _range(match: Match, one: tuple[int, bool], two: tuple[int, bool]) -> Reading | None:
    """Return the hours from one time to another: the half of the day that one end names is that of both."""
    if is_moved(match):
        return None
    (first, unsure), (last, unsure_last) = one, two
    if "part" in match and int(match["part"].split("-")[0]) >= 12:
        first, last, unsure_last = first + NOON * (first < NOON), last + NOON * (last < NOON), False
    elif unsure and not unsure_last and first < NOON <= last and first + NOON < last:
        first += NOON
    if first > 1440 or last > 2160:
        return None
    if last <= first:
        last += NOON if unsure_last and last + NOON > first else 1440
        first += NOON if unsure and not unsure_last and first + NOON < last else 0  # from 11 to 3 am
    return "hours", (first, last)


def _hour(match: Match, name: str) -> tuple[int, bool]:
    return int(60 * match[name]), True


@meaning
def clock_range(match: Match) -> Reading | None:
    """Read from 5 to 6 pm."""
    return _range(match, match["clock"], match["clock2"])


@meaning
def hour_to_clock(match: Match) -> Reading | None:
    """Read 5 to 6 pm, 오전 11부터 11시 50분."""
    return _range(match, _hour(match, "number"), match["clock"]) if match["number"] <= 24 else None


@meaning
def clock_to_hour(match: Match) -> Reading | None:
    """Read 5:30 to 7."""
    return _range(match, match["clock"], _hour(match, "number")) if match["number"] <= 24 else None


@meaning
def hour_range(match: Match) -> Reading | None:
    """Read from 5 to 7."""
    if match.is_unspaced and _MINUTES_AFTER.match(match.after):
        return None  # 11부터 11시 50분
    is_hours = max(match["number"], match["number2"]) <= 24 and match["number"] == int(match["number"])
    return _range(match, _hour(match, "number"), _hour(match, "number2")) if is_hours else None


@meaning
def hour_range_in_part(match: Match) -> Reading | None:
    """Read 5 to 7 in the evening, 5-7 pm."""
    if max(match["number"], match["number2"]) > 12:
        return None
    part = match.get("part") or ("12-18" if match.get("ampm") else "6-12")
    return _range(match.plus(part=part), _hour(match, "number"), _hour(match, "number2"))


@meaning
def moment_range(match: Match) -> Reading | None:
    """Read yesterday 3 pm to tomorrow 4 pm, Friday 3 to 4 pm."""
    if is_moved(match):
        return None
    spans = [(first, end) for first, _ in match["moment"] if (end := _end_after(match, first))]
    return ("moment", spans) if spans else None


def _end_after(match: Match, first: datetime) -> datetime | None:
    if "moment2" in match:
        return min((last for last, _ in match["moment2"] if last > first), default=None)
    last = day(first)[0] + MINUTE * match["clock"][0]
    ends: tuple[datetime, ...] = (last, last + DAY / 2, last + DAY)
    return next(end for end in ends if end > first)


@meaning
def clock_to_moment(match: Match) -> Reading | None:
    """Read from 3 until 5 pm today."""
    spans, half = [], timedelta(hours=12)
    for last, _ in match["moment"]:
        first = day(last)[0] + MINUTE * match["clock"][0]
        first += half if match["clock"][1] and first + half < last else timedelta()
        if first < last:
            spans.append((first, last))
    return ("moment", spans) if spans else None


@meaning
def moment_until_now(match: Match) -> Reading | None:
    """Read from yesterday 3 pm until now."""
    return "moment", [(first, match.now) for first, _ in match["moment"] if first < match.now]


@meaning
def lasting(match: Match) -> Reading | None:
    """Read for 2 hours from 2 pm."""
    seconds = sum(count * SECONDS[name] for count, name in match["length"])
    if "clock" in match:
        start = match["clock"][0]
        return ("hours", (start, start + int(seconds // 60))) if seconds < 86400 else None
    return "moment", [(first, first + timedelta(seconds=seconds)) for first, _ in match["moment"]]


@meaning
def now(match: Match) -> Reading | None:
    """Read now, 现在: an end of a range."""
    return "present", 0
