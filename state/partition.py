"""One partition's state: the fold of its event log, graph by graph, kept in a store.

    fold(offset, value)   the only writer: a record of the log in, state and watermark moved together
    fold_all(records)     the same for many, graph by graph (state/batch_acceptance.py): how a rebuild folds
    flush()               everything folded since the last flush, with the watermark, in one atomic batch

Between two flushes the memory is ahead of the store; death loses only what the log folds again.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import inf
from typing import NamedTuple

from msgspec.structs import replace

from state.batch_acceptance import judged
from state.errors import RetractedTooFarError, StoreCorruptError, WrongLayoutError
from state.events.events import AnyEvent, GraphData, Retracted, TurnRecorded, decode
from state.graph.graph import Graph
from state.log_position import Acceptance, LogPosition
from state.retraction import refolded, surviving
from state.store import store as layout
from state.store.pages import GraphRows
from state.store.store import HEAD, Store

CACHED_GRAPHS = 1000
SNAPSHOT_AFTER = 64  # events at least; and as many as a quarter of the turns that the graph holds
REBUILT_SNAPSHOT_AFTER = 2048  # and as many as the snapshot before held: to fold so many again takes some 60 ms


class Folded(NamedTuple):
    """What became of one record."""

    event: AnyEvent
    verdict: Acceptance


def _miscounted(name: str, expected: int, found: int) -> StoreCorruptError:
    return StoreCorruptError(
        f"graph {name} should have {expected} events and has {found}: the store is damaged. Remove this partition's "
        "store and start again: it is folded anew from the log."
    )


class Partition:
    """A fold over one partition of `events`.  Not safe for concurrent writers: one owner folds.

    `rebuilding`: many events are to come, so snapshots are rare, which nobody would read before the next one.
    """

    def __init__(self, store: Store, cached_graphs: int = CACHED_GRAPHS, *, rebuilding: bool = False) -> None:
        self._store = store
        head = store.get(HEAD)
        if head is None and next(store.scan(b"c", b"c"), None):
            raise StoreCorruptError(
                "graphs are stored, but not how far the log is folded. Remove this partition's store."
            )
        self.head = self._flushed = LogPosition.of_bytes(head) if head is not None else LogPosition()
        self._cached_graphs = cached_graphs
        self._rebuilding = rebuilding
        self._graphs: OrderedDict[str, Graph] = OrderedDict()  # least recently used first
        self._rows = GraphRows(store)
        self._unflushed: set[str] = set()
        self._snapshots: dict[str, int] = {}  # events held by the stored snapshot, of the graphs in memory
        self._refolded: set[str] = set()  # graphs that the stored snapshots do not lead to

    def fold(self, offset: int, value: bytes) -> Folded:
        """Fold the log's next record.  Raises what state/errors.py lists; never skips."""
        event = decode(value)
        head, verdict = self.head.after(offset, event, value)
        if verdict is Acceptance.ACCEPTED and isinstance(event, GraphData):
            head = self._fold_graph(head, event.graph, [(event, value)])
        self.head = head
        return Folded(event, verdict)

    def fold_all(self, records: Iterable[tuple[int, bytes]]) -> None:
        """Fold the log's next records (offset, value), to the same state as `fold` does, but graph by graph.

        Raises as `fold`, without saying at which record: the state is of no use then, the store is as it was.
        """
        head, runs = judged(self.head, records)
        for name, values in runs.items():
            head = self._fold_graph(head, name, ((decode(value), value) for value in values))
        self.head = head

    def _fold_graph(self, head: LogPosition, name: str, events: Iterable[tuple[AnyEvent, bytes]]) -> LogPosition:
        """Fold the next events of one graph, each with its record value; return the head with what they add."""
        known = self.graph(name)
        graph = known or self._remember(Graph(name), snapshot=0)
        prefix, batch, turns = layout.event_prefix(name), self._rows.batch, graph.turns
        self._unflushed.add(name)
        for event, value in events:
            assert isinstance(event, GraphData)  # noqa: S101 - nothing else is of a graph
            if isinstance(event, Retracted):
                graph = self._retracted(graph, event, value)
            else:
                batch[prefix + layout.number(graph.events)] = value
                graph.fold(event)
        return replace(head, graphs=head.graphs + (known is None), turns=head.turns + graph.turns - turns)

    def _retracted(self, graph: Graph, event: Retracted, value: bytes) -> Graph:
        """Fold the graph again from before the first event that is taken back; its snapshots since then are void."""
        if event.first < graph.undoable_from:
            raise RetractedTooFarError(
                f"event {graph.events} of graph {graph.name} takes back event {event.first}, but only those from "
                f"{graph.undoable_from} on could be. Another program wrote to this log: stop it, and restore the log."
            )
        self._rows.batch[layout.event_key(graph.name, graph.events)] = value
        self._refolded.add(graph.name)
        self._rows.drop_after(graph.name, event.first)
        again = self._refold(graph.name)
        if again.events != graph.events + 1:
            raise _miscounted(graph.name, graph.events + 1, again.events)
        again.undoable_from = max(again.undoable_from, graph.undoable_from)
        self._graphs[graph.name] = again
        return again

    def _refold(self, name: str) -> Graph:
        """Return a graph, folded from the newest snapshot on."""
        base = self._rows.newest(name)
        return refolded(base, self._rows.values(name, base.events))

    def graph_with(self, name: str, later: Sequence[bytes]) -> Graph:
        """Return a graph as it is once these events (record values) of it follow; nothing here changes."""
        events = [decode(value) for value in later]
        before = min((event.first for event in events if isinstance(event, Retracted)), default=inf)
        count = self._rows.get(layout.count_key(name))
        base = self._rows.newest(name, before)
        graph = refolded(base, [*self._rows.values(name, base.events), *later])
        expected = (layout.of_number(count) if count else 0) + len(later)
        if graph.events != expected:
            raise _miscounted(name, expected, graph.events)
        return graph

    def counting(self, graph: Graph, first: int, last: int) -> int:
        """Return how many of the graph's events `first`..`last` count; `first`: no less than `undoable_from`."""
        events = [decode(value) for value in self._rows.values(graph.name, first)]
        listed = [event for event in events if isinstance(event, GraphData)]
        return sum(surviving(listed, first)[: last - first + 1])

    def graph(self, name: str) -> Graph | None:
        """Return the graph as folded so far, None if no event ever named it."""
        graph = self._graphs.get(name)
        if graph is None:
            return self._load(name)
        self._graphs.move_to_end(name)
        return graph

    def _load(self, name: str) -> Graph | None:
        if not self._rows.is_there(name):
            return None
        graph = self._rows.newest(name)
        snapshot = graph.events
        graph = refolded(graph, self._rows.values(name, snapshot))
        count = self._rows.get(layout.count_key(name))
        expected = layout.of_number(count) if count else 0
        if graph.events != expected:
            if self._rows.get(layout.snapshot_key(name)) and not snapshot:
                raise WrongLayoutError(
                    f"the snapshot of graph {name} was written by another version of EMGAS: run that one, or remove "
                    "this partition's store and start again: it is folded anew from the log."
                )
            raise _miscounted(name, expected, graph.events)
        return self._remember(graph, snapshot)

    def _remember(self, graph: Graph, snapshot: int) -> Graph:
        self._graphs[graph.name] = graph
        self._snapshots[graph.name] = snapshot
        self._make_room(keep=graph.name)
        return graph

    def _make_room(self, keep: str) -> None:
        """Drop least recently used graphs that the store holds in full, as far as there are too many."""
        excess = len(self._graphs) - self._cached_graphs
        if excess > 0:
            droppable = (name for name in self._graphs if name not in self._unflushed and name != keep)
            for name in list(islice(droppable, excess)):
                del self._graphs[name], self._snapshots[name]

    def text_of(self, graph: Graph, passage: int) -> TurnRecorded:
        """Return the event that recorded a passage of `graph`."""
        key = layout.event_key(graph.name, graph.passages.event[passage])
        value = self._rows.get(key)
        if value is None:
            raise StoreCorruptError(f"the text of passage {passage} of {graph.name} is missing: refold this partition")
        event = decode(value)
        assert isinstance(event, TurnRecorded)  # noqa: S101 - passages point at nothing else
        return event

    def flush(self) -> None:
        """Write what was folded since the last flush, atomically with the head; nothing if nothing was."""
        if self.head == self._flushed:
            return
        for name in self._unflushed:
            graph = self._graphs[name]
            self._rows.batch[layout.count_key(name)] = layout.number(graph.events)
            if name in self._refolded or graph.events - self._snapshots[name] >= self._snapshot_after(graph):
                self._rows.keep(graph)
                self._snapshots[name] = graph.events
        self._rows.batch[HEAD] = self.head.to_bytes()
        self._store.write(self._rows.batch)
        self._rows.batch, self._unflushed, self._refolded, self._flushed = {}, set(), set(), self.head

    def _snapshot_after(self, graph: Graph) -> int:
        """Return how many events a graph may have that are in no snapshot."""
        if self._rebuilding and len(self._graphs) <= self._cached_graphs:  # else graphs come and go: snapshots pay
            return max(REBUILT_SNAPSHOT_AFTER, self._snapshots[graph.name])
        return max(SNAPSHOT_AFTER, len(graph.passages.numbers) // 4)

    def names(self) -> list[str]:
        """Return the names of all graphs, ascending.  Raises StoreCorruptError when some are missing."""
        stored = {layout.graph_of_count_key(key) for key, _ in self._store.scan(b"c", b"c")}
        names = sorted(stored | self._unflushed)
        if len(names) != self.head.graphs:
            raise StoreCorruptError(f"{len(names)} graphs found, {self.head.graphs} expected: refold this partition")
        return names

    def graphs(self) -> Iterator[Graph]:
        """Yield every graph, by name ascending."""
        for name in self.names():
            graph = self.graph(name)
            if graph is None:
                raise StoreCorruptError(f"graph {name} is listed but not stored: refold this partition")
            yield graph

    def digests(self) -> dict[str, str]:
        """Return the digest of every graph."""
        return {graph.name: graph.digest() for graph in self.graphs()}

    def digest(self) -> str:
        """Return the sha256 (hex) over the head and every graph's digest: equal exactly for equal folds."""
        total = hashlib.sha256(self.head.to_bytes())
        for name, digest in self.digests().items():
            total.update(f"{name} {digest}\n".encode())
        return total.hexdigest()

    def close(self) -> None:
        """Flush and close the store."""
        self.flush()
        self._store.close()
