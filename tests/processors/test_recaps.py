"""Recaps of the demo's conversation: word for word, within their budget, and about what the session was about."""

from __future__ import annotations

import pytest

from emgas.messages.fields import Position
from emgas.messages.views import Recap, Recapped
from processors.extraction.yake_extractor import YakeExtractor
from processors.recall.answer import Memory
from processors.recall.context import tokens
from processors.recall.recaps import recapped
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from tests.support.builders import turn_recorded
from tests.support.clocks import NOON

EXTRACTOR = YakeExtractor()
SESSIONS = {
    "vet": ["Biscuit the cat has ear mites.", "Oh no!", "The vet prescribed ear drops for Biscuit.", "Good."],
    "zh": ["我对花生过敏，医生开了药。", "记得带药。", "花生酱也不能吃。"],
    "empty": ["Ok.", "?"],
}


def memory() -> tuple[Memory, dict[int, TurnRecorded]]:
    graph, turns = Graph("ada"), dict[int, TurnRecorded]()
    for session, texts in SESSIONS.items():
        for text in texts:
            at, id = NOON + len(turns), f"t{len(turns)}"
            found = EXTRACTOR.of_turn(text, speaker="Ada", at=at)
            facts = {"concepts": list(found.concepts), "tokens": found.tokens, "question": found.question}
            turns[len(turns)] = turn_recorded(id=id, text=text, session=session, at=at, **facts)
            graph.fold(turns[len(turns) - 1])
    return Memory(graph, lambda _, number: turns[number], Position(partition=0, watermark=0, source=0)), turns


def told(**wanted: object) -> Recapped:
    return recapped(memory()[0], Recap(graph="ada", **wanted))  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [0, 5, 8, 60, 400])
def test_every_quote_stands_in_its_turn_and_all_of_them_within_the_budget(words: int) -> None:
    turns = {turn.id: turn for turn in memory()[1].values()}
    for session in told(words=words).sessions:
        assert all(quote.text in turns[quote.turn].text for quote in session.summary)
        assert sum(max(1, tokens(quote.text) * 10 // 13) for quote in session.summary) <= words
        assert [quote.at for quote in session.summary] == sorted(quote.at for quote in session.summary)
        assert len({quote.text for quote in session.summary}) == len(session.summary)


def test_what_stands_for_a_conversation_is_what_sets_it_apart() -> None:
    empty, zh, vet = told().sessions
    assert [each.session for each in (empty, zh, vet)] == ["empty", "zh", "vet"]
    assert [quote.text for quote in vet.summary] == [SESSIONS["vet"][0], SESSIONS["vet"][2]]
    assert {"ear", "Biscuit"} <= set(vet.concepts)
    assert "花生" in zh.concepts
    assert empty.summary == []


def test_a_graph_that_nobody_wrote_to_has_nothing_to_recap() -> None:
    nobody = Memory(None, lambda _, number: memory()[1][number], Position(partition=0, watermark=-1, source=-1))
    assert not recapped(nobody, Recap(graph="ada")).found
