"""Recaps of the demo's conversation: word for word, within their budget, and about what the session was about."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.messages.fields import Position
from emgas.messages.views import Recap, Recapped
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.context.context import tokens
from processors.recall.reports import segmentation
from processors.recall.reports.session_summaries import list_recaps
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from tests.support.clocks import NOON
from tests.support.stories import HERE, extracted

SESSIONS = {
    "vet": ["Biscuit the cat has ear mites.", "Oh no!", "The vet prescribed ear drops for Biscuit.", "Good."],
    "zh": ["我对花生过敏，医生开了药。", "记得带药。", "花生酱也不能吃。"],
    "empty": ["Ok.", "?"],
}


def memory() -> tuple[QueriedGraph, dict[int, TurnRecorded]]:
    graph, turns = Graph("ada"), dict[int, TurnRecorded]()
    for session, texts in SESSIONS.items():
        for text in texts:
            turns[len(turns)] = extracted(text, id=f"t{len(turns)}", session=session, at=NOON + len(turns))
            graph.fold(turns[len(turns) - 1])
    return QueriedGraph(graph, lambda _, number: turns[number], HERE), turns


def recaps_of(**options: object) -> Recapped:
    return list_recaps(memory()[0], Recap(graph="ada", **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [0, 5, 8, 60, 400])
def test_every_quote_stands_in_its_turn_and_all_of_them_within_the_budget(words: int) -> None:
    turns = {turn.id: turn for turn in memory()[1].values()}
    for session in recaps_of(words=words).sessions:
        assert all(quote.text in turns[quote.turn].text for quote in session.summary)
        assert sum(max(1, tokens(quote.text) * 10 // 13) for quote in session.summary) <= words
        assert [quote.at for quote in session.summary] == sorted(quote.at for quote in session.summary)
        assert len({quote.text for quote in session.summary}) == len(session.summary)


def test_what_stands_for_a_conversation_is_what_sets_it_apart() -> None:
    empty, zh, vet = recaps_of().sessions
    assert [each.session for each in (empty, zh, vet)] == ["empty", "zh", "vet"]
    assert [quote.text for quote in vet.summary] == [SESSIONS["vet"][0], SESSIONS["vet"][2]]
    assert {"ear", "Biscuit"} <= set(vet.concepts)
    assert "花生" in zh.concepts
    assert empty.summary == []


def test_a_graph_that_nobody_wrote_to_has_nothing_to_recap() -> None:
    nobody = QueriedGraph(None, lambda _, number: memory()[1][number], Position(partition=0, watermark=-1, source=-1))
    assert not list_recaps(nobody, Recap(graph="ada")).found


# parts of a conversation

HOUSE = (
    "The boiler in the cellar leaks again.",
    "The plumber says the boiler needs a new valve.",
    "A valve for this boiler costs two hundred.",
    "The plumber brings the valve for the boiler on Monday.",
)
TRIP = (
    "We fly to Lisbon in June.",
    "The hotel in Lisbon has a garden.",
    "June in Lisbon is warm, so the hotel is full.",
    "I booked the hotel and the flight to Lisbon.",
)


def talked(texts: Sequence[str], **options: object) -> Recapped:
    graph, turns = Graph("ada"), dict[int, TurnRecorded]()
    for number, text in enumerate(texts):
        turns[number] = extracted(text, id=f"t{number}", session="talk", at=NOON + number)
        graph.fold(turns[number])
    memory = QueriedGraph(graph, lambda _, number: turns[number], HERE)
    return list_recaps(memory, Recap(graph="ada", topics=True, **options))  # type: ignore[arg-type]


@pytest.mark.source("M4")
def test_a_conversation_is_compressed_into_topics_where_it_turns_to_something_else() -> None:
    texts = [*HOUSE, *TRIP] * 3
    (session,) = talked(texts).sessions
    assert len(session.topics) == segmentation.how_many(24, segmentation.entropy("".join(texts))) == 2
    assert sum(part.turns for part in session.topics) == 24
    assert session.topics[0].first == "t0"
    assert session.topics[-1].last == "t23"
    assert session.topics[0].turns in (4, 8, 12, 16, 20), "between two topics, not within one"
    assert all(quote.text in texts for part in session.topics for quote in part.summary)
    assert all(part.summary for part in session.topics)
    (alone,) = talked(HOUSE[:2]).sessions
    assert [part.turns for part in alone.topics] == [2]


def test_topics_are_told_on_request_alone() -> None:
    assert [session.topics for session in recaps_of().sessions] == [[], [], []]


@pytest.mark.source("M4")
@pytest.mark.parametrize(
    ("turns", "bits", "parts"), [(0, 0.0, 1), (1, 4.2, 1), (20, 4.2, 2), (100, 4.2, 6), (100, 9.0, 7), (100, 1.0, 5)]
)
def test_there_are_as_many_topics_as_the_source_has_them(turns: int, bits: float, parts: int) -> None:
    assert segmentation.how_many(turns, bits) == parts
    assert segmentation.entropy("abab") == 1.0


@given(st.lists(st.sets(st.integers(0, 5)), max_size=30), st.integers(1, 9))
def test_parts_are_not_more_than_asked_for_and_none_is_too_short(concept_sets: list[set[int]], parts: int) -> None:
    places = [0, *segmentation.cuts(concept_sets, parts), len(concept_sets)]
    assert len(places) <= parts + 1
    assert all(after - before >= segmentation.SHORTEST for before, after in pairwise(places)) or len(places) == 2


@pytest.mark.source("S16")
@pytest.mark.parametrize(
    ("one", "again"),
    [
        ("The roof leaks above the kitchen.", "And the roof leaks above the kitchen again!"),
        ("婚礼场地定在湖边的草坪。", "婚礼场地就定在湖边的草坪！"),
    ],
)
def test_a_summary_quotes_one_thing_once_however_often_it_was_said(one: str, again: str) -> None:
    texts = [one, "The plumber comes on Monday.", again, one, again]
    graph, turns = Graph("ada"), dict[int, TurnRecorded]()
    for text in texts:
        turns[len(turns)] = extracted(text, id=f"t{len(turns)}", session="s", at=NOON + len(turns))
        graph.fold(turns[len(turns) - 1])
    memory = QueriedGraph(graph, lambda _, number: turns[number], HERE)
    (session,) = list_recaps(memory, Recap(graph="ada", words=100)).sessions
    assert sum(quote.text in {one, again} for quote in session.summary) == 1
