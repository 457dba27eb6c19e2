"""Words that people say in a conversation without talking about them: the lists of data/stopwords.tsv, data/lemmas.tsv.

The rules that use them are in processors/text/language.py (single words); expressions are in greetings.py.  The large
lists of function words come from libraries: YAKE's for English, stopwordsiso's for every other language.
"""

from __future__ import annotations

from typing import Final

from processors.text import tables


def _lists() -> dict[str, frozenset[str]]:
    lists: dict[str, set[str]] = {}
    for name, words in tables.rows(__package__, "stopwords"):
        lists.setdefault(name, set()).update(words.split())
    return {name: frozenset(words) for name, words in lists.items()}


_LISTS: Final = _lists()

# What the classic English list (SMART, which YAKE brings) leaves out: light verbs, vague nouns, reactions, chat forms.
# Short on purpose: lists with find, start, type, moment or happy cost a point of recall, which idf discounts.
ENGLISH: Final = _LISTS["english"]
ENGLISH_CONTENT: Final = _LISTS["english-content"]  # words of the classic list that people do talk about

# Stopwords that are names when they are written as names (see processors/text/language.py).
TITLE_NAMES: Final = _LISTS["title-names"]  # the language, the man, the month
CAPITAL_NAMES: Final = _LISTS["capital-names"]  # the country, the trade

CHINESE: Final = _LISTS["chinese"]  # what stopwordsiso's list leaves out


def of_language(language: str) -> frozenset[str]:
    """Return what stopwordsiso's list of a language leaves out: reactions, chat forms, light verbs."""
    return _LISTS.get(language, frozenset())


LEMMAS: Final = {row[0]: row[1] for row in tables.rows(__package__, "lemmas")}
