"""Decide whether an unlisted capitalised word names a person, by its place in an English sentence.

    Nguyen lent me his drill           before what people alone do
    had tea with Aoife                 behind what is done with people

An ordinary word in a capital, as at the start of a sentence, is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from processors.text import tables
from processors.text.language import Word


def _lists() -> dict[str, frozenset[str]]:
    lists: dict[str, set[str]] = {}
    for name, words in tables.rows(__package__, "english_names"):
        lists.setdefault(name, set()).update(words.split())
    return {name: frozenset(words) for name, words in lists.items()}


_LISTS: Final = _lists()
_NOISE: Final = tables.lazy(
    r"(.)\1\1|^(?:[uo]+h*m*|a+h+a*|e+h+|y+e+[ahps]*|n+o+[ph]*|h+[aeuiom]+h*m*|s+h+|w+h+\w?|p+[sf]+t*)$",
    re.IGNORECASE,
)


def shown_as_person(words: Sequence[Word], place: int, *, listed: bool) -> bool:
    """Return whether the capitalised word at `place` of the whole words of a text names a person by its place.

    listed  whether it is a first name, though maybe an ordinary word as well
    """
    word = words[place]
    if word.form in _LISTS["never"] or len(word.surface) < 3 or _NOISE.search(word.surface) or word.surface.isupper():
        return False
    before = words[place - 1] if place and _follows(words[place], words[place - 1]) else None
    after = words[place + 1] if place + 1 < len(words) and _follows(words[place + 1], word) else None
    if before is not None and before.surface.casefold() in _LISTS["with"]:
        return not _is_capital(after) and (listed or not is_ordinary(word.form))
    is_other = _is_capital(before) or (not listed and is_ordinary(word.form))
    return after is not None and not is_other and _does(words, place + 1, after)


def _does(words: Sequence[Word], place: int, after: Word) -> bool:
    """Return whether what follows is done by people alone, also by them and me."""
    following = words[place + 1].surface if place + 1 < len(words) else ""
    return after.surface.casefold() in _LISTS["does"] or (after.surface == "and" and following in ("I", "me"))


def _follows(word: Word, before: Word) -> bool:
    return not word.pause and word.sentence == before.sentence


def _is_capital(word: Word | None) -> bool:
    return word is not None and word.surface[:1].isupper() and word.surface != "I"


@lru_cache(1 << 13)
def is_ordinary(form: str) -> bool:
    """Return whether a word in small letters stands in the dictionary."""
    import simplemma

    return bool(simplemma.is_known(form, lang="en"))
