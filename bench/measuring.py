"""How the suite measures: CPU time of the process, medians of repetitions, memory that is resident.

CPU time, because the machines that this runs on serve others as well: wall time says more about those.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import TypeVar

T = TypeVar("T")


def taken(do: Callable[[], T]) -> tuple[T, float]:
    """Do something; return its result, and the CPU time of the whole process that it took, ms."""
    started = time.process_time()
    result = do()
    return result, (time.process_time() - started) * 1000


def pause(do: Callable[[], object]) -> float:
    """Do something; return the CPU time that this thread could do nothing else, ms."""
    started = time.thread_time()
    do()
    return (time.thread_time() - started) * 1000


def mid(values: Iterable[float]) -> float:
    """Find the median, to three digits."""
    return rounded(median(values))


def rounded(value: float) -> float:
    """Round to three digits: more would be noise."""
    return float(f"{value:.3g}")


def resident_mb() -> float:
    """Read how much of this process is resident now, MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return round(pages * 4096 / 1e6, 1)
