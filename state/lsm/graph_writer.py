"""Collects what changed in a graph since its last flush, as records (record_types.py); graph_reader.py reads them back.

The work grows with the changes, not with the graph; a graph that was never stored is collected as a whole.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from state.arrays import Integers, Mask
from state.events.vectors import packed
from state.graph.counting import pair_records
from state.graph.counting.pair_records import MOST_ROWS
from state.graph.graph import Graph
from state.graph.tables.columns import ColumnTable
from state.graph.tables.passage_table import PassageTable
from state.lsm import record_types
from state.lsm.record_types import CONCEPTS, GONE, MARKS, POSTINGS, RELATIONS, TURNS, GraphChanges, Name

_ENDS = ("session", "speaker")


def collect_changes(graph: Graph, *, with_fans: bool = False, complete: bool = False) -> GraphChanges:
    """Settle, and collect what is not stored yet; call `Graph.is_stored` once it is.

    with_fans  also count the fans of many pairs, so that opening the graph need not read its pairs
    complete   include all concepts, whether they changed or not
    """
    if not graph.stored_events:
        _begin(graph)
    if with_fans:
        graph.compact()
    graph.settle()
    concepts, fans = _concepts(graph, complete=complete), _fans(graph, count=with_fans)
    values = _values(graph) | {"fans": fans is not None}
    dead_rows, dead_events = graph.concepts.forgotten, graph.passages.removed
    changes = GraphChanges(graph.events, values, dead_rows=dead_rows, dead_events=dead_events, complete=complete)
    parts = {**concepts, **_turns(graph), **_pairs(graph), "vectors": _vectors(graph)}
    parts["fans"] = np.zeros(0, record_types.FANS) if fans is None else fans
    parts["faded"] = record_types.faded_records(graph.unstored_faded)
    changes.parts = {name: part for name, part in parts.items() if len(part)}
    return changes


def _begin(graph: Graph) -> None:
    """Prepare a graph that was never stored to be stored as a whole, without what was forgotten."""
    graph.compact()
    concepts, passages = graph.concepts, graph.passages
    concepts.rows = type(concepts.rows)("q", range(len(concepts)))
    concepts.born, concepts.stored, concepts.forgotten = len(concepts), 0, []
    concepts.changed = type(concepts.changed)("b", b"\x01" * len(concepts))
    passages.changed = type(passages.changed)("b", b"\x01" * len(passages))
    passages.removed, passages.newly_gone, passages.origins = [], list(passages.gone), {"sessions": {}, "speakers": {}}
    graph.unstored_faded = []  # their counts are not stored either


def _values(graph: Graph) -> dict[str, Any]:
    themes = graph.themes.values()
    rows = graph.concepts.rows
    for theme in themes["topics"]:
        theme[2] = [rows[number] for number in theme[2]]
    return {
        "name": graph.graph_id,
        **graph.values_to_store(),
        "sessions": _sessions(graph),
        "settings": graph.settings.model_dump(),
        "topics": themes,
        "born": graph.concepts.born,
    }


def _sessions(graph: Graph) -> list[list[Any]]:
    """List the ends of conversations; each comes before the event that is the next turn's, not before a number."""
    events, count = graph.passages.event, len(graph.passages)
    return [[*row[:3], events[row[3]] if row[3] < count else graph.events, *row[4:]] for row in graph.sessions.values()]


def _concepts(graph: Graph, *, complete: bool) -> dict[str, record_types.Part]:
    table = graph.concepts
    if table.born >= MOST_ROWS:
        raise ValueError(f"graph {graph.graph_id} has more concepts than can be stored: {MOST_ROWS}")
    alive = np.array(table.alive, np.bool_)
    numbers = np.flatnonzero(np.array(table.changed, np.bool_) & alive)
    collected = np.flatnonzero(alive) if complete else numbers
    records = np.zeros(len(collected), CONCEPTS)
    records["key"] = np.frombuffer(table.rows, np.int64)[collected] if len(collected) else 0
    _copy(table, collected, np.array(table.rows, np.int64), records)
    rows, listed = np.array(table.rows, np.int64)[numbers].tolist(), numbers.tolist()
    ids, phrases = table.ids, table.phrases
    return {
        "concepts": records,
        "names": {
            row: Name(ids[n], table.first_form(n), n in phrases)
            for row, n in zip(rows, listed, strict=True)
            if row >= table.stored
        },
        "forms": {row: forms for row, n in zip(rows, listed, strict=True) if (forms := table.other_forms(n))},
        "kinds": {row: kinds for row, n in zip(rows, listed, strict=True) if (kinds := table.kinds_of(n))},
    }


def _fans(graph: Graph, *, count: bool) -> NDArray[Any] | None:
    """Collect the fans that the store lacks; None where fans are not stored."""
    concepts, exchange = graph.concepts, graph.pairs["exchange"]
    has_dead_rows = len(concepts.numbers) < len(concepts)  # forgotten, and not removed yet
    if not (exchange.knows_fans or count) or not exchange.are_many or has_dead_rows:
        exchange.fans_are_stored = False
        return None
    changed = np.array(concepts.changed, np.bool_)
    numbers = np.flatnonzero(changed) if exchange.fans_are_stored else np.arange(len(concepts))
    records = np.zeros(len(numbers), record_types.FANS)
    records["key"] = np.frombuffer(concepts.rows, np.int64)[numbers] if len(numbers) else 0
    records["fan"] = exchange.fan(len(concepts))[numbers]
    exchange.fans_are_stored = True
    return records


def _copy(table: ColumnTable, numbers: Integers, keys: Integers, records: NDArray[Any]) -> None:
    """Copy the columns of some rows that records have, too; what points at rows of the table has their keys there."""
    for column in table.columns:
        if column.name in (records.dtype.names or ()) and len(numbers):
            values = np.frombuffer(getattr(table, column.name), column.code)[numbers]
            records[column.name] = np.append(keys, -1)[values] if column.points else values  # -1: the last, stays so


def _turns(graph: Graph) -> dict[str, record_types.Part]:
    table = graph.passages
    if not len(table):
        return {"gone": _gone(table)}
    events, kept = np.frombuffer(table.event, np.int64), np.frombuffer(table.kept, np.bool_)
    first = int(np.searchsorted(events, graph.stored_events))
    new = np.arange(first, len(table))[kept[first:]]
    records = np.zeros(len(new), TURNS)
    records["key"] = events[new]
    _copy(table, new, events, records)
    origins: dict[int, str] = {}
    for end in _ENDS:
        records[end] = _origins(table, end, records, origins)
    return {
        "turns": records,
        "origins": dict(sorted(origins.items())),
        "ids": {event: table.ids[n] for event, n in zip(records["key"].tolist(), new.tolist(), strict=True)},
        "postings": _postings(graph, new),
        "relations": _relations(graph, first),
        "statements": _statements(graph, new, records["key"]),
        "facts": _facts(graph, new, records["key"]),
        "marks": _marks(table, kept),
        "gone": _gone(table),
    }


def _origins(table: PassageTable, end: str, records: NDArray[Any], names_by_key: dict[int, str]) -> Integers:
    """Find the event under which each new turn's session or speaker is stored; note new names.

    An event names one session and one speaker: 2 n and 2 n + 1 are their keys.
    """
    names, stored_keys = list(getattr(table, f"{end}s")), table.origins[f"{end}s"]
    numbers, first, inverse = np.unique(records[end], return_index=True, return_inverse=True)
    keys = []
    for number, at in zip(numbers.tolist(), first.tolist(), strict=True):
        name = names[number]
        if name not in stored_keys:
            stored_keys[name] = key = 2 * int(records["key"][at]) + _ENDS.index(end)
            names_by_key[key] = name
        keys.append(stored_keys[name])
    return np.array(keys, np.int64)[inverse]


def _postings(graph: Graph, passages: Integers) -> NDArray[Any]:
    table = graph.passages
    starts, ends = table.bounds(passages)
    lengths = ends - starts
    at = np.repeat(ends - np.cumsum(lengths), lengths) + np.arange(int(lengths.sum()))
    records = np.zeros(len(at), POSTINGS)
    if len(at):
        records["key"] = np.repeat(np.frombuffer(table.event, np.int64)[passages], lengths)
        concepts = np.frombuffer(table.posting_concept, np.int32)[at]
        records["concept"] = np.frombuffer(graph.concepts.rows, np.int64)[concepts]
        records["count"] = np.frombuffer(table.posting_count, np.int32)[at]
    return records


def _relations(graph: Graph, first: int) -> NDArray[Any]:
    table, events = graph.relations, np.frombuffer(graph.passages.event, np.int64)
    start = bisect_left(table.relation_passage, first)
    records = np.zeros(len(table) - start, RELATIONS)
    if len(records):
        keys = {"concepts": np.frombuffer(graph.concepts.rows, np.int64), "turns": events}
        for each in table.columns:
            values = np.array(getattr(table, each.name)[start:])
            stored = keys[each.points][values] if each.points else values
            records["key" if each.points == "turns" else each.name] = stored
    return records


def _statements(graph: Graph, passages: Integers, events: Integers) -> record_types.Texts:
    """List [speaker, [slot, value, ends], …] of turns that state something, by event."""
    by_event = {}
    for passage, event in zip(passages.tolist(), events.tolist(), strict=True) if graph.statements else ():
        speaker, stated = graph.statements.of_turn(graph.passages.ids[passage])
        if stated:
            by_event[event] = [speaker, *([one.slot, one.value, one.ends] for one in stated)]
    return by_event


def _facts(graph: Graph, passages: Integers, events: Integers) -> record_types.Texts:
    """List [speaker, fact, …] of turns that say something of people, by event."""
    by_event = {}
    for passage, event in zip(passages.tolist(), events.tolist(), strict=True) if graph.people else ():
        speaker, facts = graph.people.of_turn(graph.passages.ids[passage])
        if facts:
            by_event[event] = [speaker, *(list(astuple(fact)) for fact in facts)]
    return by_event


def _marks(table: PassageTable, kept: Mask) -> NDArray[Any]:
    numbers = np.flatnonzero(np.frombuffer(table.changed, np.bool_) & kept)
    if not len(numbers):
        return np.zeros(0, MARKS)
    events = np.frombuffer(table.event, np.int64)
    records = np.zeros(len(numbers), MARKS)
    records["key"] = events[numbers]
    _copy(table, numbers, events, records)
    return records


def _gone(table: PassageTable) -> NDArray[Any]:
    records = np.zeros(len(new := sorted(set(table.newly_gone))), GONE)
    records["key"], records["fingerprint"] = new, [table.gone[turn] for turn in new]
    return records


def _pairs(graph: Graph) -> dict[str, record_types.Part]:
    rows = np.array(graph.concepts.rows, np.int64)

    def listed(window: Any) -> tuple[Integers, Integers]:
        keys, counts = graph.pairs[window].unstored()
        return rows[keys >> 32] << 32 | rows[keys & 0xFFFFFFFF], counts.astype(np.int64)

    exchanges, turns, recalls = listed("exchange"), listed("turn"), listed("recall")
    keys = np.concatenate((exchanges[0], turns[0]))
    none = np.zeros_like
    windows = np.concatenate((exchanges[1], none(turns[1]))), np.concatenate((none(exchanges[1]), turns[1]))
    return {
        "said": pair_records.both_ways(pair_records.encode(keys, *windows)),
        "recalled": pair_records.both_ways(pair_records.encode(*recalls, none(recalls[1]))),
    }


def _vectors(graph: Graph) -> record_types.Part:
    """List [model, vector] of turns that are still here, by event."""
    if graph.stored_events:
        return _by_event(graph.unstored_vectors)
    events = graph.passages.event
    listed = (
        (events[passage], model.name, packed(vector))
        for model, (passages, vectors) in graph.embeddings.embeddings().items()
        for passage, vector in zip(passages.tolist(), vectors, strict=True)
    )
    return _by_event(listed)


def _by_event(vectors: Iterable[tuple[int, str, bytes]]) -> record_types.Part:
    by_event: dict[int, list[tuple[str, bytes]]] = {}
    for event, model, vector in vectors:
        by_event.setdefault(event, []).append((model, vector))
    return dict(sorted(by_event.items()))
