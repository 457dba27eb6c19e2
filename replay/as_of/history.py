"""The history of one graph: those of its events that count, in order, read from the log once and kept as bytes.

    place          0       1       2       …      position among the events that count
    ordinals       0       1       4              position among all events of the graph: for a live one, `Graph.events`
    values         bytes   bytes   bytes          the records' values; `offsets`: where they lie in the log
    times          ms      ms      ms             from when on the event counts, in the graph's own time
    kinds          0       1       2              UNTIMED, TIMED or WINDOW

`times` of a turn, a recall or a tick is its own; of a configuration or a wish to forget, which have none, the clock
that the graph had; of the end of a window, when it was closed: its end and the grace that was in force.

A history may begin behind a `Base`, the fold of the graph's first events, where those cannot be had without reading the
whole log (replay/as_of/store_history.py): places are then given from there on.

This is the one place that says which events of a log are a graph's: what a fold of the partition accepts
(state/log_position.py), what carries the graph's name, and what was not taken back (state/retraction.py).  Whatever rebuilds a
graph asks here.  What was taken back never was, at any time: only who reads no further than before the undo sees it.
"""

from __future__ import annotations

import asyncio
from array import array
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from typing import NamedTuple

from emgas.limits import EARLIEST_MS
from replay.log import LogReader
from state.errors import LogRewrittenError
from state.events.events import (
    ConsolidationWindowClosed,
    DecayWindowClosed,
    GraphConfigured,
    GraphEvent,
    Retracted,
    decode,
)
from state.events.memory_settings import PRESETS
from state.log_position import Acceptance, LogPosition
from state.retraction import still_counting

UNTIMED, TIMED, WINDOW = range(3)
AT_ONCE = 64  # records read without letting others in: some milliseconds
UNKNOWN = -1  # offset of an event that was not read from the log


class Base(NamedTuple):
    """The fold of a graph's first events, of which nothing will be taken back, and in which something was said.

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
    takebacks   how often something was taken back: with each, places are given anew, in new lists
    """

    def __init__(self, graph: str, reading: _Reading | None = None, base: Base | None = None) -> None:
        self.graph = graph
        self.base = base
        self._reading = reading or _Reading()
        self.every: list[tuple[int, bytes]] = []
        self.takebacks = 0
        self.size = 0  # of all values, bytes
        self._retractions: dict[int, Retracted] = {}
        self._settled = 0  # retractions that the places know of
        self._start()

    def _start(self) -> None:
        self.values: list[bytes] = []
        self.offsets = array("q")
        self.ordinals = array("q")
        self.times = array("q")
        self.kinds = array("b")
        self._clock = self.base.clock if self.base else EARLIEST_MS
        self._grace = self.base.grace if self.base else PRESETS["default"].grace

    @classmethod
    def of_rows(cls, graph: str, head: LogPosition, base: Base | None, values: Iterable[bytes]) -> History:
        """Return what a store knows that stands at `head`: its events behind `base`.  The log goes on behind `head`."""
        found = cls(graph, _Reading(head), base)
        for value in values:
            event = decode(value)
            assert isinstance(event, GraphEvent)  # noqa: S101 - only these are stored by graph
            found._add(event, value, UNKNOWN)
        found._settle()
        return found

    def __len__(self) -> int:
        """Return how many events there are."""
        return len(self.values)

    @property
    def first(self) -> int:
        """Return the ordinal of the first event that is not in the base."""
        return self.base.events if self.base else 0

    @property
    def read(self) -> int:
        """Return how many events of the graph are known, those in the base and those that do not count among them."""
        return self.first + len(self.every)

    @property
    def watermark(self) -> int:
        """Return the offset of the last record read, -1 for none."""
        return self._reading.head.watermark

    def event(self, place: int) -> GraphEvent:
        """Return the event at `place`."""
        event = decode(self.values[place])
        assert isinstance(event, GraphEvent)  # noqa: S101 - nothing else was taken
        return event

    def events(self) -> Iterator[GraphEvent]:
        """Yield the events, in order."""
        return (self.event(place) for place in range(len(self)))

    async def read_on(self, log: LogReader, number: int, end: int | None = None) -> None:
        """Read partition `number` of `log` from where reading stopped, to before offset `end` or to the log's end.

        May be cancelled, and called again: what was read is kept.  Lets others in every few milliseconds.
        Raises LogRewrittenError when the log's beginning is gone, and what `decode` and `LogPosition.after` raise.
        """
        try:
            async for event, value in self._reading.on(log, number, end):
                if event.graph == self.graph:
                    self._add(event, value, self.watermark)
        finally:
            self._settle()

    def _add(self, event: GraphEvent, value: bytes, offset: int = UNKNOWN) -> None:
        number = len(self.every)
        self.every.append((offset, value))
        self.size += len(value)
        if isinstance(event, Retracted):
            self._retractions[number] = event
        else:
            self._place(number, event)

    def _settle(self) -> None:
        """Give places anew if something was taken back since they were given."""
        if self._settled == len(self._retractions):
            return
        self._settled, self.takebacks = len(self._retractions), self.takebacks + 1
        self._start()
        counts = still_counting(len(self.every), self._retractions, self.first)
        for number, (_, value) in enumerate(self.every):
            if counts[number] and number not in self._retractions:
                event = decode(value)
                assert isinstance(event, GraphEvent)  # noqa: S101 - nothing else was taken
                self._place(number, event)

    def _place(self, number: int, event: GraphEvent) -> None:
        """Give an event that counts the next place."""
        at = time_of(event)
        if isinstance(event, GraphConfigured):
            self._grace = event.settings.grace
        if isinstance(event, DecayWindowClosed | ConsolidationWindowClosed):
            self.kinds.append(WINDOW)
            self.times.append(event.at + self._grace)
        elif at is None:
            self.kinds.append(UNTIMED)
            self.times.append(self._clock)
        else:
            self._clock = max(self._clock, at)
            self.kinds.append(TIMED)
            self.times.append(at)
        offset, value = self.every[number]
        self.values.append(value)
        self.offsets.append(offset)
        self.ordinals.append(self.first + number)


def time_of(event: GraphEvent) -> int | None:
    """Return the event's time, ms; a configuration and a wish to forget have none, they count from the one before."""
    return getattr(event, "at", None)


async def history(log: LogReader, number: int, graph: str, end: int | None = None) -> History:
    """Return the history of a graph that lives in partition `number`, before offset `end`.  Raises as `read_on`."""
    found = History(graph)
    await found.read_on(log, number, end)
    return found


async def histories(log: LogReader, number: int, end: int | None = None) -> dict[str, History]:
    """Return the histories of all graphs of partition `number`, by name; they are not to be read on.

    Raises as `History.read_on`.
    """
    reading, found = _Reading(), dict[str, History]()
    async for event, value in reading.on(log, number, end):
        if event.graph not in found:
            found[event.graph] = History(event.graph, reading)
        found[event.graph]._add(event, value, reading.head.watermark)
    for each in found.values():
        each._settle()
    return found


async def accepted(log: LogReader, number: int, graph: str | None = None) -> AsyncIterator[GraphEvent]:
    """Yield the events that count, of one graph or of all in the partition, in order.  Raises as `History.read_on`."""
    _, end = await log.bounds(number)
    counts = await _counting(log, number, end)
    seen: Counter[str] = Counter()
    async for event, _ in _Reading().on(log, number, end):
        if (graph is None or event.graph == graph) and counts[event.graph][seen[event.graph]]:
            yield event
        seen[event.graph] += 1


async def _counting(log: LogReader, number: int, end: int) -> dict[str, list[bool]]:
    """Return of each graph's events, by ordinal, whether they count; a Retracted has done what it does."""
    retractions: dict[str, dict[int, Retracted]] = defaultdict(dict)
    seen: Counter[str] = Counter()
    async for event, _ in _Reading().on(log, number, end):
        if isinstance(event, Retracted):
            retractions[event.graph][seen[event.graph]] = event
        seen[event.graph] += 1
    counts = {name: still_counting(count, retractions[name]) for name, count in seen.items()}
    for name, made in retractions.items():
        for ordinal in made:
            counts[name][ordinal] = False
    return counts


class _Reading:
    """How far a partition is read: `head` is that of a fold which accepted what it should."""

    def __init__(self, head: LogPosition | None = None) -> None:
        self.head = head or LogPosition()
        self._since_yield = 0

    async def on(self, log: LogReader, number: int, end: int | None) -> AsyncIterator[tuple[GraphEvent, bytes]]:
        """Yield graph events that a fold accepts, with their values, from where reading stopped to before `end`."""
        start, last = await log.bounds(number)
        if start > 0 and start > self.head.watermark + 1:
            raise LogRewrittenError(
                f"partition {number} begins at offset {start}: the head of the log is gone, and with it the beginning "
                "of every graph. Restore it; events must be kept for ever (retention.ms=-1)."
            )
        batches = log.read(number, self.head.watermark + 1, last if end is None else min(end, last))
        try:
            async for batch in batches:
                for record in batch:
                    event = decode(record.value)
                    self.head, verdict = self.head.after(record.offset, event, record.value)
                    if verdict is Acceptance.ACCEPTED and isinstance(event, GraphEvent):
                        yield event, record.value
                    self._since_yield += 1
                    if self._since_yield >= AT_ONCE:
                        self._since_yield = 0
                        await asyncio.sleep(0)
        finally:  # a reader may hold a connection: let go of it at once when our caller is cancelled
            if isinstance(batches, AsyncGenerator):
                await batches.aclose()
