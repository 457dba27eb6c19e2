"""Many texts in one string, without an object for each: stored ids of turns and concepts.

    │tea│black tea│milk│      │ is NUL; where each begins and ends is in arrays

A text is found by a search for it between two NULs, which takes 0.5 ms a million characters: for a few searches, this
is faster than making an object of each text and a dictionary of all.  A text may hold NULs itself: only the arrays
decide where texts begin and end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, overload

import numpy as np

from state.arrays import Integers

BETWEEN: Final = "\0"
LOOKS: Final = 24  # for single ones, before a dictionary of all is made: as long as that takes


class Strings(Sequence[str]):
    """Texts in the order given; they never change."""

    def __init__(self, joined: str, starts: Integers, ends: Integers) -> None:
        self._joined, self._starts, self._ends = joined, starts, ends

    @classmethod
    def of(cls, parts: Sequence[str], lengths: Integers) -> Strings:
        """Begin with parts, each is some texts with BETWEEN in between, and the length (n,) of each text."""
        behind = np.cumsum(lengths + 1)
        return cls(BETWEEN.join(["", *parts, ""]), behind - lengths, behind)

    def chosen(self, places: Integers) -> Strings:
        """Take those at places (k,); what finds texts among them needs the places to ascend."""
        return Strings(self._joined, self._starts[places], self._ends[places])

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return list(Strings(self._joined, self._starts[place], self._ends[place]))
        return self._joined[self._starts[place] : self._ends[place]]

    def __iter__(self) -> Iterator[str]:
        joined, starts, ends = self._joined, self._starts.tolist(), self._ends.tolist()
        return (joined[start:end] for start, end in zip(starts, ends, strict=True))

    @property
    def is_ascii(self) -> bool:
        """Return whether all are written in ASCII, and all that they were chosen from: known at once."""
        return self._joined.isascii()

    def listed(self) -> list[str]:
        """List all of them."""
        parts = self._joined[1:-1].split(BETWEEN)
        return parts if len(parts) == len(self) else list(self)  # some were left out, or hold one themselves

    def find(self, text: str) -> int:
        """Find the first place of a text, -1 for none."""
        places = self._beginning(BETWEEN + text + BETWEEN)
        return next((place for place in places if self[place] == text), -1)

    def beginning(self, begin: str) -> Iterator[int]:
        """Yield the places of those that begin so, ascending."""
        return (place for place in self._beginning(BETWEEN + begin) if self[place].startswith(begin))

    def _beginning(self, text: str) -> Iterator[int]:
        """Yield the places of texts with which this begins, after a BETWEEN."""
        for at in self._all(text):
            place = int(np.searchsorted(self._starts, at + 1))
            if place < len(self) and self._starts[place] == at + 1:
                yield place

    def holding(self, part: str) -> Iterator[int]:
        """Yield the places of those that hold a part, of a character or more, ascending."""
        last = -1
        for at in self._all(part):
            place = int(np.searchsorted(self._starts, at, "right")) - 1
            if place > last and at + len(part) <= self._ends[place]:
                last = place
                yield place

    def _all(self, text: str) -> Iterator[int]:
        """Yield where in all of it something stands, ascending."""
        at = self._joined.find(text)
        while at >= 0:
            yield at
            at = self._joined.find(text, at + 1)


class Places(Mapping[str, int]):
    """The place of each of Strings, all different; once many were looked up, a dictionary of all."""

    def __init__(self, count: int, texts: Callable[[], Strings]) -> None:
        """Begin with so many texts, which are made on first use."""
        self._count, self._make = count, texts
        self._lookups: dict[str, int] = {}  # those that were looked up, -1 for one that is not there
        self._all: dict[str, int] | None = None

    @cached_property
    def texts(self) -> Strings:
        """The texts themselves."""
        return self._make()

    @property
    def quickest(self) -> Mapping[str, int]:
        """The same, as the dictionary once it is there: it is asked in a tenth of the time."""
        return self if self._all is None else self._all

    def all(self) -> dict[str, int]:
        """Return the place of each."""
        if self._all is None:
            self._all = dict(zip(self.texts.listed(), range(self._count), strict=True))
            self._lookups = {}
        return self._all

    def __getitem__(self, text: str) -> int:
        if self._all is not None or len(self._lookups) >= LOOKS:
            return self.all()[text]
        place = self._lookups.get(text)
        if place is None:
            place = self._lookups[text] = self.texts.find(text)
        if place < 0:
            raise KeyError(text)
        return place

    def __iter__(self) -> Iterator[str]:
        return iter(self.all())

    def __len__(self) -> int:
        return self._count
