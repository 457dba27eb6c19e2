"""A graph that lives without a worker: its windows are closed as a worker closes them, whatever brings the time.

live(happened)                       turns, recalls and requests one by one, each behind the windows that end before it
live(happened, ticks=[…])            and time passes in between, as a timer would tell
live(happened, batches=seeded)       turns are held back and folded together where windows.WindowForecast allows it

Life.windows       what was closed: the window events, in order
Life.events        everything that was folded, in order: the graph's log
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from processors.lifecycle.decay.forgetting import requested
from processors.lifecycle.windows import WindowForecast, due_events
from state.events.events import (
    ConceptsRecalled,
    ConsolidationWindowClosed,
    GraphEvent,
    MemoryArchived,
    Pinned,
    TurnRecorded,
    Unpinned,
)
from state.graph.graph import Graph
from tests.support.builders import forgotten, ticked


class ForgetRequest(NamedTuple):
    """A user's request to forget; time does not go on with it."""

    concepts: list[str]
    turns: list[str]
    sessions: list[str]


Happening = TurnRecorded | ConceptsRecalled | Pinned | Unpinned | ForgetRequest


class Life:
    """One graph and all that was folded into it."""

    def __init__(self, birth: Sequence[GraphEvent] = ()) -> None:
        self.graph = Graph("ada")
        self.events: list[GraphEvent] = []
        for event in birth:
            self.fold(event)

    @property
    def windows(self) -> list[GraphEvent]:
        """Return the windows that were closed with something in them."""
        return [event for event in self.events if isinstance(event, MemoryArchived | ConsolidationWindowClosed)]

    def fold(self, event: GraphEvent) -> None:
        """Fold one event of the graph's log."""
        self.graph.fold(event)
        self.events.append(event)

    def close_due(self, at: int) -> None:
        """Close the windows that end before the time `at` (ms) comes."""
        for event in due_events(self.graph, at):
            self.fold(event)

    def tell(self, event: Happening) -> None:
        """Let something happen."""
        if isinstance(event, ForgetRequest):
            gone = requested(self.graph, *event)
            self.fold(forgotten(concepts=gone.concepts, turns=gone.turns))
        elif isinstance(event, Pinned | Unpinned):
            self.fold(event)
        else:
            self.close_due(event.at)
            self.fold(event)

    def tick(self, at: int) -> None:
        """Let time pass; a timer never tells a time that has passed."""
        if at > self.graph.clock:
            self.close_due(at)
            self.fold(ticked(at=at))


class Batching:
    """Folds turns together, as a worker does."""

    def __init__(self, life: Life, seeded: random.Random) -> None:
        self._life = life
        self._seeded = seeded
        self._pending: list[TurnRecorded] = []
        self._ahead = WindowForecast.of(life.graph)

    def tell(self, event: Happening) -> None:
        """Hold a turn back, or fold what was held."""
        if not isinstance(event, TurnRecorded):
            self.release()
            self._life.tell(event)
            self._ahead = WindowForecast.of(self._life.graph)
            return
        if self._ahead.may_close(event.at) or self._seeded.random() < 0.2:
            self.release()
            self._life.close_due(event.at)
            self._ahead = WindowForecast.of(self._life.graph)
        self._ahead.add(event.at)
        self._pending.append(event)

    def release(self) -> None:
        """Fold what is held; no window may have been missed."""
        for number, event in enumerate(self._pending):
            if number:  # of a copy: what seems due by a low bound need not have anything to close
                missed = next(due_events(Graph.unpack(self._life.graph.pack()), event.at), None)
                assert missed is None, f"WindowForecast missed {missed}"
            self._life.fold(event)
        self._pending.clear()


def live(
    happened: Iterable[Happening],
    birth: Sequence[GraphEvent] = (),
    *,
    ticks: Collection[int] = (),
    batches: random.Random | None = None,
    until: int | None = None,
) -> Life:
    """Return the life of a graph in which this happened.

    birth    events that come first, such as a configuration
    ticks    times (ms); told only between what happened before and after them, never ahead of it
    until    a last tick
    """
    life = Life(birth)
    batching = Batching(life, batches) if batches else None
    waiting = sorted(ticks)
    for event in happened:
        if not batching:
            while waiting and isinstance(event, TurnRecorded | ConceptsRecalled) and waiting[0] <= event.at:
                life.tick(waiting.pop(0))
        (batching or life).tell(event)
    if batching:
        batching.release()
    for tick in [*waiting, *([] if until is None else [until])]:
        if until is None or tick <= until:
            life.tick(tick)
    return life
