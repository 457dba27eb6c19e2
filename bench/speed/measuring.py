"""Helpers of the suite: CPU time of the process, medians of repetitions, resident memory, and the event of a turn.

CPU time, because the machines that this runs on serve others as well: wall time says more about those.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from emgas.messages.turns import Turn
from processors.extraction.extractor import Extractor
from state.events.events import UNSTAMPED, TurnRecorded

T = TypeVar("T")


def alone(name: str, size: int, queries: int) -> dict[str, Any]:
    """Measure one size of a bench of the suite in a process of its own."""
    command = [sys.executable, "-m", "bench.suite", name, "--one", str(size), "--asked", str(queries)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    print(figures, file=sys.stderr, flush=True)
    return figures


def taken(do: Callable[[], T]) -> tuple[T, float]:
    """Call a function; return its result, and the CPU time that the whole process took, ms."""
    started = time.process_time()
    result = do()
    return result, (time.process_time() - started) * 1000


def pause(do: Callable[[], object]) -> float:
    """Call a function; return the CPU time for which it blocked this thread, ms."""
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


def recorded(turn: Turn, extractor: Extractor) -> TurnRecorded:
    """Make the event of one turn, as a worker would append it."""
    assert turn.at is not None  # the format gives every session a date
    extraction = extractor.of_turn(turn.text, speaker=turn.speaker, at=turn.at)
    return TurnRecorded(
        **turn.model_dump(),
        **UNSTAMPED,
        src=0,
        clamped=False,
        live=False,
        question=extraction.question,
        tokens=extraction.tokens,
        concepts=[*extraction.concepts, *extraction.phrases],
        times=list(extraction.times),
        relations=list(extraction.relations),
        extractor=extractor.version,
    )
