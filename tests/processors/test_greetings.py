"""Where a text greets or calls somebody, and where it does not."""

from __future__ import annotations

import pytest

from processors.text.greetings import expressions, vocatives


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("Hey Caroline! Nice boat.", ["Caroline"]),
        ("Hi John, the boat sank", ["John"]),
        ("Thanks, Mel!", ["Mel"]),
        ("Thank you so much, Mel.", ["Mel"]),
        ("That is kind of you, Mary-Ann!", ["Mary-Ann"]),
        ("Caroline, you were right. John, what's that?", ["Caroline", "John"]),
        ("This is my brother, Tom.", []),
        ("I have a dog, Max.", []),
        ("We moved from Boston, Massachusetts.", []),
        ("Basketball, soccer and tennis", []),
        ("Yesterday, we sailed", []),
        ("thanks to Caroline we sailed", []),
        ("Tom sails", []),
        ("", []),
    ],
)
def test_a_call_is_told_by_its_place(text: str, called: list[str]) -> None:
    assert sorted(text[start:end] for start, end in vocatives(text)) == called


@pytest.mark.parametrize(
    "text", ["Good morning", "take care!", "By the way", "How's it going?", "What's up", "Sounds great"]
)
def test_fixed_expressions_are_found_whole(text: str) -> None:
    [(start, end)] = expressions(text)
    assert (start, end) == (0, len(text.rstrip("!?")))


@pytest.mark.parametrize("text", ["I take care of dogs", "a good horse", "morning dew", "the sounds of the sea"])
def test_the_same_words_elsewhere_are_no_expression(text: str) -> None:
    assert expressions(text) == []
