"""The context that a prompt gets: recalled passages, packed into a budget of tokens, one line each.

    [2023-05-08 13:56] Caroline: I went to a support group yesterday and it was so powerful.

    which   best passage first, until one does not fit (the rule that docs/recall.md measures with).  A passage that
            would not fit even alone is passed over: one pasted log file must not silence the whole memory.  So is one
            that says what a chosen one says: at least nine tenths of the words of both, and every number.
    order   chronological: a model reads a conversation forwards, and "last week" or "the second one" make sense only so
    cost    estimated without a tokenizer, as LoCoMo is measured: 1.3 tokens for a word.  Scripts that write no spaces
            (Han, kana, Thai, …) and Hangul cost 1 a character: between the 0.6–0.8 of tokenizers trained on Chinese and
            the 1.2 of older English ones.  A run of other letters or signs costs a word for every 12 characters begun.
            The whole line counts, its date and speaker too: the budget is what the prompt pays.
    times   what a turn's time expressions mean, " [yesterday = 2023-05-07]", goes to the end of its line, best passage
            first, as far as the budget has room left: it takes no passage's place

Times are UTC and come from the turns; no clock is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import ceil, floor
from typing import NamedTuple

from emgas.times import format_utc
from processors.dates.resolve import days_of, told
from state.events.extraction_types import TimeSpan

LONGEST_WORD = 12  # characters that one word's cost covers
SAME = 0.9  # share of common words from which a passage repeats another
LEAST_LINE = 4  # tokens: no line costs less than its date, its time and a colon

_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
_WORD = re.compile(r"[^\W_]+")


class Passage(NamedTuple):
    """What a context shows of a turn.

    `at` in ms since 1970, UTC; `number` is its passage number; `times`: what its time expressions mean.
    """

    number: int
    at: int
    speaker: str
    text: str
    times: tuple[TimeSpan, ...] = ()


class Context(NamedTuple):
    """A text of lines, its estimated tokens, and the numbers of the passages in it, in the order shown."""

    text: str
    tokens: int
    passages: tuple[int, ...]


def assemble(ranked: Iterable[Passage], budget: int) -> Context:
    """Return the context that `ranked`, best first, gives within `budget` tokens.  Reads no more than it needs."""
    chosen: list[Passage] = []
    shown: dict[int, str] = {}
    said = _Said()
    spent = 0
    for passage in ranked:
        cost = tokens(whole := line(passage))
        words = _words(passage.text)
        if cost > budget or said.repeats(words):
            continue
        if spent + cost > budget:
            break
        chosen.append(passage)
        shown[passage.number] = whole
        said.add(words)
        spent += cost
    notes, cost = _notes(chosen, budget - spent)
    chosen.sort(key=lambda passage: (passage.at, passage.number))
    lines = [shown[passage.number] + notes[passage.number] for passage in chosen]
    return Context("\n".join(lines), spent + cost, tuple(passage.number for passage in chosen))


class _Said:
    """The words of the passages chosen so far, by how many they are: only about equally many can be alike."""

    def __init__(self) -> None:
        self._sizes: dict[int, list[frozenset[str]]] = {}

    def add(self, words: frozenset[str]) -> None:
        self._sizes.setdefault(len(words), []).append(words)

    def repeats(self, words: frozenset[str]) -> bool:
        """Return whether a passage of these words says what one of them says."""
        sizes = range(floor(SAME * len(words)), ceil(len(words) / SAME) + 1)
        return any(_alike(words, others) for size in sizes for others in self._sizes.get(size, ()))


def _notes(ranked: Iterable[Passage], room: int) -> tuple[dict[int, str], int]:
    """Return passage number → what to add to its line, "" where `room` (tokens) has run out, and what they all cost."""
    notes, spent = dict[int, str](), 0
    for passage in ranked:
        note = note_of(passage)
        cost = tokens(note)
        fits = spent + cost <= room
        notes[passage.number] = note if fits else ""
        spent += cost if fits else 0
    return notes, spent


def note_of(passage: Passage) -> str:
    """Return what the time expressions of a passage mean, " [yesterday = 2023-05-07]"; those that name a year do."""
    meant = (told(span) for span in passage.times if str(days_of(span).first.year) not in span.text)
    together = "; ".join(meant)
    return f" [{together}]" if together else ""


def most_lines(budget: int) -> int:
    """Return how many passages a context of `budget` tokens can hold at most: no more need be ranked for it."""
    return budget // LEAST_LINE


def line(passage: Passage) -> str:
    """Return a passage as one line; its own line breaks become spaces, so that no text can pose as another's line."""
    return f"[{format_utc(passage.at)}] {_flat(passage.speaker)}: {_flat(passage.text)}"


def tokens(text: str) -> int:
    """Return the estimated number of tokens of `text`, rounded up; 0 only for blank text."""
    spaced, dense = _apart(text)
    sizes = list(map(len, spaced.split()))
    words = len(sizes) + sum((size - 1) // LONGEST_WORD for size in sizes if size > LONGEST_WORD)
    return -(-13 * words // 10) + len(dense)


def _words(text: str) -> frozenset[str]:
    """Return the words of a text, each sign of a script without spaces counting as one."""
    spaced, dense = _apart(text.casefold())
    return frozenset(_WORD.findall(spaced) + dense)


def _apart(text: str) -> tuple[str, list[str]]:
    """Return a text without its signs of scripts that write no spaces, and these."""
    return (text, []) if text.isascii() else (_DENSE.sub(" ", text), _DENSE.findall(text))


def _alike(words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether two texts share at least SAME of the words of both, but differ in no number."""
    shared = len(words & others)
    if shared < SAME * (len(words) + len(others) - shared) or not shared:
        return False
    return not any(map(str.isdigit, "".join(words ^ others)))


def _flat(text: str) -> str:
    return " ".join(text.split())
