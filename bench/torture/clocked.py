"""`emgas …` with a wall clock that a file sets: it holds how many seconds ahead of the machine's the clock is.

    TORTURE_CLOCK=FILE python -m bench.torture.clocked worker

Only `time.time` and `time.time_ns` jump, as the wall clock of one machine would; what is monotonic stays so.  Without
the file nothing is changed.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

VARIABLE = "TORTURE_CLOCK"
LOOKS_EVERY = 0.1  # seconds


class Clock:
    """The machine's clock, so many seconds ahead as the file says."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._time_ns, self._monotonic = time.time_ns, time.monotonic
        self._ahead_ns, self._looked = 0, float("-inf")

    def time_ns(self) -> int:
        """Return the shifted time, ns since the epoch."""
        if (now := self._monotonic()) - self._looked > LOOKS_EVERY:
            self._looked = now
            self._ahead_ns = int(float(self._file.read_text()) * 1e9) if self._file.exists() else 0
        return self._time_ns() + self._ahead_ns

    def time(self) -> float:
        """Return the shifted time, seconds since the epoch."""
        return self.time_ns() / 1e9


def main() -> None:
    """Set the clock, and run `emgas`."""
    if file := os.environ.get(VARIABLE):
        clock = Clock(Path(file))
        time.time, time.time_ns = clock.time, clock.time_ns
    from streams.cli.main import main as emgas  # only now: some modules take the functions when they are imported

    emgas()


if __name__ == "__main__":
    main()
