"""Rules that need not be tried where none of their words is said: which may fit a text, told without trying any.

A pattern takes many times as long as looking for a word, and most texts say none of them.  A word without a blank in it
is in a text where it is in one of what stands between the text's blanks, and most of those were looked through before;
one with a blank can only be where the longest part of it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import add
from typing import Final, Generic, TypeVar

REMEMBERED: Final = 1 << 13  # what stood between blanks, lately
LONGEST: Final = 24  # characters of those: Chinese has no blanks, and what is longer hardly comes again

Rule = TypeVar("Rule")


class _Pieces(dict[str, tuple[str, ...]]):
    """The words that may occur around a piece without blanks: cached for pieces that recur."""

    def __init__(self, words: Mapping[str, str]) -> None:
        """Prepare a search for words by a part of each that must be in one piece: by the first two signs of it."""
        super().__init__()
        self._beginning: dict[str, list[tuple[str, str]]] = {}
        for word, part in words.items():
            self._beginning.setdefault(part[:2], []).append((word, part))
        self._has_one_sign = any(len(part) == 1 for part in words.values())

    def __missing__(self, piece: str) -> tuple[str, ...]:
        matching = tuple(dict.fromkeys(self._found(piece)))
        if len(piece) <= LONGEST:
            if len(self) >= REMEMBERED:
                self.clear()
            self[piece] = matching
        return matching

    def _found(self, piece: str) -> Iterator[str]:
        """Yield the words whose part is in a piece: look each place up by its two signs; most places begin no word."""
        beginning = self._beginning
        for place, pair in enumerate(map(add, piece, piece[1:])):
            if pair in beginning:
                yield from (word for word, part in beginning[pair] if piece.startswith(part, place))
        for sign in piece if self._has_one_sign else "":
            yield from (word for word, _ in beginning.get(sign, ()))


class Triggers(Generic[Rule]):
    """The rules of a list, each by its words, in lower case: one of them, or a part of one, must be in a text."""

    def __init__(self, rules: Sequence[Rule], words_of: Callable[[Rule], Sequence[str]]) -> None:
        """List the words of all rules once.  Each must hold more than blanks."""
        self.rules = rules
        self._places: dict[str, list[int]] = {}
        for place, rule in enumerate(rules):
            for word in words_of(rule):
                self._places.setdefault(word, []).append(place)
        self._pieces = _Pieces({word: max(word.split(), key=len) for word in self._places})

    def fitting(self, lower: str) -> list[Rule]:
        """Pick the rules that may fit a text in lower case, in the order of the list."""
        pieces, words_in = lower.split(), self._pieces.__getitem__
        if not any(map(words_in, pieces)):  # as of most texts
            return []
        present = {word for piece in pieces for word in words_in(piece) if word in lower}
        return [self.rules[place] for place in sorted({place for word in present for place in self._places[word]})]
