"""Graphs as they were, beside a worker: what is read and folded once, what is kept, and that others get their turn."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import Any

import pytest

from emgas.wire import Record
from replay.accepted_events import AT_ONCE
from replay.as_of.graph_as_of import AsOf, graph_at
from state.errors import StoreCorruptError
from state.graph.graph import Graph
from state.partition import Partition
from state.store.store import MemoryStore
from streams.query.answers import as_of_cache
from streams.query.answers.as_of_cache import AsOfCache
from tests.support.builders import graph_configured
from tests.support.clocks import DAY, NOON, PATIENCE
from tests.support.fakes import ListReader
from tests.support.lives import long_life
from tests.support.living import live
from tests.support.logs import LogWriter


class CountingReader(ListReader):
    """Counts what it was asked for, and by how many at once; `records_left`: from which offset on it waits for ever.

    `waits` counts those who have come there.
    """

    def __init__(self, log: LogWriter, records_left: int | None = None) -> None:
        super().__init__([[]])
        self.log = log
        self.spans: list[tuple[int, int]] = []
        self.records_left = records_left
        self.waits = asyncio.Semaphore(0)
        self.closed = 0
        self.most = 0

    async def bounds(self, partition: int) -> tuple[int, int]:
        return 0, self.log.next_offset

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        self.spans.append((start, end))
        self.most = max(self.most, len(self.spans) - self.closed)
        try:
            for offset, value in self.log.records:
                if start <= offset < end:
                    if self.records_left is not None and offset >= self.records_left:
                        self.waits.release()
                        await asyncio.Event().wait()
                    yield [Record(offset, 0, None, value)]
        finally:
            self.closed += 1


def lived(seed: int = 5, **settings: Any) -> tuple[LogWriter, list[int]]:
    """Return the log of a long life, and times all over it."""
    birth, happened = long_life(seed)
    birth = graph_configured(**settings) if settings else birth
    events = live(happened, [birth]).events
    log, times = LogWriter(), [event.at for event in events if hasattr(event, "at")]
    for event in events:
        log.keep(event)
    seeded = random.Random(seed)
    return log, [seeded.randint(min(times), max(times)) for _ in range(12)]


async def ask(cache: AsOfCache, log: LogWriter, at: int) -> Graph | None:
    result = await cache.graph("ada", at, partition=0, events=log.seq, end=log.next_offset, hides=False)
    return None if result is None else result.graph


async def expected(log: LogWriter, at: int) -> str:
    reader = ListReader([[Record(offset, 0, None, value) for offset, value in log.records]])
    graph = await graph_at(reader, 0, "ada", as_of=at)
    assert graph is not None
    return graph.digest()


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let checkpoints be close together, and few."""
    monkeypatch.setattr(as_of_cache, "CHECKPOINT_EVERY", 20)
    monkeypatch.setattr(as_of_cache, "CHECKPOINTS", 5)


@pytest.mark.usefixtures("often")
async def test_whatever_is_kept_every_moment_is_what_a_replay_makes_of_it() -> None:
    log, times = lived()
    cache = AsOfCache(CountingReader(log))
    for at in [*times, *times[:3]]:
        graph = await ask(cache, log, at)
        assert graph is not None
        assert graph.digest() == await expected(log, at)


async def test_the_same_question_reads_and_folds_nothing_again_and_another_reads_nothing() -> None:
    log, times = lived()
    reader = CountingReader(log)
    cache = AsOfCache(reader)
    first = await ask(cache, log, times[0])
    assert await ask(cache, log, times[0]) is first
    await ask(cache, log, times[1])
    assert reader.spans == [(0, log.next_offset)]


async def test_new_events_are_read_from_where_reading_stopped_and_late_ones_change_the_past() -> None:
    log = LogWriter()
    log.turn(id="t0", at=NOON)
    reader = CountingReader(log)
    cache = AsOfCache(reader)
    first = await ask(cache, log, NOON + 1)
    log.turn(id="t1", at=NOON + DAY)
    assert await ask(cache, log, NOON + 1) is first, "what was said later changes nothing"
    log.turn(id="late", at=NOON - DAY)
    changed = await ask(cache, log, NOON + 1)
    assert changed is not None
    assert changed.passages.ids == ["t0", "late"]
    assert reader.spans == [(0, 2), (2, 3), (3, 4)]


async def test_no_more_of_the_log_counts_than_the_worker_has_folded() -> None:
    log = LogWriter()
    log.turn(id="t0", at=NOON)
    events, end = log.seq, log.next_offset
    log.turn(id="not yet", at=NOON)
    result = await AsOfCache(CountingReader(log)).graph("ada", NOON, partition=0, events=events, end=end, hides=False)
    assert result is not None
    assert result.graph.passages.ids == ["t0"]


async def test_a_graph_of_which_nothing_was_said_by_then_is_none() -> None:
    log = LogWriter()
    log.configure()
    log.turn(at=NOON)
    assert await ask(AsOfCache(CountingReader(log)), log, NOON - 1) is None


async def test_who_gives_up_leaves_what_was_read_and_lets_go_of_the_log() -> None:
    log, times = lived()
    reader = CountingReader(log, records_left=100)
    cache = AsOfCache(reader)
    asking = asyncio.create_task(ask(cache, log, times[0]))
    async with asyncio.timeout(PATIENCE):
        await reader.waits.acquire()  # it has read up to there, however long that took
    asking.cancel()
    await asyncio.wait([asking])
    assert asking.cancelled()
    assert (cache.read("ada"), cache.read("bob"), reader.closed) == (99, -1, 1)
    reader.records_left = None
    graph = await ask(cache, log, times[0])
    assert graph is not None
    assert graph.digest() == await expected(log, times[0])
    assert reader.spans == [(0, log.next_offset), (100, log.next_offset)]


@pytest.mark.usefixtures("often")
async def test_two_who_ask_the_same_at_once_share_the_work() -> None:
    log, times = lived()
    reader = CountingReader(log)
    cache = AsOfCache(reader)
    one, other = await asyncio.gather(ask(cache, log, times[0]), ask(cache, log, times[0]))
    assert one is other
    assert len(reader.spans) == 1


async def test_others_get_their_turn_while_a_graph_is_rebuilt() -> None:
    log, times = lived()
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    result = await AsOfCache(CountingReader(log)).graph(
        "ada", max(times), partition=0, events=log.seq, end=log.next_offset, hides=False
    )
    task.cancel()
    assert result is not None
    assert turns >= log.seq // AT_ONCE + result.counted.prefix // as_of_cache.STEPS_AT_ONCE > 10


@pytest.mark.usefixtures("often")
async def test_checkpoints_spare_folding_and_stay_few() -> None:
    log, times = lived()
    cache = AsOfCache(CountingReader(log))
    await ask(cache, log, max(times) + 900 * DAY)
    checkpoints = cache.checkpoints("ada")
    assert 2 <= len(checkpoints) <= 5
    assert all(0 < one < other for one, other in pairwise(checkpoints))
    await ask(cache, log, max(times) + 900 * DAY + 1)
    assert checkpoints == cache.checkpoints("ada")


@pytest.mark.usefixtures("often")
async def test_checkpoints_come_to_lie_evenly_wherever_one_asks_first() -> None:
    log, times = lived()
    cache = AsOfCache(CountingReader(log))
    for at in (sorted(times)[len(times) // 2], max(times) + 900 * DAY, min(times)):
        await ask(cache, log, at)
    places = [0, *cache.checkpoints("ada"), log.seq]
    assert len(places) > 2 + 2
    assert max(other - one for one, other in pairwise(places)) <= 2 * log.seq / 5 + as_of_cache.STEPS_AT_ONCE


async def test_what_was_not_asked_about_for_longest_is_let_go_of_first_and_the_last_one_never() -> None:
    log = LogWriter()
    for graph in ("ada", "bob", "cyd"):
        log.turn(graph=graph, at=NOON)
    cache = AsOfCache(CountingReader(log), kept_bytes=120_000)
    for graph in ("ada", "bob", "ada", "cyd"):
        assert await cache.graph(graph, NOON, partition=0, events=1, end=log.next_offset, hides=False) is not None
    assert cache.kept == ["ada", "cyd"]
    for at in range(10):
        await cache.graph("cyd", NOON + at, partition=0, events=1, end=log.next_offset, hides=False)
    assert cache.kept == ["cyd"]
    cache.forget()
    assert cache.read("cyd") == -1


async def test_a_graph_that_somebody_asks_about_is_never_let_go_of() -> None:
    log = LogWriter()
    for graph in ("ada", "bob", "cyd"):
        log.turn(graph=graph, at=NOON)
    reader = CountingReader(log, records_left=2)
    cache = AsOfCache(reader, kept_bytes=0)
    first = asyncio.create_task(cache.graph("ada", NOON, partition=0, events=1, end=log.next_offset, hides=False))
    second = asyncio.create_task(cache.graph("ada", NOON, partition=0, events=1, end=log.next_offset, hides=False))
    await reader.waits.acquire()
    reader.records_left = None
    for graph in ("bob", "cyd"):
        assert await cache.graph(graph, NOON, partition=0, events=1, end=log.next_offset, hides=False) is not None
    assert cache.kept == ["ada", "cyd"]
    first.cancel()
    assert await second is not None
    assert len(reader.spans) == 3, "what the first one had read was kept"
    assert cache.kept == ["ada"]


async def test_only_a_few_graphs_are_read_and_folded_at_once_and_who_waits_gets_his_turn() -> None:
    log = LogWriter()
    names = [f"g{number}" for number in range(20)]
    for name in names:
        log.turn(graph=name, at=NOON)
    reader = CountingReader(log, records_left=3)
    cache = AsOfCache(reader)
    asking = [
        asyncio.create_task(cache.graph(name, NOON, partition=0, events=1, end=log.next_offset, hides=False))
        for name in names
        for _ in range(3)
    ]
    for _ in range(as_of_cache.GRAPHS_AT_ONCE):
        await reader.waits.acquire()
    reader.records_left = None
    for task in asking[: 3 * as_of_cache.GRAPHS_AT_ONCE : 3]:
        task.cancel()
    result = await asyncio.gather(*asking, return_exceptions=True)
    assert sum(isinstance(each, asyncio.CancelledError) for each in result) == as_of_cache.GRAPHS_AT_ONCE
    assert all(isinstance(each, AsOf | asyncio.CancelledError) for each in result)
    assert reader.most == as_of_cache.GRAPHS_AT_ONCE


class Stores:
    """The store of a worker that has folded a log; `opened`: how often it was looked into."""

    def __init__(self, log: LogWriter) -> None:
        self.store = MemoryStore()
        self.opened = 0
        self.damage: Exception | None = None
        state = Partition(self.store)
        for number, record in enumerate(log.records):
            state.fold(*record)
            if number % 64 == 0:
                state.flush()
        state.flush()

    def __call__(self, number: int) -> AbstractContextManager[MemoryStore]:
        self.opened += 1
        if self.damage:
            raise self.damage
        return nullcontext(self.store)


async def test_moments_not_long_ago_are_told_by_the_store_and_older_ones_by_the_log() -> None:
    log, times = lived(undo_events=20)
    reader, stores = CountingReader(log), Stores(log)
    cache = AsOfCache(reader, stores)
    latest = await ask(cache, log, max(times))
    assert latest is not None
    assert latest.digest() == await expected(log, max(times))
    assert (reader.spans, stores.opened) == ([], 1)
    for at in [*times, max(times)]:
        graph = await ask(cache, log, at)
        assert graph is not None
        assert graph.digest() == await expected(log, at)
    assert (reader.spans, stores.opened) == ([(0, log.next_offset)], 1)


async def test_what_came_after_the_store_is_read_behind_it() -> None:
    log, times = lived(undo_events=20)
    reader, stores = CountingReader(log), Stores(log)
    cache, end = AsOfCache(reader, stores), log.next_offset
    log.turn(id="later", at=max(times) + 1)
    graph = await ask(cache, log, max(times) + 1)
    assert graph is not None
    assert graph.digest() == await expected(log, max(times) + 1)
    assert reader.spans == [(end, end + 1)]


@pytest.mark.parametrize("damage", [StoreCorruptError("a file is gone"), OSError("the disk is"), Exception("IO error")])
async def test_where_the_store_cannot_be_read_the_log_is(damage: Exception) -> None:
    log, times = lived(undo_events=20)
    stores = Stores(log)
    stores.damage = damage
    graph = await ask(AsOfCache(CountingReader(log), stores), log, max(times))
    assert graph is not None
    assert graph.digest() == await expected(log, max(times))


async def test_however_small_they_are_no_more_graphs_are_kept_than_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(as_of_cache, "KEPT_NAMES", 2)
    log = LogWriter()
    for number in range(5):
        log.turn(graph=f"g{number}", at=NOON)
    cache = AsOfCache(CountingReader(log))
    for number in range(5):
        assert (
            await cache.graph(f"g{number}", NOON, partition=0, events=1, end=log.next_offset, hides=False) is not None
        )
    assert cache.kept == ["g3", "g4"]


async def test_what_is_kept_for_who_sees_what_was_forgotten_is_shown_to_nobody_else() -> None:
    log = LogWriter()
    log.turn(id="t0", at=NOON, concepts="milk tea")
    log.turn(id="t1", at=NOON + DAY, concepts="milk honey")
    log.turn(id="t2", at=NOON + 2 * DAY, concepts="milk sugar")
    log.forget(turns="t0", concepts="tea")
    cache = AsOfCache(CountingReader(log))

    async def turn_ids(*, hides: bool) -> set[str]:
        where = {"partition": 0, "events": log.seq, "end": log.next_offset}
        result = await cache.graph("ada", NOON + DAY, hides=hides, **where)
        assert result is not None
        return {*result.graph.passages.numbers, *result.graph.concepts.numbers}

    for _ in range(2):
        assert await turn_ids(hides=False) == {"t0", "t1", "milk", "tea", "honey"}
        assert await turn_ids(hides=True) == {"t1", "milk", "honey"}
    log.forget(turns="t1", concepts="honey")
    assert await turn_ids(hides=True) == set(), "milk too: of the turns that are left, none had named it by then"
    assert await turn_ids(hides=False) == {"t0", "t1", "milk", "tea", "honey"}
    log.undo(first=3, last=3)
    assert await turn_ids(hides=True) == {"t0", "milk", "tea"}, "and what was taken back hides nothing"
