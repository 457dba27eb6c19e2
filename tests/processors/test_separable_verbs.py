"""A verb and its object that a Chinese question parts are found as the one word that a turn says."""

from __future__ import annotations

import pytest

from processors.extraction.yake_extractor import YakeExtractor
from processors.text.separable_verbs import rejoined


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("我什么时候领的证？", "我什么时候领证？"),
        ("你们哪年结的婚？", "你们哪年结婚？"),
        ("他什么时候请了的假？", "他什么时候请假？"),
        ("姐姐在哪毕的业", "姐姐在哪毕业"),
        ("谁的书？", "谁的书？"),
        ("什么时候还我的书？", "什么时候还我的书？"),  # 我书 is no word
        ("这是哪里买的茶叶？", "这是哪里买的茶叶？"),
        ("这是结的婚？", "这是结的婚？"),  # asks for no circumstance
    ],
)
def test_a_parted_verb_is_one_word_where_the_dictionary_has_it(question: str, whole: str) -> None:
    assert rejoined(question) == whole


def test_a_question_has_the_concept_of_the_turn() -> None:
    assert "领证" in {each.id for each in YakeExtractor(language="zh").of_query("我什么时候领的证？").concepts}
