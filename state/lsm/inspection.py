"""A stored graph, inspected without opening it: how often two concepts were together, and its tables.

    a pair's count  =  the sum over all tables, a page or two of each  +  what the events after them add

Every flush writes both, so the count is exact as of the last flush, for two turns as for a million.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from state.graph.counting.pair_records import ROW_BITS
from state.graph.graph import Graph
from state.lsm.graph_pages import GraphPages
from state.lsm.record_types import SECTION
from state.lsm.table import pair_totals
from state.retraction import refolded
from state.sealing.keyring import NO_KEYS, Keyring
from state.store.store import Store


class PairCount(NamedTuple):
    """The number of windows in which two concepts were together.

    turns      turns that hold both           recalls   reinforcing questions that woke both
    exchanges  a turn and the one before it in its session
    """

    turns: int
    exchanges: int
    recalls: int

    def plus(self, other: PairCount) -> PairCount:
        """Add counts up."""
        return PairCount(*(one + more for one, more in zip(self, other, strict=True)))


class StoredTable(NamedTuple):
    """A table of a graph: up to which event, how often it was compacted, and its number of pages."""

    events: int
    level: int
    pages: int


class StoredGraph:
    """One graph of a store that does not change meanwhile.  Raises StoreCorruptError, KeysError, ValueError.

    events  how many it has, 0 if nothing was ever written to it;  stored: how many of them its tables hold
    """

    def __init__(self, store: Store, graph_id: str, graph_keys: Keyring = NO_KEYS) -> None:
        self._pages = GraphPages(store, graph_keys)
        self._tree = self._pages.tree(graph_id)
        self.events = self._pages.count(graph_id)
        self.stored = max(self._tree.ends(), default=0)
        self._later = self._fold_later(graph_id, graph_keys) if self.events > self.stored else None

    def _fold_later(self, graph_id: str, graph_keys: Keyring) -> Graph:
        """Build the graph with only those pairs that its tables lack."""
        graph = self._tree.graph(with_pairs=False) or Graph(graph_id)
        return refolded(graph, self._pages.values(graph_id, graph.events), graph_keys)

    def tables(self) -> list[StoredTable]:
        """List the tables, oldest first."""
        return [
            StoredTable(each.events, each.level, sum(count for _, count in each.pages)) for each in self._tree.tables
        ]

    def knows(self, concept: str) -> bool:
        """Return whether there is a concept of this id."""
        return concept in (self._later.concepts.numbers if self._later else self._tree.rows_of({concept}))

    def pair(self, one: str, other: str) -> PairCount:
        """Count how often two concepts, which it knows, were together."""
        if self._later is None:
            rows = self._tree.rows_of({one, other})
            return self._stored_pair(rows[one], rows[other])
        concepts = self._later.concepts
        numbers = concepts.numbers[one], concepts.numbers[other]
        ends = sorted(concepts.rows[number] for number in numbers)
        later = _pair_of(self._later, *numbers)
        was_cut = any((links[:2] == np.array(ends)[:, None]).all(axis=0).any() for links in self._later.unstored_faded)
        return later if was_cut else self._stored_pair(*ends).plus(later)

    def _stored_pair(self, one: int, other: int) -> PairCount:
        exchanges, turns = pair_totals(self._tree.tables, SECTION["said"], one, other)
        recalls, _ = pair_totals(self._tree.tables, SECTION["recalled"], one, other)
        faded = self._faded(min(one, other) << ROW_BITS | max(one, other))
        return PairCount(turns, exchanges, recalls).plus(PairCount(*(-count for count in faded)))

    def _faded(self, pair: int) -> PairCount:
        """Add up what was subtracted from a pair when its link was cut."""
        total = PairCount(0, 0, 0)
        for table in self._tree.tables:
            records = table.records(SECTION["faded"])
            for record in records[records["key"] == pair] if isinstance(records, np.ndarray) else ():
                total = total.plus(PairCount(*(int(record[name]) for name in PairCount._fields)))
        return total


def _pair_of(graph: Graph, one: int, other: int) -> PairCount:
    graph.settle()
    counted = []
    for window in (graph.pairs["turn"], graph.pairs["exchange"], graph.pairs["recall"]):
        _, neighbour, count = window.neighbours(np.array([one]))
        counted.append(int(count[neighbour == other].sum()))
    return PairCount(*counted)
