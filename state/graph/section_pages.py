"""The bytes of a page of records (state/graph/sections.py), and all pages of a section seen as one.

    pairs      the records, nothing else
    columns    u32 records │ u32 distinct keys │ those │ u32 how many records each has, unless it is one │ columns,
               the widest first
    texts      msgpack: [keys, int64 each, values]

Column lies behind column, so that whoever opens a graph lays out a column of hundreds of pages at once, and only what
is asked for (`Columns`); texts are unpacked page by page (`StoredTexts`).
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple, Protocol, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from state.arrays import Integers, Mask
from state.graph import sections
from state.graph.sections import Name, Part, Records, Section, Texts

_SIZES: Final = struct.Struct("<II")
_KEY: Final = struct.Struct("<q")
_LENGTH: Final = np.dtype("<u4")
_KEYS_ALONE: Final = msgspec.msgpack.Decoder(tuple[bytes, msgspec.Raw])
_STRINGS: Final = msgspec.msgpack.Decoder(list[str])
_ANY: Final = msgspec.msgpack.Decoder(list[Any])
_VALUES: Final[dict[str, msgspec.msgpack.Decoder[Any]]] = {
    "names": msgspec.msgpack.Decoder(list[Name]),
    "ids": _STRINGS,
    "origins": _STRINGS,
}


def encoded(section: Section, part: Part) -> bytes:
    """Pack the records of a page, one at least."""
    if isinstance(part, dict):
        keys = np.fromiter(part, "<i8", len(part))
        return msgspec.msgpack.encode((keys.tobytes(), list(part.values())))
    if section.adding == "sum":
        return part.tobytes()
    keys = part["key"]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    several = len(starts) < len(keys)
    lengths = np.diff(starts, append=len(keys)).astype(_LENGTH).tobytes() if several else b""
    columns = (part[name].tobytes() for name in _columns(section.name))
    return b"".join((_SIZES.pack(len(keys), len(starts)), keys[starts].tobytes(), lengths, *columns))


def decoded(section: Section, page: bytes) -> Part:
    """Unpack the records of a page.  Raises ValueError for other bytes."""
    if section.dtype is None:
        listed, packed = _KEYS_ALONE.decode(page)
        values = _VALUES.get(section.name, _ANY).decode(packed)
        return dict(zip(np.frombuffer(listed, "<i8").tolist(), values, strict=True))
    if section.adding == "sum":
        return np.frombuffer(page, section.dtype)
    of = _Page.of(page)
    records = np.empty(of.records, section.dtype)
    records["key"] = of.keys()
    for name in _columns(section.name):
        records[name] = of.column(section, name)
    return records


@cache
def _columns(section: str) -> dict[str, tuple[np.dtype[Any], int]]:
    """Give the dtype of each column but the key, the widest first, and how many bytes of a record lie before it."""
    dtype = sections.SECTION[section].dtype
    named = [(name, dtype[name]) for name in (dtype.names or ()) if name != "key"] if dtype else []
    named.sort(key=lambda column: -column[1].itemsize)
    before = np.cumsum([0, *(each.itemsize for _, each in named)]).tolist()
    return {name: (each, at) for (name, each), at in zip(named, before, strict=False)}


def _dtype(section: Section, name: str) -> np.dtype[Any]:
    return _columns(section.name)[name][0]


class _Page(NamedTuple):
    """A page of columns: its bytes, its records, its distinct keys, and where what comes behind those begins."""

    page: bytes
    records: int
    distinct: int
    body: int

    @classmethod
    def of(cls, page: bytes) -> _Page:
        records, distinct = _SIZES.unpack_from(page)
        return cls(page, records, distinct, _SIZES.size + 8 * distinct + (4 * distinct if distinct < records else 0))

    @property
    def first(self) -> int:
        return int(_KEY.unpack_from(self.page, _SIZES.size)[0])

    @property
    def last(self) -> int:
        return int(_KEY.unpack_from(self.page, _SIZES.size + 8 * (self.distinct - 1))[0])

    def distinct_keys(self) -> Integers:
        return np.frombuffer(self.page, "<i8", self.distinct, _SIZES.size)

    def lengths(self) -> Integers:
        """Count the records of each distinct key."""
        if self.distinct == self.records:
            return np.ones(self.records, np.int64)
        return np.frombuffer(self.page, _LENGTH, self.distinct, _SIZES.size + 8 * self.distinct).astype(np.int64)

    def keys(self) -> Integers:
        keys = self.distinct_keys()
        return keys if self.distinct == self.records else np.repeat(keys, self.lengths())

    def column(self, section: Section, name: str) -> NDArray[Any]:
        dtype, before = _columns(section.name)[name]
        return np.frombuffer(self.page, dtype, self.records, self.body + self.records * before)


class Reading(Protocol):
    """All records of a graph's sections, those of all segments brought together; without any, there are none."""

    def columns(self, name: str) -> Columns:
        """Read a section of columns."""

    def texts(self, name: str) -> StoredTexts:
        """Read a section of texts."""

    def pairs(self, name: str) -> Records:
        """Read a section of pairs, ascending; of a pair there may be several."""


class Columns:
    """All records of a section of a graph as columns, by name, each laid out when somebody asks for it.

    `key` is one of them; records are in its order.
    """

    def __init__(self, section: Section, pages: Sequence[bytes]) -> None:
        self._section, self._pages = section, [_Page.of(page) for page in pages]
        self._places: Integers | None = None  # of the records that count, where that is not all of them as they lie
        if not self._are_in_order():
            self._places = self._order()

    def _are_in_order(self) -> bool:
        may_meet = self._section.adding == "all"
        ends = pairwise((page.first, page.last) for page in self._pages)
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
        return sum(page.records for page in self._pages) if self._places is None else len(self._places)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Lay out a column: to be read, and not changed."""
        if name == "key":
            laid, dtype = [page.keys() for page in self._pages], np.dtype(np.int64)
        else:
            laid, dtype = [page.column(self._section, name) for page in self._pages], _dtype(self._section, name)
        whole = laid[0] if len(laid) == 1 else np.concatenate([np.zeros(0, dtype), *laid])
        return whole if self._places is None else whole[self._places]

    def only(self, chosen: Mask) -> Columns:
        """Leave out all other records."""
        found = Columns(self._section, ())
        found._pages = self._pages
        found._places = np.flatnonzero(chosen) if self._places is None else self._places[chosen]
        return found

    def runs(self) -> tuple[Integers, Integers]:
        """List the distinct keys, ascending (k,), and where the records of each begin (k,)."""
        none = np.zeros(0, np.int64)
        if self._places is not None:
            keys, starts = self["key"], np.arange(len(self))
        else:
            keys = np.concatenate([none, *(page.distinct_keys() for page in self._pages)])
            lengths = np.concatenate([none, *(page.lengths() for page in self._pages)])
            starts = np.cumsum(lengths) - lengths
        is_first = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
        return keys[is_first], starts[is_first]


class StoredTexts:
    """All values of a section of texts, unpacked page by page when somebody asks for one of a page.

    keys  (k,) ascending
    """

    def __init__(self, section: Section, pages: Sequence[bytes]) -> None:
        opened = [_KEYS_ALONE.decode(page) for page in pages]
        keys = [np.frombuffer(listed, "<i8") for listed, _ in opened]
        self._values: list[msgspec.Raw | list[Any]] = [values for _, values in opened]
        if not all(before[-1] < behind[0] for before, behind in pairwise(keys)):
            brought = sections.combined(section, [decoded(section, page) for page in pages])
            assert isinstance(brought, dict)  # noqa: S101 - the section has no dtype
            keys, self._values = [np.fromiter(brought, np.int64, len(brought))], [list(brought.values())]
        self._unpack = _VALUES.get(section.name, _ANY).decode
        self.keys: Integers = np.concatenate([np.zeros(0, np.int64), *keys])
        ends = np.cumsum([len(each) for each in keys])
        self._starts: list[int] = (ends - [len(each) for each in keys]).tolist()

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, place: int) -> Any:
        """Give the value of keys[place]."""
        page = bisect_right(self._starts, place) - 1
        return self._page(page)[place - self._starts[page]]

    def _page(self, page: int) -> list[Any]:
        values = self._values[page]
        if isinstance(values, msgspec.Raw):
            values = self._values[page] = self._unpack(values)
        return values

    def all(self) -> list[Any]:
        """Unpack all values, in the order of their keys."""
        return list(chain.from_iterable(map(self._page, range(len(self._values)))))

    def of(self, keys: Integers) -> list[Any]:
        """Unpack the values of ascending keys (k,), which are all there."""
        values = self.all()
        if np.array_equal(keys, self.keys):
            return values
        return [values[place] for place in np.searchsorted(self.keys, keys).tolist()]

    def by_key(self) -> Texts:
        """Unpack all of it."""
        return dict(zip(self.keys.tolist(), self.all(), strict=True))


class LateTexts(Sequence[str]):
    """A list of texts whose first are still packed: they are unpacked when somebody looks at them."""

    def __init__(self, stored: StoredTexts, keys: Integers) -> None:
        """Begin with the texts of ascending `keys`, which are all stored."""
        same = np.array_equal(keys, stored.keys)
        self._stored: StoredTexts | None = stored
        self._places = None if same else np.searchsorted(stored.keys, keys)
        self._packed, self._more = len(keys), list[str]()

    def __len__(self) -> int:
        return self._packed + len(self._more)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return self.unpacked()[number]
        at = range(len(self))[number]
        if self._stored is None or at >= self._packed:
            return self._more[at - self._packed]
        text: str = self._stored[at if self._places is None else int(self._places[at])]
        return text

    def append(self, text: str) -> None:
        """Add a text."""
        self._more.append(text)

    def unpacked(self) -> list[str]:
        """Unpack all, and keep them so."""
        if self._stored is not None:
            texts = self._stored.all()
            first = texts if self._places is None else [texts[place] for place in self._places.tolist()]
            self._more[:0], self._packed, self._stored, self._places = first, 0, None, None
        return self._more

    def __iter__(self) -> Any:
        return iter(self.unpacked())
