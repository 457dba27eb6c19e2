"""Compaction: adjacent tables become one that holds the same, a bounded piece at a time.

The output is read only when it is complete; until then the inputs stay.  After each piece its index says how far it is,
so a process that was killed goes on from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from state.graph.counting import pair_records
from state.lsm import record_types
from state.lsm.record_types import SECTIONS, GraphChanges, Section
from state.lsm.table import LastPages, PageStore, Table, TableWriter, read_index

_DEAD = ("dead_rows", "dead_events")


class Compaction:
    """Adjacent tables that are being merged into one."""

    def __init__(self, inputs: Sequence[Table], number: int, store: PageStore, *, is_oldest: bool) -> None:
        self.inputs = list(inputs)
        self.writer = TableWriter(number, store)
        self.size = sum(each.size for each in inputs)
        self._dead = [sorted({dead for each in inputs for dead in getattr(each, kind)}) for kind in _DEAD]
        self._dead_arrays = [np.array(listed, np.int64) for listed in self._dead]
        self._is_oldest = is_oldest  # no older table can hold what was forgotten: the lists of it end here
        self._section: Section | None = SECTIONS[0]
        self._done_to: int | None = None
        self.credit = 0.0  # how much work is due, in pairs; negative if a step did more than that

    @classmethod
    def resume(cls, inputs: Mapping[int, Table], number: int, store: PageStore, oldest: int) -> Compaction | None:
        """Resume a compaction of an earlier process; return None if some of its inputs were dropped."""
        index = read_index(number, store)
        if not inputs.keys() >= set(index.inputs):
            return None
        compaction = cls([inputs[each] for each in index.inputs], number, store, is_oldest=index.inputs[0] == oldest)
        compaction.writer.resume(index)
        compaction._section = next(each for each in SECTIONS if each.number == index.section)
        compaction._done_to = index.done_to
        return compaction

    @property
    def level(self) -> int:
        """The level of its output."""
        return 1 + max(each.level for each in self.inputs)

    def step(self, most: float) -> None:
        """Merge records that cost as much as `most` pairs, or a little more, and take that from the credit."""
        spent, last_pages = 0.0, LastPages()
        while spent < most and self._section:
            spent += self._merge_piece(self._section, last_pages)
        self.credit -= spent

    def _merge_piece(self, section: Section, last_pages: LastPages) -> float:
        # Up to the nearest fence pointer of any input: a page of each is in memory at a time.
        start, fences = self._done_to, (each.next_fence(section, self._done_to) for each in self.inputs)
        end = min((fence for fence in fences if fence is not None), default=None)
        if end is not None and section.merge_rule == "sum":
            end = end >> pair_records.COUNT_BITS << pair_records.COUNT_BITS  # a pair is never split
        if end is not None and start is not None and end <= start:
            end = start + (1 << pair_records.COUNT_BITS if section.merge_rule == "sum" else 1)
        read = (each.records(section, start, end, last_pages) for each in self.inputs)
        parts = [part for part in read if part is not None]
        if parts:
            merged = record_types.without(section, record_types.combined(section, parts), *self._dead_arrays)
            self.writer.add(section, merged)
        self._done_to = end
        if end is None:
            self.writer.end(section)
            self._section = next((each for each in SECTIONS if each.number > section.number), None)
        return 1 + sum(map(len, parts)) * section.weight

    def save(self) -> Table | None:
        """Write the index: return the table if it is complete, else record how far it is and return None."""
        newest = self.inputs[-1]
        rows, events = ([], []) if self._is_oldest else self._dead
        complete = any(each.complete for each in self.inputs)
        changes = GraphChanges(newest.events, newest.values(), {}, rows, events, complete=complete)
        if self._section is None:
            return self.writer.finish(changes, self.level)
        self.writer.end(self._section)
        inputs = [each.number for each in self.inputs]
        self.writer.put_index(changes, self.level, inputs, self._section.number, self._done_to)
        return None
