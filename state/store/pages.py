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
"""

from __future__ import annotations

import contextlib
from math import inf

from state.graph.codec import turns_of
from state.graph.graph import Graph
from state.store import store as layout
from state.store.store import Batch, Store


class GraphRows:
    """The rows of the graphs of one store, with the changes that wait in `batch`."""

    def __init__(self, store: Store) -> None:
        self.batch: Batch = {}
        self._store = store

    def get(self, key: bytes) -> bytes | None:
        """Return the value of `key`.  Raises StoreCorruptError."""
        return self.batch[key] if key in self.batch else self._store.get(key)

    def is_there(self, graph: str) -> bool:
        """Return whether anything is kept of a graph."""
        keys = layout.count_key(graph), layout.snapshot_key(graph), layout.event_key(graph, 0)
        return any(self.get(key) is not None for key in keys)

    def values(self, graph: str, first: int) -> list[bytes]:
        """Return the values of the graph's events from ordinal `first` on.  Raises StoreCorruptError."""
        values = [value for _, value in self._store.scan(layout.event_prefix(graph), layout.event_key(graph, first))]
        while (value := self.batch.get(layout.event_key(graph, first + len(values)))) is not None:
            values.append(value)
        return values

    def newest(self, graph: str, at_most: float = inf) -> Graph:
        """Return the graph of the newest snapshot that this version can read, one without events if there is none.

        at_most  how many events it may hold
        """
        for key in (layout.snapshot_key(graph), layout.mark_key(graph), layout.base_key(graph)):
            stored = self.get(key)
            if stored and layout.of_number(stored) <= at_most:
                with contextlib.suppress(ValueError):
                    return Graph.unpack(stored[8:])
        return Graph(graph)

    def drop_after(self, graph: str, ordinal: int) -> None:
        """Drop the snapshots that hold the event of this ordinal: it is being taken back.  `b` never does."""
        for key in (layout.snapshot_key(graph), layout.mark_key(graph)):
            stored = self.get(key)
            if stored and layout.of_number(stored) > ordinal:
                self.batch[key] = None

    def keep(self, graph: Graph) -> None:
        """Put a snapshot of the graph into the batch, and delete what nobody will read again."""
        self._move_on(graph)
        self.batch[layout.snapshot_key(graph.name)] = layout.number(graph.events) + graph.pack()

    def _move_on(self, graph: Graph) -> None:
        before, key = self._readable(layout.snapshot_key(graph.name)), layout.mark_key(graph.name)
        mark = self._readable(key) or before
        if mark is not None and layout.of_number(mark) <= graph.undoable_from:
            self._move_base(graph.name, mark)
            mark = before if before and layout.of_number(before) > layout.of_number(mark) else None
        if mark != self.get(key):
            self.batch[key] = mark

    def _readable(self, key: bytes) -> bytes | None:
        """Return a snapshot, None for one that this version cannot read: nothing may rest on it."""
        stored = self.get(key)
        if stored:
            with contextlib.suppress(ValueError):
                turns_of(stored[8:])
                return stored
        return None

    def _move_base(self, graph: str, base: bytes) -> None:
        key = layout.base_key(graph)
        before, kept = self.get(key), turns_of(base[8:])
        start, texts = (layout.of_number(before), turns_of(before[8:])) if before else (0, set[int]())
        gone = texts.union(range(start, layout.of_number(base))) - kept
        self.batch.update((layout.event_key(graph, ordinal), None) for ordinal in gone)
        self.batch[key] = base
