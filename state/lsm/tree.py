"""The stored tables of one graph: segments one behind the other, and what is done to keep them few.

    events    0 ────────────── base ───────────────────────── ends of segments ── now
    segments  │   ≥ 1, merged   │ newer ones, smaller │ │ │ │                 └ rows of events alone
    rows      │ texts of turns  │ every row

What is stored of a graph is all of its segments, added up; each begins where the one before ends.  When events are
taken back, the segments that hold them are dropped, and the graph is folded on from the end of those that are left.

    base     nothing below it can be taken back any more: rows of events are deleted there, but for those of turns that
             are still here.  It is the end of a segment for ever: what lies on either side is merged apart.
    merging  FAN segments of one level become one of the next, some of it for every flush: as much as its size, shared
             over the flushes until the next FAN are there.  It is done between flushes, piece by piece (`tidy`); what
             nobody found time for is done with the next flush
    trash    pages that nobody reads any more, deleted some at a time
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from math import inf
from typing import Protocol

import msgspec

from state.errors import KeysError
from state.graph.graph import Graph
from state.lsm import table
from state.lsm.graph_reader import stored
from state.lsm.graph_writer import changes
from state.lsm.record_types import SECTION
from state.lsm.spill import rest
from state.lsm.table import Merge, Pages, Segment
from state.sealing.keyring import NO_KEYS, Keyring, is_locked, lock, missing, unlock
from state.store import keys

FAN = 12
SLACK = 1.3  # how much more is merged with a flush than is needed on average
LEAST_CREDIT = 1 << 14  # pairs that are merged for every flush, if there is anything to merge
MOST_CREDIT = 8  # times what a flush brings, that may be merged for it
DELETED_AT_ONCE = 512  # keys
TOLD_OFTEN = 3  # times that each concept is told of, on the average, before closing tells of all of them anew


class Batched(Protocol):
    """A store, seen through the changes that wait to be written."""

    def get(self, key: bytes) -> bytes | None:
        """Read a value.  Raises StoreCorruptError."""

    def put(self, key: bytes, value: bytes | None) -> None:
        """Put a value into the batch; None: delete it."""


class _Manifest(msgspec.Struct):
    """The list of a graph's segments.

    segments  their numbers, oldest first
    base      see the module's docstring; 0: every row is there
    next      the number of the next segment
    making    segments that are not whole yet
    trash     segments that nobody reads any more, and their pages
    """

    segments: list[int] = []
    base: int = 0
    next: int = 0
    making: list[int] = []
    trash: dict[int, Pages] = {}


def _manifest(stored_manifest: bytes | None) -> _Manifest:
    """Read a manifest; one that cannot be read lists nothing, so that the graph is folded from its events."""
    with contextlib.suppress(msgspec.MsgspecError):
        if stored_manifest:
            return msgspec.json.decode(stored_manifest, type=_Manifest)
    return _Manifest()


class _SealedPages:
    """The pages of one graph, locked if it is encrypted."""

    def __init__(self, graph_id: str, batched: Batched, graph_keys: Keyring) -> None:
        self._graph_id, self._batched, self._graph_keys = graph_id, batched, graph_keys

    def index(self, segment: int) -> bytes:
        return self._read(keys.index_key(self._graph_id, segment))

    def page(self, segment: int, section: int, page: int) -> bytes:
        return self._read(keys.page_key(self._graph_id, segment, section, page))

    def put_index(self, segment: int, value: bytes) -> None:
        self._put(keys.index_key(self._graph_id, segment), value)

    def put_page(self, segment: int, section: int, page: int, value: bytes) -> None:
        self._put(keys.page_key(self._graph_id, segment, section, page), value)

    def _read(self, key: bytes) -> bytes:
        value = self._batched.get(key)
        if value is None:
            raise ValueError(f"a page of graph {self._graph_id} is missing")
        if is_locked(value) and not self._graph_keys.of(self._graph_id):
            raise missing(self._graph_keys, self._graph_id, "its tables are locked")
        return unlock(value, self._graph_id, self._graph_keys)

    def _put(self, key: bytes, value: bytes) -> None:
        self._batched.put(key, lock(value, self._graph_id, self._graph_keys))


class Tables:
    """The stored tables of one graph, with the changes that wait in a batch.

    Raises ValueError, wherever segments are read, for what another layout wrote, or what no key opens any more.
    """

    def __init__(self, graph_id: str, batched: Batched, graph_keys: Keyring = NO_KEYS) -> None:
        self._graph_id, self._batched = graph_id, batched
        self._pages = _SealedPages(graph_id, batched, graph_keys)
        self._graph_keys = graph_keys
        self._manifest = _manifest(batched.get(keys.manifest_key(graph_id)))
        self._segments: list[Segment] | None = None
        self._merges: dict[int, Merge] = {}  # by the level of what is merged

    @property
    def segments(self) -> list[Segment]:
        """The segments, oldest first."""
        if self._segments is None:
            self._segments = [Segment.read(number, self._pages) for number in self._manifest.segments]
            self._go_on_merging(self._segments)
        return self._segments

    def _go_on_merging(self, found: list[Segment]) -> None:
        inputs = {segment.number: segment for segment in found}
        for number in self._manifest.making:
            merge = Merge.going_on(inputs, number, self._pages, found[0].number)
            if merge:
                self._merges[merge.level - 1] = merge

    @property
    def is_empty(self) -> bool:
        """Whether nothing is stored."""
        return not self._manifest.segments

    @property
    def base(self) -> int:
        """How many events can never be taken back: below, only the rows of turns that are here are kept."""
        return self._manifest.base

    def ends(self) -> list[int]:
        """List after how many events segments end, ascending."""
        return [segment.events for segment in self.segments]

    def graph(self, at_most: float = inf, *, with_pairs: bool = True, lazily: bool = False) -> Graph | None:
        """Build the graph as of the last end of a segment that is no more than `at_most` events; None without any.

        lazily  leave many pairs in these tables, to be read by need: nobody else may store the graph meanwhile
        """
        found = [segment for segment in self.segments if segment.events <= at_most]
        if not found:
            return None
        said = table.Runs(found, SECTION["said"]) if with_pairs else None
        values, dead = found[-1].values(), table.dead(found)
        return stored(found[-1].events, values, table.Whole(found), *dead, said=said, lazily=lazily)

    def store(self, graph: Graph, *, thoroughly: bool = False) -> list[int]:
        """Put what the store lacks of the graph into the batch; list the events whose rows nobody will read again.

        Nothing is merged while the graph still reads pairs where they lie.
        """
        if not graph.stored_events:
            self.drop_all()
        while not graph.rests_on_store and self._merge(inf):
            pass
        whole = thoroughly and self._told_of_concepts() > TOLD_OFTEN * len(graph.concepts)
        new = table.written(self._next(), changes(graph, thoroughly=thoroughly, whole=whole), self._pages)
        graph.is_stored()
        self.segments.append(new)
        rest(graph, table.Runs(self.segments, SECTION["said"]), begin=not self._graph_keys.of(self._graph_id))
        gone = [] if self._graph_keys.of(self._graph_id) else self._move_base(graph.undoable_from)
        if not graph.rests_on_store:
            self._begin_merges()
            self._give_credit(new.size)
        self._empty_trash()
        self._write_manifest()
        return gone

    def _told_of_concepts(self) -> int:
        """Count the records of concepts that would be read to open the graph, about."""
        section = SECTION["concepts"]
        pages = (each.fences.get(section.name, ()) for each in table.since_all_told(self.segments))
        return section.page * sum(map(len, pages))

    def tidy(self, most: float = inf) -> bool:
        """Merge what is due, and delete what nobody reads, up to what `most` pairs cost; tell whether more is due."""
        merged = self._merge(most)
        if not merged and self._manifest.trash:
            self._empty_trash()
            self._write_manifest()
        return merged or bool(self._manifest.trash)

    def drop_after(self, ordinal: int) -> None:
        """Drop the segments that hold the event of this ordinal: it is being taken back."""
        self._drop(segment for segment in list(self.segments) if segment.events > ordinal)
        self._write_manifest()

    def drop_all(self) -> None:
        """Drop everything: something was erased that it may hold, or another layout wrote it."""
        if self.is_empty:
            return
        try:
            self._drop(list(self.segments))
        except (ValueError, KeysError):  # nobody knows how many pages they have
            self._segments = []
        self._manifest.base = 0
        self._write_manifest()

    def _drop(self, dropped: Iterable[Segment]) -> None:
        for segment in dropped:
            self._manifest.trash[segment.number] = segment.pages
            self.segments.remove(segment)
        for level, merge in list(self._merges.items()):
            if any(each not in self.segments for each in merge.inputs):
                self._manifest.trash[merge.writer.number] = merge.writer.pages
                del self._merges[level]

    def _next(self) -> int:
        self._manifest.next += 1
        return self._manifest.next

    def _write_manifest(self) -> None:
        self._manifest.segments = [segment.number for segment in self.segments]
        self._manifest.making = [merge.writer.number for merge in self._merges.values()]
        self._batched.put(keys.manifest_key(self._graph_id), msgspec.json.encode(self._manifest))

    # The base

    def _move_base(self, undoable_from: int) -> list[int]:
        """Let the base be the last end of a segment below which nothing can be taken back."""
        before = self.base
        passed = [segment for segment in self.segments if before < segment.events <= undoable_from]
        if not passed:
            return []
        self._manifest.base = passed[-1].events
        for level, merge in list(self._merges.items()):  # of which some lie on this side now, some on the other
            if merge.inputs[0] in passed and merge.inputs[-1] not in passed:
                self._manifest.trash[merge.writer.number] = merge.writer.pages
                del self._merges[level]
        said = {int(event) for segment in passed for event in _keys(segment, "turns")}
        forgotten = {event for segment in passed for event in segment.dead_events}
        return sorted((set(range(before, self.base)) - said) | forgotten)

    # Merging

    def _merge(self, most: float) -> bool:
        """Go on with a merge that is due; tell whether one was."""
        for level, merge in sorted(self._merges.items()):
            if merge.credit > 0:
                merge.step(min(most, merge.credit))
                self._finish(level, merge)
                self._write_manifest()
                return True
        return False

    def _give_credit(self, brought: int) -> None:
        """Let every merge go on by its share; the lowest first, if that would be too much."""
        left = MOST_CREDIT * max(brought, LEAST_CREDIT)
        for level, merge in sorted(self._merges.items()):
            due = min(left, max(LEAST_CREDIT, SLACK * merge.size / FAN ** (level + 1)))
            left -= due
            merge.credit += due

    def _begin_merges(self) -> None:
        busy = {id(each) for merge in self._merges.values() for each in merge.inputs}
        for side in (True, False):
            here = [each for each in self.segments if (each.events <= self.base) == side]
            for level in {each.level for each in here} - self._merges.keys():
                idle = [each for each in here if each.level == level and id(each) not in busy]
                if len(idle) >= FAN:
                    self._begin_merge(level, idle[:FAN])

    def _begin_merge(self, level: int, inputs: list[Segment]) -> None:
        if level not in self._merges:
            is_oldest = inputs[0] is self.segments[0]
            self._merges[level] = merge = Merge(inputs, self._next(), self._pages, is_oldest=is_oldest)
            merge.result()  # of nothing yet: so that whoever opens the graph anew can go on with it

    def _finish(self, level: int, merge: Merge) -> None:
        merged = merge.result()
        if merged is None:
            return
        del self._merges[level]
        self.segments[self.segments.index(merge.inputs[0])] = merged
        self._manifest.trash[merge.inputs[0].number] = merge.inputs[0].pages
        self._drop(merge.inputs[1:])

    def _empty_trash(self) -> None:
        left = DELETED_AT_ONCE
        for segment, pages in list(self._manifest.trash.items()):
            self._batched.put(keys.index_key(self._graph_id, segment), None)
            while pages and left > 0:
                section, count = pages.pop()
                kept = max(count - left, 0)
                for page in range(kept, count):
                    self._batched.put(keys.page_key(self._graph_id, segment, section, page), None)
                left -= count - kept
                if kept:
                    pages.append((section, kept))
            if not pages:
                del self._manifest.trash[segment]

    # Names

    def rows_of(self, names: set[str]) -> dict[str, int]:
        """Find the rows of concepts by their ids."""
        forgotten, _ = table.dead(self.segments)
        found = dict[str, int]()
        for segment in self.segments:
            listed = segment.records(SECTION["names"])
            if isinstance(listed, dict):
                rows = ((name.id, row) for row, name in listed.items() if name.id in names and row not in forgotten)
                found.update(rows)
        return found


def _keys(segment: Segment, name: str) -> Iterable[int]:
    part = segment.records(SECTION[name])
    return () if part is None else (part["key"].tolist() if not isinstance(part, dict) else part)
