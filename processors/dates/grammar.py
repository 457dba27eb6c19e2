"""How a language's time expressions are read: rules of a pattern and what a match of it means.

    text ──▶ trigger (one cheap pattern; most texts have no time) ──▶ rules ──▶ (start, end, days)

At one place the first rule that matches counts, so the longer expression stands first.  A rule may find that what it
matched means no date.  Tense (processors/dates/tense.py) is read only when a rule asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import islice
from typing import Final

from processors.dates import arithmetic, tense
from processors.dates.arithmetic import Days, Tense
from processors.dates.tense import Cues

TRIED: Final = 100  # matches of one text that are read: what repeats itself for ever is no conversation
REACH: Final = 40  # characters that an expression can have before what triggers it: more than any rule's words
_SENTENCE_END: Final = re.compile(r"[.!?…。\n]")
_NAMED: Final = re.compile(r"\(\?P<\w+>")


@dataclass(frozen=True, slots=True)
class DateContext:
    """What an expression stands in: text[start:end] was said on `day`, in UTC.

    earlier  what the expression before it in the same text means, and where it ended; None for the first
    """

    day: date
    text: str
    start: int
    end: int
    cues: Cues
    earlier: tuple[Days, int] | None = None

    def tense(self) -> Tense:
        """Read the tense of the sentence."""
        return tense.tense(self.cues, self.text, self.start, self.end)

    def tense_before(self) -> Tense | None:
        """Read the tense of the sentence as far as it goes before the expression, None where it begins with it."""
        if not self.cues.ends.split(self.text[: self.start])[-1].strip():
            return None
        return tense.tense(self.cues, self.text[: self.end], self.start, self.end)

    def choose(self, candidates: Iterable[Days], tense: Tense | None = None) -> Days | None:
        """Choose the candidate that the tense means, of the sentence or as given; None if it means none.

        Where verbs show the past, what shows no tense is hardly over: the nearest counts if it is to come.
        """
        known = tense or self.tense()
        found = arithmetic.chosen(candidates, self.day, known)
        over = known == "unclear" and self.cues.shows_past and found is not None and found.last < self.day
        return None if over else found

    def of_a_month(self, day_number: int) -> Days | None:
        """Choose the day of an unnamed month: of the month that was told just before, or by tense.

        It is of that month inside what was told ("6 to 9 June … on the 8th") and after it in the same sentence ("on
        6 June and back on the 9th"); else it could be of that month or of this one, so it is none.
        """
        if self.earlier is None or _one_month(self.earlier[0].first, self.day):
            return self.choose(arithmetic.monthly(self.day, day_number))
        before, end = self.earlier
        same = arithmetic.in_year(before.first.year, before.first.month, day_number)
        after = same is not None and same > before and not _SENTENCE_END.search(self.text[end : self.start])
        return same if same and (after or before.first <= same.first <= before.last) else None

    def rest(self) -> str:
        """Cut off what follows the expression in its sentence, or its clause where that is one."""
        return self.cues.ends.split(self.text[self.end :], maxsplit=1)[0]


def _one_month(day: date, other: date) -> bool:
    return (day.year, day.month) == (other.year, other.month)


Read = Callable[[re.Match[str], DateContext], Days | None]
Rule = tuple[str, Read]


class Grammar:
    """Read the time expressions of one language.

    trigger  matches in every text, in small letters, in which a rule could match; `re` is quick at it if every
             alternative begins with one given character
    rules    patterns in small letters, with named groups and no others, and what a match of each means
    cues     words that show a tense, as in processors/dates/tense.py
    begins   matches, without taking a character, wherever a rule may: at other places none is tried
    """

    def __init__(self, trigger: str, rules: Sequence[Rule], cues: Cues, begins: str = "") -> None:
        self._trigger = re.compile(trigger)
        self._rules = [(re.compile(pattern, re.IGNORECASE), read) for pattern, read in rules]
        self._cues = cues
        plain = (f"(?P<rule{number}>{_NAMED.sub('(?:', pattern)})" for number, (pattern, _) in enumerate(rules))
        self._plain = f"{begins}(?:{'|'.join(plain)})"

    @cached_property
    def _of_small(self) -> re.Pattern[str]:
        """Match what any rule does, in a text of small ASCII letters: twice as quick."""
        return re.compile(self._plain)

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile(self._plain, re.IGNORECASE)

    def find(self, text: str, said: date) -> Iterator[tuple[int, int, Days]]:
        """Yield start, end and days of every expression in order, none overlapping."""
        small = text.lower()
        if (first := self._trigger.search(small)) is None:
            return
        start = max(0, first.start() - REACH) if len(small) == len(text) else 0  # İ becomes two characters
        earlier: tuple[Days, int] | None = None
        matches = self._of_small.finditer(small, start) if text.isascii() else self._any.finditer(text, start)
        for found in islice(matches, TRIED):
            pattern, read = self._rules[int(str(found.lastgroup).removeprefix("rule"))]
            match = pattern.match(text, found.start())  # the same match, with its groups
            if match and (days := _tried(read, match, DateContext(said, text, *match.span(), self._cues, earlier))):
                yield *match.span(), days
                earlier = days, match.end()


def _tried(read: Read, match: re.Match[str], context: DateContext) -> Days | None:
    """Read what a match means, None when that is no day of the years 1 to 9999, or no day at all (30 February).

    Nor does a word count that fits only because a pattern takes its letters for others (sıx, with a dotless i).
    """
    try:
        return read(match, context)
    except (OverflowError, ValueError, KeyError):
        return None
