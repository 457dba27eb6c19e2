"""Rules that need not be tried where none of their words is said: which may fit a text, told without trying any.

A pattern takes many times as long as looking for a word, and most texts say none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

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
        self._words = tuple(self._places)
        self._ascii = tuple(filter(str.isascii, self._words))  # what a text can say that is ASCII itself

    def fitting(self, lower: str) -> list[Rule]:
        """Pick the rules that may fit a text in lower case, in the order of the list."""
        words = self._ascii if lower.isascii() else self._words
        said = [word for word in words if word in lower]
        return [self._rules[place] for place in sorted({place for word in said for place in self._places[word]})]
