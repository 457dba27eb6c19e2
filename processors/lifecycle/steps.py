"""Long work in steps: whoever takes them may let others in between any two."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")
Steps = Generator[None, None, T]  # yields where others may be let in, and returns a result


def in_one_go(steps: Steps[T]) -> T:
    """Take all steps without letting anybody in; return the result."""
    try:
        while True:
            next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
