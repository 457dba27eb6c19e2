"""Read the words of time expressions from data/*.tsv: which words there are, and what each stands for."""

from __future__ import annotations

from collections.abc import Iterable

from processors.text import tables


class Vocabulary:
    """Hold the words of one language's time expressions by kind ("weekday", "month", …), in the order written."""

    def __init__(self, name: str) -> None:
        self._kinds: dict[str, dict[str, str]] = {}
        for kind, word, value in tables.rows(__package__, name):
            self._kinds.setdefault(kind, {})[word] = value

    def names(self, kind: str) -> dict[str, str]:
        """Map each word of a kind to what it stands for, as it is written there."""
        return self._kinds[kind]

    def numbers(self, kind: str) -> dict[str, int]:
        """Map each word of a kind to the whole number that it stands for."""
        return {word: int(value) for word, value in self._kinds[kind].items()}

    def dates(self, kind: str) -> dict[str, tuple[int, int]]:
        """Map each word of a kind to its day of the year: (month, day)."""
        pairs = {word: value.split("-") for word, value in self._kinds[kind].items()}
        return {word: (int(month), int(day)) for word, (month, day) in pairs.items()}


def either(words: Iterable[str]) -> str:
    """Join words into a pattern that matches one of them; the first that fits counts."""
    return "|".join(words)
