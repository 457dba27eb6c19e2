"""Values of a whole graph: what is declared is packed, stored and read back, and left out while it has its default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from state.graph import codec
from state.graph.graph import Graph
from state.graph.graph_tables import GraphTables
from state.graph.tables.advice_table import AdviceTable
from state.graph.tables.habit_table import HabitRow, HabitTable
from state.graph.tables.values import GraphValues, value
from state.lsm.graph_pages import GraphPages
from state.store.store import MemoryStore

HABIT = HabitRow("h1", 1, "Ada", "tea", ("tea",), ("t1",), 3, 3, 1, 3, 7, (8,), (1,), (), "")
OTHERS: dict[type, Callable[[Any], Any]] = {  # another value of the same kind
    bool: lambda had: not had,
    int: lambda had: 12 if had > 0 else had + 1,
    str: lambda had: f"{had}x",
    dict: lambda had: {**had, "ada": ["read"]},
    AdviceTable: lambda _: AdviceTable.of({"judged": [["t1", 40, ["tea"], "nouns 1"]]}),
    HabitTable: lambda _: HabitTable.of([{**vars(HABIT), "exceptions": [[1, 2, "t2"]]}]),
}
VALUES = [each for group in GraphTables.declared.values() for each in group]
CHANGEABLE = [each.name for each in VALUES if each.name != "events"]  # how many of them are stored says which are


def with_another(name: str) -> Graph:
    """Return an empty graph but for one value."""
    graph = Graph("ada")
    had = getattr(graph, name)
    setattr(graph, name, OTHERS[type(had)](had))
    return graph


def stored_and_read(graph: Graph) -> Graph:
    pages = GraphPages(MemoryStore())
    pages.flush(graph)
    again = pages.tree("ada").graph()
    assert again
    return again


@pytest.mark.parametrize("name", CHANGEABLE)
@pytest.mark.parametrize("reading", [lambda graph: Graph.unpack(graph.pack()), stored_and_read], ids=["pack", "store"])
def test_every_value_of_a_graph_is_kept_by_snapshots_and_stores(name: str, reading: Callable[[Graph], Graph]) -> None:
    graph = with_another(name)
    assert graph.values_to_store() != Graph("ada").values_to_store()
    assert reading(graph).values_to_store() == graph.values_to_store()


@pytest.mark.parametrize("each", VALUES, ids=lambda each: each.name)
def test_two_graphs_differ_in_every_value_but_where_they_stand_in_their_events(each: Any) -> None:
    graph = with_another(each.name)
    assert (graph.digest() != Graph("ada").digest()) == each.in_digest
    assert graph.pack() != Graph("ada").pack()


def test_what_the_first_version_did_not_have_is_left_out_while_it_has_its_default() -> None:
    later = {name for name, group in GraphTables.declared.items() if group[0].in_digest and not group[0].always}
    assert later >= {"weights", "asked", "timezone", "pace", "ended_at", "habits", "advice"}
    held, _ = codec.content(Graph("ada"))
    assert not later & held.keys()


# Declared for another class: how names and lists of them are packed


class Shop(GraphValues):
    opened: int = value(7, always=True)
    till: str = value("left", packed_in="place")
    shelf: str = value("up", packed_in="place")
    prices: dict[str, int] = value({})


class Market(Shop):
    stalls: int = value(0, in_digest=False)


def test_no_two_objects_share_a_default() -> None:
    Shop().prices["tea"] = 3
    assert Shop().prices == {}


def test_values_of_one_list_are_left_out_only_together() -> None:
    shop = Shop()
    assert shop.values_in_digest() == {"opened": 7}
    shop.shelf = "down"
    assert shop.values_in_digest() == {"opened": 7, "place": ["left", "down"]}


def test_a_class_has_the_values_of_the_class_that_it_extends() -> None:
    market = Market()
    market.stalls = 3
    assert market.values_in_digest() == {"opened": 7}
    assert market.values_beside_digest() == {"stalls": 3}
    assert market.values_to_store() == {"opened": 7, "place": ["left", "up"], "prices": {}, "stalls": 3}
    assert "stalls" not in Shop.declared


def test_what_was_left_out_is_read_as_its_default() -> None:
    shop = Shop()
    shop.read_values({"place": ["right", "down"]})
    assert (shop.opened, shop.till, shop.shelf, shop.prices) == (7, "right", "down", {})


def test_a_value_is_there_only_once_the_graph_is_made() -> None:
    with pytest.raises(AttributeError):
        _ = Shop.opened
