"""Clauses: the parts of a text that say one thing each.  SEEDS P12: sentences, then clauses, then fragments are merged.

    We adopted a cat, because the kids wanted one.      We adopted a cat,  │  because the kids wanted one.
    我明天去北京出差，但是项目还没做完。                    我明天去北京出差，  │  但是项目还没做完。
    We need milk, eggs, bread.                          one: what is shorter than LEAST is no clause of its own

Cut at the ends of sentences, at commas and the like, and before words that begin a clause (data/clause_words.tsv); a
fragment goes to the clause before it, the first one to the clause behind it.  Joined, the clauses are the text.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from processors.text import tables
from processors.text.scripts import HAN

LEAST: Final = 3  # words of a clause; of Han, so many pairs of signs
_HAN: Final = tables.lazy(f"[{HAN}]")
_WORD: Final = tables.lazy(rf"[^\W_{HAN}]+(?:['’-][^\W_{HAN}]+)*")
_SENTENCE: Final = tables.lazy(
    r"""(?: [^.!?…。！？\n] | [.!?…](?![\s"'”’)\]]|$) )*      # a full stop inside "3.5" ends nothing
        (?: [.!?…。！？]+["'”’)\]」』]* | \n | $ ) \s*""",
    re.VERBOSE,
)


def _breaks() -> re.Pattern[str]:
    words: dict[str, list[str]] = {}
    for script, listed in tables.rows(__package__, "clause_words"):
        words.setdefault(script, []).extend(listed.split("|"))
    return re.compile(
        rf"(?<=[,;:])(?=\s+\S)|(?<=[，；：,;:])(?=[{HAN}])|(?<=\s)[—–](?=\s)"
        rf"|(?<=\s)(?=(?:{'|'.join(words['latin'])})\b)|(?<=[{HAN}])(?=(?:{'|'.join(words['han'])}))",
        re.IGNORECASE,
    )


_BREAK: Final = _breaks()


def clauses(text: str) -> list[str]:
    """Cut a text into its clauses, in order."""
    parts: list[str] = []
    for sentence in sentences(text):
        parts += _merged(_cut(sentence))
    return parts


def sentences(text: str) -> list[str]:
    """Cut a text into its sentences, in order; joined, they are the text."""
    return [match for match in _SENTENCE.findall(text) if match]


def _cut(sentence: str) -> list[str]:
    places = [0, *(match.start() for match in _BREAK.finditer(sentence)), len(sentence)]
    return [sentence[start:end] for start, end in pairwise(places) if start < end]


def _merged(parts: list[str]) -> list[str]:
    """Join fragments with the clause before them, the first with the one behind it."""
    whole: list[str] = []
    for part in parts:
        if whole and (_length(part) < LEAST or _length(whole[-1]) < LEAST):
            whole[-1] += part
        else:
            whole.append(part)
    return whole


def _length(part: str) -> float:
    return len(_WORD.findall(part)) + len(_HAN.findall(part)) / 2
