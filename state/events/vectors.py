"""A turn's vector as the log holds it: little-endian float16, one number behind the other.

Half of float32, and a cosine moves by less than 0.001.  numpy is imported where there is a vector: events are read by
commands that need none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DTYPE = "<f2"
BYTES = 2  # of a number


def packed(vector: ArrayLike) -> bytes:
    """Pack a vector (d,) into bytes.  Raises ValueError for numbers that float16 cannot hold."""
    import numpy as np

    with np.errstate(over="ignore"):
        stored = np.asarray(vector).astype(DTYPE).tobytes()
    check(stored)
    return stored


def check(stored: bytes) -> None:
    """Raise ValueError for bytes that are no vector of finite numbers."""
    import numpy as np

    if len(stored) % BYTES or not np.isfinite(np.frombuffer(stored, DTYPE)).all():
        raise ValueError("vector: must be finite numbers, little-endian float16 one behind the other")
