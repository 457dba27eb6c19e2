"""Kinds of things and what belongs to them: a question says "desserts" or 甜点, the turn that answers it says cake.

The edges "kind → member" of the graph, from the lists of processors/lexicon/.  One entry there: the words that ask for
a kind, a colon, its members.  Some members of one kind ask for another (a doctor is health, health is a condition); an
edge is followed once.  Both languages stand in one entry, so that a question in one finds turns in the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from processors.lexicon.kinds_of_being import KINDS as BEING
from processors.lexicon.kinds_of_doing import KINDS as DOING
from processors.text.language import clean

_LETTERS: Final = re.compile("[a-z]+")
_FURTHER: Final = "\n        "  # a line that goes on with the members of the line before


def _edges(text: str) -> Mapping[str, tuple[str, ...]]:
    """Return asking word → members, in the order written; a word that asks for several kinds has the members of all."""
    members: dict[str, dict[str, None]] = {}
    for entry in text.replace(_FURTHER, " ").strip().splitlines():
        cues, _, listed = entry.partition(":")
        for cue in cues.split():
            members.setdefault(cue, {}).update(dict.fromkeys(listed.split()))
    return {cue: tuple(member for member in found if member != cue) for cue, found in members.items()}


MEMBERS: Final = _edges(DOING + BEING)
_HAN_CUES: Final = tuple(cue for cue in MEMBERS if not cue.isascii())


def cues(words: Iterable[str], text: str) -> list[str]:
    """Return the words that ask for a kind of thing: concepts of the question, and words too common to be concepts."""
    plain = clean(text).casefold()
    said = [*words, *_LETTERS.findall(plain), *(cue for cue in _HAN_CUES if cue in plain)]
    return [cue for cue in dict.fromkeys(said) if cue in MEMBERS]
