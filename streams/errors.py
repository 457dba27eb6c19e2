"""Errors that stop a partition or a worker, or refuse a record.  Each text names the operator's or sender's next step.

HaltedError (emgas/errors.py)   a partition cannot go on: it halts alone, and is tried again (worker/ownership.py)
├── WorkerHaltedError           no partition can: the worker ends, its successor goes on from the log
│   ├── FencedError             another worker claimed the partition: this one is not who it thinks it is
│   └── AppendFailedError       the log did not acknowledge an event: what it holds now is unknown
├── SourceChangedError          `turns` is not the topic that the partition was claimed for, or not where it was
├── RestoreUnfinishedError      the log is restored in part: what a worker writes would keep the rest out
├── WindowStuckError            closing a window did not close it (processors/lifecycle/windows.py)
└── …                           what is wrong with a store or a log: state/errors.py, replay/errors.py
Exception                       one record's outcome, caught where the record is handled
├── RejectedError               a record of `turns` cannot be accepted: dead letter, TurnRejected, told to its sender
└── RefusedError                a question cannot be answered: its asker gets `.failure`
"""

from __future__ import annotations

from emgas.errors import HaltedError
from emgas.messages.requests import Failure, FailureCode


class WorkerHaltedError(HaltedError):
    """No partition of this worker can go on.  Operator action: see the message; the worker restarts automatically."""


class FencedError(WorkerHaltedError):
    """Another worker claimed the partition.  Operator action: none; this worker stops and is restarted."""


class AppendFailedError(WorkerHaltedError):
    """The log did not acknowledge in time.  Operator action: check the broker; the worker restarts automatically."""


class SourceChangedError(HaltedError):
    """`turns` was recreated, or goes back.  Operator action: none; the partition is claimed again and reads it all."""


class RestoreUnfinishedError(HaltedError):
    """The log holds a part of a backup.  Operator action: stop the workers, import again, start them."""


class RejectedError(Exception):
    """The record cannot be accepted; the text says why and what to do."""


class RefusedError(Exception):
    """The question gets a Failure."""

    def __init__(self, code: FailureCode, message: str, moved_to: str | None = None) -> None:
        super().__init__(message)
        self.failure = Failure(code=code, message=message, moved_to=moved_to)
