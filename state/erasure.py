"""Compute what erasures removed from a graph: events that no longer count, and replacements of others.

    ordinal   0      1          2            3                     4
    event     born   turn t1    turn t2      archived "kettle"     SubjectErased {events: 1–1, instead: {3: …}}
    counts    yes    destroyed  yes          without "kettle"      yes: t1 is known as erased

A window or a recall that names content of erased turns only is replaced by one that does not: its key is destroyed as
well, and the SubjectErased holds the replacement.  A SubjectErased holds such events, so it may be replaced, too; the
later one is valid.  After one that erases a whole graph, no event before it counts.

No keys are read here: the log alone decides which events count.  So a worker that never restarted, and folded events
before their keys were destroyed, has the same graph as a replay that cannot decrypt them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from state.events.events import GraphEvent, Sealed, SubjectErased, decode_as


@dataclass
class Erased:
    """The events that erasures removed from a graph.

    start    ordinal of the last event that erased all before it; 0 for none
    instead  ordinal → the event that stands there instead
    """

    start: int = 0
    instead: dict[int, GraphEvent] = field(default_factory=dict)
    _gone: set[int] = field(default_factory=set)

    def takes(self, ordinal: int) -> bool:
        """Return whether the event of this ordinal counts no more, at least not as it was."""
        return ordinal < self.start or ordinal in self._gone

    def standing(self, ordinal: int, event: GraphEvent) -> GraphEvent | None:
        """Return the event that counts where `event` stands, None if none does."""
        if ordinal < self.start:
            return None
        if ordinal in self._gone:
            return self.instead.get(ordinal)
        return None if isinstance(event, Sealed) else event

    def _take(self, event: SubjectErased) -> Iterable[int]:
        """Add what one event erases; return the ordinals of the events that it replaces for the first time."""
        for first, last in event.events:
            self._gone.update(range(first, last + 1))
        for ordinal, value in event.instead:
            if ordinal not in self.instead:
                self.instead[ordinal] = decode_as(GraphEvent, value)
                yield ordinal


def erased_by(events: Mapping[int, SubjectErased]) -> Erased:
    """Add up what the erasures of a graph, by their ordinals, took out of it; the latest of them holds."""
    erased, waiting = Erased(), dict(events)
    while waiting:
        ordinal = max(waiting)
        event = waiting.pop(ordinal)
        if event.whole:
            erased.start = ordinal
            break
        for place in erased._take(event):  # noqa: SLF001 - it is ours
            replaced = erased.instead[place]
            if isinstance(replaced, SubjectErased):
                waiting[place] = replaced
    return erased
