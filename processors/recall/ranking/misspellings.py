"""Find the words that an unknown word probably means: it may be the beginning of a word, or have a typing error.

    beginning   prescrib → prescribe           the shortest words that go on from it, ALIKE at most
    error       bisciut → biscuit              one letter wrong, doubled, left out or swapped with the next; two from
                                               LONG letters on; of short words only one too many or too few

Used only for a word that has no node, no relative (query_expansion.py), and is in no dictionary: "winter" is no error
for "winner".  The meant word is a seed with less than a word's weight.  SEEDS H11.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import simplemma
from rapidfuzz import process
from rapidfuzz.distance import OSA

from processors.text import tables
from state.graph.turn_index import PREFIX
from state.graph.view import GraphView

WORTH: Final = 0.6  # of a seed, of what is meant by a beginning; by an error, times how alike the two are
ALIKE: Final = 2  # words, at most, that one may mean
SHORT, LONG = 6, 9  # letters
_WORD: Final = tables.lazy(r"[^\W\d_]{4,}")


def find_corrections(view: GraphView, word: str) -> dict[str, float]:
    """Return the words of a graph that `word` probably means, with their weights as seeds; {} if there are none."""
    if not _WORD.fullmatch(word) or not _is_latin(word) or in_dictionary(word):
        return {}
    begun = sorted((each for each in view.words_beginning(word[:PREFIX]) if each.startswith(word)), key=len)
    return dict.fromkeys(begun[:ALIKE], WORTH) or _nearest(view, word)


def _nearest(view: GraphView, word: str) -> dict[str, float]:
    """Find the words with the fewest typing errors."""
    errors = 2 if len(word) >= LONG else 1
    lengths = {len(word) - errors, len(word) + errors} if len(word) < SHORT else range(len(word) - 2, len(word) + 3)
    candidates = [each for each in view.words_with_initial(word[0]) if len(each) in lengths]
    matches = process.extract(word, candidates, scorer=OSA.distance, score_cutoff=errors, limit=None)
    least = min((distance for _, distance, _ in matches), default=0)
    nearest = sorted(each for each, distance, _ in matches if distance == least)
    return {each: WORTH * (1 - least / max(len(word), len(each))) for each in nearest[:ALIKE]}


def _is_latin(word: str) -> bool:
    """Return whether a word is in the Latin script: in others, one letter is another word."""
    return all(letter < "\u0250" for letter in word)


@lru_cache(maxsize=10_000)
def in_dictionary(word: str) -> bool:
    """Return whether a word is written as words are: of English, whatever else is spoken."""
    return simplemma.is_known(word, lang="en")
