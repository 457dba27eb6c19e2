"""One graph's fold: examples computed by hand.  Laws: test_graph_laws.py; forgetting: test_graph_forgets.py."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from emgas.limits import EARLIEST_MS, WINDOW_CONCEPTS
from state.errors import StaleViewError
from state.events.memory_settings import PRESETS
from state.graph.graph import Graph
from state.graph.tables.passage_table import fingerprint
from tests.support.builders import concept, concepts_recalled, folded, turn_recorded
from tests.support.clocks import DAY, NOON
from tests.support.graphs import pair_counts

HALF_LIFE_MS = PRESETS["default"].half_life
RECALL_BOOST = PRESETS["default"].recall_boost


def graph_with(*turns: str) -> Graph:
    """Return the graph of turns with these concepts, all in one session."""
    return folded(*(turn_recorded(id=f"t{n}", concepts=concepts) for n, concepts in enumerate(turns)))


# Counts


@pytest.mark.source("E8", "E16", "E41")
@pytest.mark.parametrize("many", [40, 400])
def test_a_turn_changes_the_counts_of_what_it_says_alone_however_large_the_graph(many: int) -> None:
    """Nothing is indexed anew: what was counted before stands, and weights are derived when somebody asks."""
    graph = folded(
        *(turn_recorded(id=f"t{n}", session=f"s{n}", concepts=f"w{n} w{n + 1} w{n + 2}") for n in range(many))
    )
    before, turns = pair_counts(graph, "turn"), list(graph.concepts.in_turns)
    graph.fold(turn_recorded(id="new", session="new", concepts="w3 w9"))
    after, then = pair_counts(graph, "turn"), list(graph.concepts.in_turns)
    assert {pair for pair in after if after[pair] != before.get(pair)} == {"w3 w9"}
    changed = {graph.concepts.ids[number] for number in range(len(turns)) if turns[number] != then[number]}
    assert changed == {"w3", "w9"}


@pytest.mark.source("M6")
def test_concepts_of_one_turn_are_counted_together() -> None:
    graph = graph_with("coffee tea", "tea milk coffee")
    assert pair_counts(graph, "turn") == {"coffee tea": 2, "coffee milk": 1, "tea milk": 1}
    assert list(graph.concepts.in_turns) == [2, 2, 1]


def test_an_exchange_is_a_turn_with_the_one_before_it() -> None:
    graph = graph_with("coffee", "tea", "milk")
    assert pair_counts(graph, "turn") == {}
    assert pair_counts(graph, "exchange") == {"coffee tea": 1, "tea milk": 1}
    assert list(graph.concepts.in_exchanges) == [2, 2, 1]


def test_a_concept_in_both_turns_of_an_exchange_counts_once() -> None:
    graph = graph_with("coffee tea", "coffee milk")
    assert pair_counts(graph, "exchange") == {"coffee tea": 2, "coffee milk": 1, "tea milk": 1}
    assert list(graph.concepts.in_exchanges) == [2, 2, 1]


def test_an_exchange_never_crosses_sessions() -> None:
    graph = folded(
        turn_recorded(id="a", session="morning", concepts="coffee"),
        turn_recorded(id="b", session="evening", concepts="tea"),
        turn_recorded(id="c", session="morning", concepts="milk"),
    )
    assert pair_counts(graph, "exchange") == {"coffee milk": 1}


def test_a_turn_without_concepts_separates_its_neighbours() -> None:
    graph = graph_with("coffee", "", "tea")
    assert pair_counts(graph, "exchange") == {}
    assert graph.view().windows["exchange"].total == 3


def test_a_view_counts_windows_and_fans() -> None:
    turns = graph_with("coffee tea milk", "coffee tea", "sugar").view().windows["turn"]
    assert turns.total == 3
    assert turns.concept.tolist() == [2, 2, 1, 1]
    assert turns.fan.tolist() == [2, 2, 2, 0]


# Nodes


def test_a_label_is_the_most_frequent_form_and_the_first_of_equals() -> None:
    forms = ["Coffees", "Coffees", "coffee", "Coffee", "coffee", "coffee", "Coffees"]
    turns = [turn_recorded(id=f"t{n}", concepts=[concept("coffee", form)]) for n, form in enumerate(forms)]
    labels = [folded(*turns[: n + 1]).concepts.labels() for n in range(len(turns))]
    assert labels == [*[["Coffees"]] * 5, ["coffee"], ["Coffees"]]


def test_a_late_turn_neither_sets_back_the_clock_nor_the_last_access() -> None:
    graph = folded(turn_recorded(id="a", at=NOON), turn_recorded(id="b", at=NOON - DAY, concepts="coffee milk"))
    assert graph.clock == NOON
    assert list(graph.concepts.created) == [NOON, NOON, NOON - DAY]
    assert list(graph.concepts.accessed) == [NOON, NOON, NOON - DAY]


def test_the_clock_of_a_memory_older_than_1970_is_its_own() -> None:
    assert folded(turn_recorded(at=-5 * DAY)).clock == -5 * DAY
    assert folded(turn_recorded(at=EARLIEST_MS)).clock == EARLIEST_MS


@pytest.mark.source("E10")
def test_strength_decays_until_the_next_mention_and_then_grows() -> None:
    graph = folded(
        turn_recorded(id="a", concepts=[concept("coffee", weight=0.75)]),
        turn_recorded(id="b", concepts=[concept("coffee", weight=0.5)], at=NOON + HALF_LIFE_MS),
    )
    assert graph.concepts.strength.tolist() == [0.75 / 2 + 0.5]
    assert graph.concepts.strength_at.tolist() == [NOON + HALF_LIFE_MS]


def test_a_late_mention_adds_without_turning_time_back() -> None:
    graph = folded(
        turn_recorded(id="a", concepts=[concept("coffee", weight=0.75)]),
        turn_recorded(id="b", concepts=[concept("coffee", weight=0.5)], at=NOON - HALF_LIFE_MS),
    )
    assert graph.concepts.strength.tolist() == [1.25]
    assert graph.concepts.strength_at.tolist() == [NOON]


def test_a_recall_boosts_what_is_known_and_nothing_else() -> None:
    mentioned = turn_recorded(concepts=[concept("coffee", weight=1.0), concept("tea", weight=1.0)])
    graph = folded(mentioned, concepts_recalled(concepts="coffee unheard-of", at=NOON + HALF_LIFE_MS))
    assert graph.concepts.ids == ["coffee", "tea"]
    assert graph.concepts.strength.tolist() == [0.5 + RECALL_BOOST, 1.0]
    assert graph.concepts.accessed.tolist() == [NOON + HALF_LIFE_MS, NOON]
    assert graph.concepts.created.tolist() == [NOON, NOON]
    assert graph.concepts.in_turns.tolist() == [1, 1]
    assert graph.clock == NOON + HALF_LIFE_MS


def test_marks_are_told_from_words_also_after_unpacking() -> None:
    graph = graph_with("coffee @day:2023-05-08")
    assert graph.view().is_mark.tolist() == Graph.unpack(graph.pack()).view().is_mark.tolist() == [False, True]


# Passages


def test_a_view_shows_the_passages_in_the_order_folded() -> None:
    view = folded(
        turn_recorded(id="a", speaker="Ada", role="user", question=True, tokens=4, concepts="coffee tea"),
        turn_recorded(id="b", speaker="Bot", role=None, session="two", at=NOON - DAY, concepts=""),
        turn_recorded(id="c", speaker="Ada", role="assistant", concepts=[concept("tea", count=3)]),
    ).view()
    assert view.passage_id == ["a", "b", "c"]
    assert view.passage_at.tolist() == [NOON, NOON - DAY, NOON]
    assert view.passage_tokens.tolist() == [4, 3, 3]
    assert view.passage_question.tolist() == [True, False, False]
    assert view.passage_role == ["user", None, "assistant"]
    assert [view.sessions[n] for n in view.passage_session] == ["main", "two", "main"]
    assert [view.speakers[n] for n in view.passage_speaker] == ["Ada", "Bot", "Ada"]
    assert view.posting_passage.tolist() == [0, 0, 2]
    assert view.posting_concept.tolist() == [0, 1, 1]
    assert view.posting_count.tolist() == [1, 1, 3]


def test_a_view_is_the_same_object_until_the_next_event() -> None:
    graph = graph_with("coffee")
    before = graph.view()
    assert graph.view() is before
    assert before.passages_with.tolist() == [1]
    graph.fold(turn_recorded(id="another"))
    assert graph.view() is not before
    assert before.passages_with.tolist() == [1], "what was read of it stays"
    with pytest.raises(StaleViewError):
        before.holding(np.array([0]))


@pytest.mark.source("E16")
def test_a_repeated_turn_changes_nothing_but_the_number_of_events() -> None:
    graph, once = graph_with("coffee tea"), graph_with("coffee tea")
    assert not graph.fold(turn_recorded(id="t0", text="another text", concepts="milk", at=NOON + DAY))
    assert graph.digest() == once.digest()
    assert (graph.events, once.events) == (2, 1)
    graph.events = 1
    assert graph.pack() == once.pack()


def test_where_a_passage_stands_among_the_events_is_packed_and_not_digested() -> None:
    one, other = Graph("ada"), folded(concepts_recalled(concepts="unheard-of", at=EARLIEST_MS))
    for graph in (one, other):
        graph.fold(turn_recorded())
    other.events = one.events
    assert one.digest() == other.digest()
    assert one.pack() != other.pack()
    assert [Graph.unpack(graph.pack()).passages.event.tolist() for graph in (one, other)] == [[0], [1]]


def test_whatever_a_view_shows_is_digested() -> None:
    changes: list[dict[str, object]] = [
        {"id": "another"},
        {"text": "another"},
        {"session": "another"},
        {"speaker": "another"},
        {"role": None},
        {"at": NOON + 1},
        {"question": True},
        {"tokens": 4},
        {"concepts": "coffee"},
        {"concepts": "tea coffee"},
        {"concepts": [concept("coffee", "Coffee"), "tea"]},
        {"concepts": [concept("coffee", weight=0.25), "tea"]},
        {"concepts": [concept("coffee", count=2), "tea"]},
        {"live": False},
    ]
    same = {"text": "text of t0"}
    graphs = [folded(turn_recorded(**{**same, **change})) for change in [{}, *changes]]
    assert len({graph.digest() for graph in graphs}) == len(graphs)
    assert Graph("ada").digest() != Graph("bob").digest()


def test_a_graph_knows_its_turns_and_their_texts() -> None:
    graph = folded(turn_recorded(id="a", text="I like tea."))
    assert graph.knows("a")
    assert not graph.knows("b")
    assert graph.passages.knows("a") == fingerprint("I like tea.")
    assert graph.passages.knows("a") != fingerprint("I like tea!")


def test_every_word_of_a_long_turn_leads_to_it_and_its_heaviest_are_said_together() -> None:
    """However many turns are counted at once."""
    turns = [
        turn_recorded(id=f"t{n}", concepts=" ".join(f"w{n}x{k}" for k in range(WINDOW_CONCEPTS + 6))) for n in range(10)
    ]
    at_once, one_by_one = folded(*turns), Graph("ada")
    for turn in turns:
        one_by_one.fold(turn)
        one_by_one.settle()
    assert at_once.digest() == one_by_one.digest()
    assert one_by_one.concepts.in_turns.tolist() == [1] * 10 * (WINDOW_CONCEPTS + 6)
    assert len(one_by_one.pairs["turn"]) == 10 * comb(WINDOW_CONCEPTS, 2)
    assert len(one_by_one.pairs["exchange"]) == comb(WINDOW_CONCEPTS, 2) * 10 + 9 * WINDOW_CONCEPTS**2
    assert "w0x0 w0x63" in pair_counts(one_by_one, "turn")
    assert "w0x0 w0x64" not in pair_counts(one_by_one, "exchange")


def test_turns_are_counted_by_settling_and_not_by_reading() -> None:
    graph = Graph("ada")
    graph.fold(turn_recorded(concepts="coffee tea"))
    for _ in range(2):
        assert (graph.concepts.ids, len(graph.concepts.in_turns), len(graph.pairs["turn"])) == (["coffee", "tea"], 0, 0)
    for _ in range(2):
        graph.settle()
        assert (graph.concepts.in_turns.tolist(), len(graph.pairs["turn"])) == ([1, 1], 1)
