"""The match of a grammar rule, and the table of its readers.

A rule (data/rules.tsv) is a pattern over codes and the name of a meaning: a function of a match that returns a code and
its value, or None where the match means nothing.  Values by code:

    date     Written                       clock   (minute of the day, whether its half of the day is unsure)
    moment   spans, the likely one first   hours   (from minute, to minute)        length  [(count, unit)]
    bound    (span, direction)             set     an RRULE (RFC 5545)     clock_bound  (clock, direction)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from processors.dates.spans import Span, Written
from processors.dates.vocabulary import UNSPACED
from processors.text import tables

MONTH_AFTER: Final = tables.lazy(r"\s?(?:\d\d?|[一二三四五六七八九十]+|[일이삼사오육칠팔구십]+)\s?[月월]")
MOVED: Final = tables.lazy(
    r"\b(?:moved|rescheduled|rearranged|changed|postponed|delayed|shifted|switched|swapped|pushed|slipped|slid|bumped"
    r"|put off|brought forward|verschoben|verlegt|vorgezogen|cambi|aplaz|reprogram|pospuest|adelant|déplac|report|décal"
    r"|avanc)\w*\b|改|挪|调到?|推迟|提前|変更|移動|延期|変わ|移し|변경|옮|연기|미뤄|미루|바뀌|바꿨|당겨"
)
VERB_LAST: Final = frozenset({"ja", "ko", "de"})
Reading = tuple[str, Any]


class Match(dict[str, Any]):
    """The values of a match by code; a code that comes twice has its second value as "number2".

    now     when it was said, by the speaker's clock
    order   the codes in the order of the text
    written         the text that matched, in small letters; before, after: the text around it
    """

    def __init__(self, values: Mapping[str, Any], scene: Match | None = None) -> None:
        super().__init__(values)
        if scene is not None:
            self.now, self.language, self.order = scene.now, scene.language, scene.order
            self.before, self.after, self.written = scene.before, scene.after, scene.written

    now: datetime
    language: str
    order: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    written: str = ""

    def of(self, **values: Any) -> Match:
        """Return a match of other values at the same place."""
        return Match(values, self)

    def plus(self, **values: Any) -> Match:
        """Return a match with more values at the same place."""
        return Match({**self, **values}, self)

    def first(self, *codes: str) -> Any:
        """Return the value of the first of these codes that the match has, else None."""
        return next((self[code] for code in codes if code in self), None)

    @property
    def is_unspaced(self) -> bool:
        """Return whether the language writes no spaces."""
        return self.language in UNSPACED

    @property
    def is_postfixing(self) -> bool:
        """Return whether the language says "week next", as Spanish and French do."""
        return self.language in ("es", "fr")


Meaning = Callable[[Match], Reading | None]
MEANINGS: Final[dict[str, Meaning]] = {}


def meaning(read: Meaning) -> Meaning:
    """Enter a function in the table of meanings, by its name."""
    MEANINGS[read.__name__] = read
    return read


def dated(
    year: float | None = None, month: float | None = None, day: float | None = None, weekday: int | None = None
) -> Reading | None:
    """Return a date of parts, None where a month or a day has no such number."""
    if month is not None and not 1 <= month <= 12:
        return None
    if day is not None and not (1 <= day <= 31 and day == int(day)):
        return None
    year, month, day = (None if each is None else int(each) for each in (year, month, day))
    return "date", Written(year, month, day, weekday)


def fixed(*spans: Span, grain: str = "") -> Reading | None:
    """Return a date that means these spans, the likely one first."""
    return ("date", Written(spans=spans, grain=grain)) if spans else None


def day_number(match: Match) -> Any:
    """Return the ordinal of a match, or its number."""
    return match.first("ordinal", "number")


def is_moved(match: Match) -> bool:
    """Return whether two times are where something was and where it is now, and no range."""
    return bool(MOVED.search(match.before) or (match.language in VERB_LAST and MOVED.search(match.after)))


def written_year(match: Match) -> int | None:
    """Return the year of a match: 2016, or short: 16, 98."""
    value = match.get("year") or match.get("number")
    if value is None:
        return None
    return int(value) if value > 99 else int(value) + (2000 if value < 50 else 1900)
