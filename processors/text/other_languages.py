"""Texts that are neither English nor Chinese: which language each is in, and what its words are.

    Latin, Cyrillic, Arabic … script   the language whose function words a text has most of; these are no content, and
                                       its dictionary (simplemma) gives the normal form of the others
    kana, Hangul, Thai, Lao, Khmer,    no spaces between words, or endings that stick to them: overlapping pieces of two
    Burmese script                     or three characters stand for words.  A run of katakana is one word
    Han beside kana                    Japanese: runs of two characters, too, instead of Chinese words

A text is English unless it has more function words of another language: two of them, or three where it has English
ones too, and a word that no dictionary of English has: Romanian has "I", "a" and "cat", too.  Function words are those
of stopwordsiso, and what people say in conversations (data/stopwords.tsv).
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Final

from processors.text import stopwords, tables
from processors.text.scripts import HAN

LATIN_AND_OTHERS: Final = (
    *("de", "es", "fr", "it", "pt", "nl", "sv", "da", "pl", "cs", "ro", "tr", "ru", "uk", "el", "ar", "hi", "fa", "vi"),
    *("id", "hu", "fi"),
)
LEAST: Final = 2  # different function words, where no English one is there; more, where one is
SHARE: Final = 0.3  # of the different words of the text
_REMEMBERED: Final = 1 << 15
_UNACCENTED: Final = frozenset({"es", "fr", "it", "pt"})  # in chats, people leave out the accents of these

_KATAKANA: Final = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL: Final = "\uac00-\ud7af\u1100-\u11ff"
_OTHER_SCRIPT: Final = tables.lazy(r"[\u0370-\u1fff]")
_KANA: Final = tables.lazy("[\u3041-\u30ff]")
_DENSE: Final = tables.lazy(
    rf"[{_KATAKANA}]+|[\u3041-\u309f]+|[{_HANGUL}]+|[\u0e00-\u0e7f]+|[\u0e80-\u0eff]+|[\u1780-\u17ff]+|[\u1000-\u109f]+"
)
_IS_KATAKANA: Final = tables.lazy(rf"[{_KATAKANA}]")
_IS_HANGUL: Final = tables.lazy(rf"[{_HANGUL}]")
_IS_LONG: Final = tables.lazy(r"[\u0e00-\u109f\u1780-\u17ff]")  # scripts that need three characters for a word
_PARTICLES: Final = frozenset("은는이가을를의도만에로와과")  # Korean: behind a noun, without a space
_HAN_RUN: Final = tables.lazy(f"[{HAN}]+")


def language_of(surfaces: Iterable[str], english: frozenset[str]) -> str:
    """Return the language of a text by its words in scripts with spaces: "en", or another one that it surely is in."""
    lower = {surface.casefold() for surface in surfaces}
    languages = _languages_with()
    counts = Counter(language for word in lower for language in languages.get(word, ()))
    if not counts:
        return "en"
    best = max(counts, key=lambda language: (counts[language], -LATIN_AND_OTHERS.index(language)))
    if any(map(_OTHER_SCRIPT.match, lower)):
        return best
    most, of_english = counts[best], len(lower & english)
    is_sure = most >= SHARE * len(lower) and most > of_english and (most > LEAST or most == of_english + LEAST)
    return best if is_sure and not _is_all_english(lower - english) else "en"


def _is_all_english(words: Iterable[str]) -> bool:
    """Return whether a dictionary of English has all of some words."""
    import simplemma

    return all(simplemma.is_known(word, "en") for word in words)


def is_kana(surface: str) -> bool:
    """Return whether a word has kana: the text is Japanese."""
    return _KANA.search(surface) is not None


def language_by_script(text: str) -> str:
    """Return the language that the script of a text tells: ja, ko, else ""."""
    if _KANA.search(text):
        return "ja"
    return "ko" if _IS_HANGUL.search(text) else ""


@cache
def function_words(language: str) -> frozenset[str]:
    """Collect the function words of a language, casefolded; none for one that stopwordsiso lacks."""
    import stopwordsiso

    listed = map(str.casefold, stopwordsiso.stopwords(language)) if stopwordsiso.has_lang(language) else ()
    return frozenset(listed) | stopwords.of_language(language)


@cache
def _languages_with() -> dict[str, tuple[str, ...]]:
    """Return function word → the languages that have it."""
    words: dict[str, tuple[str, ...]] = {}
    for language in LATIN_AND_OTHERS:
        for word in function_words(language):
            words[word] = (*words.get(word, ()), language)
    return words


@lru_cache(_REMEMBERED)
def normal_form(word: str, language: str) -> str:
    """Return the dictionary form of a word, casefolded; of some languages without accents."""
    import simplemma

    try:
        lemma = simplemma.lemmatize(word, language).casefold()
    except ValueError:
        lemma = word.casefold()
    return _unaccented(lemma) if language in _UNACCENTED else lemma


def _unaccented(word: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign)) or word


def is_content(word: str, language: str) -> bool:
    """Return whether a word of another language is something talked about."""
    functions = function_words(language)
    return len(word) > 1 and word.casefold() not in functions and normal_form(word, language) not in functions


def has_dense_run(surface: str) -> bool:
    """Return whether a word has characters of a script that writes no words."""
    return _DENSE.search(surface) is not None


def pieces(surface: str) -> Iterator[tuple[int, str]]:
    """Cut what a script without words has written into pieces that stand for words, each with its place."""
    for run in _DENSE.finditer(surface):
        yield from ((run.start() + place, piece) for place, piece in _of_run(run.group()))


def _of_run(run: str) -> Iterator[tuple[int, str]]:
    if _IS_KATAKANA.match(run):
        if len(run) > 1:
            yield 0, run
        return
    size = 3 if _IS_LONG.match(run) else 2
    is_hangul = _IS_HANGUL.match(run) is not None
    if len(run) >= size:
        yield from ((place, run[place : place + size]) for place in range(len(run) - size + 1))
    elif is_hangul:
        yield 0, run
    if is_hangul and len(run) == size and run[-1] in _PARTICLES:  # 귤은 is 귤 and a particle
        yield 0, run[0]


def han_pieces(surface: str) -> Iterator[tuple[int, str]]:
    """Cut a run of Han in a Japanese text: all of it if it is short, and pairs of characters."""
    if len(surface) <= 2:
        yield 0, surface
        return
    yield from ((place, surface[place : place + 2]) for place in range(len(surface) - 1))
