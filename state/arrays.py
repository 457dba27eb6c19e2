"""The array types of tables and views, each named once; their users document the shapes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Counts = NDArray[np.int32]  # half the memory of Integers: for what a column of int32 keeps
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
