"""Families of English words: paint, painter; inspire, inspiration; allergy, allergic: one stem, endings of one pattern.

    pattern         bare form     other forms
    work            ""            worker, working, workable, …
    inspire         "e"           inspiration, inspiring, …
    allergy         "y"           allergic, allergies, …

Two words are of one family if what they share is a stem and what is left are endings of one pattern.  Short endings
tell little ("post, poster", but "corn, corner"), so the stem must be the longer; two words that both have an ending
must share five letters.  No word is looked up, only endings (data/word_families.tsv), so some pairs are wrong
(position, positive).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from processors.text import tables
from state.graph.turn_index import PREFIX  # letters that all words of a family share

_LONG_STEM: Final = 5

_PATTERNS: Final = {  # ending of the bare form → endings of all forms
    bare.strip("-"): frozenset(endings.split()) | {bare.strip("-")}
    for bare, endings in tables.rows(__package__, "word_families")
}
_TELL_LITTLE: Final = frozenset(("y", "al", "ion", "age", "ary", "ent", "ant", "ess", "en"))  # after four letters
_DOUBLED: Final = frozenset({"er", "ing", "y"})  # run, runner


def family(word: str, alike: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Yield the words that are of one family with `word`, in the order of `alike`: the words that begin with PREFIX."""
    if len(word) < PREFIX or not (word.isascii() and word.isalpha()):
        return
    for other in alike(word[:PREFIX]):
        if other != word and other.isalpha() and other.isascii() and akin(word, other):
            yield other


def akin(one: str, other: str) -> bool:
    """Return whether two different words are of one family."""
    shared = _shared(one, other)
    return any(_alike(one[:size], one[size:], other[size:]) for size in range(shared, max(PREFIX, shared - 2) - 1, -1))


def _shared(one: str, other: str) -> int:
    """Count the equal letters with which two words begin."""
    for size, (letter, another) in enumerate(zip(one, other, strict=False)):
        if letter != another:
            return size
    return min(len(one), len(other))


def _alike(stem: str, ending: str, other: str) -> bool:
    if not (ending and other) and (longer := ending or other)[:1] == stem[-1] and longer[1:] in _DOUBLED:
        return True
    return any(
        ending in pattern and other in pattern and _fits(stem, bare, ending, other)
        for bare, pattern in _PATTERNS.items()
    )


def _fits(stem: str, bare: str, ending: str, other: str) -> bool:
    if bare not in (ending, other):
        return len(stem) >= _LONG_STEM
    if bare:
        return True
    longer = ending or other
    if stem[-1] == "e" and longer[0] in "aeio":  # care makes caring, not career
        return False
    return len(stem) >= _LONG_STEM or longer not in _TELL_LITTLE
