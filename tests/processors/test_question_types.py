"""Which kind of answer a question wants and a turn holds; what is only a greeting; the words of kinds."""

from __future__ import annotations

import pytest

from processors.extraction.yake_extractor import YakeExtractor
from processors.lexicon import hyponyms
from processors.text.questions import answer_kinds
from processors.text.questions.answer_kinds import (
    asks_list,
    depth,
    greets,
)


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


@pytest.mark.source("P31")
@pytest.mark.parametrize(
    "text", ["明白了", "好的", "知道了，谢谢", "收到！", "没问题", "Got it", "OK, understood.", "I see, thanks"]
)
def test_what_only_says_that_it_was_understood_needs_no_memory(text: str) -> None:
    assert greets(text)


def test_every_member_of_a_kind_is_written_as_the_id_of_its_concept() -> None:
    language = YakeExtractor().language
    for member in {member for members in hyponyms.MEMBERS.values() for member in members}:
        if member.isascii():
            assert language.normal_form(member) == member


def test_signs_of_one_script_alone_are_found_in_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_kinds, "_PATTERNS", [["animal", "han", "猫"], ["pet", "latin", "cats?"]])
    animal, pet = answer_kinds.Signs("animal"), answer_kinds.Signs("pet")
    assert [bool(animal.search(text)) for text in ("my cat", "我的猫", "我的车 and a cat")] == [False, True, False]
    assert [bool(pet.search(text)) for text in ("my Cat", "我的猫", "我的车 and a CAT")] == [True, False, True]
