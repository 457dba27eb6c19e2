"""Concepts from text by YAKE: the default extractor.  No other file imports yake.

    text -> words (processors/text/language.py) -> scores (processors/extraction/word_scores.py) -> concepts
         -> tags (processors/extraction/tags.py)

Of YAKE it uses the list of English function words and the formulas, which score a word by case, position, frequency,
context and spread; never by its spelling.  So `run` and `ran` count as one word.  YAKE's own tokeniser would drop 密钥
and UI for being short, and split C++.

Nodes are single words.  Of YAKE's two-word phrases on LoCoMo 85 % never came twice in a conversation, and what did come
often was "hey John" and "sounds great": they would double the co-occurrence work for little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import version as installed
from typing import Final

from emgas.limits import CONCEPTS_PER_TURN, TEXT_BYTES
from processors.dates.resolve import anchored, resolve_times
from processors.extraction import semantics, tags
from processors.extraction.extractor import Extraction
from processors.extraction.word_scores import word_scores
from processors.text import tables
from processors.text.chinese import STANDARD, Segmenter, simplified
from processors.text.greetings import vocatives
from processors.text.language import Language, Word, clean
from processors.text.separable_verbs import rejoined
from state.events.extraction_types import Concept, TimeSpan

RULES: Final = 20  # number of our own rules and word lists: raise it with every change that can change a result
READ_WORDS: Final = 2000  # words of one text that are scored
_WORD_LIST: Final = "yake/core/StopwordsList/stopwords_en.txt"
_PACKAGES: Final = ("yake", "rjieba", "simplemma", "opencc", "stopwordsiso")


class YakeExtractor:
    """Extract for a graph whose texts are in `language` (ISO 639-1), in Chinese, or in both.

    `words` are Chinese words that the dictionary lacks (names, terms); the version tells them by number and hash.
    Dictionaries are loaded with the first text that needs them; the instance holds no other state.
    """

    def __init__(self, language: str = "en", words: Iterable[str] = ()) -> None:
        own = tuple(words)
        segmenter = Segmenter(own) if own else STANDARD
        self.language = Language(language, _function_words(language), segmenter)
        packages = (f"{name} {installed(name)}" for name in _PACKAGES)
        self.version = " ".join([*packages, f"rules {RULES}", *_named(segmenter.words), language])

    def of_turn(self, text: str, *, speaker: str, at: int) -> Extraction:
        """Find the concepts of a turn said by `speaker` at `at` (ms since 1970, UTC), its tags included."""
        original, text = text, _bounded(text)
        times = resolve_times(text, at, self.language.language_of(text))
        days = [span for span in times if not span.kind]
        plain, speaker = simplified(text), clean(speaker)
        called = vocatives(plain)
        marks = tags.of_turn(plain, speaker, at, days, called)
        words = self.language.words(text, called)
        extraction = self._extraction(text, words, marks, times)
        return semantics.added(extraction, plain, words, original=original, speaker=tags.by(speaker))

    def of_query(self, text: str, at: int | None = None) -> Extraction:
        """Find the concepts of a question.  Names stay, even if they may only address a person."""
        text = _bounded(text)
        times = [] if at is None else anchored(text, at, self.language.language_of(text))
        marks = tags.of_query(simplified(text), times)
        return self._extraction(text, self.language.words(rejoined(text)), marks, times)

    def _extraction(self, text: str, words: list[Word], keywords: list[Concept], times: list[TimeSpan]) -> Extraction:
        tokens = sum(not word.part for word in words)
        concepts = sorted([*keywords, *self._concepts(words)], key=lambda concept: (-concept.weight, concept.id))
        return Extraction(tuple(concepts[:CONCEPTS_PER_TURN]), tags.asks(text), tokens, tuple(times))

    def _concepts(self, words: list[Word]) -> Iterable[Concept]:
        counts = Counter(word.form for word in words if word.content)
        labels: dict[str, str] = {}
        for word in words:
            if word.content:
                labels.setdefault(word.form, word.surface)
        for form, score in self.scores(words, counts).items():
            yield Concept(form, labels[form], round(1 / (1 + score), 6), counts[form])

    def scores(self, words: list[Word], counts: Counter[str]) -> dict[str, float]:
        """Score every content word, by its form: lower is more important, > 0."""
        return _scores(words, counts)


def _named(words: tuple[str, ...]) -> list[str]:
    """Return a part of the version that identifies a list of words, nothing for an empty list."""
    return [f"words {len(words)}:{sha256(chr(10).join(words).encode()).hexdigest()[:8]}"] if words else []


def _bounded(text: str) -> str:
    """Clean and bound a text.  NFKC can make it 18 times longer (ﷺ): what passes the limit of texts is not read."""
    return clean(text)[:TEXT_BYTES]


def _scores(words: list[Word], counts: Counter[str]) -> dict[str, float]:
    """Score every content word that is read: lower is more important, > 0, 6 significant digits."""
    read = words if len(words) <= READ_WORDS else _thinned(words, counts)
    return {form: float(f"{score:.6g}") for form, score in word_scores(read).items()}


def _thinned(words: list[Word], counts: Counter[str]) -> list[Word]:
    """Choose what is scored of a long text: its most frequent content words, as many as fit."""
    kept: set[str] = set()
    room = READ_WORDS
    for form, count in counts.most_common():  # ties: the one that comes first in the text
        kept.add(form)
        if (room := room - count) <= 0:
            break
    return [word for word in words if word.content and word.form in kept][:READ_WORDS]


def _function_words(language: str) -> frozenset[str]:
    """Collect the function words of a language.

    English has YAKE's list: stopwordsiso's merges so many that it holds computer, run, work and every country domain.
    """
    import stopwordsiso

    if language == "en":
        return _list_of_yake()
    if not stopwordsiso.has_lang(language):
        raise ValueError(f"no function words are known for the language {language!r}: use a code of ISO 639-1, as 'en'")
    return frozenset(map(str.casefold, stopwordsiso.stopwords(language)))


def _list_of_yake() -> frozenset[str]:
    """Read YAKE's list of English function words from its installation: importing it takes 0.1 s, for networkx."""
    text = tables.of_installed("yake", _WORD_LIST)
    if text is not None:
        return frozenset(text.lower().split("\n"))
    import yake  # type: ignore[import-untyped]  # of another layout; it ships no types

    return frozenset(yake.KeywordExtractor(lan="en").stopword_set)
