"""Kinds of things and what belongs to them: a question says "desserts" or 甜点, the turn that answers it says cake.

The edges "kind → member" of the graph (data/hyponyms.tsv).  Some members of one kind ask for another (a doctor is
health, health is a condition); an edge is followed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from processors.text import tables
from processors.text.language import clean

_LETTERS: Final = tables.lazy("[a-z]+")


def _members() -> Mapping[str, tuple[str, ...]]:
    """Map each asking word to its members, in the order written; if it asks for several kinds, to those of all."""
    members: dict[str, dict[str, None]] = {}
    for cues, listed in tables.rows(__package__, "hyponyms"):
        for cue in cues.split():
            members.setdefault(cue, {}).update(dict.fromkeys(listed.split()))
    return {cue: tuple(member for member in members_of if member != cue) for cue, members_of in members.items()}


MEMBERS: Final = _members()
_HAN_CUES: Final = tuple(cue for cue in MEMBERS if not cue.isascii())


def cues(words: Iterable[str], text: str) -> list[str]:
    """Find the words that ask for a kind of thing: concepts of the question, and words too common to be concepts."""
    plain = clean(text).casefold()
    candidates = [*words, *_LETTERS.findall(plain), *(cue for cue in _HAN_CUES if cue in plain)]
    return [cue for cue in dict.fromkeys(candidates) if cue in MEMBERS]
