"""All pages of a section of a graph seen as one, of which nothing is laid out before somebody asks for it.

    Columns        a column at a time, of hundreds of pages at once
    StoredTexts    texts, all of them
    StoredStrings  strings, in one; so are names (state/graph/tables/stored_names.py)

Those of several segments may overlap: then they are brought together first.
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


class Reading(Protocol):
    """All records of a graph's sections, those of all segments brought together; without any, there are none."""

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
    """All records of a section of a graph as columns, by name, each laid out when somebody asks for it.

    `key` is one of them; records are in its order.
    """

    def __init__(self, section: Section, pages: Sequence[bytes]) -> None:
        self._section, self._pages = section, [ColumnPage.of(section, page) for page in pages]
        self._places: Integers | None = None  # of the records that count, where that is not all of them as they lie
        if not self._are_in_order():
            self._places = self._order()

    def _are_in_order(self) -> bool:
        may_meet = self._section.adding == "all"
        if len(self._pages) < 2:
            return True
        ends = pairwise((keys.first_key, keys.last_key) for keys in (page.found_keys() for page in self._pages))
        return all(before < first or (may_meet and before == first) for (_, before), (first, _) in ends)

    def _order(self) -> Integers:
        """Find the records that count, by key: where several of one key are one, it is the newest."""
        keys = self["key"]
        order = np.argsort(keys, kind="stable")
        if self._section.adding == "newest":
            keys = keys[order]
            order = order[np.append(keys[1:] != keys[:-1], True)]
        return order

    def __len__(self) -> int:
        return self._lying if self._places is None else len(self._places)

    @property
    def _lying(self) -> int:
        return sum(page.records for page in self._pages)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Lay out a column: to be read, and not changed."""
        if name == "key":
            whole = np.concatenate([np.zeros(0, np.int64), *(page.keys() for page in self._pages)])
        else:
            whole = np.empty(self._lying, columns_of(self._section.name)[name])
            self._lay(name, whole)
        return whole if self._places is None else whole[self._places]

    def rows(self, name: str, code: str) -> array[Any]:
        """Lay out a column as a typed array."""
        rows = array(code, [0]) * (self._lying if self._places is None else 0)
        if self._places is not None:
            rows.frombytes(np.ascontiguousarray(self[name], code).view(np.uint8).data)
        elif len(rows):
            self._lay(name, np.frombuffer(rows, code))
        return rows

    def _lay(self, name: str, whole: NDArray[Any]) -> None:
        place, start = list(columns_of(self._section.name)).index(name), 0
        for page in self._pages:
            page.column(place).lay(whole[start : start + page.records])
            start += page.records

    def only(self, chosen: Mask) -> Columns:
        """Leave out all other records."""
        found = Columns(self._section, ())
        found._pages = self._pages
        found._places = np.flatnonzero(chosen) if self._places is None else self._places[chosen]
        return found

    def runs(self) -> tuple[Integers, Integers]:
        """List the distinct keys, ascending (k,), and where the records of each begin (k,)."""
        if self._places is not None:
            keys, starts = self["key"], np.arange(len(self))
        else:
            keys = _concatenated(page.distinct_keys() for page in self._pages)
            lengths = _concatenated(page.lengths() for page in self._pages)
            starts = np.cumsum(lengths)
            starts -= lengths
        goes_on = np.flatnonzero(keys[1:] == keys[:-1]) + 1  # from one page to the next
        return (np.delete(keys, goes_on), np.delete(starts, goes_on)) if len(goes_on) else (keys, starts)


class StoredTexts:
    """All values of a section of texts, unpacked when somebody asks for them."""

    def __init__(self, section: Section, pages: Sequence[bytes]) -> None:
        self._section, self._pages = section, pages

    def by_key(self) -> Texts:
        """Unpack all of it."""
        return _brought_together(self._section, self._pages)


class StoredStrings:
    """All strings of a section, in one, which is made when somebody asks for some."""

    def __init__(self, section: Section, pages: Sequence[bytes]) -> None:
        self._section, self._pages = section, pages

    @cached_property
    def _brought(self) -> tuple[Integers, Strings]:
        """The keys, ascending, and the strings."""
        opened = [STRING_PAGE.decode(page) for page in _in_order(self._section, self._pages)]
        lengths = _concatenated(page.column(page.lengths) for page in opened)
        keys = _concatenated(page.found().keys() for page in opened)
        return keys, Strings.of([page.joined for page in opened], lengths)

    def of(self, keys: Integers) -> Strings:
        """Choose those of keys (k,), which are all there; what finds texts among them needs ascending ones."""
        stored, texts = self._brought
        return texts if np.array_equal(keys, stored) else texts.chosen(np.searchsorted(stored, keys))


def stored_names(section: Section, pages: Sequence[bytes]) -> StoredNames:
    """Bring the names of all concepts together."""
    opened = [NAME_PAGE.decode(page) for page in _in_order(section, pages)]
    lengths = _concatenated(page.column(page.form_lengths) for page in opened)
    ids = _concatenated(page.column(page.lengths) for page in opened)
    return StoredNames(
        _concatenated(page.found().keys() for page in opened),
        Strings.of([page.joined for page in opened], ids),
        Strings.of([page.forms for page in opened], np.maximum(lengths, 0)),
        has_form=lengths >= 0,
        is_phrase=_concatenated(page.column(page.are_phrases) for page in opened) > 0,
    )


def _concatenated(parts: Iterable[Integers]) -> Integers:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _in_order(section: Section, pages: Sequence[bytes]) -> Sequence[bytes]:
    """Give pages whose keys ascend from one to the next: as they are, or one for all of them."""
    found = [TEXT_PAGE.decode(page).found() for page in pages]
    if all(before.last_key < behind.first_key for before, behind in pairwise(found)):
        return pages
    return [encoded(section, _brought_together(section, pages))]


def _brought_together(section: Section, pages: Sequence[bytes]) -> Texts:
    brought = record_types.combined(section, [decoded(section, page) for page in pages])
    assert isinstance(brought, dict)  # noqa: S101 - the section has no dtype
    return brought
