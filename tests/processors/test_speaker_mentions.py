"""Which speakers a question names, and that their nodes are the extractor's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.limits import NAME_CHARACTERS
from processors.extraction.yake_extractor import YakeExtractor
from processors.recall.ranking.query_terms import named_speakers, speaker_mark

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=NAME_CHARACTERS)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("What did Caroline paint?", [0]),
        ("what did CAROLINE's sister say", [0]),
        ("Do Ann and Caroline agree?", [0, 1]),
        ("Which anniversary was it?", []),
        ("Caroline去哪儿了", [0]),
        ("苏晴养了什么猫", [2]),
        ("Who is van Dyke?", [3]),
        ("Ｃａｒｏｌｉｎｅ?", [0]),
        ("Zoe\u0308 came?", [4]),
        ("Zoës", []),
        ("", []),
    ],
)
def test_a_speaker_is_named_by_a_whole_word_or_by_han_characters(text: str, named: list[int]) -> None:
    assert named_speakers(text, ["Caroline", "Ann", "苏晴", "Van  Dyke", "Zoë"]).tolist() == named


def test_signs_in_a_name_are_signs_and_not_a_pattern() -> None:
    assert named_speakers("Is C++ (bot) here? abc", ["C++ (bot)", "a.c", "["]).tolist() == [0]


@given(text=names, speakers=st.lists(names, max_size=4))
def test_every_name_can_be_looked_for_in_every_text(text: str, speakers: list[str]) -> None:
    named = named_speakers(text, speakers).tolist()
    assert named == sorted(set(named))


@given(name=names)
def test_a_speakers_node_is_the_mark_that_the_extractor_gives_to_their_turns(name: str) -> None:
    extraction = YakeExtractor().of_turn("", speaker=name, at=0)
    marks = [concept.id for concept in extraction.concepts if concept.id.startswith("@speaker:")]
    nameless = speaker_mark(name) == "@speaker:"  # nothing but spaces and invisible characters
    assert marks == ([] if nameless else [speaker_mark(name)])
