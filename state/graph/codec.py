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
from state.graph.tables.advice_table import AdviceTable
from state.graph.tables.concept_table import ConceptTable
from state.graph.tables.decay import NEVER
from state.graph.tables.embedding_table import EmbeddingTable
from state.graph.tables.habit_table import HabitTable
from state.graph.tables.passage_table import PassageTable
from state.graph.tables.people_table import PeopleTable
from state.graph.tables.relation_table import RelationTable
from state.graph.tables.session_table import SessionTable
from state.graph.tables.statement_table import StatementTable
from state.graph.tables.theme_table import ThemeTable

LAYOUT = (
    5  # of content and snapshots: raise it when anything below changes, or a column (state/graph/tables/columns.py)
)
PLAIN = ("clock", "recalled", "forgotten", "preset", "live", "fresh_turns", "last_turn_at", "enough_at")
NO_CONTENT = ("events", "undoable_from", "configured")
Content = tuple[dict[str, Any], dict[str, NDArray[Any]]]


def content(tables: GraphTables) -> Content:
    """Return what a compacted graph holds as JSON-able values, and arrays by name."""
    values = {
        "layout": LAYOUT,
        "name": tables.graph_id,
        **{name: getattr(tables, name) for name in PLAIN},
        "settings": tables.settings.model_dump(),
        "concepts": tables.concepts.values(),
        "passages": tables.passages.values(),
        "topics": tables.themes.values(),
        "embeddings": tables.embeddings.values(),
        **_added(tables),
    }
    arrays = {**tables.concepts.arrays(), **tables.passages.arrays()}
    for window, pairs in tables.pairs.items():
        arrays[f"{window}_keys"], arrays[f"{window}_counts"] = pairs.canonical()
    relation_arrays = (
        tables.relations.arrays() if len(tables.relations) else {}
    )  # a graph without any has no trace of it
    return values, arrays | tables.embeddings.arrays() | relation_arrays


def _added(tables: GraphTables) -> dict[str, Any]:
    """Return what older graphs lack: left out while there is none, so that a graph without it has the digest it had."""
    added = {name: getattr(tables, name).values() for name in ("sessions", "statements", "people", "habits", "advice")}
    added |= {"weights": tables.weights}
    added["asked"] = [tables.mode, tables.rerank] if (tables.mode, tables.rerank) != ("default", "") else []
    added["timezone"] = "" if tables.timezone == "UTC" else tables.timezone
    added["pace"] = [tables.pace, tables.active_before] if tables.active_before else []
    added |= {"unrecorded": tables.unrecorded, "uncounted": tables.uncounted, "access": tables.access}
    ended = {"ended_at": tables.ended_at} if tables.ended_at != NEVER else {}
    return {name: value for name, value in added.items() if value} | ended


def digest(tables: GraphTables) -> str:
    """Hash the content of a compacted graph: sha256, hex."""
    return hashlib.sha256(canonical_bytes.pack(*content(tables))).hexdigest()


def pack(tables: GraphTables) -> bytes:
    """Pack a compacted graph into bytes: a snapshot."""
    values, arrays = content(tables)
    values.update((name, getattr(tables, name)) for name in NO_CONTENT)
    return canonical_bytes.pack(values, {**arrays, "event": np.array(tables.passages.event)})


def unpack(packed: bytes) -> Content:
    """Take apart what `pack` made.  Raises ValueError for bytes of another layout."""
    values, arrays = canonical_bytes.unpack(packed)
    if values["layout"] != LAYOUT:
        raise ValueError(f"graph layout {values['layout']}, this version reads {LAYOUT}")
    return values, arrays


def fill(tables: GraphTables, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Fill new tables with what was packed."""
    for name in (*PLAIN, *NO_CONTENT):
        setattr(tables, name, values[name])
    tables.settings = MemorySettings(**values["settings"])
    tables.concepts = ConceptTable.of(values["concepts"], arrays)
    tables.passages = PassageTable.of(values["passages"], arrays)
    tables.embeddings = EmbeddingTable.of(values["embeddings"], arrays)
    tables.themes = ThemeTable.of(values["topics"])
    tables.relations = RelationTable.of(arrays)
    tables.habits = HabitTable.of(values.get("habits", ()))
    tables.statements = StatementTable.of(values.get("statements", ()))
    tables.people = PeopleTable.of(values.get("people", ()))
    tables.sessions = SessionTable.of(values.get("sessions", []))
    tables.ended_at, tables.unrecorded = values.get("ended_at", NEVER), values.get("unrecorded", 0)
    tables.mode, tables.rerank = values.get("asked", ("default", ""))
    tables.timezone = values.get("timezone", "UTC")
    tables.pace, tables.active_before = values.get("pace", (0, 0))
    tables.access, tables.weights = values.get("access", {}), values.get("weights", {})
    tables.uncounted = values.get("uncounted", 0)
    tables.advice = AdviceTable.of(values.get("advice", {}))
    for window in tables.pairs:
        tables.pairs[window] = PairCounts.of_canonical(arrays[f"{window}_keys"], arrays[f"{window}_counts"])
