"""Rebuild in parallel: one process per core folds one partition after the other, and may run beside live workers.

    parent    shows the progress of all, combines the digests
    children  fold (replay/rebuild/rebuild.py), and report their progress

A child does not outlive its parent: if the parent is killed, its end of a pipe closes, and the child exits.  So a
rebuild that goes on after a kill can open the stores; it waits a little for the lock of a child that is about to exit.
A short log is folded in the parent: children take seconds to start.
"""

from __future__ import annotations

import asyncio
import hashlib
import multiprocessing
import os
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from functools import partial
from multiprocessing.connection import wait as wait_for
from multiprocessing.process import parent_process
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import NamedTuple, Self

from emgas.errors import DataDirectoryInUseError
from replay.rebuild.plan import Plan
from replay.rebuild.rebuild import ObservedLog, Rebuilt, rebuild
from state.store.rocksdb import RocksStore
from state.store.store import Store
from streams.settings import WorkerSettings
from streams.transport.select import readable

LOOK_EVERY = 0.1  # seconds between two looks at how far the children are
PATIENCE = 10.0  # seconds until a locked store is taken for being in use

SHORT = 20_000  # records; fewer are folded in the parent


class _StoppedError(Exception):
    """The parent was interrupted."""


class Progress:
    """Progress of each partition, and the stop flag: memory that a job carries into a child by its name.

    0 | stopped, q |     8 (1 + partition) | offset after the last record read, q
    """

    def __init__(self, partitions: int) -> None:
        self._partitions = partitions
        self._memory = SharedMemory(create=True, size=8 * (1 + partitions))

    @property
    def _cells(self) -> memoryview:
        assert self._memory.buf is not None  # noqa: S101 - it is until the memory is given back
        return self._memory.buf

    def tell(self, partition: int, offset: int) -> None:
        """Note that `partition` is read up to `offset`.  Raises _StoppedError when all shall give up."""
        struct.pack_into("q", self._cells, 8 * (1 + partition), offset)
        if struct.unpack_from("q", self._cells)[0]:
            raise _StoppedError

    def stop(self) -> None:
        """Stop every child at the next record that it reports."""
        struct.pack_into("q", self._cells, 0, 1)

    def read(self) -> int:
        """Count the records that all together have read."""
        return sum(struct.unpack_from(f"{self._partitions}q", self._cells, 8))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Release the memory, in the process that made it, once the children have ended."""
        self._memory.close()
        self._memory.unlink()


class Job(NamedTuple):
    """One partition to fold, below `directory`."""

    settings: WorkerSettings
    plan: Plan
    partition: int
    directory: Path


def rebuild_all(
    settings: WorkerSettings, plan: Plan, directory: Path, jobs: int, show: Callable[[int], None] = lambda _: None
) -> list[Rebuilt]:
    """Fold every partition of `plan` below `directory`, in at most `jobs` processes; return them in order of partition.

    `show` is called now and then with how many records are read.  One that fails stops no other: once all have ended,
    what the first of those met is raised, as `replay.rebuild.rebuild` does, or TransportError.
    """
    work = [Job(settings, plan, partition, directory) for partition in range(len(plan.ends))]
    if jobs == 1 or sum(plan.ends) <= SHORT:
        return asyncio.run(_fold_here(work, show))
    context = multiprocessing.get_context("spawn")  # forked, a child would share open files and threads with us
    progress = Progress(len(work))
    with progress, ProcessPoolExecutor(min(jobs, len(work)), context, _end_with_parent) as children:
        running = [children.submit(_fold, job, progress) for job in work]
        try:
            return _finished(running, lambda: show(progress.read()))
        finally:
            progress.stop()


def _finished(running: Sequence[Future[Rebuilt]], look: Callable[[], None]) -> list[Rebuilt]:
    """Wait for all, looking now and then; then raise what the first of them that failed raises."""
    left: set[Future[Rebuilt]] = set(running)
    while left:
        _, left = wait(left, LOOK_EVERY)
        look()
    return [each.result() for each in running]


def combined(digests: Sequence[str]) -> str:
    """Combine the partitions' digests, in order of partition, into one."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def of_graphs(partitions: Iterable[Mapping[str, str]]) -> str:
    """Combine the digests of graphs, whatever partitions they lie in: equal wherever the same turns were folded."""
    digests = sorted(item for partition in partitions for item in partition.items())
    return combined([f"{graph} {digest}" for graph, digest in digests])


def _end_with_parent() -> None:
    """End this child when its parent ends."""
    threading.Thread(target=_await_parent, daemon=True).start()


def _await_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


def _fold(job: Job, progress: Progress) -> Rebuilt:
    return asyncio.run(_fold_partition(job, partial(progress.tell, job.partition)))


async def _fold_here(work: Sequence[Job], show: Callable[[int], None]) -> list[Rebuilt]:
    """Fold one partition after the other."""
    reached = [0] * len(work)

    def tell(partition: int, offset: int) -> None:
        reached[partition] = offset
        show(sum(reached))

    rebuilt, failures = list[Rebuilt](), list[Exception]()
    for job in work:
        try:
            rebuilt.append(await _fold_partition(job, partial(tell, job.partition)))
        except Exception as error:  # noqa: BLE001 - whatever stops one stops no other
            failures.append(error)
    if failures:
        raise failures[0]
    return rebuilt


async def _fold_partition(job: Job, tell: Callable[[int], None]) -> Rebuilt:
    store = _opened(job.directory / str(job.partition))
    try:
        async with readable(job.settings) as topics:
            log = ObservedLog(topics.reader(job.settings.topics.events), tell)
            return await rebuild(log, job.partition, job.plan, store)
    finally:
        store.close()


def _opened(path: Path) -> Store:
    """Open a store; a killed rebuild's child may hold it a moment longer."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return RocksStore(path, bulk=True)
        except DataDirectoryInUseError:
            if time.monotonic() > until:
                raise
            time.sleep(LOOK_EVERY)
