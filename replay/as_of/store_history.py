"""The part of a graph's past that a partition's store still has (state/lsm/graph_pages.py): enough for recent times.

    rows     texts of turns │ every row ──────────────────── now        as in state/lsm/tree.py: what is before the
             0 ────────── horizon ──────── ends of tables               undo horizon cannot be taken back; without a
    history  its base       │ its places ──────────────────             horizon, every row is there

So the log, which holds all graphs of a partition, need not be read for it.  Records after the store's position are read
from the log.  The store is opened read-only, so it does not change meanwhile.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from emgas.limits import EARLIEST_MS
from replay.as_of.history import Base, History
from state.log_position import LogPosition
from state.lsm.graph_pages import GraphPages
from state.lsm.tree import Tree
from state.sealing.keyring import NO_KEYS, Keyring
from state.store import keys
from state.store.keys import POSITION
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
    tree = GraphPages(store, graph_keys).tree(graph_id)
    try:
        base = _base(tree, rows)
        later = [rows[ordinal] for ordinal in range(base.events if base else 0, keys.of_u64(count))]
    except (ValueError, KeyError):  # another version packed it, or some of the rows are not here
        return None
    history = History.of_rows(graph_id, LogPosition.of_bytes(head), base, later, graph_keys)
    return StoreHistory(history, [] if history.takebacks else list(_folds(tree, history.first)))


def _events(store: Store, graph_id: str) -> list[tuple[bytes, bytes]]:
    return list(store.scan(keys.event_prefix(graph_id), keys.event_prefix(graph_id)))


def _base(tree: Tree, rows: Mapping[int, bytes]) -> Base | None:
    if not tree.horizon:
        return None
    graph = tree.graph(tree.horizon)
    if graph is None or graph.events != tree.horizon:
        raise ValueError("the base is not there: that is for the log to tell")
    if graph.clock == EARLIEST_MS:
        raise ValueError("nothing had been said in it: that is for the log to tell")
    packed = graph.pack()
    texts = {ordinal: rows[ordinal] for ordinal in graph.passages.event}
    return Base(graph.events, packed, graph.clock, graph.settings.grace, texts)


def _folds(tree: Tree, first: int) -> Iterator[tuple[int, bytes]]:
    """Yield the folds at the ends of the newest table and of the middle one: little is left to fold from there."""
    with contextlib.suppress(ValueError):  # which another version may have written
        ends = [end for end in tree.ends() if end > first]
        for end in sorted({*ends[-1:], *ends[len(ends) // 2 :][:1]}):
            graph = tree.graph(end)
            if graph is not None:
                yield end - first, graph.pack()
