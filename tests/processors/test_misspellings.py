"""What was meant by a word that nobody ever said: a beginning, a typing error; and what is left alone."""

from __future__ import annotations

import pytest

from emgas.client.query_arguments import build_query
from emgas.messages.fields import Position
from emgas.messages.queries import Reply
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer, QueriedGraph
from processors.recall.ranking.misspellings import WORTH, find_corrections
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from tests.support.builders import turn_recorded
from tests.support.clocks import NOON

EXTRACTOR = YakeExtractor()
SAID = (
    "Biscuit the cat was at the vet.",
    "The vet prescribed antibiotics.",
    "The winner of the race got a medal.",
    "我们在海边吃了饼干。",
    "Grandmother repairs clocks.",
)


def memory() -> QueriedGraph:
    graph, turns = Graph("ada"), list[TurnRecorded]()
    for number, text in enumerate(SAID):
        found = EXTRACTOR.of_turn(text, speaker="Ada", at=NOON + number)
        facts = {"concepts": list(found.concepts), "tokens": found.tokens, "question": found.question}
        turns.append(turn_recorded(id=f"t{number}", text=text, at=NOON + number, session=f"s{number}", **facts))
        graph.fold(turns[-1])
    return QueriedGraph(graph, lambda _, number: turns[number], Position(partition=0, watermark=0, source=0))


def ask(text: str) -> Reply:
    query = build_query(None, None, {"graph": "ada", "text": text, "explain": True})
    return in_one_go(Answerer(EXTRACTOR).answer(query, memory())).reply


@pytest.mark.source("H11")
@pytest.mark.parametrize(
    ("written", "word"),
    [("bisciut", "biscuit"), ("biscut", "biscuit"), ("antibiotcs", "antibiotic"), ("grandmohter", "grandmother")],
)
def test_a_typing_error_finds_the_word_and_the_explanation_says_for_how_much(written: str, word: str) -> None:
    reply = ask(f"What about {written}?")
    assert [seed.id for seed in reply.seeds] == [word]
    best = reply.passages[0]
    assert best.why is not None
    (mention,) = [each for each in best.why.mentions if each.distance == 0]
    assert (mention.concept, 0 < mention.weight < WORTH) == (word, True)


@pytest.mark.source("H11")
@pytest.mark.parametrize(("written", "turn"), [("prescrib", "t1"), ("grandm", "t4"), ("antibio", "t1")])
def test_the_beginning_of_a_word_finds_it(written: str, turn: str) -> None:
    assert ask(f"Who {written}?").passages[0].id == turn


@pytest.mark.parametrize("written", ["winter", "winners", "bat", "vat", "x1234", "饼千", "submarine", "grand"])
def test_what_stands_in_a_dictionary_or_is_too_short_is_no_error(written: str) -> None:
    graph = memory().graph
    assert graph is not None
    assert find_corrections(graph.view(), written) == {}


def test_a_word_that_the_graph_knows_means_itself_alone() -> None:
    assert [seed.id for seed in ask("biscuit?").seeds] == ["biscuit"]
