"""Which kind of answer a question wants and a turn holds; what is only a greeting; the words of kinds."""

from __future__ import annotations

import pytest

from processors.extraction.yake_extractor import YakeExtractor
from processors.lexicon import hyponyms
from processors.text.question_types import (
    asks_list,
    asks_name,
    asks_now,
    asks_number,
    depth,
    greets,
    holds_name,
    holds_number,
    of_asker,
)


@pytest.mark.parametrize(
    "text", ["We flew to Oslo.", "It runs on AWS", 'I read "The Sea"', "我读了《边城》", "我在北京工作"]
)
def test_a_name_is_seen(text: str) -> None:
    assert holds_name(text)


@pytest.mark.parametrize("text", ["Tea is fine. The cup too.", "Thanks, Ada!", "I think I am late", "今天天气不错"])
def test_a_capital_that_is_no_name_is_not(text: str) -> None:
    assert not holds_name(text)


@pytest.mark.parametrize("text", ["3 cats", "three cats", "twice a week", "两只猫", "十二公斤"])
def test_a_number_is_seen(text: str) -> None:
    assert holds_number(text)


def test_a_text_without_numbers_has_none() -> None:
    assert not holds_number("some cats sleep")


@pytest.mark.parametrize("text", ["Who came?", "Where is it?", "What city is it?", "谁来了", "在哪里", "叫什么名字"])
def test_a_question_for_a_name_is_seen(text: str) -> None:
    assert asks_name(text)


@pytest.mark.parametrize("text", ["Where do I live now?", "Does Ada still paint?", "我现在住哪", "她还在画画吗"])
def test_a_question_about_how_things_are_now_is_seen(text: str) -> None:
    assert asks_now(text)


@pytest.mark.parametrize("text", ["What do you know of Ada?", "还有什么", "茶还是咖啡"])
def test_others_are_not(text: str) -> None:
    assert not asks_now(text)


def test_a_question_about_its_asker_is_seen() -> None:
    assert of_asker("Where does my sister live?")
    assert of_asker("我妹妹住哪")
    assert not of_asker("Where does Amy's sister live?")
    assert not of_asker("我们公司在哪")


@pytest.mark.parametrize("text", ["How many cats?", "How long did it take?", "多少钱", "几个人", "多重"])
def test_a_question_for_a_number_is_seen(text: str) -> None:
    assert asks_number(text)


@pytest.mark.parametrize("text", ["What did Ada paint?", "Why did it rain?", "她画了什么", "为什么下雨"])
def test_other_questions_want_neither(text: str) -> None:
    assert not asks_name(text)
    assert not asks_number(text)


@pytest.mark.source("P29")
@pytest.mark.parametrize(
    "text", ["What books has Ada read?", "What do they have in common?", "她去过哪些地方", "先后换过几种"]
)
def test_a_question_for_several_things_needs_more_passages(text: str) -> None:
    assert asks_list(text)
    assert 3 == depth("Where is the tea?", 1, 0) < depth(text, 1, 0) <= 20


@pytest.mark.source("S12", "P30")
def test_depth_grows_with_what_is_asked_and_has_an_end() -> None:
    assert depth("tea", 1, 0) <= depth("tea", 5, 0) <= depth("Why tea?", 5, 0) <= depth("Why both teas?", 50, 3) == 20


@pytest.mark.parametrize(
    "text", ["Hi!", "Hey Ada, how are you?", "Good morning", "Thanks so much, Ben!", "你好", "早上好！"]
)
def test_a_greeting_is_seen(text: str) -> None:
    assert greets(text)


@pytest.mark.source("P31")
@pytest.mark.parametrize(
    "text", ["明白了", "好的", "知道了，谢谢", "收到！", "没问题", "Got it", "OK, understood.", "I see, thanks"]
)
def test_what_only_says_that_it_was_understood_needs_no_memory(text: str) -> None:
    assert greets(text)


@pytest.mark.parametrize(
    "text", ["我明白了一件事", "Did Ben get the note?", "I see a cat", "收到信了吗", "noted author?"]
)
def test_what_was_understood_is_no_greeting(text: str) -> None:
    assert not greets(text)


@pytest.mark.parametrize("text", ["Hi, where is my tea?", "tea", "", "?", "你好，茶在哪", "Did Ada say hello?"])
def test_what_says_more_or_nothing_is_no_greeting(text: str) -> None:
    assert not greets(text)


def test_every_member_of_a_kind_is_written_as_the_id_of_its_concept() -> None:
    language = YakeExtractor().language
    for member in {member for members in hyponyms.MEMBERS.values() for member in members}:
        if member.isascii():
            assert language.normal_form(member) == member
