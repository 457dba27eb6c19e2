"""Who may work on a partition: claimed only while assigned, finished before it is given up, ended by a halt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from state.errors import DiskFullError, StoreCorruptError, UnreadableEventError
from streams.errors import AppendFailedError, FencedError
from streams.worker.ownership import OwnedPartition, Ownership
from tests.support.clocks import PATIENCE, eventually


class Work:
    """What works on one partition, in all three parts; it can be half done, or fail."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.lock = asyncio.Lock()
        self.working = asyncio.Lock()
        self.running = False
        self.dropped = False
        self.took_over: list[object] = []

    async def catch_up(self) -> None:
        pass

    async def run(self) -> None:
        self.running = True
        try:
            raise await asyncio.shield(self.worker.failure)
        finally:
            self.running = False

    async def tick(self, now: int) -> None:
        self.worker.ticks.append(now)
        self.worker.ticked.set()

    async def take_back(self) -> None:
        self.worker.looked_back.set()

    def drop(self) -> None:
        self.dropped = True

    def take_over(self, failed: object) -> None:
        self.took_over.append(failed)


class Worker:
    """What ownership asks of a worker, noted."""

    def __init__(self) -> None:
        self.failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self.halts: list[BaseException] = []
        self.halting = asyncio.Event()
        self.stops: list[tuple[bool, set[int]]] = []  # (halted, partitions that a question still finds)
        self.stopped = asyncio.Event()
        self.ticks: list[int] = []
        self.ticked = asyncio.Event()
        self.looked_back = asyncio.Event()
        self.claims: list[int] = []
        self.refusals: list[Exception] = []  # raised by the next claims, one after the other
        self.condemned: list[tuple[int, BaseException]] = []
        self.failures: list[BaseException] = []
        self.reopened: list[int] = []
        self.folds = self
        self.ownership = Ownership(self, tick_seconds=0.001)

    def condemn(self, partition: int, why: BaseException) -> None:
        self.condemned.append((partition, why))

    def count_failure(self, error: BaseException) -> None:
        self.failures.append(error)

    def now_ms(self) -> int:
        return 42

    async def claim_partition(self, partition: int) -> OwnedPartition:
        self.claims.append(partition)
        if self.refusals:
            raise self.refusals.pop(0)
        work = cast(Any, Work(self))
        return OwnedPartition(work, work, work)

    async def reopen(self, partition: int) -> None:
        self.reopened.append(partition)

    async def stop_answering(self, *, halted: bool, partition: int | None) -> None:
        self.stops.append((halted, set(self.ownership.writers)))
        self.stopped.set()

    def halt(self, error: BaseException) -> None:
        self.halts.append(error)
        self.halting.set()
        self.ownership.halted()

    def works(self) -> list[Work]:
        return [cast(Work, processor) for processor in self.ownership.processors.values()]


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    worker = Worker()
    yield worker
    await worker.ownership.release()


async def owning(worker: Worker, *partitions: int) -> list[Work]:
    worker.ownership.assigned()
    await worker.ownership.claim(set(partitions))
    await asyncio.wait_for(worker.ticked.wait(), PATIENCE)  # all tasks have begun
    await asyncio.wait_for(worker.looked_back.wait(), PATIENCE)
    return worker.works()


async def test_what_is_claimed_is_worked_on_and_ready(worker: Worker) -> None:
    works = await owning(worker, 1, 2)
    assert (sorted(worker.claims), worker.ownership.ready.is_set()) == ([1, 2], True)
    assert all(work.running for work in works)
    assert set(worker.ticks) == {42}


async def test_nothing_is_claimed_before_an_assignment_nor_after_a_revocation(worker: Worker) -> None:
    await worker.ownership.claim({1})
    await owning(worker, 1)
    await worker.ownership.revoked()
    await worker.ownership.claim({1})
    assert (worker.claims, worker.ownership.ready.is_set()) == ([1], False)


async def test_another_claim_gives_up_what_was_claimed_before(worker: Worker) -> None:
    (before,) = await owning(worker, 1)
    await worker.ownership.claim({2})
    assert (before.running, before.dropped, set(worker.ownership.writers)) == (False, True, {2})


async def test_what_is_working_is_finished_before_a_partition_is_given_up(worker: Worker) -> None:
    (work,) = await owning(worker, 1)
    for lock in (work.working, work.lock):
        await lock.acquire()
    worker.stopped.clear()
    release = asyncio.ensure_future(worker.ownership.release())
    await asyncio.wait_for(worker.stopped.wait(), PATIENCE)
    assert worker.stops[1:] == [(False, set())], "no question finds the partition any more, before anything is awaited"
    assert (work.running, release.done()) == (True, False)
    work.working.release()
    await asyncio.sleep(0)
    assert (work.running, release.done()) == (True, False), "a window is still being closed"
    work.lock.release()
    await release
    assert (work.running, work.dropped, worker.works()) == (False, True, [])


async def test_a_partition_begins_nothing_more_while_another_one_finishes(worker: Worker) -> None:
    """Found by the simulation: what began then was cut off behind its append, and its senders got no reply."""
    one, other = await owning(worker, 1, 2)
    worker.stopped.clear()
    async with other.working:
        release = asyncio.ensure_future(worker.ownership.release())
        await asyncio.wait_for(worker.stopped.wait(), PATIENCE)
        await asyncio.sleep(0)
        assert one.working.locked()
    await release
    assert not one.working.locked()


async def test_a_failure_halts_the_worker_and_then_nothing_is_waited_for_nor_claimed(worker: Worker) -> None:
    works = await owning(worker, 1, 2)
    await works[1].working.acquire()  # it will never be finished
    worker.failure.set_result(ZeroDivisionError())
    await asyncio.wait_for(worker.halting.wait(), PATIENCE)
    assert isinstance(worker.halts[0], ZeroDivisionError)
    await worker.ownership.release()
    assert worker.stops[-1] == (True, set())
    await worker.ownership.claim({3})
    assert 3 not in worker.claims


async def test_a_partition_that_fails_halts_alone_and_is_taken_up_again(worker: Worker) -> None:
    works = await owning(worker, 1, 2)
    worker.ownership.fail(1, StoreCorruptError("damaged"))
    assert set(worker.ownership.writers) == {2}, "no question finds it"
    await eventually(lambda: set(worker.ownership.writers) == {1, 2})
    assert (worker.reopened, worker.ownership.halted_partitions, worker.halts) == ([1], {}, [])
    assert [str(error) for _, error in worker.condemned] == ["damaged"]
    assert (works[0].running, works[0].dropped, works[1].running) == (False, True, True)
    assert (True, {2}) in worker.stops, "its questions end, whatever they append"
    assert cast(Work, worker.ownership.processors[1]).took_over == [works[0]], "what was under way is told"


async def test_a_partition_that_cannot_be_claimed_halts_alone_until_it_can(worker: Worker) -> None:
    worker.refusals = [UnreadableEventError("garbage")] * 4
    worker.ownership.assigned()
    await worker.ownership.claim({1})
    assert worker.ownership.ready.is_set()
    assert str(worker.ownership.halted_partitions[1]) == "garbage"
    await eventually(lambda: set(worker.ownership.writers) == {1})
    assert (worker.claims, worker.reopened, worker.halts) == ([1] * 5, [1] * 4, [])


@pytest.mark.parametrize(
    "error", [FencedError("another"), AppendFailedError("no ack"), DiskFullError("no room"), ZeroDivisionError()]
)
async def test_what_concerns_all_partitions_halts_the_worker(worker: Worker, error: Exception) -> None:
    await owning(worker, 1, 2)
    worker.ownership.fail(1, error)
    assert (worker.halts, worker.reopened) == ([error], [])


async def test_a_partition_that_is_taken_away_is_not_taken_up_again(worker: Worker) -> None:
    await owning(worker, 1)
    worker.refusals = [UnreadableEventError("garbage")] * 1000
    worker.ownership.fail(1, UnreadableEventError("garbage"))
    await eventually(lambda: len(worker.reopened) > 2)
    await worker.ownership.revoked()
    tried = len(worker.reopened)
    worker.refusals.clear()
    worker.ownership.fail(1, UnreadableEventError("late"))
    await owning(worker, 2)
    assert (len(worker.reopened), worker.ownership.halted_partitions) == (tried, {})
