"""The rows of events and the tree of tables that a store keeps for each graph, seen through an unwritten batch.

When events are taken back, the graph is folded again from the end of a table before them (state/lsm/tree.py).  Rows
below the undo horizon are deleted, except those of turns that are still in the graph.

An encrypted graph keeps every row, sealed: erasing replaces the secret that locks its tables, and the graph is folded
again from the rows that still open.
"""

from __future__ import annotations

import contextlib
from math import inf

from state.graph.graph import Graph
from state.lsm.tree import Tree
from state.sealing.keyring import NO_KEYS, Keyring
from state.store import keys
from state.store.store import Batch, Store


class GraphPages:
    """The rows and trees of the graphs of one store, with the changes that wait in `batch`."""

    def __init__(self, store: Store, graph_keys: Keyring = NO_KEYS) -> None:
        self.batch: Batch = {}
        self._store = store
        self._graph_keys = graph_keys
        self._trees: dict[str, Tree] = {}

    def get(self, key: bytes) -> bytes | None:
        """Read the value of `key`, None without one.  Raises StoreCorruptError."""
        return self.batch[key] if key in self.batch else self._store.get(key)

    def put(self, key: bytes, value: bytes | None) -> None:
        """Add a value into the batch; None: delete it."""
        self.batch[key] = value

    def has(self, graph_id: str) -> bool:
        """Return whether anything is stored of a graph."""
        first_keys = keys.count_key(graph_id), keys.manifest_key(graph_id), keys.event_key(graph_id, 0)
        return any(self.get(key) is not None for key in first_keys)

    def count(self, graph_id: str) -> int:
        """Read how many events the graph had at the last flush."""
        stored = self.get(keys.count_key(graph_id))
        return keys.of_u64(stored) if stored else 0

    def turns(self, graph_id: str) -> int:
        """Read how many turns of the graph were counted at the last flush."""
        stored = self.get(keys.count_key(graph_id))
        return keys.turns_of(stored) if stored else 0

    def values(self, graph_id: str, first: int) -> list[bytes]:
        """Read the record values of the graph's events from ordinal `first` on.  Raises StoreCorruptError."""
        rows = self._store.scan(keys.event_prefix(graph_id), keys.event_key(graph_id, first))
        values = [value for _, value in rows]
        while (value := self.batch.get(keys.event_key(graph_id, first + len(values)))) is not None:
            values.append(value)
        return values

    def tree(self, graph_id: str) -> Tree:
        """Return the tree of a graph."""
        if graph_id not in self._trees:
            self._trees[graph_id] = Tree(graph_id, self, self._graph_keys)
        return self._trees[graph_id]

    def release(self, graph_id: str) -> None:
        """Drop what is kept in memory of a graph."""
        self._trees.pop(graph_id, None)

    def read_graph(self, graph_id: str, at_most: float = inf, *, lazy: bool = False) -> Graph:
        """Read the newest stored fold; return a graph without events if none is readable.

        at_most  how many events it may hold
        lazy     leave many pairs in the store (Tree.graph)
        """
        with contextlib.suppress(ValueError):  # another layout, or its key is destroyed
            graph = self.tree(graph_id).graph(at_most, lazy=lazy)
            if graph is not None:
                return graph
        return Graph(graph_id)

    def drop_after(self, graph_id: str, ordinal: int) -> None:
        """Drop the tables that hold the event of this ordinal, or later ones: it is being taken back."""
        with contextlib.suppress(ValueError):  # unreadable tables are never read: the next flush replaces them
            self.tree(graph_id).drop_after(ordinal)

    def drop_all(self, graph_id: str) -> None:
        """Drop the tables of a graph: they hold something that was erased."""
        self.tree(graph_id).drop_all()

    def compact_step(self, graph_id: str, most: float) -> bool:
        """Add a piece of due compaction of a graph into the batch; return whether more is due."""
        return graph_id in self._trees and self._trees[graph_id].compact_step(most)

    def flush(self, graph: Graph, *, closing: bool = False) -> None:
        """Add a new table of the graph's changes into the batch, and delete rows that are no longer needed."""
        graph_id = graph.graph_id
        removable = self.tree(graph_id).flush(graph, closing=closing)
        self.batch.update((keys.event_key(graph_id, ordinal), None) for ordinal in removable)
