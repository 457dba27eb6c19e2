"""Which partitions this worker owns, and what works on them: for each a writer, a window timer and a turn processor.

    assigned(), revoked()   the consumer group gives and takes away; what was taken is given up at once
    claim(partitions)       a recovery has folded them: append a Claim to each, then catch up, process turns, tick
    release()               finish what is half done, then let go of all
    halted()                nothing may be finished any more; what works is cancelled

One of these at a time.  Between a revocation and the next assignment nothing is claimed: a recovery that ends then was
of partitions that may be another worker's by now.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import structlog

from streams.ingest.partition_writer import PartitionWriter
from streams.ingest.turn_processor import TurnProcessor
from streams.ingest.window_timer import WindowTimer

log = structlog.get_logger()
LAST_SECONDS = 1.0  # that a task may take to end once it is cancelled: a rebalance waits for it


@dataclass(frozen=True, slots=True)
class OwnedPartition:
    """What works on one claimed partition."""

    writer: PartitionWriter
    timer: WindowTimer
    processor: TurnProcessor


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnershipContext:
    """What ownership asks of the worker.

    claim           make what works on a partition, and claim it          now           ms since the epoch
    stop_answering  called with whether the worker halted                 tick_seconds  between two looks at the clock
    halt            told what must stop the worker
    """

    claim: Callable[[int], Awaitable[OwnedPartition]]
    stop_answering: Callable[[bool], Awaitable[None]]
    halt: Callable[[BaseException], None]
    now: Callable[[], int]
    tick_seconds: float


class Ownership:
    """The partitions of one worker.  `ready` is set once everything assigned is claimed."""

    def __init__(self, context: OwnershipContext) -> None:
        self._context = context
        self.ready = asyncio.Event()
        self.writers: dict[int, PartitionWriter] = {}
        self.timers: dict[int, WindowTimer] = {}
        self.processors: dict[int, TurnProcessor] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._changing = asyncio.Lock()
        self._is_assigned = False  # else partitions were taken away, and what is assigned instead is not known yet
        self._is_halted = False

    def assigned(self) -> None:
        """Note that partitions were assigned: their recovery, once it ends, may claim them."""
        self._is_assigned = True

    async def revoked(self) -> None:
        """Give up everything; claim nothing before the next assignment."""
        self._is_assigned = False
        await self.release()

    def halted(self) -> None:
        """Cancel what works: the worker will not go on."""
        self._is_halted = True
        for task in self._tasks:
            task.cancel()

    async def claim(self, partitions: set[int]) -> None:
        """Own exactly `partitions`.  Raises AppendFailedError, HaltedError."""
        async with self._changing:
            if self._is_halted or not self._is_assigned:
                return
            await self._give_up()  # what a recovery claimed that was cut off by this one
            await asyncio.gather(*(self._own(partition) for partition in partitions))
            self.ready.set()
            log.info("owns", partitions=sorted(self.writers))

    async def release(self) -> None:
        """Finish what is half done and give up all partitions; the folds stay open."""
        async with self._changing:
            self.ready.clear()
            await self._give_up()

    async def _own(self, partition: int) -> None:
        owned = await self._context.claim(partition)
        self.writers[partition] = owned.writer
        self.timers[partition] = owned.timer
        self.processors[partition] = owned.processor
        for work in (owned.timer.catch_up(), owned.processor.run(), self._tick(owned.timer)):
            self._tasks.append(asyncio.create_task(self._guarded(work)))

    async def _tick(self, timer: WindowTimer) -> None:
        while True:
            await asyncio.sleep(self._context.tick_seconds)
            await timer.tick(self._context.now())

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - whatever it is, the worker halts with it
            self._context.halt(error)

    async def _give_up(self) -> None:
        self.writers.clear()  # first: a question that comes now would outlive the store that it asks
        await self._context.stop_answering(self._is_halted)
        if not self._is_halted:
            await self._settle()
        await self._end_tasks()
        for processor in self.processors.values():
            processor.drop()
        for held in (self.processors, self._tasks, self.timers):
            held.clear()

    async def _settle(self) -> None:
        """Wait until no batch of turns and no window is half done."""
        for partition, processor in self.processors.items():
            await processor.settle()
            async with self.timers[partition].lock:  # a window is closed as a whole
                pass

    async def _end_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:  # held until they have ended: the loop itself forgets a task that nobody else knows
            await asyncio.wait(self._tasks, timeout=LAST_SECONDS)
