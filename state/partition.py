"""One partition's state: the fold of its event log, graph by graph, kept in a store.

    fold(offset, value)   the only writer: a record of the log in, state and watermark moved together
    fold_all(records)     the same for many, graph by graph (`accept_all` of state/log_position.py): how a rebuild folds
    flush()               everything folded since the last flush, with the watermark, in one atomic batch
    compact_step()        between two flushes, some of the work that keeps the store small

Between two flushes the memory is ahead of the store; death loses only what the log folds again.

Damage to one graph (its key, its rows) stops that graph alone: it is set aside, and its readers get an error.  Its
events are kept as they come, and the position counts none of their turns, until the graph is taken back:

    set_aside   from the error on; kept in the store once an event came meanwhile (`k`, state/store/keys.py)
    try_again   its key is back: it is folded on from its rows, and its turns are counted
    restore     what is stored of it is damaged: it is folded from what the log holds of it
    erased      an event that erases all of it needs no key: the graph is taken back as blank

Where no key can be had at all, nothing is set aside: KeyStoreError stops the partition, until the keys are there.

So a fold without the key and one with it hold the same position but for the turns of that graph, and `digest` raises.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from emgas.errors import HaltedError
from state.errors import (
    GraphDamagedError,
    GraphLockedError,
    GraphUnavailableError,
    KeysError,
    KeyStoreError,
    RetractedTooFarError,
    StoreCorruptError,
    UnreadableEventError,
)
from state.events.events import (
    AnyEvent,
    Claim,
    DataEvent,
    GraphEvent,
    Retracted,
    SubjectErased,
    TurnRecorded,
    decode,
)
from state.graph.graph import Graph
from state.log_position import Acceptance, LogPosition, accept_all
from state.lsm.graph_pages import GraphPages
from state.memory_budget import DEFAULT_MEMORY, MemoryBudget
from state.retraction import FOLDED_AT_ONCE, refolded, turned
from state.sealing.keyring import NO_KEYS, Keyring, is_sealed, living, missing, opened, read_as
from state.standing.placement import PLACES, Placement, Placements
from state.standing.quotas import COUNTING, GraphQuota, Quotas
from state.store import keys
from state.store.keys import COUNTS, POSITION
from state.store.store import Store

STORED_AFTER = 64  # events at least; and as many as a quarter of the turns that the graph holds, up to
MOST_UNSTORED = 256  # so many: to fold them again takes some 10 ms
REBUILT_STORED_AFTER = 4096
COMPACTED_AT_ONCE = 1 << 14  # pairs, in one piece between two flushes: some milliseconds
MERGED_AT_ONCE = 1 << 17  # of those in memory, likewise
PREPARED_AT_ONCE = 1 << 15  # pairs, for a question: some milliseconds
REMEASURED_AFTER = 8  # graphs that were read last: reading may make one larger, so it is measured again afterwards
GRANTS_NOTHING: Mapping[str, Collection[str]] = {}
_OF_ONE_GRAPH = (KeysError, StoreCorruptError, UnreadableEventError)
_ERASED = b'"kind":"SubjectErased"'  # stands in every record value of one
LOADED = 32  # pieces, at most, that are read of pairs between two flushes: turns wait for them, questions do not


class Folded(NamedTuple):
    """An event and the fold's decision on it."""

    event: AnyEvent
    acceptance: Acceptance


class DueErasure(NamedTuple):
    """Keys to destroy, by id: whole, or all but these runs of ordinals."""

    keys: list[str]
    whole: bool
    events: list[tuple[int, int]]


class Aside(msgspec.Struct):
    """A graph that is set aside: how many of its events are known, and how many of its turns the position counts.

    turns      None: the store does not say
    is_locked  its key is missing or damaged; else what is stored of it is
    missed     whether events came since that count no turn
    """

    events: int
    turns: int | None
    is_locked: bool
    why: str
    missed: bool = False

    def error(self, graph_id: str) -> GraphUnavailableError:
        """Make what is raised where the graph is asked for."""
        return (GraphLockedError if self.is_locked else GraphDamagedError)(graph_id, self.why)


def _miscounted(graph_id: str, expected: int, actual: int) -> StoreCorruptError:
    return StoreCorruptError(
        f"graph {graph_id} should have {expected} events and has {actual}: the store is damaged. Remove this "
        "partition's store and start again: it is rebuilt from the log."
    )


class Partition:
    """A fold over one partition of `events`.  Not safe for concurrent writers: one writer folds.

    rebuilding  many events are to come, so snapshots are rare, which no one would read before the next one
    graph_keys  open what is encrypted
    memory      how much graphs in memory may take, bytes; a budget may be shared by several partitions
    """

    def __init__(
        self,
        store: Store,
        memory: MemoryBudget | int = DEFAULT_MEMORY,
        *,
        rebuilding: bool = False,
        graph_keys: Keyring = NO_KEYS,
    ) -> None:
        self._store = store
        self._graph_keys = graph_keys
        stored = store.get(POSITION)
        if stored is None and next(store.scan(COUNTS, COUNTS), None):
            raise StoreCorruptError(
                "graphs are stored, but not how far the log is folded. Remove this partition's store."
            )
        self.position = self._flushed = LogPosition.of_bytes(stored) if stored is not None else LogPosition()
        self._budget = memory if isinstance(memory, MemoryBudget) else MemoryBudget(memory)
        self._rebuilding = rebuilding
        self._graphs: dict[str, Graph] = {}
        self._graph_ids: list[str] = []  # of all graphs, ascending, as they were listed last
        self._counted: dict[str, int] = {}  # turns of those graphs that `position` counts, whatever still opens of them
        self._recently_read: dict[str, None] = {}  # graphs that were asked for last
        self._pages = GraphPages(store, graph_keys)
        self._unflushed: dict[str, None] = {}  # graphs, in the order in which they were folded: so they are let go of
        self._to_compact: dict[str, None] = {}  # graphs that may have tables to merge
        self._loaded = 0  # pieces that were read of pairs, or merged, since the last flush
        self._changed: set[str] = set()  # graphs with flushed changes
        self._refolded: set[str] = set()  # graphs that what is stored does not lead to
        self._access: dict[str, Mapping[str, Collection[str]]] = {}  # of graphs without an event since it was read
        self._aside: dict[str, Aside] = {  # graphs that cannot be read
            keys.graph_of(key): msgspec.json.decode(value, type=Aside)
            for key, value in store.scan(keys.ASIDE, keys.ASIDE)
        }
        self._placements = Placements(store.scan(keys.PLACED, keys.PLACED))
        self.is_doubtful = False  # a rejected record shows that the log may have lost what was folded here: check it
        # against the log (replay/rebuild/rebuild.py `leads_to`)
        self._quotas = Quotas(store.scan(keys.QUOTAS, keys.QUOTAS), self.position.source_topic)
        self._emptied = {keys.graph_of(key) for key, _ in store.scan(keys.EMPTIED, keys.EMPTIED)}
        self.is_damaged = False  # whether anything was found damaged: the store is not to be kept

    @property
    def store(self) -> Store:
        """The store that this fold is kept in."""
        return self._store

    def fold(self, offset: int, value: bytes, event: AnyEvent | None = None) -> Folded:
        """Fold the log's next record.  Raises what state/errors.py lists; never skips.

        known  the event that `decode` makes of `value`, if a user has asked it already
        """
        event = decode(value) if event is None else event
        position, acceptance = self.position.after(offset, event, value)
        if acceptance is not Acceptance.ACCEPTED and isinstance(event, DataEvent):
            self.is_doubtful |= acceptance is Acceptance.GAP or event.epoch > position.epoch
        if acceptance is Acceptance.ACCEPTED and isinstance(event, GraphEvent):
            position, event = self._fold_alone(position, event, value)
        elif acceptance is Acceptance.ACCEPTED:
            self._note(event)
        self.position = position
        return Folded(event, acceptance)

    def fold_all(self, records: Iterable[tuple[int, bytes]]) -> None:
        """Fold the log's next records (offset, value), to the same state as `fold` does, but graph by graph.

        Raises as `fold`, without saying at which record: the state is of no use then, the store is as it was.
        """
        position, runs, others = accept_all(self.position, records)
        for event in others:
            self._note(event)
        for graph_id, values in runs.items():
            position = self._fold_run(position, graph_id, values)
        self.position = position

    def _note(self, event: AnyEvent) -> None:
        """Note what an event that no graph folds says of a graph: where it is, or what may be sent to it."""
        if isinstance(event, PLACES):
            self._pages.batch.update([self._placements.apply(event)])
        elif isinstance(event, COUNTING):
            self._pages.batch.update([self._quotas.apply(event)])
        elif isinstance(event, Claim):
            self._pages.batch.update(self._quotas.restart(event))

    def placement(self, graph_id: str) -> Placement | None:
        """Return where a graph is that came from another log or goes to one; None for any other."""
        return self._placements.of(graph_id)

    def quota(self, graph_id: str) -> GraphQuota | None:
        """Return what may be sent to a graph, and what was; None for one without a quota."""
        return self._quotas.of(graph_id)

    def _fold_run(self, position: LogPosition, graph_id: str, values: Sequence[bytes]) -> LogPosition:
        """Fold the next events of one graph together; where it cannot be read, one by one."""
        before = self._counts_of(graph_id)
        try:
            if graph_id not in self._aside:
                return self._fold_graph(position, graph_id, ((self._read(value), value) for value in values))
        except (KeysError, StoreCorruptError) as error:
            self.set_aside(graph_id, error, before)
        for value in values:
            event = decode(value)
            assert isinstance(event, GraphEvent)  # noqa: S101 - `accept_all` sorted it by its graph
            position, _ = self._fold_alone(position, event, value)
        return position

    def _fold_alone(self, position: LogPosition, event: GraphEvent, value: bytes) -> tuple[LogPosition, GraphEvent]:
        """Fold an event of a graph, and return it opened; keep it as it is while the graph cannot be read."""
        graph_id, before = event.graph, self._counts_of(event.graph)
        if graph_id not in self._aside:
            try:
                inner = opened(event, self._graph_keys)
                assert isinstance(inner, GraphEvent)  # noqa: S101 - what is sealed is one
                return self._fold_graph(position, graph_id, [(inner, value)]), inner
            except (KeysError, StoreCorruptError) as error:
                self.set_aside(graph_id, error, before)
        if self._is_blank_again(graph_id, event):
            return self._fold_graph(position, graph_id, [(event, value)]), event
        return self._kept(position, graph_id, value), event

    def _counts_of(self, graph_id: str) -> tuple[int, int | None]:
        """Count the events of a graph, and those of its turns that the position counts."""
        graph = self._graphs.get(graph_id)
        if graph is not None:
            return graph.events, self._counted.get(graph_id, 0)
        is_counted = self._pages.get(keys.count_key(graph_id)) is not None or not self._pages.has(graph_id)
        return self._pages.count(graph_id), self._pages.turns(graph_id) if is_counted else None

    # Graphs that are set aside

    @property
    def unavailable(self) -> Mapping[str, str]:
        """The graphs that are set aside, and why."""
        return {graph_id: aside.why for graph_id, aside in sorted(self._aside.items())}

    @property
    def damaged(self) -> list[str]:
        """The graphs that are set aside because what is stored of them is damaged."""
        return sorted(graph_id for graph_id, aside in self._aside.items() if not aside.is_locked)

    def set_aside(self, graph_id: str, error: HaltedError, counts: tuple[int, int | None] | None = None) -> None:
        """Make a graph unavailable because of damage that concerns it alone.

        counts  its events, and turns that the position counts, if what is in memory may be wrong by now
        """
        if graph_id in self._aside:
            return
        events, turns = self._counts_of(graph_id) if counts is None else counts
        is_locked = not isinstance(error, StoreCorruptError | UnreadableEventError) or isinstance(error, KeysError)
        self._aside[graph_id] = Aside(events, turns, is_locked, str(error))
        self.is_damaged = self.is_damaged or not is_locked
        if graph_id in self._unflushed and events and turns is not None:
            self._pages.batch[keys.count_key(graph_id)] = keys.counts(events, turns)
        self._drop_all_of(graph_id)

    def _drop_all_of(self, graph_id: str) -> None:
        for by_graph in (
            self._graphs,
            self._counted,
            self._access,
            self._unflushed,
            self._to_compact,
            self._recently_read,
        ):
            by_graph.pop(graph_id, None)
        for noted in (self._refolded, self._changed):
            noted.discard(graph_id)
        self._budget.forget(self, graph_id)
        self._pages.release(graph_id)

    def _kept(self, position: LogPosition, graph_id: str, value: bytes) -> LogPosition:
        """Keep an event of a graph that is set aside.  Raises what is wrong with it if that cannot be made good."""
        aside = self._aside[graph_id]
        if aside.turns is None:
            raise aside.error(graph_id)
        is_new = self._pages.get(keys.count_key(graph_id)) is None
        if aside.is_locked:
            self._pages.batch[keys.event_key(graph_id, aside.events)] = value
        aside.events, aside.missed = aside.events + 1, True
        self._pages.batch[keys.count_key(graph_id)] = keys.counts(aside.events, aside.turns)
        self._pages.batch[keys.aside_key(graph_id)] = msgspec.json.encode(aside)
        return replace(position, graphs=position.graphs + is_new)

    def _is_blank_again(self, graph_id: str, event: GraphEvent) -> bool:
        """Take a graph back as a blank one if `event` erases all of it, which needs no key; return whether it does."""
        aside = self._aside[graph_id]
        is_whole = isinstance(event, SubjectErased) and event.whole
        if not is_whole or not aside.is_locked or aside.turns is None:
            return False
        del self._aside[graph_id]
        self._pages.batch[keys.aside_key(graph_id)] = None
        graph = self._remember(Graph(graph_id))
        graph.events, self._counted[graph_id] = aside.events, aside.turns
        return True

    def try_again(self, graph_id: str) -> bool:
        """Take back a graph that was set aside, if it can be read now; return whether it can."""
        return self._taken_back(graph_id, lambda: self._loaded_again(graph_id))

    def restore(self, graph_id: str, values: Sequence[bytes]) -> bool:
        """Take back a damaged graph from the record values of all its events; return whether these are all, and do."""
        if len(values) != self._aside[graph_id].events:
            return False
        return self._taken_back(graph_id, lambda: self._restored(graph_id, values))

    def _taken_back(self, graph_id: str, load: Callable[[], Graph | None]) -> bool:
        self.flush()
        aside = self._aside.pop(graph_id)
        try:
            graph = load()
        except GraphUnavailableError as error:
            aside.why, aside.is_locked = str(error), isinstance(error, GraphLockedError)
            self._aside[graph_id] = aside
            return False
        except HaltedError:  # of all graphs, not of this one
            self._aside[graph_id] = aside
            raise
        if graph is not None:
            self._count_again(graph, aside)
        return True

    def _loaded_again(self, graph_id: str) -> Graph | None:
        graph = self._load(graph_id)
        if graph is not None:
            self._note_erasures(graph_id, self._pages.values(graph_id, 0))
        return graph

    def _note_erasures(self, graph_id: str, values: Sequence[bytes]) -> None:
        """Note what is to be destroyed, of all that was erased of a graph, by the record values of its events.

        One of the erasures may have come while the graph was set aside.  Destroyed again, a key stays destroyed.
        """
        with self._alone(graph_id):
            erasures = [event for event in map(self._read, values) if isinstance(event, SubjectErased)]
        if erasures:
            due = [DueErasure(event.keys, event.whole, event.events) for event in erasures]
            self._pages.batch[keys.erasure_key(graph_id)] = msgspec.json.encode(due)

    def _restored(self, graph_id: str, values: Sequence[bytes]) -> Graph:
        with self._alone(graph_id):
            graph = refolded(Graph(graph_id), values, self._graph_keys)
        self._note_erasures(graph_id, values)
        batch = self._pages.batch
        batch.update((keys.event_key(graph_id, ordinal), value) for ordinal, value in enumerate(values))
        batch[keys.manifest_key(graph_id)] = None
        self._pages.release(graph_id)
        self._refolded.add(graph_id)
        return self._remember(graph)

    def _count_again(self, graph: Graph, aside: Aside) -> None:
        """Count the turns that came while a graph was set aside, and note that it is not."""
        turns = graph.turns - (self._counted.get(graph.graph_id, 0) if aside.turns is None else aside.turns)
        self.position = replace(self.position, turns=self.position.turns + turns)
        self._counted[graph.graph_id] = graph.turns
        self._pages.batch[keys.aside_key(graph.graph_id)] = None
        self._unflushed[graph.graph_id] = None
        self._write()

    @contextmanager
    def _alone(self, graph_id: str) -> Iterator[None]:
        """Set a graph aside for what is wrong with it alone.  Raises GraphUnavailableError then."""
        try:
            yield
        except _OF_ONE_GRAPH as error:
            raise self._unavailable(graph_id, error) from error

    def _unavailable(self, graph_id: str, error: HaltedError) -> Exception:
        """Set a graph aside, and return the error for its reader."""
        self.set_aside(graph_id, error)
        return self._aside[graph_id].error(graph_id)

    def is_encrypted(self, graph_id: str) -> bool:
        """Return whether what was written to a graph last was encrypted: every row of such a graph is kept."""
        events, _ = self._counts_of(graph_id)
        last = self._pages.get(keys.event_key(graph_id, events - 1)) if events else None
        return last is not None and is_sealed(last)

    def is_any_encrypted(self) -> bool:
        """Return whether what was written last to any graph was encrypted."""
        return any(self.is_encrypted(graph_id) for graph_id in self.graph_ids())

    def check_key_store(self) -> None:
        """Raise KeyStoreError where graphs are encrypted, and what keeps their keys is not there."""
        try:
            self._graph_keys.check()
        except KeyStoreError:
            if self.is_any_encrypted():
                raise

    def check_key(self, graph_id: str) -> None:
        """Raise GraphLockedError if an encrypted graph has no key for sealing: else it would go on unencrypted."""
        with self._alone(graph_id):
            if not self._has_key(graph_id):
                raise missing(self._graph_keys, graph_id)

    def _has_key(self, graph_id: str) -> bool:
        """Return whether a graph has its key, or needs none because it is not encrypted.  Raises KeysError."""
        return living(self._graph_keys, graph_id) is not None or not self.is_encrypted(graph_id)

    def _may_store(self, graph_id: str) -> bool:
        """Return whether tables of a graph may be written; without its key, they would be stored unencrypted.

        They may not be written either while the whole graph is erased and its key was never here: its rows would look
        unencrypted, and unread rows of that kind are deleted.  But erasing later turns needs all rows.
        """
        try:
            return self._has_key(graph_id) and (bool(self._graph_keys.of(graph_id)) or not self._ends_erased(graph_id))
        except KeysError:
            return False

    def _ends_erased(self, graph_id: str) -> bool:
        events, _ = self._counts_of(graph_id)
        last = self._pages.get(keys.event_key(graph_id, events - 1)) if events else None
        return last is not None and _ERASED in last and isinstance(decode(last), SubjectErased)

    def _read(self, value: bytes) -> GraphEvent:
        return read_as(GraphEvent, value, self._graph_keys)

    def _fold_graph(
        self, position: LogPosition, graph_id: str, events: Iterable[tuple[GraphEvent, bytes]]
    ) -> LogPosition:
        """Fold the next events of one graph, each with its record value; add to the position what they add."""
        existing = self._get_graph(graph_id)
        graph = existing or self._remember(Graph(graph_id))
        prefix, batch = keys.event_prefix(graph_id), self._pages.batch
        self._unflushed[graph_id] = None
        self._access.pop(graph_id, None)
        waiting = list[GraphEvent]()
        for event, value in events:
            if isinstance(event, Retracted | SubjectErased):
                graph.fold_all(waiting)
                waiting = []
                graph = self._taken_from(graph, event, value)
                continue
            batch[prefix + keys.u64(graph.events + len(waiting))] = value
            waiting.append(event)
            if len(waiting) == FOLDED_AT_ONCE:
                graph.fold_all(waiting)
                waiting = []
        graph.fold_all(waiting)
        turns = position.turns + graph.turns - self._counted.get(graph_id, 0)
        self._counted[graph_id] = graph.turns
        return replace(position, graphs=position.graphs + (existing is None), turns=turns)

    def _taken_from(self, graph: Graph, event: Retracted | SubjectErased, value: bytes) -> Graph:
        return (
            self._retracted(graph, event, value) if isinstance(event, Retracted) else self._erased(graph, event, value)
        )

    def _retracted(self, graph: Graph, event: Retracted, value: bytes) -> Graph:
        """Fold the graph again from before the first event that is taken back; what was stored since then is void."""
        graph_id = graph.graph_id
        if event.first < graph.undoable_from:
            raise RetractedTooFarError(
                f"event {graph.events} of graph {graph_id} takes back event {event.first}, but only those from "
                f"{graph.undoable_from} on could be. Another program wrote to this log: stop it, and restore the log."
            )
        self._pages.batch[keys.event_key(graph_id, graph.events)] = value
        self._refolded.add(graph_id)
        self._pages.drop_after(graph_id, event.first)
        again = self._refold(self._pages.read_graph(graph_id, lazy=True))
        if again.events != graph.events + 1:
            raise _miscounted(graph_id, graph.events + 1, again.events)
        again.undoable_from = max(again.undoable_from, graph.undoable_from)
        self._graphs[graph_id] = again
        return again

    def _erased(self, graph: Graph, event: SubjectErased, value: bytes) -> Graph:
        """Fold the graph again without what is erased; note whose keys are to be destroyed."""
        graph_id = graph.graph_id
        self._pages.batch[keys.event_key(graph_id, graph.events)] = value
        self._refolded.add(graph_id)
        self._pages.drop_all(graph_id)
        again = Graph(graph_id)
        if event.whole:
            again.events = graph.events
            again.fold(event)
        else:
            again = self._refold(again)
        if again.events != graph.events + 1:
            raise _miscounted(graph_id, graph.events + 1, again.events)
        due = [*self.due_erasures(graph_id), DueErasure(event.keys, event.whole, event.events)]
        self._pages.batch[keys.erasure_key(graph_id)] = msgspec.json.encode(due)
        self._graphs[graph_id] = again
        return again

    def due_erasures(self, graph_id: str) -> list[DueErasure]:
        """List what was erased of a graph and whose keys are yet to be destroyed."""
        stored = self._pages.get(keys.erasure_key(graph_id))
        return msgspec.json.decode(stored, type=list[DueErasure]) if stored else []

    def graphs_to_erase(self) -> list[str]:
        """List the graphs with keys that are yet to be destroyed."""
        stored = {keys.graph_of(key) for key, _ in self._store.scan(keys.ERASURES, keys.ERASURES)}
        waiting = {keys.graph_of(key) for key in self._pages.batch if key.startswith(keys.ERASURES)}
        return sorted(name for name in stored | waiting if self.due_erasures(name))

    def keys_destroyed(self, graph_id: str) -> None:
        """Note that nothing is left to be destroyed of a graph's keys; store tables that they still open."""
        self.flush()
        graph = self.graph(graph_id)
        if graph is not None:
            graph.is_not_stored()
            self._pages.flush(graph)
        self._store.write({**self._pages.batch, keys.erasure_key(graph_id): None})
        self._pages.batch = {}

    def rows_of(self, graph_id: str) -> list[bytes]:
        """Read the record values of all events of an encrypted graph, by ordinal."""
        return self._pages.values(graph_id, 0)

    def _refold(self, before: Graph, later: Sequence[bytes] = ()) -> Graph:
        """Fold what is stored of a graph behind `before`, and then `later` (record values)."""
        return refolded(before, [*self._pages.values(before.graph_id, before.events), *later], self._graph_keys)

    def graph_with(self, graph_id: str, later: Sequence[bytes]) -> Graph:
        """Fold a graph as it is once these events (record values) of it follow; nothing here changes."""
        events = [self._read(value) for value in later]
        retractions = [event.first for event in events if isinstance(event, Retracted)]
        erasures = [-1 for event in events if isinstance(event, SubjectErased)]  # no snapshot will do
        before = min((*retractions, *erasures), default=inf)
        graph = self._refold(self._pages.read_graph(graph_id, before), later)
        expected = self._pages.count(graph_id) + len(later)
        if graph.events != expected:
            raise _miscounted(graph_id, expected, graph.events)
        return graph

    def turned(self, undo: Retracted) -> list[GraphEvent]:
        """List the events that would count otherwise after an undo: those that it takes back, and those that come back.

        undo  takes back nothing before `undoable_from`
        """
        first = undo.first
        while True:
            events = [self._read(value) for value in self._pages.values(undo.graph, first)]
            changed = turned(events, undo, first)
            reach = min((event.first for event in changed if isinstance(event, Retracted)), default=first)
            if reach >= first:
                return changed
            first = reach  # an undo that is taken back, or counts again, took back what lies before

    def graph(self, graph_id: str) -> Graph | None:
        """Return the graph as folded so far, None if no event ever named it."""
        graph = self._get_graph(graph_id)
        if graph is not None:
            self._remeasure(graph_id)
        return graph

    def prepare(self, graph_id: str) -> bool:
        """Read a piece of the pairs that a question to a large graph needs; return whether there are more.

        For code that runs other tasks in between: all that a first question needs takes seconds.
        """
        graph = self.graph(graph_id)
        return graph is not None and graph.pairs["exchange"].prepare(PREPARED_AT_ONCE)

    def access(self, graph_id: str) -> Mapping[str, Collection[str]]:
        """Return which rights a graph grants, by subject.

        It is kept, so that a list of many graphs loads each of them once, not on every page.
        """
        if graph_id not in self._access:
            graph = self._get_graph(graph_id)
            self._access[graph_id] = graph.access if graph is not None and graph.access else GRANTS_NOTHING
        return self._access[graph_id]

    def graph_at_hand(self, graph_id: str) -> Graph | None:
        """Return the graph if it is in memory, for callers that only use it to save work."""
        return self._graphs.get(graph_id)

    def _get_graph(self, graph_id: str) -> Graph | None:
        graph = self._graphs.get(graph_id)
        if graph is None:
            return self._load(graph_id)
        self._budget.use(self, graph_id)
        return graph

    def _remeasure(self, graph_id: str) -> None:
        """Measure what was asked for some questions ago: they made what they needed, an index say, and left it."""
        self._recently_read.pop(graph_id, None)
        self._recently_read[graph_id] = None
        if len(self._recently_read) > REMEASURED_AFTER:
            last = next(iter(self._recently_read))
            del self._recently_read[last]
            if last in self._graphs:
                self._budget.measure(self, last, self._graphs[last].size)

    def graphs_in_memory(self) -> list[Graph]:
        """List the graphs that are in memory, by id; none is loaded for it."""
        return [graph for _, graph in sorted(self._graphs.items())]

    def _load(self, graph_id: str) -> Graph | None:
        if (aside := self._aside.get(graph_id)) is not None:
            raise aside.error(graph_id)
        with self._alone(graph_id):
            return self._remember(self._stored(graph_id)) if self._pages.has(graph_id) else None

    def _stored(self, graph_id: str) -> Graph:
        graph = self._pages.read_graph(graph_id, lazy=True)
        stored = graph.events
        graph, expected = self._refold(graph), self._pages.count(graph_id)
        if graph.events != expected:
            if self._pages.get(keys.manifest_key(graph_id)) and not stored:
                raise StoreCorruptError(
                    f"the tables of graph {graph_id} are damaged, or another version of EMGAS wrote them: the graph is "
                    "rebuilt from the log."
                )
            raise _miscounted(graph_id, expected, graph.events)
        # Not graph.turns: some may be dark by now, of an erasure that this fold has not come to.
        self._counted[graph_id] = self._pages.turns(graph_id)
        return graph

    def _remember(self, graph: Graph) -> Graph:
        self._graphs[graph.graph_id] = graph
        self._budget.hold(self, graph.graph_id, graph.size)
        return graph

    @property
    def in_memory(self) -> int:
        """Return the number of graphs in memory."""
        return len(self._graphs)

    def drop(self, graph_id: str) -> bool:
        """Drop a graph from memory if all of it is flushed; return whether it was."""
        if graph_id in self._unflushed:
            return False
        self._graphs.pop(graph_id).release()
        del self._counted[graph_id]
        self._pages.release(graph_id)
        return True

    def text_of(self, graph: Graph, passage: int) -> TurnRecorded:
        """Read the event that recorded a passage of `graph`.  Raises StoreCorruptError, UnreadableEventError."""
        try:  # not `_alone`: an answer reads many turns, and a generator costs as much as a read
            value = self._pages.get(keys.event_key(graph.graph_id, graph.passages.event[passage]))
            if value is not None:
                return read_as(TurnRecorded, value, self._graph_keys)
        except _OF_ONE_GRAPH as error:
            raise self._unavailable(graph.graph_id, error) from error
        raise StoreCorruptError(f"the text of passage {passage} of {graph.graph_id} is missing: refold this partition")

    def flush(self) -> None:
        """Write what was folded since the last flush, atomically with the position; nothing if nothing was."""
        if self.position != self._flushed:
            self._write()

    def _write(self) -> None:
        pages, self._loaded = self._pages, 0
        for graph_id in list(self._unflushed):
            graph = self._graphs[graph_id]
            pages.batch[keys.count_key(graph_id)] = keys.counts(graph.events, graph.turns)
            self._note_emptied(graph)
            self._changed.add(graph_id)
            if graph_id in self._refolded or graph.events - graph.stored_events >= self._store_after(graph):
                self._keep(graph)
        pages.batch[POSITION] = self.position.to_bytes()
        self._store.write(pages.batch)
        changed = self._unflushed
        pages.batch, self._unflushed, self._refolded, self._flushed = {}, {}, set(), self.position
        for graph_id in changed:
            if graph_id in self._graphs:  # it may have been dropped for one before it
                self._budget.hold(self, graph_id, self._graphs[graph_id].size)

    def _note_emptied(self, graph: Graph) -> None:
        """Note whether anything is left of a graph, so that a list of graphs need not load it."""
        graph_id, is_emptied = graph.graph_id, graph.is_emptied
        if is_emptied != (graph_id in self._emptied):
            self._pages.batch[keys.emptied_key(graph_id)] = b"" if is_emptied else None
            (self._emptied.add if is_emptied else self._emptied.discard)(graph_id)

    def _keep(self, graph: Graph) -> None:
        """Write the tables of a graph to the batch; set the graph aside if what they build on is damaged."""
        if not self._may_store(graph.graph_id):
            return
        try:
            graph.load_pairs(COMPACTED_AT_ONCE)
            self._pages.flush(graph)
            self._to_compact[graph.graph_id] = None
        except StoreCorruptError as error:
            self.set_aside(graph.graph_id, error)

    def compact_step(self) -> bool:
        """Merge a piece of what was flushed with what was there before; return whether more is left to be done.

        For code that has some milliseconds between two flushes: what is left is done with the flush after the next.  It
        changes nothing that anybody can see, and nothing is done while something waits to be flushed.
        """
        if self.position != self._flushed or not self._to_compact:
            return False
        graph_id = next(iter(self._to_compact))
        try:
            return self._compact_graph(graph_id) if self._may_store(graph_id) else self._is_compact(graph_id)
        except StoreCorruptError as error:
            self.set_aside(graph_id, error)
            return self._is_compact(graph_id)

    def _is_compact(self, graph_id: str) -> bool:
        """Note that nothing is to be done for a graph; return whether something is for another one."""
        self._to_compact.pop(graph_id, None)
        return bool(self._to_compact)

    def _compact_graph(self, graph_id: str) -> bool:
        graph = self._graphs.get(graph_id)
        if graph is not None and graph.reads_stored_pairs:  # its pairs lie in what would be merged
            graph.load_pairs(COMPACTED_AT_ONCE)
            self._to_compact[graph_id] = self._to_compact.pop(graph_id)  # others are next
            self._loaded += 1
            return self._loaded < LOADED
        if graph is not None and self._loaded < LOADED and graph.merge_pairs(MERGED_AT_ONCE):
            self._loaded += 1
            return True
        if not self._pages.compact_step(graph_id, COMPACTED_AT_ONCE):
            del self._to_compact[graph_id]
        if self._pages.batch:
            self._store.write(self._pages.batch)
            self._pages.batch = {}
        return bool(self._to_compact)

    def _store_after(self, graph: Graph) -> int:
        """Compute how many events a graph may have that its stored tables do not know of."""
        if self._rebuilding and not self._budget.is_exceeded:  # else graphs come and go: tables pay
            return REBUILT_STORED_AFTER
        return min(max(STORED_AFTER, graph.passages.here // 4), MOST_UNSTORED)

    def graph_ids(self) -> list[str]:
        """List the ids of all graphs, ascending.  Raises StoreCorruptError when some are missing."""
        if len(self._graph_ids) != self.position.graphs:  # a graph never goes, so as many are the same
            self._graph_ids = self._listed()
        return self._graph_ids.copy()

    def _listed(self) -> list[str]:
        stored = {keys.graph_of(key) for key, _ in self._store.scan(COUNTS, COUNTS)}
        missed = {graph_id for graph_id, aside in self._aside.items() if aside.missed}
        graph_ids = stored | self._unflushed.keys() | missed
        if len(graph_ids) != self.position.graphs:
            raise StoreCorruptError(
                f"{len(graph_ids)} graphs found, {self.position.graphs} expected: refold this partition"
            )
        return sorted(graph_ids)

    def graph_ids_with_content(self) -> list[str]:
        """List the ids of the graphs that have any content left, ascending.  Raises as `graph_ids`."""
        return [name for name in self.graph_ids() if self._is_here(name) and not self._is_emptied(name)]

    def _is_here(self, graph_id: str) -> bool:
        placement = self.placement(graph_id)
        return placement is None or placement.answers

    def _is_emptied(self, graph_id: str) -> bool:
        if graph_id in self._unflushed:
            return self._graphs[graph_id].is_emptied
        return graph_id in self._emptied

    def graphs(self) -> Iterator[Graph]:
        """Yield every graph, by id ascending."""
        for graph_id in self.graph_ids():
            graph = self.graph(graph_id)
            if graph is None:
                raise StoreCorruptError(f"graph {graph_id} is listed but not stored: refold this partition")
            yield graph

    def digests(self) -> dict[str, str]:
        """Hash every graph: graph id → digest."""
        return {graph.graph_id: graph.digest() for graph in self.graphs()}

    def digest(self) -> str:
        """Hash the position and every graph's digest, sha256 (hex): equal exactly for equal folds.

        Turns that are dark, of an erasure that this fold has not come to, are not counted: no other fold can read them.
        """
        lines, dark = list[str](), 0
        for graph in self.graphs():
            lines.append(f"{graph.graph_id} {graph.digest()}\n")
            dark += self._counted[graph.graph_id] - graph.turns
        position = replace(self.position, turns=self.position.turns - dark)
        lines += [*self._placements.lines(), *self._quotas.lines()]
        return hashlib.sha256(position.to_bytes() + "".join(lines).encode()).hexdigest()

    def close(self) -> None:
        """Flush and close the store; let what is large be opened without reading all of it."""
        self.flush()
        for graph_id in self._changed & self._graphs.keys():
            if self._graphs[graph_id].opens_slowly and self._may_store(graph_id):
                self._pages.flush(self._graphs[graph_id], closing=True)
        if self._pages.batch:
            self._store.write(self._pages.batch)
            self._pages.batch = {}
        self._budget.release(self)
        self._store.close()


def taken_back(state: Partition, histories: Mapping[str, Sequence[bytes]]) -> list[str]:
    """Take back what was set aside and can be read by now; list it.

    histories  record values of all events of damaged graphs, as the log has them
    """
    damaged = state.damaged
    back = [name for name in damaged if name in histories and state.restore(name, histories[name])]
    return back + [name for name in state.unavailable if name not in damaged and state.try_again(name)]
