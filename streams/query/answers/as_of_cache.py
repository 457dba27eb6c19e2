"""Graphs as they were, for questions about the past: rebuilt while the worker works, and cached.

    graph ── recent        what the partition's store knows of it (replay/as_of/store_history.py): read first, as it
          │                is fast
          └─ whole         its events, all of them, from the log of the partition: where `recent` does not reach
               ├─ history      (replay/as_of/history.py), read on whenever the graph has got new events
               ├─ checkpoints  folds of its first places, packed, about evenly spaced; fewer for long histories
               └─ rebuilt      time, and whether what was forgotten since is hidden → the graph as of then; valid as
                               long as the same events count, as checkpoints are

A question about another time of a cached graph unpacks the nearest checkpoint before it and folds the rest; the same
question again folds nothing.  Reading and folding are cooperative: they yield every few milliseconds, and what takes
longer runs in a thread.  A question that times out loses only what was folded since the last checkpoint.

Memory: KEPT_BYTES for the graphs that were queried last, and what is read and folded of GRAPHS_AT_ONCE more.
A graph with a pending question is never evicted; the one that was used last is kept however large it is.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

from emgas.logs import logger
from processors.recall.ranking.activation import DEFAULT
from replay.as_of.graph_as_of import AsOf, Counted, counted, reaches
from replay.as_of.history import History
from replay.as_of.store_history import StoreHistory, store_history
from replay.log import LogReader, keys_of
from state.graph.graph import Graph
from state.store.store import Store

log = logger("query")
CHECKPOINT_EVERY = 500  # events of a graph, at least: to fold them takes some 15 ms
CHECKPOINTS = 16  # of one history: each is as large as the graph was then
KEPT_TIMES = 4  # rebuilt graphs of one history
KEPT_NAMES = 200
KEPT_BYTES = 512 * 2**20  # of everything that no question is using, roughly
SMALL = 2**20  # bytes of events: what is done with such a graph in one go takes a millisecond or two
GRAPHS_AT_ONCE = 4  # read and folded; questions about more of them wait
STEPS_AT_ONCE = 16  # events folded between two checkpoints of the event loop
EVENT_BYTES = 200  # that an event of a history takes besides its own, roughly

T = TypeVar("T")
Stores = Callable[[int], AbstractContextManager[Store]]  # partition → a view of its store at one moment; in a thread


class AsOfCache:
    """The graphs of one worker as they were; `log` reads the topic `events`, `stores` the worker's own stores."""

    def __init__(self, log: LogReader, stores: Stores | None = None, kept_bytes: int = KEPT_BYTES) -> None:
        self._log = log
        self._stores = stores
        self._kept_bytes = kept_bytes
        self._cached: OrderedDict[str, _CachedGraph] = OrderedDict()  # least recently used first
        self._rebuilding = asyncio.Semaphore(GRAPHS_AT_ONCE)

    async def graph(self, graph_id: str, at: int, *, partition: int, events: int, end: int, hides: bool) -> AsOf | None:
        """Rebuild a graph as of `at` (ms), None if it was empty then.

        hides      what was forgotten since is left out: the client may not see it
        partition  where it lives
        events     how many events the live graph has folded: where so many are cached, nothing is read
        end        of the log as far as they were folded: the offset after the last one

        May be cancelled.  Raises TransportError, LogRewrittenError.
        """
        cached = self._cached.setdefault(graph_id, _CachedGraph(graph_id))
        self._cached.move_to_end(graph_id)
        sources = _Sources(self._log, self._stores, partition, end)
        try:
            with cached.used():
                as_of = await self._rebuilt_graph(cached, sources, events, _Moment(at, hides))
        finally:
            self._evict(keep=graph_id)
        return as_of if as_of.has_content else None

    async def _rebuilt_graph(self, cached: _CachedGraph, sources: _Sources, events: int, moment: _Moment) -> AsOf:
        async with cached.lock:  # first: waiting for the same graph takes none of GRAPHS_AT_ONCE
            as_of = cached.at_hand(events, moment)
            if as_of is not None:
                return as_of
            async with self._rebuilding:
                return await cached.as_of(sources, events, moment)

    def read(self, graph_id: str) -> int:
        """Return how far the log is read for a graph: the offset of the last record, -1 for none."""
        return self._cached[graph_id].watermark if graph_id in self._cached else -1

    @property
    def kept(self) -> list[str]:
        """The cached graphs, the least recently used first."""
        return list(self._cached)

    def checkpoints(self, graph_id: str) -> list[int]:
        """List of how many first places of a graph's whole history each checkpoint is the fold, ascending."""
        cached = self._cached.get(graph_id)
        return cached.checkpoints if cached else []

    def forget(self) -> None:
        """Evict everything."""
        self._cached.clear()

    def _evict(self, keep: str) -> None:
        """Evict the least recently used graphs that no question is using, until the rest fits."""
        sizes = {graph_id: cached.size for graph_id, cached in self._cached.items()}
        unused = [graph_id for graph_id, cached in self._cached.items() if graph_id != keep and not cached.users]
        for graph_id in unused:
            if len(sizes) <= KEPT_NAMES and sum(sizes.values()) <= self._kept_bytes:
                return
            del self._cached[graph_id], sizes[graph_id]


class _Moment(NamedTuple):
    """A time of the past (ms), and whether what was forgotten since is hidden."""

    at: int
    hides: bool


class _Sources(NamedTuple):
    """The sources of the past of graphs in `partition`; the log up to before offset `end`."""

    log: LogReader
    stores: Stores | None
    partition: int
    end: int

    def stored(self, graph_id: str) -> StoreHistory | None:
        """Read what the store knows of a graph, None if that is not enough.  Blocks."""
        assert self.stores is not None  # noqa: S101 - asked before
        try:
            with self.stores(self.partition) as store:
                return store_history(store, graph_id, keys_of(self.log))
        except Exception as error:  # noqa: BLE001 - its writer may remove a file of it meanwhile; the log has everything
            log.warning("past is read from the log", partition=self.partition, graph=graph_id, error=str(error))
            return None


class _CachedGraph:
    """The history and folds of one graph.  `lock`: one question reads and folds, the next ones use its result."""

    def __init__(self, graph_id: str) -> None:
        self.lock = asyncio.Lock()
        self.users = 0
        self._graph_id = graph_id
        self._recent: _Folds | None = None
        self._whole: _Folds | None = None

    @contextmanager
    def used(self) -> Iterator[None]:
        """Count one user more for as long as the block lasts."""
        self.users += 1
        try:
            yield
        finally:
            self.users -= 1

    @property
    def size(self) -> int:
        """Return the approximate memory use in bytes."""
        return sum(folds.size for folds in (self._recent, self._whole) if folds)

    @property
    def watermark(self) -> int:
        """Return the offset of the last record that was read, -1 for none."""
        folds = self._whole or self._recent
        return folds.history.watermark if folds else -1

    @property
    def checkpoints(self) -> list[int]:
        """Return for each checkpoint the number of first places of the whole history that it folds."""
        return self._whole.checkpoints if self._whole else []

    def at_hand(self, events: int, moment: _Moment) -> AsOf | None:
        """Find the graph of a moment if nothing has to be read or folded for it."""
        ready = [folds for folds in (self._recent, self._whole) if folds and folds.history.read >= events]
        return next((as_of for folds in ready if (as_of := folds.at_hand(moment))), None)

    async def as_of(self, sources: _Sources, events: int, moment: _Moment) -> AsOf:
        """Rebuild the graph of a moment, unless it is at hand."""
        if self._recent is None and self._whole is None and sources.stores is not None:
            stored = await asyncio.to_thread(sources.stored, self._graph_id)
            self._recent = stored and _Folds(stored.history, stored.folds)
        if self._recent is not None:
            await self._recent.read_on(sources, events)
            if reaches(self._recent.history, moment.at):
                return await self._recent.as_of(moment)
        self._whole = self._whole or _Folds(History(self._graph_id, keys=keys_of(sources.log)))
        await self._whole.read_on(sources, events)
        self._recent = None  # from here on, it knows nothing more
        return await self._whole.as_of(moment)


class _Checkpoint(NamedTuple):
    """The fold of the first `folded` places of a history, and of its base, packed."""

    folded: int
    packed: bytes


class _Folds:
    """A history, and what was folded of it; `folds`: what is folded already."""

    def __init__(self, history: History, folds: list[tuple[int, bytes]] | None = None) -> None:
        self.history = history
        base = history.base
        self._base_bytes = len(base.packed) + sum(map(len, base.texts.values())) if base else 0
        self._takebacks = history.takebacks
        self._checkpoints = [_Checkpoint(*fold) for fold in folds or []]  # ascending
        self._rebuilt: OrderedDict[_Moment, AsOf] = OrderedDict()  # least recently used first

    @property
    def size(self) -> int:
        """Return the approximate memory use in bytes."""
        values = self.history.size + self._base_bytes
        rebuilt = len(self._rebuilt) * (50_000 + 5 * values)  # measured: tables of thousands of turns
        checkpoints = sum(len(checkpoint.packed) for checkpoint in self._checkpoints)
        return values + EVENT_BYTES * len(self.history.every) + rebuilt + checkpoints

    @property
    def checkpoints(self) -> list[int]:
        """Return for each checkpoint the number of places that it folds, ascending."""
        return [checkpoint.folded for checkpoint in self._checkpoints]

    async def read_on(self, sources: _Sources, events: int) -> None:
        """Read on until the history has so many events of the graph."""
        if self.history.read < events:
            await self.history.read_on(sources.log, sources.partition, sources.end)

    def at_hand(self, moment: _Moment) -> AsOf | None:
        """Find the graph of a moment if it was rebuilt and the same events count."""
        if self._takebacks != self.history.takebacks:  # its events have other places now
            self._takebacks = self.history.takebacks
            self._checkpoints.clear()
            self._rebuilt.clear()
        as_of = self._rebuilt.get(moment)
        if as_of is None or as_of.counted != self._counted(moment):
            return None
        self._rebuilt.move_to_end(moment)
        return as_of

    async def as_of(self, moment: _Moment) -> AsOf:
        """Rebuild the graph of a moment, unless it is at hand."""
        as_of = self.at_hand(moment)
        if as_of is None:
            as_of = await self._rebuild(moment, self._counted(moment))
            self._rebuilt[moment] = as_of
            self._rebuilt.move_to_end(moment)
            if len(self._rebuilt) > KEPT_TIMES:
                self._rebuilt.popitem(last=False)
        return as_of

    def _counted(self, moment: _Moment) -> Counted:
        return counted(self.history, moment.at, hides=moment.hides)

    async def _rebuild(self, moment: _Moment, what: Counted) -> AsOf:
        before = bisect_right(self._checkpoints, what.prefix, key=_folded)
        nearest = self._checkpoints[before - 1] if before else None
        begin = partial(AsOf, self.history, moment.at, nearest, hides=moment.hides)
        as_of = await self._beside(begin)
        for count, _ in enumerate(as_of.steps(), 1):
            if count % STEPS_AT_ONCE == 0:
                if as_of.is_prefix and self._is_needed(as_of.folded):
                    await self._keep(as_of)
                await asyncio.sleep(0)
        await self._beside(_settle, as_of.graph)
        return as_of

    async def _beside(self, do: Callable[..., T], *arguments: Any) -> T:
        """Work on a graph that is not shared yet: on a large one in a thread, as it would block the event loop."""
        if self.history.size + self._base_bytes <= SMALL:
            return do(*arguments)
        return await asyncio.to_thread(do, *arguments)

    def _is_needed(self, folded: int) -> bool:
        """Return whether a checkpoint here would be far enough from the ones before and after it."""
        spacing = max(CHECKPOINT_EVERY, len(self.history) // CHECKPOINTS)
        after = bisect_right(self._checkpoints, folded, key=_folded)
        before = self._checkpoints[after - 1].folded if after else 0
        is_last = after == len(self._checkpoints)
        return folded - before >= spacing and (is_last or self._checkpoints[after].folded - folded >= spacing // 2)

    async def _keep(self, as_of: AsOf) -> None:
        """Keep a checkpoint; when there are too many, without the one whose neighbours are closest to each other."""
        new = _Checkpoint(as_of.folded, await self._beside(as_of.graph.pack))
        self._checkpoints.insert(bisect_right(self._checkpoints, new.folded, key=_folded), new)
        if len(self._checkpoints) > CHECKPOINTS:
            places = [0, *map(_folded, self._checkpoints), len(self.history)]
            del self._checkpoints[min(range(len(self._checkpoints)), key=lambda at: places[at + 2] - places[at])]


def _folded(checkpoint: _Checkpoint) -> int:
    return checkpoint.folded


def _settle(graph: Graph) -> None:
    """Bring a graph into the form that recall reads: of a large one, that takes a while the first time."""
    graph.view().window(DEFAULT.window).pairs.settle()
