"""A graph as it was: the fold of its own events up to an offset of the log, or up to a time.

The graph as of time T holds all turns up to T, even those that were recorded later: imported history counts by the time
of its turns.  So it equals a graph that was built from only the events up to T, in their order, and then ticked to T:

    events in the log     a  b  W1 c  W2 d  W3 e        W: end of a window, recorded before what brought the time
    their times           1  2  5  6  8  20 22 7        as of 10: d lies beyond, e came late
    as of 10, with e      a  b  W1 c  ·· e  ··          ··: windows decided again, as closed with e in the graph

Up to the first event after T, the graph is as the log recorded it, and nothing is decided again.  Later windows of the
log depend on events that do not count, so they are left out; windows that end before a late event, or before T, are
decided here, by the same function as in a worker (processors/lifecycle/windows.py).  At the end the graph is ticked to
T, even if the log holds no tick after its last turn.

If the reader may not see what was forgotten since T (`hides`), the graph is shown without it: each later Forgotten
removes, at its place among the late events, what it names, and what the graph has only through that.  Turns that were
recorded after it stay, even those about an earlier time; a Forgotten that was undone hides nothing.

    as of 10, hidden      a  b  W1 c  ·· F' e  ··       F: forgotten at 22, between 20 and 7; F': with all that it left
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from processors.lifecycle.decay.forgetting import requested
from processors.lifecycle.windows import WindowForecast, due_windows
from replay.as_of.history import TIMED, WINDOW, History, history
from replay.log import LogReader
from state.events.events import UNSTAMPED, Forgotten, GraphEvent, Ticked, TurnRecorded, decode_as
from state.graph.graph import Graph


async def graph_at(
    log: LogReader, partition: int, graph_id: str, *, before: int | None = None, as_of: int | None = None
) -> Graph | None:
    """Rebuild a graph that lives in `partition` as it was; None if nothing had happened in it yet.

    before  only what lies before this offset of the log       as_of  only what was said by this time, ms

    Without `as_of` it is the fold of the log, and no window is closed that the log does not close.
    Raises as `History.read_on`.
    """
    return graph_as_of(await history(log, partition, graph_id, before), as_of)


def graph_as_of(history: History, at: int | None) -> Graph | None:
    """Rebuild the graph of a history as of `at` (ms), or as it is at its end; None if nothing had happened by then."""
    if at is not None:
        return AsOf(history, at).finished()
    return history.folded() if len(history) else None


class Counted(NamedTuple):
    """The places in a history that count at a time: its base, the first `prefix` ones, then `late` ones.

    Where later forgettings are to be obeyed, these are among the late ones.
    """

    prefix: int
    late: tuple[int, ...]


def counted(history: History, at: int, *, hides: bool = False) -> Counted:
    """Find what counts by `at` (ms).  Nothing does until something was said.

    hides  what was forgotten later is to be left out
    """
    times, kinds = np.array(history.times), np.array(history.kinds)
    in_time = times <= at
    prefix = len(times) if in_time.all() else int(np.argmin(in_time))
    late = tuple((np.flatnonzero(in_time[prefix:] & (kinds[prefix:] == TIMED)) + prefix).tolist())
    while late and prefix and kinds[prefix - 1] == WINDOW:
        prefix -= 1  # it was closed without what came late: decided again, once that is in the graph
    if not late and not history.base and not (kinds[:prefix] == TIMED).any():
        return Counted(0, ())
    later = [place for place in history.forgettings if place >= prefix] if hides else []
    return Counted(prefix, tuple(sorted((*late, *later))) if later else late)


def reaches(history: History, at: int) -> bool:
    """Return whether the graph as of `at` (ms) can be rebuilt: all of the history's base must count, and stand."""
    if not history.base:
        return True
    if at < history.base.clock:
        return False
    prefix, late = counted(history, at)
    return prefix > 0 or not late  # else a window at the end of the base might have to be decided again


class AsOf:
    """The fold of what counts by `at` (ms), to be done in steps.  The history must reach there (see `reaches`).

    graph    the fold so far
    folded   how many of the history's first places are in it; `is_prefix`: and nothing else is, but its base
    said     whether anything had been said by then
    start    a packed graph to start from: how many places it is the fold of, no more than count, and its bytes
    hides    what was forgotten later is left out
    """

    def __init__(
        self, history: History, at: int, start: tuple[int, bytes] | None = None, *, hides: bool = False
    ) -> None:
        self.at = at
        self.counted = counted(history, at, hides=hides)
        self.has_content = any(self.counted) or history.base is not None
        self.folded, packed = start or (0, history.base.packed if history.base else None)
        self.graph = Graph.unpack(packed) if packed else Graph(history.graph)
        self._first = history.first
        self._texts = history.base.texts if history.base else {}
        self._values, self._times = history.values, history.times  # which stay as they are, whatever is taken back
        self._late: dict[int, int] = {}  # ordinal among the events of `graph` → place in the history

    @property
    def is_prefix(self) -> bool:
        """Return whether `graph` is the fold of just the history's base and first `folded` places."""
        return self.graph.events == self._first + self.folded

    def steps(self) -> Iterator[None]:
        """Fold; yield after every event, so that others can be let in."""
        for place in range(self.folded, self.counted.prefix):
            self.graph.fold(decode_as(GraphEvent, self._values[place]))
            self.folded = place + 1
            yield
        for place, event in self._late_events():
            if not isinstance(
                event, Forgotten
            ):  # that is later than the time that is asked about: no window ends by it
                yield from self._close_due(self._times[place])
            self._late[self.graph.events] = place
            self.graph.fold(event)
            yield
        if self.has_content:
            yield from self._close_due(self.at)
            self.graph.fold(Ticked(graph=self.graph.graph_id, at=self.at, **UNSTAMPED))

    def _late_events(self) -> Iterator[tuple[int, GraphEvent]]:
        """Yield what came late, each with its place; of forgettings that follow each other, one for all of them."""
        late = ((place, decode_as(GraphEvent, self._values[place])) for place in self.counted.late)
        for is_forgetting, run in groupby(late, key=lambda each: isinstance(each[1], Forgotten)):
            if is_forgetting:
                yield _joined(run, self.graph)
            else:
                yield from run

    def finished(self) -> Graph | None:
        """Run all remaining steps and return the graph; None if it had no turns by then."""
        for _ in self.steps():
            pass
        return self.graph if self.has_content else None

    def _close_due(self, at: int) -> Iterator[None]:
        """Close the windows that end before the time `at` (ms) comes."""
        if not WindowForecast.of(self.graph).may_close(at):
            return  # at once: to find out when the first concept fades, `due_windows` looks at all of them
        for events in due_windows(self.graph, at):
            for event in events:
                self.graph.fold(event)
            yield

    def text_of(self, graph: Graph, passage: int) -> TurnRecorded:
        """Read the event that recorded a passage of the graph."""
        ordinal = graph.passages.event[passage]
        place = self.place_of(ordinal)
        return decode_as(TurnRecorded, self._texts[ordinal] if place < 0 else self._values[place])

    def place_of(self, ordinal: int) -> int:
        """Return which place of the history the event of this ordinal of the graph has; below 0 in its base."""
        return self._late.get(ordinal, ordinal - self._first)


def _joined(run: Iterable[tuple[int, GraphEvent]], graph: Graph) -> tuple[int, Forgotten]:
    """Make one forgetting of several, at the place of the first.

    It takes along all that the graph has through what they name alone: a word's last turn, a turn's words.  In the
    graph in which they were decided, more may have held them.
    """
    requests = [(place, event) for place, event in run if isinstance(event, Forgotten)]
    concepts = [name for _, event in requests for name in event.concepts]
    gone = requested(graph, concepts, [name for _, event in requests for name in event.turns], ())
    place, first = requests[0]
    return place, replace(first, concepts=gone.concepts, turns=gone.turns)
