"""Long work in steps: the caller may run other tasks between two steps."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
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


def in_one_step(decide: Callable[P, T]) -> Callable[P, Steps[T]]:
    """Make steps of a function that takes little time: there is nothing to wait for between them."""

    def steps(*args: P.args, **options: P.kwargs) -> Steps[T]:
        yield from ()
        return decide(*args, **options)

    return steps
