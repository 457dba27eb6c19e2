"""Pack a column of a page: store each value's distance from the least, in as few bytes as the largest distance needs.

    i64 the least │ i64 bytes a value takes: 0 where all are alike, 1, 2, 4 or 8 │ values, up to a multiple of 8 bytes

What takes 8 stands there as it is.  Floats are read as the integers that their bytes are.  Ascending keys without a gap
take none: of keys it is how far each is above its place that is packed (`packed_keys`).  Source: frame of reference,
Goldstein, Ramakrishnan & Shaft 1998.
"""

from __future__ import annotations

import struct
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from state.arrays import Integers

_HEAD: Final = struct.Struct("<qq")
_DTYPES: Final = {width: np.dtype(f"<u{width}") for width in (1, 2, 4)} | {8: np.dtype("<i8")}
_AT: Final = 8  # columns begin at multiples of that, so that numpy reads them as they lie


def packed(column: NDArray[Any]) -> bytes:
    """Pack a column of one value or more."""
    values = column.view(np.int64) if column.dtype.kind == "f" else column
    least = int(np.minimum.reduce(values))
    width = _width(int(np.maximum.reduce(values)) - least)
    if width == 0:
        return _HEAD.pack(least, 0)
    if width == 8:
        return _HEAD.pack(0, 8) + values.astype(np.int64, copy=False).tobytes()
    body = (values - values.dtype.type(least)).astype(_DTYPES[width]).tobytes()  # what overflows comes back by it
    return _HEAD.pack(least, width) + body + bytes(-len(body) % _AT)


def packed_keys(keys: Integers) -> bytes:
    """Pack ascending keys, one or more, all different."""
    return packed(keys - np.arange(len(keys)))


def _width(span: int) -> int:
    if span == 0:
        return 0
    return next((width for width in (1, 2, 4) if span < 1 << 8 * width), 8)


class Packed(NamedTuple):
    """A packed column of so many values: where in a page they are, and what each is to be added to."""

    page: bytes
    values: int
    least: int
    width: int
    at: int

    def write_to(self, into: NDArray[Any]) -> None:
        """Write the values into an array of as many integers, or floats."""
        if into.dtype.kind == "f":
            into = into.view(np.int64)
        if self.width == 0:
            into.fill(self.least)
            return
        packed_values = np.frombuffer(self.page, _DTYPES[self.width], self.values, self.at)
        np.add(packed_values, self.least, out=into, dtype=into.dtype, casting="unsafe")

    def whole(self) -> Integers:
        """Lay out the values."""
        values = np.empty(self.values, np.int64)
        self.write_to(values)
        return values

    def keys(self) -> Integers:
        """Lay out keys."""
        keys = np.arange(self.values)
        if self.width:
            keys += np.frombuffer(self.page, _DTYPES[self.width], self.values, self.at).astype(np.int64)
        keys += self.least
        return keys

    @property
    def first_key(self) -> int:
        """The first of the keys."""
        return self._offset_at(0) + self.least

    @property
    def last_key(self) -> int:
        """The last of the keys."""
        return self._offset_at(self.values - 1) + self.least + self.values - 1

    def _offset_at(self, place: int) -> int:
        if not self.width:
            return 0
        return int(np.frombuffer(self.page, _DTYPES[self.width], 1, self.at + self.width * place)[0])


def unpacked(page: bytes, values: int, at: int) -> Packed:
    """Find the column of so many values that begins at a place of a page."""
    least, width = _HEAD.unpack_from(page, at)
    return Packed(page, values, least, width, at + _HEAD.size)
