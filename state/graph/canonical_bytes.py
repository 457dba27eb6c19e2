"""One canonical byte form for named strings, integers and arrays: what a snapshot stores and what a digest hashes.

    u32 length of header │ header: JSON, keys sorted │ bytes of each array, in the header's order

The header holds the plain values under "values" and [name, dtype, length] of each array under "arrays".  Equal content
gives equal bytes on every machine: little-endian arrays, no derived floats, lists in first-seen order.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]


def pack(values: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Pack JSON-able `values` (no floats) and one-dimensional `arrays` into bytes."""
    little = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in arrays.items()}
    header = orjson.dumps(
        {"values": values, "arrays": [[name, array.dtype.str, len(array)] for name, array in little.items()]},
        option=orjson.OPT_SORT_KEYS,
    )
    return b"".join((struct.pack("<I", len(header)), header, *(array.tobytes() for array in little.values())))


def unpack(packed: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Unpack what `pack` was given; the arrays are read-only views.  Raises ValueError for other bytes."""
    (length,) = struct.unpack_from("<I", packed)
    header = orjson.loads(packed[4 : 4 + length])
    arrays, at = {}, 4 + length
    for name, dtype, count in header["arrays"]:
        arrays[name] = np.frombuffer(packed, dtype, count, at)
        at += arrays[name].nbytes
    if at != len(packed):
        raise ValueError(f"{len(packed) - at} bytes left over")
    return header["values"], arrays
