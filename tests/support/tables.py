"""The stored tables of a graph, looked at and tampered with."""

from __future__ import annotations

import msgspec

from state.graph.graph import Graph
from state.lsm.graph_pages import GraphPages
from state.lsm.tree import Tree
from state.store import keys
from state.store.store import MemoryStore, Store


def tree_of(store: Store, name: str) -> Tree:
    """Return the tree of a graph."""
    return GraphPages(store).tree(name)


def ends_of(store: Store, name: str) -> list[int]:
    """List after how many events the tables of a graph end."""
    return tree_of(store, name).ends()


def of_another_version(store: Store, name: str, last: int | None = None) -> None:
    """Make tables of a graph of another layout: all of them, or the last ones."""
    prefix = keys.index_key(name, 0)[:-4]
    for key, value in list(store.scan(prefix, prefix))[-last if last else 0 :]:
        index = msgspec.msgpack.decode(value)
        store.write({key: msgspec.msgpack.encode(index | {"layout": index["layout"] + 1})})


def stored_as(graph: Graph, name: str) -> dict[bytes, bytes | None]:
    """Make the rows of a store whose tables hold this graph, whole, and nothing else."""
    pages = GraphPages(MemoryStore())
    graph.is_not_stored()
    pages.flush(graph)
    assert graph.graph_id == name
    return dict(pages.batch)
