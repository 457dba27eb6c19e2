"""Which partitions are read first: questions before turns that were fetched long before them, and neither starves."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Any, cast

import pytest
from faust.transport.consumer import RecordMap
from faust.types import TP
from hypothesis import given
from hypothesis import strategies as st

from streams.transport.fetch_order import QUESTIONS, SHARE, FetchOrder

TURNS, QUERIES, EVENTS = TP("turns", 0), TP("queries", 0), TP("events", 0)
ALL = {TURNS, QUERIES, EVENTS}


class Prefetched:
    """What a log has at hand: handed out of one partition after the other, in the order in which they were filled."""

    def __init__(self) -> None:
        self.at_hand: dict[TP, deque[str]] = {}
        self.failures: dict[TP, Exception] = {}
        self.reads: list[tuple[set[TP], float, int]] = []
        self.order = FetchOrder(lambda tp: tp.topic == "queries", lambda tp: tp.topic == "events")

    def fill(self, tp: TP, count: int) -> None:
        self.at_hand.setdefault(tp, deque()).extend(f"{tp.topic} {n}" for n in range(count))

    async def read(self, partitions: set[TP], seconds: float, most: int) -> RecordMap:
        assert partitions, "aiokafka takes no partitions for all partitions"
        self.reads.append((partitions, seconds, most))
        for tp in partitions & set(self.failures):
            raise self.failures[tp]
        result: dict[TP, list[str]] = {}
        for tp in [tp for tp in self.at_hand if tp in partitions]:
            records = self.at_hand[tp]
            taken = [records.popleft() for _ in range(min(most, len(records)))]
            most -= len(taken)
            if taken:
                result[tp] = taken
        return cast(RecordMap, result)

    async def fetch(self, active: Iterable[TP] = ALL, seconds: float = 0.25) -> dict[TP, list[Any]]:
        return dict(await self.order.fetch(self.read, set(active), seconds, 500))


@pytest.fixture
def log() -> Prefetched:
    return Prefetched()


async def test_a_question_is_handed_out_before_a_thousand_turns_that_were_fetched_before_it(log: Prefetched) -> None:
    log.fill(TURNS, 1000)
    await log.fetch()
    log.fill(QUERIES, 1)
    fetched = await log.fetch()
    assert list(fetched) == [QUERIES, TURNS]
    assert (fetched[QUERIES], len(fetched[TURNS])) == (["queries 0"], SHARE)


async def test_a_flood_of_questions_leaves_turns_their_share(log: Prefetched) -> None:
    log.fill(QUERIES, 10_000)
    log.fill(TURNS, 10 * SHARE)
    for _ in range(10):
        assert {tp: len(records) for tp, records in (await log.fetch()).items()} == {QUERIES: QUESTIONS, TURNS: SHARE}


async def test_turns_of_one_partition_are_handed_out_beside_thousands_of_another(log: Prefetched) -> None:
    other = TP("turns", 1)
    log.fill(TURNS, 10_000)
    log.fill(other, 1)
    assert {tp: len(records) for tp, records in (await log.fetch({*ALL, other})).items()} == {TURNS: SHARE, other: 1}


async def test_what_is_at_hand_of_all_partitions_is_read_at_once_where_it_is_no_more_than_a_share(
    log: Prefetched,
) -> None:
    turns = [TP("turns", number) for number in range(8)]
    for tp in turns:
        log.fill(tp, 5)
    assert {tp: len(records) for tp, records in (await log.fetch(turns)).items()} == dict.fromkeys(turns, 5)
    assert [partitions for partitions, *_ in log.reads] == [set(turns)]
    for tp in turns:
        log.fill(tp, 500)
    fetched = await log.fetch(turns)
    assert {len(records) for records in fetched.values()} == {SHARE}
    assert fetched.keys() == set(turns), "else none may wait for another"


async def test_a_partition_that_cannot_be_read_loses_no_turn_of_another(log: Prefetched) -> None:
    broken = TP("turns", 1)
    log.fill(TURNS, 1)
    log.failures[broken] = LookupError("the offset is gone")
    assert await log.fetch({*ALL, broken}) == {TURNS: ["turns 0"]}
    with pytest.raises(LookupError, match="the offset is gone"):
        await log.fetch({*ALL, broken})


async def test_nobody_waits_for_turns_while_questions_are_at_hand(log: Prefetched) -> None:
    log.fill(QUERIES, 1)
    assert await log.fetch() == {QUERIES: ["queries 0"]}
    assert {seconds for _, seconds, _ in log.reads} == {0.0}


async def test_without_questions_one_wait_is_for_everything(log: Prefetched) -> None:
    assert await log.fetch(seconds=0.25) == {}
    assert log.reads[0] == ({QUERIES}, 0.0, QUESTIONS)
    assert log.reads[-1] == (ALL, 0.25, SHARE)
    assert [seconds for _, seconds, _ in log.reads].count(0.25) == 1


async def test_a_recovery_reads_large_portions(log: Prefetched) -> None:
    log.fill(EVENTS, 1000)
    assert len((await log.fetch({EVENTS}))[EVENTS]) == 500


async def test_a_partition_that_cannot_be_read_costs_no_question_and_is_told_however_many_there_are(
    log: Prefetched,
) -> None:
    log.fill(QUERIES, 100 * SHARE)
    log.failures[TURNS] = LookupError("the offset is gone")
    assert list(await log.fetch()) == [QUERIES]
    with pytest.raises(LookupError, match="the offset is gone"):
        await log.fetch()
    assert (await log.fetch())[QUERIES][0] == f"queries {QUESTIONS}"


async def test_partitions_that_were_taken_away_are_not_read_for_their_failure(log: Prefetched) -> None:
    log.fill(QUERIES, 2 * QUESTIONS)
    log.failures[TURNS] = LookupError("the offset is gone")
    await log.fetch()
    assert len((await log.fetch({QUERIES}))[QUERIES]) == QUESTIONS
    assert await log.fetch(set()) == {}


@given(st.lists(st.tuples(st.sampled_from([TURNS, QUERIES, EVENTS]), st.integers(1, 200)), max_size=8))
def test_everything_is_handed_out_once_and_in_order(filled: list[tuple[TP, int]]) -> None:
    log, seen = Prefetched(), {tp: list[str]() for tp in ALL}
    for tp, count in filled:
        log.fill(tp, count)
    expected = {tp: list(log.at_hand.get(tp, ())) for tp in ALL}

    async def drain() -> None:
        while fetched := await log.fetch():
            for tp, records in fetched.items():
                seen[tp] += records

    asyncio.run(drain())
    assert seen == expected
