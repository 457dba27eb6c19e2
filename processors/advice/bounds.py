"""Check whether advice fits its subject: return the reason if it does not, else None.  Functions of texts alone.

    consistency  no number that was not said, and at least a third of what it names was said
    coverage     of other words for something: they name at least a third of what that names
    redundancy   they are other words

A text can ask an advisor for anything, and an advisor may obey; what comes of that must still fit.  SEEDS P22.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from processors.text import tables

LEAST: Final = 3  # of so many concepts, one must have been said
NAME_WORDS: Final = 8
COVERED: Final = 0.5  # of a text, by its parts
_NUMBER: Final = tables.lazy(r"\d+(?:[.,:]\d+)*")


def unshowable(text: str) -> str | None:
    """Check whether a text holds what cannot be shown: control characters, marks that turn the direction of writing."""
    if not text.strip():
        return "it says nothing"
    return (
        None if all(each.isprintable() or each == "\n" for each in text) else "it holds characters that are not shown"
    )


def unfit_name(name: str) -> str | None:
    """Return why a text cannot name a theme, None if it can."""
    if "\n" in name or len(name.split()) > NAME_WORDS:
        return f"a name is one line of at most {NAME_WORDS} words"
    return unshowable(name)


def invented(text: str, sources: Iterable[str], named: Collection[str], concepts: Collection[str]) -> str | None:
    """Return why a text says more than its sources, None if it does not.

    named, concepts: ids of the concepts in the text, and of those in its sources
    """
    numbers = {number for source in sources for number in _NUMBER.findall(source)}
    if not numbers.issuperset(_NUMBER.findall(text)):
        return "it states a number that is not in the sources"
    shared = _words(named) & _words(concepts)
    if len(shared) * LEAST < len(_words(named)):
        return "most of what it names was not said"
    return None


def no_rewriting(text: str, source: str, named: Collection[str], concepts: Collection[str]) -> str | None:
    """Return why a text does not rephrase another, None if it does; arguments as for `invented`."""
    if _plain(text) == _plain(source):
        return "these are the same words"
    if len(_words(named) & _words(concepts)) * LEAST < len(_words(concepts)):
        return "most of what was said is missing"
    return None


def no_parts(spans: Sequence[tuple[int, int]], text: str) -> str | None:
    """Return why `spans` (start, end) do not split a text into parts, None if they do."""
    ends = [0, *(end for _, end in spans)]
    if any(not before <= start < end <= len(text) for before, (start, end) in zip(ends, spans, strict=False)):
        return "the parts are empty, overlap, or lie outside the text"
    covered = sum(len(text[start:end].split()) for start, end in spans)
    return None if covered >= COVERED * len(text.split()) else "the parts leave out most of the text"


def foreign_keywords(keywords: Iterable[str], text: str) -> str | None:
    """Return whether a keyword does not stand in the text."""
    lower = text.casefold()
    return None if all(word.casefold() in lower for word in keywords) else "a keyword does not stand in the text"


def _words(concepts: Iterable[str]) -> set[str]:
    """List the words of concepts, no marks."""
    return {word for concept in concepts if concept[:1] != "@" for word in concept.split(" ")}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
