"""What is linked with a concept: how often the two were said together, and since when."""

from __future__ import annotations

import pytest

from emgas.messages.fields import Position
from emgas.messages.views import Explore, Neighbour
from emgas.times import DAY_MS as DAY
from processors.extraction.yake_extractor import YakeExtractor
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.reports.neighbourhood import explore_graph
from state.graph.graph import Graph
from tests.support.builders import turn_recorded
from tests.support.clocks import NOON
from tests.support.stories import Story, queried

EXTRACTOR = YakeExtractor()


def neighbours(graph: Graph, concept: str) -> dict[str, Neighbour]:
    memory = QueriedGraph(graph, lambda graph, number: turn_recorded(), Position(partition=0, watermark=0, source=0))
    explored = explore_graph(memory, Explore(graph="ada", concept=concept), EXTRACTOR)
    return {each.id: each for each in explored.neighbours}


@pytest.mark.source("M2")
@pytest.mark.parametrize(("one", "other"), [("coffee", "tea"), ("咖啡", "茶")])
def test_a_link_grows_by_one_each_time_and_tells_since_when_and_when_last(one: str, other: str) -> None:
    graph = Graph("ada")
    for number, words in enumerate([f"{one} {other}", "milk", f"{other} {one}", "sugar", "honey"]):
        graph.fold(turn_recorded(id=f"t{number}", session=f"s{number}", concepts=words, at=NOON + number * DAY))
    link = neighbours(graph, one)[other]
    assert (link.times, link.first, link.last) == (2, NOON, NOON + 2 * DAY)


@pytest.mark.source("E17")
def test_saying_two_words_together_again_makes_their_link_stronger_and_each_alone_weaker() -> None:
    def strength(*more: str) -> float:
        graph = Graph("ada")
        for number, words in enumerate(["coffee tea", *("coffee milk", "tea sugar") * 3, *("honey",) * 9, *more]):
            graph.fold(turn_recorded(id=f"t{number}", session=f"s{number}", concepts=words, at=NOON + number * DAY))
        by_id = neighbours(graph, "tea")
        return by_id["coffee"].strength if "coffee" in by_id else 0.0

    once, again, apart = strength("salt"), strength("coffee tea"), strength("coffee salt")
    assert apart < once < again


@pytest.mark.source("M2")
def test_what_is_said_in_the_turn_behind_is_said_together_too() -> None:
    graph = Graph("ada")
    for number, words in enumerate(["coffee", "tea", "milk", "sugar"]):
        graph.fold(turn_recorded(id=f"t{number}", concepts=words, at=NOON + number * DAY))
    for number in range(9):
        graph.fold(turn_recorded(id=f"x{number}", session=f"s{number}", concepts="honey", at=NOON + 9 * DAY))
    assert {name: (each.first, each.last) for name, each in neighbours(graph, "tea").items()} == {
        "coffee": (NOON + DAY, NOON + DAY),
        "milk": (NOON + 2 * DAY, NOON + 2 * DAY),
    }


def test_a_relative_without_a_name_has_the_relations_of_the_card() -> None:
    story = Story()
    story.tell("t0", "我婆婆住在乡下")
    memory = queried(story.life.graph, story.turns)
    relations = explore_graph(memory, Explore(graph="ada", concept="婆婆"), EXTRACTOR).relations
    assert [(each.source, each.type, each.target) for each in relations] == [("婆婆", "lives-in", "乡下")]
