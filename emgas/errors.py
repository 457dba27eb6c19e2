"""Every error that EMGAS raises on purpose.  Anything else that escapes is a bug of ours.

EmgasError
├── InvalidMessage      the caller's message breaks the contract (nothing was sent)
├── NoAnswer            nothing came back in time (publishing is safe to repeat: turn ids are idempotent)
├── TransportFailed     the broker or the embedded log refused or is out of reach
│   └── NoMemory        there is no embedded log in the data directory: nothing was ever written there
├── QueryFailed         the owner answered with a typed failure (`.failure`)
├── DataDirectoryInUse  another process owns the embedded data directory
├── NotInstalled        a connection of this kind needs the service, which is not installed here
└── Halted              a partition cannot go on without an operator (state/errors.py draws what lies below)
"""

from __future__ import annotations

from emgas.messages import Failure


class EmgasError(Exception):
    """Base of every error that EMGAS raises on purpose; its text says what to do."""


class InvalidMessage(EmgasError):
    """A message breaks the contract.  Caller's fault; nothing was sent."""


class NoAnswer(EmgasError):
    """No answer came before the deadline.  The message may have arrived; publishing it again is safe."""


class TransportFailed(EmgasError):
    """The broker or the embedded log refused a record or cannot be reached."""


class NoMemory(TransportFailed):
    """Nothing was ever written to the data directory.  Operator action: write something, or name another directory."""


class QueryFailed(EmgasError):
    """The owner of the graph answered, with a failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.code}: {failure.message}")
        self.failure = failure


class DataDirectoryInUse(EmgasError):
    """Another process owns the embedded data directory.  Operator action: stop it, or use another directory."""


class NotInstalled(EmgasError):
    """This kind of connection comes with the service.  Operator action: install `emgas` beside the client."""


class Halted(EmgasError):
    """A partition cannot go on without an operator; nothing was lost or skipped."""
