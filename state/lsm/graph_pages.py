"""What a store keeps of each graph: rows of its events, and its tables; seen through `batch`, which is not written yet.

Whatever is taken back, the graph can be folded again from the end of a segment before it (state/lsm/tree.py).  Rows
that nobody will read again are deleted: those below the base, but for the texts of turns that are there.

Of a graph that is encrypted every row is kept, sealed as it is, for its tables do not outlive an erasure: they are
locked under a secret that is replaced then, and the graph is folded again from the rows that still open.
"""

from __future__ import annotations

import contextlib
from math import inf

from state.graph.graph import Graph
from state.lsm.tree import Tables
from state.sealing.keyring import NO_KEYS, Keyring
from state.store import keys
from state.store.store import Batch, Store


class GraphPages:
    """The rows and tables of the graphs of one store, with the changes that wait in `batch`."""

    def __init__(self, store: Store, graph_keys: Keyring = NO_KEYS) -> None:
        self.batch: Batch = {}
        self._store = store
        self._graph_keys = graph_keys
        self._tables: dict[str, Tables] = {}

    def get(self, key: bytes) -> bytes | None:
        """Read the value of `key`, None without one.  Raises StoreCorruptError."""
        return self.batch[key] if key in self.batch else self._store.get(key)

    def put(self, key: bytes, value: bytes | None) -> None:
        """Put a value into the batch; None: delete it."""
        self.batch[key] = value

    def holds(self, graph_id: str) -> bool:
        """Say whether anything is kept of a graph."""
        found = keys.count_key(graph_id), keys.manifest_key(graph_id), keys.event_key(graph_id, 0)
        return any(self.get(key) is not None for key in found)

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

    def tables(self, graph_id: str) -> Tables:
        """Give the stored tables of a graph."""
        if graph_id not in self._tables:
            self._tables[graph_id] = Tables(graph_id, self, self._graph_keys)
        return self._tables[graph_id]

    def release(self, graph_id: str) -> None:
        """Let go of what is kept in memory of a graph."""
        self._tables.pop(graph_id, None)

    def newest(self, graph_id: str, at_most: float = inf, *, lazily: bool = False) -> Graph:
        """Build the newest fold that is stored; make a graph without events if there is none that can be read.

        at_most  how many events it may hold
        lazily   leave many pairs in the store (Tables.graph)
        """
        with contextlib.suppress(ValueError):  # another layout, or its key is destroyed
            found = self.tables(graph_id).graph(at_most, lazily=lazily)
            if found is not None:
                return found
        return Graph(graph_id)

    def drop_after(self, graph_id: str, ordinal: int) -> None:
        """Drop what is stored of the event of this ordinal, and of those behind it: it is being taken back."""
        with contextlib.suppress(ValueError):  # nobody reads it: it will be written anew
            self.tables(graph_id).drop_after(ordinal)

    def drop_all(self, graph_id: str) -> None:
        """Drop the tables of a graph: something was erased that they hold."""
        self.tables(graph_id).drop_all()

    def tidy(self, graph_id: str, most: float) -> bool:
        """Put a piece of what is due to be merged of a graph's tables into the batch; tell whether more is due."""
        return graph_id in self._tables and self._tables[graph_id].tidy(most)

    def keep(self, graph: Graph, *, thoroughly: bool = False) -> None:
        """Put what the graph's tables lack into the batch, and delete what nobody will read again."""
        graph_id = graph.graph_id
        gone = self.tables(graph_id).store(graph, thoroughly=thoroughly)
        self.batch.update((keys.event_key(graph_id, ordinal), None) for ordinal in gone)
