"""Decide whether a question continues the last one: "and then?", 然后呢.  SEEDS P31, M12.

    alone   it says nothing else: it can only be answered by what is in mind of the conversation
    begins  it begins so, and then asks for something of its own

Few precise patterns of English and Chinese decide (data/continuations.tsv).
"""

from __future__ import annotations

import re
from typing import Final, Literal

from processors.text import tables
from processors.text.language import clean

Continuation = Literal["alone", "begins"]

_MARKS: Final = tables.lazy(r"[^\w']+")


def _pattern(kind: Continuation) -> re.Pattern[str]:
    patterns = [pattern for each, _, pattern in tables.rows(__package__, "continuations") if each == kind]
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_ALONE: Final = _pattern("alone")
_BEGINS: Final = _pattern("begins")


def continuation(text: str) -> Continuation | None:
    """Return how a question goes on from what was said last, None if it stands for itself."""
    plain = _MARKS.sub(" ", clean(text)).strip()
    if _ALONE.fullmatch(plain):
        return "alone"
    return "begins" if _BEGINS.match(plain) else None
