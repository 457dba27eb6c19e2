"""A graph for other tools: what networkx holds is what the graph holds, and what it wrote it reads back."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest

from processors.association import edges_out
from replay.graph_export import WRITERS, to_networkx
from state.graph.graph import Graph
from tests.support.builders import concept
from tests.support.logs import LogWriter, golden_log, long_log

READERS: dict[str, Callable[[io.BytesIO], Any]] = {
    "graphml": nx.read_graphml,
    "gexf": nx.read_gexf,
    "json": lambda file: nx.node_link_graph(json.load(file), edges="edges"),
}


def graph_of(log: LogWriter, name: str = "ada") -> Graph:
    graph = log.folded().graph(name)
    assert graph is not None
    return graph


def read_back(made: Any, format: str) -> Any:
    file = io.BytesIO()
    WRITERS[format](made, file)
    file.seek(0)
    return READERS[format](file)


@pytest.mark.source("E36")
def test_concepts_are_nodes_with_what_the_graph_knows_of_them() -> None:
    graph = graph_of(golden_log())
    made, view = to_networkx(graph), graph.view()
    assert set(made) == set(view.ids)
    coffee, number = made.nodes["coffee"], view.numbers["coffee"]
    assert coffee == {
        "kind": "concept",
        "label": "coffee",
        "strength": graph.concepts.strength_of(number, graph.clock, graph.settings),
        "mentions": 4,
        "long_term": True,
        "mark": False,
        "created": int(view.created[number]),
        "accessed": int(view.accessed[number]),
        "topic": "coffee",
    }
    assert made.nodes["@day:2023-05-08"]["mark"]
    assert "牛奶" not in made, "it was forgotten"


def test_edges_carry_counts_and_the_weights_that_recall_uses() -> None:
    graph = graph_of(long_log())
    made, view = to_networkx(graph), graph.view()
    every = np.arange(len(view.ids))
    ppmi = edges_out(view.windows["turn"], every, "ppmi")
    fan = edges_out(view.windows["turn"], every, "fan")
    assert made.number_of_edges() == len(graph.pairs["turn"]) == len(ppmi.source) // 2
    for source, target, plain, fanned in zip(ppmi.source, ppmi.target, ppmi.weight, fan.weight, strict=True):
        edge = made.edges[view.ids[source], view.ids[target]]
        assert (edge["ppmi"], edge["weight"]) == (plain, fanned)
    together = [turn for turn in graph.passages.numbers.values() if holds(graph, turn, "coffee", "tea")]
    assert made.edges["coffee", "tea"]["count"] == len(together)


def holds(graph: Graph, turn: int, *names: str) -> bool:
    return {graph.concepts.numbers[name] for name in names} <= set(graph.passages.concepts_of(turn))


def test_passages_are_nodes_if_they_are_wanted() -> None:
    graph = graph_of(golden_log())
    plain, made = to_networkx(graph), to_networkx(graph, passages=True)
    turns = {f"turn:{turn}" for turn in graph.passages.numbers}
    assert set(made) - set(plain) == turns
    assert set(made["turn:t0"]) == {"coffee", "@day:2023-05-08"}, "tea has faded"
    assert made.edges["turn:t0", "coffee"] == {"kind": "holds", "count": 2}
    assert made.nodes["turn:t0"]["speaker"] == "Ada"


def test_an_empty_graph_is_one_too() -> None:
    for format in WRITERS:
        assert len(read_back(to_networkx(Graph("ada"), passages=True), format)) == 0


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("passages", [False, True])
def test_what_is_written_is_read_back(format: str, passages: bool) -> None:
    made = to_networkx(graph_of(golden_log()), passages=passages)
    there = read_back(made, format)
    assert set(there) == set(made)
    for name, attributes in made.nodes.items():
        result = {key: value for key, value in there.nodes[name].items() if key in attributes}
        assert result == attributes
    assert {frozenset(edge) for edge in there.edges} == {frozenset(edge) for edge in made.edges}
    for edge, attributes in made.edges.items():
        assert {key: there.edges[edge][key] for key in attributes} == attributes


@pytest.mark.parametrize("format", ["graphml", "gexf"])
def test_characters_that_xml_cannot_hold_do_not_make_a_file_that_nobody_can_read(format: str) -> None:
    log = LogWriter()
    log.turn(concepts=[concept("a\x08b", "a\x1b[31m\ufffe"), concept("<&\"'>", "]]>")])
    there = read_back(to_networkx(graph_of(log)), format)
    assert set(there) == {"a\ufffdb", "<&\"'>"}
    assert there.nodes["a\ufffdb"]["label"] == "a\ufffd[31m\ufffd"
