"""Convert a graph's tables to plain values and arrays, for digests and snapshots.

content      what the graph holds: equal for equal memories
a snapshot   has besides where the graph stands in its own events, and which of them hold its turns

All of them are taken of compacted tables (Graph.compact): then nothing depends on when that was done.  Bytes:
state/graph/canonical_bytes.py.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from state.events.memory_settings import MemorySettings
from state.graph import canonical_bytes
from state.graph.counting.cooccurrence import PairCounts
from state.graph.graph_tables import GraphTables
from state.graph.tables.concept_table import ConceptTable
from state.graph.tables.embedding_table import EmbeddingTable
from state.graph.tables.passage_table import PassageTable
from state.graph.tables.people_table import PeopleTable
from state.graph.tables.relation_table import RelationTable
from state.graph.tables.session_table import SessionTable
from state.graph.tables.statement_table import StatementTable
from state.graph.tables.theme_table import ThemeTable

LAYOUT = (
    5  # of content and snapshots: raise it when anything below changes, or a column (state/graph/tables/columns.py)
)
ADDED = ("sessions", "statements", "people")  # tables that older graphs lack: left out while they are empty
Content = tuple[dict[str, Any], dict[str, NDArray[Any]]]


def content(tables: GraphTables) -> Content:
    """Return what a compacted graph holds as JSON-able values, and arrays by name."""
    values = {
        "layout": LAYOUT,
        "name": tables.graph_id,
        **tables.values_in_digest(),
        "settings": tables.settings.model_dump(),
        "concepts": tables.concepts.values(),
        "passages": tables.passages.values(),
        "topics": tables.themes.values(),
        "embeddings": tables.embeddings.values(),
        **{name: values for name in ADDED if (values := getattr(tables, name).values())},
    }
    arrays = {**tables.concepts.arrays(), **tables.passages.arrays()}
    for window, pairs in tables.pairs.items():
        arrays[f"{window}_keys"], arrays[f"{window}_counts"] = pairs.canonical()
    relation_arrays = (
        tables.relations.arrays() if len(tables.relations) else {}
    )  # a graph without any has no trace of it
    return values, arrays | tables.embeddings.arrays() | relation_arrays


def digest(tables: GraphTables) -> str:
    """Hash the content of a compacted graph: sha256, hex."""
    return hashlib.sha256(canonical_bytes.pack(*content(tables))).hexdigest()


def pack(tables: GraphTables) -> bytes:
    """Pack a compacted graph into bytes: a snapshot."""
    values, arrays = content(tables)
    return canonical_bytes.pack(
        values | tables.values_beside_digest(), {**arrays, "event": np.array(tables.passages.event)}
    )


def unpack(packed: bytes) -> Content:
    """Take apart what `pack` made.  Raises ValueError for bytes of another layout."""
    values, arrays = canonical_bytes.unpack(packed)
    if values["layout"] != LAYOUT:
        raise ValueError(f"graph layout {values['layout']}, this version reads {LAYOUT}")
    return values, arrays


def fill(tables: GraphTables, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Fill new tables with what was packed."""
    tables.read_values(values)
    tables.settings = MemorySettings(**values["settings"])
    tables.concepts = ConceptTable.of(values["concepts"], arrays)
    tables.passages = PassageTable.of(values["passages"], arrays)
    tables.embeddings = EmbeddingTable.of(values["embeddings"], arrays)
    tables.themes = ThemeTable.of(values["topics"])
    tables.relations = RelationTable.of(arrays)
    tables.statements = StatementTable.of(values.get("statements", ()))
    tables.people = PeopleTable.of(values.get("people", ()))
    tables.sessions = SessionTable.of(values.get("sessions", []))
    for window in tables.pairs:
        tables.pairs[window] = PairCounts.of_canonical(arrays[f"{window}_keys"], arrays[f"{window}_counts"])
