"""Who holds the event loop lets others in once its slice is used up; busy partitions share one slice."""

from __future__ import annotations

import asyncio

import pytest

from streams.ingest.slices import MOST_YIELDS, SLICE_SECONDS, YIELD_SECONDS, Slices
from tests.support.clocks import Clock


@pytest.mark.parametrize("busy", [1, 4])
async def test_others_come_in_as_often_as_the_share_of_a_slice_is_used_up(busy: int) -> None:
    clock, let_in = Clock(), 0

    async def other() -> None:
        nonlocal let_in
        while True:
            let_in += 1
            await asyncio.sleep(0)

    slices = Slices(clock)
    slices.busy = busy - 1
    others = asyncio.create_task(other())
    with slices.work() as share:
        for _ in range(40):
            clock.now += SLICE_SECONDS / 8
            await share.checkpoint()
    others.cancel()
    assert abs(let_in - 5 * busy) <= 2, "where rounding falls is no matter"


async def test_turns_wait_while_a_question_is_on_its_way_through_the_loop() -> None:
    clock, steps = Clock(), 0
    slices = Slices(clock)

    async def question() -> None:
        nonlocal steps
        for _ in range(MOST_YIELDS):  # at least so many passes are given
            await asyncio.sleep(0)
            steps += 1
        clock.now += YIELD_SECONDS

    with slices.work() as share:
        slices.yield_to_queries()
        asking = asyncio.create_task(question())
        clock.now += SLICE_SECONDS
        slices.yield_to_queries()
        await share.checkpoint()
    assert steps == MOST_YIELDS
    await asking


async def test_turns_go_on_however_many_ask() -> None:
    slices = Slices(Clock())
    with slices.work() as share:
        slices.yield_to_queries()
        await share.yield_slice()
    assert slices.yield_seconds > 0, "they asked all the time"


def test_who_is_done_leaves_its_share_to_others() -> None:
    slices = Slices(Clock())
    with slices.work(), slices.work():
        assert slices.busy == 2
    assert slices.busy == 0
