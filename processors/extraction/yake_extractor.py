"""Concepts from text by YAKE: the default extractor.  No other file imports yake.

    text -> words (processors/text/language.py) -> transcript -> YAKE (n=1) -> scores -> concepts
         -> tags (processors/extraction/tags.py)

YAKE scores a word by case, position, frequency, context and spread; never by its spelling.  So it is given a transcript
with one code word for every word of ours, and `run` and `ran` count as one word.  A code is in capitals for an acronym
and capitalised for a capitalised word, because YAKE reads case.

Of YAKE only what scores single words is needed, and computed here: without its tokeniser, which drops 密钥 and UI for
being short and splits C++, without its phrases and its graph of objects.  The scores are those of the library's
KeywordExtractor, to the last bit, as tests hold against it, at a fifth of the cost or less.  The whole transcript is
one sentence to it, in which "!" and "," part words from each other.

Nodes are single words.  Of YAKE's two-word phrases on LoCoMo 85 % never came twice in a conversation, and what did come
often was "hey John" and "sounds great": they would double the co-occurrence work for little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.metadata import version as installed
from itertools import product
from math import log
from typing import Any, Final

import numpy as np

from emgas.limits import CONCEPTS_PER_TURN, TEXT_BYTES
from processors.dates.resolve import anchored, told_times
from processors.extraction import semantics, tags
from processors.extraction.extractor import Extraction
from processors.text.chinese import STANDARD, Segmenter, simplified
from processors.text.language import Language, Word, clean
from state.events.extraction_types import Concept, TimeSpan

RULES: Final = 5  # number of our own rules and word lists: raise it with every change that can change a result
READ_WORDS: Final = 2000  # what YAKE reads of one text
_PACKAGES: Final = ("yake", "rjieba", "simplemma", "opencc", "stopwordsiso")

# No s: YAKE cuts a plural s.  No vowel: no code is a word.
_CODES: Final = ["".join(letters) for letters in product("bcdfghjkmnpqrtvwz", repeat=3)]
_CONTENT: Final = "k"
_FUNCTION: Final = "x"
_FUNCTIONS: Final = frozenset(_FUNCTION + code for code in _CODES)
_PAUSES: Final = frozenset({"!", ","})
_POSITION: Final = log(log(3))  # of YAKE's wpos: the same for all words of one sentence

Beside = dict[str, list[str]]  # a word → those that stood on one side of it, as often as they did


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
        said, text = text, _bounded(text)
        times = told_times(text, at, self.language.code)
        days = [span for span in times if not span.kind]
        found = tags.of_turn(simplified(text), clean(speaker), at, days)
        words = self.language.words(text)
        extraction = self._extraction(text, words, found, times)
        return semantics.added(extraction, simplified(text), words, said=said, speaker=tags.by(clean(speaker)))

    def of_query(self, text: str, at: int | None = None) -> Extraction:
        """Find the concepts a question names.  Names stay even where they might address somebody."""
        text = _bounded(text)
        times = [] if at is None else anchored(text, at, self.language.code)
        found = tags.of_query(simplified(text), times)
        return self._extraction(text, self.language.words(text, addressed=False), found, times)

    def _extraction(self, text: str, words: list[Word], found: list[Concept], times: list[TimeSpan]) -> Extraction:
        tokens = sum(not word.part for word in words)
        concepts = sorted([*found, *self._concepts(words)], key=lambda concept: (-concept.weight, concept.id))
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
    """Name a list of words in a version so that no other has the name; nothing for none."""
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
    scores = _yake(transcript)
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


def _yake(transcript: list[str]) -> dict[str, float]:
    """Score each content word of a transcript as YAKE's KeywordExtractor(n=1, window_size=1) does, to the last bit.

    tf: how often; left, right: beside whom how often; wrel, wfreq, wcase, h: as the paper has them (Campos et al.,
    "YAKE! Keyword extraction from single documents", 2020).  A transcript is one sentence.
    """
    tf, left, right, cased = _counted(transcript)
    content = [code for code in tf if code.startswith(_CONTENT)]
    counts = np.array([tf[code] for code in content], float)
    usual, most = float(counts.mean() + counts.std()), max(tf.values())
    scores: dict[str, float] = {}
    for code in content:
        often = tf[code]
        part = often / most
        wrel = (0.5 + _different(left.get(code)) * part) + (0.5 + _different(right.get(code)) * part)
        wcase = cased.get(code, 0) / (1.0 + log(often))
        h = (_POSITION * wrel) / (wcase + often / usual / wrel + 1.0 / wrel)
        scores[code] = h / ((h + 1) * often)
    return scores


def _counted(transcript: list[str]) -> tuple[dict[str, int], Beside, Beside, dict[str, int]]:
    """Count the words of a transcript, what stands to the left and right of each, and in how many it is a name.

    A word is one in capitals, or capitalised behind the first: whichever it is more often.
    """
    tf: dict[str, int] = {}
    left: Beside = {}
    right: Beside = {}
    acronyms: Counter[str] = Counter()
    names: Counter[str] = Counter()
    before = ""
    for place, word in enumerate(transcript):
        if word in _PAUSES:
            before = ""
            continue
        code = word.lower()
        tf[code] = tf.get(code, 0) + 1
        if word != code:
            if word.isupper():
                acronyms[code] += 1
            elif place:
                names[code] += 1
        if before:
            left.setdefault(code, []).append(before)
            right.setdefault(before, []).append(code)
        before = code
    return tf, left, right, {code: max(acronyms[code], names[code]) for code in acronyms | names}


def _different(beside: list[str] | None) -> float:
    """Compute how many of a word's neighbours are different ones, 0 to 1; 0 if it has none."""
    return len(set(beside)) / len(beside) if beside else 0.0


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
