"""Rules that need not be tried where none of their words is said: which may fit a text, told without trying any.

A pattern takes many times as long as looking for a word, and most texts say none of them.  A word without a blank in it
is in a text where it is in one of what stands between the text's blanks, and most of those were looked through before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, Generic, TypeVar

REMEMBERED: Final = 1 << 13  # what stood between blanks, lately
LONGEST: Final = 24  # characters of those: Chinese has no blanks, and what is longer hardly comes again

Rule = TypeVar("Rule")


class Triggers(Generic[Rule]):
    """The rules of a list, each by its words, in lower case: one of them, or a part of one, must be in a text."""

    def __init__(self, rules: Sequence[Rule], words_of: Callable[[Rule], Sequence[str]]) -> None:
        """List the words of all rules once."""
        self._rules = rules
        self._places: dict[str, list[int]] = {}
        for place, rule in enumerate(rules):
            for word in words_of(rule):
                self._places.setdefault(word, []).append(place)
        self._blank = tuple(word for word in self._places if word.split() != [word])  # what is not in one piece
        self._words = tuple(word for word in self._places if word.split() == [word])
        self._ascii = tuple(filter(str.isascii, self._words))  # what a piece can hold that is ASCII itself
        self._known = lru_cache(REMEMBERED)(self._in_piece)

    def fitting(self, lower: str) -> list[Rule]:
        """Pick the rules that may fit a text in lower case, in the order of the list."""
        places = {place for word in self._blank if word in lower for place in self._places[word]}
        for piece in lower.split():
            places.update(self._known(piece) if len(piece) <= LONGEST else self._in_piece(piece))
        return [self._rules[place] for place in sorted(places)]

    def _in_piece(self, piece: str) -> tuple[int, ...]:
        """List the places of rules of which a word is in a piece without blanks."""
        words = self._ascii if piece.isascii() else self._words
        return tuple({place for word in words if word in piece for place in self._places[word]})
