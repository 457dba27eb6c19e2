"""The tense of a sentence, from cue words around an expression: enough to tell last Friday from the next.

Patterns of general knowledge, English and Chinese (data/*_tense.tsv).  No parser; a cue counts by its place:

    English   the last one before the expression, which governs it most often ("I told her that I will come on Friday");
              without one before, the first after; within the sentence
    Chinese   the first one after the expression, for the verb follows the time (六月想去大理); without one after, the
              last before; within what commas part
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from processors.dates.arithmetic import Tense
from processors.text import tables

BEFORE: Final = 160  # characters of the same sentence that are read before an expression ...
AFTER: Final = 80  # ... and after it


class Cues(NamedTuple):
    """The words of a language that show a tense.

    words  the groups "past" and "future" are cues; what matches outside of them only looks like one ("be held", 过年)
    ends   where a sentence or clause ends
    after  whether a cue after the expression goes before one in front of it
    """

    words: re.Pattern[str]
    ends: re.Pattern[str]
    after: bool


def _groups(name: str, end: str = "") -> str:
    """Join the patterns of a table: what only looks like a cue, then the groups "future" and "past" with `end`."""
    of: dict[str, list[str]] = {"looks": [], "future": [], "past": []}
    for shown, pattern in tables.rows(__package__, name):
        of[shown].append(pattern)
    shows = (f"(?P<{shown}>{'|'.join(of[shown])}){end}" for shown in ("future", "past"))
    return "|".join([*of["looks"], *shows])


_ENGLISH: Final = re.compile(r"\b(?:" + _groups("english_tense", end=r"(?!\w)") + ")", re.IGNORECASE)
_CHINESE: Final = re.compile(_groups("chinese_tense"))

ENGLISH: Final = Cues(_ENGLISH, re.compile(r"[.!?;…](?!\w)|\n"), after=False)
CHINESE: Final = Cues(_CHINESE, re.compile(r"[,.!?;…。、\n]"), after=True)


def tense(cues: Cues, text: str, start: int, end: int) -> Tense:
    """Read what is shown around text[start:end]."""
    before = _shown(cues, cues.ends.split(text[max(0, start - BEFORE) : start])[-1])[::-1]
    after = _shown(cues, cues.ends.split(text[end : end + AFTER], maxsplit=1)[0])
    return next(iter([*after, *before] if cues.after else [*before, *after]), "unclear")


def _shown(cues: Cues, text: str) -> list[Tense]:
    return ["past" if cue.lastgroup == "past" else "future" for cue in cues.words.finditer(text) if cue.lastgroup]
