"""The history of one graph: those of its events that count, in order, read from the log once and kept as bytes.

    place          0       1       2       …      position among the events that count
    ordinals       0       1       4              position among all events of the graph: for a live one, `Graph.events`
    values         bytes   bytes   bytes          the records' values; `offsets`: where they lie in the log
    times          ms      ms      ms             from when on the event counts, in the graph's own time
    kinds          0       1       2              UNTIMED, TIMED or WINDOW (state/events/registry.py)
    forgettings                                   the places at which a user had something forgotten, ascending

`times` of a turn, a recall or a tick is its own; of a configuration or a request to forget, which have none, the clock
that the graph had; of the end of a window, when it was closed: its end and the grace that was in force.

A history may begin behind a `Base`, the fold of the graph's first events, where those cannot be had without reading the
whole log (replay/as_of/store_history.py): places are then given from there on.

An event counts if the fold of the partition accepts it, if it names the graph (replay/accepted_events.py), and if it is
not undone (state/retraction.py).  An undone event does not count at any time: only a reader that stops before the undo
sees it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import NamedTuple

from emgas.limits import EARLIEST_MS
from replay.accepted_events import AcceptedEvents, graph_event
from replay.log import LogReader, keys_of
from state.erasure import Erased, erased_by
from state.events.events import (
    Forgotten,
    GraphConfigured,
    GraphEvent,
    Retracted,
    Sealed,
    SessionEnded,
    SessionSummarised,
    SubjectErased,
    decode_as,
    encode,
)
from state.events.memory_settings import PRESETS
from state.events.registry import SPECS, EventTiming
from state.graph.graph import Graph
from state.log_position import LogPosition
from state.retraction import still_counting
from state.sealing.keyring import NO_KEYS, Keyring, is_sealed

UNTIMED, TIMED, WINDOW = EventTiming
UNKNOWN = -1  # offset of an event that was not read from the log


class Base(NamedTuple):
    """The fold of a graph's first events, which lose nothing later, and in which something was said.

    events   how many they are                             packed  that graph
    clock    its stream time, ms; grace: in force then, ms texts   ordinal → record value, of the turns that it holds
    """

    events: int
    packed: bytes
    clock: int
    grace: int
    texts: Mapping[int, bytes]


class History:
    """See the module's docstring.  It only grows: places stay as they are, until something is taken back.

    every       (offset, value) of all events of the graph, by ordinal; from the base's end on, if there is a base
    takebacks   how often something was taken back or erased: with each, places are given again, in new lists
    keys        decrypt sealed events: `values` are unencrypted, erased events have no place
    """

    def __init__(
        self,
        graph: str,
        reading: AcceptedEvents | None = None,
        base: Base | None = None,
        *,
        keys: Keyring = NO_KEYS,
    ) -> None:
        self.graph = graph
        self.base = base
        self._keys = keys
        self._reading = reading or AcceptedEvents()
        self.every: list[tuple[int, bytes]] = []
        self.takebacks = 0
        self.size = 0  # of all values, bytes
        self._retractions: dict[int, Retracted] = {}
        self._erasures: dict[int, SubjectErased] = {}
        self._settled = 0  # retractions and erasures that the places know of
        self._start()

    def _start(self) -> None:
        self.values: list[bytes] = []
        self.offsets = array("q")
        self.ordinals = array("q")
        self.times = array("q")
        self.kinds = array("b")
        self.forgettings: list[int] = []
        self._clock = self.base.clock if self.base else EARLIEST_MS
        self._grace = self.base.grace if self.base else PRESETS["default"].grace

    @classmethod
    def of_rows(
        cls, graph: str, position: LogPosition, base: Base | None, values: Iterable[bytes], keys: Keyring = NO_KEYS
    ) -> History:
        """Take up what a store at `position` knows: the events behind `base`.  The log is read on from there."""
        result = cls(graph, AcceptedEvents(position), base, keys=keys)
        for value in values:
            result._add(graph_event(value, keys), value, UNKNOWN)
        result._settle()
        return result

    def __len__(self) -> int:
        """Count the events."""
        return len(self.values)

    @property
    def first(self) -> int:
        """The ordinal of the first event that is not in the base."""
        return self.base.events if self.base else 0

    @property
    def read(self) -> int:
        """Return the number of the graph's known events, including those in the base and those that do not count."""
        return self.first + len(self.every)

    @property
    def watermark(self) -> int:
        """The offset of the last record read, -1 for none."""
        return self._reading.position.watermark

    def event(self, place: int) -> GraphEvent:
        """Decode the event at `place`."""
        return decode_as(GraphEvent, self.values[place])

    def logged(self, place: int) -> bytes:
        """Return the record value of the event at `place` as it is in the log: sealed, if it was."""
        return self.every[self.ordinals[place] - self.first][1]

    def events(self) -> Iterator[GraphEvent]:
        """Yield the events, in order."""
        return (self.event(place) for place in range(len(self)))

    def folded(self, until: int | None = None) -> Graph:
        """Fold the events, without a base: all of them, or those whose ordinal is less than `until`."""
        graph = Graph(self.graph)
        for place in range(len(self) if until is None else bisect_left(self.ordinals, until)):
            graph.fold(self.event(place))
        return graph

    async def read_on(self, log: LogReader, partition: int, end: int | None = None) -> None:
        """Read `partition` of `log` from where reading stopped, to before offset `end` or to the log's end.

        May be cancelled, and called again: what was read is kept.  Raises as `AcceptedEvents.read`.
        """
        try:
            async for event, record in self._reading.read(log, partition, end, of=self.graph):
                if event.graph == self.graph:
                    self._add(event, record.value, record.offset)
        finally:
            self._settle()

    def _add(self, event: GraphEvent, value: bytes, offset: int = UNKNOWN) -> None:
        ordinal = len(self.every)
        self.every.append((offset, value))
        self.size += len(value)
        if isinstance(event, Retracted):
            self._retractions[ordinal] = event
        elif isinstance(event, SubjectErased):
            self._erasures[ordinal] = event
        elif not isinstance(event, Sealed):
            self._place(ordinal, event, encode(event) if is_sealed(value) else value)

    def _settle(self) -> None:
        """Renumber the places if something was taken back or erased since."""
        changes = len(self._retractions) + len(self._erasures)
        if self._settled == changes:
            return
        self._settled, self.takebacks = changes, self.takebacks + 1
        self._start()
        counts = still_counting(len(self.every), self._retractions, self.first)
        erased = erased_by(self._erasures)
        for ordinal, (_, value) in enumerate(self.every):
            if counts[ordinal] and ordinal not in self._retractions:
                self._place_standing(ordinal, value, erased)

    def _place_standing(self, ordinal: int, value: bytes, erased: Erased) -> None:
        event = None if ordinal < erased.start else erased.standing(ordinal, graph_event(value, self._keys))
        if event is not None and not (isinstance(event, SubjectErased) and event.whole):
            as_it_was = not is_sealed(value) and ordinal not in erased.instead
            self._place(ordinal, event, value if as_it_was else encode(event))

    def _place(self, ordinal: int, event: GraphEvent, value: bytes) -> None:
        """Append an event that counts as the next place; `value`: its record, unencrypted."""
        at, timing = time_of(event), _timing(event)
        if isinstance(event, GraphConfigured):
            self._grace = event.settings.grace
        if at is None:
            at = self._clock
        elif timing is WINDOW:
            at += self._grace
        else:
            self._clock = max(self._clock, at)
        if isinstance(event, Forgotten):
            self.forgettings.append(len(self.values))
        self.kinds.append(timing)
        self.times.append(at)
        self.values.append(value)
        self.offsets.append(self.every[ordinal][0])
        self.ordinals.append(self.first + ordinal)


def _timing(event: GraphEvent) -> EventTiming:
    """Return when an event counts: like a window, the end of a conversation that no user ended waits for late turns."""
    is_ours = isinstance(event, SessionEnded) and event.reason != "said"
    if is_ours or (isinstance(event, SessionSummarised) and event.src is None and not event.requested):
        return WINDOW
    return SPECS[type(event)].timing


def time_of(event: GraphEvent) -> int | None:
    """Return the event's time, ms; a configuration and a request to forget have that of the event before them."""
    return getattr(event, "at", None)


async def history(log: LogReader, partition: int, graph: str, end: int | None = None) -> History:
    """Read the history of a graph that lives in `partition`, before offset `end`.  Raises as `History.read_on`."""
    result = History(graph, keys=keys_of(log))
    await result.read_on(log, partition, end)
    return result


async def histories(
    log: LogReader, partition: int, end: int | None = None, locked: dict[str, str] | None = None
) -> dict[str, History]:
    """Read the histories of all graphs of `partition`, by graph id; they are not to be read on.

    With `locked`, graphs whose keys are missing are left out, and noted there.  Raises as `History.read_on`.
    """
    reading, by_graph = AcceptedEvents(), dict[str, History]()
    async for event, record in reading.read(log, partition, end, locked=locked):
        if event.graph not in by_graph:
            by_graph[event.graph] = History(event.graph, reading, keys=keys_of(log))
        by_graph[event.graph]._add(event, record.value, record.offset)  # noqa: SLF001 - only what reads a log builds one
    for name in locked or ():
        by_graph.pop(name, None)
    for each in by_graph.values():
        each._settle()  # noqa: SLF001 - as above
    return by_graph


async def counting_events(
    log: LogReader, partition: int, graph: str | None = None, *, locked: dict[str, str] | None = None
) -> AsyncIterator[GraphEvent]:
    """Yield the events that count, of one graph or of all in the partition, in order.  Raises as `History.read_on`.

    With `locked`, graphs whose keys are missing are left out, and noted there before anything is yielded.
    """
    _, end = await log.bounds(partition)
    counts, erased = await _counting(log, partition, end, locked)
    seen: Counter[str] = Counter()
    async for event, _ in AcceptedEvents().read(log, partition, end, locked=locked):
        name = event.graph
        standing = erased[name].standing(seen[name], event) if counts[name][seen[name]] else None
        seen[name] += 1
        if (graph is None or name == graph) and standing is not None:
            yield standing


async def _counting(
    log: LogReader, partition: int, end: int, locked: dict[str, str] | None
) -> tuple[dict[str, list[bool]], dict[str, Erased]]:
    """Return, for each graph's events by ordinal, whether they count, and what was erased of them.

    A Retracted has done what it does.
    """
    retractions: dict[str, dict[int, Retracted]] = defaultdict(dict)
    erasures: dict[str, dict[int, SubjectErased]] = defaultdict(dict)
    seen: Counter[str] = Counter()
    async for event, _ in AcceptedEvents().read(log, partition, end, locked=locked):
        if isinstance(event, Retracted):
            retractions[event.graph][seen[event.graph]] = event
        elif isinstance(event, SubjectErased):
            erasures[event.graph][seen[event.graph]] = event
        seen[event.graph] += 1
    counts = {name: still_counting(count, retractions[name]) for name, count in seen.items()}
    for name, made in retractions.items():
        for ordinal in made:
            counts[name][ordinal] = False
    return counts, {name: erased_by(erasures[name]) for name in seen}
