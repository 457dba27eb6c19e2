"""Links from recall and from themes, on graphs folded from events."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from processors.extraction.extractor import Extraction
from processors.recall.ranking.activation import DEFAULT
from processors.recall.ranking.links import T_MIN, recall_links, relation_links, theme_links
from processors.recall.retrieval.recall import RecallOptions, activate, recall
from state.events.advice import EdgesRated, Rated
from state.events.events import TopicChange
from state.events.extraction_types import Concept, Relation
from state.graph.graph import Graph
from tests.support.builders import UNLINKED, concepts_recalled, graph_of, turn_recorded
from tests.support.clocks import DAY, NOON


def weights(graph: Graph, name: str, strength: float) -> dict[str, float]:
    view = graph.view()
    edges = recall_links(view, np.array([view.numbers[name]]), strength)
    return {view.ids[target]: weight for target, weight in zip(edges.target, edges.weight, strict=True)}


@pytest.mark.source("S9")
def test_concepts_recalled_together_are_linked_and_others_are_not() -> None:
    graph = graph_of("tea", "milk", "rain")
    graph.fold(concepts_recalled(concepts="tea milk", at=NOON + DAY))
    assert weights(graph, "tea", 1.0) == {"milk": 0.5}
    assert weights(graph, "rain", 1.0) == {}


@pytest.mark.source("S18")
def test_recalls_close_together_link_more_strongly_than_the_same_number_far_apart() -> None:
    """Check f = n / max(T, T_min): two recalls within a day give x = 2, two over ten days x = 0.2."""
    near, far = graph_of("tea", "milk"), graph_of("tea", "milk")
    for graph, gap in ((near, T_MIN // 2), (far, 10 * T_MIN)):
        for at in (NOON + DAY, NOON + DAY + gap):
            graph.fold(concepts_recalled(concepts="tea milk", at=at))
    assert weights(near, "tea", 1.0)["milk"] == pytest.approx(2 / 3)
    assert weights(far, "tea", 1.0)["milk"] == pytest.approx(0.2 / 1.2)


def themed() -> Graph:
    graph = graph_of("tea", "milk", "sugar", "rain")
    theme = TopicChange(id="topic-0", change="born", label="tea", concepts=["tea", "milk", "sugar"])
    graph.themes.apply(theme, [graph.concepts.numbers[name] for name in theme.concepts], NOON)
    return graph


@pytest.mark.source("E5")
def test_a_theme_passes_on_the_same_energy_in_all_however_large_it_is() -> None:
    view = themed().view()
    edges = theme_links(view, np.array([view.numbers["tea"], view.numbers["rain"]]), 0.6)
    assert [view.ids[target] for target in edges.target] == ["milk", "sugar"]
    assert edges.weight.tolist() == [0.3, 0.3]


def test_themes_take_part_in_spreading_only_when_they_are_asked_to() -> None:
    view, question = themed().view(), Extraction((Concept("tea", "tea", 1.0, 1),), True, 1)
    silent = recall(view, question, "tea?", RecallOptions(spreading=DEFAULT))
    spread = recall(view, question, "tea?", RecallOptions(spreading=replace(DEFAULT, topic_links=0.6)))
    assert [woken.id for woken in silent.concepts] == ["tea"]
    assert [woken.id for woken in spread.concepts] == ["tea", "milk", "sugar"]
    assert spread.concepts[1].path == ["tea", "milk"]


@pytest.mark.source("E37")
def test_what_turns_say_of_two_concepts_links_them_by_the_weight_of_its_type() -> None:
    graph = Graph("ada")
    says = [Relation("stress", "cause", "headache", 0, 1), Relation("ada", "lives-in", "new york", 0, 1)]
    words = [*(Concept(name, name, 0.5, 1) for name in ("stress", "headache", "ada", "york"))]
    york = Concept("new york", "New York", 0.5, 1, "place")
    for number in range(3):
        graph.fold(turn_recorded(id=f"t{number}", concepts=[*words, york], relations=says))
    view = graph.view()
    number = {name: view.numbers[name] for name in ("stress", "headache", "ada", "york")}
    numbers = np.array(sorted(number.values()))
    edges = relation_links(view, numbers, {"cause": 2.0, "lives-in": 0.0})
    result = {(view.ids[s], view.ids[t]): w for s, t, w in zip(edges.source, edges.target, edges.weight, strict=True)}
    assert result == {("stress", "headache"): 1.5, ("headache", "stress"): 1.5}
    lives = relation_links(view, np.array([number["ada"]]), {"lives-in": 1.0})
    assert [view.ids[target] for target in lives.target] == ["york"]
    assert len(relation_links(view, numbers, {"has": 1.0}).source) == 0


@pytest.mark.source("E37")
def test_a_query_may_weigh_the_types_of_relations_and_without_weights_nothing_changes() -> None:
    graph = Graph("ada")
    for number, words in enumerate(("stress", "headache", "rain")):
        concepts = [Concept(words, words, 0.5, 1)]
        relations = [Relation("stress", "cause", "headache", 0, 1)] if words == "headache" else []
        graph.fold(turn_recorded(id=f"t{number}", session=f"s{number}", concepts=concepts, relations=relations))
    view, question = graph.view(), Extraction((Concept("stress", "stress", 1.0, 1),), question=True, tokens=1)
    plain = recall(view, question, "stress?", RecallOptions())
    weighed = recall(view, question, "stress?", RecallOptions(spreading=replace(DEFAULT, type_weights={"cause": 1.0})))
    assert "headache" not in {each.id for each in plain.concepts}
    assert "headache" in {each.id for each in weighed.concepts}


@pytest.mark.source("E40")
def test_spreading_follows_how_closely_an_advisor_says_that_concepts_belong_together() -> None:
    rated_links = [Rated("milk", "tea", 1.0), Rated("rain", "tea", 0.0), Rated("sugar", "tea", 0.5)]
    advice = EdgesRated(**UNLINKED, src=0, graph="ada", by="me 1", ratings=rated_links)
    texts = ("tea milk", "tea rain", "tea sugar", "tea cup", "moon")

    def energies(graph: Graph) -> dict[str, float]:
        view = graph.view()
        activation = activate(view, np.array([view.numbers["tea"]]), DEFAULT)
        return {name: float(activation.energy[view.numbers[name]]) for name in ("milk", "rain", "sugar", "cup")}

    plain, graph = graph_of(*texts), graph_of(*texts)
    graph.fold(advice)
    before, after = energies(plain), energies(graph)
    assert before["milk"] > 0
    assert after["milk"] == pytest.approx(1.5 * before["milk"])
    assert after["rain"] == pytest.approx(0.5 * before["rain"])
    assert (after["sugar"], after["cup"]) == (before["sugar"], before["cup"]), "neutral, and not rated"
