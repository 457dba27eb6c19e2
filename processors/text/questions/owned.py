"""Find the owner and the thing that a question asks for: (my brother, name), (老周, 电话) (data/owned.tsv).

A question of this form has an answer only where both are spoken of.  So whose it is tells as much as what.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from processors.text import tables
from processors.text.scripts import HAN


class Owned(NamedTuple):
    """The owner and the thing that a question asks for, in its words; `thing` is "" if the form tells it (how old)."""

    owner: str
    thing: str


_PATTERNS: Final = [
    (tables.lazy(pattern, re.IGNORECASE), pattern.isascii()) for (pattern,) in tables.rows(__package__, "owned")
]
MOST_WORDS: Final = 14
MOST_HAN: Final = 24
_HAN: Final = tables.lazy(f"[{HAN}]")
_NO_OWNER: Final = frozenset(("what", "who", "where", "when", "how", "it", "that", "this", "there", "let", "he", "she"))


def asks_owned(text: str) -> Owned | None:
    """Return whose what a clean text asks for, None if it has another form or asks more than that."""
    signs = len(_HAN.findall(text))
    if len(text.split()) > MOST_WORDS or signs > MOST_HAN or (signs and "," in text):
        return None
    for pattern, is_latin in _PATTERNS:
        match = pattern.search(text) if is_latin or signs else None
        if match and match["owner"].casefold() not in _NO_OWNER:
            named = match.groupdict()
            return Owned(match["owner"], named.get("thing") or named.get("doing") or "")
    return None
