"""A turn's vector as the log holds it: little-endian float16, one number behind the other.

Half of float32, and a cosine moves by less than 0.001.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

DTYPE = np.dtype("<f2")


def packed(vector: ArrayLike) -> bytes:
    """Pack a vector (d,) into bytes.  Raises ValueError for numbers that float16 cannot hold."""
    with np.errstate(over="ignore"):
        stored = np.asarray(vector).astype(DTYPE).tobytes()
    check(stored)
    return stored


def check(stored: bytes) -> None:
    """Raise ValueError for bytes that are no vector of finite numbers."""
    if len(stored) % DTYPE.itemsize or not np.isfinite(np.frombuffer(stored, DTYPE)).all():
        raise ValueError("vector: must be finite numbers, little-endian float16 one behind the other")
