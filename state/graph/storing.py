"""A graph as records (state/graph/sections.py): what changed since it was stored, and a graph made of what was stored.

    changes(graph)     as much work as there are changes, however large the graph is; all of one that was never stored
    stored(values, …)  the graph that all changes so far describe

What was stored before may be one fold, many changes one behind the other, or changes that were brought together since:
the graph is the same, and so is its digest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from state.arrays import Integers, Mask
from state.events.extraction_types import Statement
from state.events.memory_settings import MemorySettings
from state.events.vectors import packed
from state.graph import sections
from state.graph.advice_table import AdviceTable
from state.graph.codec import NO_CONTENT, PLAIN
from state.graph.columns import Table
from state.graph.concept_table import ConceptTable
from state.graph.embedding_table import EmbeddingTable
from state.graph.graph import Graph
from state.graph.habit_table import HabitTable
from state.graph.passage_table import PassageTable
from state.graph.relation_table import RelationTable
from state.graph.section_pages import Columns, LateTexts, Reading
from state.graph.sections import CONCEPTS, GONE, MARKS, MOST_ROWS, POSTINGS, RELATIONS, TURNS, Changes, Name, Values
from state.graph.session_table import SessionTable
from state.graph.stored_pairs import Runs, StoredPairs
from state.graph.theme_table import ThemeTable

_ENDS = ("session", "speaker")
_POINTING = ("repeats", "superseded")  # at other turns
_MARKED = ("restored", "repeats", "superseded", "archived", "pinned", "feedback")


def changes(graph: Graph, *, thoroughly: bool = False, whole: bool = False) -> Changes:
    """Settle, and take what the graph's store does not know yet; `Graph.is_stored` is to be called once it does.

    thoroughly  count the fans of many pairs, too, though nobody has yet: so that they need not be read to open it
    whole       tell of all concepts, whether they have changed or not
    """
    if not graph.stored_events:
        _begin(graph)
    if thoroughly:
        graph.compact()
    graph.settle()
    concepts, fans = _concepts(graph, whole=whole), _fans(graph, thoroughly=thoroughly)
    values = _values(graph) | {"fans": fans is not None}
    dead_rows, dead_events = graph.concepts.forgotten, graph.passages.removed
    found = Changes(graph.events, values, dead_rows=dead_rows, dead_events=dead_events, whole=whole)
    parts = {**concepts, **_turns(graph), **_pairs(graph), "vectors": _vectors(graph)}
    parts["fans"] = np.zeros(0, sections.FANS) if fans is None else fans
    parts["faded"] = sections.faded_records(graph.unstored_faded)
    found.parts = {name: part for name, part in parts.items() if len(part)}
    return found


def _begin(graph: Graph) -> None:
    """Let a graph that was never stored be stored whole, without what was forgotten."""
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
        **{name: getattr(graph, name) for name in (*PLAIN, *NO_CONTENT)},
        "habits": graph.habits.values(),
        **({"advice": graph.advice.values()} if graph.advice else {}),
        "sessions": _sessions(graph),
        "ended_at": graph.ended_at,
        "unrecorded": graph.unrecorded,
        "uncounted": graph.uncounted,
        "access": graph.access,
        "weights": graph.weights,
        "asked": [graph.mode, graph.rerank],
        "pace": [graph.pace, graph.active_before],
        "settings": graph.settings.model_dump(),
        "topics": themes,
        "born": graph.concepts.born,
    }


def _sessions(graph: Graph) -> list[list[Any]]:
    """List the ends of conversations; each comes before the event that is the next turn's, not before a number."""
    events, here = graph.passages.event, len(graph.passages)
    return [[*row[:3], events[row[3]] if row[3] < here else graph.events, *row[4:]] for row in graph.sessions.values()]


def _concepts(graph: Graph, *, whole: bool) -> dict[str, sections.Part]:
    table = graph.concepts
    if table.born >= MOST_ROWS:
        raise ValueError(f"graph {graph.graph_id} has more concepts than can be stored: {MOST_ROWS}")
    alive = np.array(table.alive, np.bool_)
    numbers = np.flatnonzero(np.array(table.changed, np.bool_) & alive)
    told = np.flatnonzero(alive) if whole else numbers
    records = np.zeros(len(told), CONCEPTS)
    records["key"] = np.frombuffer(table.rows, np.int64)[told] if len(told) else 0
    _copy(table, told, records)
    rows, listed = np.array(table.rows, np.int64)[numbers].tolist(), numbers.tolist()
    return {
        "concepts": records,
        "names": {
            row: Name(table.ids[n], table.first_form(n), n in table.phrases)
            for row, n in zip(rows, listed, strict=True)
            if row >= table.stored
        },
        "forms": {row: forms for row, n in zip(rows, listed, strict=True) if (forms := table.other_forms(n))},
        "kinds": {row: kinds for row, n in zip(rows, listed, strict=True) if (kinds := table.kinds_of(n))},
    }


def _fans(graph: Graph, *, thoroughly: bool) -> NDArray[Any] | None:
    """List the fans that the store does not know; None where they are not to be told."""
    concepts, exchange = graph.concepts, graph.pairs["exchange"]
    knows = exchange.knows_fans or thoroughly
    if not knows or not exchange.are_many or len(concepts.numbers) < len(concepts):  # some have yet to go
        exchange.fans_are_stored = False
        return None
    changed = np.array(concepts.changed, np.bool_)
    numbers = np.flatnonzero(changed) if exchange.fans_are_stored else np.arange(len(concepts))
    records = np.zeros(len(numbers), sections.FANS)
    records["key"] = np.frombuffer(concepts.rows, np.int64)[numbers] if len(numbers) else 0
    records["fan"] = exchange.fan(len(concepts))[numbers]
    exchange.fans_are_stored = True
    return records


def _copy(table: Table, numbers: Integers, records: NDArray[Any]) -> None:
    """Copy the columns of a table that records have, too."""
    for column in table.columns:
        if column.name in (records.dtype.names or ()) and len(numbers):
            records[column.name] = np.frombuffer(getattr(table, column.name), column.code)[numbers]


def _turns(graph: Graph) -> dict[str, sections.Part]:
    table = graph.passages
    if not len(table):
        return {"gone": _gone(table)}
    events, kept = np.frombuffer(table.event, np.int64), np.frombuffer(table.kept, np.bool_)
    first = int(np.searchsorted(events, graph.stored_events))
    new = np.arange(first, len(table))[kept[first:]]
    records = np.zeros(len(new), TURNS)
    records["key"] = events[new]
    _copy(table, new, records)
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
        "marks": _marks(table, kept),
        "gone": _gone(table),
    }


def _origins(table: PassageTable, end: str, records: NDArray[Any], found: dict[int, str]) -> Integers:
    """Tell for each new turn under which event the name of its session or speaker is stored; note names that are new.

    An event names one session and one speaker: 2 n and 2 n + 1 are their keys.
    """
    names, known = list(getattr(table, f"{end}s")), table.origins[f"{end}s"]
    numbers, first, inverse = np.unique(records[end], return_index=True, return_inverse=True)
    keys = []
    for number, at in zip(numbers.tolist(), first.tolist(), strict=True):
        name = names[number]
        if name not in known:
            known[name] = key = 2 * int(records["key"][at]) + _ENDS.index(end)
            found[key] = name
        keys.append(known[name])
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
        new = {
            each.name.removeprefix("relation_"): np.array(getattr(table, each.name)[start:]) for each in table.columns
        }
        rows = np.frombuffer(graph.concepts.rows, np.int64)
        records["key"], records["source"], records["target"] = (
            events[new["passage"]],
            rows[new["source"]],
            rows[new["target"]],
        )
        for name in ("type", "start", "end"):
            records[name] = new[name]
    return records


def _statements(graph: Graph, passages: Integers, events: Integers) -> sections.Texts:
    """List [speaker, [slot, value, ends], …] of turns that state something, by event."""
    found = {}
    for passage, event in zip(passages.tolist(), events.tolist(), strict=True) if graph.statements else ():
        speaker, stated = graph.statements.of_turn(graph.passages.ids[passage])
        if stated:
            found[event] = [speaker, *([one.slot, one.value, one.ends] for one in stated)]
    return found


def _marks(table: PassageTable, kept: Mask) -> NDArray[Any]:
    numbers = np.flatnonzero(np.frombuffer(table.changed, np.bool_) & kept)
    if not len(numbers):
        return np.zeros(0, MARKS)
    events = np.frombuffer(table.event, np.int64)
    records = np.zeros(len(numbers), MARKS)
    records["key"] = events[numbers]
    _copy(table, numbers, records)
    for name in _POINTING:
        records[name] = np.append(events, -1)[records[name]]  # -1: the last, and stays so
    return records


def _gone(table: PassageTable) -> NDArray[Any]:
    records = np.zeros(len(new := sorted(set(table.newly_gone))), GONE)
    records["key"], records["fingerprint"] = new, [table.gone[turn] for turn in new]
    return records


def _pairs(graph: Graph) -> dict[str, sections.Part]:
    rows = np.array(graph.concepts.rows, np.int64)

    def listed(window: Any) -> tuple[Integers, Integers]:
        keys, counts = graph.pairs[window].unstored()
        return rows[keys >> 32] << 32 | rows[keys & 0xFFFFFFFF], counts.astype(np.int64)

    exchanges, turns, recalls = listed("exchange"), listed("turn"), listed("recall")
    keys = np.concatenate((exchanges[0], turns[0]))
    none = np.zeros_like
    windows = np.concatenate((exchanges[1], none(turns[1]))), np.concatenate((none(exchanges[1]), turns[1]))
    return {
        "said": sections.both_ways(sections.pair_records(keys, *windows)),
        "recalled": sections.both_ways(sections.pair_records(*recalls, none(recalls[1]))),
    }


def _vectors(graph: Graph) -> sections.Part:
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


def _by_event(vectors: Iterable[tuple[int, str, bytes]]) -> sections.Part:
    found: dict[int, list[tuple[str, bytes]]] = {}
    for event, model, vector in vectors:
        found.setdefault(event, []).append((model, vector))
    return dict(sorted(found.items()))


# Back again


def stored(
    events: int,
    values: Values,
    read: Reading,
    dead_rows: Collection[int],
    dead_events: Collection[int],
    *,
    said: Runs | None = None,
    lazily: bool = False,
) -> Graph:
    """Build the graph of `events` events that was stored.

    dead    rows and events of what was forgotten: their records may be there, or not
    said    the runs of that section, None to leave out what was together
    lazily  leave many pairs where they are: whoever stores the graph must not change them until all are loaded
    Raises ValueError for what another layout wrote.
    """
    graph = Graph(values["name"])
    for name in (*PLAIN, *NO_CONTENT):
        setattr(graph, name, values[name])
    graph.settings = MemorySettings(**values["settings"])
    graph.concepts, numbers = _stored_concepts(read, values["born"], _sorted(dead_rows))
    graph.passages = _stored_turns(read, numbers, _sorted(dead_events))
    if said is not None:
        _fill_pairs(graph, read, numbers)
    faded = read.columns("faded")
    if said is not None and said.records:
        knows_fans = values["fans"] and not _cut(faded).any()  # what was cut is in no fan, but in the records still
        _rest_on(graph, said, numbers, _stored_fans(read, numbers, len(graph.concepts)) if knows_fans else None)
        if not (lazily and knows_fans):
            graph.load_pairs()
    if len(faded):
        _take_faded(graph, faded, numbers)
    graph.embeddings = _stored_vectors(read, graph.passages)
    graph.themes = _stored_themes(values["topics"], numbers)
    graph.habits = HabitTable.of(values["habits"])
    graph.advice = AdviceTable.of(values.get("advice", {}))
    graph.ended_at, graph.unrecorded = values["ended_at"], values["unrecorded"]
    graph.mode, graph.rerank = values.get("asked", ("default", ""))
    graph.pace, graph.active_before = values.get("pace", (0, 0))
    graph.weights = values.get("weights", {})
    graph.access, graph.uncounted = values["access"], values["uncounted"]
    _fill_from_turns(graph, values, read, numbers)
    graph.begin_from_store(events)
    return graph


def _sorted(listed: Collection[int]) -> Integers:
    return np.array(sorted(listed), np.int64)


def _stored_concepts(read: Reading, born: int, dead: Integers) -> tuple[ConceptTable, Integers]:
    """Build the table of concepts; give besides the number of each row, -1 for those that were forgotten."""
    records = _records(read, "concepts", dead)
    rows = records["key"]
    listed: list[Name] = read.texts("names").of(rows)
    forms, kinds = read.texts("forms").by_key(), read.texts("kinds").by_key()
    numbers = np.full(born + 1, -1)
    numbers[rows] = np.arange(len(rows))
    others = ((int(numbers[row]), counts) for row, counts in forms.items())
    table = ConceptTable.of(
        {
            "ids": [name.id for name in listed],
            "first_form": [name.id if name.form is None else name.form for name in listed],
            "phrases": [number for number, name in enumerate(listed) if name.is_phrase],
            "kinds": [[int(numbers[row]), list(each.items())] for row, each in kinds.items() if numbers[row] >= 0],
            "forms": [[number, [("", 0), *counts.items()]] for number, counts in others if number >= 0],
        },
        {column.packed_as: records[column.name] for column in ConceptTable.columns},
    )
    table.rows = type(table.rows)("q", rows.tobytes())
    table.born = table.stored = born
    return table, numbers


def _records(read: Reading, name: str, dead: Integers) -> Columns:
    found = read.columns(name)
    return found.only(~np.isin(found["key"], dead)) if len(dead) else found


def _stored_turns(read: Reading, concepts: Integers, dead: Integers) -> PassageTable:
    records, marks, postings = (_records(read, name, dead) for name in ("turns", "marks", "postings"))
    events = records["key"]
    plain = (
        "at",
        "tokens",
        "role",
        "question",
        "importance",
        "fingerprint",
        "ahead",
        "modality",
        "uncounted",
        "anchored",
    )
    arrays = {name: records[name] for name in plain}
    arrays |= {"event": events, "kept": np.ones(len(events), np.int8)}
    values: dict[str, Any] = {"turns": LateTexts(read.texts("ids"), events)}
    origins, named = read.texts("origins").by_key(), dict[str, dict[str, int]]()
    for end in _ENDS:
        keys, arrays[end] = _in_order_seen(records[end])
        values[f"{end}s"] = names = [origins[key] for key in keys]
        named[f"{end}s"] = dict(zip(names, keys, strict=True))
    arrays |= _stored_marks(events, marks) | _stored_postings(events, postings, concepts)
    table = PassageTable.of(values, arrays)
    gone = read.columns("gone")
    table.gone = dict(zip(gone["key"].tolist(), gone["fingerprint"].tolist(), strict=True))
    table.origins = named
    return table


def _in_order_seen(keys: Integers) -> tuple[list[int], Integers]:
    """List keys in the order in which they come first, and give the place of each in that list."""
    highest = np.maximum.accumulate(keys)
    ascending = keys[np.append(True, highest[1:] != highest[:-1])[: len(keys)]]
    place = np.searchsorted(ascending, keys)
    if np.array_equal(ascending[place], keys):  # a name is stored under the turn that it came with: only if that went …
        return ascending.tolist(), place
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return distinct[order].tolist(), rank[inverse]


def _stored_marks(events: Integers, marks: Columns) -> dict[str, NDArray[Any]]:
    """Lay out the columns of what may change about turns, but for those of which all is blank."""
    if not len(marks):
        return {}
    at = np.searchsorted(events, marks["key"])
    found = {}
    for column in PassageTable.columns:
        if column.name in _MARKED:
            rows = np.frombuffer(column.blank * len(events), column.code).copy()
            values = marks[column.name]
            rows[at] = _numbers_of(events, values) if column.name in _POINTING else values
            found[column.packed_as] = rows
    return found


def _numbers_of(events: Integers, wanted: Integers) -> Integers:
    """Find the number of each event, -1 for one that is not here."""
    at = np.minimum(np.searchsorted(events, wanted), max(len(events) - 1, 0))
    return np.where(events[at] == wanted, at, -1) if len(events) else at


def _stored_postings(events: Integers, postings: Columns, concepts: Integers) -> dict[str, NDArray[Any]]:
    holding, begins = postings.runs()
    begins = np.append(begins, len(postings))
    starts = begins[:-1] if np.array_equal(holding, events) else begins[np.searchsorted(holding, events)]
    held, counts = concepts.astype(np.int32)[postings["concept"]], postings["count"]
    alive = held >= 0
    if not alive.all():
        starts, held, counts = np.append(0, np.cumsum(alive))[starts], held[alive], counts[alive]
    return {"starts": starts, "posting_concept": held, "posting_count": counts}


def _fill_pairs(graph: Graph, read: Reading, numbers: Integers) -> None:
    """Fill what was recalled together: it is little."""
    found = read.pairs("recalled")
    if len(found):
        recalls, _, pair = sections.totals(found)
        one, other = numbers[pair >> sections.ROW_BITS], numbers[pair & (1 << sections.ROW_BITS) - 1]
        here = (one >= 0) & (other >= 0)
        graph.pairs["recall"].take_stored((one << 32 | other)[here], recalls[here].astype(np.int32))


def _cut(faded: Columns) -> NDArray[np.bool_]:
    """Tell which records are of links that were cut; of the others, only what recalls linked was loosened."""
    return (faded["exchanges"] > 0) | (faded["turns"] > 0)


def _take_faded(graph: Graph, faded: Columns, numbers: Integers) -> None:
    """Take away what was counted of links before they were cut: the records of what was said together still have it."""
    one, other = numbers[faded["key"] >> sections.ROW_BITS], numbers[faded["key"] & (1 << sections.ROW_BITS) - 1]
    here = (one >= 0) & (other >= 0)
    keys = np.minimum(one, other)[here] << 32 | np.maximum(one, other)[here]
    cut = _cut(faded)[here]
    if cut.any():
        graph.pairs["exchange"].take_away(keys[cut], faded["exchanges"][here][cut])
        graph.pairs["turn"].take_away(keys[cut], faded["turns"][here][cut])
    graph.pairs["recall"].take_away(keys, faded["recalls"][here])


def _rest_on(graph: Graph, said: Runs, numbers: Integers, fans: Integers | None) -> None:
    turn, exchange = graph.pairs["turn"], graph.pairs["exchange"]
    rows = np.array(graph.concepts.rows, np.int64)
    there = StoredPairs(said, rows, numbers, {"exchange": exchange, "turn": turn})
    exchange.rest_on(there, "exchange", fans)
    turn.rest_on(there, "turn", None)


def _stored_fans(read: Reading, numbers: Integers, concepts: int) -> Integers:
    fans, records = np.zeros(concepts, np.int64), read.columns("fans")
    number = numbers[records["key"]]
    here = number >= 0
    fans[number[here]] = records["fan"][here]
    return fans


def _stored_vectors(read: Reading, passages: PassageTable) -> EmbeddingTable:
    table = EmbeddingTable()
    found = read.texts("vectors").by_key()
    events = np.frombuffer(passages.event, np.int64) if len(passages) else np.zeros(0, np.int64)
    numbers = _numbers_of(events, np.fromiter(found, np.int64, len(found))).tolist()
    for number, vectors in zip(numbers, found.values(), strict=True):
        if number >= 0 and len(passages):
            for model, vector in vectors:
                table.add(number, model, vector)
    return table


def _fill_from_turns(graph: Graph, values: Values, read: Reading, numbers: Integers) -> None:
    """Fill the tables of what turns say beside words, and of conversations that have ended."""
    passages = graph.passages
    events = np.array(passages.event, np.int64)
    said = read.columns("relations")
    rows = _numbers_of(events, said["key"]), numbers[said["source"]], numbers[said["target"]]
    here = (rows[0] >= 0) & (rows[1] >= 0) & (rows[2] >= 0) if len(events) else np.zeros(len(said), np.bool_)
    found = dict(zip(("passage", "source", "target"), rows, strict=True)) | {
        name: said[name] for name in ("type", "start", "end")
    }
    columns = {each.name: each.code for each in RelationTable.columns}
    graph.relations = RelationTable.of(
        {name: found[name.removeprefix("relation_")][here].astype(code) for name, code in columns.items()}
    )
    for event, (speaker, *stated) in read.texts("statements").by_key().items():
        (number,) = _numbers_of(events, np.array([event])).tolist()
        if number >= 0 and len(events):
            graph.statements.add(passages.ids[number], speaker, (Statement(*one) for one in stated))
    upto = ([*row[:3], int(np.searchsorted(events, row[3])), *row[4:]] for row in values["sessions"])
    graph.sessions = SessionTable.of(upto)


def _stored_themes(values: dict[str, Any], numbers: Integers) -> ThemeTable:
    for theme in values["topics"]:
        members = (int(numbers[row]) for row in theme[2])
        theme[2] = [number for number in members if number >= 0]
    return ThemeTable.of(values)
