"""How a language's time expressions are read: rules of a pattern and what a match of it means.

    text ──▶ trigger (one cheap pattern; most texts have no time) ──▶ rules ──▶ (start, end, days)

At one place the first rule that matches counts, so the longer expression stands first.  A rule may find that what it
matched means no date.  Tense (processors/dates/tense.py) is read only when a rule asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Final

from processors.dates import tense
from processors.dates.arithmetic import Days, Tense
from processors.dates.tense import Cues

TRIED: Final = 100  # matches of one text that are read: what repeats itself for ever is no conversation
REACH: Final = 40  # characters that an expression can have before what triggers it: more than any rule's words
_NAMED: Final = re.compile(r"\(\?P<\w+>")


@dataclass(frozen=True, slots=True)
class Context:
    """What an expression stands in: text[start:end] was said on `day`, in UTC."""

    day: date
    text: str
    start: int
    end: int
    cues: Cues

    def tense(self) -> Tense:
        """Read the tense of the sentence."""
        return tense.tense(self.cues, self.text, self.start, self.end)


Read = Callable[[re.Match[str], Context], Days | None]
Rule = tuple[str, Read]


class Grammar:
    """Read the time expressions of one language.

    trigger  matches in every text in which a rule could match
    rules    patterns with named groups and no others, and what a match of each means
    cues     words that show a tense, as in processors/dates/tense.py
    """

    def __init__(self, trigger: str, rules: Sequence[Rule], cues: Cues) -> None:
        self._trigger = re.compile(trigger, re.IGNORECASE)
        self._rules = [(re.compile(pattern, re.IGNORECASE), read) for pattern, read in rules]
        self._cues = cues
        plain = (f"(?P<rule{number}>{_NAMED.sub('(?:', pattern)})" for number, (pattern, _) in enumerate(rules))
        self._any = re.compile("|".join(plain), re.IGNORECASE)

    def find(self, text: str, said: date) -> Iterator[tuple[int, int, Days]]:
        """Yield start, end and days of every expression in order, none overlapping."""
        first = self._trigger.search(text)
        if first is None:
            return
        for found in islice(self._any.finditer(text, max(0, first.start() - REACH)), TRIED):
            pattern, read = self._rules[int(str(found.lastgroup).removeprefix("rule"))]
            match = pattern.match(text, found.start())  # the same match, with its groups
            if match and (days := _tried(read, match, Context(said, text, *match.span(), self._cues))):
                yield *match.span(), days


def _tried(read: Read, match: re.Match[str], context: Context) -> Days | None:
    """Read what a match means, None when that is no day of the years 1 to 9999, or no day at all (30 February).

    Nor does a word count that fits only because a pattern takes its letters for others (sıx, with a dotless i).
    """
    try:
        return read(match, context)
    except (OverflowError, ValueError, KeyError):
        return None
