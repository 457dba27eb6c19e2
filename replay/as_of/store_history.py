"""What a partition's store still knows of one graph's past (state/lsm/graph_pages.py): enough for times not long ago.

    rows     texts of turns │ every row ──────────────────── now        as in state/lsm/tree.py: what lies before
             0 ──────────── base ──────── ends of segments              the base cannot be taken back any more; without
    history  its base       │ its places ──────────────────             one, every row is there

So the log, which holds all graphs of a partition, need not be read for it; what came after the store is read behind its
head.  The store is only read, and must not change meanwhile: one that is opened read-only does not.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from emgas.limits import EARLIEST_MS
from replay.as_of.history import Base, History
from state.log_position import LogPosition
from state.lsm.graph_pages import GraphPages
from state.lsm.tree import Tables
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
    tables = GraphPages(store, graph_keys).tables(graph_id)
    try:
        base = _base(tables, rows)
        later = [rows[ordinal] for ordinal in range(base.events if base else 0, keys.of_u64(count))]
    except (ValueError, KeyError):  # another version packed it, or some of the rows are not here
        return None
    history = History.of_rows(graph_id, LogPosition.of_bytes(head), base, later, graph_keys)
    return StoreHistory(history, [] if history.takebacks else list(_folds(tables, history.first)))


def _events(store: Store, graph_id: str) -> list[tuple[bytes, bytes]]:
    return list(store.scan(keys.event_prefix(graph_id), keys.event_prefix(graph_id)))


def _base(tables: Tables, rows: Mapping[int, bytes]) -> Base | None:
    if not tables.base:
        return None
    held = tables.graph(tables.base)
    if held is None or held.events != tables.base:
        raise ValueError("the base is not there: that is for the log to tell")
    if held.clock == EARLIEST_MS:
        raise ValueError("nothing had been said in it: that is for the log to tell")
    packed = held.pack()
    texts = {ordinal: rows[ordinal] for ordinal in held.passages.event}
    return Base(held.events, packed, held.clock, held.settings.grace, texts)


def _folds(tables: Tables, first: int) -> Iterator[tuple[int, bytes]]:
    """Fold to the ends of the newest segment, and of one half way: from there on little is left to be folded."""
    with contextlib.suppress(ValueError):  # which another version may have written
        ends = [end for end in tables.ends() if end > first]
        for end in sorted({*ends[-1:], *ends[len(ends) // 2 :][:1]}):
            graph = tables.graph(end)
            if graph is not None:
                yield end - first, graph.pack()
