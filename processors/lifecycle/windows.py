"""Windows in event time, per graph: which one has ended, and has to be closed next?  Pure functions of (graph, time).

    decay          tumbling, `decay_every` long: at its end, what has faded is archived, and links that have are cut
    consolidation  session window, ended by `idle` of silence, or tumbling, `consolidate_every` long: whichever ends
                   first once there are enough new turns (MemorySettings.enough_turns); they are then consolidated.
                   Where a conversation was ended, however few they are
    dream          tumbling, `dream_every` long, if anything was said in it (lab/windows/dreams.py); off by default
    expiry         ends when the next turn expires (decay/expiry.py)
    conversation   ended by silence, size or a shift of topic (lab/windows/conversations.py); off by default

    for event in due_events(graph, now):      brings a graph up to a time, window by window
        graph.fold(event)                     the next window is decided on the state that this one left

What a decay window decides goes to the archive, and can still be found (decay/forgetting.py).  A window that names more
than a record can hold leaves several events, each a part (parts.py).

A window closes once the graph's stream time has passed its end by `grace`.  Windows close one after the other, each
decided on the state that the one before it left; empty ones leave no event.  So it does not matter whether many ticks
or a single late turn brought the time: the same windows close with the same content.

That needs one thing of anyone who moves a graph's time (a turn, a recall, a timer): the windows that end before it are
closed before it is folded.  The event that closes a window moves the clock to its end and grace, so a timer has nothing
to record but that: where nothing was to be done, no one can see that time went on.

Late turns: a turn whose window has closed is folded as it comes, with its own time.  It boosts without turning time
back, counts as new for the next consolidation, and what it brings that has faded already goes with the next decay
window.  Closed windows are not opened again.

Windows close in the order of their ends, but for one case: a late turn may make the new turns enough whose session or
week ended long ago.  They are consolidated at once then, though later decay windows have closed before.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from emgas.errors import HaltedError
from emgas.limits import EARLIEST_MS
from processors.lifecycle.consolidation.window import CONSOLIDATION
from processors.lifecycle.decay.expiry import EXPIRY
from processors.lifecycle.decay.forgetting import DECAY
from processors.lifecycle.policies import policy
from processors.lifecycle.steps import Steps, in_one_go
from processors.lifecycle.window import Window
from state.events.events import GraphEvent
from state.events.memory_settings import MemorySettings
from state.graph.graph import Graph
from state.graph.tables.decay import NEVER

# Of two windows that end at once, the one that stands first is closed first.
WINDOWS: Final[dict[str, Window]] = {each.kind: each for each in (EXPIRY, DECAY, CONSOLIDATION)}
# Further kinds, and what of a graph's settings turns each on (policies.py).
OPTIONAL: Final[Mapping[str, str]] = {"conversation": "ends_sessions", "dream": "dream_every"}


def _windows(settings: MemorySettings) -> Iterator[Window]:
    """Yield the kinds of windows that a graph of these settings has."""
    yield from WINDOWS.values()
    for kind, setting in OPTIONAL.items():
        if getattr(settings, setting):
            yield _optional(kind)


def _optional(kind: str) -> Window:
    window: Window = policy("windows", kind)
    return window


class WindowStuckError(HaltedError):
    """Closing a window did not close it.  Operator action: report it; nothing more is written to the log."""


class DueWindow(NamedTuple):
    """A window that has ended at `at` (ms) and is to be closed now."""

    kind: str  # of WINDOWS or OPTIONAL
    at: int
    session: str = ""


def due_events(graph: Graph, now: int) -> Iterator[GraphEvent]:
    """Yield the events of `due_windows` one by one: fold each into `graph` before asking for the next."""
    for events in due_windows(graph, now):
        yield from events


def due_windows(graph: Graph, now: int) -> Iterator[list[GraphEvent]]:
    """Yield, window by window, the events, unstamped, that close what has ended at stream time `now` (ms).

    Fold those of a window into `graph` before asking for the next.  [] is yielded where others may be let in: for a
    window that leaves none, as to find that out takes as long, and while one is decided that takes longer.  What has
    ended by the graph's own clock is closed as well.  Raises WindowStuckError when a window is due again right after it
    was closed.
    """
    last: DueWindow | None = None
    while (due := next_due(graph, now)) is not None:
        if due == last:
            raise WindowStuckError(
                f"{due} of graph {graph.graph_id} is due again after it was closed: this is a bug of ours"
            )
        events = yield from _closed(graph, due)
        last = due if events is not None else last
        yield events or []


def _closed(graph: Graph, due: DueWindow) -> Generator[list[GraphEvent], None, list[GraphEvent] | None]:
    """Decide what closing `due` does, and yield [] now and then.

    None where someone who was let in had the graph compacted: its turns and concepts have other numbers then.
    """
    concepts, events, steps = graph.concepts, graph.events, closing(graph, due)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            decided: list[GraphEvent] = end.value
            return decided
        yield []
        if graph.concepts is not concepts or graph.events != events:
            return None


def close(graph: Graph, due: DueWindow) -> list[GraphEvent]:
    """Decide what closing `due` does, in one go."""
    return in_one_go(closing(graph, due))


def closing(graph: Graph, due: DueWindow) -> Steps[list[GraphEvent]]:
    """Decide what closing `due` does: one event, several parts of it, or none for nothing."""
    window = WINDOWS.get(due.kind) or _optional(due.kind)
    return window.closing(graph, due.at)


def next_due(graph: Graph, now: int) -> DueWindow | None:
    """Return which window to close next before stream time `now` (ms) or the graph's own; None if none ended."""
    now = max(now, graph.clock)
    over = [
        (not window.first, end.at, DueWindow(window.kind, end.at, end.session))
        for window in _windows(graph.settings)
        if (end := window.next_end(graph)) is not None and end.is_over(graph.settings, now)
    ]
    return min(over, key=lambda each: each[:2], default=(True, 0, None))[2]


def next_alarm(graph: Graph) -> int:
    """Return the stream time (ms) before which no window of the graph is to be closed, NEVER if none ever is."""
    ends = (end.at for window in _windows(graph.settings) if (end := window.next_end(graph)) is not None)
    return min(min(ends, default=NEVER) + graph.settings.grace, NEVER)


@dataclass
class WindowForecast:
    """A graph's time as it will be once the turns that are still to be folded are: whether the next may close a window.

    It may say so without need, and never keeps silent where a window would close; so turns can be appended in batches.
    """

    settings: MemorySettings
    clock: int = EARLIEST_MS
    turns: int = 0
    fresh_turns: int = 0
    last_turn_at: int = EARLIEST_MS
    enough_at: int = NEVER
    ended_at: int = NEVER
    pace: int = 0
    expires_next: int = NEVER

    @property
    def rhythm(self) -> MemorySettings:
        """Return the settings by which windows consolidate now."""
        return self.settings.paced(self.pace)

    @classmethod
    def of(cls, graph: Graph) -> WindowForecast:
        """Start from a graph in which no window is due.  A new graph starts from its settings alone."""
        fresh = graph.fresh_turns, graph.last_turn_at, graph.enough_at, graph.ended_at
        return cls(graph.settings, graph.clock, graph.turns, *fresh, pace=graph.pace, expires_next=graph.expires_next)

    def may_close(self, at: int) -> bool:
        """Return whether there could be a window to close before a turn at `at` (ms)."""
        now = max(self.clock, at)
        return any(window.may_end(self, now) for window in _windows(self.settings))

    def add(self, at: int, expires_at: int | None = None) -> None:
        """Count a turn at `at` (ms) that is still to be folded, and whose id is new."""
        self.expires_next = min(self.expires_next, NEVER if expires_at is None else expires_at)
        self.turns, self.fresh_turns = self.turns + 1, self.fresh_turns + 1
        self.clock, self.last_turn_at = max(self.clock, at), max(self.last_turn_at, at)
        if self.enough_at == NEVER and self.fresh_turns >= self.rhythm.enough_turns(self.turns):
            self.enough_at = self.last_turn_at
