"""All pages of a section of a graph as one, packed until they are needed.

    Columns        materialises a column at a time, of hundreds of pages at once
    StoredTexts    unpacks all its texts on first use
    StoredStrings  joins all its strings into one on first use; so do names (state/graph/tables/stored_names.py)

Pages of several tables may overlap: then they are merged first.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from state.arrays import Integers, Mask
from state.graph.tables.stored_names import StoredNames
from state.graph.tables.strings import Strings
from state.lsm import record_types
from state.lsm.page_format import (
    NAME_PAGE,
    STRING_PAGE,
    TEXT_PAGE,
    ColumnPage,
    columns_of,
    decoded,
    encoded,
)
from state.lsm.record_types import Records, Section, Texts


class SectionReader(Protocol):
    """Reads the sections of a graph: the merged records of all its tables."""

    def columns(self, name: str) -> Columns:
        """Read a section of columns."""

    def texts(self, name: str) -> StoredTexts:
        """Read a section of texts."""

    def strings(self, name: str) -> StoredStrings:
        """Read a section of strings."""

    def names(self) -> StoredNames:
        """Read the names of concepts."""

    def pairs(self, name: str) -> Records:
        """Read a section of pairs, ascending; of a pair there may be several."""


class Columns:
    """All records of a section of a graph as columns, by name, each materialised on first use.

    `key` is one of them; records are in its order.
    """

    def __init__(self, section: Section, pages: Sequence[bytes]) -> None:
        self._section, self._pages = section, [ColumnPage.of(section, page) for page in pages]
        self._places: Integers | None = None  # of the records that count; None if all count, in stored order
        if not self._are_in_order():
            self._places = self._order()

    def _are_in_order(self) -> bool:
        may_meet = self._section.merge_rule == "all"
        if len(self._pages) < 2:
            return True
        ends = pairwise((keys.first_key, keys.last_key) for keys in (page.lookup_keys() for page in self._pages))
        return all(before < first or (may_meet and before == first) for (_, before), (first, _) in ends)

    def _order(self) -> Integers:
        """Sort the records by key, and keep the newest of each where the merge rule says so."""
        keys = self["key"]
        order = np.argsort(keys, kind="stable")
        if self._section.merge_rule == "newest":
            keys = keys[order]
            order = order[np.append(keys[1:] != keys[:-1], True)]
        return order

    def __len__(self) -> int:
        return self._records_stored if self._places is None else len(self._places)

    @property
    def _records_stored(self) -> int:
        return sum(page.records for page in self._pages)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Materialise a column, to be read only."""
        if name == "key":
            whole = np.concatenate([np.zeros(0, np.int64), *(page.keys() for page in self._pages)])
        else:
            whole = np.empty(self._records_stored, columns_of(self._section.name)[name])
            self._materialise(name, whole)
        return whole if self._places is None else whole[self._places]

    def rows(self, name: str, code: str) -> array[Any]:
        """Materialise a column as a typed array."""
        rows = array(code, [0]) * (self._records_stored if self._places is None else 0)
        if self._places is not None:
            rows.frombytes(np.ascontiguousarray(self[name], code).view(np.uint8).data)
        elif len(rows):
            self._materialise(name, np.frombuffer(rows, code))
        return rows

    def _materialise(self, name: str, whole: NDArray[Any]) -> None:
        place, start = list(columns_of(self._section.name)).index(name), 0
        for page in self._pages:
            page.column(place).write_to(whole[start : start + page.records])
            start += page.records

    def only(self, chosen: Mask) -> Columns:
        """Return the chosen records alone."""
        columns = Columns(self._section, ())
        columns._pages = self._pages
        columns._places = np.flatnonzero(chosen) if self._places is None else self._places[chosen]
        return columns

    def runs(self) -> tuple[Integers, Integers]:
        """List the distinct keys, ascending (k,), and where the records of each begin (k,)."""
        if self._places is not None:
            keys, starts = self["key"], np.arange(len(self))
        else:
            keys = _concatenated(page.distinct_keys() for page in self._pages)
            lengths = _concatenated(page.lengths() for page in self._pages)
            starts = np.cumsum(lengths)
            starts -= lengths
        goes_on = np.flatnonzero(keys[1:] == keys[:-1]) + 1  # a key that continues on the next page
        return (np.delete(keys, goes_on), np.delete(starts, goes_on)) if len(goes_on) else (keys, starts)


class StoredTexts:
    """All values of a section of texts, unpacked on first use."""

    def __init__(self, section: Section, pages: Sequence[bytes]) -> None:
        self._section, self._pages = section, pages

    def by_key(self) -> Texts:
        """Unpack all of them, by key."""
        return _merge_texts(self._section, self._pages)


class StoredStrings:
    """All strings of a section, joined into one on first use."""

    def __init__(self, section: Section, pages: Sequence[bytes]) -> None:
        self._section, self._pages = section, pages

    @cached_property
    def _merged(self) -> tuple[Integers, Strings]:
        """The keys, ascending, and the strings."""
        opened = [STRING_PAGE.decode(page) for page in _in_order(self._section, self._pages)]
        lengths = _concatenated(page.column(page.lengths) for page in opened)
        keys = _concatenated(page.packed_keys().keys() for page in opened)
        return keys, Strings.of([page.joined for page in opened], lengths)

    def of(self, keys: Integers) -> Strings:
        """Return the strings of keys (k,), which must all be stored; to search in the result, keys must ascend."""
        stored, texts = self._merged
        return texts if np.array_equal(keys, stored) else texts.chosen(np.searchsorted(stored, keys))


def stored_names(section: Section, pages: Sequence[bytes]) -> StoredNames:
    """Merge the names of all concepts."""
    opened = [NAME_PAGE.decode(page) for page in _in_order(section, pages)]
    lengths = _concatenated(page.column(page.form_lengths) for page in opened)
    ids = _concatenated(page.column(page.lengths) for page in opened)
    return StoredNames(
        _concatenated(page.packed_keys().keys() for page in opened),
        Strings.of([page.joined for page in opened], ids),
        Strings.of([page.forms for page in opened], np.maximum(lengths, 0)),
        has_form=lengths >= 0,
        is_phrase=_concatenated(page.column(page.are_phrases) for page in opened) > 0,
    )


def _concatenated(parts: Iterable[Integers]) -> Integers:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _in_order(section: Section, pages: Sequence[bytes]) -> Sequence[bytes]:
    """Return pages whose keys ascend from one to the next: as they are, or merged into one."""
    keys = [TEXT_PAGE.decode(page).packed_keys() for page in pages]
    if all(before.last_key < behind.first_key for before, behind in pairwise(keys)):
        return pages
    return [encoded(section, _merge_texts(section, pages))]


def _merge_texts(section: Section, pages: Sequence[bytes]) -> Texts:
    merged = record_types.combined(section, [decoded(section, page) for page in pages])
    assert isinstance(merged, dict)  # noqa: S101 - the section has no dtype
    return merged
