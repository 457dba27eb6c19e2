"""The best sentences of a long turn: quoted word for word, within a budget, chosen by what a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.recall.context.context import LONG_TURN, ContextPacker, ContextPassage, tokens
from processors.recall.context.sentences import AROUND, LEFT_OUT, QueryWord, best_sentences, sentences
from state.events.extraction_types import TimeSpan

FERRY = (QueryWord(("ferry",), 2.0),)
FILLER = "We talked about nothing for a while, and then about nothing again. "


def quoted(text: str, query_words: tuple[QueryWord, ...] = FERRY, budget: int = 20) -> str:
    return best_sentences(text, query_words, budget, tokens)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("I left. You stayed!", ["I left. ", "You stayed!"]),
        ("It cost 3.5 euros, v1.2 of it.", ["It cost 3.5 euros, v1.2 of it."]),
        ('He said "no." Then he left.', ['He said "no." ', "Then he left."]),
        ("我去了泉州。好吃！", ["我去了泉州。", "好吃！"]),
        ("one\ntwo", ["one\n", "two"]),
        ("วันนี้ฝนตก พรุ่งนี้จะไปตลาด", ["วันนี้ฝนตก ", "พรุ่งนี้จะไปตลาด"]),
        ("ซื้อ iPhone 15 มา", ["ซื้อ iPhone 15 มา"]),
        ("मैं घर गया। वह रुका।", ["मैं घर गया। ", "वह रुका।"]),
        ("أين تسكن؟ هنا.", ["أين تسكن؟ ", "هنا."]),
        ("", []),
    ],
)
def test_a_text_is_split_where_sentences_end(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


@given(st.text(alphabet="ab .!?\n。”3วน।", max_size=60))
def test_the_sentences_of_a_text_are_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text


def test_a_short_text_is_shown_whole() -> None:
    assert quoted("Nothing to see. The ferry left.") == "Nothing to see. The ferry left."


@pytest.mark.source("S20")
def test_the_sentence_that_holds_what_is_asked_is_quoted_and_gaps_are_marked() -> None:
    quote = quoted(FILLER * 6 + "The ferry leaves on the 12th. " + FILLER * 6, budget=10)
    assert quote == f"{LEFT_OUT} The ferry leaves on the 12th. {LEFT_OUT}"


def test_what_stands_around_it_comes_next() -> None:
    quote = quoted(FILLER * 6 + "The ferry is booked. It was cheap. " + FILLER * 6, budget=12)
    assert quote == f"{LEFT_OUT} The ferry is booked. It was cheap. {LEFT_OUT}"


def test_a_word_is_found_in_any_form_that_the_turn_has_it_in() -> None:
    adopted = (QueryWord(("adopt", "adopting"), 1.0),)
    assert "She adopted him." in quoted(FILLER * 6 + "She adopted him. " + FILLER * 6, adopted, 8)
    went = (QueryWord(("go", "went"), 1.0),)
    assert "They went home." in quoted("A goat ate it. " * 9 + "They went home. " + "A goat ate it. " * 9, went, 8)
    chinese = (QueryWord(("面线",), 1.0),)
    assert "吃了面线糊。" in quoted("今天下雨。" * 9 + "吃了面线糊。" + "今天下雨。" * 9, chinese, 10)


def test_without_anything_asked_for_a_text_is_quoted_from_its_start() -> None:
    quote = quoted("It began so. " + FILLER * 9, (), 6)
    assert quote == f"It began so. {LEFT_OUT}"


@given(st.lists(st.sampled_from(["The ferry left. ", "It rained. ", "Nothing. ", FILLER]), min_size=1, max_size=30))
def test_every_part_that_is_quoted_stands_in_the_text_and_fits(parts: list[str]) -> None:
    text, budget = "".join(parts), 25
    quote = quoted(text, budget=budget)
    for part in quote.split(LEFT_OUT):
        assert part.strip() in " ".join(text.split())
    assert tokens(quote.replace(LEFT_OUT, "")) <= budget


def test_what_is_near_counts_less_the_farther_it_is() -> None:
    before = [share for step, share in sorted(AROUND) if step < 0]
    after = [share for step, share in sorted(AROUND) if step > 0]
    assert before == sorted(before)
    assert after == sorted(after, reverse=True)


def test_a_context_holds_several_long_turns_by_their_best_sentences() -> None:
    long = FILLER * 20 + "The ferry leaves at noon tomorrow. " + FILLER * 20
    assert tokens(long) > 2 * LONG_TURN
    packer = ContextPacker(600)
    for number in range(3):
        text = long.replace("ferry", f"ferry number {number}")
        assert packer.add(ContextPassage(number, number * 60_000, "Ada", text, query_words=FERRY))
    context = packer.context()
    assert context.passages == (0, 1, 2)
    for number in range(3):
        assert f"The ferry number {number} leaves at noon tomorrow." in context.text
    assert context.tokens <= 3 * (LONG_TURN + 20)


def test_a_quoted_turn_tells_what_the_times_mean_that_it_shows() -> None:
    tomorrow, never = (TimeSpan(text, 86_400_000, 172_800_000) for text in ("tomorrow", "next year"))
    text = FILLER * 20 + "The ferry leaves tomorrow. " + FILLER * 20 + "No more next year."
    packer = ContextPacker(600)
    packer.add(ContextPassage(0, 0, "Ada", text, (tomorrow, never), FERRY))
    assert "tomorrow = 1970-01-02" in packer.context().text
    assert "next year" not in packer.context().text
