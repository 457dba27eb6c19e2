"""What a name names, by itself and by what stands beside it: a person, a place, an organisation, a product.

    New York, Lisbon, 深圳                known: data/names.tsv
    Golden Gate Bridge, 驼铃小院          what its last word says; "Mount Fuji", "Dr Weber": its first
    my friend Yara, a cat called Mo       what stands before it
    《三体》                              a title: a product
    何伟                                  jieba says so, and it begins with a surname

Where nothing tells, a name has no kind.  A kind is never asked by what finds turns: it is for people and for relations.
"""

from __future__ import annotations

from typing import Final

from emgas.messages.relations import Kind
from processors.text import tables


def _lists() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, words in tables.rows(__package__, "names"):
        found.setdefault(name, set()).update(words.split(", "))
    return {name: frozenset(words) for name, words in found.items()}


_LISTS: Final = _lists()
_NAMED: Final[tuple[Kind, ...]] = ("place", "person", "organisation", "product")
_KNOWN: Final[dict[str, Kind]] = {
    name: kind for kind in reversed(_NAMED) for listed in (kind, f"{kind}-han") for name in _LISTS.get(listed, ())
}
_ENDS: Final[dict[str, Kind]] = {word: kind for kind in _NAMED for word in _LISTS.get(f"{kind}-ends", ())}
_BEGINS: Final[dict[str, Kind]] = {word: kind for kind in _NAMED for word in _LISTS.get(f"{kind}-begins", ())}
_ENDS_HAN: Final[dict[str, Kind]] = {word: kind for kind in _NAMED for word in _LISTS.get(f"{kind}-ends-han", ())}
_AFTER: Final[dict[str, Kind]] = {word: kind for kind in _NAMED for word in _LISTS.get(f"{kind}-after", ())}
_SURNAMES: Final = _LISTS["surname-han"]
_NOBODY: Final = _LISTS["nobody-han"]
_TAGS: Final[dict[str, Kind]] = {"ns": "place", "nt": "organisation"}
FIRST_KNOWN: Final = frozenset(name.split()[0] for name in _KNOWN if " " in name)
LONGEST_KNOWN: Final = max(len(name.split()) for name in _KNOWN)
LONGEST_ENDING: Final = max(map(len, _ENDS_HAN))


def known(name: str) -> Kind | None:
    """Return what a name names that is known by itself, as it is written; None for all others."""
    return _KNOWN.get(name)


def by_words(first: str, last: str) -> Kind | None:
    """Return what a name of several words names, by its first or its last one; None where neither tells."""
    return _ENDS.get(last.rstrip(".")) or _BEGINS.get(first.rstrip("."))


def before(word: str) -> Kind | None:
    """Return what a name names behind this word: "friend" Yara, "in" Faro.  None where that tells nothing."""
    return _AFTER.get(word.casefold())


def han(word: str, tag: str) -> Kind | None:
    """Return what a Chinese word with jieba's tag names; None for what is no name, or maybe none."""
    if word in _KNOWN:
        return _KNOWN[word]
    if ending := han_ending(word):
        return ending
    if tag == "nr":
        return "person" if is_person(word) else None
    return _TAGS.get(tag) if len(word) > 2 else None  # 美丽 and 攀岩 are tagged as places as well


def han_ending(word: str) -> Kind | None:
    """Return what a longer Chinese word names by its ending: 驼铃小院, 梧桐路.  One letter must end three at least."""
    for length in range(min(LONGEST_ENDING, len(word) - 2), 0, -1):
        if kind := _ENDS_HAN.get(word[-length:]):
            return kind
    return None


def is_person(word: str) -> bool:
    """Return whether a Chinese word may be a person's whole name: a surname, and one or two letters more."""
    if word in _NOBODY:
        return False
    for length in (2, 1):
        if word[:length] in _SURNAMES:
            return 1 <= len(word) - length <= 2
    return False
