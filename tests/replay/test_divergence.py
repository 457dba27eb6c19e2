"""Where a live state left the log: which event, how sure that is, and what differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from emgas.wire import Record
from replay.verify.divergence import Divergence, diverging
from replay.verify.graph_differences import ValueDifference, concerns, content, differences
from state.events.events import TurnRecorded, decode, encode
from state.graph.graph import Graph
from state.partition import Partition
from state.store import keys
from state.store.store import MemoryStore
from tests.support.builders import turn_embedded, turn_recorded
from tests.support.fakes import ListReader
from tests.support.logs import LogWriter, golden_log, long_log
from tests.support.tables import stored_as, tree_of

LOG = long_log()


def events_of(graph: str) -> list[tuple[int, Any]]:
    """Return (offset, event) of a graph's events."""
    find_divergences = [(offset, decode(value)) for offset, value in LOG.records]
    return [(offset, event) for offset, event in find_divergences if getattr(event, "graph", "") == graph]


def live(change: Callable[[MemoryStore], None] = lambda _: None) -> MemoryStore:
    """Return a store that folded the log and flushed now and then, as a worker does, and was then changed."""
    store = MemoryStore()
    state = Partition(store)
    for count, (offset, value) in enumerate(LOG.records):
        state.fold(offset, value)
        if count % 20 == 0:
            state.flush()
    state.flush()
    change(store)
    return store


async def find_divergences(store: MemoryStore) -> list[Divergence]:
    reader = ListReader([[Record(offset, 0, None, value) for offset, value in LOG.records]])
    return await diverging(reader, 0, store)


async def test_a_state_that_is_the_fold_diverges_nowhere() -> None:
    assert await find_divergences(live()) == []


async def test_an_event_that_is_stored_otherwise_is_the_one() -> None:
    offset, turn = events_of("cyd")[-1]
    place = len(events_of("cyd")) - 1
    assert isinstance(turn, TurnRecorded)
    forged = structs.replace(turn, text="Another text.", concepts=turn.concepts[:1])
    (reported,) = await find_divergences(
        live(lambda store: store.write({keys.event_key("cyd", place): encode(forged)}))
    )
    assert (reported.graph, reported.offset, reported.exact) == ("cyd", offset, True)
    assert "stored otherwise" in reported.what
    assert "concepts" in reported.what
    assert "text" in reported.what


async def test_a_changed_table_is_narrowed_to_the_first_event_that_touches_what_differs() -> None:
    """A fold with a bug of its own: it took one concept for stronger than it is."""

    def stronger(store: MemoryStore) -> None:
        graph = tree_of(store, "ada").graph()
        assert graph
        graph.concepts.strength[graph.concepts.numbers["咖啡"]] += 0.5
        store.write(stored_as(graph, "ada"))

    (reported,) = await find_divergences(live(stronger))
    first = next(offset for offset, event in events_of("ada") if "咖啡" in str(event))
    assert (reported.graph, reported.offset, reported.exact) == ("ada", first, False)
    assert [(each.table, each.name, each.column) for each in reported.differences] == [("concept", "咖啡", "strength")]
    assert "concept 咖啡 strength: live " in reported.what


async def test_a_graph_that_cannot_be_loaded_is_told_as_it_is() -> None:
    def lose(store: MemoryStore) -> None:
        store.write({keys.event_key("cyd", len(events_of("cyd")) - 1): None})

    (reported,) = await find_divergences(live(lose))
    assert reported.graph == "cyd"
    assert "the store is damaged" in reported.what


async def test_events_that_the_log_does_not_have_are_told() -> None:
    log = long_log()
    log.turn(graph="bob", concepts="tea", id="only-live")
    store = MemoryStore()
    log.folded(store).flush()
    reader = ListReader([[Record(offset, 0, None, value) for offset, value in LOG.records]])
    (reported,) = await diverging(reader, 0, store)
    assert reported.graph == "bob"
    assert f"the log has {len(events_of('bob'))}" in reported.what


# what differs between two graphs


def golden() -> Graph:
    graph = golden_log().folded().graph("ada")
    assert graph is not None
    return graph


def test_equal_graphs_do_not_differ() -> None:
    assert differences(golden(), golden()) == []


def test_every_part_of_a_graph_is_compared() -> None:
    tables = {table for table, _, _ in content(golden())}
    assert tables == {"graph", "concept", "turn", "forgotten turn", "topic", "pair in turn", "pair in exchange"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda log: log.tick(at=2 * 10**12), [("graph", "", "clock")]),
        (lambda log: log.forget(turns="t7"), [("turn", "t7", "at"), ("turn", "t7", "speaker")]),
        (lambda log: log.turn(id="new", concepts="bread"), [("concept", "bread", "strength"), ("turn", "new", "at")]),
    ],
)
def test_a_difference_is_told_by_name(change: Callable[[LogWriter], Any], expected: list[tuple[str, str, str]]) -> None:
    log = golden_log()
    change(log)
    other = log.folded().graph("ada")
    assert other is not None
    reported = [(each.table, each.name, each.column) for each in differences(other, golden())]
    assert set(expected) <= set(reported)


def test_what_is_only_there_once_has_no_value_on_the_other_side() -> None:
    log = golden_log()
    log.turn(id="new", concepts="coffee bread")
    other = log.folded().graph("ada")
    assert other is not None
    pair = ValueDifference("pair in turn", "bread & coffee", "count", 1, None)
    assert pair in differences(other, golden())


def test_a_vector_that_differs_is_named_by_turn_and_model() -> None:
    ours, theirs = Graph("ada"), Graph("ada")
    for graph, vector in ((ours, [1.0, 0.0]), (theirs, [0.5, 0.5])):
        graph.fold(turn_recorded(id="t0"))
        graph.fold(turn_recorded(id="t1"))
        graph.fold(turn_embedded(id="t1", vector=vector))
    assert differences(ours, theirs) == [ValueDifference("turn", "t1", "vector by m 1", [1.0, 0.0], [0.5, 0.5])]
    assert concerns(turn_embedded(id="t1"), differences(ours, theirs))
    assert not concerns(turn_embedded(id="t0"), differences(ours, theirs))
