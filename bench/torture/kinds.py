"""The kinds of faults, by name.

A kind is an async generator over a scene: it does its harm and yields wherever the memory has to be found alive; at the
latest once the harm is undone.  So harm that lasts (a worker that is frozen) is asked about while it lasts, and after.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from bench.torture.scene import Scene

Fault = Callable[[Scene], AsyncIterator[None]]
KINDS: dict[str, Fault] = {}


def kind(name: str) -> Callable[[Fault], Fault]:
    """Enter a kind of fault."""

    def enter(fault: Fault) -> Fault:
        assert name not in KINDS
        KINDS[name] = fault
        return fault

    return enter
