"""Choose between the readings of a date: by the tense of the sentence, or by the text before it.

    "I ran on Friday"  the last one     "see you on Friday"  the next one     "A letter on Friday"  the next one, unsure

Where nothing shows a tense, a date of no year means the nearest one if any other is at least twice as far; else the
reading is unsure.  A habit has no date.  Tenses are read in English and Chinese (tense.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from processors.dates import tense
from processors.dates.match import MOVED, VERB_LAST
from processors.dates.spans import Span, Written, day, meanings, unit, week
from processors.dates.tense import Tense
from processors.text import tables

SURE: Final = 1.0
UNSURE: Final = 0.5
NEAR: Final = 20  # characters before an expression that a word beside it may take
_CUES: Final = {"en": tense.ENGLISH, "zh": tense.CHINESE}
_PREPOSITIONS: Final = tables.lazy(
    r"\b(?:(?:in|on|over|during|at|around|since|until|till|by|before|after|from|between)(?: the)?|the) ?$",
    re.IGNORECASE,
)
_AMBIGUOUS: Final = tables.lazy(r"(0?[1-9]|1[0-2])/(?!\1/)(?:0?[1-9]|1[0-2])/\d+")  # 5/7/2022
_BESIDE: Final = tables.lazy(
    r"\b(?:in|on|over|during|at|around|since|until|till|by|before|after|from|between|for|this|last|next|early|late|mid|end)"
    r"[ -](?:the )?$|\b(?:day|morning|afternoon|evening|night) of (?:the )?$",
    re.IGNORECASE,
)
_FROM_THEN: Final = frozenset({"부터", "から"})
_ONWARD: Final = tables.lazy(
    r"\b(?:from|starting|beginning|as of|ab|von|a partir del?|à partir d[eu]|dès)"
    r"(?: (?:on|from|dem|den|the|el|la|le))?\s*$",
    re.IGNORECASE,
)
_AHEAD: Final = frozenset({"until", "before"})
_SENTENCE_END: Final = tables.lazy(r"[.!?…。\n]")
_MOVED_FROM: Final = tables.lazy(
    r"\b(?:moved|rescheduled|changed|postponed|shifted|switched|pushed|brought forward)\b[^,;]* from\b[^,;]*$",
    re.IGNORECASE,
)
_TITLE: Final = tables.lazy(r"\b(?:song|film|movie|album|book|show|series|called|titled) $", re.IGNORECASE)
_HAN_NOT_BEFORE: Final = tables.lazy(r"(?:[每个隔逢和、“\"]|今天|今天是|每到)$")
_HAN_NOT_AFTER: Final = tables.lazy(r"[到至和、”\"]")


def _words(language: str, side: str) -> str:
    rows = tables.rows(__package__, "beside")
    return "|".join(re.escape(word) for of, where, word in rows if (of, where) == (language, side))


_BEFORE_A_NAME: Final = tables.lazy(rf"(?:[\"“']|\b(?:{_words('en', 'before')}) )$", re.IGNORECASE)
_AFTER_A_NAME: Final = tables.lazy(rf"(?:s\b|'| (?:{_words('en', 'after')})\b)", re.IGNORECASE)
_HAN_DONE_THEN: Final = tables.lazy(
    r"\s*(?:假期)?(?:[带陪放休约聚办发团回去来飞搬]|过[来去]|结婚|领证|出[发差]|[加值]班|一起|全家|一家|我们|咱|大家|公司|学校|单位|家里|爸妈|朋友|孩子|同学)"
)
_HAN_THAT_DAY: Final = tables.lazy("的?(?:[那当]一?[天日晚夜]|前后|左右)")
_GIVEN: Final = tables.lazy(
    r"\b(?:got|gave|given|received|went|came|did|was|were|had|cooked|visited|stayed)\b[^.,;]* $", re.IGNORECASE
)
_COMES: Final = tables.lazy(_words("zh", "comes"))


class Place(NamedTuple):
    """The place of a date: text[start:end], in a language, at a moment.

    direction  "since", "until", "before" or "after" where it is a bound
    earlier    what the date before it in the same text means, and where that ended
    """

    text: str
    start: int
    end: int
    language: str
    now: datetime
    direction: str = ""
    earlier: tuple[Span, int] | None = None

    def tense(self) -> Tense:
        """Return the tense of the sentence, as its bound has it: what runs since then began, what is due comes."""
        if self.language == "zh":
            shown = self._tense(self.text)
            return "future" if self.direction in _AHEAD and shown == "unclear" else shown
        if self.direction == "since":
            return self._since()
        if self.direction not in _AHEAD and not self._is_for():
            return self._tense(self.text)
        is_inside = bool(self.text[max(0, self.begin() - tense.BEFORE) : self.begin()].strip())
        shown = self._tense(self.text[: self.end] if is_inside else self.text)
        return "future" if shown in ("unclear", "present") else shown

    def _since(self) -> Tense:
        """Return the tense of what begins then: since Monday it did, from Monday on it will."""
        before, after = self.text[max(0, self.start - NEAR) : self.start], self.text[self.end : self.end + 2]
        if self.language in ("ja", "ko"):
            return "unclear" if after in _FROM_THEN else "past"
        if not _ONWARD.search(before):
            return "past"
        shown = self._tense(self.text)
        return "future" if shown in ("unclear", "present") else shown

    def _is_for(self) -> bool:
        return self.language == "en" and self.text[max(0, self.start - 4) : self.start].lower() == "for "

    def before_for(self) -> Place:
        """Return the place with its "for" where that is over: a bike that one got for Christmas, but no seat booked."""
        start = self.start - len("for ")
        return self._replace(start=start) if self._is_for() and _GIVEN.search(self._head()[:-4]) else self

    def _tense(self, text: str) -> Tense:
        cues = _CUES.get(self.language)
        if cues is None:
            after = self.rest() if self.language in VERB_LAST else ""
            return "future" if MOVED.search(self._head() + after) else "unclear"
        start = self.begin() if self.language == "en" else self.start
        if self.language == "en" and _MOVED_FROM.search(self._head()):
            return "future"
        return tense.tense(cues, text, start, self.end)

    def begin(self) -> int:
        """Return where the expression begins with its preposition."""
        before = self.text[max(0, self.start - NEAR) : self.start]
        match = _PREPOSITIONS.search(before)
        return self.start - len(before) + match.start() if match else self.start

    def is_bare(self) -> bool:
        """Return whether no preposition stands before it in English, where names are written so."""
        return (
            self.language == "en"
            and not self.direction
            and not _BESIDE.search(self.text[max(0, self.start - NEAR) : self.start])
        )

    def _head(self) -> str:
        """Return what goes before the expression in its sentence."""
        cues = _CUES.get(self.language, tense.ENGLISH)
        return cues.ends.split(self.text[max(0, self.start - tense.BEFORE) : self.start])[-1]

    def rest(self) -> str:
        """Return what follows the expression in its clause."""
        cues = _CUES.get(self.language, tense.ENGLISH)
        return cues.ends.split(self.text[self.end : self.end + tense.AFTER], maxsplit=1)[0]

    @property
    def goes_on(self) -> bool:
        """Return whether another time stands before it in its sentence."""
        return self.earlier is not None and not _SENTENCE_END.search(self.text[self.earlier[1] : self.start])

    @property
    def shows_past(self) -> bool:
        """Return whether every verb of the past shows it."""
        cues = _CUES.get(self.language)
        return cues is not None and cues.shows_past


Choice = tuple[Span, float]


def choose(date: Written, place: Place) -> Choice | None:
    """Return what a date means at its place and how surely; None where it means no date."""
    if date.spans:
        return _of_spans(date, place)
    if date.weekday is not None and not date.day and not date.month:
        return _weekday(date.weekday, place)
    options = meanings(date, place.now)
    if not options:
        return None
    if date.year or _is_doubtful(date, place):
        return options[0], UNSURE if _is_doubtful(date, place) else SURE
    if date.day and not date.month and date.weekday is None:
        return _day_of_month(date.day, options, place)
    return _by_tense(options, place, place.tense(), nearest=date.weekday is not None)


def _is_doubtful(date: Written, place: Place) -> bool:
    """Return whether it could be no date or another: my aunt June, 9/10 points, 5/7/2022."""
    written = place.text[place.start : place.end]
    if _AMBIGUOUS.fullmatch(written):
        return True
    return not date.year and date.weekday is None and (not date.day or "/" in written) and place.is_bare()


def _of_spans(date: Written, place: Place) -> Choice | None:
    """Choose among the spans of a date: by what it names, else by the tense."""
    if _is_title(place):
        return None
    if read := _BY_GRAIN.get(date.grain):
        return read(date, place)
    return (date.spans[0], SURE) if len(date.spans) == 1 else _by_tense(date.spans, place, place.tense())


def _story(date: Written, place: Place) -> Choice:
    return date.spans[0], UNSURE


def _this_weekend(date: Written, place: Place) -> Choice:
    is_over = place.now.weekday() < 5 and place.tense() == "past" and place.language != "zh"
    return date.spans[is_over], SURE


def _this_unit(date: Written, place: Place) -> Choice:
    """Return this month at its end; of the past, it is that of a story: he left at the end of the year."""
    is_story = place.tense() == "past" and place.now < date.spans[0][1]
    return date.spans[0], UNSURE if is_story else SURE


def _plain_holiday(date: Written, place: Place) -> Choice | None:
    """Choose the day of a holiday if the tense shows which; people talk of holidays in general as well."""
    existing = place.before_for().tense()
    if _is_one_day(place):
        return _by_tense(date.spans, place, existing)
    if len(date.spans) > 1 and (existing not in ("past", "future") or place.is_bare()):
        return None if existing == "habit" else (date.spans[0], SURE if _is_ahead(place, existing) else UNSURE)
    return _by_tense(date.spans, place, existing)


def _is_one_day(place: Place) -> bool:
    """Return whether what follows makes a holiday one day and not any year's: 端午那天, 元旦前后."""
    return place.language == "zh" and bool(_HAN_THAT_DAY.match(place.text, place.end))


def _is_ahead(place: Place, existing: Tense) -> bool:
    """Return whether something is said of a holiday's days, no tense shown: 端午带孩子去外婆家, closed over Easter."""
    if place.language == "zh":
        is_told = place.earlier is not None and place.earlier[1] == place.start  # 昨天情人节
        return existing == "unclear" and not is_told and bool(_HAN_DONE_THEN.match(place.rest()))
    return place.language == "en" and existing in ("unclear", "present") and not place.is_bare()


def _lunar_day(date: Written, place: Place) -> Choice | None:
    existing = place.tense()
    return _by_tense(date.spans, place, existing) if existing == "past" else (date.spans[0], SURE)


def _weekly(date: Written, place: Place) -> Choice | None:
    """Choose the days from one weekday to another; without a clear tense it is every week's."""
    existing = place.tense()
    return _by_tense(date.spans, place, existing) if existing in ("past", "future") else None


def _is_title(place: Place) -> bool:
    """Return whether "yesterday" is a title: "the song Yesterday"."""
    return (
        place.text[place.start].isupper()
        and _TITLE.search(place.text[max(0, place.start - NEAR) : place.start]) is not None
    )


def _ahead(date: Written, place: Place) -> Choice | None:
    """Return what "in two weeks" means; in a sentence of the past it is how long something took."""
    if place.language in ("ja", "ko") and place.goes_on:
        return date.spans[0], UNSURE  # 6월에 만나서 2주 뒤에: counted from what was said before
    starts_now = place.text[place.start : place.end].lower().endswith(("now", "today"))
    return None if not starts_now and place.tense() == "past" else (date.spans[0], SURE)


def _by_tense(options: Sequence[Span], place: Place, existing: Tense, *, nearest: bool = False) -> Choice | None:
    """Choose the reading that a tense means; without one, the nearest, which is sure if any other is twice as far.

    nearest  whether the nearest counts whatever the tense, as where a weekday and a date tell the year
    """
    today, listed = day(place.now)[0], sorted(options)
    past = next((span for span in reversed(listed) if span[0] <= today), None)
    ahead = next((span for span in listed if span[1] > today), None)
    if existing == "past" and past:
        return past, SURE
    if existing in ("future", "present") and ahead:
        return ahead, SURE
    if existing == "habit":
        return None
    return _nearest(listed, place, nearest=nearest) or (ahead or listed[0], UNSURE)


def _nearest(options: Sequence[Span], place: Place, *, nearest: bool) -> Choice | None:
    today = day(place.now)[0]

    def distance(span: Span) -> int:
        return max((span[0] - today).days, (today - span[1]).days + 1, 0)

    near = sorted(options, key=distance)
    is_clear = len(near) == 1 or distance(near[1]) >= 2 * distance(near[0])
    is_over = place.shows_past and near[0][1] <= today
    return (near[0], SURE) if is_clear and (nearest or not is_over) else None


def _weekday(number: int, place: Place) -> Choice | None:
    """Choose the weekday before or after today, as the tense has it; in Chinese the one of this week, if it can be."""
    if _is_name(place):
        return None
    existing, today = place.tense(), place.now
    if place.language == "zh":
        return _han_weekday(number, existing, place)
    steps = (number - today.weekday()) % 7
    ahead = day(today, steps or (7 if existing in ("future", "present") else 0))
    if existing == "past":
        return day(today, -((today.weekday() - number - 1) % 7 + 1)), SURE
    if existing == "habit":
        return None
    return ahead, SURE if existing in ("future", "present") else UNSURE


def _is_name(place: Place) -> bool:
    """Return whether a weekday belongs to a name, or only says which day it is: Black Friday, today is Friday."""
    head, tail = place.text[max(0, place.start - NEAR) : place.start], place.text[place.end : place.end + NEAR]
    if place.language == "zh":
        return bool(_HAN_NOT_BEFORE.search(head) or _HAN_NOT_AFTER.match(tail))
    return place.language == "en" and bool(_BEFORE_A_NAME.search(head) or _AFTER_A_NAME.match(tail))


def _han_weekday(number: int, existing: Tense, place: Place) -> Choice | None:
    return _this_or_near([day(week(place.now, step)[0], number) for step in (-1, 0, 1)], existing, place)


def _this_or_near(near: Sequence[Span], existing: Tense, place: Place) -> Choice | None:
    """Take the one of this week; of the last or the next when the tense says that it cannot be this week's."""
    last, this, following = near
    today = day(place.now)[0]
    if existing == "past":
        return (last if this[0] > today else this), SURE
    if existing in ("future", "present"):
        return (following if this[1] <= today else this), SURE
    if existing == "habit":
        return None
    if this[1] > today and _COMES.search(place.rest()):
        return this, SURE
    return (this if this[1] > today else following), UNSURE


def _weekend(date: Written, place: Place) -> Choice | None:
    """Take the weekend that goes on, or the one before or after today, as the tense has it."""
    existing, this, last = place.tense(), unit("E", place.now), unit("E", place.now, -1)
    if place.language == "zh":
        near = [unit("E", place.now, step) for step in (-1, 0, 1)]
        choice = _this_or_near(near, existing, place)
        return choice and (choice[0], SURE if existing in ("past", "future") else UNSURE)
    if place.now.weekday() >= 5 or existing == "future":
        return this, SURE
    return (last, SURE) if existing == "past" else None if existing == "habit" else (this, UNSURE)


def _day_of_month(number: int, options: Sequence[Span], place: Place) -> Choice | None:
    """Choose the day of an unnamed month: of the month that was written just before, or by tense."""
    if place.direction in _AHEAD or place.earlier is None or _is_of_month(place.earlier[0], place.now):
        return _by_tense(options, place, place.tense())
    (first, until), end = place.earlier
    same = next(iter(meanings(Written(first.year, first.month, number), place.now)), None)
    if same is None:
        return None
    follows = same > place.earlier[0] and not _SENTENCE_END.search(place.text[end : place.start])
    inside = first <= same[0] < until
    return (same, SURE) if follows or inside else (same, UNSURE)


def _is_of_month(span: Span, now: datetime) -> bool:
    return (span[0].year, span[0].month) == (now.year, now.month)


_BY_GRAIN: Final[dict[str, Callable[[Written, Place], Choice | None]]] = {
    "then": _story, "this E": _this_weekend, "this": _this_unit, "ahead": _ahead, "the E": _weekend,
    "H": _plain_holiday, "L": _lunar_day, "-W": _weekly,
}  # fmt: skip
