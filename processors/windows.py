"""Windows in event time, per graph: which one has ended, and has to be closed next?  Pure functions of (graph, time).

    decay          tumbling, `decay_every` long: at its end, what has faded is forgotten
    consolidation  session window, ended by `idle` of silence, or tumbling, `consolidate_every` long: whichever ends
                   first, and only with `least_turns` new turns; its content is then consolidated

A window closes once the graph's stream time has passed its end by `grace`.  Windows close one after the other, in order
of their ends, each decided on the state that the one before it left; empty ones leave no event.  So it does not matter
whether many ticks or a single late turn brought the time: the same windows close with the same content.

That needs one thing of whoever moves a graph's time (a turn, a recall, a tick): the windows that end before it are
closed before it is folded.  So those that ended by the graph's clock are closed, whether they left an event or not.

Late turns: a turn whose window has closed is folded as it comes, with its own time.  It boosts without turning time
back, counts as new for the next consolidation, and what it brings that has faded already goes with the next decay
window.  Closed windows are not opened again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from state.decay import NEVER
from state.graph import Graph
from state.presets import MemorySettings


class Due(NamedTuple):
    """A window that has ended at `at` (ms) and is to be closed now."""

    kind: Literal["decay", "consolidation"]
    at: int


class Timekeeping(Protocol):
    """What decides when a consolidation window ends: a graph, or one as it will be (Ahead)."""

    settings: MemorySettings
    fresh_turns: int
    first_fresh_at: int
    last_turn_at: int


def next_due(graph: Graph, now: int) -> Due | None:
    """Return the window to close next before stream time `now` (ms) comes, None if none has ended."""
    consolidation = _consolidation_end(graph, now)
    decay = _decay_end(graph)
    if decay <= (now - graph.settings.grace if consolidation is None else consolidation):
        return Due("decay", decay)
    return None if consolidation is None else Due("consolidation", consolidation)


def next_alarm(graph: Graph) -> int:
    """Return the stream time (ms) before which no window of the graph is to be closed, NEVER if none ever is."""
    ends = [_decay_end(graph)]
    if graph.fresh_turns >= graph.settings.least_turns:
        ends += _ends(graph)
    return min(min(ends) + graph.settings.grace, NEVER)


def _decay_end(graph: Graph) -> int:
    """Return the end of the first open decay window in which something may have faded, ms."""
    settings = graph.settings
    closed = (graph.clock - settings.grace) // settings.decay_every * settings.decay_every
    earliest = max(graph.fading.earliest(), closed + 1)
    return earliest + -earliest % settings.decay_every


def _consolidation_end(graph: Timekeeping, now: int) -> int | None:
    if graph.fresh_turns < graph.settings.least_turns:
        return None
    return min((end for end in _ends(graph) if end <= now - graph.settings.grace), default=None)


def _ends(graph: Timekeeping) -> tuple[int, int]:
    """Return the ends of the session window and of the tumbling one, ms."""
    every = graph.settings.consolidate_every
    return graph.last_turn_at + graph.settings.idle, graph.first_fresh_at - graph.first_fresh_at % every + every


@dataclass
class Ahead:
    """A graph's time as it will be once the turns that are still to be folded are: whether the next may close a window.

    It may say so without need, and never keeps silent where a window would close; so turns can be appended in batches.
    """

    settings: MemorySettings
    clock: int
    fresh_turns: int
    first_fresh_at: int
    last_turn_at: int

    @classmethod
    def of(cls, graph: Graph) -> Ahead:
        """Start from a graph in which no window is due."""
        return cls(graph.settings, graph.clock, graph.fresh_turns, graph.first_fresh_at, graph.last_turn_at)

    def may_close(self, at: int) -> bool:
        """Return whether there could be a window to close before a turn at `at` (ms)."""
        now, settings = max(self.clock, at), self.settings
        windows = ((time - settings.grace) // settings.decay_every for time in (now, self.clock))
        return len(set(windows)) > 1 or _consolidation_end(self, now) is not None

    def add(self, at: int) -> None:
        """Count a turn at `at` (ms) that is still to be folded, and whose id is new."""
        self.first_fresh_at = self.first_fresh_at if self.fresh_turns else at
        self.fresh_turns += 1
        self.clock, self.last_turn_at = max(self.clock, at), max(self.last_turn_at, at)
