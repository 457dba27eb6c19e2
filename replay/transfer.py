"""A graph's own events, restamped as a log of their own, so that they can be received elsewhere.

    the log      Claim  turn of bob  born ada  turn t1  Claim  turn t2  erased t1 …
    the export                 Claim  born ada  (erased)  turn t2       erased t1 …      offsets 0, 1, 2 …

A graph is the fold of its own events, so the export folds to the same digest, whatever log it is received into: another
partition, prefix or cluster, under keys of its own.  Each event stays the same, and so do its place among the graph's
events and its time.  Changes:

    stamps    of the log: as of a log that holds nothing else.  The graph may get another name
    src       null: it counts in a topic `turns` that stays behind
    sealed    unencrypted; the receiver seals it by its own key.  An erased event is an EventErased, even if a key would
              still open it; an erasure names no keys
    v         of this version

`survey` reads the log once and finds what the others need to know beforehand.  For many graphs, `SortedPartition` reads
it once for all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import asdict, astuple, dataclass, field
from typing import Final, TypeVar

import orjson
from msgspec.structs import replace

from emgas import limits
from emgas.messages.transfer import Receive
from emgas.wire import Record
from replay.accepted_events import AcceptedEvents, graph_event
from replay.log import LogReader, keys_of
from state.erasure import Erased, erased_by
from state.events.events import (
    UNSTAMPED,
    AnyEvent,
    Claim,
    EventErased,
    GraphEvent,
    GraphMoved,
    GraphReceived,
    Sealed,
    SessionSummarised,
    SubjectErased,
    decode_as,
    encode,
)
from state.log_position import ANYWHERE, LogPosition, stamp
from state.partition import Partition
from state.sealing.keyring import is_sealed
from state.store.store import MemoryStore, Store

HERE: Final = 0  # the one partition of an export
AT_ONCE: Final = 256
MESSAGE_BYTES: Final = limits.RECORD_BYTES - 4096  # of events in one message, unless a single one is larger
EventT = TypeVar("EventT", bound=GraphEvent)


@dataclass(frozen=True)
class Survey:
    """The events of a graph in a log.

    end     offset in the log before which its events are       events   how many they are
    origin    tells the graph's history from any other: the hash of its first event, where it was born
    has_left  whether it lives elsewhere now
    hop       number of its move that is under way, or would be next
    has_grown    whether it has left, and more happened to it since: what stayed was erased
    erased    what was erased of it
    """

    partition: int
    graph: str
    end: int
    events: int
    origin: str
    is_encrypted: bool
    has_left: bool
    hop: int
    has_grown: bool
    erased: Erased = field(repr=False)


@dataclass(frozen=True)
class Transferred:
    """A graph that goes elsewhere: its name there, what its receiver checks, and the number of the move (0: a copy)."""

    graph: str
    origin: str
    total: int
    digest: str
    is_encrypted: bool
    hop: int = 0

    def fields(self) -> dict[str, object]:
        """Return what `of` reads: a file belongs to no move."""
        return {name: value for name, value in asdict(self).items() if name != "hop"}

    @classmethod
    def of(cls, fields: Mapping[str, object]) -> Transferred:
        """Read what `fields` wrote.  Raises TypeError for anything else."""
        made = cls(**fields)  # type: ignore[arg-type]  # checked right below
        if [type(value) for value in astuple(made)] != [str, str, int, str, bool, int]:
            raise TypeError
        return made

    def message(self, first: int, events: list[str], *, opens: bool = True) -> Receive:
        """Build the message that holds these events; without any, the one that checks the graph, and may open it."""
        return Receive(
            id=f"{self.origin[:16]}-{first}-{len(events)}{'' if opens else '-check'}",
            graph=self.graph,
            origin=self.origin,
            first=first,
            total=self.total,
            digest=self.digest,
            encrypted=self.is_encrypted,
            events=events,
            opens=opens,
            hop=self.hop,
        )


def forked(origin: str) -> str:
    """Return the origin of a copy: from there on, it is another history, which cannot continue the first."""
    return hashlib.sha256(f"copy of {origin}".encode()).hexdigest()


@dataclass
class _Moves:
    """The moves of a graph so far: whether it has left, with how many events, and the number of the next message."""

    has_left: bool = False
    events: int = 0
    hop: int = 1

    def note(self, event: GraphReceived | GraphMoved) -> None:
        is_under_way = isinstance(event, GraphMoved) and event.phase != "stayed"
        self.has_left = isinstance(event, GraphMoved) and event.phase == "left"
        self.events = event.events
        self.hop = event.hop if is_under_way else event.hop + 1


@dataclass
class _Found:
    """What was found of a graph so far, by its events in their order."""

    origin: str = ""
    events: int = 0
    is_encrypted: bool = False
    moves: _Moves = field(default_factory=_Moves)
    erasures: dict[int, SubjectErased] = field(default_factory=dict)

    def add(self, event: GraphEvent, record: Record) -> None:
        if isinstance(event, SubjectErased):
            self.erasures[self.events] = event
        self.origin = self.origin or hashlib.sha256(record.value).hexdigest()
        self.is_encrypted |= is_sealed(record.value)
        self.events += 1

    def survey(self, partition: int, graph: str, end: int) -> Survey:
        moves = self.moves
        return Survey(
            partition=partition,
            graph=graph,
            end=end,
            events=self.events,
            origin=self.origin,
            is_encrypted=self.is_encrypted,
            has_left=moves.has_left,
            hop=moves.hop,
            has_grown=moves.has_left and self.events > moves.events,
            erased=erased_by(self.erasures),
        )


async def survey(log: LogReader, partition: int, graph: str) -> Survey | None:
    """Find what a log holds of a graph; None for nothing.  Raises KeysError where a key is missing, and as `read`."""
    _, end = await log.bounds(partition)
    found = _Found()

    def note_place(event: AnyEvent) -> None:
        if isinstance(event, GraphReceived | GraphMoved) and event.graph == graph:
            found.origin = event.origin if isinstance(event, GraphReceived) else found.origin
            found.moves.note(event)

    async for event, record in AcceptedEvents(on_control=note_place).read(log, partition, end, of=graph):
        if event.graph == graph:
            found.add(event, record)
    return found.survey(partition, graph, end) if found.events else None


class SortedPartition:
    """The events of a partition by graph: read once, and read on, for all graphs that go elsewhere, one by one.

    They are kept as they lie in the log, and opened as they go.
    """

    def __init__(self, log: LogReader, partition: int) -> None:
        self._log, self._partition, self._keys = log, partition, keys_of(log)
        self._accepted = AcceptedEvents(on_control=self._note)
        self._records: dict[str, list[Record]] = {}
        self._origins: dict[str, str] = {}
        self._elsewhere: set[str] = set()  # graphs that have left, or are not all here yet
        self._left: dict[str, str] = {}  # graph → where it went
        self._moves: dict[str, _Moves] = {}

    def _note(self, event: AnyEvent) -> None:
        if isinstance(event, GraphReceived):
            self._origins[event.graph] = event.origin
        if isinstance(event, GraphReceived | GraphMoved):
            self._moves.setdefault(event.graph, _Moves()).note(event)
            is_here = event.complete if isinstance(event, GraphReceived) else event.phase != "left"
            (self._elsewhere.discard if is_here else self._elsewhere.add)(event.graph)
            self._left.pop(event.graph, None)
            if isinstance(event, GraphMoved) and event.phase == "left":
                self._left[event.graph] = event.to

    async def read_on(self) -> None:
        """Read what the log holds by now.  Raises as `AcceptedEvents.read`."""
        async for event, record in self._accepted.read(self._log, self._partition, of=""):
            self._records.setdefault(event.graph, []).append(record)

    def graphs(self) -> list[str]:
        """List the graphs that are here."""
        return sorted(self._records.keys() - self._elsewhere)

    def left_to(self, place: str) -> list[str]:
        """List the graphs that left for a place."""
        return sorted(graph for graph, to in self._left.items() if to == place)

    def forget(self, graph: str) -> None:
        """Forget the events of a graph, which has left."""
        self._elsewhere.add(graph)
        self._records[graph].clear()

    def survey(self, graph: str) -> Survey:
        """Find what there is of a graph.  Raises KeysError where a key is missing."""
        found = _Found(self._origins.get(graph, ""), moves=self._moves.get(graph, _Moves()))
        for record in self._records[graph]:
            found.add(graph_event(record.value, self._keys), record)
        return found.survey(self._partition, graph, self._accepted.position.watermark + 1)

    def version(self, graph: str) -> tuple[object, ...]:
        """Return what changes whenever something happened to a graph, or to its move."""
        moves = self._moves.get(graph, _Moves())
        return len(self._records[graph]), moves.hop, moves.has_left, self._origins.get(graph)

    async def outgoing(self, graph: str) -> tuple[Transferred, list[Record]]:
        """Build what the receiver of a graph must know, and the graph's events as the records of a log of their own."""
        exported = self.survey(graph)
        records = [record async for record in self.restamped(exported)]
        digest = await folded(each_of(records), graph)
        return (
            Transferred(graph, exported.origin, exported.events, digest, exported.is_encrypted, exported.hop),
            records,
        )

    def restamped(self, exported: Survey) -> AsyncIterator[Record]:
        """Yield the graph's events as the records of a log of their own."""

        async def own() -> AsyncIterator[tuple[GraphEvent, Record]]:
            for record in self._records[exported.graph]:
                yield graph_event(record.value, self._keys), record

        return _log_of(_in_clear_of(own(), exported), exported.graph, exported.origin)


async def each_of(records: Iterable[Record]) -> AsyncIterator[Record]:
    """Yield records that are at hand."""
    for record in records:
        yield record


def restamped(log: LogReader, exported: Survey, name: str | None = None) -> AsyncIterator[Record]:
    """Yield the graph's events as the records of a log of their own, under another name if one is given."""
    own = AcceptedEvents().read(log, exported.partition, exported.end, of=exported.graph)
    return _log_of(_in_clear_of(own, exported), name or exported.graph, exported.origin)


def renamed(records: AsyncIterator[Record], name: str, origin: str) -> AsyncIterator[Record]:
    """Yield the records of an export under another name."""
    return _log_of(_events_in(records), name, origin)


async def _in_clear_of(
    events: AsyncIterator[tuple[GraphEvent, Record]], exported: Survey
) -> AsyncIterator[tuple[GraphEvent, int]]:
    """Yield the graph's events as they may leave their log, each with when it was recorded (ms)."""
    ordinal = 0
    async for event, record in events:
        if event.graph == exported.graph:
            yield _in_clear(event, ordinal, exported), record.timestamp
            ordinal += 1


async def _events_in(records: AsyncIterator[Record]) -> AsyncIterator[tuple[GraphEvent, int]]:
    async for record in records:
        if record.key is not None:
            yield decode_as(GraphEvent, record.value), record.timestamp


async def _log_of(events: AsyncIterator[tuple[GraphEvent, int]], name: str, origin: str) -> AsyncIterator[Record]:
    claim = Claim(writer="export", partitions=1, nonce=origin)
    record, position = Record(0, 0, None, encode(claim)), LogPosition()
    position, _ = position.after(0, claim, record.value)
    yield record
    async for event, at in events:
        own = stamp(named(event, name), position)
        record = Record(record.offset + 1, at, name.encode(), encode(own))
        position, _ = position.after(record.offset, own, record.value)
        yield record


def _in_clear(event: GraphEvent, ordinal: int, exported: Survey) -> GraphEvent:
    """Return an event as it may leave its log: nothing of what was erased, and no source."""
    if isinstance(event, SubjectErased):
        return replace(event, keys=[], src=None)
    if isinstance(event, Sealed) or exported.erased.takes(ordinal):
        return EventErased(graph=event.graph, **UNSTAMPED)
    if isinstance(event, SessionSummarised) and event.src is not None:
        return replace(event, src=None, requested=True)
    return replace(event, src=None) if hasattr(event, "src") else event


def named(event: EventT, name: str) -> EventT:
    """Return an event as one of the graph `name`, with all that stands in it instead of others."""
    if event.graph == name:
        return event
    if isinstance(event, SubjectErased):
        return replace(event, graph=name, instead=[(at, _renamed(value, name)) for at, value in event.instead])
    return replace(event, graph=name)


def _renamed(value: bytes, name: str) -> bytes:
    return encode(stamp(named(decode_as(GraphEvent, value), name), ANYWHERE))


async def folded(records: AsyncIterator[Record], graph: str, store: Store | None = None) -> str:
    """Fold an export; return the digest of its graph.  Raises what a fold raises."""
    state = Partition(store or MemoryStore(), rebuilding=True)
    async for record in records:
        state.fold(record.offset, record.value)
    return state.digests()[graph]


class GraphLog:
    """An export as a log that can be read (replay/log.py): what a backup of it is written from."""

    def __init__(self, log: LogReader, exported: Survey, name: str | None = None) -> None:
        self._log, self._exported, self._name = log, exported, name

    async def partitions(self) -> int:
        return 1

    async def bounds(self, partition: int) -> tuple[int, int]:
        return 0, self._exported.events + 1

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[list[Record]]:
        batch: list[Record] = []
        async for record in restamped(self._log, self._exported, self._name):
            if start <= record.offset < end:
                batch.append(record)
            if len(batch) == AT_ONCE:
                yield batch
                batch = []
        if batch:
            yield batch


async def messages(
    records: AsyncIterator[Record], header: Transferred, *, opens: bool = True, known: int = 0
) -> AsyncIterator[Receive]:
    """Yield the messages by which an export is received; the last one, once all events came, checks or opens it.

    known  how many events the receiver has: they are left out
    """
    first = known
    async for events in _portions(_behind(records, known)):
        yield header.message(first, events)
        first += len(events)
    if first == header.total:
        yield header.message(first, [], opens=opens)


async def _behind(records: AsyncIterator[Record], known: int) -> AsyncIterator[Record]:
    """Yield the records of an export without its first `known` events."""
    async for record in records:
        if record.offset > known:  # the claim is at offset 0
            yield record


async def _portions(records: AsyncIterator[Record]) -> AsyncIterator[list[str]]:
    """Yield record values as many at a time as a message may hold, an erasure alone."""
    waiting, size = list[str](), 0
    async for record in records:
        if record.key is None:  # the claim
            continue
        value, alone = record.value.decode(), isinstance(decode_as(GraphEvent, record.value), SubjectErased)
        length = len(orjson.dumps(value)) + 1
        if waiting and (alone or size + length > MESSAGE_BYTES or len(waiting) == limits.RECEIVED_EVENTS):
            yield waiting
            waiting, size = [], 0
        waiting.append(value)
        size += length
        if alone:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting
