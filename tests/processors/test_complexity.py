"""How complex a question is: the source's own examples, in both languages, and how much each signal counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.guidance.moods import depth_of
from processors.text.questions.complexity import complexity, passages, signals


@pytest.mark.source("P29", "P32")
@pytest.mark.parametrize(
    ("question", "least", "most"),
    [
        ("我的名字是什么?", 3, 4),
        ("What is my name?", 3, 4),
        ("对比我去年和今年的旅行偏好", 15, 20),
        ("Compare how I liked to travel last year and this year", 15, 20),
        ("为什么项目延期了?", 10, 20),
        ("Why was the project late?", 10, 20),
        ("我的工作效率有什么变化?", 10, 15),
        ("How has my work changed?", 10, 15),
        ("Alice和Bob的合作历史", 15, 20),
        ("How did Alice and Bob work together over time?", 15, 20),
    ],
)
def test_the_sources_examples_get_the_depths_that_it_gives(question: str, least: int, most: int) -> None:
    assert least <= passages(complexity(question)) <= most


@pytest.mark.source("P29")
@pytest.mark.parametrize(
    ("signal", "questions"),
    [
        ("compare", ("What is the difference?", "有什么区别?")),
        ("cause", ("Why?", "为什么?")),
        ("analyse", ("Analyse it", "分析一下")),
        ("clause", ("What he said when it rained", "如果下雨")),
        ("names", ("What did Ann tell Ben?", "小红和Bob见了Ann吗?")),
        ("time", ("What was last week?", "上周怎么样?")),
        ("follows", ("And then?", "然后呢?")),
        ("list", ("Which of them?", "有哪些?")),
    ],
)
def test_each_signal_is_seen_in_both_languages(signal: str, questions: tuple[str, str]) -> None:
    assert all(signal in signals(question) for question in questions)


@pytest.mark.source("P29")
def test_a_longer_question_is_more_complex() -> None:
    words = "the old copper kettle from the shop beside the station of the town"
    assert complexity(words) > complexity("the kettle") == 0
    assert complexity("那个老旧的铜水壶是在车站旁边的商店里买的而且现在已经坏掉了对吧") > complexity("水壶") == 0


@given(st.text(max_size=200))
def test_complexity_lies_between_0_and_1(text: str) -> None:
    assert 0 <= complexity(text) <= 1


@pytest.mark.source("P30")
def test_the_depths_are_those_of_the_source() -> None:
    assert [passages(depth) for depth in (0.0, 0.5, 1.0)] == [3, 11, 20]


@pytest.mark.source("S7")
@pytest.mark.parametrize(
    ("mood", "depth"), [("I am tired and in a hurry", 0.0), ("认真", 0.8), ("happy", None), ("", None)]
)
def test_a_mood_says_how_thorough_or_nothing(mood: str, depth: float | None) -> None:
    assert depth_of(mood) == depth
