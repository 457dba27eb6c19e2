"""How two concepts are related, in the words of people: English, Chinese, and what must not be found."""

from __future__ import annotations

import pytest

from processors.extraction.yake_extractor import YakeExtractor
from tests.support.clocks import NOON

EXTRACTOR = YakeExtractor("en")
ADA = "@speaker:ada"

TEXTS = {
    "I live in Lisbon now, near the river.": (ADA, "lives-in", "lisbon"),
    "We moved to New York last year.": (ADA, "lives-in", "new york"),
    "My sister lives in Porto.": ("sister", "lives-in", "porto"),
    "My nan moved to York.": ("nan", "lives-in", "york"),
    "舅妈住在绵阳，高铁俩小时": ("舅妈", "lives-in", "绵阳"),
    "二舅妈在银行上班": ("二舅妈", "works-at", "银行"),
    "我闺女大名沈知夏，家里都叫她西西": ("沈知夏", "synonym", "西西"),
    "Elizabeth is up, everyone calls her Bizzy": ("elizabeth", "synonym", "bizzy"),
    "I work for Microsoft these days.": (ADA, "works-at", "microsoft"),
    "Mary works at the library.": ("mary", "works-at", "library"),
    "I really love Thai food.": (ADA, "likes", "thai food"),
    "My favorite book is Charlotte's Web.": (ADA, "likes", "charlotte web"),
    "I can't stand onions.": (ADA, "dislikes", "onion"),
    "I don't like horror movies.": (ADA, "dislikes", "horror movie"),
    "I adopted a ginger cat.": (ADA, "has", "ginger cat"),
    "My cat Biscuit has ear mites.": ("biscuit", "is-a", "cat"),
    "I'm a software engineer.": (ADA, "is-a", "software engineer"),
    "A tarsier is a kind of primate.": ("tarsier", "is-a", "primate"),
    "Alfama is part of Lisbon.": ("alfama", "part-of", "lisbon"),
    "Stress causes headaches.": ("stress", "cause", "headache"),
    "The flood was caused by heavy rain.": ("heavy rain", "cause", "flood"),
    "I use oil instead of butter.": ("oil", "contrast", "butter"),
    "I prefer tea to coffee.": ("tea", "contrast", "coffee"),
    "NYC is short for New York City.": ("nyc", "synonym", "new york city"),
    "我现在住在里斯本。": (ADA, "lives-in", "里斯本"),
    "我们去年搬到了深圳。": (ADA, "lives-in", "深圳"),
    "我在腾讯工作。": (ADA, "works-at", "腾讯"),
    "我姐姐在一家设计公司上班。": ("姐姐", "works-at", "设计 公司"),
    "我很喜欢川菜。": (ADA, "likes", "川菜"),
    "王小明喜欢打篮球。": ("王小明", "likes", "篮球"),
    "我喜欢北京的秋天。": (ADA, "likes", "秋天"),
    "我最喜欢的电影是泰坦尼克号。": (ADA, "likes", "泰坦尼克号"),
    "我不喜欢香菜。": (ADA, "dislikes", "香菜"),
    "我买了三个鸡蛋。": (ADA, "has", "鸡蛋"),
    "我是一名软件工程师。": (ADA, "is-a", "软件 工程师"),
    "饼干是一只橘猫。": ("饼干", "is-a", "橘猫"),
    "里斯本属于葡萄牙。": ("里斯本", "part-of", "葡萄牙"),
    "熬夜会导致头疼。": ("熬夜", "cause", "头疼"),
    "番茄又叫西红柿。": ("番茄", "synonym", "西红柿"),
    "The damp in the hall was caused by a leak.": ("leak", "cause", "damp"),
    "Stress at work leads to insomnia.": ("stress", "cause", "insomnia"),
    "Waffles is a ferret.": ("waffle", "is-a", "ferret"),
    "柯基就是一种狗嘛。": ("柯基", "is-a", "狗"),
    "年糕是一只布偶。": ("年糕", "is-a", "布偶"),
    "堵车是因为前面修路。": ("修路", "cause", "堵车"),
}
SAYS_NOTHING = (
    "Do you live in Rome?",
    "If I lived in Paris I would be happy.",
    "I don't live in Berlin.",
    "I used to live in Berlin.",
    "I want to live in Tokyo.",
    "I'd like a coffee.",
    "I would love to visit Kyoto.",
    "I love your turtles!",
    "I'm a huge fan.",
    "I'm accepted and loved.",
    "This is a problem.",
    "I have a question.",
    "It looks like rain.",
    "Maybe I like jazz.",
    "People like Ben never call.",
    "I work hard.",
    "我以前住在北京。",
    "我想住在上海。",
    "如果我住在海边就好了。",
    "你喜欢吃什么？",
    "你喜欢猫吗？",
    "这是一个很大的决定。",
    "我有一个问题。",
    "我在家工作。",
    "我在考虑工作的事。",
    "今天没有三个人来。",
    "Breakfast is a mess.",
    "这是一只猫。",
)


def relations_of(text: str) -> list[tuple[str, str, str]]:
    relations = EXTRACTOR.of_turn(text, speaker="Ada", at=NOON).relations
    return [(each.source, each.type, each.target) for each in relations]


@pytest.mark.source("H9")
@pytest.mark.parametrize(("text", "relation"), TEXTS.items())
def test_what_a_sentence_says_plainly_is_a_relation_of_its_type(text: str, relation: tuple[str, str, str]) -> None:
    assert relation in relations_of(text)


@pytest.mark.parametrize("text", SAYS_NOTHING)
def test_questions_wishes_the_past_and_phrases_of_speech_say_nothing(text: str) -> None:
    assert relations_of(text) == []


def test_a_relation_names_the_characters_that_say_it_and_concepts_of_the_turn() -> None:
    text = "Good morning!  My sister lives in New York, and I love Thai food."
    extraction = EXTRACTOR.of_turn(text, speaker="Ada", at=NOON)
    ids = {concept.id for concept in (*extraction.concepts, *extraction.phrases)}
    assert [text[each.start : each.end] for each in extraction.relations] == [
        "sister lives in New York",
        "love Thai food",
    ]
    assert all({each.source, each.target} <= ids for each in extraction.relations)


def test_characters_are_those_of_the_text_as_it_was_said() -> None:
    text = "Ｉ live in Lisbon ﷺ."
    relations = EXTRACTOR.of_turn(text, speaker="Ada", at=NOON).relations
    assert [text[each.start : each.end] for each in relations] == ["live in Lisbon"]


@pytest.mark.parametrize(
    "text",
    [
        "李婷来了，我们都叫她老师",
        "李婷来了，大家都叫她吃饭",
        "李婷来了，大家都叫她回家",
        "Elizabeth rang. They call her often.",
        "I love London but it's Paris for short trips",
    ],
)
def test_who_is_called_to_come_or_by_a_role_gets_no_other_name(text: str) -> None:
    stated = EXTRACTOR.of_turn(text, speaker="Ada", at=NOON).relations
    assert not [each for each in stated if each.type == "synonym"]
