"""The words of times of one language, from its column of data/words.tsv: which codes each word has, and their values.

    "friday"  weekday 4        "twenty" number 20        "周末"  unit E        "last"  which -1, …

German and English ordinals, and German and Spanish compound numbers, are derived from the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from processors.text import tables

Codes = dict[str, Any]

LANGUAGES: Final = ("en", "de", "es", "fr", "zh", "ja", "ko")  # the columns of the table, in order
UNSPACED: Final = frozenset({"zh", "ja", "ko"})  # read sign by sign; the others word by word
_ENDINGS: Final = ("", "e", "en", "er", "es", "em")  # of German adjectives
_PLAIN: Final = {
    "es": str.maketrans("áéíóúñàèêôûç", "aeiounaeeouc"),
    "fr": str.maketrans("áéíóúàèêôûçâîïë", "aeiouaeeoucaiie"),
}
_DIGITS: Final = str.maketrans("０１２３４５６７８９：", "0123456789:")
WORD: Final = tables.lazy(r"[0-9]+|[A-Za-z\u00aa-\u02af\u0370-\u1fff]+|[^\w\s]|\w")
_ROMAN_ONES: Final = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
IRREGULAR: Final = {"fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}


def plain(text: str, language: str) -> str:
    """Return a text in small letters as the table has them, of the same length."""
    small = text.lower()
    small = small if len(small) == len(text) else text
    return small.translate(_DIGITS).translate(_PLAIN.get(language, {}))


def tokens_of(word: str, language: str) -> tuple[str, ...]:
    """Cut a word of the table as texts of its language are cut."""
    return tuple(word) if language in UNSPACED else tuple(WORD.findall(word))


@cache
def words_of(language: str) -> dict[str, Codes]:
    """Read the words of a language: each with its codes."""
    words: dict[str, Codes] = {}
    for code, value, column in _rows(LANGUAGES.index(language)):
        for word in filter(None, (each.strip() for each in column.split("|"))):
            for form in _forms(plain(word, language)):
                words.setdefault(form, {}).setdefault(code, _value(code, value))
    for form, codes in [*_compounds(language, words), *_ordinals(language, words), *_romans(language)]:
        words.setdefault(form, codes)
    return words


def _rows(column: int) -> Iterator[tuple[str, str, str]]:
    for row in tables.rows(__package__, "words")[1:]:
        if row[column + 2] != "-":
            yield row[0], row[1], row[column + 2]


def _forms(word: str) -> list[str]:
    return [word[:-1] + ending for ending in _ENDINGS] if word.endswith("*") else [word]


def _value(code: str, value: str) -> Any:
    if code == "number":
        return float(value)
    if code == "length":
        count, unit = value.split()
        return [(float(count), unit)]
    return int(value) if re.fullmatch(r"-?\d+", value) else value


def _compounds(language: str, words: dict[str, Codes]) -> Iterator[tuple[str, Codes]]:
    """Yield einundzwanzig, veintiuno …: numbers that are written as one word."""
    numbers = {word: codes["number"] for word, codes in words.items() if "number" in codes}
    if language == "de":
        ones = {word: value for word, value in numbers.items() if value < 10} | {"ein": 1.0}
        tens = {word: value for word, value in numbers.items() if 20 <= value < 100}
        yield from (
            (f"{one}und{ten}", {"number": few + many}) for one, few in ones.items() for ten, many in tens.items()
        )
        yield from ((f"{one}einhalb", {"number": few + 0.5}) for one, few in ones.items() if few >= 2)
    if language == "es":
        names = ["uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve"]
        yield from ((f"veinti{name}", {"number": 20.0 + one}) for one, name in enumerate(names, 1))


def _romans(language: str) -> Iterator[tuple[str, Codes]]:
    """Yield the numbers of centuries as Spanish and French write them: siglo XV, XVe siècle."""
    ending = {"es": ("",), "fr": ("e", "ème", "")}.get(language, ())
    for number in range(1, 22):
        tens, ones = divmod(number, 10)
        roman = "x" * tens + _ROMAN_ONES[ones]
        yield from ((roman + each, {"roman": number}) for each in ending if len(roman) > 1 or each)


def _ordinals(language: str, words: dict[str, Codes]) -> Iterator[tuple[str, Codes]]:
    """Yield the ordinals of numbers from four on: seventh, zwanzigsten."""
    numbers = {**words, **dict(_compounds(language, words))}
    if language == "en":
        yield from ((word, {"ordinal": number}) for word, number in IRREGULAR.items())
    for word, codes in numbers.items() if language in ("de", "en") else ():
        if codes.get("number", 0) >= 4 and " " not in word:
            yield from ((form, {"ordinal": int(codes["number"])}) for form in _ordinal_forms(word, language))


def _ordinal_forms(word: str, language: str) -> list[str]:
    if language == "de":
        return [word + ending for ending in ("te", "ten", "ter", "ste", "sten", "ster")]
    return [word + "th", word[:-1] + "ieth" if word.endswith("y") else word + "th"]
