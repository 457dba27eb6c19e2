"""What a store keeps of each graph, and what it may delete: rows of events, and up to three snapshots.

    events     0 ──────── b ──────────── m ───────────── s ────── now
               │ turns    │ every row    │ every row     │ every row
                 of b                 └─ undoable_from

    s   the newest snapshot: a graph is opened from it
    m   an older one, which becomes `b` as soon as nothing that it holds can be taken back any more
    b   the base: nothing that it holds can be taken back; no `b`: every row from 0 on is kept

Whatever is taken back, the graph can be folded again from a snapshot before it.  Rows below `b` are deleted but for the
texts of turns that `b` holds: none that `b` lacks can come back.  A snapshot never holds what was taken back: it is
dropped when that happens.  The store is seen through `batch`, which is not written yet.

Of a graph that is encrypted every row is kept, sealed as it is, for its snapshots do not outlive an erasure: they are
locked under a secret that is replaced then, and the graph is folded again from the rows that still open.
"""

from __future__ import annotations

import contextlib
from math import inf

from state.graph.codec import turns_of
from state.graph.graph import Graph
from state.sealing.keyring import NO_KEYS, Keyring, lock, unlock
from state.store import keys
from state.store.keys import StoredGraph
from state.store.store import Batch, Store


class GraphPages:
    """The rows and snapshots of the graphs of one store, with the changes that wait in `batch`."""

    def __init__(self, store: Store, graph_keys: Keyring = NO_KEYS) -> None:
        self.batch: Batch = {}
        self._store = store
        self._graph_keys = graph_keys

    def get(self, key: bytes) -> bytes | None:
        """Read the value of `key`, None without one.  Raises StoreCorruptError."""
        return self.batch[key] if key in self.batch else self._store.get(key)

    def holds(self, graph_id: str) -> bool:
        """Say whether anything is kept of a graph."""
        found = keys.count_key(graph_id), keys.snapshot_key(graph_id), keys.event_key(graph_id, 0)
        return any(self.get(key) is not None for key in found)

    def count(self, graph_id: str) -> int:
        """Read how many events the graph had at the last flush."""
        stored = self.get(keys.count_key(graph_id))
        return keys.of_u64(stored) if stored else 0

    def values(self, graph_id: str, first: int) -> list[bytes]:
        """Read the record values of the graph's events from ordinal `first` on.  Raises StoreCorruptError."""
        rows = self._store.scan(keys.event_prefix(graph_id), keys.event_key(graph_id, first))
        values = [value for _, value in rows]
        while (value := self.batch.get(keys.event_key(graph_id, first + len(values)))) is not None:
            values.append(value)
        return values

    def newest(self, graph_id: str, at_most: float = inf) -> Graph:
        """Unpack the newest snapshot that this version can read; make a graph without events if there is none.

        at_most  how many events it may hold
        """
        for key in (keys.snapshot_key(graph_id), keys.mark_key(graph_id), keys.base_key(graph_id)):
            stored = self._snapshot(key)
            if stored and stored.events <= at_most:
                with contextlib.suppress(ValueError):
                    return Graph.unpack(unlock(stored.packed, graph_id, self._graph_keys))
        return Graph(graph_id)

    def drop_after(self, graph_id: str, ordinal: int) -> None:
        """Drop the snapshots that hold the event of this ordinal: it is being taken back.  `b` never does."""
        for key in (keys.snapshot_key(graph_id), keys.mark_key(graph_id)):
            stored = self._snapshot(key)
            if stored and stored.events > ordinal:
                self.batch[key] = None

    def drop_all(self, graph_id: str) -> None:
        """Drop every snapshot of a graph: something was erased that they hold."""
        for key in (keys.snapshot_key(graph_id), keys.mark_key(graph_id), keys.base_key(graph_id)):
            if self.get(key) is not None:
                self.batch[key] = None

    def keep(self, graph: Graph) -> None:
        """Put a snapshot of the graph into the batch, and delete what nobody will read again."""
        self._move_mark(graph)
        packed = lock(graph.pack(), graph.graph_id, self._graph_keys)
        self.batch[keys.snapshot_key(graph.graph_id)] = StoredGraph(graph.events, packed).value()

    def _move_mark(self, graph: Graph) -> None:
        """Let the mark be the base once nothing in it can be taken back, and the snapshot before this one the mark."""
        name = graph.graph_id
        before, key = self._readable(keys.snapshot_key(name), name), keys.mark_key(name)
        mark = self._readable(key, name) or before
        if mark is not None and mark.events <= graph.undoable_from:
            if not self._graph_keys.of(name):
                self._move_base(name, mark)
            mark = before if before and before.events > mark.events else None
        if mark != self._snapshot(key):
            self.batch[key] = mark.value() if mark else None

    def _snapshot(self, key: bytes) -> StoredGraph | None:
        stored = self.get(key)
        return StoredGraph.of(stored) if stored else None

    def _readable(self, key: bytes, graph_id: str) -> StoredGraph | None:
        """Read a snapshot, None for one that this version cannot read: nothing may rest on it."""
        stored = self._snapshot(key)
        if stored:
            with contextlib.suppress(ValueError):
                turns_of(unlock(stored.packed, graph_id, self._graph_keys))
                return stored
        return None

    def _move_base(self, graph_id: str, base: StoredGraph) -> None:
        key = keys.base_key(graph_id)
        before, kept = self._snapshot(key), turns_of(base.packed)
        start, texts = (before.events, turns_of(before.packed)) if before else (0, set[int]())
        gone = texts.union(range(start, base.events)) - kept
        self.batch.update((keys.event_key(graph_id, ordinal), None) for ordinal in gone)
        self.batch[key] = base.value()
