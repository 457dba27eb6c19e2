"""Phrases and names: several words that are one thing, and what words name."""

from __future__ import annotations

import pytest

from emgas.limits import CONCEPTS_PER_TURN, PHRASES_PER_TURN
from processors.extraction.yake_extractor import YakeExtractor
from processors.text import names
from tests.support.clocks import NOON

EXTRACTOR = YakeExtractor("en")


def phrases(text: str) -> dict[str, str]:
    """Return label → kind."""
    return {phrase.label: phrase.kind for phrase in EXTRACTOR.of_turn(text, speaker="Ada", at=NOON).phrases}


def kinds(text: str) -> dict[str, str]:
    concepts = EXTRACTOR.of_turn(text, speaker="Ada", at=NOON).concepts
    return {concept.id: concept.kind for concept in concepts if concept.kind}


@pytest.mark.source("E12")
@pytest.mark.parametrize(
    ("text", "label", "kind"),
    [
        ("We flew to New York on Monday.", "New York", "place"),
        ("New York is loud.", "New York", "place"),
        ("We walked over the Golden Gate Bridge.", "Golden Gate Bridge", "place"),
        ("I met Sarah Miller there.", "Sarah Miller", "person"),
        ("She studies at Lisbon University.", "Lisbon University", "organisation"),
        ("I am reading Lord of the Rings.", "Lord of the Rings", "product"),
        ("I went to a support group yesterday.", "support group", "phrase"),
        ("I ran 42 km.", "42 km", "number"),
        ("这个项目用到了数据持久化。", "数据持久化", "phrase"),
        ("婆婆查出骨质疏松，要补钙。", "骨质疏松", "phrase"),
        ("半月板撕裂要手术。", "半月板撕裂", "phrase"),
        ("他查出血压偏高。", "血压偏高", "phrase"),
        ("我在驼铃小院住了三天。", "驼铃小院", "place"),
        ("我最近在看《傲慢与偏见》。", "傲慢与偏见", "product"),
        ("我买了三个鸡蛋。", "三个鸡蛋", "number"),
    ],
)
def test_several_words_that_name_one_thing_are_a_node(text: str, label: str, kind: str) -> None:
    assert phrases(text).get(label) == kind


@pytest.mark.parametrize(
    "text",
    [
        "My sister lives here.",
        "Hey John, that sounds great!",
        "The kettle broke again.",
        "THE WHOLE SENTENCE IS SHOUTED HERE",
        "Thanks Caroline, see you Monday.",
        "I think Caroline knows.",
        "我妈妈昨天来了。",
        "我在医院工作。",
    ],
)
def test_words_that_only_stand_beside_each_other_are_none(text: str) -> None:
    assert phrases(text) == {}


def test_a_phrase_stands_beside_its_words_and_changes_none_of_them() -> None:
    extraction = EXTRACTOR.of_turn("We flew to New York on Monday.", speaker="Ada", at=NOON)
    assert [concept.id for concept in extraction.phrases] == ["new york"]
    assert "york" in {concept.id for concept in extraction.concepts}
    assert not any(concept.is_phrase for concept in extraction.concepts)


@pytest.mark.source("E12")
def test_names_have_the_kind_that_they_or_their_neighbours_tell() -> None:
    assert kinds("I met my friend Yara in Lisbon.") == {"yara": "person", "lisbon": "place"}
    assert kinds("Google bought it.") == {"google": "organisation"}
    assert kinds("他在看《三体》。")["三体"] == "product"
    assert kinds("我们去了深圳和大理。") == {"深圳": "place", "大理": "place"}
    assert kinds("The cat sleeps.") == {}


def test_a_word_inside_another_and_a_guess_of_the_segmenter_are_told_apart() -> None:
    by_name = kinds("我在咖啡馆等苏阳下课。")
    assert by_name["咖啡"] == "part"
    assert kinds("这类票不好买，要离开了。") == {}


def test_a_long_text_has_a_bounded_number_of_phrases() -> None:
    text = " ".join(f"The Alpha{chr(97 + n % 26)} Beta{chr(97 + n // 26)} came." for n in range(200))
    extraction = EXTRACTOR.of_turn(text, speaker="Ada", at=NOON)
    assert len(extraction.phrases) == PHRASES_PER_TURN
    assert len(extraction.concepts) <= CONCEPTS_PER_TURN


@pytest.mark.parametrize(("word", "kind"), [("friend", "person"), ("In", "place"), ("yellow", None)])
def test_the_word_before_a_name_tells_what_it_names(word: str, kind: str | None) -> None:
    assert names.before(word) == kind
