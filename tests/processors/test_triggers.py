"""Rules are picked by their words, as if each were looked for in every text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.text import triggers as triggers_module
from processors.text.triggers import Triggers, _Pieces

WORDS = st.sampled_from(["cat", "at", "c", "no ", " no", "cat at", "n't", "记", "过敏", "ß", "过 敏"])
RULES = st.lists(st.lists(WORDS, min_size=1, max_size=4, unique=True).map(tuple), max_size=12)
TEXTS = st.lists(st.sampled_from(["cat", "a", "t", "no", " ", "don't", "记住", "过", "敏", "ß"]), max_size=12)


@given(RULES, TEXTS)
def test_a_rule_fits_a_text_that_says_one_of_its_words_and_all_come_in_their_order(
    rules: list[tuple[str, ...]], words: list[str]
) -> None:
    text = "".join(words)
    plainly = [rule for rule in rules if any(word in text for word in rule)]
    triggers = Triggers(rules, lambda rule: rule)
    assert triggers.fitting(text) == plainly
    assert triggers.fitting(text) == plainly  # from what it remembers


def test_what_is_remembered_is_bounded_and_forgotten_for_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triggers_module, "REMEMBERED", 2)
    rules, pieces = [("cat",), ("dog",)], _Pieces({"cat": "cat", "dog": "dog"})
    for text in ["a cat", "a dog", "the cat and the dog", "x" * 30, "cat" * 30]:
        assert {word for piece in text.split() for word in pieces[piece]} == {word for (word,) in rules if word in text}
        assert len(pieces) <= 2
