"""Time expressions resolved: what "last Friday", 三个月前 or "jeden Montag um 9" means, given when it was said.

    text, at ──▶ grammar.py, a language at a time ──▶ choice.py: which Friday ──▶ chains.py ──▶ TimeSpan, in order

    yesterday → a day      last week → Monday to Sunday      in June → a month      … two weeks later → chains.py
    tomorrow at 3 pm → a day and a minute of it      for two hours → a duration      every Monday → a set

A span is as long as the words are exact.  `at` is all that is known of the present: no clock is read.  The rules are
stated in docs/time.md.  This runs once, when a turn is written: the spans are recorded in its event.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any, Final, NamedTuple

from emgas.limits import EARLIEST_MS, LATEST_MS, SPANS_PER_TURN
from emgas.times import EPOCH, datetime_of
from processors.dates.arithmetic import Days
from processors.dates.chains import with_chains
from processors.dates.choice import NEAR, SURE, UNSURE, Choice, Place, choose
from processors.dates.grammar import parse
from processors.dates.scanner import Atom
from processors.dates.sets import first_of, iso_duration
from processors.dates.spans import DAY, MINUTE, SECONDS, Span, day, shift
from processors.dates.vague import vague_times
from processors.dates.vocabulary import LANGUAGES, UNSPACED
from processors.text import tables
from processors.text.chinese import simplified
from processors.text.scripts import HAN
from state.events.extraction_types import TimeKind, TimeSpan

LIKELY: Final = 0.9
MAYBE: Final = 0.6
TRIED: Final = 100  # most times that are read in one text: a longer list is no conversation
_FIRST: Final = EPOCH.toordinal()
EPOCH_MOMENT: Final = datetime_of(0)
_AT_END: Final = tables.lazy(r"end\b|ende|fin|eo[my]\b|[底末]|말", re.IGNORECASE)  # up to its last day
_IS_HAN: Final = tables.lazy(f"[{HAN}]")


class Placed(NamedTuple):
    """A time at start to end of a text, as it was read."""

    start: int
    end: int
    since: datetime
    until: datetime
    kind: TimeKind = ""
    value: str = ""
    confidence: float = SURE

    @property
    def is_day(self) -> bool:
        """Return whether it surely means days."""
        return not self.kind and self.confidence > UNSURE


def anchored(text: str, at: int, language: str) -> list[TimeSpan]:
    """Resolve the days that a clean text surely means, in order, at most limits.SPANS_PER_TURN, no span twice.

    at        when it was said: ms since 1970, UTC, limits.EARLIEST_MS..LATEST_MS
    language  the language beside Chinese, ISO 639-1; one without words in data/words.tsv has dates in digits alone
    """
    return [span for span in resolve_times(text, at, language) if not span.kind]


def resolve_times(text: str, at: int, language: str) -> list[TimeSpan]:
    """Find all that a clean text says of time: days as `anchored`, then times of day, durations, sets, vague ones."""
    return [span for _, _, span in placed_times(text, at, language)]


def placed_times(text: str, at: int, language: str) -> list[tuple[int, int, TimeSpan]]:
    """Find what a clean text says of time, each with where it stands: days first, then the rest, no span twice."""
    spans: dict[TimeSpan, tuple[int, int]] = {}
    read = sorted(_read(text, datetime_of(at), language), key=lambda each: (bool(each.kind), each.start))
    for each in read:
        if span := _span(text, each):
            spans.setdefault(span, (each.start, each.end))
    return [(start, end, span) for span, (start, end) in spans.items()][:SPANS_PER_TURN]


def day_of(at: int) -> date:
    """Find the day, in UTC, of a time in ms since 1970."""
    return datetime_of(at).date()


def days_of(span: TimeSpan) -> Days:
    """Find the first and the last day of a span."""
    return Days(day_of(span.since), day_of(span.until - 1))


def format_span(span: TimeSpan) -> str:
    """Write a span for a reader: "last week = 2023-05-01 to 2023-05-07", "by the end of May = 2023-05-31"."""
    first, last = _shortest(days := days_of(span))
    if span.value == "until" and _AT_END.search(span.text):
        first = last = days.last.isoformat()
    return f"{' '.join(span.text.split())} = {first if first == last else f'{first} to {last}'}"


def format_minute(span: TimeSpan) -> str:
    """Write the minute that a span means for a reader: "in three hours = 2023-05-07 13:00"."""
    return f"{' '.join(span.text.split())} = {datetime_of(span.since):%Y-%m-%d %H:%M}"


def _shortest(days: Days) -> tuple[str, str]:
    """Write both ends, as days, or as months or years where the span is whole ones."""
    first, last = days.first.isoformat(), days.last.isoformat()
    if days.last == date.max or days.first.day > 1 or (after := days.last + timedelta(1)).day > 1:
        return first, last
    return (first[:7], last[:7]) if days.first.month > 1 or after.month > 1 else (first[:4], last[:4])


def _span(text: str, each: Placed) -> TimeSpan | None:
    """Return a time as it is recorded, None where it leaves the limits of times."""
    since, until = _ms(each.since), _ms(each.until)
    if not EARLIEST_MS <= since < until <= LATEST_MS:
        return None
    return TimeSpan(text[each.start : each.end], since, until, each.kind, each.value, each.confidence)


def _ms(when: datetime) -> int:
    return (when - EPOCH_MOMENT) // timedelta(milliseconds=1)


def _languages(text: str, language: str) -> list[str]:
    """List the columns that a text is read by: Chinese beside any language but Japanese and Korean."""
    if language in ("zh", "ja", "ko"):
        return [language]
    chinese = ["zh"] if language not in LANGUAGES or _IS_HAN.search(text) else []
    return [*([language] if language in LANGUAGES else []), *chinese]


def _read(text: str, now: datetime, language: str) -> list[Placed]:
    """Read a text by each of its languages; of two expressions that overlap, the first counts."""
    columns = _languages(text, language)
    read = [each for column in columns for each in _of_column(text, now, column)]
    return _apart(read) if len(columns) > 1 else read


def _of_column(text: str, now: datetime, language: str) -> list[Placed]:
    plain = simplified(text) if language == "zh" else text
    plain = _TITLES.sub(_hidden, plain if len(plain) == len(text) else text)
    read = [each for group in _of_grammar(plain, now, language) for each in group]
    if language not in ("en", "zh"):
        return read
    others = [*_safely(_chained, plain, now, read, language), *_safely(_vague, plain, now)]
    return [*others, *(each for each in read if not _overlaps(each, others))]


def _hidden(title: re.Match[str]) -> str:
    return "·" * len(title.group())


def _safely(read: Callable[..., list[Placed]], *of: Any) -> list[Placed]:
    """Read what a text means; nothing where that leaves the years 1 to 9999."""
    try:
        return read(*of)
    except (OverflowError, ValueError):
        return []


def _apart(read: Iterable[Placed]) -> list[Placed]:
    """Drop what overlaps an expression of another language that begins before it."""
    kept: list[Placed] = []
    for each in sorted(read, key=lambda each: (each.start, each.start - each.end)):
        same = [other for other in kept if other.start < each.end and each.start < other.end]
        if all(bool(other.kind) != bool(each.kind) for other in same):
            kept.append(each)
    return kept


def _overlaps(each: Placed, others: Iterable[Placed]) -> bool:
    return any(other.start < each.end and each.start < other.end for other in others)


def _chained(text: str, now: datetime, read: Iterable[Placed], language: str) -> list[Placed]:
    """Read what counts from an expression before it."""
    days = [(each.start, each.end, _as_days(each)) for each in read if each.is_day]
    chained = with_chains(text, now.date(), days, english=language == "en") if days else []
    return [Placed(start, end, *_as_span(result)) for start, end, result in chained if (start, end, result) not in days]


def _as_days(each: Placed) -> Days:
    return Days(each.since.date(), (each.until - MINUTE).date())


def _as_span(days: Days) -> Span:
    first, last = (EPOCH_MOMENT + timedelta(each.toordinal() - _FIRST) for each in days)
    return first, last + DAY


def _vague(text: str, now: datetime) -> list[Placed]:
    return [Placed(each.start, each.end, *each.span, "vague", "", each.confidence) for each in vague_times(text, now)]


def _of_grammar(text: str, now: datetime, language: str) -> Iterator[list[Placed]]:
    """Yield what the atoms of a text mean, in order."""
    earlier: tuple[Span, int] | None = None
    coded = ((code, atom) for atom in parse(text, language, now) if (code := _code_of(atom)))
    for code, atom in islice(coded, TRIED):
        place = Place(text, atom.start, atom.end, language, now, "", earlier)
        if read := _safely(_READERS[code], atom, place):
            yield read
            if days := [each for each in read if each.is_day]:
                earlier = (days[0].since, days[0].until), days[0].end


def _code_of(atom: Atom) -> str | None:
    return next((code for code in _READERS if code in atom.codes), None)


def _date(atom: Atom, place: Place) -> list[Placed]:
    return _days(atom, place, choose(atom.codes["date"], place))


def _bound(atom: Atom, place: Place) -> list[Placed]:
    date, direction = atom.codes["bound"]
    return _days(atom, place, choose(date, _inside(atom, place, direction)), direction)


def _inside(atom: Atom, place: Place, direction: str) -> Place:
    """Return the place of the day inside an expression; in Chinese all of it but 之前 and the like."""
    start, end, _ = atom.day or (atom.start, atom.end, None)
    if place.language == "zh":
        bound = _HAN_BOUND.search(place.text[atom.start : atom.end])
        start, end = atom.start, atom.start + bound.start() if bound else atom.end
    return place._replace(start=start, end=end, direction=direction)


def _days(atom: Atom, place: Place, choice: Choice | None, direction: str = "") -> list[Placed]:
    if choice is None:
        return []
    (since, until), sure = choice
    sure = UNSURE if _STORY.search(place.text[atom.start : atom.end]) else sure
    start = place._replace(start=atom.start).begin() if place.language == "en" and not direction else atom.start
    return [Placed(start, atom.end, since, until, "" if sure > UNSURE else "vague", direction, sure)]


def _moment(atom: Atom, place: Place) -> list[Placed]:
    return _moments(atom, place, atom.codes["moment"])


def _bound_moment(atom: Atom, place: Place) -> list[Placed]:
    spans, direction = atom.codes["moment_bound"]
    return _moments(atom, place, spans, direction)


def _moments(atom: Atom, place: Place, spans: list[Span], direction: str = "") -> list[Placed]:
    """Return the day of a time and the time itself."""
    days = _day_of(atom, place, spans, direction)
    if atom.day and not days:
        return []
    sure = days[0].confidence if days else SURE
    chosen = next((span for span in spans if days and days[0].since <= span[0] < days[0].until), spans[0])
    sure = min(sure, SURE if chosen[1] - chosen[0] <= MINUTE else LIKELY)
    return [*days, Placed(atom.start, atom.end, *chosen, "time", direction, sure)]


def _day_of(atom: Atom, place: Place, spans: list[Span], direction: str) -> list[Placed]:
    if atom.day is None:
        since, until = spans[0]
        is_part = until - since > MINUTE and until - since < DAY and since.minute == 0 == since.second
        return _days(atom, place, (day(since), SURE)) if is_part and day(since)[0] == day(until - MINUTE)[0] else []
    start, end, date = atom.day
    is_part = spans[0][1] - spans[0][0] > MINUTE
    whole = Atom(atom.start, atom.end, {}) if is_part else Atom(start, end, {})
    return _days(whole, place, choose(date, _inside(atom, place, direction)))


def _clock(atom: Atom, place: Place) -> list[Placed]:
    return _clock_of(atom, place, atom.codes["clock"])


def _clock_bound(atom: Atom, place: Place) -> list[Placed]:
    clock, direction = atom.codes["clock_bound"]
    return [each._replace(value=direction) for each in _clock_of(atom, place, clock)]


def _clock_of(atom: Atom, place: Place, clock: tuple[int, bool]) -> list[Placed]:
    minutes, unsure = clock
    minutes += 720 if unsure and 60 <= minutes < 420 and place.language in ("en", "zh") else 0
    return _hours_of(atom, place, minutes, minutes + 1)


def _hours(atom: Atom, place: Place) -> list[Placed]:
    return _hours_of(atom, place, *atom.codes["hours"])


def _part(atom: Atom, place: Place) -> list[Placed]:
    """Return a part of the day that stands alone: in the morning, 下午."""
    written = place.text[atom.start : atom.end]
    before = place.text[max(0, atom.start - NEAR) : atom.start].lower()
    spaced = place.language not in UNSPACED and (" " in written or _PART_AFTER.search(before))
    stands = len(written) > 1 or place.text[atom.end : atom.end + 1] in ("에", "に")  # 밤에
    is_greeting = place.text[atom.end : atom.end + 1] in _NOT_AFTER_PART or before.endswith("좋은 ")
    if not spaced and (place.language not in UNSPACED or not stands or is_greeting):
        return []
    low, high = map(int, atom.codes["part"].split("-"))
    return _hours_of(atom, place, 60 * low, 60 * high)


def _hours_of(atom: Atom, place: Place, low: int, high: int) -> list[Placed]:
    today = day(place.now)[0]
    return [Placed(atom.start, atom.end, today + MINUTE * low, today + MINUTE * high, "time", "", MAYBE)]


def _length(atom: Atom, place: Place) -> list[Placed]:
    parts = atom.codes["length"]
    written, before = place.text[atom.start : atom.end], place.text[max(0, atom.start - 2) : atom.start]
    if written.istitle() and " " in written and before[-1:] in ("“", '"', "'"):
        return []  # "One Hundred Years of Solitude"
    if place.language == "ko" and parts == [(1.0, "D")] and not _KOREAN_LASTS.match(place.text[atom.end :]):
        return []  # 좋은 하루
    if written == "며칠" and not _KOREAN_LASTS.match(place.text[atom.end :]):
        return []  # 오늘 며칠이에요?
    if written == "一天" and (before[-1:] in _BEFORE_A_DAY or _OF_A_DAY.match(place.text, atom.end)):
        return []  # 美好的一天, 祝你今天一天愉快
    one = len(parts) == 1 and parts[0][0] == 1 and _ONE.match(place.text, atom.start)
    if one and not _LASTS.search(place.text[max(0, atom.start - NEAR) : atom.start].lower()):
        return []
    until = place.now
    for count, name in parts:
        until = shift(until, name, count) if count == int(count) else until + timedelta(seconds=count * SECONDS[name])
    return [Placed(atom.start, atom.end, place.now, until, "duration", iso_duration(parts), SURE)]


def _set(atom: Atom, place: Place) -> list[Placed]:
    rule = atom.codes["set"]
    return [Placed(atom.start, atom.end, *first_of(rule, place.now), "set", rule, SURE)]


_READERS: Final[dict[str, Any]] = {
    "date": _date, "bound": _bound, "moment": _moment, "moment_bound": _bound_moment, "clock": _clock,
    "clock_bound": _clock_bound, "hours": _hours,
    "part": _part, "length": _length, "set": _set,
}  # fmt: skip
_TITLES: Final = tables.lazy("《[^》]*》")  # 《明日之后》 tells no time
_STORY: Final = tables.lazy(  # these count from what goes before (chains.py), or are idioms
    r"\b(?:previous|prior|following|next (?:day|morning|afternoon|evening|night)|last day)\b"
    r"|^[前后][一二两三四五几\d]|^过[一两]",
    re.IGNORECASE,
)
_HAN_BOUND: Final = tables.lazy(r"(?:之前|以前|前|之后|以后|后)$")
_NOT_AFTER_PART: Final = ("好", "饭", "餐", "茶")
_KOREAN_LASTS: Final = tables.lazy(r"\s?(?:동안|종일|내내|만|이내|안)")
_BEFORE_A_DAY: Final = frozenset("的天这那每某有哪")
_OF_A_DAY: Final = tables.lazy("愉快|结束|开始|过去")
_ONE: Final = tables.lazy(r"(?:an?|one|another|un|una|une|ein\w*) ", re.IGNORECASE)
_LASTS: Final = tables.lazy(
    r"(?:for|takes?|took|lasts?|lasted|spen[dt]|within|than|about|over|durante|por|pendant|pour|lang|für)"
    r"\s*(?:the |las? |los )?$"
)
_PART_AFTER: Final = tables.lazy(r"\b(?:in|the|during|à|la|le|dans|por|en|am|gegen|zur|in der) *(?:the |la |le )?$|l'$")
