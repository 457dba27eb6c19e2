"""Admit questions that can still be answered in time, as long as there are slots.

How long a question has waited is measured by the log's clock (LogClock), and its deadline is compared with that.

A question occupies a slot while it waits or is answered.  One client alone may occupy all of them.  When another comes,
the newest question of the client that occupies most is dropped, or else of the graph that occupies most, if that is at
least two ahead of the newcomer: so no two clients displace each other in circles, and older questions are finished.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

from emgas.wire import DEADLINE, Record, ReplyAddress, as_mapping

PATIENCE_MS = 10_000  # how long a question without a deadline may wait
LONGEST_MS = 600_000  # and one with a deadline: it occupies one of the slots of `queries_at_once`
PART_IN_QUEUE = 0.4  # of its time: what lay in the log for longer finds fewer slots, as does all that lies behind it
PART_FOR_LATE = 0.25  # of the slots: a question that has used up that time can still wait for so many
REMEMBERED_MS = 60_000  # for so long, and at most three times as long, a record counts as evidence of the log's time


class LogClock:
    """The log's time, from the timestamps of its records: no worker's wall clock is used.

    A record arrives late or in time, never early, so

        the log's now  ≥  its timestamp + what has passed here since it arrived       (by the monotonic clock)

    and of all records that arrived lately the one that gives most is nearest.  Older ones are dropped: a broker's clock
    that jumped ahead and came back must not be believed for long.  `monotonic` counts ms since an arbitrary moment.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._began = monotonic()
        self._ahead: float | None = None  # of the monotonic clock, by records of this minute
        self._ahead_before: float | None = None  # and of the one before

    def see(self, timestamp: int) -> None:
        """Learn from a record that arrives now."""
        now = self._monotonic()
        if now - self._began > REMEMBERED_MS:
            is_next = now - self._began <= 2 * REMEMBERED_MS
            self._ahead_before, self._ahead, self._began = self._ahead if is_next else None, None, now
        ahead = timestamp - now
        self._ahead = ahead if self._ahead is None else max(self._ahead, ahead)

    def age(self, timestamp: int) -> float:
        """Compute for how long (ms) a record has been in the log, once one was seen."""
        leads = [ahead for ahead in (self._ahead, self._ahead_before) if ahead is not None]
        return max(0.0, self._monotonic() + max(leads) - timestamp) if leads else 0.0


def time_allowed(record: Record) -> int:
    """Return for how long (ms) after its timestamp a question wants an answer; an invalid header counts as none."""
    deadline = as_mapping(record.headers).get(DEADLINE, b"")
    if not deadline.isdigit() or len(deadline) > 15:
        return PATIENCE_MS
    return min(int(deadline) - record.timestamp, LONGEST_MS)


def _nothing() -> None:
    """Do nothing once a question is done."""


class AdmissionSlot(NamedTuple):
    """The slot of a question that is being answered.

    to     where its client reads the answer; None if it wants none
    graph  the key of its record: the graph that it is about
    done   to be called once an answer, or why there is none, is in the log
    """

    to: ReplyAddress | None
    graph: bytes | None
    done: Callable[[], object] = _nothing

    @property
    def client(self) -> Hashable:
        """The partition of the topic that the client reads its answers from: it identifies the client."""
        return None if self.to is None else (self.to.topic, self.to.partition)


class AdmissionControl:
    """At most `most` questions, each a task."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._most_for_late = max(1, int(PART_FOR_LATE * most))
        self._occupied: dict[asyncio.Task[None], AdmissionSlot] = {}  # oldest first
        self._settled: set[asyncio.Task[None]] = set()  # they have been answered

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """All that occupy a slot, oldest first."""
        return list(self._occupied)

    @property
    def has_room_for_late(self) -> bool:
        """Return whether so few questions wait that one that was read late can still be answered in time."""
        return len(self._occupied) < self._most_for_late

    def crowd(self, *, late: bool = False) -> str:
        """Write how many questions wait, and how many may: a client that is refused can see why."""
        most = self._most_for_late if late else self._most
        return f"{len(self._occupied)} questions wait, and at most {most} may"

    def occupy(self, task: asyncio.Task[None], slot: AdmissionSlot) -> None:
        """Assign a slot to `task` until it ends."""
        self._occupied[task] = slot
        task.add_done_callback(self._leave)

    def unanswered(self, tasks: Iterable[asyncio.Task[None]]) -> list[AdmissionSlot]:
        """Return the slots of those among `tasks` that have no answer yet."""
        return [self._occupied[task] for task in tasks if task in self._occupied and task not in self._settled]

    def settle(self, task: asyncio.Task[None]) -> None:
        """Note that `task` has its answer: it is not displaced any more."""
        self._settled.add(task)

    def _leave(self, task: asyncio.Task[None]) -> None:
        self._occupied.pop(task, None)
        self._settled.discard(task)

    def admit(self, newcomer: AdmissionSlot) -> tuple[bool, AdmissionSlot | None]:
        """Return whether there is a slot for `newcomer`, and the slot of the question that was cancelled for it."""
        if len(self._occupied) < self._most:
            return True, None
        movable = {task: slot for task, slot in self._occupied.items() if task not in self._settled}
        for kind in ("client", "graph"):
            task = _newest_of_greediest(movable, kind, getattr(newcomer, kind))
            if task is not None:
                task.cancel()
                return True, self._occupied.pop(task)
        return False, None


def _newest_of_greediest(
    occupied: dict[asyncio.Task[None], AdmissionSlot], kind: str, newcomer: Hashable
) -> asyncio.Task[None] | None:
    """Find the newest question of the client, or graph, with most slots, if at least two more than `newcomer` has."""
    counts = Counter[Hashable](getattr(slot, kind) for slot in occupied.values())
    if not counts:
        return None
    ((greediest, most),) = counts.most_common(1)
    if most < counts[newcomer] + 2:
        return None
    return next(task for task, slot in reversed(occupied.items()) if getattr(slot, kind) == greediest)
