"""Why a worker stops, or refuses.  Each text names the operator's next step, or the sender's.

HaltedError (emgas/errors.py)   the partition cannot go on: the worker ends, its successor goes on from the log
├── FencedError                 another worker claimed the partition
├── AppendFailedError           the log did not acknowledge an event: what it holds now is unknown
├── TurnsSkippedError           turns that exist were not delivered
└── WindowStuckError            closing a window did not close it (processors/lifecycle/windows.py)
Exception                       one record's outcome, caught where the record is handled
├── RejectedError               a record of `turns` cannot be accepted: dead letter, TurnRejected, told to its sender
└── RefusedError                a question cannot be answered: its asker gets `.failure`
"""

from __future__ import annotations

from emgas.errors import HaltedError
from emgas.messages.queries import Failure, FailureCode


class FencedError(HaltedError):
    """Another worker claimed the partition.  Operator action: none; this worker stops and is restarted."""


class AppendFailedError(HaltedError):
    """The log did not acknowledge in time.  Operator action: look after the broker; the worker restarts by itself."""


class TurnsSkippedError(HaltedError):
    """Turns between two deliveries were never delivered.  Operator action: none; the restarted worker reads them."""


class RejectedError(Exception):
    """The record cannot be accepted; the text says why and what to do."""


class RefusedError(Exception):
    """The question gets a Failure."""

    def __init__(self, code: FailureCode, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(code=code, message=message)
