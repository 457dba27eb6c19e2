"""Failpoints for tests: with EMGAS_FAIL_AT=step:n, a worker kills itself (SIGKILL) at the n-th passage of that step.

    turn ──▶ append ──▶ ack ──▶ fold ──▶ flush ──▶ (outcome)        window, snapshot, recovery, erase: whenever
    copy ──▶ fence ──▶ import ──▶ verify ──▶ fence ──▶ open         of a process that moves a graph (MoveStep)

Nothing is armed without the variable: a passage is then a call that does nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from enum import StrEnum

VARIABLE = "EMGAS_FAIL_AT"


class Step(StrEnum):
    """A step of a worker's work: done, or about to be done, at its failpoint."""

    TURN = "turn"  # a turn is about to be decided
    APPEND = "append"  # events are stamped, and about to be sent
    ACK = "ack"  # all of them are acknowledged, and none is folded
    FOLD = "fold"  # one of them is folded, and not flushed
    FLUSH = "flush"  # they are flushed, and not acknowledged
    ERASE = "erase"  # of an erasure: before its keys are destroyed, before all is scrubbed, before that is noted
    WINDOW = "window"  # a window has ended, and is about to be closed
    SNAPSHOT = "snapshot"  # a checkpoint is made, and the snapshot not written
    RECOVERY = "recovery"  # a partition is opened and checked, or its log folded on, and not flushed


class MoveStep(StrEnum):
    """A step of a process that moves or copies a graph: about to be done, or done."""

    COPY = "copy"  # send events while the graph lives on, or stays
    FENCE = "fence"  # close the graph here, or say where it is
    IMPORT = "import"  # send the rest
    VERIFY = "verify"  # have the receiver check all of it
    OPEN = "open"  # let it live there


def _nothing(step: Step | MoveStep) -> None:
    """Pass."""


_passing: Callable[[Step | MoveStep], None] = _nothing


def passing(step: Step | MoveStep) -> None:
    """Pass `step`; never return if it is the one to die at."""
    _passing(step)


def arm(where: str | None) -> None:
    """Die at `where` ("step:n", n from 1), counted from now on; None: nowhere.  Raises ValueError."""
    global _passing  # noqa: PLW0603 - counts the passages of this process, and only where it is asked to
    _passing = _nothing if not where else _killing(where)


def _killing(where: str) -> Callable[[Step | MoveStep], None]:
    name, _, ordinal = where.partition(":")
    fatal = MoveStep(name) if name in set(MoveStep) else Step(name)
    left = int(ordinal or 1)

    def passed(step: Step | MoveStep) -> None:
        nonlocal left
        left -= step is fatal
        if step is fatal and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return passed


arm(os.environ.get(VARIABLE))
