"""The partitions that this worker owns: each has a writer, a window timer and a turn processor.

    assigned(), revoked()   the consumer group gives and takes away; what was taken is given up at once
    claim(partitions)       a recovery has folded them: append a Claim to each, then catch up, process turns, tick
    release()               finish work in progress, then release all
    fail(partition, error)  one partition cannot go on: what works on it ends, it is opened and claimed again
    halted()                nothing may be finished any more; what works is cancelled

One of these at a time.  Between a revocation and the next assignment nothing is claimed: a recovery that ends then was
of partitions that may be another worker's by now.

A partition that fails is tried again at once, as that mends a damaged store and a log that shows more by now; then
less and less often, as other errors need an operator.  Meanwhile it is in `halted`, and the others go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Protocol

from emgas.logs import logger
from streams.ingest.partition_writer import PartitionWriter, halts_alone
from streams.ingest.turn_processor import TurnProcessor
from streams.ingest.window_timer import WindowTimer

log = logger("worker")
LONGEST_RETRY_SECONDS = 60.0  # between two tries to take up a partition that fails every time
LAST_SECONDS = 1.0  # that a task may take to end once it is cancelled: a rebalance waits for it


@dataclass(frozen=True, slots=True)
class OwnedPartition:
    """The parts that serve one claimed partition."""

    writer: PartitionWriter
    timer: WindowTimer
    processor: TurnProcessor


class ReopenedFolds(Protocol):
    """The folds of partitions, as far as a failure concerns them."""

    def condemn(self, partition: int, error: BaseException) -> None:
        """Keep no fold of this partition as it is in memory."""

    async def reopen(self, partition: int) -> None:
        """Open a condemned partition again, and fold it to the end of its log."""


class OwningWorker(Protocol):
    """The worker whose partitions these are."""

    @property
    def folds(self) -> ReopenedFolds:
        """The folds of its partitions."""

    async def claim_partition(self, partition: int) -> OwnedPartition:
        """Make what works on a partition, and claim it; raises why it cannot."""

    async def stop_answering(self, *, halted: bool, partition: int | None) -> None:
        """Stop answering questions about a partition (None: all); `halted`: leave half done what they append."""

    def count_failure(self, error: BaseException) -> None:
        """Count that a partition halts alone."""

    def halt(self, error: BaseException) -> None:
        """Stop the worker."""

    def now_ms(self) -> int:
        """Return the present, ms since 1970."""


class Ownership:
    """The partitions of one worker.  `ready` is set once everything assigned is claimed, or has halted.

    tick_seconds       between two looks at the clock, and between the second and the third try to take up a partition;
                       later tries wait twice as long as the one before
    halted_partitions  partition → why it cannot go on; nothing works on it
    """

    def __init__(self, worker: OwningWorker, tick_seconds: float) -> None:
        self._worker, self._tick_seconds = worker, tick_seconds
        self.ready = asyncio.Event()
        self.writers: dict[int, PartitionWriter] = {}
        self.timers: dict[int, WindowTimer] = {}
        self.processors: dict[int, TurnProcessor] = {}
        self.halted_partitions: dict[int, BaseException] = {}
        self._tasks: dict[asyncio.Task[None], int] = {}  # each with the partition that it works on
        self._failures: dict[int, int] = {}  # since the partition was assigned
        self._changing = asyncio.Lock()
        self._is_assigned = False  # else partitions were taken away, and what is assigned instead is not known yet
        self._is_halted = False

    @property
    def queryable(self) -> Mapping[int, PartitionWriter]:
        """The partitions that questions are answered from: all that are claimed."""
        return self.writers

    @property
    def queued(self) -> Mapping[int, int]:
        """Count the turns that are read ahead, by partition."""
        return {partition: processor.queued for partition, processor in self.processors.items()}

    @property
    def waiting(self) -> Mapping[int, BaseException]:
        """The partitions whose turns wait until a key can be made for one of them, and why it cannot."""
        waits = {partition: processor.waits_for for partition, processor in self.processors.items()}
        return {partition: why for partition, why in waits.items() if why is not None}

    @property
    def lost(self) -> list[int]:
        """List the partitions that now belong to another worker, as far as this one knows."""
        return [partition for partition, writer in self.writers.items() if writer.is_fenced]

    def assigned(self) -> None:
        """Note that partitions were assigned: their recovery, once it ends, may claim them."""
        self._is_assigned = True

    async def revoked(self) -> None:
        """Release everything; claim nothing before the next assignment."""
        await self.release()

    def halted(self) -> None:
        """Cancel what works: the worker will not go on."""
        self._is_halted = True
        for task in self._tasks:
            task.cancel()

    async def claim(self, partitions: set[int]) -> None:
        """Own exactly `partitions`; what cannot be owned halts alone.  Raises WorkerHaltedError, TransportError."""
        async with self._changing:
            if self._is_halted or not self._is_assigned:
                return
            await self._give_up()  # what a recovery claimed that was cut off by this one
            await asyncio.gather(*(self._own(partition) for partition in partitions))
            self.ready.set()
            log.info("owns", partitions=sorted(self.writers))

    async def release(self) -> None:
        """Finish what is half done and give up all partitions; the folds stay open."""
        self._is_assigned = False
        async with self._changing:
            self.ready.clear()
            await self._give_up()

    def fail(self, partition: int, error: BaseException) -> None:
        """Halt the partition because of `error`, and try to take it up again; halt the worker if it is not alone."""
        if not halts_alone(error):
            self._worker.halt(error)
            return
        self._worker.folds.condemn(partition, error)
        if self._is_assigned and not self._is_halted and partition not in self.halted_partitions:
            self._note(partition, error)
            for table in (self.writers, self.timers):
                table.pop(partition, None)
            ending = [task for task, of in self._tasks.items() if of == partition]
            self._work(partition, self._mend(partition, ending))

    def _note(self, partition: int, error: BaseException) -> None:
        log.critical("partition halted", partition=partition, error=f"{type(error).__name__}: {error}")
        self.halted_partitions[partition] = error
        self._worker.count_failure(error)

    async def _mend(self, partition: int, ending: list[asyncio.Task[None]]) -> None:
        """End what works on a partition that failed; take it up again, as often as that needs."""
        await self._worker.stop_answering(halted=True, partition=partition)
        await _ended(ending)
        if failed := self.processors.pop(partition, None):
            failed.drop()
        while partition in self.halted_partitions:
            await asyncio.sleep(self._pause(partition))
            await self._take_up(partition)
        if failed:
            self.processors[partition].take_over(failed)

    def _pause(self, partition: int) -> float:
        """Compute for how many seconds nothing is tried: none the first time."""
        failures = self._failures[partition] = self._failures.get(partition, 0) + 1
        return min(self._tick_seconds * 2.0 ** (failures - 2), LONGEST_RETRY_SECONDS) if failures > 1 else 0.0

    async def _take_up(self, partition: int) -> None:
        error = self.halted_partitions[partition]
        try:
            await self._worker.folds.reopen(partition)
            owned = await self._worker.claim_partition(partition)
        except Exception as another:
            if not halts_alone(another):
                raise
            self._worker.folds.condemn(partition, another)
            if str(another) != str(error):
                self._note(partition, another)
            return
        del self.halted_partitions[partition]
        self._start(partition, owned)
        log.warning("partition goes on", partition=partition)

    async def _own(self, partition: int) -> None:
        try:
            self._start(partition, await self._worker.claim_partition(partition))
        except Exception as error:
            if not halts_alone(error):
                raise
            self.fail(partition, error)

    def _start(self, partition: int, owned: OwnedPartition) -> None:
        self.writers[partition] = owned.writer
        self.timers[partition] = owned.timer
        self.processors[partition] = owned.processor
        timer = owned.timer
        for work in (timer.catch_up(), owned.processor.run(), self._tick(timer), self._take_back(timer)):
            self._work(partition, work)

    def _work(self, partition: int, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._guarded(partition, work))
        self._tasks[task] = partition
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    async def _tick(self, timer: WindowTimer) -> None:
        while True:
            await asyncio.sleep(self._tick_seconds)
            await timer.tick(self._worker.now_ms())

    async def _take_back(self, timer: WindowTimer) -> None:
        """Take back what was set aside, every tick.  No window waits for it: keys that are out of reach take long."""
        while True:
            await asyncio.sleep(self._tick_seconds)
            await timer.take_back()

    async def _guarded(self, partition: int, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - whatever it is, the partition or the worker halts with it
            self.fail(partition, error)

    async def _give_up(self) -> None:
        self.writers.clear()  # first: a question that comes now would outlive the store that it asks
        await self._worker.stop_answering(halted=self._is_halted, partition=None)
        if not self._is_halted:
            await self._settle()
        await _ended(list(self._tasks))
        for processor in self.processors.values():
            processor.drop()
        for table in (self.processors, self.timers, self.halted_partitions, self._failures):
            table.clear()

    async def _settle(self) -> None:
        """Wait until no batch of turns and no window is half done, in all partitions at once.

        What has come to such a point begins nothing more: else it would be cut off, and its senders told nothing.
        """
        async with AsyncExitStack() as settled:
            for partition, processor in list(self.processors.items()):
                if partition not in self.halted_partitions:
                    await settled.enter_async_context(processor.working)
            for timer in list(self.timers.values()):
                await settled.enter_async_context(timer.lock)  # a window is closed as a whole


async def _ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:  # held until they have ended: the event loop keeps only weak references to tasks
        await asyncio.wait(tasks, timeout=LAST_SECONDS)
