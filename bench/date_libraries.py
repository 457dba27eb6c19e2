"""Libraries that find dates in text, each made to answer as our grammar does: a text and the day it was said → days.

    ours                the grammar of processors/dates, English and Chinese
    dateparser          English and Chinese        search_dates, told to prefer the past or the future (two peers)
    ctparse             English                    the one best expression of a text
    recognizers-text    English and Chinese        …-date-time; of several readings the one nearest to the day
    jionlp              Chinese                    ner.extract_time

None of them is a dependency: what is not installed raises ImportError where it is loaded.  Durations, and what repeats,
count for nothing: no library is blamed for finding them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from importlib import import_module
from typing import Any, Final, NamedTuple

from processors.dates.arithmetic import Days, month, year
from processors.dates.resolve import anchored, days_of
from processors.text.language import clean

Finder = Callable[[str, date], list[Days]]
ENGLISH: Final = "en"
CHINESE: Final = "zh"


class Library(NamedTuple):
    """A library: the languages that it reads, what to install, and how to load it for one of them."""

    languages: tuple[str, ...]
    package: str
    load: Callable[[str], Finder]


def noon(reference: date) -> datetime:
    """Return noon of a day as the time of a text, because the tables hold only days."""
    return datetime.combine(reference, time(12), UTC)


def _ours(_language: str) -> Finder:
    def find(text: str, reference: date) -> list[Days]:
        spans = anchored(clean(text), int(noon(reference).timestamp() * 1000), ENGLISH)
        return [days_of(span) for span in spans]

    return find


def _dateparser(prefers: str) -> Callable[[str], Finder]:
    def load(language: str) -> Finder:
        search = import_module("dateparser.search").search_dates

        def find(text: str, reference: date) -> list[Days]:
            base = noon(reference).replace(tzinfo=None)
            settings = {"RELATIVE_BASE": base, "PREFER_DATES_FROM": prefers}
            results = search(text, languages=[language], settings=settings) or []
            return [Days(at.date(), at.date()) for _, at in results]

        return find

    return load


def _ctparse(_language: str) -> Finder:
    parse = import_module("ctparse").ctparse

    def find(text: str, reference: date) -> list[Days]:
        artifact = parse(text, ts=noon(reference).replace(tzinfo=None), timeout=1.0)
        resolution = None if artifact is None else artifact.resolution
        ends = [getattr(resolution, "t_from", resolution), getattr(resolution, "t_to", resolution)]
        days = [_day_of(end) for end in ends]
        if days[0] is None or days[1] is None or days[1].last < days[0].first:
            return []
        return [Days(days[0].first, days[1].last)]

    return find


def _day_of(end: Any) -> Days | None:
    """Read the day, month or year of one end of what ctparse found; None for a time of day alone, or a duration."""
    of, at, on = (getattr(end, name, None) for name in ("year", "month", "day"))
    if of is None:
        return None
    if at is None:
        return year(of)
    return month(date(of, at, 1)) if on is None else Days(date(of, at, on), date(of, at, on))


def _recognizers(language: str) -> Finder:
    package = import_module("recognizers_date_time")
    culture = {ENGLISH: "en-us", CHINESE: "zh-cn"}[language]
    model = package.DateTimeRecognizer(culture).get_datetime_model(culture)

    def find(text: str, reference: date) -> list[Days]:
        results = model.parse(text, noon(reference).replace(tzinfo=None))
        readings = (
            [days for value in (result.resolution or {}).get("values", ()) if (days := _resolved(value))]
            for result in results
        )
        return [min(each, key=lambda days: abs((days.first - reference).days)) for each in readings if each]

    return find


def _resolved(value: Mapping[str, str]) -> Days | None:
    """Read one reading of recognizers-text: a day, or a range whose end is excluded."""
    kind = value.get("type", "")
    if kind in {"date", "datetime"}:
        day = _parsed(value.get("value", ""))
        return None if day is None else Days(day, day)
    if kind in {"daterange", "datetimerange"}:
        first, end = _parsed(value.get("start", "")), _parsed(value.get("end", ""))
        if first is None or end is None:
            return None
        return Days(first, max(first, end - timedelta(1) if kind == "daterange" else end))
    return None


def _jionlp(_language: str) -> Finder:
    extract = import_module("jionlp").ner.extract_time

    def find(text: str, reference: date) -> list[Days]:
        results = extract(text, time_base=noon(reference).timestamp(), with_parsing=True)
        return list(_spans(each["detail"] for each in results or ()))

    return find


def _spans(details: Iterator[Mapping[str, Any]]) -> Iterator[Days]:
    for detail in details:
        if detail.get("type") in {"time_point", "time_span"}:
            first, last = map(_parsed, detail["time"])
            if first is not None and last is not None and first <= last:
                yield Days(first, last)


def _parsed(text: str) -> date | None:
    """Read the day that a text begins with; None for "not resolved" and what has no end."""
    match = re.match(r"(\d{4})-(\d\d)-(\d\d)", text)
    return date(*map(int, match.groups())) if match else None


LIBRARIES: Final[Mapping[str, Library]] = {
    "ours": Library((ENGLISH, CHINESE), "emgas", _ours),
    "dateparser, past": Library((ENGLISH, CHINESE), "dateparser", _dateparser("past")),
    "dateparser, future": Library((ENGLISH, CHINESE), "dateparser", _dateparser("future")),
    "ctparse": Library((ENGLISH,), "ctparse", _ctparse),
    "recognizers-text": Library((ENGLISH, CHINESE), "recognizers-text-date-time", _recognizers),
    "jionlp": Library((CHINESE,), "jionlp", _jionlp),
}
