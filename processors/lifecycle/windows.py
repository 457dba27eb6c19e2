"""Windows in event time, per graph: which one has ended, and has to be closed next?  Pure functions of (graph, time).

    decay          tumbling, `decay_every` long: at its end, what has faded is archived, and links that have are cut
    consolidation  session window, ended by `idle` of silence, or tumbling, `consolidate_every` long: whichever ends
                   first once there are enough new turns (MemorySettings.enough_turns); they are then consolidated.
                   Where a conversation was ended, however few they are
    dream          tumbling, `dream_every` long, if anything was said in it (dreams.py); off by default
    conversation   ended by silence, size or a shift of topic, where a graph wants that (sessions.py)

    for event in due_events(graph, now):      brings a graph up to a time, window by window
        graph.fold(event)                     the next window is decided on the state that this one left

What a decay window decides goes to the archive, and can still be found (processors/lifecycle/forgetting.py).  A window
that names more than a record can hold leaves several events, each a part (processors/lifecycle/parts.py).

A window closes once the graph's stream time has passed its end by `grace`.  Windows close one after the other, each
decided on the state that the one before it left; empty ones leave no event.  So it does not matter whether many ticks
or a single late turn brought the time: the same windows close with the same content.

That needs one thing of whoever moves a graph's time (a turn, a recall, a timer): the windows that end before it are
closed before it is folded.  The event that closes a window moves the clock to its end and grace, so a timer has nothing
to record but that: where nothing was to be done, nobody can see that time went on.

Late turns: a turn whose window has closed is folded as it comes, with its own time.  It boosts without turning time
back, counts as new for the next consolidation, and what it brings that has faded already goes with the next decay
window.  Closed windows are not opened again.

Windows close in the order of their ends, but for one case: a late turn may make the new turns enough whose session or
week ended long ago.  They are consolidated at once then, though later decay windows have closed before.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from msgspec.structs import replace

from emgas.errors import HaltedError
from emgas.limits import EARLIEST_MS
from processors.lifecycle.consolidation import consolidated_steps, fresh_passages
from processors.lifecycle.dreams import dream_after, dreams_at, dreamt, next_dream
from processors.lifecycle.forgetting import faded
from processors.lifecycle.habits import recurring_steps
from processors.lifecycle.homeostasis import adapted
from processors.lifecycle.parts import parts
from processors.lifecycle.sessions import next_end, next_end_at
from processors.lifecycle.steps import Steps, in_one_go
from processors.lifecycle.tiers import leaving
from state.events.events import UNSTAMPED, ConsolidationWindowClosed, GraphEvent, MemoryArchived, WindowEvent
from state.events.memory_settings import MemorySettings
from state.graph.graph import Graph
from state.graph.tables.decay import NEVER


class WindowStuckError(HaltedError):
    """Closing a window did not close it.  Operator action: report it; nothing more is written to the log."""


class DueWindow(NamedTuple):
    """A window that has ended at `at` (ms) and is to be closed now."""

    kind: Literal["decay", "consolidation", "dream", "conversation"]
    at: int
    session: str = ""


class Timekeeping(Protocol):
    """What decides when a consolidation window ends: a graph, or one as it will be (WindowForecast)."""

    settings: MemorySettings
    last_turn_at: int
    enough_at: int
    ended_at: int

    @property
    def rhythm(self) -> MemorySettings:
        """Return the settings by which windows consolidate now."""


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

    None where somebody who was let in had the graph compacted: its turns and concepts have other numbers then.
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
    """Decide what closing `due` does: one event, several parts of it, or none for nothing.

    A decay window in which nothing faded leaves no event, yet what seemed due is due later now; it is decided in one
    step.  A consolidation window always leaves one, however little it says: the fold counts new turns from there on.
    """
    if due.kind == "conversation":
        end = next_end(graph)
        return [] if end is None else [end]
    if due.kind == "dream":
        return [dreamt(graph, due.at)]
    if due.kind == "consolidation":
        habits: list[WindowEvent] = [*(yield from recurring_steps(graph, fresh_passages(graph), due.at))]
        yield
        found = (yield from consolidated_steps(graph, due.at))._asdict()
        # Habits come first: cut off behind any of them, the window is still open, and the rest is decided again.
        turns = leaving(graph, due.at)
        gone = [_archiving(graph, due.at, **part) for part in parts({"concepts": [], "turns": turns})] if turns else []
        *before, last = [_consolidation(graph, due.at, **part) for part in parts(found)]
        return [*habits, *gone, *before, replace(last, **adapted(graph, leaving=len(turns)))]
    over = faded(graph, due.at)
    return [_archiving(graph, due.at, **part) for part in parts(over._asdict())] if any(over) else []


def _consolidation(graph: Graph, at: int, **found: list[Any]) -> WindowEvent:
    there: dict[str, Any] = {"graph": graph.graph_id, "at": at, **found, **UNSTAMPED}
    return ConsolidationWindowClosed(**there)


def _archiving(
    graph: Graph, at: int, *, concepts: list[str], turns: list[str], links: Sequence[list[str]] = ()
) -> WindowEvent:
    there: dict[str, Any] = {"graph": graph.graph_id, "at": at, "links": list(links), **UNSTAMPED}
    return MemoryArchived(concepts=concepts, turns=turns, **there)


def next_due(graph: Graph, now: int) -> DueWindow | None:
    """Return which window to close next before stream time `now` (ms) or the graph's own; None if none ended."""
    now = max(now, graph.clock)
    if (conversation := _conversation_end(graph, now)) is not None:
        return conversation
    consolidation, dream = _consolidation_end(graph, now), next_dream(graph)
    decay, latest = _decay_end(graph), now - graph.settings.grace
    if decay <= min(latest if consolidation is None else consolidation, dream):
        return DueWindow("decay", decay)
    if dream <= latest and (consolidation is None or dream < consolidation):
        return DueWindow("dream", dream)
    return None if consolidation is None else DueWindow("consolidation", consolidation)


def next_alarm(graph: Graph) -> int:
    """Tell the stream time (ms) before which no window of the graph is to be closed, NEVER if none ever is."""
    ends = _decay_end(graph), next_dream(graph), *_consolidation_ends(graph), next_end_at(graph)
    return min(min(ends) + graph.settings.grace, NEVER)


def _decay_end(graph: Graph) -> int:
    """Find the end of the first open decay window in which something may have faded, ms."""
    settings = graph.settings
    closed = (graph.clock - settings.grace) // settings.decay_every * settings.decay_every
    fading = graph.link_queue().earliest if settings.fades_links else NEVER
    earliest = max(min(graph.expiry_queue().earliest(), fading), closed + 1)
    return earliest + -earliest % settings.decay_every


def _conversation_end(graph: Graph, now: int) -> DueWindow | None:
    """Find the conversation that has ended; silence waits for late turns, as windows do."""
    end = next_end(graph)
    if end is None or end.at > now - (graph.settings.grace if end.reason == "idle" else 0):
        return None
    return DueWindow("conversation", end.at, end.session)


def _consolidation_end(graph: Timekeeping, now: int) -> int | None:
    end = min(_consolidation_ends(graph), default=NEVER)
    return end if end <= now - graph.settings.grace else None


def _consolidation_ends(graph: Timekeeping) -> tuple[int, ...]:
    """List the ends of the session window and of the tumbling one, ms; none without enough new turns.

    Where a conversation was ended, however few they are, that is an end too.
    """
    over = () if graph.ended_at == NEVER else (graph.ended_at,)
    if graph.enough_at == NEVER:
        return over
    every = graph.rhythm.consolidate_every
    return *over, graph.last_turn_at + graph.settings.idle, graph.enough_at - graph.enough_at % every + every


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

    @property
    def rhythm(self) -> MemorySettings:
        """Return the settings by which windows consolidate now."""
        return self.settings.paced(self.pace)

    @classmethod
    def of(cls, graph: Graph) -> WindowForecast:
        """Start from a graph in which no window is due.  One that is yet to be born starts from its settings alone."""
        fresh = graph.fresh_turns, graph.last_turn_at, graph.enough_at, graph.ended_at
        return cls(graph.settings, graph.clock, graph.turns, *fresh, pace=graph.pace)

    def may_close(self, at: int) -> bool:
        """Return whether there could be a window to close before a turn at `at` (ms)."""
        now, settings = max(self.clock, at), self.settings
        if settings.ends_sessions:
            return True
        every, grace = settings.decay_every, settings.grace
        may_decay = (now - grace) // every != (self.clock - grace) // every
        return may_decay or self._may_dream(now) or _consolidation_end(self, now) is not None

    def _may_dream(self, now: int) -> bool:
        every, offset, grace = self.settings.dream_every, dreams_at(self.settings), self.settings.grace
        if not every:
            return False
        return dream_after(now - grace, every, offset) != dream_after(self.clock - grace, every, offset)

    def add(self, at: int) -> None:
        """Count a turn at `at` (ms) that is still to be folded, and whose id is new."""
        self.turns, self.fresh_turns = self.turns + 1, self.fresh_turns + 1
        self.clock, self.last_turn_at = max(self.clock, at), max(self.last_turn_at, at)
        if self.enough_at == NEVER and self.fresh_turns >= self.rhythm.enough_turns(self.turns):
            self.enough_at = self.last_turn_at
