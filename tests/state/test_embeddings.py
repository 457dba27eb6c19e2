"""Vectors of turns in a graph: what they change, when they leave, and what no model is needed for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.events.events import decode, encode
from state.events.vectors import packed
from state.graph.graph import Graph
from state.graph.tables.embedding_table import EmbeddingTable, Model
from tests.support.builders import folded, forgotten, turn_embedded, turn_recorded
from tests.support.graphs import assert_same_view
from tests.support.logs import LogWriter, events_of
from tests.support.strategies import Step, steps_taken_back, written

M1 = Model("m 1", 2)


def rows(graph: Graph, model: Model = M1) -> dict[str, list[float]]:
    """Return turn id → vector."""
    result = graph.view().embeddings[model]
    return {graph.passages.ids[passage]: result.vector[row].tolist() for row, passage in enumerate(result.passage)}


def test_the_record_holds_the_numbers_as_float16() -> None:
    value = encode(turn_embedded(vector=[1.0, -0.5], model="tiny 3a"))
    assert value.endswith(b'"kind":"TurnEmbedded","id":"t0","at":1683547200000,"model":"tiny 3a","vector":"ADwAuA=="}')
    assert decode(value) == turn_embedded(vector=[1.0, -0.5], model="tiny 3a")


@pytest.mark.parametrize(
    "vector", [b"", b"\x00", b"\x00\x3c\x00", np.array([np.nan], "<f2").tobytes(), np.array([np.inf], "<f2").tobytes()]
)
def test_bytes_that_are_no_vector_can_be_neither_written_nor_read(vector: bytes) -> None:
    with pytest.raises(ValueError, match="vector"):
        encode(turn_embedded(vector=vector))


def test_a_vector_is_as_long_as_the_limit_at_most() -> None:
    encode(turn_embedded(vector=[0.5] * 4096))
    with pytest.raises(ValueError, match="unreadable"):
        encode(turn_embedded(vector=[0.5] * 4097))


def test_numbers_beyond_float16_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        packed([70_000.0])


def test_a_vector_belongs_to_a_turn_that_is_here_and_the_first_one_stays() -> None:
    graph = folded(turn_recorded(id="t0"), turn_recorded(id="t1"))
    assert [
        graph.fold(turn_embedded(id="t1", vector=[0.0, 1.0])),
        graph.fold(turn_embedded(id="t0")),
        graph.fold(turn_embedded(id="t0", vector=[0.5, 0.5])),
        graph.fold(turn_embedded(id="stranger")),
    ] == [True, True, False, False]
    assert rows(graph) == {"t0": [1, 0], "t1": [0, 1]}
    assert graph.view().embeddings[M1].passage.tolist() == [0, 1], "ascending, in whatever order they came"


def test_each_model_has_rows_of_its_own_and_so_has_each_length() -> None:
    graph = folded(turn_recorded(id="t0"), turn_embedded(), turn_embedded(model="m 2"), turn_embedded(vector=[0.5]))
    assert set(graph.view().embeddings) == {M1, Model("m 2", 2), Model("m 1", 1)}


def test_a_view_keeps_what_it_saw_while_rows_are_added() -> None:
    graph = folded(*(event for n in range(15) for event in (turn_recorded(id=f"t{n}"), turn_embedded(id=f"t{n}"))))
    before = graph.view().embeddings[M1]
    for n in range(15, 40):
        graph.fold(turn_recorded(id=f"t{n}"))
        graph.fold(turn_embedded(id=f"t{n}", vector=[0.0, 1.0]))
    assert before.passage.tolist() == list(range(15))
    assert before.vector.tolist() == [[1, 0]] * 15
    assert len(rows(graph)) == 40


@pytest.mark.parametrize("looks", [False, True])
def test_a_vector_leaves_with_its_turn_and_the_others_follow_their_turns(looks: bool) -> None:
    graph = Graph("ada")
    for number in range(4):
        graph.fold(turn_recorded(id=f"t{number}"))
        graph.fold(turn_embedded(id=f"t{number}", vector=[number / 4, 0.0]))
    graph.fold(forgotten(turns="t0 t2"))
    if looks:
        graph.view()
    graph.fold(turn_recorded(id="t9"))
    graph.fold(turn_embedded(id="t9"))
    assert rows(graph) == {"t1": [0.25, 0], "t3": [0.75, 0], "t9": [1, 0]}


def test_a_graph_whose_vectors_all_left_is_one_that_never_had_any() -> None:
    events = [turn_recorded(id="t0"), turn_recorded(id="t1"), forgotten(turns="t0")]
    assert folded(events[0], turn_embedded(), *events[1:]).digest() == folded(*events).digest()


def test_vectors_are_content_and_survive_packing() -> None:
    events = turn_recorded(id="t0"), turn_recorded(id="t1")
    without, graph = folded(*events), folded(*events, turn_embedded(id="t1"), turn_embedded(model="m 2"))
    assert graph.digest() != without.digest()
    again = Graph.unpack(graph.pack())
    assert (again.digest(), again.pack()) == (graph.digest(), graph.pack())
    assert_same_view(again, graph)


def test_a_vector_whose_turn_was_taken_back_waits_until_that_is_taken_back() -> None:
    log = LogWriter()
    log.turn()
    log.embed()
    log.undo(first=0)
    (blank,) = log.folded().graphs()
    assert not blank.view().embeddings
    log.undo(first=2)
    (graph,) = log.folded().graphs()
    assert rows(graph) == {"t0": [1, 0]}


@given(steps_taken_back(), st.lists(st.integers(0, 60), max_size=4))
def test_whatever_happens_rows_name_kept_turns_and_any_split_gives_the_same(
    happened: list[Step], cuts: list[int]
) -> None:
    log = written(happened)
    for graph in log.folded().graphs():
        for passage, vector in graph.view().embeddings.values():
            assert len(passage) == len(vector) > 0
            assert all(one < other for one, other in pairwise(passage.tolist()))
            assert passage[-1] < len(graph.passages)
    events = [event for event in events_of(log, "ada") if type(event).__name__ != "Retracted"]
    split: Any = Graph("ada")
    for place, event in enumerate(events):
        split = Graph.unpack(split.pack()) if place in cuts else split
        split.fold(event)
    assert split.pack() == folded(*events).pack()


def test_a_table_gives_back_what_it_described() -> None:
    table = EmbeddingTable()
    table.add(3, "m 1", packed([0.5, -0.0]))
    table.add(1, "m 1", packed([6e-8, 65504.0]))  # the smallest and the largest that float16 has
    again = EmbeddingTable.of(table.values(), table.arrays())
    assert again.values() == table.values() == [["m 1", 2]]
    assert {name: column.tobytes() for name, column in again.arrays().items()} == {
        name: column.tobytes() for name, column in table.arrays().items()
    }
