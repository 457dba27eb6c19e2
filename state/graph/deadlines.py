"""A heap of the times at which turns expire, by id, so that no code has to scan all turns of a graph."""

from __future__ import annotations

import heapq
from collections.abc import Container

import numpy as np

from state.graph.tables.decay import NEVER
from state.graph.tables.passage_table import PassageTable


class Deadlines:
    """The turns that expire, by time.  Derived from the table of passages, so it is rebuilt after a load."""

    def __init__(self, passages: PassageTable) -> None:
        expires = np.array(passages.expires, np.int64)
        ids = passages.ids
        self._heap = [(int(expires[number]), ids[number]) for number in np.flatnonzero(expires != NEVER).tolist()]
        heapq.heapify(self._heap)

    def add(self, at: int, turn: str) -> None:
        """Note that a turn expires at `at` (ms)."""
        heapq.heappush(self._heap, (at, turn))

    def earliest(self, numbers: Container[str]) -> int:
        """Return when the next of the turns that are here (`numbers`, by id) expires, ms; NEVER if none does."""
        while self._heap and self._heap[0][1] not in numbers:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else NEVER

    def until(self, at: int, numbers: Container[str]) -> list[str]:
        """Take out the turns that are here and have expired by `at` (ms): the event that says so must follow."""
        over = []
        while self.earliest(numbers) <= at:
            over.append(heapq.heappop(self._heap)[1])
        return over
