"""Tell whether a turn says the kind of thing that a Chinese question wants: a place, money, an illness, a reason.

Patterns of the language decide (data/wanted.tsv).  丁老师在哪个办公室 is rather answered by 丁老师搬到六楼了 than by
丁老师不在.  In English, marks of the answer and the words of kinds do as much (answer_kinds.py, hyponyms.tsv).
"""

from __future__ import annotations

from typing import Final

from processors.text import tables
from processors.text.chinese import simplified
from processors.text.language import clean

_ROWS: Final = [
    (kind, tables.lazy(asks), tables.lazy(tells)) for kind, asks, tells in tables.rows(__package__, "wanted")
]
_TELLS: Final = {kind: tells for kind, _, tells in _ROWS}


def wanted(question: str) -> frozenset[str]:
    """Return the kinds of things that a question wants."""
    if question.isascii():  # in English, other words tell it
        return frozenset()
    plain = simplified(clean(question))
    return frozenset(kind for kind, asks, _ in _ROWS if asks.search(plain))


def tells_wanted(text: str, kinds: frozenset[str]) -> bool:
    """Return whether a turn tells a thing of one of some kinds, and does not ask for it itself."""
    plain = simplified(clean(text))
    return any(_TELLS[kind].search(plain) is not None for kind in kinds) and not kinds & wanted(text)
