"""Concepts as people are shown them: whole names, and no word that nobody would say."""

from __future__ import annotations

import pytest

from processors.extraction.yake_extractor import YakeExtractor
from processors.text.shown import Shown
from state.graph.graph import Graph
from tests.support.builders import folded, turn_recorded
from tests.support.clocks import NOON

EXTRACTOR = YakeExtractor("en")


def graph_with(*texts: str) -> Graph:
    events = []
    for number, text in enumerate(texts):
        extraction = EXTRACTOR.of_turn(text, speaker="Ada", at=NOON)
        concepts = [*extraction.concepts, *extraction.phrases]
        events.append(turn_recorded(id=f"t{number}", text=text, concepts=concepts))
    graph = folded(*events)
    graph.settle()
    return graph


def shown(graph: Graph) -> list[str]:
    return [label for _, label in Shown(graph.concepts).labels(range(len(graph.concepts)))]


@pytest.mark.source("E12")
def test_a_word_that_stands_in_one_name_is_shown_as_that_name() -> None:
    graph = graph_with("We flew to New York.", "New York was loud.", "The loud trumpet in New York.")
    labels = shown(graph)
    assert "New York" in labels
    assert "York" not in labels


def test_a_word_that_stands_elsewhere_more_often_is_shown_as_itself() -> None:
    graph = graph_with("A support group came.", "A support group met.", *["The group sang." for _ in range(5)])
    assert Shown(graph.concepts).label(graph.concepts.numbers["group"]) == "group"


@pytest.mark.source("E12")
def test_half_ten_and_back_are_shown_to_nobody_and_neither_are_fragments() -> None:
    graph = graph_with("Half of the ten kettles came back.", "这类票不好买，要离开了。", "我在咖啡馆等苏阳下课。")
    labels = {label.casefold() for label in shown(graph)}
    assert {"kettles", "咖啡馆", "票"} <= labels
    assert labels.isdisjoint({"half", "ten", "back", "类票", "要离", "咖啡", "阳下"})


def test_a_guess_of_the_segmenter_is_shown_once_it_came_often() -> None:
    once, often = graph_with("栗栗很喜欢猫。"), graph_with("栗栗很喜欢猫。", "栗栗很好看。", "栗栗很好吃。")
    assert "栗栗" not in shown(once)
    assert "栗栗" in shown(often)


@pytest.mark.source("E12")
def test_a_family_name_alone_and_what_only_says_how_are_shown_to_nobody() -> None:
    labels = {
        label.casefold()
        for label in shown(graph_with("邹师傅在院子里缝包。", "Thankfully the kettle reminds me of tea."))
    }
    assert {"邹师傅", "院子", "kettle"} <= labels
    assert labels.isdisjoint({"邹", "缝", "thankfully", "reminds"})


def test_what_is_shown_is_the_same_after_a_snapshot_and_names_nothing_forgotten() -> None:
    graph = graph_with("We flew to New York.", "New York was loud.")
    assert shown(Graph.unpack(graph.pack())) == shown(graph)
    graph.concepts.forget(graph.concepts.numbers["new york"])
    assert Shown(graph.concepts).label(graph.concepts.numbers["york"]) == "York"
