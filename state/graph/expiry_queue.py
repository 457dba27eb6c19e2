"""A heap of the times at which concepts and passages fade, so that no window has to scan a whole graph.

A concept's entry is a lower bound: a boosted concept keeps its old entry, is checked once too early, and is put back
with its new time.  A passage's time is final: `episode_life` after it was said or restored from the archive.  Archived
entries leave the heap.  The heap is derived from the tables and is no content: it is rebuilt after a load, and the
result of a window does not depend on the bounds in it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence

from state.arrays import Integers
from state.events.memory_settings import MemorySettings
from state.graph.tables.concept_table import ConceptTable
from state.graph.tables.decay import NEVER
from state.graph.tables.passage_table import PassageTable

ENTRY_BYTES = 250  # a time and a number in a tuple, and a concept's in a dict besides
_TINY = 1e-5  # of a strength: rounding of a lifetime weighs at most a tenth of that


class ExpiryQueue:
    """Times at which concepts may have faded, and at which passages are over."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, bool, int]] = []  # (time ms, is a passage, number)
        self._watched: dict[int, int] = {}  # concept → the time of its earliest entry

    @property
    def size(self) -> int:
        """Return the approximate memory use in bytes."""
        return len(self._heap) * ENTRY_BYTES

    @classmethod
    def of(cls, concepts: ConceptTable, passages: PassageTable, settings: MemorySettings) -> ExpiryQueue:
        """Queue everything that is here by when it will have faded, or is over."""
        queue = cls()
        for number in concepts.numbers.values():
            if not concepts.archived[number]:
                queue.watch_concept(number, concepts.expiry(number, settings))
        queue.watch_passages(passages, passages.numbers.values(), settings)
        return queue

    def watch_concept(self, number: int, expiry: int) -> None:
        """Note that a concept will have faded at `expiry`; one that is looked at earlier needs no second entry."""
        if expiry < self._watched.get(number, NEVER):
            self._watched[number] = expiry
            heapq.heappush(self._heap, (expiry, False, number))

    def watch_anchored(self, concepts: ConceptTable, numbers: Iterable[int], settings: MemorySettings) -> None:
        """Note when concepts that were just anchored fade: an earlier entry speaks for them no more.

        Code that takes a concept out that was mentioned once trusts its entry, so it must not stay a lower bound.
        """
        for number in numbers:
            self._watched[number] = expiry = concepts.expiry(number, settings)
            heapq.heappush(self._heap, (expiry, False, number))

    def watch_boosted(
        self, concepts: ConceptTable, numbers: Sequence[int], *, boosts: Sequence[float], settings: MemorySettings
    ) -> None:
        """Note when concepts that were boosted, by as much each, will have faded.

        A boost lets a concept fade later, never sooner, so an older entry stays a lower bound: but for boosts so small
        that rounding weighs more.
        """
        for number, boost in zip(numbers, boosts, strict=True):
            if number not in self._watched or boost < concepts.strength[number] * _TINY:
                self.watch_concept(number, concepts.expiry(number, settings))

    def watch_passages(self, passages: PassageTable, numbers: Iterable[int], settings: MemorySettings) -> None:
        """Note when passages are over; nothing puts that off, so each is watched once."""
        if settings.episode_life:
            for number in numbers:
                if not passages.archived[number]:
                    heapq.heappush(self._heap, (passages.over_at(number, settings.episode_life), True, number))

    def renumber(self, concepts: Integers, passages: Integers) -> None:
        """Renumber concept i to concepts[i] and passage i to passages[i], and drop those of -1."""
        numbers = concepts.tolist(), passages.tolist()
        renumbered = ((time, which, numbers[which][number]) for time, which, number in self._heap)
        self._heap = [entry for entry in renumbered if entry[2] >= 0]
        heapq.heapify(self._heap)
        watched = ((numbers[False][number], time) for number, time in self._watched.items())
        self._watched = {number: time for number, time in watched if number >= 0}

    def earliest(self) -> int:
        """Return the time (ms) before which nothing has faded, NEVER if nothing ever does."""
        return self._heap[0][0] if self._heap else NEVER

    def until(self, at: int, expiry_of: Callable[[int], int]) -> tuple[list[int], list[int]]:
        """Take out, by time, the numbers of concepts that have faded by `at` (ms) and of passages that are over.

        Some of them may have left otherwise before.
        """
        heap, watched = self._heap, self._watched
        concepts, passages = list[int](), list[int]()
        while heap and heap[0][0] <= at:
            time, is_passage, number = heapq.heappop(heap)
            if is_passage:
                passages.append(number)
            elif watched.get(number) == time:  # else an earlier entry has spoken for it
                del watched[number]
                expiry = expiry_of(number)
                if expiry > at:
                    self.watch_concept(number, expiry)
                else:
                    concepts.append(number)
        return concepts, passages
