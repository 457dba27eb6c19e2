"""From a partition's queue to its fold: each record accounted for once, in order, before it is acked or answered."""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from emgas.errors import TransportError
from emgas.times import HOUR_MS
from emgas.wire import partition_of
from lab.catalogue import GATES
from processors.extraction.extractor import Extraction, Utterance
from processors.lifecycle import windows
from processors.lifecycle.windows import DueWindow
from processors.recall.ranking.dense import Embedder, Vectors
from state.errors import StoreCorruptError
from state.events.events import (
    ConsolidationWindowClosed,
    DataEvent,
    GraphConfigured,
    MemoryArchived,
    TurnRecorded,
    TurnRejected,
    TurnsLost,
    decode,
)
from state.events.extraction_types import Concept
from state.graph.graph import Graph
from state.partition import Partition
from state.store.store import MemoryStore
from streams.errors import SourceChangedError
from streams.ingest import turn_processor
from streams.ingest.command_handler import CommandHandler
from streams.ingest.partition_writer import AppendFailedError, PartitionWriter
from streams.ingest.slices import Slices
from streams.ingest.turn_processor import BURST, Delivery, ForecastCache, ProcessorContext, TurnProcessor
from streams.ingest.verbs.deciding import HandlerContext
from tests.support.builders import UNLINKED
from tests.support.clocks import DAY, NOON, eventually
from tests.support.fakes import DEAD_LETTERS, REPLIES, MemoryLog, OneConcept, SentRecords, arrival
from tests.support.logged import capture_logs
from tests.support.window_timers import timer_of

PARTITIONS = 4
HERE = partition_of("ada", PARTITIONS)


class Bench:
    """A TurnProcessor with everything around it in memory.  `turns`: what the topic holds; `done`: offsets acked."""

    def __init__(
        self,
        queued: int = 100,
        *,
        is_behind: bool = False,
        embedder: Embedder | None = None,
        pool: Any = None,
        now: int = 2_000,
        extractor: OneConcept | None = None,
    ) -> None:
        self.log = MemoryLog(PARTITIONS)
        self.turns = MemoryLog(PARTITIONS)
        self.sent = SentRecords()
        self.id_of_turns: str | None = None
        self.done: list[int] = []
        self.holds: list[tuple[int, bool]] = []
        self.state = Partition(MemoryStore())
        self.writer = PartitionWriter(HERE, self.state, self.log, partitions=PARTITIONS, worker="me", timeout=60.0)
        handling = HandlerContext(
            gate=GATES.__getitem__,
            partitions=PARTITIONS,
            extractor=extractor or OneConcept(),
            embedder=embedder,
            skew_ms=0,
            preset="default",
            now=lambda: now,
        )
        self.timer = timer_of(self.writer, self.log, self.sent)
        processing = ProcessorContext(
            sender=self.sent.sender(),
            turns=self.turns,
            turns_topic="emgas.turns",
            topic_id=self.topic_id,
            batch_turns=8,
            queued_turns=queued,
            hold=lambda partition, is_full: self.holds.append((partition, is_full)),
            slices=Slices(time.perf_counter),
            pool=pool,
        )
        self.processor = TurnProcessor(
            writer=self.writer,
            timer=self.timer,
            handler=CommandHandler(self.state, HERE, handling),
            context=processing,
            is_behind=is_behind,
        )

    async def topic_id(self) -> str | None:
        return self.id_of_turns

    def arrives(self, value: bytes, offset: int | None = None, key: bytes = b"ada", **more: Any) -> Delivery:
        """Write a record to `turns` (unless it lies there), and deliver it."""
        if offset is None:
            offset = self.turns.put(value, key, HERE)
        return Delivery(arrival(value, offset, key, asks=True, **more), lambda: self.done.append(offset))

    async def put(self, *values: bytes) -> None:
        for value in values:
            self.processor.put(self.arrives(value))

    async def until_done(self, offset: int) -> None:
        await self.writer.until_source(offset)
        await eventually(lambda: offset in self.done)

    @property
    def ids(self) -> list[str]:
        graph = self.state.graph("ada")
        return list(graph.passages.ids) if graph else []


@asynccontextmanager
async def running(bench: Bench) -> AsyncIterator[asyncio.Task[None]]:
    await bench.writer.claim(source_topic=bench.id_of_turns or "")
    task = asyncio.create_task(bench.processor.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def a_turn(name: str = "t1", text: str = "The kettle broke.") -> bytes:
    return json.dumps({"id": name, "graph": "ada", "speaker": "Ada", "text": text}).encode()


class Threaded:
    """A model that notes in which thread it is called, and for how many texts."""

    name, version = "threaded", "1"

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append((threading.get_ident(), len(texts)))
        return np.ones((len(texts), 1), np.float32)


async def test_a_model_embeds_a_batch_at_once_and_the_loop_goes_on_meanwhile() -> None:
    model = Threaded()
    bench = Bench(embedder=model)
    await bench.put(*(a_turn(f"t{n}", f"Kettle {n} broke.") for n in range(8)))
    async with running(bench):
        await bench.until_done(7)
    assert [texts for _, texts in model.calls] == [8]
    assert threading.get_ident() not in {thread for thread, _ in model.calls}
    graph = bench.state.graph("ada")
    assert graph is not None
    (vectors,) = graph.view().embeddings.values()
    assert len(vectors.passage) == 8


async def test_turns_are_folded_in_order_then_acked_then_answered() -> None:
    bench = Bench()
    async with running(bench):
        await bench.put(*(a_turn(f"t{n}") for n in range(20)))
        await bench.until_done(19)
    assert bench.ids == [f"t{n}" for n in range(20)]
    assert bench.done == list(range(20))
    answers = [sent.message for sent in bench.sent.to(REPLIES)]
    assert [answer["turn"] for answer in answers] == bench.ids
    assert [answer["position"]["source"] for answer in answers] == list(range(20))
    assert all(answer["position"]["watermark"] >= answer["position"]["source"] for answer in answers)


async def test_a_bad_turn_is_a_dead_letter_before_its_event_is_in_the_log() -> None:
    bench = Bench()
    letters_at_append: list[int] = []
    async with running(bench):
        bench.log.before = lambda: letters_at_append.append(len(bench.sent.to(DEAD_LETTERS)))
        await bench.put(a_turn("t1"), b"{", a_turn("t2"))
        await bench.until_done(2)
    assert letters_at_append == [1]
    events = [decode(value) for _, value in bench.log.values(HERE)][1:]
    assert [type(event) for event in events] == [GraphConfigured, TurnRecorded, TurnRejected, TurnRecorded]
    assert [sent.message["status"] for sent in bench.sent.to(REPLIES)] == ["accepted", "rejected", "accepted"]


async def test_a_dead_letter_that_cannot_be_kept_stops_the_processor_before_anything_is_written() -> None:
    bench = Bench()
    async with running(bench) as task:
        bench.sent.refusal = TransportError("the broker is gone")
        await bench.put(b"{")
        with pytest.raises(TransportError):
            await task
    assert bench.done == []
    assert len(bench.log.records[HERE]) == 1, "the claim"


async def test_an_append_that_fails_stops_the_processor_and_nothing_is_acked_or_answered() -> None:
    bench = Bench()
    async with running(bench) as task:
        bench.log.broken = ConnectionError("the broker is gone")
        await bench.put(a_turn())
        with pytest.raises(AppendFailedError):
            await task
    assert (bench.done, bench.sent.all) == ([], [])


async def test_an_answer_that_cannot_be_sent_stops_nothing() -> None:
    bench = Bench()
    async with running(bench) as task:
        bench.sent.refusal = TransportError("too large")
        await bench.put(a_turn("t1"), a_turn("t2"))
        await bench.until_done(1)
        assert not task.done()


async def test_what_is_delivered_again_is_acked_and_has_no_second_event() -> None:
    bench = Bench()
    async with running(bench):
        await bench.put(a_turn("t1"), a_turn("t2"))
        await bench.until_done(1)
        for offset, name in enumerate(("t1", "t2")):
            bench.processor.put(bench.arrives(a_turn(name), offset))
        await bench.put(a_turn("t3"))
        await bench.until_done(2)
    assert bench.done == [0, 1, 0, 1, 2]
    assert bench.ids == ["t1", "t2", "t3"]
    assert len(bench.log.records[HERE]) == 5, "the claim, the birth and three turns"


async def test_turns_that_were_not_delivered_are_read_from_the_log() -> None:
    bench = Bench()
    for number in range(20):
        bench.turns.put(a_turn(f"skipped-{number}"), b"ada", HERE)
    async with running(bench):
        bench.processor.put(bench.arrives(a_turn("t1"), 20))
        await bench.until_done(20)
    assert (bench.ids, bench.done) == ([*(f"skipped-{number}" for number in range(20)), "t1"], [20])


async def test_a_processor_of_a_partition_that_had_halted_reads_what_came_to_nobody() -> None:
    bench = Bench(is_behind=True)
    for number in range(3):
        bench.turns.put(a_turn(f"t{number}"), b"ada", HERE)
    async with running(bench):
        await eventually(lambda: bench.state.position.source == 2)
    assert bench.ids == ["t0", "t1", "t2"]


async def test_turns_that_expired_unread_are_told_and_recorded_as_lost() -> None:
    bench = Bench()
    for number in range(5):
        bench.turns.put(a_turn(f"t{number}"), b"ada", HERE)
    del bench.turns.records[HERE][:3]
    with capture_logs() as logs:
        async with running(bench):
            bench.processor.put(bench.arrives(a_turn("t9"), 5))
            await bench.until_done(5)
    lost = [
        event for event in map(decode, (value for _, value in bench.log.values(HERE))) if isinstance(event, TurnsLost)
    ]
    assert [(event.src, event.first, event.last) for event in lost] == [(2, 0, 2)]
    assert (bench.ids, bench.state.position.source) == (["t3", "t4", "t9"], 5)
    answers = [each for each in logs if each["event"] == "turns lost"]
    assert [(each["log_level"], each["first"], each["last"], each["count"]) for each in answers] == [("error", 0, 2, 3)]


async def test_turns_of_another_topic_are_not_told_to_be_lost_of_the_one_that_was_claimed() -> None:
    """`turns` was made anew, and what lay in it has expired, between two looks of a worker."""
    bench = Bench()
    bench.id_of_turns = "first"
    for number in range(5):
        bench.turns.put(a_turn(f"t{number}"), b"ada", HERE)
    del bench.turns.records[HERE][:3]
    async with running(bench) as task:
        bench.id_of_turns = "second"
        bench.processor.put(bench.arrives(a_turn("t9"), 5))
        with pytest.raises(SourceChangedError):
            await task
    assert not [value for _, value in bench.log.values(HERE) if isinstance(decode(value), TurnsLost)]


async def test_a_hole_in_the_offsets_is_passed_over() -> None:
    """Transaction markers, or a batch that a broker dropped: no record ever lay there."""
    bench = Bench()
    for number in range(6):
        bench.turns.put(a_turn(f"t{number}"), b"ada", HERE)
    del bench.turns.records[HERE][1:5]
    async with running(bench):
        bench.processor.put(bench.arrives(a_turn("t5"), 5))
        await bench.until_done(5)
    assert (bench.ids, bench.state.position.source) == (["t0", "t5"], 5)


async def test_where_turns_ends_before_what_came_of_it_there_is_no_hole_but_another_topic() -> None:
    """Found by the simulation: `turns` was made anew between a fetch and a look at what it had left out."""
    bench = Bench()
    bench.turns.put(a_turn("t0"), b"ada", HERE)
    async with running(bench) as task:
        bench.processor.put(bench.arrives(a_turn("t5"), 5))
        with pytest.raises(SourceChangedError):
            await task
    assert bench.state.position.source == 0, "nothing is passed over that lay in the topic that is gone"


async def test_nothing_is_half_done_once_it_is_settled() -> None:
    bench = Bench()
    async with running(bench) as task:
        await bench.put(*(a_turn(f"t{n}") for n in range(20)))
        await eventually(lambda: bench.done)
        async with bench.processor.working:
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert bench.done == list(range(bench.state.position.source + 1))
        assert len(bench.sent.to(REPLIES)) == len(bench.done)


async def test_a_partition_with_enough_turns_in_its_queue_is_held_until_half_of_them_are_taken() -> None:
    bench = Bench(queued=16)
    for number in range(20):
        await bench.put(a_turn(f"t{number}"))
    assert bench.holds == [(HERE, True)], "what was fetched already is taken, and nobody waits"
    async with running(bench):
        await bench.until_done(19)
    assert bench.holds == [(HERE, True), (HERE, False)]
    assert bench.ids == [f"t{number}" for number in range(20)]


async def test_a_partition_whose_queue_is_large_in_bytes_is_held_though_few_records_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turn_processor, "QUEUED_BYTES", 1000)
    bench = Bench(queued=100)
    await bench.put(b"x" * 400, b"y" * 400)
    assert bench.holds == []
    await bench.put(a_turn("t2"), b"z" * 400)
    assert bench.holds == [(HERE, True)]
    async with running(bench):
        await bench.until_done(3)
    assert bench.holds == [(HERE, True), (HERE, False)]
    assert bench.ids == ["t2"]


async def test_a_partition_that_is_given_up_while_it_is_held_is_fetched_again() -> None:
    """Found by the simulation: who took it up again had an empty queue, and waited for turns for ever."""
    bench = Bench(queued=2)
    await bench.put(*(a_turn(f"t{number}") for number in range(3)))
    bench.processor.drop()
    assert bench.holds == [(HERE, True), (HERE, False)]


async def test_what_waits_in_a_partition_that_is_taken_away_is_read_again_by_the_next_owner() -> None:
    bench = Bench(queued=1)
    await bench.put(a_turn("t1"), a_turn("t2"))
    bench.processor.drop()
    async with running(bench):
        bench.processor.put(bench.arrives(a_turn("t1"), 0))
        await bench.until_done(0)
    assert (bench.ids, bench.done) == (["t1"], [0])


async def test_a_topic_for_answers_that_is_gone_holds_up_no_turn() -> None:
    """A producer waits for a topic that is not there, for a minute and longer."""
    bench = Bench()
    bench.sent.silent = True
    async with running(bench):
        await bench.put(*(a_turn(f"t{number}") for number in range(20)))
        await bench.until_done(19)
    assert bench.sent.all == []


# what was under way when a partition failed


async def failing(value: bytes, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Fail over a turn that is in the log: the store shows itself damaged as it is folded."""
    bench = Bench()

    def damaged() -> None:
        raise StoreCorruptError("a block is damaged")

    async with running(bench) as task:
        await bench.put(a_turn("t0"))
        await bench.until_done(0)
        monkeypatch.setattr(bench.state, "flush", damaged)
        await bench.put(value)
        with pytest.raises(StoreCorruptError):
            await task
    assert [sent.message["turn"] for sent in bench.sent.to(REPLIES)] == ["t0"]
    return bench


def taking_up(failed: Bench) -> Bench:
    """Make what takes a partition up again: its store is empty, the log is the same."""
    bench = Bench()
    bench.log.records, bench.turns.records = failed.log.records, failed.turns.records
    return bench


@pytest.mark.parametrize(("value", "outcome"), [(a_turn("t1"), ("t1", "accepted")), (b"{", (None, "rejected"))])
async def test_what_became_of_a_turn_over_which_its_partition_failed_is_told_once_it_goes_on(
    value: bytes, outcome: tuple[str | None, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by the simulation (seed 51906): it is accounted for, so it is not read again, and nobody told."""
    failed = await failing(value, monkeypatch)
    bench = taking_up(failed)
    async with running(bench):
        bench.processor.take_over(failed.processor)
        await eventually(lambda: bench.sent.to(REPLIES))
    assert [(sent.message["turn"], sent.message["status"]) for sent in bench.sent.to(REPLIES)] == [outcome]
    assert bench.state.position.source == 1


async def test_a_turn_that_never_came_into_the_log_is_read_again_and_told_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = await failing(a_turn("t1"), monkeypatch)
    failed.log.records[HERE].pop()
    bench = taking_up(failed)
    async with running(bench):
        bench.processor.take_over(failed.processor)
        bench.processor.put(bench.arrives(a_turn("t1"), 1))
        await bench.until_done(1)
    assert [sent.message["turn"] for sent in bench.sent.to(REPLIES)] == ["t1"]
    assert (bench.ids, bench.state.position.source) == (["t0", "t1"], 1)


async def test_a_turn_of_which_another_owner_told_meanwhile_is_not_told_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = await failing(a_turn("t1"), monkeypatch)
    between = taking_up(failed)
    await between.writer.claim()
    bench = taking_up(failed)
    async with running(bench):
        bench.processor.take_over(failed.processor)
        await bench.put(a_turn("t2"))
        await eventually(lambda: bench.sent.to(REPLIES))
    assert [sent.message["turn"] for sent in bench.sent.to(REPLIES)] == ["t2"]


# windows


def turn_at(number: int, at: int) -> bytes:
    return json.dumps(
        {"id": f"t{number}", "graph": "ada", "speaker": "Ada", "text": f"Word {number}.", "at": at}
    ).encode()


class LastWord(OneConcept):
    """Finds the last word of every text."""

    def of_turn(self, text: str, *, speaker: str, at: int) -> Extraction:
        word = text.rpartition(" ")[2].rstrip(".")
        return Extraction((Concept(word, word, 0.1, 1),), question=False, tokens=2)


async def test_windows_are_foretold_once_for_all_batches_of_turns_that_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    request: list[int] = []
    bench = Bench(now=NOON + DAY)

    def next_due(graph: Graph, now: int) -> DueWindow | None:
        request.append(now)
        return windows.next_due(graph, now)

    monkeypatch.setattr(turn_processor, "next_due", next_due)
    await bench.put(*(turn_at(number, NOON + number) for number in range(40)))
    async with running(bench):
        await bench.until_done(39)
        assert request == [NOON + 8], "once after the batch in which the graph was born"
        await bench.put(json.dumps({"kind": "pin", "id": "p", "graph": "ada", "turns": ["t1"]}).encode())
        await bench.until_done(40)
        await bench.put(turn_at(41, NOON + 41))
        await bench.until_done(41)
    assert request == [NOON + 8, NOON + 41], "and anew after an event that is no turn"


def happened(seeded: random.Random) -> list[bytes]:
    """Make up turns of some months, late ones among them, with requests between them."""
    result, at = list[bytes](), NOON
    for number in range(150):
        at += seeded.choice([0, HOUR_MS, HOUR_MS, DAY, DAY, 9 * DAY])
        result.append(turn_at(number, at - seeded.choice([0, 0, 0, DAY, 30 * DAY])))
        if seeded.random() < 0.1:
            request = seeded.choice(
                [
                    {"kind": "configure", "settings": {"decay_every": seeded.choice([DAY, 7 * DAY]), "least_turns": 3}},
                    {"kind": "forget", "turns": [f"t{number // 2}"]},
                    {"kind": "pin", "turns": [f"t{number}"]},
                    {"kind": "undo", "first": number},
                ]
            )
            result.append(json.dumps({"id": f"r{number}", "graph": "ada", **request}).encode())
    return result


async def recorded(values: Sequence[bytes]) -> list[DataEvent]:
    """Have these accounted for, and list the events without their links."""
    bench = Bench(queued=1000, now=NOON + 2000 * DAY, extractor=LastWord())
    await bench.put(*values)
    async with running(bench):
        await bench.until_done(len(values) - 1)
    events = [decode(record.value) for record in bench.log.records[HERE]]
    return [structs.replace(event, **UNLINKED) for event in events if isinstance(event, DataEvent)]


@pytest.mark.parametrize("seed", range(5))
async def test_the_same_windows_close_whether_forecasts_are_kept_or_made_for_every_batch(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = happened(random.Random(seed))
    kept = await recorded(values)
    assert {MemoryArchived, ConsolidationWindowClosed} <= {type(event) for event in kept}
    monkeypatch.setattr(ForecastCache, "take", lambda *_: None)
    assert await recorded(values) == kept


# what is found ahead


class Ahead:
    """Finds concepts ahead, as a pool does, and notes what it was asked."""

    def __init__(self) -> None:
        self.started = 0
        self.sizes: list[int] = []

    def start(self) -> None:
        self.started += 1

    @property
    def is_ready(self) -> bool:
        return self.started > 0

    async def extract(self, utterances: Sequence[Utterance]) -> dict[Utterance, Extraction]:
        self.sizes.append(len(utterances))
        await asyncio.sleep(0)
        return {each: OneConcept().of_turn(each.text, speaker=each.speaker, at=each.at) for each in utterances[::2]}


async def test_a_burst_has_concepts_found_ahead_and_every_turn_is_accounted_for_once_and_in_order() -> None:
    ahead = Ahead()
    bench = Bench(queued=1000, pool=ahead)
    await bench.put(*(a_turn(f"t{number}") for number in range(BURST - 1)))
    assert ahead.started == 0, "no burst yet"
    await bench.put(*(a_turn(f"t{number}") for number in range(BURST - 1, 300)))
    async with running(bench):
        await eventually(lambda: len(bench.done) == 300)
    assert bench.done == list(range(300))
    assert bench.ids == [f"t{n}" for n in range(300)]
    assert sum(ahead.sizes) > 250
    assert max(ahead.sizes) <= 8, "a batch at a time"


NEIGHBOURS = [name for name in map(str, range(20)) if partition_of(name, PARTITIONS) == HERE][:4]


def moves(graph: str, phase: str, **fields: Any) -> bytes:
    request = {"kind": "move", "id": phase, "graph": graph, "to": "x", "phase": phase, "hop": 1}
    return json.dumps({**request, **fields}).encode()


def said_to(graph: str, name: str) -> bytes:
    return json.dumps({"id": name, "graph": graph, "speaker": "Ada", "text": "The kettle broke."}).encode()


async def test_messages_that_move_several_graphs_are_appended_together() -> None:
    bench, appends = Bench(), list[int]()
    async with running(bench):
        for name in NEIGHBOURS:
            bench.processor.put(bench.arrives(said_to(name, "t1"), key=name.encode()))
        await bench.until_done(len(NEIGHBOURS) - 1)
        bench.log.before = lambda: appends.append(len(bench.log.values(HERE)))
        for name in NEIGHBOURS:
            bench.processor.put(bench.arrives(moves(name, "begin"), key=name.encode()))
        await bench.until_done(2 * len(NEIGHBOURS) - 1)
    assert len(appends) == 1
    placements = [bench.state.placement(name) for name in NEIGHBOURS]
    assert [placement and placement.status for placement in placements] == ["leaving"] * len(NEIGHBOURS)


async def test_a_turn_right_behind_the_message_that_fences_its_graph_is_rejected_and_no_other_graph_notices() -> None:
    bench, (first, other, *_) = Bench(), NEIGHBOURS
    messages = [(first, said_to(first, "t1")), (other, said_to(other, "t1")), (first, moves(first, "begin")),
                (other, said_to(other, "t2")), (first, said_to(first, "t2")), (first, moves(first, "cancel")),
                (first, said_to(first, "t3"))]  # fmt: skip
    async with running(bench):
        for name, message in messages:
            bench.processor.put(bench.arrives(message, key=name.encode()))
        await bench.until_done(len(messages) - 1)
    statuses = [sent.message["status"] for sent in bench.sent.to(REPLIES)]
    assert statuses == ["accepted"] * 4 + ["rejected"] + ["accepted"] * 2
    assert [sent.message.get("again", False) for sent in bench.sent.to(REPLIES)] == [
        status == "rejected" for status in statuses
    ]
    graph, beside = bench.state.graph(first), bench.state.graph(other)
    assert graph is not None
    assert beside is not None
    assert (list(graph.passages.ids), list(beside.passages.ids)) == (["t1", "t3"], ["t1", "t2"])
