"""Concepts by how often and how early they are said: half as precise a weight as YAKE's, for much less time.

    EMGAS_EXTRACTOR=processors.extraction.fast_extractor.FastExtractor

All else is as with YAKE (yake_extractor.py): words, tags, times, phrases, relations.  Source: SEEDS M13, the choice
between a precise extraction of keywords and a fast one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from processors.extraction.yake_extractor import YakeExtractor
from processors.text.language import Word

VERSION: Final = 1  # of the rule below: raise it with every change of it
_OF_A_NAME: Final = 0.5  # what the score of a word in capitals is multiplied by


class FastExtractor(YakeExtractor):
    """Extract as YakeExtractor does, but weigh a word by its count, its place and its capitals alone."""

    def __init__(self, language: str = "en", words: Iterable[str] = ()) -> None:
        super().__init__(language, words)
        self.version = f"fast {VERSION}, {self.version}"

    def scores(self, words: list[Word], counts: Counter[str]) -> dict[str, float]:
        """Score a word by how late it comes, over its count: from 0 to 1, six digits."""
        first: dict[str, int] = {}
        for place, word in enumerate(words):
            if word.content:
                first.setdefault(word.form, place)
        return {form: _score(words[place], place, len(words), counts[form]) for form, place in first.items()}


def _score(word: Word, place: int, length: int, count: int) -> float:
    late = (place + 1) / (length + 1) / count
    return round(late * _OF_A_NAME if word.surface[:1].isupper() and place else late, 6)
