"""From text to words: cleaning, scripts, segmentation, normal forms, and which words are content.

    text -> clean (NFKC, plain apostrophes, no invisible characters), simplified Han
         -> pieces: Han runs go through processors/text/chinese.py, everything else is cut at spaces and punctuation
         -> words: surface, normal form, content or not, sentence

The normal form is a function of the word alone, so a word is the same node wherever it stands.  Whether a word is
content may also depend on its neighbours ("go" and "Go").  Dictionaries are loaded when the first text needs them and
shared by all graphs.  Nothing here reads a clock, a locale or the network.  Texts in other languages than English and
Chinese are recognised one by one (processors/text/other_languages.py) where the graph's language is English.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from functools import cache, lru_cache
from typing import Final, NamedTuple

from processors.text import chinese, chinese_names, greetings, other_languages, stopwords, tables
from processors.text.scripts import COMBINING, HAN

LONGEST: Final = 64  # characters of a concept; what is longer is a blob, not a word
_REMEMBERED: Final = 1 << 15  # words whose normal form is kept, a few MB when full

_LETTER: Final = rf"[^\W_{HAN}]"
_CORE: Final = rf"{_LETTER}(?:{_LETTER}|[{COMBINING}])*"
_PIECE: Final = tables.lazy(
    rf"""
      (?P<address>  (?:https?://|www\.) [^\s<>"'\[\]{{}}、。《》「」\x00-\x1f\x7f-\x9f\ud800-\udfff{HAN}]+
                  | [A-Za-z0-9._+-]{{1,64}} @ (?:[A-Za-z0-9-]{{1,63}}\.){{1,8}} [A-Za-z]{{2,24}} )
    | (?P<mixed>    (?<![A-Za-z0-9]) (?:[Tt]恤 | [ABH]股 | [Xx]光 | (?:AB|[ABO])型 | [Kk]歌 | [UCDE]盘) )
    | (?P<han>      [{HAN}]+ )
    | (?P<number>   \d+ (?:[.,:/-]\d+)* (?:%|st\b|nd\b|rd\b|th\b|'?s\b|am\b|pm\b|h\b|hrs?\b|mins?\b|ms\b|kg\b|km\b|cm\b
                                         |mm\b|ft\b|lbs?\b|oz\b|[KMGTkmgt][Bb]\b)? (?!{_LETTER}) )
    | (?P<word>     [A-Za-z] (?:\+\+|\#) (?!\w)                          # C++ F#
                  | (?:[A-Za-z]\.){{2,8}}                                # U.S.  e.g.
                  | [A-Za-z]{{1,3}} - [A-Za-z]{{1,2}} (?![\w-])          # Wi-Fi
                  | [A-Za-z] - (?=[a-z]{{3}}) {_CORE}                    # e-mail  T-shirt
                  | [A-Za-z0-9-]{{1,63}} (?:\.[A-Za-z0-9-]{{1,63}}){{0,4}} \.
                    (?:com|org|net|edu|gov|io|ai|dev|app|cn|co|uk|de|fr|eu|js|ts|py|rs|md|json|yaml|toml|txt) (?![\w.])
                  | {_CORE} (?:\.\d+)* (?:' {_CORE})* )                  # qwen2.5  don't
    """,
    re.VERBOSE,
)
_APOSTROPHES: Final = str.maketrans(dict.fromkeys("\u2018\u2019\u201b\u02bc\u2032\u00b4", "'"))
_INVISIBLE: Final = tables.lazy(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_SENTENCE_END: Final = tables.lazy(r"[.!?\n。…]")
_HOST: Final = tables.lazy(r"(?:https?://)?(?:www\.)?(?:[^/@]*@)?([^/?#:]+)")

_ACRONYMS: Final = tables.lazy(r"(?!K8s)[A-Z][A-Z0-9]+s")  # K8s is no plural, A100s is one
_INITIALS: Final = tables.lazy(r"(?:[A-Za-z]\.){2,8}")
_DRAWN_OUT: Final = tables.lazy(r"([^\W\d_])\1{2,}")
_ENDING: Final = tables.lazy(r"'(?:s|d|ll|re|ve|m|em)$")
_CRY: Final = tables.lazy(
    r"(?:a*(?:ha){2,}h?|(?:he){2,}h?|(?:ho){2,}|(?:ja){2,}|l+o+l+z*|a+w+|o+h+|a+h+|u+h+|u+g+h+"
    r"|u*h?m{2,}|w+o+w+|w+h?o+a+h?|y+a+y+|y+e+a+h+|o{2,}h*|e+w+|x+d+|z{2,}|s+h+)"
)
_ELIDING: Final = frozenset({"ca", "fr", "it"})  # l'homme, qu'il


_NOT_HAN: Final = frozenset({"word", "number", "mixed", "address"})


class Word(NamedTuple):
    """One word of a text.

    surface   as it stood in the text, after NFKC
    form      its normal form, the id of its node; not empty
    content   whether it is something talked about
    sentence  number of its sentence in the text, from 0
    pause     whether punctuation stands between it and the word before
    part      whether it is no word of its own but stands inside the word before (咖啡 in 咖啡馆)
    start     where it begins in the text, in characters
    tag       part of speech, of Han alone, as jieba has it; of others what they are: word, number, mixed, address
    guessed   whether no dictionary has it, of Han: it may be a wrong cut
    """

    surface: str
    form: str
    content: bool
    sentence: int
    pause: bool
    part: bool = False
    start: int = 0
    tag: str = ""
    guessed: bool = False

    @property
    def end(self) -> int:
        """Return its end in the text, without an ending that the surface lacks."""
        return self.start + len(self.surface)


class _Piece(NamedTuple):
    kind: str
    surface: str
    plain: str  # simplified, for Han; else as the surface
    tag: str  # part of speech, for Han
    start: int
    sentence: int
    pause: bool
    part: bool = False
    guessed: bool = False


def clean(text: str) -> str:
    """Put a text into NFKC, with one kind of apostrophe and without invisible characters."""
    if text.isascii() and text.isprintable():  # it is so already, which takes a tenth of the time to tell
        return text
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text.translate(_APOSTROPHES)))


class Language:
    """Read the words of texts in Chinese and one language of another script (for a mixed text: both).

    code       ISO 639-1 code of the other language; without a dictionary in simplemma, words are only casefolded
    functions  its function words, casefolded
    segmenter  what cuts Chinese
    """

    def __init__(self, code: str, functions: Collection[str], segmenter: chinese.Segmenter = chinese.STANDARD) -> None:
        self.code = code
        self._segmenter = segmenter
        english = stopwords.ENGLISH if code == "en" else frozenset()
        content = stopwords.ENGLISH_CONTENT if code == "en" else frozenset()
        self._functions = (frozenset(functions) | english) - content - {""}
        self.normal_form = lru_cache(_REMEMBERED)(self._normal_form)
        self._talked_about = lru_cache(_REMEMBERED)(self._is_talked_about)

    def words(self, text: str, called: Iterable[greetings.Span] = ()) -> list[Word]:
        """Cut a clean text into words, in order; greetings and names that are `called` are not content."""
        plain = chinese.simplified(text)
        pieces = _pieces(plain, text if len(text) == len(plain) else plain, self._segmenter)
        covered = bytearray(len(plain))
        for start, end in (*greetings.expressions(plain), *called):
            covered[start:end] = b"\1" * (end - start)
        words = [
            Word(
                self._label(piece),
                self.normal_form(piece.plain, piece.kind),
                not covered[piece.start] and self._is_content(pieces, position),
                piece.sentence,
                piece.pause,
                piece.part,
                piece.start,
                piece.tag or piece.kind,
                piece.guessed,
            )
            for position, piece in enumerate(pieces)
        ]
        return self._of_other_languages(words)

    def language_of(self, text: str) -> str:
        """Return the language that a clean text is in: the graph's own unless that is English and the text is not."""
        if self.code != "en":
            return self.code
        if by_script := other_languages.language_by_script(text):
            return by_script
        words = [match.group() for match in _PIECE.finditer(text) if match.lastgroup == "word"]
        return other_languages.language_of(words, self._functions)

    def _of_other_languages(self, words: list[Word]) -> list[Word]:
        """Read words of other languages by their own rules; those of English and Chinese stay as they are."""
        plain = [word.surface for word in words if word.tag == "word"]
        language = other_languages.language_of(plain, self._functions) if self.code == "en" else self.code
        is_japanese = any(map(other_languages.is_kana, plain))
        result: list[Word] = []
        for word in words:
            if word.tag == "word" and other_languages.has_dense_run(word.surface):
                result += _cut(word, other_languages.pieces(word.surface))
            elif word.tag == "word" and language != self.code:
                form = other_languages.normal_form(word.surface, language)
                result.append(word._replace(form=form, content=other_languages.is_content(word.surface, language)))
            else:
                result.append(word)
        return _as_japanese(result) if is_japanese else result

    def _label(self, piece: _Piece) -> str:
        if piece.kind == "address":
            return _host(piece.surface)
        return self._without_ending(piece.surface) if "'" in piece.surface else piece.surface

    def _normal_form(self, surface: str, kind: str = "word") -> str:
        if kind == "address":
            return _host(surface)
        if kind != "word":
            return surface.casefold() if kind == "mixed" else surface
        word = self._without_ending(surface)
        if _ACRONYMS.fullmatch(word):
            return word[:-1].casefold()
        lower = word.casefold()
        if _INITIALS.fullmatch(word):  # U.S. is US
            return lower.replace(".", "")
        if "." not in word:  # e-mail is email; a host keeps its hyphens
            lower = lower.replace("-", "")
        if _is_name(word):
            return lower
        return self._lemma(_shortened(lower if self.code == "en" else word)).replace("-", "")

    def _without_ending(self, word: str) -> str:
        """Cut off a possessive or a contracted verb, or a contracted article before the word."""
        if self.code in _ELIDING:
            return word.rpartition("'")[2]
        return _ENDING.sub("", word)

    def _lemma(self, word: str) -> str:
        """Read the dictionary form, casefolded.  In other languages than English a capital may tell a noun: Haus."""
        if self.code == "en" and word in stopwords.LEMMAS:
            return stopwords.LEMMAS[word]
        if (look_up := _dictionary(self.code)) is None:
            return word.casefold()
        lemma = look_up(word).casefold()
        if self.code == "en":  # twice, because the dictionary says paintings -> painting -> paint
            lemma = look_up(lemma).casefold()
        return lemma if len(lemma) > 2 or lemma in self._functions else word.casefold()

    def _is_content(self, pieces: list[_Piece], position: int) -> bool:
        piece = pieces[position]
        if piece.kind == "han":
            return len(piece.plain) <= LONGEST and chinese.is_content(piece.plain, piece.tag)
        return self._talked_about(piece.surface, piece.kind) or (
            piece.kind == "word" and self._is_named(piece.surface) and _stands_out(pieces, position)
        )

    def _is_talked_about(self, surface: str, kind: str) -> bool:
        """Return whether a word that is not Han is content wherever it stands."""
        if kind != "word":
            return kind == "mixed" or (kind == "address" and len(self.normal_form(surface, kind)) <= LONGEST)
        lower = surface.casefold()
        form = self.normal_form(surface, kind)
        plain = _ENDING.sub("", lower)
        return not (
            len(form) < 2
            or len(form) > LONGEST
            or form.isdecimal()
            or lower.endswith("n't")
            or not self._functions.isdisjoint((lower, plain, form))
            or _CRY.fullmatch(plain)
        )

    def _is_named(self, surface: str) -> bool:
        """Return whether a stopword is written as a name: Go, Will, US, C."""
        if len(surface) == 1:
            return surface.isupper() and surface not in "AIOXU"
        lower = surface.casefold()
        return (surface.istitle() and lower in stopwords.TITLE_NAMES) or (
            surface.isupper() and lower in stopwords.CAPITAL_NAMES
        )


def _cut(word: Word, pieces: Iterable[tuple[int, str]]) -> list[Word]:
    """Make words of the pieces of one; the first counts as the word, the others as parts of it."""
    made = [
        word._replace(surface=piece, form=piece, content=True, part=number > 0, start=word.start + place)
        for number, (place, piece) in enumerate(pieces)
    ]
    return made or [word._replace(content=False)]


def _as_japanese(words: list[Word]) -> list[Word]:
    """Cut the runs of Han in a Japanese text into pairs of characters: Chinese words are others."""
    result: list[Word] = []
    run: list[Word] = []
    for word in [*words, None]:
        if word is not None and word.tag not in _NOT_HAN:
            if not word.part:
                if run and run[-1].end != word.start:
                    result += _of_han(run)
                    run = []
                run.append(word)
            continue
        result += _of_han(run)
        run = []
        if word is not None:
            result.append(word)
    return result


def _of_han(run: list[Word]) -> list[Word]:
    if not run:
        return []
    whole = run[0]._replace(surface="".join(word.surface for word in run), guessed=False)
    return _cut(whole, other_languages.han_pieces(whole.surface))


def _pieces(plain: str, text: str, segmenter: chinese.Segmenter) -> list[_Piece]:
    """Cut a simplified text into pieces.  `text` is what to show: the same characters before they were simplified."""
    pieces: list[_Piece] = []
    end = sentence = 0
    for match in _PIECE.finditer(plain):
        start, kind = match.start(), match.lastgroup or ""
        gap = plain[end:start]
        pause = bool(gap) and not gap.isspace()
        if end and gap != " " and _SENTENCE_END.search(gap):
            sentence += 1
        end = match.end()
        if kind != "han":
            pieces.append(_Piece(kind, text[start:end], plain[start:end], "", start, sentence, pause))
            continue
        for word, tag in chinese_names.cut(match.group(), segmenter):
            is_name = tag in chinese_names.TAGS
            stop, guessed = start + len(word), len(word) > 1 and not is_name and not segmenter.knows(word)
            pieces.append(_Piece(kind, text[start:stop], word, tag, start, sentence, pause, guessed=guessed))
            for part in chinese_names.parts(word) if is_name else segmenter.parts(word, tag):
                first = start + word.find(part)
                shown = text[first : first + len(part)]
                pieces.append(_Piece(kind, shown, part, "n", first, sentence, pause=False, part=True, guessed=guessed))
            start, pause = stop, False
    return pieces


def _stands_out(pieces: list[_Piece], position: int) -> bool:
    """Return whether a capital at `position` means a name: inside a sentence whose neighbouring words are plain."""
    before = pieces[position - 1] if position else None
    after = pieces[position + 1] if position + 1 < len(pieces) else None
    if before is None or before.sentence != pieces[position].sentence:
        return after is not None and after.kind == "han" and not after.pause
    return not before.surface[0].isupper() and not (after is not None and after.surface.isupper())


def _is_name(word: str) -> bool:
    """Return whether the spelling shows a name or an acronym, which has no dictionary form: LangChain, API, bge3.

    Six and more capitals are a shout, not an acronym.
    """
    if any(map(str.isdigit, word)):
        return True
    return any(map(str.isupper, word[1:])) and not (len(word) > 5 and word.isupper())


def _shortened(word: str) -> str:
    """Take the drawl out of a word: sooo -> so, coool -> cool (as the doubling is spelt in words)."""
    if not _DRAWN_OUT.search(word):
        return word
    single, double = _DRAWN_OUT.sub(r"\1", word), _DRAWN_OUT.sub(r"\1\1", word)
    return double if re.search(r"([eo])\1[^\W\d_]", double) else single


def _host(address: str) -> str:
    """Take the host of a URL, or a mail address as it is, casefolded."""
    if "@" in address and "/" not in address:
        return address.casefold()
    match = _HOST.match(address)
    return (match.group(1) if match else address).casefold().strip(".,;!?)") or address.casefold()


@cache
def _dictionary(code: str) -> Callable[[str], str] | None:
    """Load simplemma's look-up for a language, None if it has none: about 0.15 s and 20 MB for English."""
    import simplemma

    try:
        simplemma.lemmatize("a", code)
    except ValueError:
        return None
    return lambda word: simplemma.lemmatize(word, code)
