"""Other names of a person: who asks for one means the other."""

from __future__ import annotations

import pytest

from processors.extraction.yake_extractor import YakeExtractor
from processors.recall.ranking.other_names import other_names
from state.graph.graph import Graph
from tests.support.builders import turn_recorded
from tests.support.clocks import NOON

EXTRACTOR = YakeExtractor()


def others(texts: list[str], *words: str) -> dict[str, list[str]]:
    """Find the other names that texts give to words."""
    graph = Graph("ada")
    for number, text in enumerate(texts):
        extraction = EXTRACTOR.of_turn(text, speaker="Ada", at=NOON)
        concepts, relations = [*extraction.concepts, *extraction.phrases], list(extraction.relations)
        graph.fold(turn_recorded(id=f"t{number}", text=text, concepts=concepts, relations=relations))
    graph.settle()
    view = graph.view()
    return {word: [view.ids[number] for number in shares] for word, shares in other_names(view, words).items()}


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("我妹妹叫李婷，家里都叫她西西", "李婷", "西西"),
        ("Elizabeth is up, everyone calls her Bizzy", "elizabeth", "bizzy"),
    ],
)
def test_each_name_of_a_person_stands_for_the_other(text: str, one: str, other: str) -> None:
    assert others([text], one) == {one: [other]}
    assert others([text], other, "pond") == {other: [one]}


def test_a_daughter_a_full_name_and_a_pet_name_are_one_over_two_steps() -> None:
    assert others(["我闺女大名沈知夏，家里都叫她西西"], "闺女") == {"闺女": ["沈知夏", "西西"]}


def test_a_name_of_two_words_has_the_other_name_where_both_are_asked_for() -> None:
    text = "Sarah Miller is up, everyone calls her Bizzy"
    assert others([text], "sarah", "miller") == {"miller": ["bizzy"]}


def test_who_was_given_no_other_name_has_none() -> None:
    assert others(["Elizabeth is up", "Bizzy sat by the pond"], "elizabeth", "bizzy") == {}
