"""The bytes of a page of records (state/lsm/record_types.py).

    pairs      the records, nothing else
    columns    u32 records │ u32 distinct keys │ u32 each where the rest begins │ distinct keys │ how many records each
               has, unless it is one │ columns
    texts      msgpack: [how many, keys, values]
    strings    msgpack: [how many, keys, how long each is, all of them, NUL in between]; of names besides the same of
               first forms, -1 long where that is the id, and whether each is a phrase

Keys, lengths and columns are packed, each for itself (state/lsm/frame_of_reference.py).  Column lies behind column,
so that one column can be materialised, of hundreds of pages at once (state/lsm/lazy_columns.py).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from state.arrays import Integers
from state.graph.tables.strings import BETWEEN, Strings
from state.lsm import record_types
from state.lsm.frame_of_reference import Packed, packed, packed_keys, unpacked
from state.lsm.record_types import Name, Part, Section

_OF_STRINGS: Final = frozenset({"ids", "origins", "names"})


def encoded(section: Section, part: Part) -> bytes:
    """Pack the records of a page, one at least."""
    if isinstance(part, dict):
        packed_up = packed_keys(np.fromiter(part, np.int64, len(part)))
        values = _of_strings(list(part.values())) if section.name in _OF_STRINGS else (list(part.values()),)
        return msgspec.msgpack.encode((len(part), packed_up, *values))
    if section.merge_rule == "sum":
        return part.tobytes()
    keys = part["key"]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    several = len(starts) < len(keys)
    lengths = packed(np.diff(starts, append=len(keys))) if several else b""
    columns = [packed(np.ascontiguousarray(part[name])) for name in columns_of(section.name)]
    head, columns = _head(section.name), [packed_keys(keys[starts]), lengths, *columns]
    places = accumulate(map(len, columns[:-1]), initial=head.size)
    return b"".join((head.pack(len(keys), len(starts), *places), *columns))


def _of_strings(values: Sequence[Any]) -> tuple[Any, ...]:
    if not isinstance(values[0], Name):
        return _joined(values)
    are_phrases = packed(np.array([name.is_phrase for name in values], np.int8))
    return *_joined([name.id for name in values]), *_joined([name.form for name in values]), are_phrases


def _joined(texts: Sequence[str | None]) -> tuple[bytes, str]:
    """Join texts, and return how long each is; -1 where there is none."""
    lengths = np.array([-1 if text is None else len(text) for text in texts], np.int64)
    return packed(lengths), BETWEEN.join([text or "" for text in texts])


def decoded(section: Section, page: bytes) -> Part:
    """Unpack the records of a page.  Raises ValueError for other bytes."""
    if section.dtype is None:
        return _decoded_texts(section.name, page)
    if section.merge_rule == "sum":
        return np.frombuffer(page, section.dtype)
    of = ColumnPage.of(section, page)
    records = np.empty(of.records, section.dtype)
    records["key"] = of.keys()
    for place, name in enumerate(columns_of(section.name)):
        of.column(place).write_to(records[name])
    return records


def _decoded_texts(name: str, page: bytes) -> Part:
    values: Iterable[Any]
    if name == "names":
        of_names = NAME_PAGE.decode(page)
        page_keys, values = of_names.packed_keys(), of_names.names()
    elif name in _OF_STRINGS:
        of_strings = STRING_PAGE.decode(page)
        page_keys, values = of_strings.packed_keys(), of_strings.strings()
    else:
        of_values = _VALUE_PAGE.decode(page)
        page_keys, values = of_values.packed_keys(), of_values.values
    return dict(zip(page_keys.keys().tolist(), values, strict=True))


@cache
def columns_of(section: str) -> dict[str, np.dtype[Any]]:
    """Return the dtype of each column but the key, in the order in which they lie."""
    dtype = record_types.SECTION[section].dtype
    return {name: dtype[name] for name in (dtype.names or ()) if name != "key"} if dtype else {}


@cache
def _head(section: str) -> struct.Struct:
    """Lay out what a page of columns begins with, up to a multiple of 8 bytes."""
    count = 4 + len(columns_of(section))
    return struct.Struct(f"<{count}I{4 * (count % 2)}x")


class ColumnPage(NamedTuple):
    """A page of columns: how many records it has, how many distinct keys, and where its columns begin."""

    page: bytes
    records: int
    distinct: int
    places: tuple[int, ...]

    @classmethod
    def of(cls, section: Section, page: bytes) -> ColumnPage:
        """Find the columns of a page.  Raises ValueError for other bytes."""
        try:
            records, distinct, *places = _head(section.name).unpack_from(page)
        except struct.error as error:
            raise ValueError(f"a page of {section.name} is none: {error}") from error
        return cls(page, records, distinct, tuple(places))

    def column(self, place: int) -> Packed:
        """Find a column by its place in `columns_of`."""
        return unpacked(self.page, self.records, self.places[2 + place])

    def lookup_keys(self) -> Packed:
        """Find the keys, each once."""
        return unpacked(self.page, self.distinct, self.places[0])

    def distinct_keys(self) -> Integers:
        """Lay out the keys, each once."""
        return self.lookup_keys().keys()

    def lengths(self) -> Integers:
        """Count the records of each distinct key."""
        if self.distinct == self.records:
            return np.ones(self.records, np.int64)
        return unpacked(self.page, self.distinct, self.places[1]).whole()

    def keys(self) -> Integers:
        """Lay out the key of each record."""
        keys = self.distinct_keys()
        return keys if self.distinct == self.records else np.repeat(keys, self.lengths())


class TextPage(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """The beginning of a page of texts, or of strings.  Decoding it raises ValueError for other bytes."""

    count: int
    keys: bytes

    def packed_keys(self) -> Packed:
        """Find the keys."""
        return unpacked(self.keys, self.count, 0)

    def column(self, packed_column: bytes) -> Integers:
        """Unpack one number for each."""
        return unpacked(packed_column, self.count, 0).whole()


class StringPage(TextPage, array_like=True, gc=False, frozen=True):
    """A page of strings: the length of each, and all in one."""

    lengths: bytes
    joined: str

    def strings(self) -> Strings:
        """Split them."""
        return Strings.of([self.joined], self.column(self.lengths))


class NamePage(StringPage, array_like=True, gc=False, frozen=True):
    """A page of what concepts are called: ids, first forms, -1 long where that is the id, whether each is a phrase."""

    form_lengths: bytes
    forms: str
    are_phrases: bytes

    def names(self) -> Iterator[Name]:
        """Yield them."""
        lengths, are_phrases = self.column(self.form_lengths), self.column(self.are_phrases)
        forms = Strings.of([self.forms], np.maximum(lengths, 0))
        columns = self.strings(), forms, lengths.tolist(), are_phrases.tolist()
        for name, form, length, is_phrase in zip(*columns, strict=True):
            yield Name(name, form if length >= 0 else None, bool(is_phrase))


class _ValuePage(TextPage, array_like=True, gc=False, frozen=True):
    """A page of any other values."""

    values: list[Any]


TEXT_PAGE: Final = msgspec.msgpack.Decoder(TextPage)
STRING_PAGE: Final = msgspec.msgpack.Decoder(StringPage)
NAME_PAGE: Final = msgspec.msgpack.Decoder(NamePage)
_VALUE_PAGE: Final = msgspec.msgpack.Decoder(_ValuePage)
