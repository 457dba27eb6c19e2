"""Forgetting: what leaves one graph, when, and what stays known, computed by hand."""

from __future__ import annotations

import pytest

from state.graph.graph import Graph
from state.graph.tables.decay import NEVER
from state.graph.tables.passage_table import fingerprint
from tests.support.builders import (
    concept,
    consolidation_closed,
    decay_closed,
    folded,
    forgotten,
    refolded,
    topic_change,
    turn_recorded,
)
from tests.support.clocks import DAY, NOON
from tests.support.graphs import pair_counts


def graph_with(*turns: str, session: str = "main") -> Graph:
    """Return the graph of turns t0, t1, … with these concepts."""
    return folded(*(turn_recorded(id=f"t{n}", concepts=concepts, session=session) for n, concepts in enumerate(turns)))


def coffee(graph: Graph) -> int:
    return graph.concepts.numbers["coffee"]


def test_a_forgotten_concept_leaves_no_trace_in_view_or_counts() -> None:
    graph = graph_with("coffee tea milk", "tea milk")
    graph.fold(decay_closed(concepts="coffee"))
    assert "coffee" not in graph.concepts.numbers
    view = graph.view()
    assert (view.ids, view.numbers) == (["tea", "milk"], {"tea": 0, "milk": 1})
    assert view.posting_concept.tolist() == [0, 1, 0, 1]
    assert view.passages_with.tolist() == [2, 2]
    assert pair_counts(graph, "turn") == {"tea milk": 2}


def test_a_forgotten_concept_that_is_mentioned_again_is_new() -> None:
    graph = graph_with("coffee tea", "coffee")
    graph.fold(decay_closed(concepts="coffee"))
    graph.fold(turn_recorded(id="again", concepts=[concept("coffee", "Coffee", 0.25)], at=NOON + DAY))
    assert graph.view().ids == ["tea", "coffee"]
    number = coffee(graph)
    assert graph.concepts.in_turns[number] == 1
    assert graph.concepts.created[number] == NOON + DAY
    assert graph.concepts.strength[number] == 0.25
    assert graph.view().labels[number] == "Coffee"


@pytest.mark.parametrize("looks", [False, True])
def test_an_exchange_with_a_turn_whose_words_were_forgotten_holds_what_is_left_of_it(looks: bool) -> None:
    graph = graph_with("coffee tea")
    graph.fold(decay_closed(concepts="coffee"))
    if looks:
        graph.view()
    graph.fold(turn_recorded(id="next", concepts="coffee milk"))
    assert pair_counts(graph, "exchange") == {"tea coffee": 1, "tea milk": 1, "coffee milk": 1}


@pytest.mark.parametrize("looks", [False, True])
def test_an_exchange_is_with_the_last_turn_of_the_session_that_is_kept(looks: bool) -> None:
    graph = folded(
        turn_recorded(id="a", session="one", concepts="coffee"),
        turn_recorded(id="b", session="two", concepts="sugar"),
        turn_recorded(id="c", session="one", concepts="tea"),
        turn_recorded(id="d", session="one", concepts="honey"),
        forgotten(turns="c"),
        forgotten(turns="d"),
    )
    if looks:
        graph.view()
    graph.fold(turn_recorded(id="e", session="one", concepts="milk"))
    assert "coffee milk" in pair_counts(graph, "exchange")
    assert "tea milk" not in pair_counts(graph, "exchange")


@pytest.mark.parametrize("looks", [False, True])
def test_sessions_and_speakers_come_in_the_order_of_their_first_kept_turn(looks: bool) -> None:
    graph = folded(
        turn_recorded(id="a", session="one", speaker="Ada"),
        turn_recorded(id="b", session="two", speaker="Bob"),
        forgotten(turns="a"),
    )
    if looks:
        graph.view()
    graph.fold(turn_recorded(id="c", session="three", speaker="Cyd"))
    graph.fold(turn_recorded(id="d", session="one", speaker="Ada"))
    assert graph.view().sessions == ["two", "three", "one"]
    assert graph.view().speakers == ["Bob", "Cyd", "Ada"]
    assert graph.view().passage_session.tolist() == [0, 1, 2]


def test_an_archived_turn_leaves_the_view_and_stays_known() -> None:
    graph = graph_with("coffee tea", "tea milk")
    graph.fold(forgotten(turns="t0"))
    for each in (graph, Graph.unpack(graph.pack())):
        assert each.view().passage_id == ["t1"]
        assert each.view().windows["turn"].total == 2, "windows are counted for ever"
        assert each.knows("t0")
        assert each.passages.knows("t0") == fingerprint("text of t0")
        assert each.passages.knows("t0") != fingerprint("another text")
        assert not each.fold(turn_recorded(id="t0"))


def test_a_wordless_turn_may_be_archived_as_well() -> None:
    graph = graph_with("", "coffee", "")
    graph.fold(decay_closed(turns="t0"))
    assert graph.view().passage_id == ["t1", "t2"]
    assert graph.view().posting_passage.tolist() == [0]


def test_what_will_fade_is_still_known_after_others_were_forgotten() -> None:
    graph = graph_with("", "coffee", "", "tea")
    before = graph.expiry_queue().earliest()
    graph.fold(forgotten(concepts="coffee", turns="t0 t1"))
    graph.compact()
    assert graph.expiry_queue().earliest() == before
    expired = graph.expiry_queue().until(NEVER - 1, lambda number: graph.concepts.expiry(number, graph.settings))
    assert expired == ([0], [0, 1]), "tea, and t2 and t3 when their time is over"


def test_a_graph_may_forget_everything_and_begin_anew() -> None:
    graph = graph_with("coffee tea", "tea milk")
    graph.fold(forgotten(concepts="coffee tea milk", turns="t0 t1"))
    view = graph.view()
    assert (view.ids, view.passage_id, view.sessions) == ([], [], [])
    graph.fold(turn_recorded(id="again", concepts="tea"))
    assert graph.view().passage_id == ["again"]
    assert Graph.unpack(graph.pack()).digest() == graph.digest()


def test_many_forgotten_rows_are_compacted_by_themselves() -> None:
    graph = graph_with(*(f"word{n} coffee" for n in range(600)))
    for n in range(550):
        graph.fold(forgotten(concepts=f"word{n}", turns=f"t{n}"))
    assert len(graph.concepts) < 300
    assert len(graph.passages) < 300
    assert len(graph.view().ids) == 51


# Topics


def test_topics_keep_their_place_in_the_order_of_birth() -> None:
    graph = graph_with("coffee tea milk sugar")
    born = [topic_change("topic-0", "coffee tea"), topic_change("topic-1", "milk")]
    graph.fold(consolidation_closed(topics=born, at=NOON))
    changes = [topic_change("topic-0", "tea unheard-of tea", "changed"), topic_change("topic-2", "sugar", "split")]
    graph.fold(consolidation_closed(topics=changes, at=NOON + DAY))
    topics = graph.view().themes
    assert [(topic.id, topic.members, topic.born) for topic in topics] == [
        ("topic-0", (1,), NOON),
        ("topic-1", (2,), NOON),
        ("topic-2", (3,), NOON + DAY),
    ]
    assert graph.themes.born == 3
    graph.fold(consolidation_closed(topics=[topic_change("topic-0", change="died")]))
    assert [topic.id for topic in graph.view().themes] == ["topic-1", "topic-2"]
    assert graph.themes.born == 3, "no id is given twice"


def test_a_forgotten_concept_leaves_its_topic() -> None:
    graph = graph_with("coffee tea milk")
    graph.fold(consolidation_closed(topics=[topic_change("topic-0", "milk coffee tea")]))
    graph.fold(decay_closed(concepts="coffee"))
    assert [topic.members for topic in graph.view().themes] == [(1, 0)]
    assert Graph.unpack(graph.pack()).view().themes == graph.view().themes


def test_a_near_duplicate_leaves_the_graph_and_its_id_stays_known() -> None:
    graph = graph_with("coffee tea", "coffee tea", "milk")
    graph.fold(consolidation_closed(merged=[("t1", "t0")]))
    assert graph.view().passage_id == ["t1", "t2"]
    assert graph.knows("t0")
    assert graph.concepts.in_turns[coffee(graph)] == 2, "it was said twice"


def test_refolding_forgets_the_same() -> None:
    events = [
        *(turn_recorded(id=f"t{n}", concepts=f"word{n} coffee") for n in range(9)),
        decay_closed(concepts="word1 word3", turns="t3"),
        consolidation_closed(consolidated="coffee", merged=[("t4", "t5")]),
    ]
    assert folded(*events).digest() == refolded(events[5:], Graph.unpack(folded(*events[:5]).pack())).digest()
