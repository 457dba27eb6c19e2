"""What a partition's store still knows of one graph's past (state/store/pages.py): enough for times not long ago.

    rows     texts of turns │ every row ──────────────────── now        as in state/store/pages.py: b, m and s are
             0 ──────────── b ─────────── m ───── s                     snapshots, and what lies before b cannot be
    history  its base       │ its places ──────────────────             taken back any more; no `b`: every row is there

So the log, which holds all graphs of a partition, need not be read for it; what came after the store is read behind its
head.  The store is only read, and must not change meanwhile: one that is opened read-only does not.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from emgas.limits import EARLIEST_MS
from replay.as_of.history import Base, History
from state.graph.codec import turns_of
from state.graph.graph import Graph
from state.log_position import LogPosition
from state.sealing.keyring import NO_KEYS, Keyring, unlock
from state.store import keys
from state.store.keys import POSITION, StoredGraph
from state.store.store import Store


class StoreHistory(NamedTuple):
    """A history, and folds of its first places: how many places, and the packed graph; ascending."""

    history: History
    folds: list[tuple[int, bytes]]


def store_history(store: Store, graph_id: str, graph_keys: Keyring = NO_KEYS) -> StoreHistory | None:
    """Read what `store` knows of a graph; None if that is not enough to begin with: then the log has to be read.

    Raises StoreCorruptError, WrongLayoutError, UnreadableEventError.
    """
    head, count = store.get(POSITION), store.get(keys.count_key(graph_id))
    if head is None or count is None:
        return None
    rows = {keys.of_u64(key[-8:]): value for key, value in _events(store, graph_id)}
    try:
        base = _base(store, graph_id, rows)
        later = [rows[ordinal] for ordinal in range(base.events if base else 0, keys.of_u64(count))]
    except (ValueError, KeyError):  # another version packed it, or some of the rows are not here
        return None
    history = History.of_rows(graph_id, LogPosition.of_bytes(head), base, later, graph_keys)
    return StoreHistory(history, [] if history.takebacks else list(_folds(store, history, graph_keys)))


def _events(store: Store, graph_id: str) -> list[tuple[bytes, bytes]]:
    return list(store.scan(keys.event_prefix(graph_id), keys.event_prefix(graph_id)))


def _base(store: Store, graph_id: str, rows: Mapping[int, bytes]) -> Base | None:
    stored = store.get(keys.base_key(graph_id))
    if stored is None:
        return None
    packed = StoredGraph.of(stored).packed
    held = Graph.unpack(packed)
    if held.clock == EARLIEST_MS:
        raise ValueError("nothing had been said in it: that is for the log to tell")
    texts = {ordinal: rows[ordinal] for ordinal in held.passages.event}
    return Base(held.events, packed, held.clock, held.settings.grace, texts)


def _folds(store: Store, history: History, graph_keys: Keyring) -> Iterator[tuple[int, bytes]]:
    graph_id = history.graph
    for key in (keys.mark_key(graph_id), keys.snapshot_key(graph_id)):
        value = store.get(key)
        stored = StoredGraph.of(value) if value else None
        if stored and stored.events > history.first:
            with contextlib.suppress(ValueError):
                packed = unlock(stored.packed, graph_id, graph_keys)
                turns_of(packed)  # which another version may have packed
                yield stored.events - history.first, packed
