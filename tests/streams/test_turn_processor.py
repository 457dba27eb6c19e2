"""From a partition's queue to its fold: each record accounted for once, in order, before it is acked or answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from emgas.errors import TransportError
from emgas.wire import partition_of
from state.events.events import GraphConfigured, TurnRecorded, TurnRejected, decode
from state.partition import Partition
from state.store.store import MemoryStore
from streams.errors import AppendFailedError, TurnsSkippedError
from streams.ingest.command_handler import CommandHandler
from streams.ingest.partition_writer import PartitionWriter
from streams.ingest.turn_processor import Delivery, TurnProcessor
from tests.support.command_handlers import OneConcept
from tests.support.fakes import DEAD_LETTERS, REPLIES, SentRecords, arrival
from tests.support.logs import MemoryLog
from tests.support.pipeline import eventually
from tests.support.window_timers import keeper_of

PARTITIONS = 4
HERE = partition_of("ada", PARTITIONS)


class Desk:
    """A TurnProcessor with everything around it in memory.  `turns`: what the topic holds; `done`: offsets acked."""

    def __init__(self, queued: int = 100) -> None:
        self.log = MemoryLog(PARTITIONS)
        self.turns = MemoryLog(PARTITIONS)
        self.sent = SentRecords()
        self.done: list[int] = []
        self.state = Partition(MemoryStore())
        self.owner = PartitionWriter(HERE, PARTITIONS, self.state, self.log, "me", 60.0)
        judge = CommandHandler(self.state, HERE, PARTITIONS, OneConcept(), 0, "default", lambda: 2_000)
        self.keeper = keeper_of(self.owner, self.log, self.sent)
        self.loop = TurnProcessor(
            self.owner, self.keeper, judge, self.sent.sender(), self.turns, "emgas.turns", 8, queued
        )

    def arrives(self, value: bytes, offset: int | None = None, **more: Any) -> Delivery:
        """Write a record to `turns` (unless it lies there), and deliver it."""
        if offset is None:
            offset = self.turns.put(value, b"ada", HERE)
        return Delivery(arrival(value, offset, asks=True, **more), lambda: self.done.append(offset))

    async def put(self, *values: bytes) -> None:
        for value in values:
            await self.loop.put(self.arrives(value))

    async def until_done(self, offset: int) -> None:
        await self.owner.until_source(offset)
        await eventually(lambda: offset in self.done)

    @property
    def ids(self) -> list[str]:
        graph = self.state.graph("ada")
        return list(graph.passages.ids) if graph else []


@asynccontextmanager
async def running(desk: Desk) -> AsyncIterator[asyncio.Task[None]]:
    await desk.owner.claim()
    task = asyncio.create_task(desk.loop.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def a_turn(name: str = "t1", text: str = "The kettle broke.") -> bytes:
    return json.dumps({"id": name, "graph": "ada", "speaker": "Ada", "text": text}).encode()


async def test_turns_are_folded_in_order_then_acked_then_answered() -> None:
    desk = Desk()
    async with running(desk):
        await desk.put(*(a_turn(f"t{n}") for n in range(20)))
        await desk.until_done(19)
    assert desk.ids == [f"t{n}" for n in range(20)]
    assert desk.done == list(range(20))
    answers = [sent.message for sent in desk.sent.to(REPLIES)]
    assert [answer["turn"] for answer in answers] == desk.ids
    assert [answer["position"]["source"] for answer in answers] == list(range(20))
    assert all(answer["position"]["watermark"] >= answer["position"]["source"] for answer in answers)


async def test_a_bad_turn_is_a_dead_letter_before_its_event_is_in_the_log() -> None:
    desk = Desk()
    letters_at_append: list[int] = []
    async with running(desk):
        desk.log.before = lambda: letters_at_append.append(len(desk.sent.to(DEAD_LETTERS)))
        await desk.put(a_turn("t1"), b"{", a_turn("t2"))
        await desk.until_done(2)
    assert letters_at_append == [1]
    events = [decode(value) for _, value in desk.log.values(HERE)][1:]
    assert [type(event) for event in events] == [GraphConfigured, TurnRecorded, TurnRejected, TurnRecorded]
    assert [sent.message["status"] for sent in desk.sent.to(REPLIES)] == ["accepted", "rejected", "accepted"]


async def test_a_dead_letter_that_cannot_be_kept_stops_the_loop_before_anything_is_written() -> None:
    desk = Desk()
    async with running(desk) as task:
        desk.sent.refusal = TransportError("the broker is gone")
        await desk.put(b"{")
        with pytest.raises(TransportError):
            await task
    assert desk.done == []
    assert len(desk.log.records[HERE]) == 1, "the claim"


async def test_an_append_that_fails_stops_the_loop_and_nothing_is_acked_or_answered() -> None:
    desk = Desk()
    async with running(desk) as task:
        desk.log.broken = ConnectionError("the broker is gone")
        await desk.put(a_turn())
        with pytest.raises(AppendFailedError):
            await task
    assert (desk.done, desk.sent.all) == ([], [])


async def test_an_answer_that_cannot_be_sent_stops_nothing() -> None:
    desk = Desk()
    async with running(desk) as task:
        desk.sent.refusal = TransportError("too large")
        await desk.put(a_turn("t1"), a_turn("t2"))
        await desk.until_done(1)
        assert not task.done()


async def test_what_is_delivered_again_is_acked_and_has_no_second_event() -> None:
    desk = Desk()
    async with running(desk):
        await desk.put(a_turn("t1"), a_turn("t2"))
        await desk.until_done(1)
        for offset, name in enumerate(("t1", "t2")):
            await desk.loop.put(desk.arrives(a_turn(name), offset))
        await desk.put(a_turn("t3"))
        await desk.until_done(2)
    assert desk.done == [0, 1, 0, 1, 2]
    assert desk.ids == ["t1", "t2", "t3"]
    assert len(desk.log.records[HERE]) == 5, "the claim, the birth and three turns"


async def test_a_turn_that_exists_and_was_not_delivered_stops_the_loop() -> None:
    desk = Desk()
    desk.turns.put(a_turn("skipped"), b"ada", HERE)
    async with running(desk) as task:
        await desk.put(a_turn("t1"))
        with pytest.raises(TurnsSkippedError, match=r"turns 0\.\.0 of partition"):
            await task
    assert (desk.ids, desk.done) == ([], [])


async def test_a_hole_in_the_offsets_is_passed_over() -> None:
    """Transaction markers, or a batch that a broker dropped: no record ever lay there."""
    desk = Desk()
    async with running(desk):
        await desk.loop.put(desk.arrives(a_turn("t1"), 5))
        await desk.until_done(5)
    assert (desk.ids, desk.state.head.source) == (["t1"], 5)


async def test_nothing_is_half_done_once_it_is_settled() -> None:
    desk = Desk()
    async with running(desk) as task:
        await desk.put(*(a_turn(f"t{n}") for n in range(20)))
        await eventually(lambda: desk.done)
        await desk.loop.settle()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert desk.done == list(range(desk.state.head.source + 1))
        assert len(desk.sent.to(REPLIES)) == len(desk.done)


async def test_who_waits_for_room_in_the_queue_of_a_partition_that_is_taken_away_goes_on() -> None:
    """The agent that waits serves the worker's other partitions too."""
    desk = Desk(queued=1)
    await desk.put(a_turn("t1"))
    waiting = asyncio.create_task(desk.put(a_turn("t2")))
    await asyncio.sleep(0)
    assert not waiting.done()
    desk.loop.drop()
    await waiting
    assert (desk.ids, desk.done) == ([], []), "the next owner reads them again"
