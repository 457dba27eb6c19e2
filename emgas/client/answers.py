"""Small things that every call of the client needs: names as lists, times as numbers, answers of the kind expected."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

from emgas.errors import QueryFailedError, TransportError
from emgas.messages.queries import Failure
from emgas.messages.topics import Answer
from emgas.times import milliseconds

A = TypeVar("A", bound=Answer)


def names(**given: Sequence[str]) -> dict[str, Any]:
    """List what a call names.  A single string is a sequence of its letters: it goes on as it is, and is refused."""
    return {name: these if isinstance(these, str) else list(these) for name, these in given.items()}


def moment(when: datetime | str | int | None) -> int | None:
    """Give a time as ms."""
    return None if when is None else milliseconds(when)


def expect(kind: type[A], answer: Answer) -> A:
    """Let an answer of `kind` through.  Raises QueryFailedError for a Failure."""
    if isinstance(answer, Failure):
        raise QueryFailedError(answer.code, answer.message)
    if not isinstance(answer, kind):
        raise TransportError(f"the worker answered with another kind, {answer.kind}: use the client of its version")
    return answer
