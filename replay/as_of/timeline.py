"""Timeline: how strong the concepts of one graph were, over event time, by folding its own events again.

A sample at time T is taken once all events before the first one later than T are folded: it shows what the graph was
when its own clock stood at T.  A late turn therefore counts from the moment it came, not from when it was said; windows
close in the log before the event that ended them, so what a window forgot is missing from the window's end on.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from replay.as_of.history import history, time_of
from replay.log import LogReader
from state.events.events import GraphEvent, TurnRecorded
from state.events.requests import Forgotten
from state.graph.graph import Graph


@dataclass(frozen=True, slots=True)
class Line:
    """One concept's strength at each time of its timeline; None where the graph did not hold it (yet, or any more)."""

    id: str
    label: str
    strengths: list[float | None]

    @property
    def peak(self) -> float:
        """The greatest strength that was sampled, 0 if the concept lived only between two samples."""
        return max((strength for strength in self.strengths if strength is not None), default=0.0)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Lines over `times` (ms, ascending), and the names that were asked for and never were a concept of the graph."""

    graph: str
    times: list[int]
    lines: list[Line]
    unknown: list[str]


async def timeline(
    log: LogReader, partition: int, graph: str, *, points: int = 60, named: Sequence[str] = (), strongest: int = 8
) -> Timeline | None:
    """Draw the timeline of a graph that lives in `partition` of `log`; None if nothing ever happened in it.

    points     samples, evenly spaced from the first event to the last
    named      concepts, by id or as they were written; without any, the `strongest` ones by their peak, without marks
               and without what was forgotten

    Raises as `History.read_on`.
    """
    events = list((await history(log, partition, graph)).events())
    times = _times(events, points)
    if not times:
        return None
    ids = _meant(events, named)
    trace = _Trace(graph, times, only=set(ids.values()) if named else None)
    for event in events:
        trace.fold(event)
    lines = trace.lines()
    forgotten = _forgotten(events) - trace.present
    chosen = _requested_lines(lines, ids, len(times)) if named else _strongest(lines, strongest, forgotten)
    return Timeline(graph, times, chosen, [name for name in named if name not in ids])


def _requested_lines(lines: Mapping[str, Line], ids: Mapping[str, str], points: int) -> list[Line]:
    """Pick the line of each wanted concept; an empty one if it only lived between two samples."""
    return [lines.get(name) or Line(name, name, [None] * points) for name in dict.fromkeys(ids.values())]


def _forgotten(events: Iterable[GraphEvent]) -> set[str]:
    return {concept for event in events if isinstance(event, Forgotten) for concept in event.concepts}


def _strongest(lines: Mapping[str, Line], count: int, forgotten: AbstractSet[str]) -> list[Line]:
    words = (line for line in lines.values() if not line.id.startswith("@") and line.id not in forgotten)
    return sorted(words, key=lambda line: (-line.peak, line.id))[:count]


def _times(events: Iterable[GraphEvent], points: int) -> list[int]:
    """Choose at most `points` times, evenly spaced over the events, the first and the last among them."""
    moments = [at for event in events if (at := time_of(event)) is not None]
    if not moments:
        return []
    first, span = moments[0], max(moments) - moments[0]
    return list(dict.fromkeys(first + span * step // max(1, points - 1) for step in range(points)))


def _meant(events: Iterable[GraphEvent], named: Iterable[str]) -> dict[str, str]:
    """Map names to concept ids, for the names that are the id or a surface form of a concept that ever was."""
    mentioned = [concept for event in events if isinstance(event, TurnRecorded) for concept in event.concepts]
    forms = {concept.label.casefold(): concept.id for concept in mentioned} | {
        concept.id: concept.id for concept in mentioned
    }
    return {name: forms.get(name) or forms[name.casefold()] for name in named if {name, name.casefold()} & forms.keys()}


class _Trace:
    """A graph being folded, and what its concepts were at those of `times` that it has passed."""

    def __init__(self, graph: str, times: Sequence[int], only: AbstractSet[str] | None) -> None:
        self._graph = Graph(graph)
        self._times = times
        self._only = only
        self._passed = 0
        self._labels: dict[str, str] = {}
        self._strengths: dict[str, array[float]] = {}  # NaN where the concept was not there

    def fold(self, event: GraphEvent) -> None:
        """Take the samples that lie before the event, then fold it."""
        self._sample_before(time_of(event))
        self._graph.fold(event)

    @property
    def present(self) -> AbstractSet[str]:
        """The concepts that the graph holds after the last event."""
        return self._graph.concepts.numbers.keys()

    def lines(self) -> dict[str, Line]:
        """Take the remaining samples; return the line of every sampled concept."""
        self._sample_before(self._times[-1] + 1)
        return {name: Line(name, self._labels[name], _filled(strengths)) for name, strengths in self._strengths.items()}

    def _sample_before(self, moment: int | None) -> None:
        while moment is not None and self._passed < len(self._times) and self._times[self._passed] < moment:
            self._sample(self._times[self._passed])
            self._passed += 1

    def _sample(self, at: int) -> None:
        self._graph.settle()
        concepts, labels = self._graph.concepts, self._graph.concepts.labels()
        for name, number in concepts.numbers.items():
            if self._only is None or name in self._only:
                column = self._strengths.setdefault(name, array("d", [math.nan]) * len(self._times))
                column[self._passed] = concepts.strength_of(number, at, self._graph.settings)
                self._labels[name] = labels[number]


def _filled(strengths: Iterable[float]) -> list[float | None]:
    return [None if math.isnan(strength) else strength for strength in strengths]
