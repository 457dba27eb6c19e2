"""The LSM tree of one graph: its tables, oldest first, and what keeps them few (state/lsm/README.md has the picture).

    events   0 ───────────── horizon ────────────────────── ends of tables ── now
    tables   │ ≥ 1, compacted  │ newer ones, smaller │ │ │ │              └ rows of events alone
    rows     │ texts of turns  │ every row

A graph is the sum of its tables: each begins where the one before it ends.  When events are taken back, the tables that
hold them are dropped, and the graph is folded again from the end of those that are left.

    horizon     the undo horizon: nothing below it can be taken back, so rows of events are deleted there, except those
                of turns that are still in the graph.  It stays the end of a table: compaction never crosses it
    compaction  FAN tables of one level become one of the next.  Each flush gives every compaction credit for its share
                of work; `compact_step` spends it between flushes, and the next flush spends what is left
    trash       pages that no table needs, deleted a few at a time
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from math import inf
from typing import Final, Protocol

import msgspec
import numpy as np

from state.errors import KeysError
from state.graph.counting import cooccurrence
from state.graph.counting.stored_pairs import PairWindow, StoredPairs
from state.graph.graph import Graph
from state.lsm.compaction import Compaction
from state.lsm.graph_reader import read_graph
from state.lsm.graph_writer import collect_changes
from state.lsm.record_types import SECTION
from state.lsm.table import MergedTables, Pages, PairRuns, Table, forgotten, since_complete, write_table
from state.sealing.keyring import NO_KEYS, Keyring, is_locked, lock, missing, unlock
from state.store import keys

FAN = 12
SLACK = 1.3  # how much more is compacted with a flush than is needed on average
LEAST_CREDIT = 1 << 14  # pairs that are compacted for every flush, if there is anything to compact
MOST_CREDIT = 8  # times what a flush writes, that may be compacted for it
DELETED_AT_ONCE = 512  # keys
MOST_VERSIONS = 3  # records of each concept, on average, before `close` writes a complete table of all concepts


class Batched(Protocol):
    """A store, seen through a batch that is not written yet."""

    def get(self, key: bytes) -> bytes | None:
        """Read a value.  Raises StoreCorruptError."""

    def put(self, key: bytes, value: bytes | None) -> None:
        """Add a value into the batch; None: delete it."""


class _Manifest(
    msgspec.Struct, rename={"tables": "segments", "horizon": "base", "next_number": "next", "unfinished": "making"}
):
    """The tables of a graph.  The names in the store are older than these: changing them changes its bytes.

    tables       their numbers, oldest first
    horizon      see the module's docstring; 0: every row is there
    next_number  the number of the last table that was begun
    unfinished   tables that a compaction is writing
    trash        tables that are no longer read, and their pages
    """

    tables: list[int] = []
    horizon: int = 0
    next_number: int = 0
    unfinished: list[int] = []
    trash: dict[int, Pages] = {}


def _manifest(stored_manifest: bytes | None) -> _Manifest:
    """Read a manifest; return an empty one if it is unreadable, so that the graph is folded from its events."""
    with contextlib.suppress(msgspec.MsgspecError):
        if stored_manifest:
            return msgspec.json.decode(stored_manifest, type=_Manifest)
    return _Manifest()


class _SealedPages:
    """The pages of one graph, locked if it is encrypted."""

    def __init__(self, graph_id: str, batched: Batched, graph_keys: Keyring) -> None:
        self._graph_id, self._batched, self._graph_keys = graph_id, batched, graph_keys

    def index(self, table: int) -> bytes:
        return self._read(keys.index_key(self._graph_id, table))

    def page(self, table: int, section: int, page: int) -> bytes:
        return self._read(keys.page_key(self._graph_id, table, section, page))

    def put_index(self, table: int, value: bytes) -> None:
        self._put(keys.index_key(self._graph_id, table), value)

    def put_page(self, table: int, section: int, page: int, value: bytes) -> None:
        self._put(keys.page_key(self._graph_id, table, section, page), value)

    def _read(self, key: bytes) -> bytes:
        value = self._batched.get(key)
        if value is None:
            raise ValueError(f"a page of graph {self._graph_id} is missing")
        if is_locked(value) and not self._graph_keys.of(self._graph_id):
            raise missing(self._graph_keys, self._graph_id, "its tables are locked")
        return unlock(value, self._graph_id, self._graph_keys)

    def _put(self, key: bytes, value: bytes) -> None:
        self._batched.put(key, lock(value, self._graph_id, self._graph_keys))


class Tree:
    """The tables of one graph, seen through a batch that is not written yet.

    All methods that read tables raise ValueError if another layout wrote them, or if their key is destroyed.
    """

    def __init__(self, graph_id: str, batched: Batched, graph_keys: Keyring = NO_KEYS) -> None:
        self._graph_id, self._batched = graph_id, batched
        self._pages = _SealedPages(graph_id, batched, graph_keys)
        self._graph_keys = graph_keys
        self._manifest = _manifest(batched.get(keys.manifest_key(graph_id)))
        self._tables: list[Table] | None = None
        self._compactions: dict[int, Compaction] = {}  # by the level of their inputs

    @property
    def tables(self) -> list[Table]:
        """The tables, oldest first."""
        if self._tables is None:
            self._tables = [Table.read(number, self._pages) for number in self._manifest.tables]
            self._resume_compactions(self._tables)
        return self._tables

    def _resume_compactions(self, tables: list[Table]) -> None:
        inputs = {table.number: table for table in tables}
        for number in self._manifest.unfinished:
            compaction = Compaction.resume(inputs, number, self._pages, tables[0].number)
            if compaction:
                self._compactions[compaction.level - 1] = compaction

    @property
    def is_empty(self) -> bool:
        """Return whether no table is stored."""
        return not self._manifest.tables

    @property
    def horizon(self) -> int:
        """Return how many events can never be undone: below it, only rows of turns in the graph are kept."""
        return self._manifest.horizon

    def ends(self) -> list[int]:
        """List the number of events at the end of each table, ascending."""
        return [table.events for table in self.tables]

    def graph(self, at_most: float = inf, *, with_pairs: bool = True, lazy: bool = False) -> Graph | None:
        """Build the graph as of the last end of a table that is no more than `at_most` events; None without any.

        lazy  leave many pairs in these tables until they are needed: only this tree may store the graph meanwhile
        """
        tables = [table for table in self.tables if table.events <= at_most]
        if not tables:
            return None
        pairs = PairRuns(tables, SECTION["said"]) if with_pairs else None
        values, dead = tables[-1].values(), forgotten(tables)
        return read_graph(tables[-1].events, values, MergedTables(tables), *dead, pairs=pairs, lazy=lazy)

    def flush(self, graph: Graph, *, closing: bool = False) -> list[int]:
        """Add what the store lacks of the graph into the batch as a new table; list the events whose rows may go.

        closing  also write what lets a large graph open without reading all its pairs
        """
        if not graph.stored_events:
            self.drop_all()
        while not graph.reads_stored_pairs and self._step(inf):  # it must not lose the pages that it reads
            pass
        complete = closing and self._concept_records() > MOST_VERSIONS * len(graph.concepts)
        changes = collect_changes(graph, with_fans=closing, complete=complete)
        table = write_table(self._next_number(), changes, self._pages)
        graph.is_stored()
        self.tables.append(table)
        is_sealed = bool(self._graph_keys.of(self._graph_id))
        _spill(graph, PairRuns(self.tables, SECTION["said"]), begin=not is_sealed)
        removable = [] if is_sealed else self._move_horizon(graph.undoable_from)
        if not graph.reads_stored_pairs:
            self._begin_compactions()
            self._give_credit(table.size)
        self._empty_trash()
        self._write_manifest()
        return removable

    def _concept_records(self) -> int:
        """Count the records of concepts that would be read to open the graph, about."""
        section = SECTION["concepts"]
        pages = (each.fences.get(section.name, ()) for each in since_complete(self.tables))
        return section.page * sum(map(len, pages))

    def compact_step(self, most: float = inf) -> bool:
        """Compact a due piece, or delete trash, up to the cost of `most` pairs; return whether more is due."""
        compacted = self._step(most)
        if not compacted and self._manifest.trash:
            self._empty_trash()
            self._write_manifest()
        return compacted or bool(self._manifest.trash)

    def drop_after(self, ordinal: int) -> None:
        """Drop the tables that hold the event of this ordinal: it is being taken back."""
        self._drop(table for table in list(self.tables) if table.events > ordinal)
        self._write_manifest()

    def drop_all(self) -> None:
        """Drop everything: something was erased that it may hold, or another layout wrote it."""
        if self.is_empty:
            return
        try:
            self._drop(list(self.tables))
        except (ValueError, KeysError):  # an unreadable index does not say which pages there are
            self._tables = []
        self._manifest.horizon = 0
        self._write_manifest()

    def _drop(self, dropped: Iterable[Table]) -> None:
        for table in dropped:
            self._manifest.trash[table.number] = table.pages
            self.tables.remove(table)
        for level, compaction in list(self._compactions.items()):
            if any(each not in self.tables for each in compaction.inputs):
                self._abandon(level, compaction)

    def _abandon(self, level: int, compaction: Compaction) -> None:
        self._manifest.trash[compaction.writer.number] = compaction.writer.pages
        del self._compactions[level]

    def _next_number(self) -> int:
        self._manifest.next_number += 1
        return self._manifest.next_number

    def _write_manifest(self) -> None:
        self._manifest.tables = [table.number for table in self.tables]
        self._manifest.unfinished = [each.writer.number for each in self._compactions.values()]
        self._batched.put(keys.manifest_key(self._graph_id), msgspec.json.encode(self._manifest))

    # The undo horizon

    def _move_horizon(self, undoable_from: int) -> list[int]:
        """Move the horizon to the last end of a table at or below `undoable_from`; list the rows that may go."""
        before = self.horizon
        passed = [table for table in self.tables if before < table.events <= undoable_from]
        if not passed:
            return []
        self._manifest.horizon = passed[-1].events
        for level, compaction in list(self._compactions.items()):
            if compaction.inputs[0] in passed and compaction.inputs[-1] not in passed:  # it would cross the horizon
                self._abandon(level, compaction)
        turns = {int(event) for table in passed for event in _keys(table, "turns")}
        dead = {event for table in passed for event in table.dead_events}
        return sorted((set(range(before, self.horizon)) - turns) | dead)

    # Compaction

    def _step(self, most: float) -> bool:
        """Continue the lowest compaction that has credit; return whether one had."""
        for level, compaction in sorted(self._compactions.items()):
            if compaction.credit > 0:
                compaction.step(min(most, compaction.credit))
                self._install(level, compaction)
                self._write_manifest()
                return True
        return False

    def _give_credit(self, flushed: int) -> None:
        """Credit every compaction with its share of work for a flush; the lowest first, if that would be too much."""
        left = MOST_CREDIT * max(flushed, LEAST_CREDIT)
        for level, compaction in sorted(self._compactions.items()):
            due = min(left, max(LEAST_CREDIT, SLACK * compaction.size / FAN ** (level + 1)))
            left -= due
            compaction.credit += due

    def _begin_compactions(self) -> None:
        busy = {id(each) for compaction in self._compactions.values() for each in compaction.inputs}
        for below_horizon in (True, False):
            side = [each for each in self.tables if (each.events <= self.horizon) == below_horizon]
            for level in {each.level for each in side} - self._compactions.keys():
                idle = [each for each in side if each.level == level and id(each) not in busy]
                if len(idle) >= FAN:
                    self._begin_compaction(level, idle[:FAN])

    def _begin_compaction(self, level: int, inputs: list[Table]) -> None:
        if level not in self._compactions:
            is_oldest = inputs[0] is self.tables[0]
            compaction = Compaction(inputs, self._next_number(), self._pages, is_oldest=is_oldest)
            self._compactions[level] = compaction
            compaction.save()  # while it is empty, so that the next process to open the graph can resume it

    def _install(self, level: int, compaction: Compaction) -> None:
        """Replace the inputs by a table that is complete; save how far it is otherwise."""
        output = compaction.save()
        if output is None:
            return
        del self._compactions[level]
        self.tables[self.tables.index(compaction.inputs[0])] = output
        self._manifest.trash[compaction.inputs[0].number] = compaction.inputs[0].pages
        self._drop(compaction.inputs[1:])

    def _empty_trash(self) -> None:
        left = DELETED_AT_ONCE
        for table, pages in list(self._manifest.trash.items()):
            self._batched.put(keys.index_key(self._graph_id, table), None)
            while pages and left > 0:
                section, count = pages.pop()
                remaining = max(count - left, 0)
                for page in range(remaining, count):
                    self._batched.put(keys.page_key(self._graph_id, table, section, page), None)
                left -= count - remaining
                if remaining:
                    pages.append((section, remaining))
            if not pages:
                del self._manifest.trash[table]

    # Names

    def rows_of(self, names: set[str]) -> dict[str, int]:
        """Find the rows of concepts by their ids."""
        dead, _ = forgotten(self.tables)
        rows = dict[str, int]()
        for table in self.tables:
            records = table.records(SECTION["names"])
            if isinstance(records, dict):
                rows |= {name.id: row for row, name in records.items() if name.id in names and row not in dead}
        return rows


def _keys(table: Table, name: str) -> Iterable[int]:
    part = table.records(SECTION[name])
    return () if part is None else (part["key"].tolist() if not isinstance(part, dict) else part)


_WINDOWS: Final[tuple[PairWindow, ...]] = ("exchange", "turn")


def _spill(graph: Graph, runs: PairRuns, *, begin: bool) -> None:
    """Drop the pairs of a graph that was just stored from memory, as far as they were not read yet.

    A graph that only receives turns holds just what is not flushed.  The first reader of a window loads all of it
    (counting/stored_pairs.py), and it stays loaded: a question has to know of each new pair whether it is new.

    runs   all that is stored of them; it may grow, and be compacted, while they are spilled
    begin  whether windows that are in memory may be spilled: not where the store may soon be unreadable
    """
    begin = begin and not graph.settings.fades_links and runs.records >= cooccurrence.SPILL_ABOVE
    spilled: list[PairWindow] = [
        window
        for window in _WINDOWS
        if (pairs := graph.pairs[window]).can_spill and (begin or pairs.stored is not None)
    ]
    if spilled:
        rows = np.array(graph.concepts.rows, np.int64)
        numbers = np.full(graph.concepts.born + 1, -1)
        numbers[rows] = np.arange(len(rows))
        for window in spilled:
            pairs = graph.pairs[window]
            pairs.spill(StoredPairs(runs, rows, numbers, {window: pairs}, grows=True), window)
