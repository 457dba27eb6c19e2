"""Read matches of rules that count: units before and after now or a day, runs of units, lengths, sets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from processors.dates.match import Match, Reading, fixed, meaning
from processors.dates.read_clocks import half_day
from processors.dates.spans import DAY, MINUTE, MONTHS, SECONDS, Span, Written, day, meanings, shift, unit, week
from processors.text import tables

_RUNNING: Final = tables.lazy(
    r"\b(?:in|over|during|within|for) the (?:last|past) \w+$"
)  # so much happened in the last month
_LAST_IS_VERB: Final = tables.lazy(r"(?:n't|\b(?:not|to|will|would|should|shall|can|could|may|might|must|does|did)) $")
_PART_OF: Final = tables.lazy(r" (?:de|del|du|des) ")
_STANDS: Final = tables.lazy(r"(?:^|[.,!?;:] ?|\b(?:in the|on|most|during the|all|out|off|early|por|les?|los|las) )$")
_HALF: Final = 720  # minutes of half a day
_AT_FRENCH: Final = tables.lazy(r"\b(?:après|avant|vers|dès|jusqu'à|à partir de) (?:[7-9]|1\d|2[0-4]) ?h(?:eures)?$")
_BEING: Final = "있다"  # 3분 있다: in three minutes, but also "there are three"
_MOST: Final = 2000  # units that are counted
_HAN_WEEKDAYS: Final = tables.lazy("(?:[一二三四五六][、和与]?)+$")
_DONE_THEN: Final = tables.lazy(r"[,，。\s]|[早晚上下去要有都也练跑游打健学做开]|$")
_WEEKDAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FREQUENCIES: Final = {"D": "DAILY", "W": "WEEKLY", "M": "MONTHLY", "Y": "YEARLY", "h": "HOURLY", "m": "MINUTELY"}
_MULTIPLES: Final = {"F": ("W", 2), "Q": ("M", 3), "X": ("Y", 10)}
_HOURS_OF: Final = {"6-12": 8, "11-14": 12, "12-18": 15, "18-22": 19, "18-24": 19, "20-24": 21, "0-6": 3, "8-12": 9}


@meaning
def which_unit(match: Match) -> Reading | None:
    """Read last week, this month, next year; the last hour."""
    name, steps = match["unit"], match["which"]
    is_behind = match.order == ("unit", "which")
    if is_behind and ((not match.is_postfixing and abs(steps) < 2) or _PART_OF.search(match.written)):
        return None  # días de la próxima semana
    if running := _running(match, name, steps):
        return fixed(running, grain="+" + name)
    if name == "m" and match.language == "en":  # at the last minute
        return None
    if name in "smh":
        return _moments(*sorted((match.now, shift(match.now, name, steps)))) if steps else None
    if (name, steps) == ("E", 0):
        return fixed(unit(name, match.now), unit(name, match.now, -1), grain="this E")
    return fixed(unit(name, match.now, steps), grain=name)


def _running(match: Match, name: str, steps: int) -> Span | None:
    """Return the time up to now that "in the last month" and the last fortnight mean."""
    today, tomorrow = day(match.now)
    if name == "F" and steps < 0:
        return today - DAY * 14, today
    is_running = match.language == "en" and steps == -1 and name in "WMY"
    return (shift(today, name, -1), tomorrow) if is_running and _RUNNING.search(match.before + match.written) else None


def _moments(first: datetime, end: datetime) -> Reading | None:
    return ("moment", [(first, end)]) if first < end else None


@meaning
def which_units(match: Match) -> Reading | None:
    """Read the last 3 days, the next two weeks: until now, or from tomorrow on; hours from now."""
    name, count, steps = match["unit"], match["number"], match["which"]
    if name == "M" and match.order[0] == "number" and (match.language == "en" or count > 12):
        return None  # 23 next month
    if steps == 0 and match.language in ("ja", "zh") and match.order == ("which", "number", "unit"):
        steps = -1  # この三年間
    if _LAST_IS_VERB.search(match.before) and match.written.startswith("last"):
        return None  # it should last two hours
    if steps == 0 or count > _MOST or (match.order == ("number", "unit", "which") and not match.is_postfixing):
        return None
    way = 1 if steps > 0 else -1
    if name in "hms":
        return _moments(*sorted((match.now, shift(match.now, name, way * count))))
    if name in "QXE":
        near, far = unit(name, match.now, way), unit(name, match.now, way * int(count))
        return fixed((min(near[0], far[0]), max(near[1], far[1])), grain=name)
    today, tomorrow = day(match.now)
    span = (tomorrow, shift(tomorrow, name, count)) if way > 0 else (shift(today, name, -count), tomorrow)
    return fixed(span, grain="+" + name)


@meaning
def ago(match: Match) -> Reading | None:
    """Read 3 weeks ago, 三周前."""
    is_back = match.order == ("length", "ago")
    return _counted(match, -1) if is_back or match.language != "en" else None


@meaning
def ahead(match: Match) -> Reading | None:
    """Read in 3 weeks, 3 weeks from now, 三周后."""
    if match.language == "ko" and (match.order[0] == "later" or match.written.endswith(_BEING)):
        return None  # 1시 이후에 15분간; 3분 있다
    negated = match.order == ("in", "length") and re.search(r"n't|\bnot\b|\bnever\b", match.before)
    return None if negated else _counted(match, 1)


def _counted(match: Match, way: int) -> Reading | None:
    """Count from now: the unit so far away, or the minute; half a year is six months."""
    if any(name in "hms" for _, name in match["length"]):
        when = match.now.replace(second=0, microsecond=0)
        for count, name in match["length"]:
            when = shift(when, name, way * count)
        return "moment", [(when, when + MINUTE)]
    story = match.order == ("later", "length")
    grain = "then" if story or 1 in (match.get("later"), match.get("ago")) else "ahead" if way > 0 else "ago"
    if len(match["length"]) == 1:
        count, name = match["length"][0]
        if count != int(count):
            name, count = {"Y": ("M", 12 * count), "M": ("W", 4 * count)}.get(
                name, ("D", count * (7 if name == "W" else 1))
            )
        whole = day(_shifted(match, way, match.now)) if name in "BF" else unit(name, match.now, way * int(count))
        return fixed(whole, grain=grain)
    return fixed(day(_shifted(match, way, match.now)), grain=grain)


def _shifted(match: Match, way: int, when: datetime) -> datetime:
    for count, name in match["length"]:
        whole = count == int(count) or name not in MONTHS
        when = shift(when, name, way * count) if whole else shift(when, "D", round(way * count * 30 * MONTHS[name]))
    return when


@meaning
def before_day(match: Match) -> Reading | None:
    """Read 2 days before Christmas."""
    return _at_day_then(match, -1) if match.is_unspaced else _from_day(match, -1)


@meaning
def after_day(match: Match) -> Reading | None:
    """Read 2 days after tomorrow, two weeks from Saturday; 2週後の月曜日 is of that week."""
    if match.is_unspaced and match.order[0] == "length":
        return _at_day_then(match, 1)
    return _from_day(match, 1)


def _from_day(match: Match, way: int) -> Reading | None:
    if any(name in "hms" for _, name in match["length"]):
        return None
    options = meanings(match["date"], match.now)
    base = match["date"]
    if base.weekday is not None and not base.day and options[0][0] == day(match.now)[0]:
        options = [(options[0][0] + DAY * 7, options[0][1] + DAY * 7)]
    return fixed(*(day(_shifted(match, way, span[0])) for span in options[:1]), grain="D")


@meaning
def counted_from(match: Match) -> Reading | None:
    """Read 今日から2日後, 지금부터 2주 후: counted from a day or from now."""
    if not match.is_unspaced:
        return None
    return _counted(match, 1) if "present" in match else _from_day(match, 1)


@meaning
def in_length(match: Match) -> Reading | None:
    """Read heute in einer Woche: counted from that day."""
    return _from_day(match, 1) if match.language == "de" else None


@meaning
def from_day_then(match: Match) -> Reading | None:
    """Read monday two weeks from now; 昨日の2日前."""
    date = match["date"]
    is_day = match.is_unspaced and (date.grain == "D" or (date.day and date.month))
    way = 1 if "later" in match else -1
    return _from_day(match, way) if is_day else _weekday_then(match, way)


def _at_day_then(match: Match, way: int) -> Reading | None:
    """Read 2週後の月曜日, 一年前的今天."""
    return _from_day(match, way) if match["date"].grain == "D" else _weekday_then(match, way)


def _weekday_then(match: Match, way: int) -> Reading | None:
    """Return the weekday of the week so far away."""
    date = match["date"]
    if date.weekday is None or date.day or date.month:
        return None
    when = _shifted(match, way, match.now)
    return fixed(day(week(when)[0], date.weekday), grain="D")


@meaning
def weekday_week(match: Match) -> Reading | None:
    """Read a week on Saturday, Monday week: the one after the coming one."""
    count = sum(number for number, name in match["length"] if name == "W")
    if match["date"].weekday is None or match["date"].day or match.language != "en" or count != int(count) or not count:
        return None
    steps = (match["date"].weekday - match.now.weekday() - 1) % 7 + 1
    return fixed(day(match.now, steps + 7 * int(count)), grain="D")


@meaning
def weekdays_ago(match: Match) -> Reading | None:
    """Read two Fridays ago."""
    if match["number"] > 52:
        return None
    back = (match.now.weekday() - match.first("weekday", "weekdays") - 1) % 7 + 1
    return fixed(day(match.now, -back - 7 * (int(match["number"]) - 1)), grain="D")


@meaning
def within(match: Match) -> Reading | None:
    """Read within two weeks: from now."""
    reading = length(match)
    if reading is None:
        return None
    return within_length(match.of(length=reading[1]))


@meaning
def within_length(match: Match) -> Reading | None:
    """Read 2일 1시간 이내: a length of several units."""
    end = _shifted(match, 1, match.now)
    if any(name in "hms" for _, name in match["length"]):
        return _moments(match.now, end)
    if match.language == "ko":  # as often the day itself as the time up to it
        return "bound", (Written(spans=(day(end),)), "until")
    return fixed((day(match.now)[0], day(end)[0]), grain="-")


@meaning
def which_length(match: Match) -> Reading | None:
    """Read 앞으로 사흘, 지난 이틀: days that have a word of their own."""
    if not match.is_unspaced or len(match["length"]) > 1:
        return None
    ((count, name),) = match["length"]
    return which_units(match.of(number=count, unit=name, which=match["which"]))


@meaning
def every_moment(match: Match) -> Reading | None:
    """Read 월요일 오후 4시마다: a weekday and its hour, again and again."""
    starts = {(first.weekday(), first.hour, first.minute) for first, _ in match["moment"]}
    if len(starts) != 1 or match["every"] != 1:
        return None
    ((weekday, hour, minute),) = starts
    at = f";BYHOUR={hour}" + (f";BYMINUTE={minute}" if minute else "")
    return _rule("WEEKLY", more=f";BYDAY={_WEEKDAYS[weekday]}{at}")


@meaning
def longer(match: Match) -> Reading | None:
    """Read 3 days and 2 hours 5 minutes: units that get smaller."""
    parts = [*match["length"], *match["length2"]]
    sizes = [SECONDS[name] for _, name in parts]
    return ("length", parts) if sizes == sorted(set(sizes), reverse=True) else None


@meaning
def counted_days(match: Match) -> Reading | None:
    """Read 四日前, 2日後: a number of days, though 四日 alone is the fourth."""
    if match.language != "ja" or match["unit"] not in "DMY" or match["number"] > 500:
        return None
    return _counted(match.plus(length=[(match["number"], match["unit"])]), -1 if "ago" in match else 1)


@meaning
def length(match: Match) -> Reading | None:
    """Read two hours, a day and a half, half an hour."""
    if match.language == "en" and re.match(r"[- ]?olds?\b", match.after):  # a thirty year old
        return None
    if match.language == "fr" and match.get("unit") == "h" and _AT_FRENCH.search(match.before + match.written):
        return None  # après 17 heures
    pairs = (("number", "unit"), ("number2", "unit2"), ("number3", "unit3"))
    parts = [(match[number], match[name]) for number, name in pairs if number in match and name in match]
    if "half" in match:
        parts = _with_half(match, parts)
    if "past" in match:
        if match["past"] != 30 or match.is_unspaced:
            return None
        parts = [(parts[0][0] + 0.5, parts[0][1])]  # una hora y media
    is_year = match.is_unspaced and any(name == "Y" and 1000 < count < 3000 for count, name in parts)  # 2015年
    if match.language == "ko" and re.fullmatch("이 [주달]", match.written):
        return which_unit(match.of(unit=match["unit"], which=0))  # this week; two of them are 2주, 두 달
    if "other" in match or not parts or is_year or any(count > 9999 for count, _ in parts):
        return None
    return "length", parts


@meaning
def days_and_hours(match: Match) -> Reading | None:
    """Read 8天20时: what is left, not eight days and a time of day."""
    if match["unit"] != "D" or not match.written.endswith("时"):
        return None
    return "length", [(match["number"], "D"), (match["number2"], "h")]


@meaning
def half_months(match: Match) -> Reading | None:
    """Read 一个半月, 半个月."""
    return length(match.plus(unit="M"))


def _with_half(match: Match, parts: list[tuple[float, str]]) -> list[tuple[float, str]]:
    if not parts or (match.order == ("number", "half", "unit") and match["number"] == 1):
        return [(0.5, match["unit"])]
    return [(parts[0][0] + 0.5, parts[0][1])]


@meaning
def whole_unit(match: Match) -> Reading | None:
    """Read all day, the whole week."""
    return length(match.plus(number=1.0)) if match["unit"] in "DWMY" else None


def _rule(frequency: str, interval: int = 1, more: str = "") -> Reading:
    return "set", f"FREQ={frequency}" + (f";INTERVAL={interval}" if interval != 1 else "") + more


@meaning
def every(match: Match) -> Reading | None:
    """Read every day, every two weeks, every other Friday, 每周一."""
    count = int(match["number"]) if "number" in match else 2 if "other" in match else 1
    if weeks := re.fullmatch(r"P(\d)W", str(match["every"])):
        count *= int(weeks[1])  # 每隔一周的周二
    if "weekday" in match:
        is_weekly = match["every"] == 1 or str(match["every"]).endswith("W")
        return _rule("WEEKLY", count, f";BYDAY={_WEEKDAYS[match['weekday']]}") if is_weekly else None
    if "part" in match:
        return _rule("DAILY", more=_hour_of(match["part"])) if match["every"] == 1 else None
    return _every_unit(match["unit"], count)


def _every_unit(name: str, count: int) -> Reading | None:
    if name in "EB":
        return _rule("WEEKLY", count, ";BYDAY=SA,SU" if name == "E" else ";BYDAY=MO,TU,WE,TH,FR")
    name, times = _MULTIPLES.get(name, (name, 1))
    return _rule(_FREQUENCIES[name], times * count) if name in _FREQUENCIES else None


@meaning
def once(match: Match) -> Reading | None:
    """Read once a week, una vez a la semana, 週に一度."""
    is_one = match.get("number", 1) == 1 and match.order[-1] == "once"
    return _every_unit(match["unit"], 1) if is_one == match.is_unspaced else None


@meaning
def every_other(match: Match) -> Reading | None:
    """Read jede zweite Woche, un mardi sur deux: the other stands before the unit or behind it."""
    if match.get("number") == 1 and match.order[-1] == "other":
        return every(match.of(**{code: value for code, value in match.items() if code != "number"}, every=1))
    return every(match) if "every" in match else None


@meaning
def adverb(match: Match) -> Reading | None:
    """Read daily, once a week, 每两周."""
    interval = re.fullmatch(r"P(\d)([DWMY])", str(match["every"]))
    if match.written == "everyday" and re.search(r"\b(?:the|my|our|your|of) $", match.before):
        return None  # the everyday hustle
    if interval:
        return _rule(_FREQUENCIES[interval[2]], int(interval[1]))
    return _every_unit("E" if match["every"] == "PWE" else "B", 1) if str(match["every"]).startswith("PW") else None


@meaning
def every_number(match: Match) -> Reading | None:
    """Read 3주마다."""
    interval = re.fullmatch(r"P1([DWMY])", str(match["every"]))
    return _rule(_FREQUENCIES[interval[1]], int(match["number"])) if interval and match.language == "ko" else None


@meaning
def weekdays(match: Match) -> Reading | None:
    """Read on Tuesdays, montags."""
    return _rule("WEEKLY", 1, f";BYDAY={_WEEKDAYS[match['weekdays']]}")


@meaning
def more_weekdays(match: Match) -> Reading | None:
    """Read every Saturday and Sunday, on Tuesdays and Thursdays."""
    dates = [match[code] for code in ("date", "date2", "date3") if code in match]
    numbers = [each.weekday for each in dates] or [match.get("weekday", match.get("weekdays"))]
    return None if any(each.day or each.month for each in dates) else _on_weekdays(match["set"], numbers)


def _on_weekdays(rule: str, numbers: Sequence[int | None]) -> Reading | None:
    """Return a weekly rule with more days; None where one is no weekday."""
    more = [_WEEKDAYS[number] for number in numbers if number is not None]
    if "FREQ=WEEKLY" not in rule or "BYDAY" not in rule or len(more) < len(numbers) or "BYHOUR" in rule:
        return None
    head, _, listed = rule.partition(";BYDAY=")
    days = sorted({*listed.split(","), *more}, key=_WEEKDAYS.index)
    return "set", f"{head};BYDAY={','.join(days)}"


@meaning
def more_numbers(match: Match) -> Reading | None:
    """Read 每周二、四, 每周一三五, but not 每周一两次."""
    listed = _HAN_WEEKDAYS.search(match.written)
    is_counted = listed and len(listed.group()) == 1 and match.order[-1] != "to" and "to" not in match
    if match.language != "zh" or listed is None or (is_counted and not _DONE_THEN.match(match.after)):
        return None
    return _on_weekdays(match["set"], ["一二三四五六".index(each) for each in listed.group() if each not in "、和与"])


@meaning
def set_on_weekdays(match: Match) -> Reading | None:
    """Read once a week, on Tuesdays."""
    first, second = match["set"], match["set2"]
    if "BYDAY" in first or not second.startswith(first):
        return None
    return "set", second


@meaning
def nth_weekday_of_months(match: Match) -> Reading | None:
    """Read every first Monday of the month, the last Friday of every month or quarter, 每个月最后一个周五."""
    place, unit = match.get("ordinal", match.get("which", 0)), {"M": 1, "Q": 3}.get(match.get("unit", ""))
    months = unit if match["every"] == 1 else {"P1M": 1, "P3M": 3}.get(str(match["every"]))
    if not months or not place:
        return None
    return _rule("MONTHLY", months, f";BYDAY={place}{_WEEKDAYS[match['weekday']]}")


@meaning
def each_date(match: Match) -> Reading | None:
    """Read 每月五号, 每年5月3日, the 1st of every month."""
    place = match.first("nth", "ordinal", "number2", "number")
    name = {"P1M": "M", "P1Y": "Y"}.get(match["every"], match.get("unit") if match["every"] == 1 else None)
    if name == "M" and 1 <= place <= 31 and "month_sign" not in match:
        return _rule("MONTHLY", 1, f";BYMONTHDAY={int(place)}")
    if name == "Y" and "number2" in match:
        return _rule("YEARLY", 1, f";BYMONTH={int(match['number'])};BYMONTHDAY={int(place)}")
    return None


@meaning
def every_date(match: Match) -> Reading | None:
    """Read chaque 15/4, 4월 15일마다, every 9th of August."""
    date = match.first("literal", "date")
    if date.month and date.day and not date.year:
        return _rule("YEARLY", 1, f";BYMONTH={date.month};BYMONTHDAY={date.day}")
    is_weekday = date.weekday is not None and not date.day and match["every"] == 1 and match.is_unspaced
    return _rule("WEEKLY", 1, f";BYDAY={_WEEKDAYS[date.weekday]}") if is_weekday else None


@meaning
def parts_of_days(match: Match) -> Reading | None:
    """Read Friday mornings, in the evenings."""
    number = match.first("weekday", "weekdays")
    if number is None and not _STANDS.search(match.before):
        return None  # movie nights
    hour = _hour_of(match["parts"])
    return _rule("DAILY", more=hour) if number is None else _rule("WEEKLY", 1, f";BYDAY={_WEEKDAYS[number]}{hour}")


@meaning
def every_month(match: Match) -> Reading | None:
    """Read every May, every summer, 每年三月."""
    month = match.get("month", match.get("number"))
    if match["every"] != 1 and not (match["every"] == "P1Y" and month in range(1, 13)):
        return None
    return _rule("YEARLY", 1, f";BYMONTH={int(month)}") if month else _rule("YEARLY")


@meaning
def set_at(match: Match) -> Reading | None:
    """Read every Monday at 9."""
    (minutes, unsure), (rule, _, hour) = match["clock"], match["set"].partition(";BYHOUR=")
    if "BYMINUTE" in match["set"]:
        return None
    minutes += _HALF if unsure and hour and int(hour) > 12 and minutes < _HALF else 0  # every night at 9
    return "set", rule + f";BYHOUR={minutes // 60 % 24};BYMINUTE={minutes % 60}"


@meaning
def set_from(match: Match) -> Reading | None:
    """Read every Monday from 9 to 11: what is repeated begins then."""
    return set_at(match.plus(clock=(match["hours"][0], False)))


@meaning
def set_at_part(match: Match) -> Reading | None:
    """Read every day at 7 in the evening."""
    reading = half_day(match)
    return set_at(match.plus(clock=reading[1])) if reading else None


@meaning
def two_sets(match: Match) -> Reading | None:
    """Read on Tuesdays and Thursdays."""
    first, second = match["set"], match["set2"]
    days = second.removeprefix("FREQ=WEEKLY;BYDAY=")
    return more_weekdays(match.of(set=first, weekday=_WEEKDAYS.index(days))) if days in _WEEKDAYS else None


@meaning
def set_in_part(match: Match) -> Reading | None:
    """Read 每个工作日早上: an hour that stands for the part of the day."""
    return None if "BYHOUR" in match["set"] else ("set", match["set"] + _hour_of(match["part"]))


def _hour_of(part: str) -> str:
    return f";BYHOUR={_HOURS_OF.get(part, 12)}"
