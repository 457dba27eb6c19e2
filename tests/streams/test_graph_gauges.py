"""What a scrape tells of the graphs in memory: measured little by little, anew when they have grown, and summed up."""

from __future__ import annotations

import pytest

from state.graph.graph import Graph
from streams.worker.graph_gauges import AT_ONCE, MORE, GraphGauges
from tests.support.builders import folded, memory_archived, turn_recorded
from tests.support.clocks import NOON


def of_turns(name: str, count: int, gone: str = "") -> Graph:
    texts = [turn_recorded(id=f"t{n}", at=NOON + n, concepts="a b", tokens=5) for n in range(count)]
    graph = folded(*texts, *([memory_archived(at=NOON + count, turns=gone)] if gone else []))
    graph.graph_id = name
    return graph


def gauge_values(gauges: GraphGauges) -> dict[str, dict[int, float]]:
    return {name: values for name, _, values in gauges.values()}


@pytest.mark.source("P27", "P35")
def test_partitions_are_told_as_the_sum_or_the_mean_of_their_graphs() -> None:
    gauges = GraphGauges()
    gauges.look([(0, of_turns("ada", 4, "t0 t1 t2")), (0, of_turns("bob", 4)), (3, of_turns("eve", 2))])
    assert gauge_values(gauges)["active_turns"] == {0: 5, 3: 2}
    assert gauge_values(gauges)["archived_turns"] == {0: 3, 3: 0}
    assert gauge_values(gauges)["active_words_ratio"] == {0: 25 / 40, 3: 1.0}
    assert gauge_values(gauges)["mean_path_length"] == {0: 1.0, 3: 1.0}


def test_few_graphs_are_measured_at_a_scrape_and_the_others_at_the_next() -> None:
    graphs = [(0, of_turns(f"g{n}", 1)) for n in range(AT_ONCE + 2)]
    gauges = GraphGauges()
    assert gauge_values(gauges)["active_turns"] == {}
    gauges.look(graphs)
    assert gauge_values(gauges)["active_turns"] == {0: AT_ONCE}
    gauges.look(graphs)
    assert gauge_values(gauges)["active_turns"] == {0: AT_ONCE + 2}


def test_a_graph_that_grew_is_measured_anew_and_one_that_left_memory_is_told_no_more() -> None:
    gauges, ada = GraphGauges(), of_turns("ada", 1)
    gauges.look([(0, ada)])
    ada.fold(turn_recorded(id="one more", at=NOON))
    gauges.look([(0, ada)])
    assert gauge_values(gauges)["active_turns"] == {0: 1}, "one event is not worth another look"
    for number in range(MORE):
        ada.fold(turn_recorded(id=f"n{number}", at=NOON))
    gauges.look([(0, ada)])
    assert gauge_values(gauges)["active_turns"] == {0: 2 + MORE}
    gauges.look([])
    assert gauge_values(gauges)["active_turns"] == {}
