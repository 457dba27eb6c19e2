"""A table: the changes of a graph between two moments, as an immutable sorted run of pages (an "SSTable").

    table  ──▶  index    up to which event, plain values as of then, what was forgotten, fence pointers
                pages    records of each section, ascending, some 32 kB each; read when they are needed

Fence pointers are the keys of the first record of each page.  They find the page that holds a key without reading any.

`Table` reads one table, `TableWriter` writes one; `MergedTables` and `PairRuns` read several as if they were one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec
import numpy as np
import orjson

from state.arrays import Integers
from state.graph.counting import pair_records
from state.graph.tables.stored_names import StoredNames
from state.lsm import page_format, record_types
from state.lsm.lazy_columns import Columns, StoredStrings, StoredTexts, stored_names
from state.lsm.record_types import SECTION, SECTIONS, STORED_LAYOUT, GraphChanges, Part, Records, Section

CACHED_PAGES = 512  # of pairs, of one graph: 16 MB
Pages = list[tuple[int, int]]  # a section's number, and its number of pages
LastPages = dict[int, tuple[int, int, Part]]  # by table: the section, number and records of the page read last


class PageStore(Protocol):
    """The pages of one graph, opened or sealed on the way."""

    def index(self, table: int) -> bytes:
        """Read an index.  Raises StoreCorruptError, ValueError if its key is destroyed."""

    def page(self, table: int, section: int, page: int) -> bytes:
        """Read a page.  Raises as `index`."""

    def put_index(self, table: int, value: bytes) -> None:
        """Add an index into the batch."""

    def put_page(self, table: int, section: int, page: int, value: bytes) -> None:
        """Add a page into the batch."""


class TableIndex(msgspec.Struct, rename={"complete": "told"}):
    """The index of a table.  Names in the store may be older than these: changing them changes its bytes.

    level     how many compactions it went through;  size: what it costs to compact, in pairs
    complete  whether it holds all concepts, so that older tables need not be read for them
    inputs    while a compaction is writing it: the tables that it is made of.  It holds the sections before `section`,
              and of that one the records before `done_to`
    """

    layout: int
    events: int
    level: int
    size: int
    values: bytes
    dead_rows: list[int]
    dead_events: list[int]
    fences: dict[str, bytes]
    complete: bool = False
    inputs: list[int] = []
    section: int = 0
    done_to: int | None = None


def read_index(number: int, store: PageStore) -> TableIndex:
    """Read the index of a table.  Raises ValueError for one of another layout, StoreCorruptError."""
    try:
        index = msgspec.msgpack.decode(store.index(number), type=TableIndex)
    except msgspec.MsgspecError as error:
        raise ValueError(f"table {number} is unreadable, or has another layout") from error
    if index.layout != STORED_LAYOUT:
        raise ValueError(f"table layout {index.layout}, this version reads {STORED_LAYOUT}")
    return index


def _pages(fences: Mapping[str, Sequence[int]]) -> Pages:
    return [(SECTION[name].number, len(listed)) for name, listed in fences.items()]


class Table:
    """A table that is finished, and never changes."""

    def __init__(self, number: int, index: TableIndex, store: PageStore) -> None:
        self.number, self.events, self.level, self.size = number, index.events, index.level, index.size
        self.dead_rows, self.dead_events, self._values = index.dead_rows, index.dead_events, index.values
        self._store, self.complete = store, index.complete
        self._fences = {name: np.frombuffer(fences, "<i8") for name, fences in index.fences.items()}

    @classmethod
    def read(cls, number: int, store: PageStore) -> Table:
        """Read the table of this number.  Raises ValueError for one of another layout, StoreCorruptError."""
        return cls(number, read_index(number, store), store)

    def values(self) -> dict[str, Any]:
        """Read the plain values as of its end."""
        values: dict[str, Any] = orjson.loads(self._values)
        return values

    @property
    def pages(self) -> Pages:
        """The number of pages of each section."""
        return _pages({name: fences.tolist() for name, fences in self._fences.items()})

    def records(
        self, section: Section, first: int | None = None, last: int | None = None, last_pages: LastPages | None = None
    ) -> Part | None:
        """Read the records from the key `first` to before `last` (None: no bound); return None if there are none.

        last_pages  keeps the page that was read last, for a caller that reads on from there
        """
        parts = list(self.parts(section, first, last, last_pages))
        if not parts:
            return None
        if len(parts) == 1:
            return parts[0]
        if section.dtype is not None:
            return record_types.joined(section.dtype, [part for part in parts if isinstance(part, np.ndarray)])
        return {key: value for part in parts if isinstance(part, dict) for key, value in part.items()}

    def parts(
        self, section: Section, first: int | None = None, last: int | None = None, last_pages: LastPages | None = None
    ) -> Iterator[Part]:
        """Yield the same page by page, without empty parts."""
        fences = self._fences.get(section.name)
        if fences is None:
            return
        start = 0 if first is None else max(int(np.searchsorted(fences, first)) - 1, 0)
        end = len(fences) if last is None else int(np.searchsorted(fences, last))
        for page in range(start, end):
            part = self.page(section, page) if last_pages is None else self._cached_page(section, page, last_pages)
            opens, closes = page <= start + 1, page == end - 1
            if (first is not None and opens) or (last is not None and closes):
                part = record_types.cut(section, part, first if opens else None, last if closes else None)
            if len(part):
                yield part

    @property
    def fences(self) -> Mapping[str, Integers]:
        """The fence pointers, by section."""
        return self._fences

    def page(self, section: Section, page: int) -> Part:
        """Read the records of one page."""
        return page_format.decoded(section, self._store.page(self.number, section.number, page))

    def _cached_page(self, section: Section, page: int, last_pages: LastPages) -> Part:
        entry = last_pages.get(self.number)
        if entry is None or entry[:2] != (section.number, page):
            entry = last_pages[self.number] = section.number, page, self.page(section, page)
        return entry[2]

    def packed(self, section: Section) -> Iterator[bytes]:
        """Yield all pages of a section, as they are stored."""
        for page in range(len(self._fences.get(section.name, ()))):
            yield self._store.page(self.number, section.number, page)

    def next_fence(self, section: Section, key: int | None) -> int | None:
        """Find the first fence pointer after `key`, None if `key` is in the last page."""
        fences = self._fences.get(section.name)
        if fences is None:
            return None
        behind = 1 if key is None else int(np.searchsorted(fences, key, "right"))
        return int(fences[behind]) if behind < len(fences) else None


class TableWriter:
    """Writes a table: sections in their order, each in the order of its keys."""

    def __init__(self, number: int, store: PageStore) -> None:
        self.number = number
        self.size = 0
        self._store = store
        self._fences: dict[str, list[int]] = {}
        self._waiting: list[Part] = []

    @property
    def pages(self) -> Pages:
        """The number of pages of each section so far."""
        return _pages(self._fences)

    def resume(self, index: TableIndex) -> None:
        """Continue a table that an earlier process began, from the index that it wrote."""
        self._fences = {name: np.frombuffer(fences, "<i8").tolist() for name, fences in index.fences.items()}
        self.size = index.size

    def add(self, section: Section, part: Part) -> None:
        """Append records; those that do not fill a page wait for the next ones, or for `end`."""
        if len(part):
            self._waiting.append(part)
            if sum(map(len, self._waiting)) >= section.page:
                self._write(section, rest=False)

    def end(self, section: Section) -> None:
        """Write the last page of a section, which need not be full."""
        self._write(section, rest=True)

    def _write(self, section: Section, *, rest: bool) -> None:
        if not self._waiting:
            return
        part = _joined(self._waiting)
        full = len(part) if rest else len(part) // section.page * section.page
        fences = self._fences.setdefault(section.name, [])
        *pages, self._waiting = _cut_up(part, section.page, full)
        for page in pages:
            self._store.put_page(self.number, section.number, len(fences), page_format.encoded(section, page))
            fences.append(_first_key(section, page))
        self.size += full * section.weight

    def finish(self, changes: GraphChanges, level: int) -> Table:
        """Write the index, and return the table."""
        return Table(self.number, self.put_index(changes, level), self._store)

    def put_index(
        self,
        changes: GraphChanges,
        level: int,
        inputs: Sequence[int] = (),
        section: int = 0,
        done_to: int | None = None,
    ) -> TableIndex:
        """Write the index of what it holds so far."""
        fences = {name: np.array(listed, "<i8").tobytes() for name, listed in self._fences.items() if listed}
        values = orjson.dumps(changes.values)
        dead = sorted(changes.dead_rows), sorted(changes.dead_events)
        index = TableIndex(STORED_LAYOUT, changes.events, level, self.size, values, *dead, fences, changes.complete)
        index.inputs, index.section, index.done_to = [*inputs], section, done_to
        self._store.put_index(self.number, msgspec.msgpack.encode(index))
        return index


def write_table(number: int, changes: GraphChanges, store: PageStore) -> Table:
    """Write the changes of a graph as a new table."""
    writer = TableWriter(number, store)
    for section in SECTIONS:
        part = changes.parts.get(section.name)
        if part is not None:
            writer.add(section, part)
            writer.end(section)
    return writer.finish(changes, 0)


def _joined(parts: Sequence[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], dict):
        return {key: value for part in parts if isinstance(part, dict) for key, value in part.items()}
    return np.concatenate([part for part in parts if isinstance(part, np.ndarray)])


def _cut_up(part: Part, page: int, full: int) -> Iterator[Any]:
    """Yield the first `full` records page by page, and at last the rest: a list of one part, or of none."""
    items = list(part.items()) if isinstance(part, dict) else part
    for start in range(0, full, page):
        records = items[start : min(start + page, full)]
        yield dict(records) if isinstance(records, list) else records
    rest = items[full:]
    yield [dict(rest) if isinstance(rest, list) else rest] if len(rest) else []


def _first_key(section: Section, part: Part) -> int:
    return int(next(iter(part))) if isinstance(part, dict) else int(record_types.keys_of(section, part[:1])[0])


class MergedTables:
    """All records of each section of several tables, merged."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = tables

    def _pages(self, section: Section) -> list[bytes]:
        tables = since_complete(self._tables) if section.name == "concepts" else self._tables
        return [page for table in tables for page in table.packed(section)]

    def columns(self, name: str) -> Columns:
        """Read a section of columns."""
        return Columns(SECTION[name], self._pages(SECTION[name]))

    def texts(self, name: str) -> StoredTexts:
        """Read a section of texts."""
        return StoredTexts(SECTION[name], self._pages(SECTION[name]))

    def strings(self, name: str) -> StoredStrings:
        """Read a section of strings."""
        return StoredStrings(SECTION[name], self._pages(SECTION[name]))

    def names(self) -> StoredNames:
        """Read the names of concepts."""
        return stored_names(SECTION["names"], self._pages(SECTION["names"]))

    def pairs(self, name: str) -> Records:
        """Read a section of pairs, ascending; of a pair there may be several."""
        pages = (np.frombuffer(page, record_types.PAIRS) for page in self._pages(SECTION[name]))
        records = np.concatenate([np.zeros(0, np.int64), *pages])
        records.sort(kind="stable")  # ascending runs: it only merges them
        return records


def since_complete(tables: Sequence[Table]) -> Sequence[Table]:
    """List the tables that must be read for concepts: the last complete one, and those after it."""
    last = max((place for place, each in enumerate(tables) if each.complete), default=0)
    return tables[last:]


def forgotten(tables: Sequence[Table]) -> tuple[set[int], set[int]]:
    """Collect the rows and events of what was forgotten and may still be in tables."""
    rows = {row for table in tables for row in table.dead_rows}
    return rows, {event for table in tables for event in table.dead_events}


def pair_totals(tables: Sequence[Table], section: Section, row: int, other: int) -> tuple[int, int]:
    """Read how many windows held both concepts, and how many turns: a page or two of each table."""
    first = pair_records.pair_from(row, other)
    read = (each.records(section, first, first + (1 << pair_records.COUNT_BITS)) for each in tables)
    parts = [part for part in read if isinstance(part, np.ndarray)]
    if not parts:
        return 0, 0
    windows, turns, _ = pair_records.totals(np.sort(np.concatenate(parts)))
    return int(windows.sum()), int(turns.sum())


class PairRuns:
    """The pairs of several tables, a sorted run each, read page by page; the pages that were read last are cached.

    tables  must not be deleted while they are read here; if the list itself changes, the next read uses the new one
    """

    def __init__(self, tables: Sequence[Table], section: Section) -> None:
        self._all_tables, self._section = tables, section
        self._cached = OrderedDict[tuple[int, int], Records]()

    @property
    def _tables(self) -> list[Table]:
        return [each for each in self._all_tables if self._section.name in each.fences]

    @property
    def records(self) -> int:
        """An upper bound of the number of records."""
        return sum(len(each.fences[self._section.name]) for each in self._tables) * self._section.page

    @property
    def size(self) -> int:
        """The memory of the cached pages, bytes."""
        return sum(page.nbytes for page in self._cached.values())

    def bounds(self, most: int) -> list[int | None]:
        """Cut all records into pieces of about `most`: ascending keys, None at either end; a pair is never split."""
        fences = [each.fences[self._section.name] for each in self._tables]
        every = max(most // self._section.page, 1)
        chosen = np.sort(np.concatenate(fences or [np.zeros(0, np.int64)]))[every::every]
        return [None, *np.unique(chosen >> pair_records.COUNT_BITS << pair_records.COUNT_BITS).tolist(), None]

    def within(self, first: int | None, last: int | None) -> Records:
        """Read all records from the key `first` to before `last`, ascending; several of one pair may be there."""
        read = (each.records(self._section, first, last) for each in self._tables)
        parts = [part for part in read if isinstance(part, np.ndarray)]
        records = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        records.sort(kind="stable")  # ascending runs: it only merges them
        return records

    def snapshot(self) -> PairRuns:
        """Return these runs as they are now, whatever becomes of the list."""
        return PairRuns(list(self._all_tables), self._section)

    def pages_around(self, firsts: Integers, lasts: Integers) -> Iterator[Records]:
        """Yield the pages of each run, ascending, that hold records from firsts[i] to before lasts[i] (k,)."""
        for table in self._tables:
            fences = table.fences[self._section.name]
            begins = np.zeros(len(fences) + 1, np.int64)
            np.add.at(begins, np.maximum(np.searchsorted(fences, firsts) - 1, 0), 1)
            np.add.at(begins, np.searchsorted(fences, lasts), -1)
            pages = np.flatnonzero(np.cumsum(begins[:-1]) > 0).tolist()
            if pages:
                yield np.concatenate([self._page(table, page) for page in pages])

    def _page(self, table: Table, page: int) -> Records:
        records = self._cached.get((table.number, page))
        if records is None:
            part = table.page(self._section, page)
            assert isinstance(part, np.ndarray)  # noqa: S101 - the section has a dtype
            records = self._cached[table.number, page] = part
            if len(self._cached) > CACHED_PAGES:
                self._cached.popitem(last=False)
        else:
            self._cached.move_to_end((table.number, page))
        return records
