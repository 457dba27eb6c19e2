"""A graph as rows, as a database has them: concepts, links between them, themes; and what changed between two moments.

    concept  id → label, kind, turns, recalls, first and last time (ms), long-term, archived, pinned, theme
    link     two ids, the lesser first → in how many exchanges both were said
    theme    id → label, name, born (ms)

Counts and times alone: what is worth more or less as time goes on is worked out by the reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from state.graph.graph import Graph

Value = str | int | None
Key = tuple[str, ...]
Rows = Mapping[Key, tuple[Value, ...]]

KEYS: dict[str, tuple[str, ...]] = {"concepts": ("id",), "links": ("a", "b"), "themes": ("id",)}
COLUMNS: dict[str, dict[str, type]] = {  # beside the key
    "concepts": {
        "label": str,
        "kind": str,
        "turns": int,
        "recalls": int,
        "first_at": int,
        "last_at": int,
        "long_term": int,
        "archived": int,
        "pinned": int,
        "theme": str,
    },
    "links": {"together": int},
    "themes": {"label": str, "name": str, "born": int},
}


class Changes(NamedTuple):
    """The changes of one table of one graph: new or changed rows, and deleted keys."""

    graph: str
    table: str
    put: list[tuple[Value, ...]]
    gone: list[Key]


@dataclass(frozen=True)
class GraphRows:
    """The rows of a graph, by table and key."""

    concepts: Rows = field(default_factory=dict)
    links: Rows = field(default_factory=dict)
    themes: Rows = field(default_factory=dict)


def rows_of(graph: Graph | None) -> GraphRows:
    """Write a graph as rows; none for one that was never written to, or whose events were all taken back."""
    if graph is None or graph.is_blank:
        return GraphRows()
    graph.compact()
    table, ids = graph.concepts, graph.concepts.ids
    themes = [theme for theme in graph.themes.themes.values() if theme.members]
    theme_of = {member: theme.id for theme in themes for member in theme.members}
    concepts: dict[Key, tuple[Value, ...]] = {
        (ids[number],): (
            table.label(number),
            table.kind(number) or "",
            int(table.in_turns[number]),
            int(table.recalls[number]),
            int(table.created[number]),
            int(table.accessed[number]),
            int(table.long_term[number]),
            int(table.archived[number]),
            int(table.pinned[number]),
            theme_of.get(number),
        )
        for number in range(len(ids))
    }
    keys, counts = graph.pairs["exchange"].canonical()
    links: dict[Key, tuple[Value, ...]] = {}
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        one, other = sorted((ids[key >> 32], ids[key & 0xFFFFFFFF]))
        links[one, other] = (int(count),)
    named: dict[Key, tuple[Value, ...]] = {
        (theme.id,): (theme.label, theme.name or None, theme.born) for theme in themes
    }
    return GraphRows(concepts, links, named)


def changes(graph_id: str, before: GraphRows, after: GraphRows) -> list[Changes]:
    """List what changed in a graph, table by table; nothing of tables in which nothing did."""
    changed_rows = []
    for table in KEYS:
        old: Rows = getattr(before, table)
        new: Rows = getattr(after, table)
        put = [(*key, *values) for key, values in new.items() if old.get(key) != values]
        gone = [key for key in old if key not in new]
        if put or gone:
            changed_rows.append(Changes(graph_id, table, put, gone))
    return changed_rows
