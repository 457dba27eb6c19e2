"""Graphs without a store: folded from events, and compared by all that recall may see."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from state.events.events import GraphEvent, decode
from state.graph.codec import LAYOUT
from state.graph.graph import Graph
from state.graph.tables import Window
from tests.support.logs import LogWriter


def folded(*events: GraphEvent) -> Graph:
    """Build the graph "ada" of these events, settled."""
    return refolded(events, Graph("ada"))


def refolded(events: Iterable[GraphEvent], graph: Graph) -> Graph:
    """Fold `events` into `graph` and settle it; return it."""
    for event in events:
        graph.fold(event)
    graph.settle()
    return graph


def events_of(log: LogWriter, graph: str) -> list[GraphEvent]:
    """List the events of one graph, accepted or not."""
    decoded = [decode(value) for _, value in log.records]
    return [event for event in decoded if isinstance(event, GraphEvent) and event.graph == graph]


def of_another_version(stored: bytes) -> bytes:
    """Change the layout that a packed graph, or a stored one, names."""
    changed = stored.replace(b'"layout":%d' % LAYOUT, b'"layout":%d' % (LAYOUT + 1))
    assert changed != stored
    return changed


def assert_same_view(one: Graph, other: Graph) -> None:
    """Assert that all that recall may see is equal, labels and neighbours included."""
    left, right = one.view(), other.view()
    for name in left.__dataclass_fields__:
        if name not in ("windows", "embeddings"):
            assert np.array_equal(getattr(left, name), getattr(right, name)), name
    assert left.embeddings.keys() == right.embeddings.keys()
    for model, (passages, vectors) in left.embeddings.items():
        assert passages.tolist() == right.embeddings[model].passage.tolist()
        assert vectors.tobytes() == right.embeddings[model].vector.tobytes()
    everything = np.arange(len(left.ids))
    for window in left.windows:
        here, there = left.windows[window], right.windows[window]
        assert (here.total, here.fan.tolist()) == (there.total, there.fan.tolist())
        edges = zip(here.pairs.neighbours(everything), there.pairs.neighbours(everything), strict=True)
        assert all(np.array_equal(column, other_column) for column, other_column in edges)


def pair_counts(graph: Graph, window: Window) -> dict[str, int]:
    """Count {"coffee tea": 2, …}, in the order of concept numbers, without what was forgotten."""
    graph.compact()
    keys, counts = graph.pairs[window].canonical()
    ids = graph.concepts.ids
    return {f"{ids[key >> 32]} {ids[key & 0xFFFFFFFF]}": int(n) for key, n in zip(keys, counts, strict=True)}
