"""Rules are picked by their words, as if each were looked for in every text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from processors.text.triggers import Triggers

WORDS = st.sampled_from(["cat", "at", "c", "no ", "n't", "记", "过敏", "ß"])
RULES = st.lists(st.lists(WORDS, min_size=1, max_size=4, unique=True).map(tuple), max_size=12)
TEXTS = st.lists(st.sampled_from(["cat", "a", "t", "no", " ", "don't", "记住", "过", "敏", "ß"]), max_size=12)


@given(RULES, TEXTS)
def test_a_rule_fits_a_text_that_says_one_of_its_words_and_all_come_in_their_order(
    rules: list[tuple[str, ...]], said: list[str]
) -> None:
    text = "".join(said)
    plainly = [rule for rule in rules if any(word in text for word in rule)]
    assert Triggers(rules, lambda rule: rule).fitting(text) == plainly
