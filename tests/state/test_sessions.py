"""Ends of conversations, switches and rights, folded: what they leave in a graph, and what takes it away again."""

from __future__ import annotations

import pytest

from state.graph.graph import Graph
from tests.support.builders import (
    access_granted,
    access_revoked,
    consolidation_closed,
    folded,
    forgotten,
    graph_configured,
    session_ended,
    session_summarised,
    turn_not_recorded,
    turn_recorded,
)
from tests.support.clocks import NOON

TURNS = [turn_recorded(id=f"t{n}", at=NOON + n, session=("main", "work")[n % 2]) for n in range(6)]


def kept(graph: Graph) -> Graph:
    """Return the graph as its snapshot has it."""
    return Graph.unpack(graph.pack())


@pytest.mark.source("S1")
def test_what_is_said_behind_an_end_is_of_the_next_conversation() -> None:
    graph = folded(*TURNS, session_ended(at=NOON + 5, through="t4"))
    assert (graph.sessions.upto("main"), graph.sessions.upto("work")) == (5, 0)
    assert graph.ended_at == NOON + 5
    assert not graph.fold(session_ended(at=NOON + 9, through="t2")), "it has ended already"
    assert not graph.fold(session_ended(at=NOON + 9, through="erased")), "nothing was said since"
    graph.fold(consolidation_closed(at=NOON + 5))
    graph.fold(session_ended(at=NOON + 9, through="t5", session="work"))
    assert (graph.ended_at > NOON + 9, list(graph.sessions.ended)) == (True, ["main", "work"])


def test_an_end_stays_where_it_is_among_turns_that_others_forget() -> None:
    ended = [session_ended(at=NOON + 5, through="t4"), session_summarised(turns="t2 t4")]
    graph = folded(*TURNS, *ended)
    graph.fold(forgotten(turns="t0 t1"))
    graph.compact()
    assert graph.sessions.upto("main") == 3
    assert graph.sessions.ended["main"].text == "Ada: Tea."
    late = folded(*TURNS, *ended, forgotten(turns="t0 t1"))
    assert late.digest() == graph.digest() == kept(graph).digest()
    assert kept(graph).sessions.ended == graph.sessions.ended


def test_a_summary_goes_with_what_it_quotes_and_an_end_with_all_of_its_session() -> None:
    graph = folded(*TURNS, session_ended(at=NOON + 5, through="t4"), session_summarised(turns="t2 t4"))
    graph.fold(forgotten(turns="t4"))
    assert graph.sessions.ended["main"].text == ""
    assert not graph.fold(session_summarised(turns="t2 t4")), "it tells of a turn that is gone"
    graph.fold(forgotten(turns="t0 t2"))
    assert graph.sessions.ended == {}


def test_an_end_whose_last_turn_was_erased_ends_what_is_left() -> None:
    graph = folded(*TURNS[:4], session_ended(at=NOON + 5, through="t4"))
    assert graph.sessions.upto("main") == 3
    assert not folded(session_ended()).sessions.ended


@pytest.mark.source("M21")
def test_a_graph_without_any_of_it_has_the_digest_that_it_always_had() -> None:
    plain = folded(graph_configured(), *TURNS).digest()
    assert folded(graph_configured(recording=1, recalling=1, topic_shift=0.0), *TURNS).digest() == plain
    for other in (turn_not_recorded(), access_granted(), session_ended(at=NOON + 5, through="t5", session="work")):
        graph = folded(graph_configured(), *TURNS, other)
        assert graph.digest() != plain
        assert kept(graph).digest() == graph.digest()
    assert folded(graph_configured(recording=0), *TURNS).digest() != plain


@pytest.mark.source("P44")
def test_who_lost_all_rights_is_still_known_so_that_the_graph_does_not_open_to_everybody() -> None:
    graph = folded(*TURNS, access_granted(rights=["write", "read", "read"]))
    assert graph.access == {"bob": ["read", "write"]}
    assert not graph.fold(access_granted(rights=["read"]))
    graph.fold(access_revoked(rights=["read", "write"]))
    assert graph.access == {"bob": []}
    assert not graph.fold(access_revoked(subject="cyd"))
    assert kept(graph).access == {"bob": []}
