"""Every error that EMGAS raises on purpose.  Anything else that escapes is a bug of ours.

EmgasError
├── InvalidMessageError      the caller's message breaks the contract (nothing was sent)
├── NoAnswerError            nothing came back in time (publishing is safe to repeat: turn ids are idempotent)
├── TransportError           the broker or the embedded log refused or is out of reach
│   └── NoMemoryError        there is no embedded log in the data directory: nothing was ever written there
├── QueryFailedError         the owner answered with a failure (`.code`, `.message`)
├── DataDirectoryInUseError  another process owns the embedded data directory
├── NotInstalledError        what this needs is not installed here
├── WrongEventLoopError      a client was opened in one event loop and used in another
└── HaltedError              a partition cannot go on without an operator (state/errors.py draws what lies below)
    └── BadSettingError      a setting names what cannot be used: a model, an extractor, a file of keys
"""

from __future__ import annotations

from emgas.masking import masked


class EmgasError(Exception):
    """Base of every error that EMGAS raises on purpose; its text says what to do, with secrets of URLs masked."""

    def __str__(self) -> str:
        return masked(super().__str__())


class InvalidMessageError(EmgasError):
    """A message is invalid.  Caller's fault; nothing was sent."""


class NoAnswerError(EmgasError):
    """No answer came before the deadline.  The message may have arrived; publishing it again is safe."""


class TransportError(EmgasError):
    """The broker or the embedded log refused a record or cannot be reached."""


class NoMemoryError(TransportError):
    """Nothing was ever written to the data directory.  Operator action: write something, or name another directory."""


class QueryFailedError(EmgasError):
    """The owner of the graph answered with a failure.

    code     for programs: "not-yet", "overloaded", … (emgas/messages/queries.py, FailureCode)
    message  for people: what happened, and what to do
    moved_to where the graph is now, for code "moved"
    """

    def __init__(self, code: str, message: str, moved_to: str | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.moved_to = moved_to


class DataDirectoryInUseError(EmgasError):
    """Another process owns the embedded data directory.  Operator action: stop it, or use another directory."""


class NotInstalledError(EmgasError):
    """A part of EMGAS, or a library that it needs, is missing.  Operator action: install what the text names."""


class WrongEventLoopError(EmgasError):
    """A client belongs to the event loop that opened it.  Caller's fault: open one in each loop, or use Memory."""


class HaltedError(EmgasError):
    """A partition cannot go on without an operator; nothing was lost or skipped."""


class BadSettingError(HaltedError):
    """A setting names something that cannot be used.  Operator action: correct the setting that the text names."""
