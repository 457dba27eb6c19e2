"""Find the kind of a name, from the name and the words beside it: a person, a place, an organisation, a product.

    New York, Lisbon, 深圳, Yara          listed_kind: data/names.tsv, data/first_names.tsv
    Nguyen lent me his drill             what people alone do: its place (shown_as_person)
    Golden Gate Bridge, 驼铃小院          what its last word says; "Mount Fuji", "Dr Weber": its first
    my friend Yara, a cat called Mo       what stands before it
    《三体》                              a title: a product
    何伟                                  a rule of processors/text/chinese_names.py found it

Where nothing tells, a name has no kind.  A kind is never asked by what finds turns: it is for people and for relations.
"""

from __future__ import annotations

from typing import Final

from emgas.messages.relations import Kind
from processors.text import chinese_names, tables


def _first_names() -> dict[str, set[str]]:
    """Read the first names by what their row is: f, m or ?, their gender; word, those that are words too."""
    lists: dict[str, set[str]] = {}
    for gender, names in tables.rows(__package__, "first_names"):
        lists.setdefault(gender, set()).update(names.split())
    return lists


def _lists() -> dict[str, frozenset[str]]:
    lists: dict[str, set[str]] = {}
    for name, words in tables.rows(__package__, "names"):
        lists.setdefault(name, set()).update(words.split(", "))
    return {name: frozenset(words) for name, words in lists.items()}


_LISTS: Final = _lists()
_NAMED: Final[tuple[Kind, ...]] = ("place", "person", "organisation", "product")
_KINDS: Final[dict[str, Kind]] = {
    name: kind for kind in reversed(_NAMED) for listed in (kind, f"{kind}-han") for name in _LISTS.get(listed, ())
}
_FIRST: Final = _first_names()
_FIRST_INSIDE: Final = frozenset((_FIRST["f"] | _FIRST["m"] | _FIRST["?"]) - _FIRST["word"])  # inside a sentence
_FIRST_NAMES: Final = _FIRST_INSIDE - _FIRST["start"]
_GENDERS: Final = {name: gender for gender in "fm" for name in _FIRST[gender]}
_ENDS: Final[dict[str, Kind]] = {word: kind for kind in _NAMED for word in _LISTS.get(f"{kind}-ends", ())}
_BEGINS: Final[dict[str, Kind]] = {word: kind for kind in _NAMED for word in _LISTS.get(f"{kind}-begins", ())}
_ENDS_HAN: Final[dict[str, Kind]] = {word: kind for kind in _NAMED for word in _LISTS.get(f"{kind}-ends-han", ())}
_AFTER: Final[dict[str, Kind]] = {word: kind for kind in _NAMED for word in _LISTS.get(f"{kind}-after", ())}
_TAGS: Final[dict[str, Kind]] = {"ns": "place", "nt": "organisation"}
FIRST_WORDS: Final = frozenset(name.split()[0] for name in _KINDS if " " in name)
MOST_WORDS: Final = max(len(name.split()) for name in _KINDS)
LONGEST_ENDING: Final = max(map(len, _ENDS_HAN))


def listed_kind(name: str) -> Kind | None:
    """Return the kind of a name that is in our lists, as it is written; None for all others."""
    return _KINDS.get(name) or ("person" if is_first_name(name) else None)


def is_first_name(name: str, *, inside: bool = False) -> bool:
    """Return whether a word in capitals is a first name, and no ordinary word; `inside` a sentence it may be both."""
    return name[:1].isupper() and name.casefold() in (_FIRST_INSIDE if inside else _FIRST_NAMES)


def gender(name: str) -> str:
    """Return the gender that a first name mostly has, f or m; "" if it has either, or is no known name."""
    return _GENDERS.get(name.casefold(), "")


def by_words(first: str, last: str) -> Kind | None:
    """Return what a name of several words names, by its first or its last one; None where neither tells."""
    return _ENDS.get(last.rstrip(".")) or _BEGINS.get(first.rstrip("."))


def before(word: str) -> Kind | None:
    """Return the kind of a name after this word: "friend" Yara, "in" Faro.  None if the word does not decide it."""
    return _AFTER.get(word.casefold())


def han(word: str, tag: str) -> Kind | None:
    """Return what a Chinese word with jieba's tag names; None for what is no name, or maybe none."""
    if word in _KINDS:
        return _KINDS[word]
    if ending := han_ending(word):
        return ending
    if tag in chinese_names.TAGS:
        return "person" if tag == chinese_names.PERSON else "place"
    return _TAGS.get(tag) if len(word) > 2 else None  # 美丽 and 攀岩 are tagged as places as well


def han_ending(word: str) -> Kind | None:
    """Return what a longer Chinese word names by its ending: 驼铃小院, 梧桐路.  One letter must end three at least."""
    for length in range(min(LONGEST_ENDING, len(word) - 2), 0, -1):
        if kind := _ENDS_HAN.get(word[-length:]):
            return kind
    return None
