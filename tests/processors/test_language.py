"""How a text becomes words, and which words are one node."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.text import chinese
from processors.text.language import LONGEST, Language, clean

ENGLISH = Language("en", {"the", "a", "of", "to", "we", "i", "will", "us", "it", "go", "may"})


def content(text: str, language: Language = ENGLISH) -> list[str]:
    return [word.form for word in language.words(clean(text)) if word.content]


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("run", "run Run running Running ran runs RUNNING"),
        ("paint", "paint painting paintings painted Paint"),
        ("memory", "memory memories Memory"),
        ("woman", "woman women Women"),
        ("api", "API APIs apis api"),
        ("email", "email e-mail E-mail emails"),
        ("wifi", "WiFi Wi-Fi wifi"),
        ("usa", "USA U.S.A. usa"),
        ("james", "James james James's"),
        ("paris", "Paris paris PARIS"),
        ("maria", "Maria maria"),
        ("langchain", "LangChain langchain"),
        ("play", "play plays playing played"),
        ("write", "write writes wrote written writing"),
        ("caroline", "Caroline caroline Caroline's CAROLINE"),
        ("kubernetes", "Kubernetes kubernetes"),
    ],
)
def test_forms_of_one_word_meet_in_one_node(form: str, words: str) -> None:
    assert {ENGLISH.normal_form(word) for word in words.split()} == {form}


@pytest.mark.parametrize(
    "word", ["bus", "gas", "news", "tennis", "physics", "chris", "texas", "aws", "ios", "redis", "data"]
)
def test_words_that_only_look_like_plurals_keep_their_s(word: str) -> None:
    assert ENGLISH.normal_form(word) == ENGLISH.normal_form(word.capitalize()) == word


def test_cleaning_unifies_width_apostrophes_and_invisible_characters() -> None:
    assert clean("Ｇｏ\u200b don’t\u00ad ﬁne\ufeff") == "Go don't fine"


@given(st.text(st.characters(max_codepoint=0xFF)))
def test_cleaning_a_plain_text_is_the_same_as_cleaning_it_beside_another(text: str) -> None:
    assert clean(text + "…").removesuffix("...") == clean(text)


def test_words_are_cut_by_script() -> None:
    assert content("LangChain框架API密钥v2") == ["langchain", "框架", "api", "密钥", "v2"]


def test_a_pause_and_a_sentence_are_seen() -> None:
    words = ENGLISH.words("Cats, dogs. Birds sing")
    assert [(word.sentence, word.pause) for word in words] == [(0, False), (0, True), (1, True), (1, False)]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("We asked Will", True),
        ("We will", False),
        ("Will we", False),
        ("in the US", True),
        ("tell us", False),
        ("TELL US", False),
    ],
)
def test_a_stopword_counts_when_it_is_written_as_a_name(text: str, named: bool) -> None:
    assert bool({"will", "us"} & set(content(text))) is named


def test_a_word_longer_than_the_limit_is_no_concept() -> None:
    longest = "bx" * (LONGEST // 2)
    assert content(longest) == [longest]
    assert content(longest + "b") == []


def test_words_with_vowel_signs_stay_whole() -> None:
    assert [word.surface for word in ENGLISH.words("नमस्ते दुनिया")] == ["नमस्ते", "दुनिया"]


def test_a_french_article_is_not_part_of_the_word() -> None:
    assert content("l’homme", Language("fr", {"le"})) == ["homme"]


def test_a_language_without_a_dictionary_is_only_casefolded() -> None:
    assert content("Vitabu vizuri", Language("zu", set())) == ["vitabu", "vizuri"]


@pytest.mark.parametrize(
    ("word", "tag", "kept"),
    [
        ("猫", "n", True),
        ("密钥", "n", True),
        ("吃", "v", True),
        ("存", "v", False),
        ("用", "p", False),
        ("我们", "r", False),
        ("哈哈", "o", False),
        ("你好", "l", False),
    ],
)
def test_which_han_words_are_content(word: str, tag: str, kept: bool) -> None:
    assert chinese.is_content(word, tag) is kept


@pytest.mark.parametrize("text", ["我爸去河边", "爸去河边", "爸又去河边", "咱爸去河边"])
def test_a_relative_of_one_sign_is_a_word_whoever_speaks_of_him(text: str) -> None:
    assert "爸" in [word for word, _ in chinese.segmented(text)]


@pytest.mark.parametrize("word", ["爸妈", "姐夫", "哥布林", "妈宝", "娘家人", "哥们"])
def test_a_word_that_begins_like_a_relative_stays_whole(word: str) -> None:
    assert [each for each, _ in chinese.segmented(word)] == [word]


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=40))
def test_segmentation_loses_no_character(run: str) -> None:
    assert "".join(word for word, _ in chinese.segmented(run)) == run


@given(st.text(max_size=80))
def test_every_word_stands_in_the_text(text: str) -> None:
    cleaned = clean(text)
    plain = chinese.simplified(cleaned)
    assert all(
        word.form and (word.surface in cleaned or word.surface in plain or "." in word.surface)
        for word in ENGLISH.words(cleaned)
    )
