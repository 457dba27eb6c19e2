"""Find which kinds of values a question asks for, and whether a text may tell one: a price, an age, a colour, a code.

A value of these kinds has a form of its own (data/values.tsv), so a text without it tells none.  The patterns of texts
match too much rather than too little: a turn that only may tell a price counts as one that does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from processors.text import tables
from processors.text.chinese import simplified
from processors.text.language import clean

MOST_WORDS: Final = 20  # of a question: what is longer is a talk, and asks more than one thing
MOST_SIGNS: Final = 120
_ROWS: Final = tables.rows(__package__, "values")


_PARTS: Final = {name: pattern for name, role, pattern in _ROWS if role == "part"}


def _patterns(role: str) -> dict[str, re.Pattern[str]]:
    """Return the pattern of each kind in a role: asks, form, tells."""
    patterns: dict[str, list[str]] = {}
    for kind, of_role, pattern in _ROWS:
        if of_role == role:
            patterns.setdefault(kind, []).append(_whole(pattern))
    return {kind: tables.lazy("|".join(each), re.IGNORECASE) for kind, each in patterns.items()}


def _whole(pattern: str) -> str:
    """Put the parts of a pattern for their names."""
    for name, part in _PARTS.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return pattern


_SEVERAL, _BACK = _patterns("several")["-"], _patterns("back")["-"]
_ASKS: Final = _patterns("asks")
_FORM: Final = _patterns("form")
_TELLS: Final = _patterns("tells")


@lru_cache(maxsize=64)  # an answer asks several times
def asked_values(question: str) -> frozenset[str]:
    """Return the kinds of values that a question asks for; none if it asks for several things."""
    plain = simplified(clean(question))
    if len(plain) > MOST_SIGNS or len(plain.split()) > MOST_WORDS or _SEVERAL.search(plain):
        return frozenset()
    return frozenset(kind for kind, asks in _ASKS.items() if asks.search(plain))


def asks_back(text: str, kinds: frozenset[str]) -> bool:
    """Return whether a turn asks for a value of some kinds, or for any in a few words: 换成啥."""
    plain = simplified(clean(text))
    return "?" in plain and (_BACK.search(plain) is not None or bool(asked_values(text) & kinds))


def names_value(word: str, kinds: Iterable[str]) -> bool:
    """Return whether a word of a question names a value of some kinds, not what has it: price, 多大."""
    return any(_FORM[kind].fullmatch(word) is not None for kind in kinds)


def may_tell_value(text: str, kinds: Iterable[str]) -> bool:
    """Return whether a text may tell a value of one of some kinds."""
    plain = simplified(clean(text))
    return any(_TELLS[kind].search(plain) is not None for kind in kinds)
