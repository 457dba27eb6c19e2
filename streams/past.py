"""The past for live questions: graphs as they were, rebuilt from the log beside a worker, and kept for a while.

    graph ── history       its events (replay/history.py), read on whenever the graph has got new ones
          ├─ checkpoints   the fold of its first 1000, 2000, … events, packed; fewer for long histories
          └─ rebuilt       time → the graph as of then; valid as long as the same events count, as checkpoints are

A question about another time of a known graph unpacks the nearest checkpoint before it and folds the rest; the same
question again folds nothing.  Graphs that nobody asked about for longest go first.  Reading and folding let others in
every few milliseconds; whoever gives up waiting loses only what was folded since the last checkpoint.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import NamedTuple

from replay.history import History
from replay.log import LogReader
from replay.moment import AsOf, Counted, counted

CHECKPOINT_EVERY = 1000  # events of a graph, at least
CHECKPOINTS = 8  # of one graph: each is as large as the graph was then
KEPT_TIMES = 4  # rebuilt graphs of one name
KEPT_NAMES = 200
KEPT_BYTES = 512 * 2**20  # of everything, roughly; what is known of the graph in use is kept however much it is
STEPS_AT_ONCE = 16  # events folded without letting others in


class Past:
    """The graphs of one worker as they were; `log` reads the topic `events`."""

    def __init__(self, log: LogReader, kept_bytes: int = KEPT_BYTES) -> None:
        self._log = log
        self._kept_bytes = kept_bytes
        self._known: OrderedDict[str, _Known] = OrderedDict()  # least recently used first

    async def graph(self, number: int, name: str, events: int, end: int, at: int) -> AsOf | None:
        """Return a graph that lives in partition `number` as of `at` (ms), None if nothing had been said by then.

        events   how many events the live graph has folded: where so many are known, the log is not read
        end      of the log as far as they were folded: the offset after the last one

        May be cancelled.  Raises TransportFailed, LogRewritten.
        """
        known = self._known.setdefault(name, _Known(name))
        self._known.move_to_end(name)
        async with known.lock:
            if len(known.history.every) < events:
                await known.history.read_on(self._log, number, end)
            found = await known.as_of(at)
        self._make_room(keep=name)
        return found if any(found.counted) else None

    def read(self, name: str) -> int:
        """Return how far the log is read for a graph: the offset of the last record, -1 for none."""
        return self._known[name].history.watermark if name in self._known else -1

    def forget(self) -> None:
        """Let go of everything."""
        self._known.clear()

    def _make_room(self, keep: str) -> None:
        while len(self._known) > KEPT_NAMES:
            self._known.popitem(last=False)
        sizes = {name: known.size for name, known in self._known.items()}
        for name in [name for name in sizes if name != keep]:
            if sum(sizes.values()) <= self._kept_bytes:
                return
            del self._known[name], sizes[name]


class _Checkpoint(NamedTuple):
    """The fold of the first `folded` events of a history, packed."""

    folded: int
    packed: bytes


class _Known:
    """What is known of one graph.  `lock`: one reads and folds at a time, others find what it leaves."""

    def __init__(self, name: str) -> None:
        self.lock = asyncio.Lock()
        self.history = History(name)
        self._takebacks = 0
        self._checkpoints: list[_Checkpoint] = []  # ascending
        self._rebuilt: OrderedDict[int, AsOf] = OrderedDict()  # least recently used first

    @property
    def size(self) -> int:
        """Return how many bytes are kept, roughly."""
        rebuilt = len(self._rebuilt) * (50_000 + 5 * self.history.size)  # measured: tables of thousands of turns
        return self.history.size + rebuilt + sum(len(checkpoint.packed) for checkpoint in self._checkpoints)

    async def as_of(self, at: int) -> AsOf:
        """Return the graph as of `at` (ms)."""
        self._let_go()
        what = counted(self.history, at)
        found = self._rebuilt.pop(at, None)
        if found is None or found.counted != what:
            found = await self._rebuild(at, what)
        self._rebuilt[at] = found
        if len(self._rebuilt) > KEPT_TIMES:
            self._rebuilt.popitem(last=False)
        return found

    def _let_go(self) -> None:
        """Forget what was folded before something was taken back: its events have other places now."""
        if self._takebacks != self.history.takebacks:
            self._takebacks = self.history.takebacks
            self._checkpoints.clear()
            self._rebuilt.clear()

    async def _rebuild(self, at: int, what: Counted) -> AsOf:
        nearest = next((kept for kept in reversed(self._checkpoints) if kept.folded <= what.prefix), None)
        as_of = await asyncio.to_thread(AsOf, self.history, at, nearest)  # unpacking a large graph takes a while
        for count, _ in enumerate(as_of.steps(), 1):
            if as_of.is_prefix and as_of.folded >= self._next_checkpoint():
                await self._keep(as_of)
            if count % STEPS_AT_ONCE == 0:
                await asyncio.sleep(0)
        return as_of

    def _next_checkpoint(self) -> int:
        reached = self._checkpoints[-1].folded if self._checkpoints else 0
        return reached + max(CHECKPOINT_EVERY, len(self.history) // CHECKPOINTS)

    async def _keep(self, as_of: AsOf) -> None:
        """Keep a checkpoint; when there are too many, every second one."""
        packed = await asyncio.to_thread(as_of.graph.pack)  # nobody else has this graph yet
        self._checkpoints.append(_Checkpoint(as_of.folded, packed))
        if len(self._checkpoints) > CHECKPOINTS:
            self._checkpoints = self._checkpoints[1::2]
