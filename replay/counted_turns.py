"""The turns of one graph that count, told apart from the fold: ids only, so that an audit has something of its own."""

from __future__ import annotations

from state.events import GraphEvent, Retracted, TurnRecorded
from state.retraction import still_counting


class CountedTurns:
    """Follows a graph's events.  `ids`: of the turns that were recorded and not taken back, or given back since."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self._events = 0
        self._recorded: list[tuple[int, str]] = []  # ordinal, id
        self._retractions: dict[int, Retracted] = {}

    def observe(self, event: GraphEvent) -> str | None:
        """Take the graph's next event; return the id of a turn that counted already."""
        ordinal, self._events = self._events, self._events + 1
        if isinstance(event, Retracted):
            self._retractions[ordinal] = event
            counts = still_counting(self._events, self._retractions)
            self.ids = {turn for recorded, turn in self._recorded if counts[recorded]}
        elif isinstance(event, TurnRecorded):
            self._recorded.append((ordinal, event.id))
            if event.id in self.ids:
                return event.id
            self.ids.add(event.id)
        return None
