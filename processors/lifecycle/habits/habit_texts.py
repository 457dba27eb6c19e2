"""Write the text of a habit: a template, in English or Chinese, with counts and the graph's spelling of words.

    Ada: latte (corner café): 29 times on 29 days since 2025-05-03, about every day, mostly in the morning; last on
    2025-06-12; not on 2025-05-14, from 2025-05-20 to 2025-05-27
    Eve: coffee: 7 times on 7 days since 2025-05-03, about every day; last on 2025-05-09; over, as said on 2025-05-20
    Bob: mostly latte, sometimes cappuccino (ordered): 30 times on 30 days since 2025-01-05, about every day, …

By no model, so all who fold the same log read the same.  Days and hours are by the speaker's clock.
SEEDS P22, P40.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from emgas.times import DAY_MS, format_utc
from processors.text import tables
from processors.text.scripts import HAN
from state.events.extraction_types import Exempt

BY: Final = "template 3"
MOSTLY: Final = 0.6  # of all members: what is said to be so mostly
ALWAYS: Final = 0.85  # of all members: what is said to be so without a word
LISTED_EXCEPTIONS: Final = 6  # exceptions that are told, the latest

_PARTS: Final = ((5, 12), (12, 18), (18, 23))  # hours of morning, afternoon, evening; else night
_HAN: Final = tables.lazy(f"[{HAN}]")
_ENGLISH: Final = ("in the morning", "in the afternoon", "in the evening", "at night")
_CHINESE: Final = ("早上", "下午", "晚上", "夜里")
_DAYS: Final = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
_TAGE: Final = ("周一", "周二", "周三", "周四", "周五", "周六", "周日")


@dataclass(frozen=True)
class Counts:
    """The counts of a habit; fields as in MemoryConsolidated.  `ended`: the day on which it was said to be over, ms."""

    count: int
    days: int
    first: int
    last: int
    period: int
    hours: Sequence[int]
    weekdays: Sequence[int]
    exceptions: Sequence[Exempt]
    ended: int | None = None


@dataclass(frozen=True)
class Named:
    """The words of a habit's name, in the graph's spelling.

    words  what all of it is about, the most telling first      turns  what takes turns in it, the most frequent first
    lately which of `turns` the latest members hold, where it is not the first
    """

    words: Sequence[str]
    turns: Sequence[str] = ()
    lately: str | None = None


def habit_text(speaker: str, named: Named, counts: Counts) -> str:
    """Return what recurs: its name, then how often, how regularly and when."""
    if any(_HAN.search(label) for label in (*named.turns, *named.words)[:1]):
        return _in_chinese(speaker, named, counts)
    return _in_english(speaker, named, counts)


def _headed(named: Named, mostly: str, sometimes: str, lately: str, comma: str) -> list[str]:
    """Return the name of a habit, followed by the words that stand in brackets beside it."""
    if not named.turns:
        return [*named.words]
    first, *others = named.turns
    head = f"{mostly}{first}{sometimes}{comma.join(others[:3])}"
    return [head if named.lately is None else f"{head}{lately}{named.lately}", *named.words]


def part_of_day(hours: Sequence[int]) -> tuple[int, float]:
    """Find when in the day something mostly is, 0 morning, 1 afternoon, 2 evening, 3 night, and the share of that."""
    counts = [sum(hours[since:until]) for since, until in _PARTS]
    counts.append(sum(hours) - sum(counts))
    most = max(range(len(counts)), key=lambda part: (counts[part], -part))
    return most, counts[most] / max(sum(counts), 1)


def on_weekdays(weekdays: Sequence[int]) -> bool:
    """Return whether something happens from Monday to Friday, as good as never at the weekend."""
    total = sum(weekdays)
    return total >= 10 and sum(weekdays[5:]) <= 0.05 * total


def _in_english(speaker: str, named: Named, counts: Counts) -> str:
    labels = _headed(named, "mostly ", ", sometimes ", ", lately ", ", ")
    beside = f" ({', '.join(labels[1:])})" if len(labels) > 1 else ""
    parts = [
        f"{speaker}: {labels[0]}{beside}: {counts.count} times on {counts.days} days since {_day(counts.first)}",
        _often(counts),
        _mostly(counts.hours, _ENGLISH, "mostly "),
        _on(counts.weekdays, _DAYS, "on weekdays", "on "),
    ]
    text = f"{', '.join(part for part in parts if part)}; last on {_day(counts.last)}"
    spans = [_span(each, "on {}", "from {} to {}") for each in counts.exceptions[-LISTED_EXCEPTIONS:]]
    text = f"{text}; not {', '.join(spans)}" if spans else text
    return text if counts.ended is None else f"{text}; over, as said on {_day(counts.ended)}"


def _in_chinese(speaker: str, named: Named, counts: Counts) -> str:
    labels = _headed(named, "多为", "、有时", "、最近", "、")
    beside = f"({'、'.join(labels[1:])})" if len(labels) > 1 else ""
    parts = [
        f"{speaker}:{labels[0]}{beside}:自{_day(counts.first)}起共{counts.count}次、{counts.days}天",
        _chinese_often(counts),
        _mostly(counts.hours, _CHINESE, "多在"),
        _on(counts.weekdays, _TAGE, "在工作日", "在"),
    ]
    text = f"{','.join(part for part in parts if part)};最近一次{_day(counts.last)}"
    spans = [_span(each, "{}", "{}至{}") for each in counts.exceptions[-LISTED_EXCEPTIONS:]]
    text = f"{text};{'、'.join(spans)}除外" if spans else text
    return text if counts.ended is None else f"{text};{_day(counts.ended)}说已不再"


def _often(counts: Counts) -> str:
    days = round(counts.period / DAY_MS)
    return "about every day" if days <= 1 else f"about every {days} days" if days != 7 else "about every week"


def _chinese_often(counts: Counts) -> str:
    days = round(counts.period / DAY_MS)
    return "约每天" if days <= 1 else f"约每{days}天" if days != 7 else "约每周"


def _mostly(hours: Sequence[int], names: Sequence[str], mostly: str) -> str:
    most, share = part_of_day(hours)
    return "" if share < MOSTLY else f"{'' if share >= ALWAYS else mostly}{names[most]}"


def _on(weekdays: Sequence[int], names: Sequence[str], working: str, on: str) -> str:
    most = max(range(7), key=lambda day: (weekdays[day], -day))
    if weekdays[most] >= ALWAYS * sum(weekdays):
        return f"{on}{names[most]}"
    return working if on_weekdays(weekdays) else ""


def _span(exempt: Exempt, one: str, several: str) -> str:
    first, last = _day(exempt.since), _day(exempt.until - DAY_MS)
    return one.format(first) if first == last else several.format(first, last)


def _day(at: int) -> str:
    return format_utc(at)[:10]
