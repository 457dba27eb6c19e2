"""What advisors said of a graph: kept beside its content, through every form of a graph, and no longer than it."""

from __future__ import annotations

from typing import Any

import pytest

from state.events.advice import EdgesRated, PassageRewritten, PassageSplit, Rated, TopicNamed, WorthJudged
from state.events.events import GraphEvent, decode, encode
from state.graph.graph import Graph
from state.graph.tables.advice_table import AdviceTable, Judgement, Parts, Rating, Rewriting
from state.partition import Partition
from state.store.store import MemoryStore
from tests.support.builders import (
    UNLINKED,
    consolidation_closed,
    folded,
    forgotten,
    pinned,
    session_ended,
    session_summarised,
    topic_change,
    turn_recorded,
)
from tests.support.logs import LogWriter

THERE: dict[str, Any] = {**UNLINKED, "src": 0, "graph": "ada", "by": "me 1"}
EVENTS: tuple[GraphEvent, ...] = (
    turn_recorded(id="t0", concepts="cat vet"),
    turn_recorded(id="t1", concepts="cat drops"),
    turn_recorded(id="t2", concepts="tea kettle"),
    consolidation_closed(topics=[topic_change("topic-0", "cat vet drops")]),
)
ADVICE: tuple[GraphEvent, ...] = (
    TopicNamed(topic="topic-0", name="The ill cat", **THERE),
    EdgesRated(ratings=[Rated("vet", "cat", 0.9), Rated("cat", "unicorn", 0.1)], **THERE),
    PassageRewritten(of="turn", id="t0", text="Arr, the cat!", role="a sailor", **THERE),
    PassageSplit(turn="t1", spans=[(0, 4), (5, 9)], **THERE),
    WorthJudged(turn="t2", worth=0.25, keywords=["tea"], **THERE),
)


def advised() -> Graph:
    return folded(*EVENTS, *ADVICE)


def test_advice_is_kept_by_what_it_is_about_with_who_said_it() -> None:
    graph = advised()
    assert graph.advice.rewritten == {("turn", "t0"): Rewriting("Arr, the cat!", "a sailor", "me 1")}
    assert graph.advice.split == {"t1": Parts(((0, 4), (5, 9)), "me 1")}
    assert graph.advice.judged == {"t2": Judgement(25, ("tea",), "me 1")}
    assert graph.advice.rated == {("cat", "vet"): Rating(90, "me 1")}, "what is not here is not rated"
    theme = graph.themes.themes["topic-0"]
    assert (theme.name, theme.by, theme.label) == ("The ill cat", "me 1", "cat vet drops")


@pytest.mark.source("M11")
def test_a_turn_that_is_worth_little_is_archived_unless_somebody_keeps_it() -> None:
    judged = WorthJudged(turn="t2", worth=0.49, keywords=[], **THERE)
    worthy = WorthJudged(turn="t2", worth=0.5, keywords=[], **THERE)
    for events, archived in (((judged,), 1), ((worthy,), 0), ((pinned(turns="t2"), judged), 0)):
        graph = folded(*EVENTS, *events)
        assert graph.passages.archived[graph.passages.numbers["t2"]] == archived


def test_a_graph_without_advice_has_no_trace_of_it_and_one_with_it_goes_through_every_form() -> None:
    plain, graph = folded(*EVENTS), advised()
    assert plain.digest() != graph.digest()
    assert AdviceTable().values() == {}
    again = Graph.unpack(graph.pack())
    assert again.digest() == graph.digest()
    assert again.advice.values() == graph.advice.values()
    for event in ADVICE:
        assert decode(encode(event)) == event


def test_advice_is_stored_and_read_again() -> None:
    log, store = LogWriter(partitions=1), MemoryStore()
    for event in (*EVENTS, *ADVICE):
        log.keep(event)
    state = log.folded(store)
    state.flush()
    state._pages.flush(state.graph("ada"))  # type: ignore[arg-type]  # noqa: SLF001 - what many more events would do
    store.write(state._pages.batch)  # noqa: SLF001 - likewise
    before = state.digests()
    assert Partition(store).digests() == before


def test_advice_goes_with_what_it_is_about() -> None:
    graph = advised()
    graph.fold(forgotten(concepts="vet", turns="t0 t1"))
    assert graph.advice.values() == {"judged": [["t2", 25, ["tea"], "me 1"]]}
    graph.fold(forgotten(turns="t2"))
    assert not graph.advice
    assert graph.fold(PassageRewritten(of="turn", id="t0", text="x", **THERE)) is False
    assert graph.fold(PassageSplit(turn="t0", spans=[(0, 1), (1, 2)], **THERE)) is False
    assert graph.fold(WorthJudged(turn="t0", worth=0.1, keywords=[], **THERE)) is False
    assert graph.fold(TopicNamed(topic="topic-9", name="x", **THERE)) is False
    assert graph.fold(PassageRewritten(of="habit", id="h1", text="x", **THERE)) is False


@pytest.mark.source("E40")
def test_a_name_stays_as_long_as_half_of_what_it_named_is_there() -> None:
    for members, name in (("cat vet tea", "The ill cat"), ("cat tea kettle", ""), ("vet drops cat tea", "The ill cat")):
        graph = advised()
        graph.fold(consolidation_closed(topics=[topic_change("topic-0", members, "changed")]))
        assert graph.themes.themes["topic-0"].name == name, members


@pytest.mark.source("S16")
def test_a_summary_by_an_advisor_takes_the_place_of_the_one_in_its_own_words_and_names_a_topic() -> None:
    ended = (turn_recorded(id="t0"), session_ended(), session_summarised())
    advice = session_summarised(src=7, text="Tea with Ada.", topic="Tea", by="me 1")
    graph = folded(*ended, advice)
    end = graph.sessions.ended["main"]
    assert (end.text, end.topic, end.by, end.turns) == ("Tea with Ada.", "Tea", "me 1", ("t0",))
    assert Graph.unpack(graph.pack()).sessions.ended == graph.sessions.ended
    assert b'"topic"' not in encode(session_summarised())
    assert b'"src"' not in encode(session_summarised())
    assert decode(encode(advice)) == advice


def test_parts_that_overlap_and_a_concept_rated_with_itself_are_no_events() -> None:
    for spans in ([(0, 4), (3, 9)], [(4, 4), (5, 6)], [(5, 6), (0, 1)]):
        with pytest.raises(ValueError, match="spans"):
            PassageSplit(turn="t", spans=spans, **THERE)
    with pytest.raises(ValueError, match="rated with itself"):
        Rated("cat", "cat", 0.5)
