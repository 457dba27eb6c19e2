"""The scores of words equal those of the yake library, to the last bit: of random words and of texts in ten languages.

The library reads words as codes, one for each form: it cuts a plural s and drops what is short, and ours do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Final

import pytest
import yake  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from processors.extraction.word_scores import word_scores
from processors.extraction.yake_extractor import YakeExtractor
from processors.text.language import Word, clean

CODES: Final = ["".join(letters) for letters in product("bcdfghjkmnpqrtvwz", repeat=3)]  # no s, no vowel
FUNCTIONS: Final = frozenset("x" + code for code in CODES)
TEXTS: Final = {
    "en": 'Wow! Ada took the cat to the NATO harbour, and the cat, the old cat, saw Ada. "Go" is a language; AI too.',
    "zh": "张伟昨天去了咖啡馆，咖啡馆在深圳；他用 LangChain 框架存 API 密钥。密钥很长！深圳真热？",
    "ja": "昨日、東京で新しいカメラを買いました。カメラはとても軽いです。東京は雨でした。",
    "ko": "어제 서울에서 새 카메라를 샀어요. 카메라가 가벼워요. 서울은 비가 왔어요.",
    "de": "Die Häuser und das Haus gehören der Katze, und die Katze schläft. NATO tagt in Köln; Köln ist alt.",
    "es": "Mi hermana se mudó a Lisboa. Lisboa, la ciudad vieja, le gusta a mi hermana; ¡qué ciudad!",
    "fr": "L'homme a vu le chat. Le chat de l'homme, à Lyon, a vu Lyon sous la pluie.",
    "th": "เมื่อวานฉันซื้อกล้องใหม่ที่กรุงเทพ กล้องเบามาก",
    "ru": "Вчера Анна купила камеру в Москве. Камера лёгкая, и Анна рада. Москва!",
    "ar": "اشترت سارة كتابا جديدا في القاهرة. الكتاب جميل، وسارة سعيدة.",
}


def written(words: Sequence[Word]) -> tuple[list[str], dict[str, str]]:
    """Write words as the library reads them, and code -> form of the content words."""
    codes: dict[tuple[str, bool], str] = {}
    transcript: list[str] = []
    sentence = words[0].sentence
    for word in words:
        code = codes.setdefault((word.form, word.content), ("k" if word.content else "x") + CODES[len(codes)])
        transcript += ["!"] if word.sentence != sentence else [","] * word.pause
        transcript.append(in_case_of(word.surface, code))
        sentence = word.sentence
    return transcript, {code: form for (form, content), code in codes.items() if content}


def in_case_of(surface: str, code: str) -> str:
    if not surface[0].isupper():
        return code
    return code.upper() if len(surface) > 1 and surface.isupper() else code.capitalize()


def of_library(words: Sequence[Word]) -> dict[str, float]:
    transcript, codes = written(words)
    library = yake.KeywordExtractor(n=1, top=9999, dedup_lim=1.0, window_size=1, stopwords=FUNCTIONS)
    return {codes[code]: score for code, score in library.extract_keywords(" ".join(transcript))}


def numbered(words: Iterable[tuple[str, bool, str, str]]) -> Iterator[Word]:
    """Make words: each a form, whether it is content, its surface, and the mark before it."""
    sentence = 0
    for form, content, surface, mark in words:
        sentence += mark == "!"
        yield Word(surface, form, content, sentence, pause=bool(mark))


FORMS: Final = st.sampled_from(["cat", "dog", "go", "us", "vet", "harbour", "api", "猫"])
SPELT: Final = st.sampled_from([str.lower, str.upper, str.capitalize])
ANY_WORD: Final = st.builds(
    lambda form, content, spelt, mark: (form, content, spelt(form), mark),
    FORMS, st.booleans(), SPELT, st.sampled_from(["", "", "", ",", "!"]),
)  # fmt: skip


@pytest.mark.source("E9")
@given(st.lists(ANY_WORD, max_size=40), FORMS)
def test_random_words_score_as_the_library_has_it(some: list[tuple[str, bool, str, str]], last: str) -> None:
    words = list(numbered([*some, (last, True, last, "")]))
    assert word_scores(words) == of_library(words)


@pytest.mark.source("E9")
@pytest.mark.parametrize("language", TEXTS)
def test_the_words_of_a_turn_score_as_the_library_has_it(language: str) -> None:
    words = YakeExtractor(language).language.words(clean(TEXTS[language]))
    assert len(word_scores(words)) > 2
    assert word_scores(words) == of_library(words)


def test_words_of_no_content_have_no_scores() -> None:
    assert word_scores([]) == word_scores([Word("The", "the", content=False, sentence=0, pause=False)]) == {}
