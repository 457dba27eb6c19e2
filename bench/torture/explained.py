"""Explain why questions of the traffic were not answered: each failure has a cause, or is unexplained.

A question explains itself by a fault that was in force in its partition while it waited, and that can have had this
effect.  `overloaded` is explained only where the answer shows that as many questions wait as may, or, in a flood, that
those before it took until its deadline.  A fault is in force from its beginning until the group has shared out the
partitions again, and for LINGERS seconds at least: a worker that wakes up as a zombie ends, starts again and joins in
that time, and those are rebalances of the fault, too.  A fault of a worker is in force in all partitions, as the group
shares all of them out again; one of records or load in those that it names, and in no other.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from emgas.errors import EmgasError, NoAnswerError, QueryFailedError, TransportError

LINGERS: Final = 12.0  # seconds
MOST_EXAMPLES: Final = 20  # of what is unexplained
A_CROWD: Final = "as many wait as may"
CROWD: Final = re.compile(r"(\d+) (?:questions|calls of this client) wait, and at most (\d+) may")

# what a fault does to who answers
AWAY: Final = {
    "worker killed", "worker killed and away", "all workers killed", "worker killed at a failpoint", "worker frozen",
    "worker stopped", "worker stopped in a rebalance", "worker stopped while the broker is frozen", "rebalance storm",
    "claimed by another", "turns deleted unread", "turns made anew", "store damaged", "stores lost",
    "files may not grow", "disk full", "turn erased while a worker is away", "worker killed while it erases",
    "store lost and erased since its snapshot", "events undone", "rights tried by a guest",
}  # fmt: skip
CUT: Final = {
    "network cut", "network cut for all", "acknowledgements lost", "network half open", "network slow",
    "connections reset",
}  # fmt: skip
BROKER: Final = {"broker killed", "broker restarted", "broker frozen", "worker stopped while the broker is frozen"}
HALTED: Final = {"garbage in events", "events of a zombie"}
FLOOD: Final = {"flood of questions", "questions about what is to come"}
WAITING: Final = {"records too large", "transactions aborted", "flood of turns"}  # what comes behind them waits


class Cause(NamedTuple):
    """The end of a question, by its code and a part of its text, and the faults that can cause it."""

    code: str
    text: str
    why: str
    faults: set[str]

    def holds(self, text: str) -> bool:
        """Return whether an answer shows this cause: a full queue by its numbers, any other cause by its words."""
        return is_crowded(text) if self.text == A_CROWD else self.text in text


CAUSES: Final = (
    Cause("no answer", "", "who answers is away, or cannot be reached", AWAY | CUT | BROKER | HALTED),
    Cause("expired", "", "it was read by the next owner, too late", AWAY | CUT | BROKER | HALTED | FLOOD | WAITING),
    Cause("overloaded", A_CROWD, A_CROWD, FLOOD | WAITING),
    Cause("overloaded", "its turn did not come in time", "those before it took until its deadline", FLOOD),
    Cause("no broker", "", "no broker can be reached", BROKER),
    Cause("internal", "has halted", "its partition has halted", AWAY | CUT | BROKER | HALTED),
    Cause("internal", "is mended: ask again", "its partition is taken up again", AWAY | CUT | BROKER | HALTED),
    Cause("internal", "the log does not tell where the turns end", "the log is out of reach", AWAY | CUT | BROKER),
)


@dataclass
class FaultInForce:
    """A fault, and when it was in force (monotonic, s); `until` is infinite while it is.

    partitions  those that it harms, None for all
    """

    name: str
    since: float
    until: float = float("inf")
    partitions: set[int] | None = None

    def meets(self, partition: int, began: float, ended: float) -> bool:
        """Return whether the fault was in force in a partition between `began` and `ended`."""
        is_here = self.partitions is None or partition in self.partitions
        return is_here and self.since <= ended and self.until >= began


@dataclass
class Questions:
    """The ends of the traffic's questions.  `faults`: all faults, in order."""

    answered: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)
    faults: list[FaultInForce] = field(default_factory=list)

    @contextmanager
    def asking(self, about: str, partition: int) -> Iterator[None]:
        """Note how a question to a partition ends that is asked in this block."""
        began = time.monotonic()
        try:
            yield
        except EmgasError as error:
            self.ended(began, partition, _code(error), f"{about}: {error}")
        else:
            self.answered += 1

    def ended(self, began: float, partition: int, code: str, text: str) -> None:
        """Explain how a question ended that no one answered, or say that it cannot be."""
        now = time.monotonic()
        causes = [each for each in CAUSES if each.code == code and each.holds(text)]
        there = [each for each in self.faults if each.meets(partition, began, now)]
        for fault in reversed(there):
            for cause in causes:
                if fault.name in cause.faults:
                    self.explained[f"{code}, {cause.why}: {fault.name}"] += 1
                    return
        names = ", ".join(each.name for each in there) or "nothing"
        self.unexplained.append(f"partition {partition}, {code}: {text} (in force: {names})")

    def report(self) -> dict[str, object]:
        """Sum up."""
        return {
            "answered": self.answered,
            "explained": dict(sorted(self.explained.items())),
            "unexplained": self.unexplained[:MOST_EXAMPLES],
        }


def is_crowded(text: str) -> bool:
    """Return whether an answer reports that the queue of questions is full."""
    return any(int(waiting) >= int(most) for waiting, most in CROWD.findall(text))


def _code(error: EmgasError) -> str:
    if isinstance(error, QueryFailedError):
        return error.code
    if isinstance(error, NoAnswerError):
        return "no answer"
    return "no broker" if isinstance(error, TransportError) else type(error).__name__
