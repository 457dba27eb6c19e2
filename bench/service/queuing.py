"""Measure how long processes ran and how long they waited for a core: the delay of a busy machine.

Linux counts both for each thread (/proc/PID/task/TID/schedstat).  Other systems report nothing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import psutil

NANOSECONDS = 1e9


def counted(pid: int) -> tuple[float, float]:
    """Add up (s on a core, s in line for one) of a process and those that it started; (0, 0) where no one counts.

    Of this process itself, without them: they are counted by themselves.
    """
    ran = queued = 0.0
    with suppress(psutil.NoSuchProcess):
        started = [] if pid == os.getpid() else psutil.Process(pid).children(recursive=True)
        for process in [psutil.Process(pid), *started]:
            for thread in Path(f"/proc/{process.pid}/task").glob("*/schedstat"):
                with suppress(OSError):  # it has just ended
                    on, waiting, _ = map(int, thread.read_text(encoding="ascii").split())
                    ran, queued = ran + on / NANOSECONDS, queued + waiting / NANOSECONDS
    return ran, queued


class Queuing:
    """The time that processes, by name, ran and waited since this object was made."""

    def __init__(self, pids: dict[str, int]) -> None:
        self._pids = pids
        self._before = {name: counted(pid) for name, pid in pids.items()}

    def summary(self) -> dict[str, dict[str, float]]:
        """Return for each name the seconds that its process and children ran on a core and waited for one."""
        summary_by_name = {}
        for name, pid in self._pids.items():
            (ran, queued), (ran_before, queued_before) = counted(pid), self._before[name]
            summary_by_name[name] = {"ran_s": round(ran - ran_before, 1), "in_line_s": round(queued - queued_before, 1)}
        return summary_by_name
