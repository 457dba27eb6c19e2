"""Find small talk around what a text says: sentences at its beginning and end that greet, thank or exclaim, no more.

    Hey Mel! That's so cool.  │  I joined a choir last week.  │  How are you?
    谢谢！太好了。              │  我下周去苏州。                │  哈哈

A text of small talk alone stays whole, and so does what stands between two sentences that say something.  "Yes" and
"No" are no small talk: they may be the answer.  The words: data/small_talk.tsv.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from processors.recall.context.sentences import each_sentence, sentences
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
_SIGNS: Final = " \t\n,;.!?…~-–—()\"'，。！？、～"
_ENDS: Final = ".!?…。！？；\n"
# How small talk begins, in small letters: tried first, because telling sentences apart takes thirty times as long.
_BEGINS: Final = tables.lazy(rf"(?:{_WORDS['en']})(?![\w'])|(?:{_CALLED}[，,])?(?:{_WORDS['zh']})")
_REMEMBERED: Final = 1 << 13  # beginnings and ends, 2 MB
LONGEST: Final = 60  # characters of a sentence of small talk


def is_small_talk(sentence: str) -> bool:
    """Return whether a sentence greets, thanks or exclaims, and says nothing else."""
    if len(sentence) > LONGEST or not _may_begin(sentence):
        return False
    return _SENTENCE.fullmatch(sentence.replace("’", "'")) is not None


def bounds(text: str) -> tuple[int, int]:
    """Return where small talk at the beginning of a text ends, and at its end begins.

    Characters; the whole text where it is nothing else.  Of most texts, only the beginning and the end are looked at.
    """
    begins, ends = _may_be_around(text[:LONGEST], text[-2 * LONGEST :])
    start = _end_of_first(text) if begins else 0
    if start == len(text):
        return 0, len(text)
    if not ends:
        return start, len(text)
    parts = sentences(text)
    last = next(place for place in range(len(parts) - 1, -1, -1) if not is_small_talk(parts[place]))
    return start, sum(map(len, parts[: last + 1]))


def _end_of_first(text: str) -> int:
    """Return where the sentences of small talk end with which a text begins."""
    end = 0
    for sentence in each_sentence(text):
        if not is_small_talk(sentence):
            break
        end += len(sentence)
    return end


@lru_cache(_REMEMBERED)  # the turns of a graph come again with the next question
def _may_be_around(head: str, tail: str) -> tuple[bool, bool]:
    """Return whether a text that begins and ends with these may have small talk at its beginning, and at its end."""
    tail = tail.rstrip(_SIGNS)
    return _may_begin(head), _may_begin(tail[max(map(tail.rfind, _ENDS)) + 1 :])


def _may_begin(text: str) -> bool:
    return _BEGINS.match(text[:LONGEST].lstrip(_SIGNS).lower().replace("’", "'")) is not None
