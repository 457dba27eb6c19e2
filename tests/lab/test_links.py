"""What consolidations link and keep, and what a recall strengthens besides: as the sources have it, off by default."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from emgas.times import DAY_MS as DAY
from emgas.times import HOUR_MS as HOUR
from lab.windows.links import frequencies, linked
from processors.lifecycle.consolidation.consolidation import batch, consolidated, fresh_passages
from processors.lifecycle.windows import due_events
from processors.recall.ranking.links import recall_links
from state.events.events import ConceptsRecalled, ConsolidationWindowClosed
from state.graph.graph import Graph
from streams.ingest.verbs.reinforce import recalled_events
from tests.support.builders import concepts_recalled, folded, graph_configured, refolded, turn_recorded
from tests.support.clocks import NOON
from tests.support.living import Life


def graph_of(*turns: dict[str, Any], **settings: Any) -> Graph:
    """Return a settled graph in which these turns were said, each in a session of its own."""
    events = [
        turn_recorded(**{"id": f"t{number}", "session": f"s{number}", "at": NOON + number * HOUR, **turn})
        for number, turn in enumerate(turns)
    ]
    return folded(graph_configured(**settings), *events)


# S18, S19


@pytest.mark.source("S18")
def test_frequency_is_recalls_over_the_time_from_the_first_to_the_last_of_them() -> None:
    graph = graph_of({"concepts": "coffee tea milk"}, frequent_linked=1)
    for day, words in ((0, "coffee tea"), (4, "coffee tea"), (8, "tea")):
        graph.fold(concepts_recalled(concepts=words, at=NOON + day * DAY))
    graph.fold(turn_recorded(id="late", concepts="coffee", at=NOON + 100 * DAY))
    graph.fold(concepts_recalled(concepts="milk", at=NOON + 100 * DAY))
    graph.settle()
    result = {graph.concepts.ids[number]: value for number, value in frequencies(graph).items()}
    assert result == {"coffee": 2 / 4, "tea": 3 / 8, "milk": 1.0}, (
        "to speak of it is no recall; one recall is one a day"
    )


@pytest.mark.source("S18")
def test_speaking_of_a_thing_does_not_weaken_its_links_of_recall() -> None:
    def strength(**settings: Any) -> float:
        graph = graph_of({"concepts": "coffee tea"}, **settings)
        for day in (0, 2):
            graph.fold(concepts_recalled(concepts="coffee tea", at=NOON + day * DAY))
        graph.fold(turn_recorded(id="late", concepts="coffee", at=NOON + 50 * DAY))
        view = graph.view()
        return float(recall_links(view, np.array([view.numbers["coffee"]]), 1.0).weight[0])

    assert strength(frequent_linked=1) == pytest.approx((2 / 2) / (1 + 2 / 2))
    assert strength() < strength(frequent_linked=1)


@pytest.mark.source("S19")
@pytest.mark.parametrize(
    ("often", "new"), [("spaghetti", "concrete mixer"), ("意大利面", "混凝土 搅拌机")], ids=["en", "zh"]
)
def test_what_is_often_in_mind_is_linked_with_what_is_new_however_little_the_two_have_to_do(
    often: str, new: str
) -> None:
    life = Life([graph_configured(frequent_linked=2, least_turns=1)])
    life.tell(turn_recorded(id="t0", concepts=f"{often} sauce", at=NOON))
    life.close_due(NOON + 2 * HOUR)
    for hour in range(3):
        life.tell(concepts_recalled(concepts=often, at=NOON + (3 + hour) * HOUR))
    life.tell(turn_recorded(id="t1", session="other", concepts=new, at=NOON + DAY))
    life.tick(NOON + DAY + 2 * HOUR)
    window = [event for event in life.events if isinstance(event, ConsolidationWindowClosed)][-1]
    assert sorted(window.links) == sorted(tuple(sorted((often, each))) for each in new.split())
    view = life.graph.view()
    edges = recall_links(view, np.array([view.numbers[often]]), 1.0)
    assert {view.ids[number] for number in edges.target.tolist()} == set(new.split())
    assert refolded(life.events, Graph("ada")).digest() == life.graph.digest()


# M25


@pytest.mark.source("M25")
def test_a_recall_strengthens_the_nearest_neighbours_by_half() -> None:
    turns = [{"concepts": f"coffee n{number}"} for number in range(7)]
    graph = graph_of(*turns, {"concepts": "other"}, recall_spread=0.5, recall_boost=0.4)
    events = recalled_events("ada", graph, concepts=["coffee"], turns=[], at=graph.clock)
    (event,) = events
    assert isinstance(event, ConceptsRecalled)
    assert event.related == [f"n{number}" for number in range(5)], "five, of equals the ones said first"
    before = {
        name: graph.concepts.strength_of(n, graph.clock, graph.settings) for name, n in graph.concepts.numbers.items()
    }
    graph.fold(event)
    after = {
        name: graph.concepts.strength_of(n, graph.clock, graph.settings) for name, n in graph.concepts.numbers.items()
    }
    gained = {name: round(after[name] - before[name], 9) for name in after}
    assert gained == {"coffee": 0.4, **{f"n{number}": 0.2 * (number < 5) for number in range(7)}, "other": 0.0}
    assert graph.concepts.recalls[graph.concepts.numbers["n0"]] == 0


@pytest.mark.source("M25")
def test_by_default_a_recall_strengthens_what_it_woke_alone() -> None:
    graph = graph_of({"concepts": "coffee tea"})
    (event,) = recalled_events("ada", graph, concepts=["coffee"], turns=[], at=graph.clock)
    assert isinstance(event, ConceptsRecalled)
    assert event.related == []


# M7


@pytest.mark.source("M7")
def test_of_two_that_say_the_same_the_one_whose_words_tell_more_stays() -> None:
    common = [{"concepts": "well so thing", "session": f"c{number}"} for number in range(20)]
    long = {"concepts": "coffee tea milk sugar honey well", "tokens": 30, "session": "s", "at": NOON}
    telling = {"concepts": "coffee tea milk sugar honey cardamom", "tokens": 6, "session": "s", "at": NOON + 1}

    def kept(**settings: Any) -> list[tuple[str, str]]:
        graph = graph_of(*common, long, telling, duplicate_above=0.6, **settings)
        return consolidated(graph, graph.clock).repeats

    assert kept() == [("t20", "t21")]
    assert kept(keep_information=1) == [("t21", "t20")]


# M26


@pytest.mark.source("M26")
def test_a_consolidation_compares_a_batch_of_what_matters_most() -> None:
    matter = [None, 0.9, 0.2, 0.7, None]
    graph = graph_of(*({"concepts": "tea", "importance": each} for each in matter), consolidate_batch=3)
    assert batch(graph, fresh_passages(graph)) == [0, 1, 3]
    graph.settings = graph.settings.model_copy(update={"consolidate_batch": 0})
    assert batch(graph, fresh_passages(graph)) == [0, 1, 2, 3, 4]


@pytest.mark.source("M26", "M5")
def test_new_turns_that_matter_are_linked_with_those_that_are_most_alike() -> None:
    words = "ferry island volcano"
    turns = [
        {"concepts": f"{words} ash"},
        {"concepts": "bread butter"},
        {"concepts": f"{words} herring", "importance": 0.8},
        {"concepts": f"{words} goat", "importance": 0.2},
    ]
    filler = [{"concepts": f"w{number} w{number + 1}"} for number in range(8)]
    graph = graph_of(*turns, *filler, link_candidates=1)
    near = graph.settings
    assert linked(graph, [2, 3]) == [("ash", "herring")], "the other does not matter enough"
    graph.settings = near.model_copy(update={"link_above": 1.0, "link_confidence": 1.0})
    assert linked(graph, [2]) == []
    graph.settings = near.model_copy(update={"link_candidates": 0})
    assert linked(graph, [2]) == []


def test_what_a_window_links_is_in_its_event_and_a_replay_links_it_once() -> None:
    life = Life([graph_configured(link_candidates=3, least_turns=1, frequent_linked=1)])
    for number in range(12):
        words = f"ferry island volcano x{number}" if number % 3 == 0 else f"w{number} w{number + 1}"
        life.tell(turn_recorded(id=f"t{number}", session=f"s{number}", concepts=words, at=NOON + number * HOUR))
    for event in due_events(life.graph, NOON + 2 * DAY):
        life.fold(event)
    assert any(isinstance(event, ConsolidationWindowClosed) and event.links for event in life.events)
    assert refolded(life.events, Graph("ada")).digest() == life.graph.digest()


def test_a_graph_that_asks_for_none_of_it_has_no_trace_of_it() -> None:
    graph = graph_of({"concepts": "coffee tea"}, {"concepts": "coffee tea"})
    graph.fold(concepts_recalled(concepts="coffee tea", at=NOON + DAY))
    event = consolidated(graph, graph.clock)
    assert event.links == []
    assert set(graph.concepts.last_recall) == {0}
