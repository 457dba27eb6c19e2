"""The tense of a sentence, from cue words around an expression: enough to tell last Friday from the next.

Patterns of general knowledge, English and Chinese (data/*_tense.tsv).  No parser; a cue counts by its place:

    English   the last one before the expression, which governs it most often ("I told her that I will come on Friday");
              without one before, the first after; within the sentence
    Chinese   the first one after the expression, for the verb follows the time (六月想去大理); without one after, the
              last before; within what commas part

What is agreed looks forward though its verb is in the past ("signed up for … on 12 October", 订了周六的位子), and so
does the present, if no other verb says more ("the concert is on Friday").  A habit has no date ("I usually run on …").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from processors.text import tables

Tense = Literal["past", "future", "present", "habit", "unclear"]

BEFORE: Final = 160  # characters of the same sentence that are read before an expression ...
AFTER: Final = 80  # ... and after it
_PLACE: Final = "\0"  # where the expression stands; clean texts have no such character
_VERBS: Final[dict[str, Tense]] = {"past": "past", "future": "future", "habit": "habit"}
_KINDS: Final = ("set", "habit", "plan", "future", "past", "present")  # of cues, the first counts where several match


class Cues(NamedTuple):
    """The words of a language that show a tense.

    words  groups of cues; what matches outside of them only looks like one ("be held", 过年)

           set                   "moved to", 改到, right beside the expression: the future, whatever else is said
           past, future, habit   verbs, and what stands for one: the nearest decides
           plan                  appointment, 截止: the future if there is no such verb
           present               "is", 在: the present if there is none of these; where the verb follows the time,
                                 only if nothing follows (演唱会在周五)

    ends     where a sentence ends that a cue stands for
    clauses  where a clause begins in it: the last one that holds a cue decides
    after    whether a cue after the expression goes before one in front of it
    shows_past   whether every verb of the past shows it: in English nearly all do, in Chinese many do not
    """

    words: re.Pattern[str]
    ends: re.Pattern[str]
    clauses: re.Pattern[str]
    after: bool
    shows_past: bool


def _groups(name: str, end: str = "") -> str:
    """Join the patterns of a table: what only looks like a cue, then a group of each kind with `end`."""
    of: dict[str, list[str]] = {"looks": [], **{kind: [] for kind in _KINDS}}
    for kind, pattern in tables.rows(__package__, name):
        of[kind].append(re.sub(" ?@", r"\\s*" + _PLACE, pattern))
    return "|".join([*of["looks"], *(f"(?P<{kind}>{'|'.join(of[kind])}){end}" for kind in _KINDS)])


_ENGLISH: Final = re.compile(r"\b(?:" + _groups("english_tense", end=r"(?!\w)") + ")", re.IGNORECASE)
_CHINESE: Final = re.compile(_groups("chinese_tense"))

ENGLISH: Final = Cues(
    _ENGLISH,
    ends=re.compile(r"[.!?;…](?!\w)|\n"),
    clauses=re.compile(r", |\bbut\b|\band (?=(?:i|we|he|she|they|it|my|our|the)\b)", re.IGNORECASE),
    after=False,
    shows_past=True,
)
CHINESE: Final = Cues(
    _CHINESE,
    ends=re.compile(r"[,.!?:;()…。、\n]"),
    clauses=re.compile(r"(?!)"),
    after=True,
    shows_past=False,
)


def tense(cues: Cues, text: str, start: int, end: int) -> Tense:
    """Read what is shown around text[start:end]."""
    before = cues.ends.split(text[max(0, start - BEFORE) : start])[-1]
    after = cues.ends.split(text[end : end + AFTER], maxsplit=1)[0]
    return _verb_after(cues, before, after) if cues.after else _verb_before(cues, before, after)


def _verb_after(cues: Cues, before: str, after: str) -> Tense:
    """Read the tense where the verb follows the time, from one clause."""
    shown = [*_shown(cues, _PLACE + after), *_shown(cues, before + _PLACE)[::-1]]
    read_tense = "future" if "set" in shown else _tense_of(shown)
    return "unclear" if read_tense == "present" and after.strip() else read_tense


def _verb_before(cues: Cues, before: str, after: str) -> Tense:
    """Read the tense where the verb mostly stands before the time, clause by clause, the nearest first.

    What begins a clause has its verb behind it, and what does not begin the sentence has it in the clause that follows.
    """
    parts = cues.clauses.split(before + _PLACE)[::-1]
    clauses = [_shown(cues, part)[::-1] for part in parts]
    if "set" in clauses[0]:
        return "future"
    rest = after if not before.strip() else next((part for part in cues.clauses.split(after) if part.strip()), "")
    begins = not parts[0].strip(f" {_PLACE}")
    ordered = [_shown(cues, rest), *clauses] if begins else [*clauses, _shown(cues, rest)]
    return next((read_tense for shown in ordered if (read_tense := _tense_of(shown)) != "unclear"), "unclear")


def _tense_of(kinds: Sequence[str]) -> Tense:
    """Take what the first verb shows, else what is planned, else the present."""
    for kind in kinds:
        if kind in _VERBS:
            return _VERBS[kind]
    return "future" if "plan" in kinds else "present" if "present" in kinds else "unclear"


def _shown(cues: Cues, text: str) -> list[str]:
    return [cue.lastgroup for cue in cues.words.finditer(text) if cue.lastgroup]
