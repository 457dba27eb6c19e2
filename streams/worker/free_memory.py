"""Return freed memory to the system, if the C library is glibc, which keeps it; other libraries need nothing.

Questions and flushes free arrays of some megabytes between others that stay.  glibc keeps this memory for later, and
the process seems to need it.  `malloc_trim` is called each time the process has grown by GROWN: so glibc keeps about
that much at most, and each call has little to return.
"""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable
from contextlib import suppress
from mmap import PAGESIZE
from pathlib import Path
from typing import Any, Final

GROWN: Final = 64_000_000  # bytes
LOOK_SECONDS: Final = 5.0
_SIZES: Final = Path("/proc/self/statm")


def _find_trim() -> Callable[[int], Any] | None:
    """Find the function by which the C library gives back what is free; None where it has none."""
    with suppress(AttributeError, OSError, TypeError):  # another C library, or another system
        trim = ctypes.CDLL(None).malloc_trim
        trim.argtypes = [ctypes.c_size_t]
        return trim if _SIZES.exists() else None
    return None


def resident() -> int:
    """Read how much of this process is resident now, bytes."""
    return int(_SIZES.read_text(encoding="ascii").split()[1]) * PAGESIZE


class FreeMemory:
    """The free memory that the C library keeps in this process."""

    def __init__(self) -> None:
        self._trim = _find_trim()
        self._least = 0  # resident since it was asked last, at least

    @property
    def can_go_back(self) -> bool:
        """Return whether the C library can return free memory."""
        return self._trim is not None

    def look(self) -> None:
        """Return free memory to the system, if the process has grown; allocations in other threads wait meanwhile."""
        if self._trim is None:
            return
        now = resident()
        if now >= self._least + GROWN:
            self._trim(0)  # without the GIL
            self._least = resident()
        self._least = min(self._least, now)

    async def keep_small(self) -> None:
        """Call `look` every LOOK_SECONDS, until cancelled."""
        while self.can_go_back:
            await asyncio.to_thread(self.look)
            await asyncio.sleep(LOOK_SECONDS)
