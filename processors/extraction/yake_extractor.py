"""Concepts from text by YAKE: the default extractor.  No other file imports yake.

    text -> words (processors/text/language.py) -> transcript -> YAKE (n=1) -> scores -> concepts
         -> tags (processors/extraction/tags.py)

YAKE scores a word by case, position, frequency, context and spread; never by its spelling.  So it is given a transcript
with one code word for every word of ours, and `run` and `ran` count as one word.  A code is in capitals for an acronym
and capitalised for a capitalised word, because YAKE reads case.

Of YAKE only what scores single words is used: its data core, without its tokeniser, which drops 密钥 and UI for being
short and splits C++, and without its phrases.  The scores are those of its KeywordExtractor, to the last bit; a turn
costs less than half.  The whole transcript is one sentence to it, in which "!" and "," part words from each other.

Nodes are single words.  Of YAKE's two-word phrases on LoCoMo 85 % never came twice in a conversation, and what did come
often was "hey John" and "sounds great": they would double the co-occurrence work for little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from hashlib import sha256
from importlib.metadata import version as installed
from itertools import product
from math import log
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from emgas.limits import CONCEPTS_PER_TURN, TEXT_BYTES
from processors.dates.resolve import anchored, resolve_times
from processors.extraction import semantics, tags
from processors.extraction.extractor import Extraction
from processors.text.chinese import STANDARD, Segmenter, simplified
from processors.text.language import Language, Word, clean
from state.events.extraction_types import Concept, TimeSpan

RULES: Final = 12  # number of our own rules and word lists: raise it with every change that can change a result
READ_WORDS: Final = 2000  # what YAKE reads of one text; its time is linear, 5 to 15 µs a word
SHORT: Final = 12  # words and marks of a transcript that may well come again, as most questions have
_PACKAGES: Final = ("yake", "rjieba", "simplemma", "opencc", "stopwordsiso")

# No s: YAKE cuts a plural s.  No vowel: no code is a word.
_CODES: Final = ["".join(letters) for letters in product("bcdfghjkmnpqrtvwz", repeat=3)]
_CONTENT: Final = "k"
_FUNCTION: Final = "x"
_FUNCTIONS: Final = frozenset(_FUNCTION + code for code in _CODES)
_READING: Final = {"windows_size": 1, "n": 1, "exclude": {"!", ","}}
_FEATURES: Final = ("wrel", "wfreq", "wspread", "wcase")  # and wpos, which is the same for all words of one sentence
_POSITION: Final = log(log(3))


class ExtractionFailedError(RuntimeError):
    """YAKE gave no score for a word of its transcript.  A bug (ours or YAKE's): the text itself cannot cause it."""


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
        marks = tags.of_turn(simplified(text), clean(speaker), at, days)
        words = self.language.words(text)
        extraction = self._extraction(text, words, marks, times)
        return semantics.added(extraction, simplified(text), words, original=original, speaker=tags.by(clean(speaker)))

    def of_query(self, text: str, at: int | None = None) -> Extraction:
        """Find the concepts of a question.  Names stay, even if they may only address a person."""
        text = _bounded(text)
        times = [] if at is None else anchored(text, at, self.language.language_of(text))
        marks = tags.of_query(simplified(text), times)
        return self._extraction(text, self.language.words(text, addressed=False), marks, times)

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
    """Score every content word that YAKE reads: lower is more important, > 0, 6 significant digits."""
    if not counts:
        return {}
    if len(words) > READ_WORDS:
        words = _thinned(words, counts)
    transcript, codes = _transcript(words)
    scores = _yake_of_short(tuple(transcript)) if len(transcript) <= SHORT else _yake(transcript)
    if missing := codes.keys() - scores.keys():
        raise ExtractionFailedError(f"YAKE gave no score for {len(missing)} of {len(codes)} words.")
    return {form: float(f"{scores[code]:.6g}") for code, form in codes.items()}


def _thinned(words: list[Word], counts: Counter[str]) -> list[Word]:
    """Choose what YAKE reads of a long text: its most frequent content words, as many as fit."""
    kept: set[str] = set()
    room = READ_WORDS
    for form, count in counts.most_common():  # ties: the one that comes first in the text
        kept.add(form)
        if (room := room - count) <= 0:
            break
    return [word for word in words if word.content and word.form in kept][:READ_WORDS]


def _transcript(words: list[Word]) -> tuple[list[str], dict[str, str]]:
    """Write the words as YAKE reads them, and code -> form of the content words."""
    codes: dict[tuple[str, bool], str] = {}
    written: list[str] = []
    sentence = words[0].sentence
    for word in words:
        key = (word.form, word.content)
        code = codes.get(key)
        if code is None:
            code = codes[key] = (_CONTENT if word.content else _FUNCTION) + _CODES[len(codes)]
        if word.sentence != sentence:
            written.append("!")
        elif word.pause:
            written.append(",")
        sentence = word.sentence
        written.append(_in_case_of(word.surface, code))
    return written, {code: form for (form, content), code in codes.items() if content}


def _in_case_of(surface: str, code: str) -> str:
    if surface.islower() or not surface[0].isupper():
        return code
    return code.upper() if len(surface) > 1 and surface.isupper() else code.capitalize()


@cache
def _library() -> Any:
    """Import yake.  Loading it (networkx, numpy, segtok) takes up to 0.5 s: only extraction pays."""
    import yake  # type: ignore[import-untyped]  # it ships no types

    return yake


@cache
def _reader() -> Any:
    """Make YAKE's reader of a sentence that is cut into words already, without its phrases."""
    from yake.data.core import DataCore  # type: ignore[import-untyped]

    class Words(DataCore):  # type: ignore[misc]  # it ships no types
        def _build(self, words: list[str], windows_size: int, n: int) -> None:
            self.sentences_str, self.number_of_sentences = [words], 1
            self.number_of_words = self._process_sentence(words, 0, 0, {"windows_size": windows_size, "n": n})

        def _generate_candidates(self, *_: object) -> None:
            pass

    return Words


@lru_cache(1024)
def _yake_of_short(transcript: tuple[str, ...]) -> Mapping[str, float]:
    """Score a short transcript, once: it holds codes and no words, so a third of questions have one that was scored."""
    return MappingProxyType(_yake(list(transcript)))


def _yake(transcript: list[str]) -> dict[str, float]:
    """Score each content word of a transcript as YAKE's KeywordExtractor(n=1, window_size=1) does."""
    terms = _reader()(transcript, _FUNCTIONS, _READING).terms.values()
    content = [term for term in terms if not term.stopword]
    counts = np.array([term.tf for term in content])
    most = max(term.tf for term in terms)
    statistics = {"max_tf": most, "avg_tf": counts.mean(), "std_tf": counts.std(), "number_of_sentences": 1}
    for term in content:
        term.wpos = _POSITION
        term.update_h(statistics, _FEATURES)
    return {term.unique_term: float(term.h / ((term.h + 1) * term.tf)) for term in content}


def _function_words(language: str) -> frozenset[str]:
    """Collect the function words of a language.

    English has YAKE's list: stopwordsiso's merges so many that it holds computer, run, work and every country domain.
    """
    import stopwordsiso

    if language == "en":
        return frozenset(_library().KeywordExtractor(lan="en").stopword_set)
    if not stopwordsiso.has_lang(language):
        raise ValueError(f"no function words are known for the language {language!r}: use a code of ISO 639-1, as 'en'")
    return frozenset(map(str.casefold, stopwordsiso.stopwords(language)))
