"""The declaration of a window's kind: when it ends, what closing it does, and whether later turns may end it.

Each window is declared where it is decided, as DECAY in decay/forgetting.py, and listed in windows.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from processors.lifecycle.steps import Steps
from state.events.events import GraphEvent
from state.events.memory_settings import MemorySettings
from state.graph.graph import Graph


class Timekeeping(Protocol):
    """The state that decides when a window ends: a graph, or its forecast after some turns (WindowForecast)."""

    settings: MemorySettings
    clock: int
    last_turn_at: int
    enough_at: int
    ended_at: int

    @property
    def expires_next(self) -> int:
        """Return when the next turn expires, ms; NEVER if none does."""

    @property
    def rhythm(self) -> MemorySettings:
        """Return the settings by which windows consolidate now."""


class WindowEnd(NamedTuple):
    """The end of a window (ms), its session if it has one, and whether it waits for late turns (`grace`)."""

    at: int
    session: str = ""
    waits: bool = True

    def is_over(self, settings: MemorySettings, now: int) -> bool:
        """Return whether the window can be closed at stream time `now` (ms)."""
        return self.at <= now - (settings.grace if self.waits else 0)


class Window(NamedTuple):
    """A kind of window.

    next_end  when the first open one ends; None if none ever does
    closing   decide what closing the one that ended at a time (ms) does: some events, or none for nothing
    may_end   whether one may have ended at a time (ms) that was open at the clock; true is allowed to be wrong
    first     whether it closes before windows of other kinds that ended earlier
    """

    kind: str
    next_end: Callable[[Graph], WindowEnd | None]
    closing: Callable[[Graph, int], Steps[list[GraphEvent]]]
    may_end: Callable[[Timekeeping, int], bool]
    first: bool = False
