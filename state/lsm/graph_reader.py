"""Builds a graph from stored records (state/lsm/record_types.py); state/lsm/graph_writer.py wrote them.

The records may be of one table, of many, or of compacted ones: the graph is the same, and so is its digest.

Little is materialised: pages stay packed until a column of concepts or turns, or all names, are needed.  Adding to the
graph needs all of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from state.arrays import Counts, Integers, Mask
from state.events.extraction_types import Fact, Statement
from state.events.memory_settings import MemorySettings
from state.graph.counting import cooccurrence, pair_records
from state.graph.counting.stored_pairs import SortedRuns, StoredPairs
from state.graph.graph import Graph
from state.graph.tables.columns import Column, LazyColumn
from state.graph.tables.concept_table import ConceptTable
from state.graph.tables.embedding_table import EmbeddingTable
from state.graph.tables.passage_table import PassageTable
from state.graph.tables.relation_table import NumberOf, RelationTable
from state.graph.tables.session_table import SessionTable
from state.graph.tables.strings import Places
from state.graph.tables.theme_table import ThemeTable
from state.lsm.lazy_columns import Columns, SectionReader, StoredStrings, StoredTexts
from state.lsm.page_format import columns_of
from state.lsm.record_types import Values


def read_graph(
    events: int,
    values: Values,
    read: SectionReader,
    dead_rows: Collection[int],
    dead_events: Collection[int],
    *,
    pairs: SortedRuns | None = None,
    lazy: bool = False,
) -> Graph:
    """Build the graph of `events` events that was stored.

    dead   rows and events of what was forgotten: their records may still be there
    pairs  runs of the section `said`, None to leave pairs out
    lazy   leave many pairs in the store: its tables must not change until all pairs are loaded.  If their fans are not
           stored, the first question loads the pairs (PairCounts.prepare)
    Raises ValueError for what another layout wrote.
    """
    graph = Graph(values["name"])
    graph.read_values(values)
    graph.settings = MemorySettings(**values["settings"])
    graph.concepts, numbers = _stored_concepts(read, values["born"], _sorted(dead_rows))
    graph.passages = _stored_turns(read, numbers, _sorted(dead_events))
    if pairs is not None:
        _fill_recalled(graph, read, numbers)
    faded = read.columns("faded")
    if pairs is not None and pairs.records:
        was_cut = _cut(faded).any()  # links that were cut are still in the records, but in no fan
        knows_fans = values["fans"] and not was_cut
        _attach(graph, pairs, numbers, _stored_fans(read, numbers, len(graph.concepts)) if knows_fans else None)
        if not lazy or was_cut or not (knows_fans or pairs.records >= cooccurrence.SPILL_ABOVE):
            graph.load_pairs()
    if len(faded):
        _take_faded(graph, faded, numbers)
    graph.embeddings = _stored_vectors(read, graph.passages)
    graph.themes = _stored_themes(values["topics"], numbers)
    _fill_from_turns(graph, values, read, numbers)
    graph.begin_from_store(events)
    return graph


def _sorted(listed: Collection[int]) -> Integers:
    return np.array(sorted(listed), np.int64)


def _stored_concepts(read: SectionReader, born: int, dead: Integers) -> tuple[ConceptTable, Integers]:
    """Build the table of concepts; also return the number of each row, -1 for those that were forgotten."""
    records = _records(read, "concepts", dead)
    rows = records["key"]
    numbers = np.full(born + 1, -1)
    numbers[rows] = np.arange(len(rows))
    lazy = {each.name: _lazy_column(records, each) for each in ConceptTable.columns}
    lazy |= {f"_{name}": LazyColumn(partial(_by_number, read.texts(name), numbers)) for name in ("forms", "kinds")}
    return ConceptTable.from_store(read.names().of(rows), lazy, rows, born), numbers


def _by_number(texts: StoredTexts, numbers: Integers, _: ConceptTable) -> dict[int, dict[str, int]]:
    numbered = ((int(numbers[row]), counts) for row, counts in texts.by_key().items())
    return {number: counts for number, counts in numbered if number >= 0}


def _lazy_column(records: Columns, column: Column) -> LazyColumn:
    """Declare how to materialise a stored column of a table."""
    if column.points:
        numbers = partial(_numbers_of, records["key"], records[column.name])
        return LazyColumn(lambda _: _rows(numbers(), column.code), len(column.blank) * len(records))
    return LazyColumn(lambda _: records.rows(column.name, column.code), len(column.blank) * len(records))


def _records(read: SectionReader, name: str, dead: Integers) -> Columns:
    records = read.columns(name)
    return records.only(~np.isin(records["key"], dead)) if len(dead) else records


def _stored_turns(read: SectionReader, concepts: Integers, dead: Integers) -> PassageTable:
    records = _records(read, "turns", dead)
    events = records["key"]
    names = read.strings("origins")
    sessions, speakers = _Origins(names, records["session"]), _Origins(names, records["speaker"])
    lazy = {each.name: _lazy_column(records, each) for each in PassageTable.columns if each.name in columns_of("turns")}
    lazy |= _lazy_marks(events, _records(read, "marks", dead))
    lazy |= _Postings(events, _records(read, "postings", dead), concepts).lazy()
    lazy["event"] = LazyColumn(lambda _: _rows(events, "q"), 8 * len(events))
    lazy["session"] = LazyColumn(lambda _: _rows(sessions.places, "i"), 4 * len(events))
    lazy["speaker"] = LazyColumn(lambda _: _rows(speakers.places, "i"), 4 * len(events))
    origins = LazyColumn(lambda _: {"sessions": sessions.keys_by_name(), "speakers": speakers.keys_by_name()})
    lazy["kept"] = LazyColumn(lambda _: array("b", b"\1" * len(events)), len(events))
    ids = Places(len(events), partial(read.strings("ids").of, events))
    table = PassageTable.from_store(ids, sessions.names, speakers.names, origins, lazy)
    gone = read.columns("gone")
    table.gone = dict(zip(gone["key"].tolist(), gone["fingerprint"].tolist(), strict=True))
    return table


def _rows(values: NDArray[Any], code: str) -> array[Any]:
    """Copy values into a typed array."""
    rows = array(code)
    rows.frombytes(np.ascontiguousarray(values, code).view(np.uint8).data)
    return rows


class _Origins:
    """The sessions, or speakers, of turns: their names, in order of first appearance, and each turn's place (p,) there.

    keys  (p,) under which the name of each turn's session, or speaker, is stored
    """

    def __init__(self, stored: StoredStrings, keys: Integers) -> None:
        self._keys, self.places = _in_order_seen(keys)
        self.names = stored.of(self._keys)

    def keys_by_name(self) -> dict[str, int]:
        """List the keys that names are stored under."""
        return dict(zip(self.names, self._keys.tolist(), strict=True))


def _in_order_seen(keys: Integers) -> tuple[Integers, Integers | Counts]:
    """List keys in order of first appearance, and return the place of each key in that list."""
    if not len(keys):
        return keys, keys
    highest = np.maximum.accumulate(keys)
    ascending = keys[np.append(True, highest[1:] != highest[:-1])]
    place_of = np.zeros(int(highest[-1]) + 1, np.int32)
    place_of[ascending] = np.arange(len(ascending))
    place = place_of[keys]
    if np.array_equal(
        ascending[place], keys
    ):  # a name is stored under its first turn; false only if that was forgotten
        return ascending, place
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return distinct[order], rank[inverse]


def _lazy_marks(events: Integers, marks: Columns) -> dict[str, LazyColumn]:
    """Declare the columns of what may change about turns: blank, except for turns that have a record."""

    def materialise(column: Column, _: PassageTable) -> array[Any]:
        rows = array(column.code, column.blank * len(events))
        if len(marks):
            values = marks[column.name]
            marked = np.searchsorted(events, marks["key"])
            np.frombuffer(rows, column.code)[marked] = _numbers_of(events, values) if column.points else values
        return rows

    marked = [each for each in PassageTable.columns if each.name in columns_of("marks")]
    return {each.name: LazyColumn(partial(materialise, each), len(each.blank) * len(events)) for each in marked}


def _numbers_of(events: Integers, queried: Integers) -> Integers:
    """Find the number of each event, -1 for one that is not here."""
    if not len(events):
        return np.full(len(queried), -1)
    at = np.minimum(np.searchsorted(events, queried), len(events) - 1)
    return np.where(events[at] == queried, at, -1)


class _Postings:
    """The postings of turns: where those of each begin, and their columns, but for those of what was forgotten."""

    def __init__(self, events: Integers, records: Columns, numbers: Integers) -> None:
        self._events, self._records, self._numbers = events, records, numbers
        self._are_all = int(numbers.max(initial=-1)) == len(numbers) - 2  # rows are numbers: nothing was forgotten

    def lazy(self) -> dict[str, LazyColumn]:
        """Declare the columns."""
        count = len(self._records)
        return {
            "starts": LazyColumn(lambda _: _rows(self._starts(), "q"), 8 * len(self._events)),
            "posting_concept": LazyColumn(lambda _: self._concepts(), 4 * count),
            "posting_count": LazyColumn(lambda _: self._counts(), 4 * count),
        }

    def _starts(self) -> Integers:
        holding, begins = self._records.runs()
        begins = np.append(begins, len(self._records))
        same = np.array_equal(holding, self._events)
        starts = begins[:-1] if same else begins[np.searchsorted(holding, self._events)]
        return starts if self._are_all else np.append(0, np.cumsum(self._alive))[starts]

    def _concepts(self) -> array[int]:
        if self._are_all:
            return self._records.rows("concept", "i")
        return _rows(self._numbers[self._records["concept"]][self._alive], "i")

    def _counts(self) -> array[int]:
        return self._records.rows("count", "i") if self._are_all else _rows(self._records["count"][self._alive], "i")

    @cached_property
    def _alive(self) -> Mask:
        alive: Mask = self._numbers[self._records["concept"]] >= 0
        return alive


def _fill_recalled(graph: Graph, read: SectionReader, numbers: Integers) -> None:
    """Fill what was recalled together: there is little of it."""
    records = read.pairs("recalled")
    if len(records):
        recalls, _, pair = pair_records.totals(records)
        one, other = numbers[pair >> pair_records.ROW_BITS], numbers[pair & (1 << pair_records.ROW_BITS) - 1]
        alive = (one >= 0) & (other >= 0)
        graph.pairs["recall"].take_stored((one << 32 | other)[alive], recalls[alive].astype(np.int32))


def _cut(faded: Columns) -> Mask:
    """Return which records are of links that were cut; the others only loosened what recalls had linked."""
    return (faded["exchanges"] > 0) | (faded["turns"] > 0)


def _take_faded(graph: Graph, faded: Columns, numbers: Integers) -> None:
    """Subtract what was counted of links before they were cut: the records of pairs still include it."""
    one, other = (
        numbers[faded["key"] >> pair_records.ROW_BITS],
        numbers[faded["key"] & (1 << pair_records.ROW_BITS) - 1],
    )
    alive = (one >= 0) & (other >= 0)
    keys = np.minimum(one, other)[alive] << 32 | np.maximum(one, other)[alive]
    cut = _cut(faded)[alive]
    if cut.any():
        graph.pairs["exchange"].take_away(keys[cut], faded["exchanges"][alive][cut])
        graph.pairs["turn"].take_away(keys[cut], faded["turns"][alive][cut])
    graph.pairs["recall"].take_away(keys, faded["recalls"][alive])


def _attach(graph: Graph, runs: SortedRuns, numbers: Integers, fans: Integers | None) -> None:
    turn, exchange = graph.pairs["turn"], graph.pairs["exchange"]
    rows = np.array(graph.concepts.rows, np.int64)
    stored = StoredPairs(runs, rows, numbers, {"exchange": exchange, "turn": turn})
    exchange.attach_stored(stored, "exchange", fans)
    turn.attach_stored(stored, "turn", None)


def _stored_fans(read: SectionReader, numbers: Integers, concepts: int) -> Integers:
    fans, records = np.zeros(concepts, np.int64), read.columns("fans")
    number = numbers[records["key"]]
    alive = number >= 0
    fans[number[alive]] = records["fan"][alive]
    return fans


def _stored_vectors(read: SectionReader, passages: PassageTable) -> EmbeddingTable:
    table = EmbeddingTable()
    by_event = read.texts("vectors").by_key()
    numbers = _numbers_of(np.array(passages.event), np.fromiter(by_event, np.int64, len(by_event))).tolist()
    for number, vectors in zip(numbers, by_event.values(), strict=True):
        if number >= 0:
            for model, vector in vectors:
                table.add(number, model, vector)
    return table


def _fill_from_turns(graph: Graph, values: Values, read: SectionReader, numbers: Integers) -> None:
    """Fill the tables of relations, of statements, of people, and of conversations that have ended."""
    passages = graph.passages
    events = np.array(passages.event, np.int64)
    stored = read.columns("relations")
    rows = {each.name: stored["key" if each.points == "turns" else each.name] for each in RelationTable.columns}
    number_of: dict[str, NumberOf] = {"concepts": lambda keys: numbers[keys], "turns": partial(_numbers_of, events)}
    graph.relations = RelationTable.renumbering(rows, number_of)
    for turn, (speaker, *stated) in _of_turns(read, "statements", passages, events):
        graph.statements.add(turn, speaker, (Statement(*one) for one in stated))
    for turn, (speaker, *facts) in _of_turns(read, "facts", passages, events):
        graph.people.add(turn, speaker, (Fact(*one) for one in facts))
    upto = ([*row[:3], int(np.searchsorted(events, row[3])), *row[4:]] for row in values["sessions"])
    graph.sessions = SessionTable.of(upto)


def _of_turns(
    read: SectionReader, section: str, passages: PassageTable, events: Integers
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the ids of the turns that are here, each with what a section has of it, in the order folded."""
    by_event = read.texts(section).by_key()
    numbers = _numbers_of(events, np.fromiter(by_event, np.int64, len(by_event))).tolist()
    return (
        (passages.ids[number], each) for number, each in zip(numbers, by_event.values(), strict=True) if number >= 0
    )


def _stored_themes(values: dict[str, Any], numbers: Integers) -> ThemeTable:
    for theme in values["topics"]:
        members = (int(numbers[row]) for row in theme[2])
        theme[2] = [number for number in members if number >= 0]
    return ThemeTable.of(values)
