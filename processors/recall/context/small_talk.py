"""Find small talk around what a text says: sentences at its beginning and end that greet, thank or exclaim, no more.

    Hey Mel! That's so cool.  │  I joined a choir last week.  │  How are you?
    谢谢！太好了。              │  我下周去苏州。                │  哈哈

A text of small talk alone stays whole, and so does what stands between two sentences that say something.  "Yes" and
"No" are no small talk: they may be the answer.  The words: data/small_talk.tsv.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from processors.text import tables
from processors.text.scripts import HAN

_WORDS: Final = {
    language: "|".join(pattern for of, pattern in tables.rows(__package__, "small_talk") if of == language)
    for language in ("en", "zh")
}
_NAME: Final = r"(?-i:(?:Dr|Mr|Ms|Mrs|Prof|Aunt|Uncle)\.? )?(?-i:[A-Z][a-z]+)"  # of who is called, behind a word
_CALLED: Final = rf"[{HAN}]{{2,3}}"  # likewise, between a comma and the end or another mark: 小李，您好！
_MARKS: Final = r"[\s,;.!?…~\-–—()\"'，。！？、～]*"
_SENTENCE: Final = tables.lazy(
    rf"{_MARKS}(?:(?:{_WORDS['en']})(?:[\s,.!]+{_NAME})?(?![\w'’]){_MARKS})+"
    rf"|{_MARKS}(?:{_CALLED}[，,])?{_MARKS}(?:(?:{_WORDS['zh']})(?:[，, ]{_CALLED}(?=[，,。！!~～…]|$))?{_MARKS})+",
    re.IGNORECASE,
)
LONGEST: Final = 60  # characters of a sentence of small talk


def is_small_talk(sentence: str) -> bool:
    """Return whether a sentence greets, thanks or exclaims, and says nothing else."""
    return len(sentence) <= LONGEST and _SENTENCE.fullmatch(sentence.replace("’", "'")) is not None


def bounds(sentences: Iterable[str]) -> tuple[int, int]:
    """Return where in the text that `sentences` make up small talk at its beginning ends, and at its end begins.

    Characters; the whole text where it is nothing else.
    """
    parts = list(sentences)
    first = next((place for place, part in enumerate(parts) if not is_small_talk(part)), None)
    if first is None:
        return 0, sum(map(len, parts))
    last = next(place for place in range(len(parts) - 1, -1, -1) if not is_small_talk(parts[place]))
    return sum(map(len, parts[:first])), sum(map(len, parts[: last + 1]))
