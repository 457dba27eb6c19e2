"""A graph as plain values and arrays: what a digest is taken of, and what a snapshot stores (state/graph/canonical_bytes.py).

content      what the graph holds: equal for equal memories
a snapshot   has besides where the graph stands in its own events, and which of them hold its turns

A graph without vectors of its turns has the bytes that it had before there were any: with them, the layout has another
number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from state.events.memory_settings import MemorySettings
from state.graph.canonical_bytes import pack, unpack
from state.graph.concept_table import ConceptTable
from state.graph.cooccurrence import PairCounts
from state.graph.embedding_table import EmbeddingTable
from state.graph.passage_table import PassageTable
from state.graph.theme_table import ThemeTable

if TYPE_CHECKING:
    from state.graph.graph import Graph

LAYOUT = 4
EMBEDDED = 5  # the same, and vectors
_PLAIN = ("clock", "recalled", "forgotten", "preset", "live", "fresh_turns", "last_turn_at", "enough_at")
_NO_CONTENT = ("events", "undoable_from", "configured")
Content = tuple[dict[str, Any], dict[str, NDArray[Any]]]


def content(graph: Graph) -> Content:
    """Return what a graph that was just compacted holds."""
    arrays = {**graph.concepts.arrays(), **graph.passages.arrays()}
    for window, pairs in graph.pairs.items():
        arrays[f"{window}_keys"], arrays[f"{window}_counts"] = pairs.canonical()
    values = {
        "layout": LAYOUT,
        "name": graph.name,
        **{name: getattr(graph, name) for name in _PLAIN},
        "settings": graph.settings.model_dump(),
        "concepts": graph.concepts.values(),
        "passages": graph.passages.values(),
        "topics": graph.topics.values(),
    }
    if embeddings := graph.embeddings.values():
        values |= {"layout": EMBEDDED, "embeddings": embeddings}
        arrays |= graph.embeddings.arrays()
    return values, arrays


def packed(graph: Graph) -> bytes:
    """Return the bytes of a graph that was just compacted."""
    values, arrays = content(graph)
    values.update((name, getattr(graph, name)) for name in _NO_CONTENT)
    return pack(values, {**arrays, "event": np.array(graph.passages.event)})


def checked(stored: bytes) -> Content:
    """Return what `packed` put into bytes.  Raises ValueError for those of another layout."""
    values, arrays = unpack(stored)
    if values["layout"] not in (LAYOUT, EMBEDDED):
        raise ValueError(f"graph layout {values['layout']}, this version reads {LAYOUT} and {EMBEDDED}")
    return values, arrays


def turns_of(stored: bytes) -> set[int]:
    """Return the ordinals of the turns that a packed graph keeps.  Raises ValueError for bytes of another layout."""
    return set(checked(stored)[1]["event"].tolist())


def restore(graph: Graph, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Let a new graph hold what was packed."""
    for name in (*_PLAIN, *_NO_CONTENT):
        setattr(graph, name, values[name])
    graph.settings = MemorySettings(**values["settings"])
    graph.hold(ConceptTable.of(values["concepts"], arrays), PassageTable.of(values["passages"], arrays))
    graph.embeddings = EmbeddingTable.of(values.get("embeddings", []), arrays)
    graph.topics = ThemeTable.of(values["topics"])
    for window in graph.pairs:
        graph.pairs[window] = PairCounts.of_canonical(arrays[f"{window}_keys"], arrays[f"{window}_counts"])
