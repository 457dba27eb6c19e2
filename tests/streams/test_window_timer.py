"""Windows in a running worker: closed before whatever ends them, in order, whoever brings the time, however batched."""

from __future__ import annotations

import asyncio
import json
import random
import time
from functools import partial
from typing import Any

import pytest

from emgas.times import DAY_MS as DAY
from emgas.times import HOUR_MS as HOUR
from emgas.times import MINUTE_MS as MINUTE
from emgas.wire import partition_of
from lab.catalogue import GATES
from processors.extraction.extractor import Extraction
from processors.lifecycle import windows
from processors.lifecycle.windows import DueWindow, WindowStuckError, next_alarm, next_due
from state.events.events import (
    ConsolidationWindowClosed,
    DataEvent,
    GraphConfigured,
    GraphEvent,
    MemoryArchived,
    Ticked,
    TurnRecorded,
    WindowEvent,
    decode,
)
from state.events.extraction_types import Concept
from state.graph.graph import Graph
from state.partition import Partition
from state.store.store import MemoryStore
from streams.ingest import window_timer
from streams.ingest.command_handler import CommandHandler
from streams.ingest.partition_writer import PartitionWriter
from streams.ingest.slices import Slices
from streams.ingest.turn_processor import Delivery, ProcessorContext, TurnProcessor
from streams.ingest.verbs.deciding import HandlerContext
from tests.support.clocks import NOON
from tests.support.fakes import MemoryLog, SentRecords, arrival, no_id
from tests.support.logs import fold
from tests.support.window_timers import CHANGES, timer_of

PARTITIONS = 1
HERE = partition_of("ada", PARTITIONS)


class Words:
    """An extractor that finds every word."""

    version = "words"

    def of_turn(self, text: str, *, speaker: str, at: int) -> Extraction:
        result = dict.fromkeys(text.split())
        return Extraction(tuple(Concept(word, word, 0.5, 1) for word in result), False, len(result))

    def of_query(self, text: str, at: int | None = None) -> Extraction:
        return self.of_turn(text, speaker="", at=0)


class House:
    """A partition at work, with everything around it in memory.  `now` is the present, ms."""

    def __init__(
        self, batch: int = 64, preset: str = "mofox", now: int = NOON + 1000 * DAY, memory: int = 1 << 28
    ) -> None:
        self.now = now
        self.log, self.turns, self.sent = MemoryLog(PARTITIONS), MemoryLog(PARTITIONS), SentRecords()
        self.state = Partition(MemoryStore(), memory)
        self.writer = PartitionWriter(HERE, self.state, self.log, partitions=PARTITIONS, worker="me", timeout=60.0)
        self.timer = timer_of(self.writer, self.log, self.sent)
        handling = HandlerContext(
            gate=GATES.__getitem__,
            partitions=PARTITIONS,
            extractor=Words(),
            skew_ms=0,
            preset=preset,
            now=lambda: self.now,
        )
        processing = ProcessorContext(
            sender=self.sent.sender(),
            turns=self.turns,
            turns_topic="emgas.turns",
            topic_id=no_id,
            batch_turns=batch,
            queued_turns=10_000,
            hold=lambda partition, is_full: None,
            slices=Slices(time.perf_counter),
        )
        self.processor = TurnProcessor(
            writer=self.writer,
            timer=self.timer,
            handler=CommandHandler(self.state, HERE, handling),
            context=processing,
        )

    async def hears(self, *messages: dict[str, Any]) -> None:
        """Take these from the queue, as many at once as a batch may hold, and account for all of them."""
        if self.state.position.epoch < 0:
            await self.writer.claim()
            await self.timer.catch_up()
        for message in messages:
            value, key = json.dumps(message).encode(), message["graph"].encode()
            came = arrival(value, self.turns.put(value, key), key, self.now)
            self.processor.put(Delivery(came, lambda: None))
        working = asyncio.create_task(self.processor.run())
        folded = asyncio.create_task(self.writer.until_source(len(self.turns.records[HERE]) - 1))
        await asyncio.wait([working, folded], return_when=asyncio.FIRST_COMPLETED)
        async with self.processor.working:
            working.cancel()
        folded.cancel()
        ended = await asyncio.gather(working, folded, return_exceptions=True)
        for error in ended:
            if isinstance(error, Exception):
                raise error

    def events(self, graph: str = "ada") -> list[DataEvent]:
        decoded = [decode(value) for _, value in self.log.values(HERE)]
        return [event for event in decoded if isinstance(event, GraphEvent) and event.graph == graph]

    def story(self, graph: str = "ada") -> list[str]:
        """Return what happened in a graph, in short."""
        return [_short(event) for event in self.events(graph)]

    def graph(self, name: str = "ada") -> Graph:
        graph = self.state.graph(name)
        assert graph is not None
        return graph


def _short(event: Any) -> str:
    if isinstance(event, TurnRecorded):
        return event.id
    return {
        GraphConfigured: "configured",
        MemoryArchived: "decay",
        ConsolidationWindowClosed: "consolidation",
        Ticked: "tick",
    }.get(type(event), "other")


def a_turn(name: str, at: int, text: str = "coffee tea", graph: str = "ada") -> dict[str, Any]:
    return {"id": name, "graph": graph, "speaker": "Ada", "text": text, "at": at}


def configured(name: str = "c1", **settings: Any) -> dict[str, Any]:
    return {"kind": "configure", "id": name, "graph": "ada", "settings": {"least_turns": 1, **settings}}


ALL_BATCHES = pytest.mark.parametrize("batch", [1, 2, 64])


@ALL_BATCHES
async def test_windows_that_end_before_a_turn_are_closed_before_it_in_order(batch: int) -> None:
    house = House(batch)
    talk = [a_turn("t0", NOON), a_turn("t1", NOON + MINUTE), a_turn("t2", NOON + DAY), a_turn("t3", NOON + 900 * DAY)]
    await house.hears(configured(), *talk)
    answers = ["configured", "t0", "t1", "consolidation", "t2", "consolidation", "decay", "t3"]
    assert house.story() == answers
    windows = [event for event in house.events() if isinstance(event, WindowEvent)]
    ends = [event.at for event in windows]
    assert ends == sorted(ends)
    assert ends[:2] == [NOON + MINUTE + 30 * MINUTE, NOON + DAY + 30 * MINUTE]
    assert [each.value for each in house.sent.to(CHANGES)] == [
        value for _, value in house.log.values(HERE) if isinstance(decode(value), WindowEvent)
    ]
    assert house.state.digest() == fold(house.log.values(HERE)).digest()


@ALL_BATCHES
async def test_a_graph_lives_by_the_preset_of_its_birth_within_the_same_batch_already(batch: int) -> None:
    """Of two sets of windows, only those of the birth end here: an hour each, and not seven days."""
    house = House(batch, preset="mofox")
    start = NOON - NOON % HOUR
    talk = [a_turn(f"t{n}", start + n * 3 * MINUTE) for n in range(20)]
    await house.hears(*talk, a_turn("late", start + 70 * MINUTE))
    assert house.story() == ["configured", *(f"t{n}" for n in range(20)), "consolidation", "late"]


@ALL_BATCHES
async def test_a_graph_that_is_configured_lives_so_from_the_next_turn_on(batch: int) -> None:
    house = House(batch, preset="default")
    talk = [a_turn("t0", NOON), configured(idle=MINUTE, grace=0), a_turn("t1", NOON + 2 * MINUTE)]
    await house.hears(*talk)
    assert house.story() == ["configured", "t0", "configured", "consolidation", "t1"]
    assert house.graph().settings.idle == MINUTE


@ALL_BATCHES
async def test_a_late_turn_closes_nothing_again_and_turns_no_time_back(batch: int) -> None:
    house = House(batch)
    await house.hears(configured(), a_turn("t0", NOON), a_turn("t1", NOON + DAY), a_turn("late", NOON + MINUTE))
    assert house.story() == ["configured", "t0", "consolidation", "t1", "late"]
    assert house.graph().clock == NOON + DAY


@pytest.mark.parametrize("seed", range(4))
async def test_the_size_of_a_batch_does_not_show_over_months(seed: int) -> None:
    digests, windows = [], []
    for batch in (1, 3, 64, 1000):
        house = House(batch)
        await house.hears(*months(seed))
        digests.append(house.state.digests())
        windows.append([house.story(name) for name in ("ada", "bob", "eve")])
        assert house.state.digest() == fold(house.log.values(HERE)).digest()
    assert windows[1:] == windows[:1] * 3
    assert digests[1:] == digests[:1] * 3
    assert {"decay", "consolidation"} <= set(windows[0][0])


@pytest.mark.parametrize("seed", range(3))
async def test_how_graphs_take_turns_does_not_show(seed: int) -> None:
    seeded, answer = random.Random(seed), months(seed)
    by_graph = {name: [each for each in answer if each["graph"] == name] for name in ("ada", "bob", "eve")}
    digests, windows = [], []
    for _ in range(3):
        order = seeded.sample([each["graph"] for each in answer], len(answer))
        queues = {name: iter(messages) for name, messages in by_graph.items()}
        house = House(batch=seeded.choice([1, 7, 64]))
        await house.hears(*(next(queues[name]) for name in order))
        digests.append(house.state.digests())
        windows.append([house.story(name) for name in by_graph])
    alone = House()
    await alone.hears(*by_graph["ada"])
    assert digests[1:] == digests[:1] * 2
    assert windows[1:] == windows[:1] * 2
    assert alone.graph("ada").digest() == digests[0]["ada"], "nor whether there are others at all"


def months(seed: int) -> list[dict[str, Any]]:
    """Return what three people say in some months, some of it late, and how one wants to be remembered meanwhile."""
    seeded, at, answer = random.Random(seed), NOON, list[dict[str, Any]]()
    for number in range(300):
        at += seeded.choice([MINUTE, MINUTE, MINUTE, 10 * MINUTE, 20 * MINUTE, HOUR, 3 * HOUR, DAY, 4 * DAY, -DAY])
        text = " ".join(f"word{seeded.randrange(40)}" for _ in range(4))
        answer.append(a_turn(f"t{number}", at, text, seeded.choice(["ada", "ada", "ada", "bob", "eve"])))
        if number % 60 == 40:
            answer.append(
                configured(f"c{number}", half_life=seeded.choice([DAY, 9 * DAY]), grace=seeded.choice([0, DAY]))
            )
        if number % 70 == 50:
            answer.append({"kind": "forget", "id": f"f{number}", "graph": "ada", "concepts": ["word1", "word2"]})
        if number % 50 == 30:
            answer.append(answer[-1])  # delivered twice
    return answer


# ticks


async def live_house(**more: Any) -> House:
    house = House(now=NOON)
    await house.hears(configured(**more), a_turn("t0", NOON - MINUTE), a_turn("t1", NOON))
    return house


async def test_a_silent_live_graph_is_told_the_time_once_a_window_has_ended() -> None:
    house = await live_house()
    alarm = next_alarm(house.graph())
    assert alarm == NOON + 35 * MINUTE, "half an hour of silence, and five minutes of grace"
    await house.timer.tick(alarm - 1)
    assert house.story() == ["configured", "t0", "t1"]
    await house.timer.tick(alarm)
    assert house.story() == ["configured", "t0", "t1", "consolidation"]
    assert house.graph().clock == alarm, "what ended by the clock is closed: the event says so"
    for later in range(10):
        await house.timer.tick(alarm + later * 10_000)
    assert len(house.story()) == 4, "the next window is far away"
    assert next_alarm(house.graph()) > alarm + DAY // 2
    assert len(house.sent.to(CHANGES)) == 1


async def test_in_the_long_run_ticks_forget_what_a_late_turn_would_have_had_forgotten() -> None:
    ticked, silent = await live_house(), await live_house()
    for days in range(0, 400, 3):
        await ticked.timer.tick(NOON + days * DAY + 7)
    ticked.now = silent.now = NOON + 400 * DAY
    for house in (ticked, silent):
        await house.hears(a_turn("t2", NOON + 400 * DAY))
    windows = [[event for event in house.events() if isinstance(event, WindowEvent)] for house in (ticked, silent)]
    facts = [[(_short(event), event.at) for event in each] for each in windows]
    assert facts[0] == facts[1]
    assert "decay" in ticked.story()
    assert "tick" not in ticked.story(), "a time at which nothing was to be done is not worth an event"
    assert [house.graph().digest() for house in (ticked, silent)][1:] == [ticked.graph().digest()]


async def test_an_imported_graph_is_not_told_the_time() -> None:
    house = House(now=NOON + 100 * DAY)
    await house.hears(configured(), a_turn("t0", NOON))
    await house.timer.tick(NOON + 900 * DAY)
    assert house.story() == ["configured", "t0"]


async def test_a_graph_that_is_imported_into_again_is_not_told_the_time_any_more() -> None:
    house = await live_house()
    house.now = NOON + DAY
    await house.hears(a_turn("old", NOON - 50 * DAY))
    answer = house.story()
    await house.timer.tick(NOON + 900 * DAY)
    assert house.story() == answer


async def test_a_new_owner_tells_the_time_to_graphs_that_it_has_not_heard_of_since() -> None:
    house = await live_house()
    successor = timer_of(house.writer, house.log, house.sent)
    await successor.tick(NOON + HOUR)
    assert house.story()[-1] == "consolidation"


async def test_a_large_partition_is_looked_at_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_timer, "LOOKED_AT", 2)
    house = House(now=NOON)
    names = [f"g{n}" for n in range(5)]
    await house.hears(*(a_turn(f"t{n}", NOON, graph=name) for name in names for n in range(12)))
    successor = timer_of(house.writer, house.log, house.sent)
    silent = []
    for _ in range(3):
        await successor.tick(NOON + 3 * HOUR)
        silent.append(sum("consolidation" in house.story(name) for name in names))
    assert silent == [2, 4, 5]


async def test_a_change_of_configuration_moves_the_alarm() -> None:
    house = await live_house()
    await house.hears(configured("c2", idle=MINUTE, grace=0))
    await house.timer.tick(NOON + MINUTE)
    assert house.story()[-2:] == ["configured", "consolidation"]


async def test_a_tick_that_waited_for_a_turn_has_nothing_left_to_tell() -> None:
    """The alarm is judged again once the lock is held: the turn before it has closed the window."""
    house = await live_house()
    async with house.timer.lock:
        ticking = asyncio.create_task(house.timer.tick(NOON + HOUR))
        await asyncio.sleep(0)
        await house.timer.close_due("ada", NOON + HOUR)
    await ticking
    assert house.story()[-2:] == ["t1", "consolidation"]


async def test_what_ended_by_the_clock_of_a_graph_is_closed_whatever_the_time() -> None:
    house = await live_house()
    house.now = NOON + DAY + HOUR
    talk = [a_turn("t2", NOON + DAY), a_turn("t3", NOON + DAY + 10 * MINUTE)]
    await house.hears(*talk, configured("c2", grace=0, consolidate_every=MINUTE))
    assert house.story()[-1] == "configured"
    async with house.timer.lock:
        await house.timer.close_due("ada", NOON)
    assert house.story()[-1] == "consolidation"
    assert next_due(house.graph(), house.graph().clock) is None


async def test_a_graph_that_is_let_go_of_while_its_windows_close_goes_on_with_what_was_folded() -> None:
    roomy, narrow = House(), House(memory=1)
    for house in (roomy, narrow):
        for graph in ("ada", "bob"):
            await house.hears(*(a_turn(f"{graph}{n}", NOON + n, graph=graph) for n in range(12)))
        house.log.before = partial(house.graph, "bob")  # somebody asks about the other graph, which takes the place
        async with house.timer.lock:
            await house.timer.close_due("ada", NOON + 900 * DAY)
    assert narrow.story()[-2:] == ["consolidation", "decay"]
    assert narrow.story() == roomy.story()
    assert narrow.graph().digest() == roomy.graph().digest()


async def test_others_are_let_in_while_a_window_is_decided() -> None:
    """A slice of no length lets others in at every step: so many steps there are, and so often they come."""
    house = House(now=NOON)
    house.writer.slices.seconds = 0
    await house.hears(*(a_turn(f"t{n}", NOON + n * MINUTE, f"tea{n // 2} cake{n // 3} {n}") for n in range(200)))
    passed = [0]

    async def others() -> None:
        while True:
            passed.append(house.state.position.watermark)
            await asyncio.sleep(0)

    beside = asyncio.create_task(others())
    before = house.state.position.watermark
    await house.timer.tick(NOON + 8 * HOUR)
    beside.cancel()
    assert house.story()[-1] == "consolidation"
    assert passed.count(before) > 200, "before anything of the window is folded"


async def test_an_unknown_graph_has_no_windows() -> None:
    house = await live_house()
    async with house.timer.lock:
        await house.timer.close_due("nobody", NOON)
        house.timer.look_at("nobody")
    assert house.state.graph("nobody") is None


@pytest.mark.parametrize("kind", ["decay", "consolidation"])
async def test_a_window_that_stays_due_halts_the_worker(monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    house = await live_house()
    monkeypatch.setattr(windows, "next_due", lambda graph, now: DueWindow(kind, NOON))
    house.now = NOON + DAY  # a turn of now may end a window: else nobody asks
    with pytest.raises(WindowStuckError, match="is due again after it was closed"):
        await house.hears(a_turn("t2", NOON + DAY))
    assert house.story().count(kind) <= 1


# changes


async def test_changes_of_the_owner_before_are_sent_before_any_of_ours() -> None:
    house = await live_house()
    await house.timer.tick(NOON + HOUR)
    (earlier,) = house.sent.to(CHANGES)
    house.sent.all.clear()
    successor = timer_of(house.writer, house.log, house.sent)
    async with successor.lock:
        await successor.catch_up()  # nobody waits for the lock: a log may be long
    assert house.sent.to(CHANGES) == [earlier]
