"""One partition's state: the fold of its event log, graph by graph, kept in a store.

    fold(offset, value)   the only writer: a record of the log in, state and watermark moved together
    fold_all(records)     the same for many, graph by graph (`accept_all` of state/log_position.py): how a rebuild folds
    flush()               everything folded since the last flush, with the watermark, in one atomic batch
    tidy()                between two flushes, some of the work that keeps the store small

Between two flushes the memory is ahead of the store; death loses only what the log folds again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from state.errors import RetractedTooFarError, StoreCorruptError, WrongLayoutError
from state.events.events import AnyEvent, GraphEvent, Retracted, SubjectErased, TurnRecorded, decode
from state.graph.graph import Graph
from state.log_position import Acceptance, LogPosition, accept_all
from state.memory_budget import DEFAULT_MEMORY, MemoryBudget
from state.retraction import refolded, turned
from state.sealing.keyring import NO_KEYS, Keyring, opened, read_as
from state.store import keys
from state.store.keys import COUNTS, POSITION
from state.store.pages import GraphPages
from state.store.store import Store

STORED_AFTER = 64  # events at least; and as many as a quarter of the turns that the graph holds, up to
MOST_UNSTORED = 256  # so many: to fold them again takes some 10 ms
REBUILT_STORED_AFTER = 4096
TIDIED_AT_ONCE = 1 << 14  # pairs, in one piece between two flushes: some milliseconds
MERGED_AT_ONCE = 1 << 17  # of those in memory, likewise
PREPARED_AT_ONCE = 1 << 15  # pairs, for a question: some milliseconds
LENT = 8  # graphs that somebody may still read, and that take more by it: they are measured once they are no longer
GRANTS_NOTHING: Mapping[str, Collection[str]] = {}
LOADED = 32  # pieces, at most, that are read of pairs between two flushes: turns wait for them, questions do not


class Folded(NamedTuple):
    """What became of one record."""

    event: AnyEvent
    acceptance: Acceptance


class DueErasure(NamedTuple):
    """What has to be destroyed: keys by their ids, whole or but for these runs of ordinals."""

    keys: list[str]
    whole: bool
    events: list[tuple[int, int]]


def _miscounted(graph_id: str, expected: int, found: int) -> StoreCorruptError:
    return StoreCorruptError(
        f"graph {graph_id} should have {expected} events and has {found}: the store is damaged. Remove this "
        "partition's store and start again: it is folded anew from the log."
    )


class Partition:
    """A fold over one partition of `events`.  Not safe for concurrent writers: one writer folds.

    rebuilding  many events are to come, so snapshots are rare, which nobody would read before the next one
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
        self._counted: dict[str, int] = {}  # turns of those graphs that `position` counts, whatever still opens of them
        self._lent: dict[str, None] = {}  # graphs that were asked for last
        self._pages = GraphPages(store, graph_keys)
        self._unflushed: dict[str, None] = {}  # graphs, in the order in which they were folded: so they are let go of
        self._untidy: dict[str, None] = {}  # graphs of which something may be due to be merged
        self._loaded = 0  # pieces that were read of pairs, or merged, since the last flush
        self._changed: set[str] = set()  # graphs of which something was flushed
        self._refolded: set[str] = set()  # graphs that what is stored does not lead to
        self._access: dict[str, Mapping[str, Collection[str]]] = {}  # of graphs without an event since it was read

    @property
    def store(self) -> Store:
        """The store that this fold is kept in."""
        return self._store

    def fold(self, offset: int, value: bytes, known: AnyEvent | None = None) -> Folded:
        """Fold the log's next record.  Raises what state/errors.py lists; never skips.

        known  the event that `decode` makes of `value`, if somebody has asked it already
        """
        event = decode(value) if known is None else known
        position, acceptance = self.position.after(offset, event, value)
        if acceptance is Acceptance.ACCEPTED and isinstance(event, GraphEvent):
            event = opened(event, self._graph_keys)
            assert isinstance(event, GraphEvent)  # noqa: S101 - what is sealed is one
            position = self._fold_graph(position, event.graph, [(event, value)])
        self.position = position
        return Folded(event, acceptance)

    def fold_all(self, records: Iterable[tuple[int, bytes]]) -> None:
        """Fold the log's next records (offset, value), to the same state as `fold` does, but graph by graph.

        Raises as `fold`, without saying at which record: the state is of no use then, the store is as it was.
        """
        position, runs = accept_all(self.position, records)
        for graph_id, values in runs.items():
            position = self._fold_graph(position, graph_id, ((self._read(value), value) for value in values))
        self.position = position

    def _read(self, value: bytes) -> GraphEvent:
        return read_as(GraphEvent, value, self._graph_keys)

    def _fold_graph(
        self, position: LogPosition, graph_id: str, events: Iterable[tuple[GraphEvent, bytes]]
    ) -> LogPosition:
        """Fold the next events of one graph, each with its record value; add to the position what they add."""
        known = self._held(graph_id)
        graph = known or self._remember(Graph(graph_id))
        prefix, batch = keys.event_prefix(graph_id), self._pages.batch
        self._unflushed[graph_id] = None
        self._access.pop(graph_id, None)
        for event, value in events:
            if isinstance(event, Retracted):
                graph = self._retracted(graph, event, value)
            elif isinstance(event, SubjectErased):
                graph = self._erased(graph, event, value)
            else:
                batch[prefix + keys.u64(graph.events)] = value
                graph.fold(event)
        turns = position.turns + graph.turns - self._counted.get(graph_id, 0)
        self._counted[graph_id] = graph.turns
        return replace(position, graphs=position.graphs + (known is None), turns=turns)

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
        again = self._refold(self._pages.newest(graph_id, lazily=True))
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
        """List the graphs of which keys are yet to be destroyed."""
        stored = {keys.graph_of_erasure_key(key) for key, _ in self._store.scan(keys.ERASURES, keys.ERASURES)}
        waiting = {keys.graph_of_erasure_key(key) for key in self._pages.batch if key.startswith(keys.ERASURES)}
        return sorted(name for name in stored | waiting if self.due_erasures(name))

    def keys_destroyed(self, graph_id: str) -> None:
        """Note that nothing is left to be destroyed of a graph's keys; store tables that they still open."""
        self.flush()
        graph = self.graph(graph_id)
        if graph is not None:
            graph.is_not_stored()
            self._pages.keep(graph)
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
        found = [self._read(value) for value in later]
        retractions = [event.first for event in found if isinstance(event, Retracted)]
        erasures = [-1 for event in found if isinstance(event, SubjectErased)]  # no snapshot will do
        before = min((*retractions, *erasures), default=inf)
        graph = self._refold(self._pages.newest(graph_id, before), later)
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
            found = turned(events, undo, first)
            reach = min((event.first for event in found if isinstance(event, Retracted)), default=first)
            if reach >= first:
                return found
            first = reach  # an undo that is taken back, or counts again, took back what lies before

    def graph(self, graph_id: str) -> Graph | None:
        """Give the graph as folded so far, None if no event ever named it."""
        graph = self._held(graph_id)
        if graph is not None:
            self._lend(graph_id)
        return graph

    def prepare(self, graph_id: str) -> bool:
        """Read a piece of the pairs that a question to a large graph needs; tell whether there are more.

        For whoever lets others in between: all that a first question needs takes seconds.
        """
        graph = self.graph(graph_id)
        return graph is not None and graph.pairs["exchange"].prepare(PREPARED_AT_ONCE)

    def access(self, graph_id: str) -> Mapping[str, Collection[str]]:
        """Return which rights a graph grants, by subject.

        It is kept, so that a list of many graphs loads each of them once, not on every page.
        """
        if graph_id not in self._access:
            graph = self._held(graph_id)
            self._access[graph_id] = graph.access if graph is not None and graph.access else GRANTS_NOTHING
        return self._access[graph_id]

    def graph_at_hand(self, graph_id: str) -> Graph | None:
        """Give the graph if it is in memory: for who only saves work by a look at it."""
        return self._graphs.get(graph_id)

    def _held(self, graph_id: str) -> Graph | None:
        graph = self._graphs.get(graph_id)
        if graph is None:
            return self._load(graph_id)
        self._budget.use(self, graph_id)
        return graph

    def _lend(self, graph_id: str) -> None:
        """Measure what was asked for some questions ago: they made what they needed, an index say, and left it."""
        self._lent.pop(graph_id, None)
        self._lent[graph_id] = None
        if len(self._lent) > LENT:
            last = next(iter(self._lent))
            del self._lent[last]
            if last in self._graphs:
                self._budget.measure(self, last, self._graphs[last].size)

    def graphs_in_memory(self) -> list[Graph]:
        """List the graphs that are in memory, by id; none is loaded for it."""
        return [graph for _, graph in sorted(self._graphs.items())]

    def _load(self, graph_id: str) -> Graph | None:
        if not self._pages.holds(graph_id):
            return None
        graph = self._pages.newest(graph_id, lazily=True)
        stored = graph.events
        graph, expected = self._refold(graph), self._pages.count(graph_id)
        if graph.events != expected:
            if self._pages.get(keys.manifest_key(graph_id)) and not stored:
                raise WrongLayoutError(
                    f"the tables of graph {graph_id} were written by another version of EMGAS: run that one, or "
                    "remove this partition's store and start again: it is folded anew from the log."
                )
            raise _miscounted(graph_id, expected, graph.events)
        # Not graph.turns: some may be dark by now, of an erasure that this fold has not come to.
        self._counted[graph_id] = self._pages.turns(graph_id)
        return self._remember(graph)

    def _remember(self, graph: Graph) -> Graph:
        self._graphs[graph.graph_id] = graph
        self._budget.hold(self, graph.graph_id, graph.size)
        return graph

    @property
    def in_memory(self) -> int:
        """How many graphs are in memory."""
        return len(self._graphs)

    def drop(self, graph_id: str) -> bool:
        """Let go of a graph in memory that the store holds in full; tell whether it does."""
        if graph_id in self._unflushed:
            return False
        self._graphs.pop(graph_id).is_let_go()
        del self._counted[graph_id]
        self._pages.release(graph_id)
        return True

    def text_of(self, graph: Graph, passage: int) -> TurnRecorded:
        """Read the event that recorded a passage of `graph`.  Raises StoreCorruptError, UnreadableEventError."""
        value = self._pages.get(keys.event_key(graph.graph_id, graph.passages.event[passage]))
        if value is None:
            raise StoreCorruptError(
                f"the text of passage {passage} of {graph.graph_id} is missing: refold this partition"
            )
        return read_as(TurnRecorded, value, self._graph_keys)

    def flush(self) -> None:
        """Write what was folded since the last flush, atomically with the position; nothing if nothing was."""
        if self.position == self._flushed:
            return
        pages, self._loaded = self._pages, 0
        for graph_id in self._unflushed:
            graph = self._graphs[graph_id]
            pages.batch[keys.count_key(graph_id)] = keys.counts(graph.events, graph.turns)
            if graph_id in self._refolded or graph.events - graph.stored_events >= self._store_after(graph):
                graph.load_pairs(TIDIED_AT_ONCE)
                pages.keep(graph)
                self._untidy[graph_id] = None
            self._changed.add(graph_id)
        pages.batch[POSITION] = self.position.to_bytes()
        self._store.write(pages.batch)
        changed = self._unflushed
        pages.batch, self._unflushed, self._refolded, self._flushed = {}, {}, set(), self.position
        for graph_id in changed:
            if graph_id in self._graphs:  # it may have been dropped for one before it
                self._budget.hold(self, graph_id, self._graphs[graph_id].size)

    def tidy(self) -> bool:
        """Merge a piece of what was flushed with what was there before; tell whether more is left to be done.

        For whoever has some milliseconds between two flushes: what is left is done with the flush after the next.  It
        changes nothing that anybody can see, and nothing is done while something waits to be flushed.
        """
        if self.position != self._flushed or not self._untidy:
            return False
        graph_id = next(iter(self._untidy))
        graph = self._graphs.get(graph_id)
        if graph is not None and graph.rests_on_store:  # its pairs lie in what would be merged
            graph.load_pairs(TIDIED_AT_ONCE)
            self._untidy[graph_id] = self._untidy.pop(graph_id)  # others are next
            self._loaded += 1
            return self._loaded < LOADED
        if graph is not None and self._loaded < LOADED and graph.merge_pairs(MERGED_AT_ONCE):
            self._loaded += 1
            return True
        if not self._pages.tidy(graph_id, TIDIED_AT_ONCE):
            del self._untidy[graph_id]
        if self._pages.batch:
            self._store.write(self._pages.batch)
            self._pages.batch = {}
        return bool(self._untidy)

    def _store_after(self, graph: Graph) -> int:
        """Compute how many events a graph may have that its stored tables do not know of."""
        if self._rebuilding and not self._budget.is_exceeded:  # else graphs come and go: tables pay
            return REBUILT_STORED_AFTER
        return min(max(STORED_AFTER, graph.passages.here // 4), MOST_UNSTORED)

    def graph_ids(self) -> list[str]:
        """List the ids of all graphs, ascending.  Raises StoreCorruptError when some are missing."""
        stored = {keys.graph_of_count_key(key) for key, _ in self._store.scan(COUNTS, COUNTS)}
        found = sorted(stored | self._unflushed.keys())
        if len(found) != self.position.graphs:
            raise StoreCorruptError(
                f"{len(found)} graphs found, {self.position.graphs} expected: refold this partition"
            )
        return found

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
        return hashlib.sha256(position.to_bytes() + "".join(lines).encode()).hexdigest()

    def close(self) -> None:
        """Flush and close the store; let what is large be opened without reading all of it."""
        self.flush()
        for graph_id in self._changed & self._graphs.keys():
            if self._graphs[graph_id].opens_late:
                self._pages.keep(self._graphs[graph_id], thoroughly=True)
        if self._pages.batch:
            self._store.write(self._pages.batch)
            self._pages.batch = {}
        self._budget.let_go(self)
        self._store.close()
