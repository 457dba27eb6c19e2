"""A name that was certain once stays known in its graph."""

from __future__ import annotations

from processors.extraction.known_people import with_known_people
from processors.extraction.yake_extractor import YakeExtractor
from state.events.extraction_types import Concept
from state.graph.graph import Graph
from tests.support.logs import LogWriter

EXTRACTOR = YakeExtractor("en")


def knowing(*texts: str) -> Graph:
    """Return a graph in which these texts were said."""
    log = LogWriter()
    for text in texts:
        extraction = EXTRACTOR.of_turn(text, speaker="ada", at=0)
        log.turn(text=text, concepts=[*extraction.concepts, *extraction.phrases])
    (graph,) = log.folded().graphs()
    graph.settle()
    return graph


def people(text: str, graph: Graph | None) -> set[str]:
    concepts: list[Concept] = list(EXTRACTOR.of_turn(text, speaker="ada", at=0).concepts)
    return {each.id for each in with_known_people(text, concepts, graph) if each.kind == "person"}


def test_a_chinese_name_that_no_rule_finds_here_is_known_from_before() -> None:
    assert people("校队里就数高远跑得最快", None) == set()
    assert people("校队里就数高远跑得最快", knowing("新同学叫高远")) == {"高远"}


def test_a_word_that_is_a_name_in_the_graph_is_a_person() -> None:
    assert people("Captain is Oyelaran this year", knowing("My friend Oyelaran said hello")) == {"oyelaran"}


def test_what_is_no_person_in_the_graph_stays_what_it_is() -> None:
    assert people("高度不够", knowing("新同学叫高远")) == set()
    assert people("The kettle broke", knowing("The kettle broke")) == set()
