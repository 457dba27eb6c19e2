"""Tags of a turn or a question besides its words: who spoke, when, and whether it states or asks for a time.

    @speaker:caroline   a turn of hers                          turns only
    @month:2023-05      a turn of that month (UTC), or that     ... or a question that states it
    @day:2023-05-08     mentions that month or day ...          ... or a question that states it
    @time               the turn states a time ("last week")    the question asks for one ("when")
    @name               the turn names a person or a thing      the question asks who, where, which
    @number             the turn gives a number                 the question asks how many

Patterns decide, in English and Chinese; what "last week" means comes from processors/dates/resolve.py.  Texts come
cleaned and simplified (processors/text/language.py).  Every tag has weight 1.0 and count 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Final

from processors.dates.arithmetic import month
from processors.dates.digits import numeral
from processors.dates.resolve import day_of, days_of
from processors.dates.vocabulary import words_of
from processors.text import tables
from processors.text.greetings import Span
from processors.text.questions import answer_kinds
from processors.text.questions.answer_kinds import asks_name, asks_number, holds_name, holds_number
from processors.text.scripts import HAN
from state.events.extraction_types import Concept, TimeSpan

_MONTHS: Final = {word: int(codes["month"]) for word, codes in words_of("en").items() if "month" in codes}
_MONTH: Final = rf"(?:{'|'.join(sorted((word for word in _MONTHS if word.isalpha()), key=len, reverse=True))})\b\.?"
_PLAIN_MONTH: Final = r"(?:january|february|april|june|july|august|september|october|november|december)"
_UNIT: Final = r"(?:second|minute|hour|day|night|week|weekend|fortnight|month|year|decade|century)s?"
_COUNT: Final = r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|few|couple|several|many)"
_WEEKDAY: Final = "(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_SEASON: Final = r"(?:spring|summer|autumn|fall|winter|morning|afternoon|evening|night|quarter|semester|christmas)"
_TELLS: Final = tables.lazy(
    rf"""\b(?:
      yesterday | tomorrow | today | tonight | {_WEEKDAY}s? | {_PLAIN_MONTH}
    | (?:last|this|next|past|previous|coming|following|the\ other) \ (?:{_COUNT}\ )? (?:{_UNIT}|{_SEASON}|may|march)
    | {_COUNT} \ (?:more\ )?(?:of\ )? {_UNIT} \ (?:ago|later|earlier|before|after|from\ now|back|old)
    | (?:in|for|since|within|after|over|past) \ (?:the\ |about\ |around\ |nearly\ |almost\ |over\ )?
      (?:(?:last|past|next)\ )? {_COUNT} \ (?:of\ )? {_UNIT}
    | (?:in|by|since|until|till|during|of|on|from|before|after|early|late|mid|every) [ -] (?:may|march)
      \b (?!\ (?:be|have|not))
    | (?:may|march) \ (?:the\ )? \d\d? (?:st|nd|rd|th)? | \d (?:st|nd|rd|th)? \ (?:of\ )? (?:may|march)
    | (?:in|by|since|during|that|every) \ (?:the\ )? (?:early\ |late\ )? (?:spring|summer|autumn|fall|winter)
    | (?:1[89]|20)\d\d (?:s\b)? | \d\d?:\d\d | \d\d? \ ?[ap]\.?m\b | \d\d?/\d\d? (?:/\d\d(?:\d\d)?)?
    | ago | o'clock
    )(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)
_NUMERAL: Final = "[一二两三四五六七八九十百几半数多\\d]"
_TELLS_HAN: Final = re.compile(
    rf"""
      (?:大?[昨前后]|今|明)[天日晚早] | [今昨明](?:晚|早|夜) | [去今明前后]年 | 当[天年晚]
    | [上下这本那]个?(?:周|星期|礼拜|月|季度|学期|年|世纪) | (?:周|星期|礼拜)[一二三四五六日天末]
    | (?:十[一二]|[一二三四五六七八九十]|\d\d?)月(?:份|底|初|中)? | (?:19|20)\d\d年? | {_NUMERAL}{{1,6}}[年月]
    | {_NUMERAL}{{1,6}}个?半?(?:天|周|星期|礼拜|月|年|小时|分钟|钟头|秒)(?:以|之)?[前后]
    | (?:\d\d?|[一二三四五六七八九十]{{1,3}})[号日]
    | (?:早上|上午|中午|下午|傍晚|晚上|凌晨|半夜|夜里)(?!好)
    | {_NUMERAL}{{1,6}}点(?:半|钟|整|多|[一二三四五\d]{{1,3}}分?)
    | [春夏秋冬][天季] | 春节 | 元旦 | 国庆 | 中秋 | 端午 | 清明 | 除夕 | 过年 | [暑寒]假
    | 周末 | 年[初底] | 月[初底] | 小时候
    """,
    re.VERBOSE,
)
_HAN_OR_YEAR: Final = tables.lazy(rf"[{HAN}]|(?:19|20)\d\d")  # without one, _TELLS_HAN need not be tried
_ASKS_TIME: Final = tables.lazy(
    r"""\b(?:
      when (?:'s|'d|'re|'ll)? (?= \ (?:did|do|does|is|was|were|are|will|would|has|have|had|can|should|could|exactly)\b
                                 | '|\ ?\? | \s*$)
    | (?:since|until|till|by|know|remember|recall|say|tell\ me|ask|asking|mention|mentioned|and|or) \ when
    | (?:what|which) \ (?:(?:was|is)\ the\ )? (?:exact\ )?
      (?:date|day|weekday|month|year|week|weekend|time|season|decade)s?
    | how \ long | how \ recently | how \ soon | how \ many \ (?:seconds|minutes|hours|days|weeks|months|years)
    | (?:date|time) \ of
    )(?!\w)
    | 什么时[候间] | 啥时候? | 何[时日年] | 几时 | 几[月号点日年] | 几个?[月周天年小]
    | 哪一?个?(?:天|年|月|日|周|星期|礼拜|会儿|时候)
    | 多久 | 多少(?:年|天|个月|小时|分钟) | 多长时间 | (?:周|星期|礼拜)几 | 时间是 | 日期
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_STATED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<!\d)(?P<year>\d{4})[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?(?!\d)",
        r"(?<!\d)(?P<year>\d{4}) ?年 ?(?P<month>\d{1,2}|十[一二]|[一二三四五六七八九十]) ?月"
        r"(?:份)?(?: ?(?P<day>\d{1,2}) ?[日号])?",
        rf"\b(?:{_DAY} (?:of )?)?(?P<month>{_MONTH}),? (?:of )?(?P<year>\d{{4}})(?!\d)",
        rf"\b(?P<month>{_MONTH}) (?:the )?{_DAY},? (?:of )?(?P<year>\d{{4}})(?!\d)",
    )
)

_ASKS: Final = tables.lazy(
    r"[?？](?![\w=&%/.])|[?？](?=[^\x00-\x7f])|吗(?=[\s,。.!~…)”]|$)|(?<![着没])呢(?=[\s,。.~…)”]|$)"
    r"|(?:什么|谁|哪[里儿个些天位]|多少|几[个天次岁点]|怎么[样办]|怎样|为什么|多久|何时|咋[样办]|干嘛)[。.~]*$"
    # A last clause with an interrogative that neither denies nor means any: 要喷多久呀, 密码谁知道.
    r"|(?:^|[,，。!！;；~…\s])(?![^,，。!！;；~…\s]*(?:[都也没就]|不[管论知晓]|无论|随便|忘|什么的|啥的|万一|看看|怎么[这那]么|多少[有会能]))"
    r"[^,，。!！;；~…\s]{0,12}(?:谁|什么|啥|多少|(?<![十好了])几[个天次岁点块号楼张本]|哪(?!怕|儿啊|里啊|知)|怎么|咋|多[久大长远高重])"
    r"[^,，。!！;；~…\s]{0,6}[。.~]*$|[^,，。!！;；~…\s]了没(?:有)?[呀啊]?[。.~]*$"
)
_ASKS_FIRST: Final = tables.lazy(
    r"""(?:and\ |so\ |but\ |well,?\ |ok(?:ay)?,?\ )?
    (?: (?:who|what|where|when|why|how|which|whose|whom) (?:'s|'re|'d|'ll
        |\ (?:is|are|was|were|do|does|did|can|could|will|would|should|has|have|had|might|am)\b)
      | (?:how\ (?:many|much|long|often|old|far|come)|what\ (?:time|kind|sort|type|about)|why\ not|which|whose)\b
      | (?:do|does|did|is|are|was|were|can|could|will|would|should|have|has|had)\ (?:i|you|he|she|it|we|they|there)\b
      ) [^!]*$
    | (?:why|when|where|who|how\ so|since\ when|which\ ones?|what\ (?:size|colou?r|day|date|brand|number|name))[ .!~…]*$
    | (?:谁|什么|哪|怎么|怎样|为什么|为啥|几|多少|多久|何时|是不是|有没有|能不能) [^。!]*$
    """,
    re.IGNORECASE | re.VERBOSE,
)
WEEK: Final = 7  # days
SEASON: Final = 92  # days: the longest three months


def of_turn(text: str, speaker: str, at: int, times: Iterable[TimeSpan], called: Iterable[Span] = ()) -> list[Concept]:
    """Collect the tags of a turn said by `speaker` at `at` (ms since 1970), which mentions `times` and calls people."""
    day = day_of(at)
    tags = [_month(day), _day(day)]
    if tag := by(speaker):
        tags.append(_tag(tag, " ".join(speaker.split())))
    marks = {"time": tells_time(text), "name": holds_name(text, called), "number": holds_number(text)}
    tags.extend(_tag(f"@{kind}", kind) for kind, holds in marks.items() if holds)
    return list(dict.fromkeys([*tags, *_resolved(times)]))


def by(speaker: str) -> str | None:
    """Return the tag of a speaker's turns, None if there is no speaker."""
    name = " ".join(speaker.split())
    return f"@speaker:{name.casefold()}" if name else None


def of_query(text: str, times: Iterable[TimeSpan] = ()) -> list[Concept]:
    """Collect the tags a question could match: the dates it states, `times`, and what it asks for."""
    tags = dict.fromkeys(tag for pattern in _STATED for match in pattern.finditer(text) for tag in _stated(match))
    tags.update(dict.fromkeys(_resolved(times)))
    marks = {"time": asks_time, "name": asks_name, "number": asks_number}
    tags.update({_tag(f"@{kind}", kind): None for kind, asks_it in marks.items() if asks_it(text)})
    return list(tags)


def tells_time(text: str) -> bool:
    """Return whether a text holds a time expression ("may" and "march" only beside something like a date)."""
    return bool(_TELLS.search(text) or (_HAN_OR_YEAR.search(text) and _TELLS_HAN.search(text)))


def asks_time(text: str) -> bool:
    """Return whether a text asks for a time: when, which day, how long, 什么时候, 哪天."""
    return _ASKS_TIME.search(text) is not None or answer_kinds.asks_time(text)


def asks(text: str) -> bool:
    """Return whether a text asks something: a question mark anywhere, 吗 or 呢 at an end, or the form of a question."""
    return bool(_ASKS.search(text) or _ASKS_FIRST.match(text.lstrip()))


def _resolved(times: Iterable[TimeSpan]) -> Iterator[Concept]:
    """Yield the days of spans up to a week and the months of spans up to a season; longer ones are too vague."""
    for days in map(days_of, times):
        length = (days.last - days.first).days
        if length < WEEK:
            yield from (_day(days.first + timedelta(step)) for step in range(length + 1))
        if length <= SEASON:
            reached = 12 * (days.last.year - days.first.year) + days.last.month - days.first.month
            yield from (_month(month(days.first, step).first) for step in range(reached + 1))


def _stated(match: re.Match[str]) -> list[Concept]:
    """Make the tags of a stated date, none if there is no such date."""
    day = match["day"]
    try:
        first = date(int(match["year"]), _number_of_month(match["month"]), int(day or 1))
    except (ValueError, KeyError):  # a letter that only looks like one: aprıl
        return []
    return [_month(first), _day(first)] if day else [_month(first)]


def _number_of_month(text: str) -> int:
    return _MONTHS[text.lower().rstrip(".")] if text.isascii() and not text.isdecimal() else numeral(text)


def _month(day: date) -> Concept:
    return _tag(f"@month:{day.isoformat()[:7]}", day.isoformat()[:7])


def _day(day: date) -> Concept:
    return _tag(f"@day:{day.isoformat()}", day.isoformat())


def _tag(name: str, label: str) -> Concept:
    return Concept(name, label, 1.0, 1)
