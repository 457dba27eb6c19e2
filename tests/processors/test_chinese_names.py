"""Names in Chinese: one word each, people told from places and from ordinary words."""

from __future__ import annotations

import pytest

from processors.extraction.yake_extractor import YakeExtractor
from processors.text.chinese import STANDARD
from processors.text.chinese_names import PERSON, cut

EXTRACTOR = YakeExtractor()


def people(text: str) -> list[str]:
    return [word for word, tag in cut(text, STANDARD) if tag == PERSON]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("张总明天来上海", ["张总"]),
        ("他要见李经理", ["李经理"]),
        ("王叔叔下周来家里修水管", ["王叔叔"]),
        ("王建国教授退休了", ["王建国"]),
        ("中午和小王吃的面", ["小王"]),
        ("我姐姐李婷在杭州工作张总也来了", ["李婷", "张总"]),
        ("欧阳靖今天升职了", ["欧阳靖"]),
        ("我们部门的领导是赵志强", ["赵志强"]),
        ("玛丽亚住在马德里", ["玛丽亚"]),
        ("玛格丽特从里斯本寄了明信片", ["玛格丽特"]),
        ("我女儿叫朵朵", ["朵朵"]),
        ("带西西去公园", ["西西"]),
        ("轩轩今天发烧", ["轩轩"]),
    ],
)
def test_a_name_is_one_word(text: str, expected: list[str]) -> None:
    assert people(text) == expected


ORDINARY = [
    "顾客很多祝福大家",
    "高峰期堵车",
    "周末去马德里",
    "点了卡布奇诺",
    "他叫妈妈过来",
    "天天下雨",
    "明明说好了",
    "安安静静坐着",
    "去公园走走",
    "东东西西买一堆",
    "小时候常去",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_word_is_nobody(text: str) -> None:
    assert people(text) == []


@pytest.mark.parametrize("text", ["张总明天来上海", "陈志远说他要见李经理", "玛格丽特从里斯本寄了明信片", "顾客很多"])
def test_the_words_of_a_run_are_the_run(text: str) -> None:
    assert "".join(word for word, _ in cut(text, STANDARD)) == text


def test_a_name_is_a_concept_of_a_person_and_its_title_finds_it() -> None:
    concepts = {each.id: each.kind for each in EXTRACTOR.of_turn("孙老师说陈志远走神", speaker="a", at=0).concepts}
    assert (concepts["孙老师"], concepts["陈志远"]) == ("person", "person")
    assert (concepts["老师"], concepts["志远"]) == ("part", "part")


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("机器学习的作业交了", "机器学习"),
        ("我们用LangChain框架搭的", "LangChain框架"),
        ("API密钥写在环境变量里", "API密钥"),
        ("还想配一个扫地机器人", "扫地机器人"),
        ("我在准备注册会计师考试", "注册会计师"),
    ],
)
def test_a_term_is_a_concept_beside_its_words(text: str, term: str) -> None:
    extraction = EXTRACTOR.of_turn(text, speaker="a", at=0)
    (phrase,) = (each for each in extraction.phrases if each.label == term)
    assert set(phrase.id.split()) <= {each.id for each in extraction.concepts}


def test_what_somebody_does_is_no_term() -> None:
    extraction = EXTRACTOR.of_turn("孩子学习很好", speaker="a", at=0)
    assert [each.label for each in extraction.phrases] == []


def test_names_that_a_dot_joins_are_one_person() -> None:
    (phrase,) = EXTRACTOR.of_turn("瑞秋·格林来了", speaker="a", at=0).phrases
    assert (phrase.label, phrase.kind) == ("瑞秋·格林", "person")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Nguyen lent me his drill", "nguyen"),
        ("had tea with Aoife yesterday", "aoife"),
        ("I think Siobhan likes it", "siobhan"),
        ("we saw Joey there", "joey"),
    ],
)
def test_a_person_is_shown_by_a_list_or_by_the_place_of_the_name(text: str, name: str) -> None:
    kinds = {each.id: each.kind for each in EXTRACTOR.of_turn(text, speaker="a", at=0).concepts}
    assert kinds[name] == "person"


@pytest.mark.parametrize("text", ["Grace is what I want", "I flew to New York", "Dinner with Mum", "Google called me"])
def test_words_places_and_companies_are_no_people(text: str) -> None:
    kinds = {each.id: each.kind for each in EXTRACTOR.of_turn(text, speaker="a", at=0).concepts}
    assert "person" not in kinds.values()
