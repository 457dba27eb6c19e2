"""Compute the complexity of a question, 0 to 1, from its words alone: SimpleMem's Cq (SEEDS P29, P32), in 0.3 ms.

    syntax      its length, its clauses                        history   that it goes on from what was said before
    semantics   that it compares, asks why, for a trend, for an analysis, for what two have to do with each other, for a
                list; how many it names; how many times it limits

Each signal that is there makes it likelier to be complex: Cq = 1 − Π (1 − signal).  The signals' sizes are set so that
the source's own examples get the depths that it gives: k = ⌊3 (1 + 5.67 Cq)⌋.  Words and patterns of English and
Chinese are data/complexity.tsv.
"""

from __future__ import annotations

import re
from functools import cache
from math import prod
from typing import Final, NamedTuple

from processors.text import tables
from processors.text.language import clean
from processors.text.questions.continuations import continuation
from processors.text.scripts import HAN

LEAST: Final = 3  # passages for the simplest question,
SENSITIVITY: Final = 5.67  # and this share of them more for the most complex
NAMED: Final = 0.45  # for a second name; half of what is left for each further one
LONG: Final = 8  # words, beyond which each counts
PER_WORD: Final = 0.01
FOLLOWS: Final = 0.1
MOST_OF: Final = {"clause": 3, "time": 3}  # how often at most a signal counts; else once

_NAME: Final = tables.lazy(rf"(?<![.?!]\s)(?<!^)\b[A-Z][a-z]+\b|(?<=[{HAN}])[A-Z][a-z]+|^[A-Z][a-z]+(?=[{HAN}])")
_WORD: Final = tables.lazy(r"[^\W_]+")
_HAN: Final = tables.lazy(f"[{HAN}]")
_ROWS: Final = tables.rows(__package__, "complexity")


class _Signal(NamedTuple):
    name: str
    size: float
    pattern: re.Pattern[str]


@cache
def _signals() -> tuple[_Signal, ...]:
    """Compile the patterns, when a question first asks for them."""
    counts = []
    for name, size, script, pattern in _ROWS:
        whole = rf"\b(?:{pattern})\b" if script == "latin" else pattern
        counts.append(_Signal(name, float(size), re.compile(whole, re.IGNORECASE)))
    return tuple(counts)


def complexity(text: str) -> float:
    """Estimate how complex a question is: 0 to 1."""
    return 1 - prod(1 - size for size in signals(text).values())


def signals(text: str) -> dict[str, float]:
    """List what makes a question complex, by name, and how much each counts: 0 to 1."""
    text = clean(text)
    counts: dict[str, list[float]] = {}
    for name, size, pattern in _signals():
        counts.setdefault(name, []).extend(size for _ in pattern.finditer(text))
    values = {name: _together(sizes[: MOST_OF.get(name, 1)]) for name, sizes in counts.items() if sizes}
    names = len(dict.fromkeys(_NAME.findall(text)))
    if names > 1:
        values["names"] = _together([NAMED] + [NAMED / 2] * (names - 2))
    words = len(_WORD.findall(_HAN.sub(" 字 ", text)))
    words -= len(_HAN.findall(text)) // 2  # a word of Chinese has some two characters
    if words > LONG:
        values["length"] = min(PER_WORD * (words - LONG), 0.3)
    if continuation(text) is not None:
        values["follows"] = FOLLOWS
    return values


def _together(sizes: list[float]) -> float:
    return 1 - prod(1 - size for size in sizes)


def passages(depth: float) -> int:
    """Return how many passages a question of this complexity, or depth, needs: 3 to 20."""
    return int(LEAST * (1 + SENSITIVITY * depth) + 1e-9)
