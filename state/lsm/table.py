"""A segment: what became of a graph between two moments, as sorted pages; and how several become one.

    segment   ──▶  index          up to which event, plain values as of then, what was forgotten, fences
                   pages          records of each section, ascending, some 32 kB each; read where they are needed

    fence     the key of a page's first record: so the page that holds a key is found without reading any

A segment never changes.  Those that follow each other are merged, a bounded piece at a time (`Merge`), into one that
says the same as all of them: nobody sees it before it is whole, and until then they stay.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec
import numpy as np
import orjson

from state.arrays import Integers
from state.graph.codec import LAYOUT
from state.graph.counting import pair_records
from state.graph.tables.stored_names import StoredNames
from state.lsm import page_format, record_types
from state.lsm.lazy_columns import Columns, StoredStrings, StoredTexts, stored_names
from state.lsm.record_types import SECTION, SECTIONS, Changes, Part, Records, Section

CACHED_PAGES = 512  # of pairs, of one graph: 16 MB
Pages = list[tuple[int, int]]  # section's number, and how many pages of it there are
Kept = dict[int, tuple[int, int, Part]]  # by segment: the section, the number and the records of a page


class PageStore(Protocol):
    """The pages of one graph, opened or sealed on the way."""

    def index(self, segment: int) -> bytes:
        """Read an index.  Raises StoreCorruptError, ValueError if its key is destroyed."""

    def page(self, segment: int, section: int, page: int) -> bytes:
        """Read a page.  Raises as `index`."""

    def put_index(self, segment: int, value: bytes) -> None:
        """Put an index into the batch."""

    def put_page(self, segment: int, section: int, page: int, value: bytes) -> None:
        """Put a page into the batch."""


class _Index(msgspec.Struct):
    """See the module's docstring.

    level     how often it was merged from others;  size: what it costs to merge, in pairs
    told      whether all concepts are told in it: what was before it need not be read for them
    inputs    of one that is not whole yet: the segments that are on their way into it; all of `section` that lies
              before `done_to` is in it, and all sections before
    """

    layout: int
    events: int
    level: int
    size: int
    values: bytes
    dead_rows: list[int]
    dead_events: list[int]
    fences: dict[str, bytes]
    told: bool = False
    inputs: list[int] = []
    section: int = 0
    done_to: int | None = None


def _read_index(number: int, store: PageStore) -> _Index:
    try:
        index = msgspec.msgpack.decode(store.index(number), type=_Index)
    except msgspec.MsgspecError as error:
        raise ValueError(f"segment {number} is none of this layout") from error
    if index.layout != LAYOUT:
        raise ValueError(f"graph layout {index.layout}, this version reads {LAYOUT}")
    return index


def _pages(fences: Mapping[str, Sequence[int]]) -> Pages:
    return [(SECTION[name].number, len(listed)) for name, listed in fences.items()]


class Segment:
    """A segment that is whole."""

    def __init__(self, number: int, index: _Index, store: PageStore) -> None:
        self.number, self.events, self.level, self.size = number, index.events, index.level, index.size
        self.dead_rows, self.dead_events, self._values = index.dead_rows, index.dead_events, index.values
        self._store, self.tells_all = store, index.told
        self._fences = {name: np.frombuffer(fences, "<i8") for name, fences in index.fences.items()}

    @classmethod
    def read(cls, number: int, store: PageStore) -> Segment:
        """Read the segment of this number.  Raises ValueError for one of another layout, StoreCorruptError."""
        return cls(number, _read_index(number, store), store)

    def values(self) -> dict[str, Any]:
        """Read the plain values as of its end."""
        found: dict[str, Any] = orjson.loads(self._values)
        return found

    @property
    def pages(self) -> Pages:
        """How many pages there are of each section."""
        return _pages({name: fences.tolist() for name, fences in self._fences.items()})

    def records(
        self, section: Section, first: int | None = None, last: int | None = None, kept: Kept | None = None
    ) -> Part | None:
        """Read the records from the key `first` to before `last`, all if there is no such bound; None if none are.

        kept  keeps the page that was read last, for whoever reads on from there
        """
        parts = list(self.parts(section, first, last, kept))
        if not parts:
            return None
        if len(parts) == 1:
            return parts[0]
        if section.dtype is not None:
            return record_types.joined(section.dtype, [part for part in parts if isinstance(part, np.ndarray)])
        return {key: value for part in parts if isinstance(part, dict) for key, value in part.items()}

    def parts(
        self, section: Section, first: int | None = None, last: int | None = None, kept: Kept | None = None
    ) -> Iterator[Part]:
        """Read the same page by page, none that is empty."""
        fences = self._fences.get(section.name)
        if fences is None:
            return
        start = 0 if first is None else max(int(np.searchsorted(fences, first)) - 1, 0)
        end = len(fences) if last is None else int(np.searchsorted(fences, last))
        for page in range(start, end):
            part = self.page(section, page) if kept is None else self._page_once(section, page, kept)
            opens, closes = page <= start + 1, page == end - 1
            if (first is not None and opens) or (last is not None and closes):
                part = record_types.cut(section, part, first if opens else None, last if closes else None)
            if len(part):
                yield part

    @property
    def fences(self) -> Mapping[str, Integers]:
        """The key of the first record of each page, by section."""
        return self._fences

    def page(self, section: Section, page: int) -> Part:
        """Read the records of one page."""
        return page_format.decoded(section, self._store.page(self.number, section.number, page))

    def _page_once(self, section: Section, page: int, kept: Kept) -> Part:
        found = kept.get(self.number)
        if found is None or found[:2] != (section.number, page):
            found = kept[self.number] = section.number, page, self.page(section, page)
        return found[2]

    def packed(self, section: Section) -> Iterator[bytes]:
        """Read all pages of a section, as they are stored."""
        for page in range(len(self._fences.get(section.name, ()))):
            yield self._store.page(self.number, section.number, page)

    def fence_behind(self, section: Section, key: int | None) -> int | None:
        """Find the first key of the page behind that of `key`; None if that is the last one."""
        fences = self._fences.get(section.name)
        if fences is None:
            return None
        behind = 1 if key is None else int(np.searchsorted(fences, key, "right"))
        return int(fences[behind]) if behind < len(fences) else None


class Writer:
    """A segment in the making: sections in their order, each in the order of its keys."""

    def __init__(self, number: int, store: PageStore) -> None:
        self.number = number
        self.size = 0
        self._store = store
        self._fences: dict[str, list[int]] = {}
        self._waiting: list[Part] = []

    @property
    def pages(self) -> Pages:
        """How many pages there are of each section so far."""
        return _pages(self._fences)

    def go_on(self, index: _Index) -> None:
        """Go on with what `put_index` wrote of a segment that was not whole."""
        self._fences = {name: np.frombuffer(fences, "<i8").tolist() for name, fences in index.fences.items()}
        self.size = index.size

    def add(self, section: Section, part: Part) -> None:
        """Append records; what does not fill a page waits for `end`."""
        if len(part):
            self._waiting.append(part)
            if sum(map(len, self._waiting)) >= section.page:
                self._write(section, whole=False)

    def end(self, section: Section) -> None:
        """Write what is left of a section."""
        self._write(section, whole=True)

    def _write(self, section: Section, *, whole: bool) -> None:
        if not self._waiting:
            return
        part = _joined(self._waiting)
        full = len(part) if whole else len(part) // section.page * section.page
        fences = self._fences.setdefault(section.name, [])
        *pages, self._waiting = _cut_up(part, section.page, full)
        for page in pages:
            self._store.put_page(self.number, section.number, len(fences), page_format.encoded(section, page))
            fences.append(_first_key(section, page))
        self.size += full * section.weight

    def finish(self, changes: Changes, level: int) -> Segment:
        """Write the index, and give the segment."""
        return Segment(self.number, self.put_index(changes, level), self._store)

    def put_index(
        self, changes: Changes, level: int, inputs: Sequence[int] = (), section: int = 0, done_to: int | None = None
    ) -> _Index:
        """Write what is in it so far."""
        fences = {name: np.array(listed, "<i8").tobytes() for name, listed in self._fences.items() if listed}
        values = orjson.dumps(changes.values)
        dead = sorted(changes.dead_rows), sorted(changes.dead_events)
        index = _Index(LAYOUT, changes.events, level, self.size, values, *dead, fences, changes.whole)
        index.inputs, index.section, index.done_to = [*inputs], section, done_to
        self._store.put_index(self.number, msgspec.msgpack.encode(index))
        return index


def written(number: int, changes: Changes, store: PageStore) -> Segment:
    """Write what became of a graph as a new segment."""
    writer = Writer(number, store)
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
        found = items[start : min(start + page, full)]
        yield dict(found) if isinstance(found, list) else found
    rest = items[full:]
    yield [dict(rest) if isinstance(rest, list) else rest] if len(rest) else []


def _first_key(section: Section, part: Part) -> int:
    return int(next(iter(part))) if isinstance(part, dict) else int(record_types.keys_of(section, part[:1])[0])


class Merge:
    """Segments that follow each other, on their way to be one."""

    def __init__(self, inputs: Sequence[Segment], number: int, store: PageStore, *, is_oldest: bool) -> None:
        self.inputs = list(inputs)
        self.writer = Writer(number, store)
        self.size = sum(each.size for each in inputs)
        self._dead = [sorted({dead for each in inputs for dead in getattr(each, kind)}) for kind in _DEAD]
        self._dead_arrays = [np.array(listed, np.int64) for listed in self._dead]
        self._is_oldest = is_oldest  # nothing lies before them that what was forgotten may still be in
        self._section: Section | None = SECTIONS[0]
        self._done_to: int | None = None
        self.credit = 0.0  # how much is due to be merged, in pairs

    @classmethod
    def going_on(cls, inputs: Mapping[int, Segment], number: int, store: PageStore, oldest: int) -> Merge | None:
        """Go on with a merge that was paused; None if some of its inputs are not there any more."""
        index = _read_index(number, store)
        if not inputs.keys() >= set(index.inputs):
            return None
        merge = cls([inputs[each] for each in index.inputs], number, store, is_oldest=index.inputs[0] == oldest)
        merge.writer.go_on(index)
        merge._section, merge._done_to = next(each for each in SECTIONS if each.number == index.section), index.done_to
        return merge

    @property
    def level(self) -> int:
        """How often what comes out was merged."""
        return 1 + max(each.level for each in self.inputs)

    def step(self, most: float) -> None:
        """Merge some more: what `most` pairs cost, and a little beyond.  It goes off the credit, which may be owed."""
        spent, kept = 0.0, Kept()
        while spent < most and self._section:
            spent += self._piece(self._section, kept)
        self.credit -= spent

    def _piece(self, section: Section, kept: Kept) -> float:
        start, behind = self._done_to, (each.fence_behind(section, self._done_to) for each in self.inputs)
        end = min((fence for fence in behind if fence is not None), default=None)
        if end is not None and section.adding == "sum":
            end = end >> pair_records.COUNT_BITS << pair_records.COUNT_BITS  # no pair is torn apart
        if end is not None and start is not None and end <= start:
            end = start + (1 << pair_records.COUNT_BITS if section.adding == "sum" else 1)
        read = (each.records(section, start, end, kept) for each in self.inputs)
        parts = [part for part in read if part is not None]
        if parts:
            whole = record_types.without(section, record_types.combined(section, parts), *self._dead_arrays)
            self.writer.add(section, whole)
        self._done_to = end
        if end is None:
            self.writer.end(section)
            self._section = next((each for each in SECTIONS if each.number > section.number), None)
        return 1 + sum(map(len, parts)) * section.weight

    def result(self) -> Segment | None:
        """Write the index and give the segment once all is in it; else write how far it is."""
        newest = self.inputs[-1]
        rows, events = ([], []) if self._is_oldest else self._dead
        tells_all = any(each.tells_all for each in self.inputs)
        changes = Changes(newest.events, newest.values(), {}, rows, events, whole=tells_all)
        if self._section is None:
            return self.writer.finish(changes, self.level)
        self.writer.end(self._section)
        inputs = [each.number for each in self.inputs]
        self.writer.put_index(changes, self.level, inputs, self._section.number, self._done_to)
        return None


_DEAD = ("dead_rows", "dead_events")


class Whole:
    """All records of each section, those of several segments brought together."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments

    def _pages(self, section: Section) -> list[bytes]:
        found = since_all_told(self._segments) if section.name == "concepts" else self._segments
        return [page for segment in found for page in segment.packed(section)]

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
        records.sort()
        return records


def since_all_told(segments: Sequence[Segment]) -> Sequence[Segment]:
    """List those that tell what is so of concepts: the last that tells of all of them, and those behind it."""
    last = max((place for place, each in enumerate(segments) if each.tells_all), default=0)
    return segments[last:]


def dead(segments: Sequence[Segment]) -> tuple[set[int], set[int]]:
    """List rows and events of what was forgotten and may still be in segments."""
    rows = {row for segment in segments for row in segment.dead_rows}
    return rows, {event for segment in segments for event in segment.dead_events}


def pair_totals(segments: Sequence[Segment], section: Section, row: int, other: int) -> tuple[int, int]:
    """Read how many windows held both concepts, and how many turns: a page or two of each segment."""
    first = pair_records.pair_from(row, other)
    read = (each.records(section, first, first + (1 << pair_records.COUNT_BITS)) for each in segments)
    found = [part for part in read if isinstance(part, np.ndarray)]
    if not found:
        return 0, 0
    windows, turns, _ = pair_records.totals(np.sort(np.concatenate(found)))
    return int(windows.sum()), int(turns.sum())


class Runs:
    """The pairs that several segments hold, a run each, read where they lie; pages that were read last are kept.

    found  must stay as they are as long as anybody reads here; a list that changes is read as it is then
    """

    def __init__(self, found: Sequence[Segment], section: Section) -> None:
        self._found, self._section = found, section
        self._cached = OrderedDict[tuple[int, int], Records]()

    @property
    def _segments(self) -> list[Segment]:
        return [each for each in self._found if self._section.name in each.fences]

    @property
    def records(self) -> int:
        """How many records there are, at most."""
        return sum(len(each.fences[self._section.name]) for each in self._segments) * self._section.page

    @property
    def size(self) -> int:
        """How much memory the pages take that are kept, bytes."""
        return sum(page.nbytes for page in self._cached.values())

    def bounds(self, most: int) -> list[int | None]:
        """Part all records into pieces of about `most`: ascending keys, None at either end; no pair is torn apart."""
        fences = [each.fences[self._section.name] for each in self._segments]
        every = max(most // self._section.page, 1)
        chosen = np.sort(np.concatenate(fences or [np.zeros(0, np.int64)]))[every::every]
        return [None, *np.unique(chosen >> pair_records.COUNT_BITS << pair_records.COUNT_BITS).tolist(), None]

    def within(self, first: int | None, last: int | None) -> Records:
        """Read all records from the key `first` to before `last`, ascending; several of one pair may be there."""
        read = (each.records(self._section, first, last) for each in self._segments)
        parts = [part for part in read if isinstance(part, np.ndarray)]
        records = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        records.sort()
        return records

    def as_now(self) -> Runs:
        """Give these runs as they are, whatever becomes of the list."""
        return Runs(list(self._found), self._section)

    def near(self, firsts: Integers, lasts: Integers) -> Iterator[Records]:
        """Read of each run, ascending, all records from firsts[i] to before lasts[i] (k,), and some beside them."""
        for segment in self._segments:
            fences = segment.fences[self._section.name]
            begins = np.zeros(len(fences) + 1, np.int64)
            np.add.at(begins, np.maximum(np.searchsorted(fences, firsts) - 1, 0), 1)
            np.add.at(begins, np.searchsorted(fences, lasts), -1)
            pages = np.flatnonzero(np.cumsum(begins[:-1]) > 0).tolist()
            if pages:
                yield np.concatenate([self._page(segment, page) for page in pages])

    def _page(self, segment: Segment, page: int) -> Records:
        found = self._cached.get((segment.number, page))
        if found is None:
            part = segment.page(self._section, page)
            assert isinstance(part, np.ndarray)  # noqa: S101 - the section has a dtype
            found = self._cached[segment.number, page] = part
            if len(self._cached) > CACHED_PAGES:
                self._cached.popitem(last=False)
        else:
            self._cached.move_to_end((segment.number, page))
        return found
